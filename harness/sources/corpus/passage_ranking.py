"""Ranking of documents by their matching passages: by words, or by words and vectors."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from harness.core.multilingual_vectors import ENGLISH, SCALE, knows, knows_english_as
from harness.sources.corpus.passage_vectors import Near

if TYPE_CHECKING:  # numpy takes 0.1 s to import, and a search by words needs none
    import numpy as np
    from numpy.typing import NDArray

    Ids = NDArray[np.int64]
    Scores = NDArray[np.float64]

PASSAGES_PER_RESULT = 3

MEANING = 0.5
"""Weight of vectors compared with words (0..1): on SciFact nDCG@10 changes by less than 0.01 from 0.4 to 0.7."""

LEAST_SIMILARITY = 0.3
"""Minimum cosine for a document without words of the question: of MiniLM's cosines between a claim and the abstract
that it cites, 2 % are lower.
"""

MEANING_OTHER = 0.4
"""The same for a question in another language, whose vectors are the encoder's: on half of XQuAD, 0.9 to 0.95 of the
paragraphs come first in six languages, by 0.01 to 0.02 more than by words alone in five of them. With 0.5 it is less
than by words alone in Arabic and Turkish.
"""
MEANING_TURKISH = 0.2
"""The same in Turkish: on that half of XQuAD, weights up to 0.35 give the same recall@1, and more gives less."""

MEANING_UNKNOWN = 0.2
"""The same for a question in another language with MiniLM's vectors: there, more is worse than words alone in Spanish
and Turkish, and better in German by 0.003.
"""

WITHIN = 3.0
"""Weight of a cosine beside words where the passages of one document are ranked, as a multiple of the weights above:
which document a question is about shows in its words, which passage answers it less. Of 107 statements that answers to
26 questions about Python's reference need, 103 instead of 94 are in the passages.
"""

_TINY = 1e-9


class PassageMatch(NamedTuple):
    """A passage with words of the question and its BM25 score: above 0, higher is better."""

    passage: int
    document: int
    score: float


class RankedDocument(Struct, frozen=True):
    """A document with its best passages in text order, at most `PASSAGES_PER_RESULT`."""

    document: int
    passages: list[int]


class Weighing(NamedTuple):
    """Weight of vectors compared with words (0..1), and minimum cosine for a document without words of the question."""

    meaning: float = MEANING
    least: float = LEAST_SIMILARITY


IN_ENGLISH = Weighing()


def weighing(embedder: str, language: str) -> Weighing:
    """Return how vectors of an embedder weigh for a question in a language ("" for English)."""
    if knows(embedder, language):
        meaning = MEANING_TURKISH if language == "tr" else MEANING_OTHER
        return Weighing(meaning, LEAST_SIMILARITY / SCALE)
    if language and knows_english_as(ENGLISH, embedder):
        return Weighing(MEANING_UNKNOWN)
    return IN_ENGLISH


def by_words(matches: Iterable[PassageMatch], limit: int) -> list[RankedDocument]:
    """Rank documents by their best passage, at most `limit`; `matches` come best first."""
    chosen: dict[int, list[int]] = {}
    for match in matches:
        if match.document in chosen or len(chosen) < limit:
            chosen.setdefault(match.document, []).append(match.passage)
    return [RankedDocument(document, sorted(held[:PASSAGES_PER_RESULT])) for document, held in chosen.items()]


def by_words_and_meaning(
    matches: Sequence[PassageMatch], near: Near, limit: int, weighs: Weighing = IN_ENGLISH
) -> list[RankedDocument]:
    """Rank documents by their best BM25 score and their best cosine, each divided by the highest of all, weighted and
    summed; at most `limit`. The passages within a document are ranked in the same way, with `WITHIN`.

    A passage without a vector counts by its words. Of equals, the one indexed first comes first. Such a convex
    combination uses the distance between scores, which a fusion of ranks drops (Bruch, Gai and Ingber, 2023).
    """
    import numpy as np

    passages, owners, words, cosines = _found(matches, near, weighs.least)
    if not len(passages):
        return []
    words *= (1 - weighs.meaning) / max(words.max(), _TINY)
    cosines *= weighs.meaning / max(cosines.max(), _TINY)
    documents, place = np.unique(owners, return_inverse=True)
    best_words, best_cosines = np.zeros(len(documents)), np.zeros(len(documents))
    np.maximum.at(best_words, place, words)
    np.maximum.at(best_cosines, place, cosines)
    ranked = []
    for document in documents[np.lexsort((documents, -(best_words + best_cosines)))[:limit]].tolist():
        own = np.flatnonzero(owners == document)
        best = own[np.lexsort((passages[own], -(words + WITHIN * cosines)[own]))[:PASSAGES_PER_RESULT]]
        ranked.append(RankedDocument(document, sorted(passages[best].tolist())))
    return ranked


def _found(matches: Sequence[PassageMatch], near: Near, least: float) -> "tuple[Ids, Ids, Scores, Scores]":
    """Return the passages with words of the question or a cosine of at least `least`: ids, their documents, BM25 scores
    and cosines, both at least 0; ordered by passage.
    """
    import numpy as np

    matching = np.array([match.passage for match in matches], np.int64)
    passages = np.union1d(near.passages, matching)
    owners, words, cosines = np.zeros(len(passages), np.int64), np.zeros(len(passages)), np.zeros(len(passages))
    known, matched = np.searchsorted(passages, near.passages), np.searchsorted(passages, matching)
    owners[known], cosines[known] = near.documents, np.maximum(near.cosines, 0.0)
    owners[matched], words[matched] = [match.document for match in matches], [match.score for match in matches]
    found = (words > 0) | (cosines >= least)
    return passages[found], owners[found], words[found], cosines[found]
