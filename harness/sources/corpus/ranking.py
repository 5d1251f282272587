"""From passages that match to documents in order: by words alone, or by words and vectors fused."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from harness.sources.corpus.vectors import Near

if TYPE_CHECKING:  # numpy takes 0.1 s to import, and a search by words needs none
    import numpy as np
    from numpy.typing import NDArray

    Ids = NDArray[np.int64]
    Scores = NDArray[np.float64]

PASSAGES_PER_RESULT = 3

MEANING = 0.5
"""What vectors weigh beside words (0..1): on SciFact nDCG@10 changes by less than 0.01 from 0.4 to 0.7."""

LEAST_SIMILARITY = 0.3
"""A document without a word of the question is a result from this cosine up: of MiniLM's cosines between a claim and
the abstract that it cites, 2 % are lower.
"""

_TINY = 1e-9


class Match(NamedTuple):
    """A passage with words of the question, and its BM25 score: above 0, the higher the better."""

    passage: int
    document: int
    score: float


class Ranked(Struct, frozen=True):
    """A document with its passages that match best, in the order of the text; at most `PASSAGES_PER_RESULT`."""

    document: int
    passages: list[int]


def by_words(matches: Iterable[Match], limit: int) -> list[Ranked]:
    """Rank documents by their best passage, at most `limit`; `matches` come best first."""
    chosen: dict[int, list[int]] = {}
    for match in matches:
        if match.document in chosen or len(chosen) < limit:
            chosen.setdefault(match.document, []).append(match.passage)
    return [Ranked(document, sorted(held[:PASSAGES_PER_RESULT])) for document, held in chosen.items()]


def by_words_and_meaning(matches: Sequence[Match], near: Near, limit: int) -> list[Ranked]:
    """Rank documents by their best BM25 score and their best cosine, each divided by the highest of all, weighted and
    summed; at most `limit`. The passages within a document are ranked in the same way.

    What has no vector takes part by its words. Of equals, the one that was indexed first comes first. Such a convex
    combination keeps what a fusion of ranks drops, how much better the better one is: Bruch, Gai and Ingber, 2023.
    """
    import numpy as np

    passages, owners, words, cosines = _found(matches, near)
    if not len(passages):
        return []
    words *= (1 - MEANING) / max(words.max(), _TINY)
    cosines *= MEANING / max(cosines.max(), _TINY)
    documents, place = np.unique(owners, return_inverse=True)
    best_words, best_cosines = np.zeros(len(documents)), np.zeros(len(documents))
    np.maximum.at(best_words, place, words)
    np.maximum.at(best_cosines, place, cosines)
    ranked = []
    for document in documents[np.lexsort((documents, -(best_words + best_cosines)))[:limit]].tolist():
        own = np.flatnonzero(owners == document)
        best = own[np.lexsort((passages[own], -(words + cosines)[own]))[:PASSAGES_PER_RESULT]]
        ranked.append(Ranked(document, sorted(passages[best].tolist())))
    return ranked


def _found(matches: Sequence[Match], near: Near) -> "tuple[Ids, Ids, Scores, Scores]":
    """Return the passages that are found, by words or by a cosine that is high enough: passages, their documents,
    BM25 scores and cosines, both from 0 up; in the order of passages.
    """
    import numpy as np

    matching = np.array([match.passage for match in matches], np.int64)
    passages = np.union1d(near.passages, matching)
    owners, words, cosines = np.zeros(len(passages), np.int64), np.zeros(len(passages)), np.zeros(len(passages))
    known, matched = np.searchsorted(passages, near.passages), np.searchsorted(passages, matching)
    owners[known], cosines[known] = near.documents, np.maximum(near.cosines, 0.0)
    owners[matched], words[matched] = [match.document for match in matches], [match.score for match in matches]
    found = (words > 0) | (cosines >= LEAST_SIMILARITY)
    return passages[found], owners[found], words[found], cosines[found]
