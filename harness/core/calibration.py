"""Calibration of the acceptance threshold from labelled pairs: how similar two queries must be to share an answer.

Conformal risk control (Angelopoulos, Bates, Fisch, Lei and Schuster, 2022, arXiv:2208.02814) with the loss "an answer
was served to a different question", which only falls as the threshold rises. The guarantee is about the mean: over
draws of the labelled pairs and one more different pair, the chance that this pair is served is at most `max_wrong`. It
holds for any score, if the pairs are exchangeable with later ones: drawn alike, none chosen for its score, none a
near-copy of another.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from msgspec import Struct

from harness.errors import InvalidInput

CONFIDENCE = Fraction(95, 100)


class Interval(Struct, frozen=True):
    """A share (0..1) and its two-sided 95 % interval, both ends included."""

    share: float
    low: float
    high: float


class Calibration(Struct, frozen=True):
    """A threshold and its results on the labelled pairs.

    A pair is served iff its score is at least `threshold`. `different` and `same` count the pairs by label; `served` is
    the share of the same ones that are served, `wrong` that of the different ones, `wrong_of_served` the share of
    different ones among all served, which assumes both labels are as frequent as here.
    """

    threshold: float
    max_wrong: float
    different: int
    same: int
    served: Interval
    wrong: Interval
    wrong_of_served: Interval


def calibrate(
    scores: Sequence[float], labels: Sequence[bool], max_wrong: float, max_wrong_of_served: float | None = None
) -> Calibration:
    """Return the threshold that keeps the expected share of different pairs served at or under `max_wrong` (0..1,
    exclusive) and, if given, the share of wrong ones among those served under `max_wrong_of_served` (see
    `lowest_for_served`), with an unbiased estimate of what it serves.

    A label is true if the pair of that score asks the same. The threshold comes from all different pairs. `served` and
    `wrong` do not come from it: judged by the pairs that chose it, a threshold looks better than it is. They are pooled
    counts of `cross_fitted`, so both describe thresholds from half the labels, which tend to serve a little less. The
    intervals treat the pooled pairs as independent draws, which is nearly so.

    Raises:
        InvalidInput: scores and labels differ in number, no threshold keeps `max_wrong_of_served`, or as in
            `lowest_threshold`.
    """
    if len(scores) != len(labels):
        raise InvalidInput(f"{len(scores):,} scores and {len(labels):,} labels; every score needs one label")
    different = [score for score, label in zip(scores, labels, strict=True) if not label]
    same = [score for score, label in zip(scores, labels, strict=True) if label]
    _check(same)

    def choose(same: Sequence[float], different: Sequence[float]) -> float:
        lowest, bound = lowest_threshold(different, max_wrong), max_wrong_of_served
        return lowest if bound is None else max(lowest, lowest_for_served(same, different, bound))

    threshold = choose(same, different)
    if threshold == math.inf:
        raise InvalidInput(
            f"on these {len(scores):,} pairs no threshold keeps the wrong ones among the served within "
            f"{max_wrong_of_served} for certain; allow more, or label more pairs"
        )
    served, wrong = cross_fitted(same, different, choose)
    return Calibration(
        threshold=threshold,
        max_wrong=max_wrong,
        different=len(different),
        same=len(same),
        served=interval(served, len(same)),
        wrong=interval(wrong, len(different)),
        wrong_of_served=interval(wrong, served + wrong),
    )


def lowest_threshold(wrong_scores: Sequence[float], max_wrong: float) -> float:
    """Return the lowest threshold t, for "serve iff score >= t", with (n R(t) + 1) / (n + 1) <= `max_wrong`.

    `wrong_scores` are the scores of the n pairs labelled different, in any order; R(t) is the share of them that t
    serves. A pair that a guard rejects outright has the score -inf (it is never served) or the lowest of the scale.
    Equal scores are served together or not at all: t is the next number above the highest score that may not be served.

    Raises:
        InvalidInput: `max_wrong` is not between 0 and 1, exclusive, a score is NaN or +inf, or there are fewer than
            1 / `max_wrong` - 1 scores: then no threshold could keep the bound.
    """
    allowed = _sufficient(wrong_scores, max_wrong, "pairs are labelled different", f"max_wrong {max_wrong}")
    return math.nextafter(sorted(wrong_scores, reverse=True)[allowed], math.inf)


def highest_threshold(right_scores: Sequence[float], max_missed: float) -> float:
    """Return the highest threshold t, for "accept iff score >= t", with (n M(t) + 1) / (n + 1) <= `max_missed`.

    `right_scores` are the scores of the n texts that should be accepted, in any order; M(t) is the share of them that t
    misses.

    Raises:
        InvalidInput: as in `lowest_threshold`.
    """
    allowed = _sufficient(right_scores, max_missed, "texts should be accepted", f"a share of {max_missed}")
    return sorted(right_scores)[allowed]


def lowest_for_served(same: Sequence[float], different: Sequence[float], max_wrong: float) -> float:
    """Return the lowest threshold at which, with 95 % confidence, at most `max_wrong` (0..1, exclusive) of what is
    served is wrong, if same and different pairs are as frequent as in these scores; +inf if there is none.

    Thresholds are tested from the highest that could pass downwards, each by the exact binomial bound, until one fails
    (fixed sequence testing: Angelopoulos, Bates, Candès, Jordan and Lei, 2021, arXiv:2110.01052), so that the
    confidence holds for all of them together.
    """
    limit = float(_exact(max_wrong))
    ranked = sorted([(score, 0) for score in same] + [(score, 1) for score in different], reverse=True)
    fewest = math.ceil(math.log(float(1 - CONFIDENCE)) / math.log1p(-limit))
    found, wrong = math.inf, 0
    for number, (score, is_wrong) in enumerate(ranked, start=1):
        wrong += is_wrong
        if score == -math.inf:
            break
        if number < fewest or (number < len(ranked) and ranked[number][0] == score):  # equal scores are served together
            continue
        if wrong >= number or _beta_quantile(float(CONFIDENCE), wrong + 1, number - wrong) > limit:
            break
        found = score
    return found


def cross_fitted(
    right: Sequence[float], wrong: Sequence[float], choose: Callable[[Sequence[float], Sequence[float]], float]
) -> tuple[int, int]:
    """Return how many of the right and of the wrong scores are accepted by two-fold cross-fitting, not random: on both
    sides, those at even positions choose a threshold that judges those at odd positions, and vice versa. A half with
    too few scores to choose accepts nothing.
    """
    accepted = [0, 0]
    for half in (0, 1):
        try:
            chosen = choose(right[half::2], wrong[half::2])
        except InvalidInput:
            continue
        for place, side in enumerate((right, wrong)):
            accepted[place] += sum(score >= chosen for score in side[1 - half :: 2])
    return accepted[0], accepted[1]


def interval(successes: int, trials: int) -> Interval:
    """Return the share of `successes` in `trials` with its exact two-sided 95 % interval (Clopper and Pearson, 1934).

    It covers the true share in at least 95 % of cases. Without trials the share is 0 and the interval 0..1.

    Raises:
        InvalidInput: not 0 <= `successes` <= `trials`.
    """
    if not 0 <= successes <= trials:
        raise InvalidInput(f"{successes:,} successes in {trials:,} trials cannot be; give 0 <= successes <= trials")
    if not trials:
        return Interval(share=0.0, low=0.0, high=1.0)
    tail = float(1 - CONFIDENCE) / 2
    failures = trials - successes
    return Interval(
        share=successes / trials,
        low=_beta_quantile(tail, successes, failures + 1) if successes else 0.0,
        high=1.0 - _beta_quantile(tail, failures, successes + 1) if failures else 1.0,
    )


def _sufficient(scores: Sequence[float], share: float, what: str, bound: str) -> int:
    """Return how many of the scores may be on the wrong side of a threshold.

    Raises:
        InvalidInput: even none breaks the bound, or a score is NaN or +inf.
    """
    exact = _exact(share)
    _check(scores)
    allowed = math.floor(exact * (len(scores) + 1)) - 1
    if allowed < 0:
        needed = math.ceil(1 / exact) - 1
        raise InvalidInput(f"too few labels: {len(scores):,} {what}; at least {needed:,} are needed for {bound}")
    return allowed


def _exact(max_wrong: float) -> Fraction:
    """Return the number as written: 0.3 is three tenths, though the float is a little less."""
    if not 0 < max_wrong < 1:
        raise InvalidInput(f"max_wrong is {max_wrong}; it must be between 0 and 1, for instance 0.01")
    return Fraction(repr(float(max_wrong)))


def _check(scores: Sequence[float]) -> None:
    if not all(score < math.inf for score in scores):  # NaN is not less either
        raise InvalidInput("a score is NaN or +inf; score every pair with a number, a refused one with -inf or 0")


def _beta_quantile(probability: float, a: int, b: int) -> float:
    """Return x with I_x(a, b) = `probability`, by bisection until no float lies between the ends."""
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        if _incomplete_beta(middle, a, b) < probability:
            low = middle
        else:
            high = middle
    return high


def _incomplete_beta(x: float, a: int, b: int) -> float:
    """Return I_x(a, b), regularised, for 0 < x < 1 (DLMF 8.17.22, by its mirror image where that converges slowly)."""
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    front = math.exp(log_front)
    if x < (a + 1) / (a + b + 2):
        return front * _continued_fraction(x, a, b) / a
    return 1.0 - front * _continued_fraction(1.0 - x, b, a) / b


def _continued_fraction(x: float, a: int, b: int) -> float:
    """Evaluate the fraction of DLMF 8.17.22 by Lentz's method (Thompson and Barnett, 1986)."""
    tiny = 1e-300
    c, d = 1.0, 1.0 / ((1.0 - (a + b) * x / (a + 1)) or tiny)
    value = d
    change, m = 0.0, 0
    while abs(change - 1.0) > 1e-15 and m < 10_000:
        m += 1
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        change = 1.0
        for term in (even, odd):
            d = 1.0 / ((1.0 + term * d) or tiny)
            c = (1.0 + term / c) or tiny
            change *= c * d
        value *= change
    return value
