"""Decision whether the results of one query answer another one, from what they say.

Two queries that need different answers can share results: the page about Python 3.11 may also say when 3.12 was
released. So a pair that is refused as queries may be served for its results, and a pair that looks equal is refused if
its results lack what only the new query names.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from harness.core.reading_calibration import sigmoid
from harness.core.required_terms import all_numbers, lacking, lacking_words, required_names, rival_terms

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"relevance": 0.41, "before": 0.136, "second": -0.159, "similarity": -2.144}
)
CONSTANT = 0.999
"""Fitted by `training/results.py` to written queries, half of which the results of another query answer."""
LEAST: Mapping[float, float] = MappingProxyType({0.02: 0.743, 0.05: 0.645, 0.1: 0.594})
"""Least probability at which results are served, by the share of unanswered queries that reach it. For 1 % it would be
0.796, which one answered query in 200 reaches: not worth the reading.
"""
_SURE = 1e-3


class ReadResult(Struct, frozen=True, kw_only=True):
    """Signs of one result for a new query and for the one that found it: how likely it answers each (0..1), the
    numbers and names of the new query that it `lacks`, and the `rivals` of these that it also mentions.
    """

    relevance: float
    before: float
    lacks: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        """Whether it has every number and name of the new query, and none that could be taken for one."""
        return not self.lacks and not self.rivals


class ResultDecision(Struct, frozen=True):
    """Whether results are served for another query: `probability` (0..1) is how likely they answer it."""

    accepted: bool
    probability: float
    reason: str


def decide_by_results(read: Sequence[ReadResult], similarity: float, max_wrong: float) -> ResultDecision:
    """Decide whether the results of a query answer another one, of this `similarity` (0..1) of the two.

    `max_wrong` (0..1) is the share of queries that may be served though no result answers them. Never raises.
    """
    clean = [each for each in read if each.clean]
    if not clean:
        return ResultDecision(False, 0.0, "no result has what it names")
    signs = result_signs(clean, similarity)
    probability = sigmoid(CONSTANT + sum(WEIGHTS[name] * value for name, value in signs.items()))
    return ResultDecision(
        probability >= least_probability(max_wrong),
        round(probability, 4),
        f"a result answers it with {probability:.0%}",
    )


def least_probability(max_wrong: float) -> float:
    """Return the probability at which at most this share of unanswered queries is served; above 1 if none is known."""
    return min((least for share, least in LEAST.items() if share <= max_wrong), default=math.inf)


def result_signs(clean: Sequence[ReadResult], similarity: float) -> dict[str, float]:
    """Return the signs that `WEIGHTS` weigh, of the results that have what the new query names."""
    likely = sorted((each.relevance for each in clean), reverse=True)
    return {
        "relevance": _logit(likely[0]),
        "before": _logit(max(each.before for each in clean)),
        "second": _logit(likely[1] if len(likely) > 1 else 0.0),
        "similarity": similarity,
    }


def read_result(query: str, text: str, relevance: float, before: float) -> ReadResult:
    """Return what a result says, given how likely it answers the new query and the one before."""
    lacks = lacking(all_numbers(query), text) + lacking_words(required_names(query), text)
    return ReadResult(relevance=relevance, before=before, lacks=lacks, rivals=rival_terms(query, text))


def unmentioned(query: str, other: str, texts: Iterable[str]) -> tuple[str, ...]:
    """Return the numbers and names of a new query that neither the query `other` nor the texts that it found mention.
    Never raises.
    """
    text = "\n".join((other, *texts))
    return lacking(all_numbers(query), text) + lacking_words(required_names(query), text)


def _logit(probability: float) -> float:
    sure = min(max(probability, _SURE), 1 - _SURE)
    return math.log(sure / (1 - sure))
