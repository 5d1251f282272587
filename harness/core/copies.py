"""Copies: texts that add almost nothing to an earlier text."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from harness.core.text import words

SHINGLE = 3
"""Words of a sequence that is compared."""
LEAST_WORDS = 20
"""Shorter texts are not compared: they say little, and are alike by chance."""
MAX_CHARS = 20_000
"""Characters of a text that are compared."""
SHARED = 0.8
"""Least share of a copy's word sequences, and of its numbers, that the original has."""
MAX_HOLDERS = 16
"""Texts in which a sequence is looked up: one that more have is on every page."""

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def copies(texts: Sequence[str], *, may_replace: Callable[[int, int], bool] = lambda _, __: True) -> dict[int, int]:
    """Return, for the place of each copy, that of its original: the first text before it, itself no copy, that has at
    least `SHARED` of its sequences of three words (as sets; Broder, 1997: containment) and of its numbers, and that
    `may_replace` (original, copy) it. An excerpt of a text is a copy, too. The time is linear in the texts' length.
    """
    holders: dict[str, list[int]] = {}
    numbers: dict[int, set[str]] = {}
    found: dict[int, int] = {}
    for place, text in enumerate(texts):
        own, figures = set(_shingles(text)), set(_NUMBER.findall(text[:MAX_CHARS]))
        if len(own) <= LEAST_WORDS - SHINGLE:
            continue
        shared = Counter(holder for each in own for holder in holders.get(each, ()))
        originals = (
            holder
            for holder in sorted(shared)
            if shared[holder] >= SHARED * len(own)
            and len(figures & numbers[holder]) >= SHARED * len(figures)
            and may_replace(holder, place)
        )
        if (original := next(originals, None)) is not None:
            found[place] = original
            continue
        numbers[place] = figures
        for each in own:
            if len(held := holders.setdefault(each, [])) < MAX_HOLDERS:
                held.append(place)
    return found


def _shingles(text: str) -> Iterator[str]:
    held = words(text[:MAX_CHARS])
    return (" ".join(held[start : start + SHINGLE]) for start in range(len(held) - SHINGLE + 1))
