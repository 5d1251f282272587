"""Selection from rankings: rank fusion, a cap per document, no near-duplicates."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def reciprocal_rank_fusion(rankings: Iterable[Sequence[K]], k: int = 60) -> dict[K, float]:
    """Fuse rankings (best first): each adds 1 / (k + rank) to every key it has, ranks from 1.

    Returns the score of every key, highest first; equal scores keep the order of first appearance. Cormack, Clarke and
    Büttcher, 2009.
    """
    scores: dict[K, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(ranking, start=1):
            scores[key] = scores.get(key, 0.0) + 1.0 / (k + rank)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def overlap(a: set[K], b: set[K]) -> float:
    """Return the share (0..1) of the smaller set that is in the larger one; 0 if one is empty."""
    return len(a & b) / min(len(a), len(b)) if a and b else 0.0


def select_diverse(
    ranked: Iterable[T],
    *,
    limit: int,
    document: Callable[[T], Hashable],
    per_document: int,
    features: Callable[[T], set[K]],
    max_overlap: float = 0.7,
) -> list[T]:
    """Take the best of `ranked` (best first): at most `limit`, at most `per_document` from one document, and none whose
    features overlap those of one already taken by more than `max_overlap` (0..1).
    """
    taken: list[T] = []
    seen: list[set[K]] = []
    counts: dict[Hashable, int] = {}
    for candidate in ranked:
        if len(taken) == limit:
            break
        origin, own = document(candidate), features(candidate)
        if counts.get(origin, 0) >= per_document or any(overlap(own, other) > max_overlap for other in seen):
            continue
        taken.append(candidate)
        seen.append(own)
        counts[origin] = counts.get(origin, 0) + 1
    return taken
