"""Evaluation tasks, and what a research is worth on them."""
