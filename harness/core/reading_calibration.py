"""Decisions from what a reader says: thresholds, and the weights that join its reading with similarity of vectors."""

import math
from collections.abc import Mapping
from typing import Annotated, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import replace

from harness.core.multilingual_vectors import LEAST_SIGN, LEAST_SIGN_ACROSS, SHARED_WORDS, knows_english_as

Probability: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
_SURE = 1e-6

STEEPNESS = 10.0
"""Change of the log-odds that a text answers with a similarity, or a share of shared words, that is higher by 1."""
LEAST_WORDS = 0.59
"""Share of the question's words from which on a text answers it where neither reader nor vectors know its language."""


class ReadingCalibration(Struct, frozen=True, forbid_unknown_fields=True):
    """Thresholds (0..1): the least relevance at which a text `answers` a question, and the least probabilities of a
    reader at which a quotation `supports` or `contradicts` a sentence. `weights` make relevance of the reader's logit
    and of cosine similarity; the last is a constant. `reader` and `embedder` are the ids of the models that
    this was made for.
    """

    reader: str
    embedder: str
    answers: Probability
    supports: Probability
    contradicts: Probability
    weights: tuple[float, float, float]
    calibrated_on: str

    def with_vectors_of(self, embedder: str) -> "ReadingCalibration":
        """Return the calibration for the vectors of an embedder; if English ones are not those that this was made with,
        the reader alone decides.
        """
        same = knows_english_as(self.embedder, embedder)
        return self if same else replace(self, embedder=embedder, weights=(1.0, 0.0, 0.0))

    def relevance(self, probability: float, similarity: float) -> float:
        """Return how likely (0..1) a text answers, by the reader's probability and by cosine similarity."""
        of_reader, of_similarity, constant = self.weights
        return sigmoid(of_reader * log_odds(probability, _SURE) + of_similarity * similarity + constant)

    def by_meaning(self, similarity: float, share: float, *, across: bool = False) -> float:
        """Return how likely (0..1) a text answers a question that the reader cannot read, by cosine similarity of
        vectors that `knows` its language, and by the share (0..1) of the question's words that it has; `across`: the
        text is in another language than the question.
        """
        return self._beyond(similarity + SHARED_WORDS * share - (LEAST_SIGN_ACROSS if across else LEAST_SIGN))

    def by_words(self, share: float) -> float:
        """Return how likely (0..1) a text answers by the share of the question's words that it has."""
        return self._beyond(share - LEAST_WORDS)

    def _beyond(self, distance: float) -> float:
        """Return the relevance of a sign at this distance from its threshold, where it is `answers`."""
        return sigmoid(log_odds(self.answers, _SURE) + STEEPNESS * distance)


def sigmoid(logit: float) -> float:
    """Return the probability of a logit."""
    return 1 / (1 + math.exp(-logit)) if logit > 0 else math.exp(logit) / (1 + math.exp(logit))


def log_odds(probability: float, least: float) -> float:
    """Return the log-odds of a probability (0..1), taken to be at least `least` away from 0 and from 1."""
    sure = min(1 - least, max(least, probability))
    return math.log(sure / (1 - sure))


def least_probability(max_wrong: float, calibrated: Mapping[float, float]) -> float:
    """Return the least probability (0..1) that a decision needs, so that at most the share `max_wrong` of the wrong
    cases reaches it; above 1 if none is calibrated. `calibrated` has the least probability for each share.
    """
    return min((least for share, least in calibrated.items() if share <= max_wrong), default=math.inf)
