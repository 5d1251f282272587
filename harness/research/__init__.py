"""Research, from a question to a cited report: plan, gather, evidence, synthesis, controlled by `run`."""
