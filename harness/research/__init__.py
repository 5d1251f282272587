"""From a question to a cited report: plan, gather, evidence, synthesis, led by `run`."""
