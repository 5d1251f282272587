"""Regular expressions from outside: what must be asked of one before it is compiled."""

import re
from math import prod

MAX_REPETITIONS = 100_000
"""What the repetitions of a pattern may come to, multiplied: to compile `a{9999999}` takes all memory."""

_REPEATED = re.compile(r"\{\s*(\d+)", re.ASCII)


def repetitions(pattern: str) -> int:
    """Return how often a pattern repeats something at the least, nested counts multiplied."""
    return prod(int(least) for least in _REPEATED.findall(pattern) if int(least))
