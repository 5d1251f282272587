"""A research harness that never pays twice for the same search, and never serves a wrong answer to save a call."""

__version__ = "0.2.0"
