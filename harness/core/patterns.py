"""Checks of regular expressions from outside, before they are compiled."""

import re
from math import prod

MAX_REPETITIONS = 100_000
"""Largest product of a pattern's repetition counts: compiling `a{9999999}` uses up all memory."""

_REPEATED = re.compile(r"\{\s*(\d+)", re.ASCII)


def repetitions(pattern: str) -> int:
    """Return the least number of repetitions in a pattern, nested counts multiplied."""
    return prod(int(least) for least in _REPEATED.findall(pattern) if int(least))
