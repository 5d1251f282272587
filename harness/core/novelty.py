"""Novelty of a round of searches compared with earlier rounds."""

from collections.abc import Sequence


def novelty(nearest: Sequence[float]) -> float:
    """Return the mean cosine distance (0..1, four digits) of a round's chunks from the earlier chunks.

    `nearest` has, for each new chunk, its similarity (0..1) to the most similar earlier chunk: 1 for a known chunk, 0
    if there are no earlier ones. A round without chunks has novelty 0.
    """
    if not nearest:
        return 0.0
    return round(sum(1.0 - min(1.0, max(0.0, each)) for each in nearest) / len(nearest), 4)
