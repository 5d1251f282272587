"""Decision whether the results of one query answer another one, from what they say.

Two queries that need different answers can share results: the page about Python 3.11 may also say when 3.12 was
released. So a pair that is refused as queries may be served for its results, and a pair that looks equal is refused if
its results lack what only the new query names.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from harness.core.reading_calibration import least_probability, log_odds, sigmoid
from harness.core.required_terms import TermCheck, lacking_terms, rival_terms

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


class ReadResult(TermCheck, frozen=True, kw_only=True):
    """Signs of one result for a new query and for the one that found it: how likely it answers each (0..1), the
    numbers and names of the new query that it `lacks`, and the `rivals` of these that it also mentions.
    """

    relevance: float
    before: float


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
        probability >= least_probability(max_wrong, LEAST),
        round(probability, 4),
        f"a result answers it with {probability:.0%}",
    )


def result_signs(clean: Sequence[ReadResult], similarity: float) -> dict[str, float]:
    """Return the signs that `WEIGHTS` weigh, of the results that have what the new query names."""
    likely = sorted((each.relevance for each in clean), reverse=True)
    return {
        "relevance": log_odds(likely[0], _SURE),
        "before": log_odds(max(each.before for each in clean), _SURE),
        "second": log_odds(likely[1] if len(likely) > 1 else 0.0, _SURE),
        "similarity": similarity,
    }


def read_result(query: str, text: str, relevance: float, before: float) -> ReadResult:
    """Return what a result says, given how likely it answers the new query and the one before."""
    lacks, rivals = lacking_terms(query, text), rival_terms(query, text)
    return ReadResult(relevance=relevance, before=before, lacks=lacks, rivals=rivals)


def unmentioned(query: str, other: str, texts: Iterable[str]) -> tuple[str, ...]:
    """Return the numbers and names of a new query that neither the query `other` nor the texts that it found mention.
    Never raises.
    """
    return lacking_terms(query, "\n".join((other, *texts)))
