"""How much a round of searches added to what was already held."""

from collections.abc import Iterable

from harness.core.text import words

SHINGLE = 4
"""Words in a row that count as one piece of text (Broder, 1997: resemblance by shingles)."""


def shingles(text: str) -> set[tuple[str, ...]]:
    """Return every run of `SHINGLE` words of `text`; a shorter text is one shingle, an empty one none."""
    found = words(text)
    if not found:
        return set()
    return {tuple(found[i : i + SHINGLE]) for i in range(max(1, len(found) - SHINGLE + 1))}


def novelty(found: Iterable[str], held: Iterable[str]) -> float:
    """Return the share (0..1) of the text in `found` that is not in `held`: new shingles over all shingles of the
    round. A round that found nothing has novelty 0; the order of the texts does not matter.
    """
    fresh = set[tuple[str, ...]]().union(*map(shingles, found))
    if not fresh:
        return 0.0
    known = set[tuple[str, ...]]().union(*map(shingles, held))
    return round(len(fresh - known) / len(fresh), 4)
