"""How much a round of searches added to what was already held."""

from collections.abc import Sequence


def novelty(nearest: Sequence[float]) -> float:
    """Return the mean cosine distance (0..1, four digits) of what a round found to what was held before.

    `nearest` gives, for each chunk found, its similarity (0..1) to the most similar chunk held: 1 for one that was held
    already, 0 where nothing was. A round that found nothing has novelty 0.
    """
    if not nearest:
        return 0.0
    return round(sum(1.0 - min(1.0, max(0.0, each)) for each in nearest) / len(nearest), 4)
