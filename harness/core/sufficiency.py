"""Sufficiency: whether passages that were read before answer a question, so that nothing needs to be searched.

A passage that answers shows it: the reader finds it likely to answer, and words and vectors both rank it first. A
logistic regression joins these signs. Passages that look alike are the danger: they answer for another version, year or
name. So no number and no name of the question may be missing, nor most of its words, and if the passage also mentions
another version or year, a sentence without it has to answer, or the question is searched.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, TypeAlias

from msgspec import Struct

from harness.core.reading_calibration import least_probability, log_odds, sigmoid
from harness.core.required_terms import TermCheck

State: TypeAlias = Literal["answered", "partly", "not answered"]

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"relevance": 0.287, "sentence": 0.239, "second": 0.184, "by_words": 1.156, "by_meaning": 0.832}
)
CONSTANT = -1.395
"""Fitted by `training/sufficiency.py` to questions of SQuAD 2.0 and PubMedQA, and to written ones that are hard to tell
apart.
"""
LEAST: Mapping[float, float] = MappingProxyType(
    {0.005: 0.882, 0.01: 0.869, 0.02: 0.824, 0.05: 0.78, 0.1: 0.671, 0.2: 0.488}
)
"""Least probability at which held passages answer, by the share of questions without a held answer that reach it."""
PARTLY = 0.4
"""Probability from which on held passages are about the question, and are used with what a search finds."""
PROBE_SIMILARITY = 0.3
"""Cosine similarity from which on a passage may be about the question."""
COVERED = 0.3
"""Share of the results of a search that were read before, from which on the library covers its subject."""
LEAST_WORDS = 2 / 3
"""Share of the question's words, rare ones counting more, that a passage needs for an answer: one with fewer may say
the opposite (what keeps the changes, what throws them away).
"""
UNREAD_SIMILARITY = 0.75
"""Cosine similarity from which on a passage with all words of the question answers it where no reader can read it."""
LEAST_SENTENCE = 0.5
"""Relevance from which on a sentence without a rival answers though its passage has one."""
LEAST_SIGN = 0.05
"""Relevance that counts for the second passage, and for the best sentence, where there is none, or a worse one."""
_SURE = 1e-3
_UNRANKED = 60


class HeldEvidence(TermCheck, frozen=True, kw_only=True):
    """Signs of one held passage for a question: `relevance` (0..1), how likely it answers, `None` if no reader read it;
    cosine `similarity`; its ranks `by_words` and `by_meaning` (1 is best), if any; the share of the question's
    `words` that it has (0..1); the numbers and names of the question that it `lacks`, and the `rivals` of these that it
    also mentions; `sentence` (0..1), how likely its best sentence answers that has all of these terms and no rival.
    """

    relevance: float | None
    similarity: float
    by_words: int | None
    by_meaning: int | None
    words: float
    sentence: float = 0.0

    @property
    def is_about_it(self) -> bool:
        """Whether it has every number and name of the question and cannot be taken for an answer about a rival."""
        return not self.lacks and (not self.rivals or self.sentence >= LEAST_SENTENCE)


class Sufficiency(Struct, frozen=True):
    """Decision about one question: `probability` (0..1) is how likely the passages answer it."""

    state: State
    probability: float
    reasons: tuple[str, ...]


def sufficiency(evidence: Sequence[HeldEvidence], max_wrong: float) -> Sufficiency:
    """Decide whether passages answer a question: `answered`, `partly` (they are about it), or `not answered`.

    `max_wrong` (0..1) is the share of questions that may count as answered though no passage answers them. Never
    raises.
    """
    read = [each for each in evidence if each.relevance is not None]
    if not evidence:
        return Sufficiency("not answered", 0.0, ("nothing about it is held",))
    if not read:
        return _unread(evidence)
    best = evidence[likeliest(evidence)]
    probability = sigmoid(score(features(best, read)))
    reasons = [f"the likeliest passage answers with {probability:.0%}"]
    least = least_probability(max_wrong, LEAST)
    if probability < least:
        reasons.append(f"less than {least:.0%}")
    return _decided(probability, probability >= least, best, reasons)


def likeliest(evidence: Sequence[HeldEvidence]) -> int:
    """Return the place of the passage that decides, of at least one: of those that were read, the likeliest that is not
    about something else. Never raises.
    """
    return max(
        range(len(evidence)),
        key=lambda place: (
            (each := evidence[place]).relevance is not None,
            each.is_about_it,
            each.relevance or 0.0,
            each.similarity,
        ),
    )


def worth_a_probe(evidence: Sequence[HeldEvidence]) -> bool:
    """Return whether held passages are near enough to a question for one search to show whether they cover its subject.
    Never raises.
    """
    return any(each.similarity >= PROBE_SIMILARITY for each in evidence)


def covered(known: Sequence[bool]) -> bool:
    """Return whether a search shows that the library covers its subject, so that further queries may ask the library:
    `known` says for each result whether it was read before. Never raises.
    """
    return bool(known) and sum(known) >= COVERED * len(known)


def features(best: HeldEvidence, read: Sequence[HeldEvidence]) -> dict[str, float]:
    """Return the signs that `WEIGHTS` weigh, of the likeliest passage and of the second one that was read."""
    others = list(read)
    others.remove(best)
    second = max((each.relevance or 0.0 for each in others), default=0.0)
    return {
        "relevance": log_odds(best.relevance or 0.0, _SURE),
        "sentence": log_odds(max(best.sentence, LEAST_SIGN), _SURE),
        "second": log_odds(max(second, LEAST_SIGN), _SURE),
        "by_words": 1 / (best.by_words or _UNRANKED),
        "by_meaning": 1 / (best.by_meaning or _UNRANKED),
    }


def score(signs: Mapping[str, float]) -> float:
    """Return the logit of the probability that held passages answer."""
    return CONSTANT + sum(WEIGHTS[name] * value for name, value in signs.items())


def _unread(evidence: Sequence[HeldEvidence]) -> Sufficiency:
    best = evidence[likeliest(evidence)]
    near = best.similarity >= UNREAD_SIMILARITY and best.words == 1.0
    return _decided(
        best.similarity, near, best, [f"no reader; the nearest passage has similarity {best.similarity:.2f}"]
    )


def _decided(probability: float, enough: bool, best: HeldEvidence, reasons: list[str]) -> Sufficiency:
    if best.lacks:
        reasons.append(f"it does not mention {' or '.join(best.lacks)}")
    if best.rivals and not best.is_about_it:
        reasons.append(f"it also mentions {', '.join(best.rivals)}")
    if best.words < LEAST_WORDS:
        reasons.append(f"it has {best.words:.0%} of the question's words")
    state: State = "not answered"
    if probability >= PARTLY:
        state = "answered" if enough and best.is_about_it and best.words >= LEAST_WORDS else "partly"
    return Sufficiency(state, round(probability, 4), tuple(reasons))
