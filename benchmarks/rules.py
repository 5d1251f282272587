"""Rules that decide whether the answer to one question serves another: this project's, plain cosine thresholds, and
those of GPTCache and RedisVL with their defaults. All use the same MiniLM vectors.

GPTCache: what `init_similar_cache()` sets up. Its own `SearchDistanceEvaluation` is called with the distance that its
FAISS index returns (squared Euclidean; 2 - 2 x cosine for unit vectors); served from `Config().similarity_threshold`
of the evaluator's range up, as `gptcache.adapter.adapter.adapt` has it. At the defaults that is a cosine of 0.6.

RedisVL: `SemanticCache.check` asks Redis for the vectors within `distance_threshold` (cosine distance, inclusive). The
rule is that one comparison, made inside Redis, so only the default is taken from the class.

Both rules depend on the cosine alone: tuned to a share of wrong answers, both equal the calibrated cosine.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from benchmarks.pairs import Pair
from benchmarks.rows import say
from benchmarks.shipped import decision, near_enough, served
from harness.core.calibration import lowest_threshold
from harness.core.equivalence import Decision
from harness.errors import InvalidInput

OURS = "this rule"
UNVERIFIED = f"{OURS} without the verifier"
COSINE = "cosine"
GPTCACHE = "GPTCache"
REDISVL = "RedisVL"
CUTS = (0.85, 0.90, 0.95)

Flags = NDArray[np.bool_]
Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Judged:
    """Pairs with what every contender's rule needs: whether they are the same question, similarity, our decision; and
    whether the rule without a verifier serves them.
    """

    pairs: Sequence[Pair]
    same: Flags
    similarity: Scores
    decisions: Sequence[Decision]
    unverified: Flags

    @property
    def scores(self) -> Scores:
        """Our scores; -inf for what a guard vetoed, and for what is too far away to be served at any score."""
        return np.array([each.score if near_enough(each.similarity) else -inf for each in self.decisions])

    @property
    def accepted(self) -> Flags:
        """Decisions of our rule as shipped."""
        return np.array([served(each) for each in self.decisions], dtype=np.bool_)


@dataclass(frozen=True)
class Thresholds:
    """Thresholds at which each rule serves at most the same share of different pairs of the calibration half.

    `as_shipped` is the cosine that serves as many of them as our rule does as it is shipped.
    """

    ours: float
    cosine: float
    as_shipped: float


def judge(pairs: Sequence[Pair]) -> Judged:
    """Ask our rule about every pair."""
    return Judged(
        pairs,
        np.array([pair.same for pair in pairs], dtype=np.bool_),
        np.array([pair.similarity for pair in pairs]),
        [decision(pair.a, pair.b, pair.similarity) for pair in pairs],
        np.array([_served_unverified(pair) for pair in pairs], dtype=np.bool_),
    )


def _served_unverified(pair: Pair) -> bool:
    return served(decision(pair.a, pair.b, pair.similarity, verified=False), verified=False)


def in_hindsight(
    judged: Judged, max_wrong: float, more: Mapping[str, Scores] = MappingProxyType({})
) -> dict[str, Flags]:
    """Return what our rule, a cosine cut and `more` scores serve of a set, each cut where this very set has so many
    wrong ones.
    """
    allowed = int(max_wrong * (~judged.same).sum())
    found = {}
    for name, scores in ({OURS: judged.scores, COSINE: judged.similarity} | dict(more)).items():
        highest = np.sort(scores[~judged.same])[::-1]
        cut = np.nextafter(highest[allowed], inf) if allowed < len(highest) else -inf
        found[f"{name}, at {max_wrong:.0%} wrong in hindsight"] = (scores >= cut) & (scores > -inf)
    return found


def calibrate(judged: Judged, max_wrong: float) -> Thresholds:
    """Fit the thresholds that can be fitted; `max_wrong` is a share (0..1) of the different pairs."""
    different = ~judged.same
    return Thresholds(
        ours=_fitted(judged.scores[different], max_wrong),
        cosine=_fitted(judged.similarity[different], max_wrong),
        as_shipped=cosine_as_often_wrong(judged, int(judged.accepted[different].sum())),
    )


def _fitted(wrong_scores: Scores, max_wrong: float) -> float:
    """Return the fitted threshold; with too few pairs to fit one, that which serves nothing."""
    try:
        return lowest_threshold(wrong_scores.tolist(), max_wrong)
    except InvalidInput as error:
        say(str(error))
        return inf


def cosine_as_often_wrong(judged: Judged, wrong: int) -> float:
    """Return the lowest cosine cut that serves at most `wrong` different pairs: a comparison in hindsight."""
    cosines = np.sort(judged.similarity[~judged.same])[::-1]
    return float(np.nextafter(cosines[wrong], inf)) if wrong < len(cosines) else -inf


def served_by_all(judged: Judged, fitted: Thresholds | None, limit: str) -> dict[str, Flags]:
    """Return which pairs each contender serves; `limit` says in words what `fitted` was fitted to."""
    cosines = judged.similarity
    found = {f"{OURS}, as shipped": judged.accepted, f"{UNVERIFIED}, as shipped": judged.unverified}
    if fitted:
        found |= {
            f"{COSINE}, as often wrong as shipped": cosines >= fitted.as_shipped,
            f"{OURS}, fitted to {limit}": (judged.scores >= fitted.ours) & (judged.scores > -inf),
            f"{COSINE}, fitted to {limit}": cosines >= fitted.cosine,
        }
    found |= {f"{COSINE} >= {cut:.2f}": cosines >= cut for cut in CUTS}
    return found | {name: serves(cosines) for name, serves in _peers().items()}


@cache
def _peers() -> dict[str, Callable[[Scores], Flags]]:
    """Return the rules of the peers that are installed, and say which are not."""
    found = {}
    for name, load in ((GPTCACHE, _gptcache), (REDISVL, _redisvl)):
        try:
            found[f"{name}, as it comes"] = load()
        except ImportError as error:
            say(f"{name} is not measured: {error}; `pip install --group bench` installs it")
    return found


def _gptcache() -> Callable[[Scores], Flags]:
    from gptcache.config import Config
    from gptcache.similarity_evaluation import SearchDistanceEvaluation

    evaluator = SearchDistanceEvaluation()
    lowest, highest = evaluator.range()
    threshold = (highest - lowest) * Config().similarity_threshold

    def serves(cosines: Scores) -> Flags:
        ranks = [evaluator.evaluation({}, {"search_result": (2 - 2 * cosine, 0)}) for cosine in cosines]
        return np.array(ranks) >= threshold

    return serves


def _redisvl() -> Callable[[Scores], Flags]:
    from redisvl.extensions.cache.llm import SemanticCache

    distance = float(inspect.signature(SemanticCache).parameters["distance_threshold"].default)
    return lambda cosines: 1 - cosines <= distance
