"""The end of long work that nobody waits for."""


class Stopped(Exception):
    """Nobody waits for the work any more. What it has found by now is cached."""
