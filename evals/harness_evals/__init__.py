"""Evaluation of research: tasks, scorers, suite, experiment loop."""
