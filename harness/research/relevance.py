"""Relevance of texts to a question: by similarity of meaning, or by shared words."""

from collections.abc import Callable, Sequence
from typing import Self

from msgspec import Struct

from harness.core.question_language import question_language
from harness.core.text import content_words, stem, stems

MIN_SIMILARITY = 0.35
"""Below this cosine similarity, texts have no common subject for all-MiniLM-L6-v2."""

MIN_WORDED_SIMILARITY = 0.15
"""The least for an excerpt with the question's words: other word order or forms cost up to 0.3, and texts of different
subjects are rarely more similar than this.
"""

SHARED_WORDS = 0.3
"""Weight of shared words where texts to read are chosen; cosine similarity has weight 1."""

MIN_WORDS = 2
"""A single shared word is too little."""

RANK = 60
"""Rank that is added to every rank, as in rank fusion: ranks count for less, the first ones least apart."""

MAX_MISSING = 0.4
"""Share of the question's words that a text may lack, at least one word."""


class Wording(Struct, frozen=True):
    """The stems of a question's content words, those of the rarest (several if equally rare), and its language."""

    stems: frozenset[str]
    rarest: frozenset[str]
    language: str = "en"

    @classmethod
    def of(cls, question: str, rarity: Callable[[str], int]) -> Self:
        """Return the wording of a question; `rarity` is higher for a rarer word."""
        language = question_language(question) or "en"
        asked = {word: rarity(word) for word in content_words(question, language=language)}
        most = max(asked.values(), default=0)
        rarest = (stem(word, language) for word in asked if asked[word] == most)
        return cls(frozenset(stem(word, language) for word in asked), frozenset(rarest), language)

    def stems_of(self, text: str) -> frozenset[str]:
        """Return the stems of a text's content words, as those of the question are made."""
        return frozenset(stems(text, self.language))

    def share(self, held: frozenset[str]) -> float:
        """Return the share of the question's stems in `held`; 0 for a question without any."""
        return len(self.stems & held) / len(self.stems) if self.stems else 0.0

    def repeats(self, held: frozenset[str]) -> bool:
        """Return whether a text with the stems `held` only repeats the question: it has most words, and no other."""
        return held <= self.stems and self.share(held) >= 1 - MAX_MISSING / 2

    def matches(self, held: frozenset[str]) -> bool:
        """Return whether `held` has the rarest word and most of the others, for a question of two words or more.

        The rarest word separates "retry policy" from "vacation policy": a text about one has half the words of both.
        """
        lacks = len(self.stems - held)
        return len(self.stems) >= MIN_WORDS and self.rarest <= held and lacks <= max(1, MAX_MISSING * len(self.stems))


def promise(similarity: float, share: float) -> float:
    """Return how promising a text is, before it is read: by cosine similarity, and the share (0..1) of the words that
    it has.
    """
    return similarity + SHARED_WORDS * share


def by_quality(weights: Sequence[float]) -> list[int]:
    """Return the places of ranked results or sources in their new order; `weights` are their qualities (-0.05 to 0.05),
    in the order of their ranks. A rank counts 1 / (60 + rank), plus or minus this share: a primary source passes at
    most the three before it that are neutral, and with equal weights nothing moves.
    """
    return sorted(range(len(weights)), key=lambda place: -(1 + weights[place]) / (RANK + place + 1))
