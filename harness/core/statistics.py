"""Comparison of two sets of scores: paired, by task, without assuming a normal distribution.

A task is a cluster: its repeats are averaged first, because they are more alike than scores of other tasks.

- The sign-flip test is Fisher's randomisation test for pairs (The Design of Experiments, 1935, section 21; Pitman,
  1937). It is exact if every task's difference is as likely +d as -d when nothing has changed: if both sides run the
  same number of repeats, in turns. Tasks may differ in noise. Sums over all sign patterns are counted without listing
  them, by meeting in the middle (Horowitz and Sahni, 1974). If even that is too much, patterns are drawn, and the
  estimate is (b + 1) / (m + 1), which is never 0 and keeps the level (Phipson and Smyth, 2010).
- The interval is a bootstrap over tasks (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13;
  Cameron, Gelbach and Miller, 2008, for clusters), its tails widened for few tasks as in Hesterberg (2015).
- Alpha is shared evenly: the linear spending function of Lan and DeMets (1983), in effect Bonferroni's bound. It holds
  whatever the dependence between experiments, and if the loop ends early.

Random numbers come only from generators with a fixed seed: the same scores give the same numbers, in any order.
"""

import math
import random
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from fractions import Fraction
from statistics import NormalDist

from harness.errors import InvalidInput

SEED = 1935
EXACT_TASKS = 32
"""Up to this many nonzero differences, all sign patterns are counted: at most about 0.1 s."""

DRAWS = 99_999
"""Sign patterns drawn beyond that; the smallest p is then 1 / 100,000."""

RESAMPLES = 1_999
LEVEL = 0.95
"""Coverage of an interval, and of the noise floor."""

_TIE = 1e-9  # sums that differ by less, relative to the largest, are equal: the difference is rounding
_BLOCK = 8

Scores = Mapping[str, Sequence[float]]
"""Scores (0..1) by task, one for each repeat."""


def paired_differences(baseline: Scores, candidate: Scores) -> dict[str, float]:
    """Return, for each task in alphabetical order, the candidate's mean score minus the baseline's (-1..1, rounded to
    12 digits: a rounding error is not a difference).

    Raises:
        InvalidInput: no task, different tasks on the two sides, a task with no repeats or different numbers of repeats
            (an exact test needs the same number), or a score that is not a finite number.
    """
    _check_pairs(baseline, candidate)
    return {task: round(_mean(candidate[task]) - _mean(baseline[task]), 12) for task in sorted(baseline)}


def sign_flip_p(differences: Sequence[float]) -> float:
    """Return the one-sided p (0..1, exclusive of 0) of "nothing is better": the share of sign patterns under which the
    sum of the differences, one for each task, is at least the actual sum.

    A difference of 0 stays 0 under every pattern and so contributes nothing: with k others, the smallest p is 2^-k.
    Exact up to `EXACT_TASKS` of those, an estimate from `DRAWS` patterns beyond.

    Raises:
        InvalidInput: no difference, or one that is not a finite number.
    """
    _check(differences)
    sizes = sorted(abs(each) for each in differences if each)
    if not sizes:
        return 1.0
    reached = math.fsum(differences) - _TIE * math.fsum(sizes)
    if len(sizes) > EXACT_TASKS:
        return _drawn_p(sizes, reached)
    middle = len(sizes) // 2
    left, right = _sums(sizes[:middle]), sorted(_sums(sizes[middle:]))
    count = sum(len(right) - bisect_left(right, reached - each) for each in left)
    return math.ldexp(count, -len(sizes))


def bootstrap_interval(differences: Sequence[float], level: float = LEVEL) -> tuple[float, float]:
    """Return the ends (low, high) of the interval of the mean difference, from `RESAMPLES` draws of whole tasks.

    `differences` has one value for each task. The percentile interval of few tasks is too short: its tails are those
    that would make it as long as Student's for normal values, of which it covers the mean in 95 to 96 % of cases for 8
    to 24 tasks. It always contains the mean of the differences, and never extends beyond the observed values: with
    fewer than 8 tasks, or if one task in many differs much, it is too short.

    Raises:
        InvalidInput: fewer than two differences, one that is not a finite number, a level not between 0 and 1.
    """
    _check(differences)
    tasks = len(differences)
    if tasks < 2:
        raise InvalidInput("an interval needs at least 2 tasks, not 1; add tasks to the split")
    if not 0 < level < 1:
        raise InvalidInput(f"the level is {level}; it must be between 0 and 1, for instance {LEVEL}")
    chance = random.Random(SEED)  # noqa: S311 - a sample, no secret
    values = sorted(differences)
    drawn = chance.choices(values, k=tasks * RESAMPLES)
    means = sorted(math.fsum(drawn[start : start + tasks]) / tasks for start in range(0, len(drawn), tasks))
    tail = NormalDist().cdf(-math.sqrt(tasks / (tasks - 1)) * _student((1 + level) / 2, tasks - 1))
    left_out = max(0, math.floor(tail * (RESAMPLES + 1)) - 1)
    mean = _mean(values)
    return min(means[left_out], mean), max(means[-1 - left_out], mean)


def clustered_error(scores: Scores) -> float:
    """Return the standard error of the mean of all scores, robust to any correlation within a task.

    The sandwich with the factor G / (G - 1) for G tasks (Liang and Zeger, 1986; Cameron and Miller, 2015). Tasks with
    more repeats weigh more.

    Raises:
        InvalidInput: fewer than two tasks, a task without a score, a score that is not a finite number.
    """
    if len(scores) < 2:
        raise InvalidInput(f"a standard error needs at least 2 tasks, not {len(scores)}; add tasks")
    for each in scores.values():
        _check(each)
    ordered = [scores[task] for task in sorted(scores)]
    number = sum(len(each) for each in ordered)
    mean = math.fsum(score for each in ordered for score in each) / number
    squares = math.fsum(math.fsum(score - mean for score in each) ** 2 for each in ordered)
    return math.sqrt(squares * len(scores) / (len(scores) - 1)) / number


def noise_floor(first: Scores, second: Scores) -> float:
    """Return the noise floor: the size (0 or more) below which the mean difference of identical settings over these
    tasks stays in `LEVEL` of all comparisons of one repeat each.

    `first` and `second` are the two sides of an A/A run, the same settings in turns, the same repeats in each: the n-th
    of one is paired with the n-th of the other. Assumes independent tasks and a mean of their differences that is
    nearly normal around 0. From r repeats of n tasks its relative error is about 1 / sqrt(2 r n).

    Raises:
        InvalidInput: as for `paired_differences`.
    """
    _check_pairs(first, second)
    squares = [_mean([(b - a) ** 2 for a, b in zip(first[task], second[task], strict=True)]) for task in sorted(first)]
    return NormalDist().inv_cdf((1 + LEVEL) / 2) * math.sqrt(math.fsum(squares)) / len(squares)


def alpha_share(experiment: int, experiments: int, alpha: float) -> float:
    """Return the alpha that the `experiment`-th (from 1) of at most `experiments` may spend of `alpha` (0..1).

    The chance that any of them finds a gain that is not there is then at most `alpha`.

    Raises:
        InvalidInput: the number is not within 1..`experiments`, or `alpha` not between 0 and 1.
    """
    _check_alpha(alpha)
    if not 1 <= experiment <= experiments:
        raise InvalidInput(
            f"experiment {experiment:,} of {experiments:,} has no alpha left; agree on more before the start"
        )
    return alpha / experiments


def tasks_needed(alpha: float) -> int:
    """Return the least number of tasks n with which a sign-flip test can be significant: 2^-n <= `alpha`.

    Raises:
        InvalidInput: `alpha` is not between 0 and 1.
    """
    _check_alpha(alpha)
    return (math.ceil(1 / Fraction(alpha)) - 1).bit_length()


def _check_pairs(one: Scores, other: Scores) -> None:
    if not one:
        raise InvalidInput("no scores to compare; run at least one task")
    if differing := sorted(one.keys() ^ other.keys()):
        raise InvalidInput(f"task {differing[0]} has scores on one side only; run both sides on the same tasks")
    for task in one:
        if len(one[task]) != len(other[task]):
            raise InvalidInput(
                f"task {task} has {len(one[task])} repeats on one side and {len(other[task])} on the other; "
                "run both sides equally often"
            )
        _check(one[task])
        _check(other[task])


def _check(values: Sequence[float]) -> None:
    if not values:
        raise InvalidInput("no scores to compare; run at least one repeat of every task")
    if not all(map(math.isfinite, values)):
        raise InvalidInput("a score is NaN or infinite; a run that failed has no score at all")


def _check_alpha(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise InvalidInput(f"alpha is {alpha}; it must be between 0 and 1, for instance 0.05")


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _sums(sizes: Sequence[float]) -> list[float]:
    """Return the sums under all 2^n sign patterns of n `sizes`."""
    sums = [0.0]
    for size in sizes:
        sums = [each + size for each in sums] + [each - size for each in sums]
    return sums


def _drawn_p(sizes: Sequence[float], reached: float) -> float:
    """Return the estimate of p from `DRAWS` patterns; 8 random bits choose a sum of each block of sizes."""
    chance = random.Random(SEED)  # noqa: S311 - a sample, no secret
    blocks = [_sums(sizes[start : start + _BLOCK]) for start in range(0, len(sizes), _BLOCK)]
    extreme = 0
    for _ in range(DRAWS):
        signs = chance.randbytes(len(blocks))
        extreme += sum([sums[byte % len(sums)] for sums, byte in zip(blocks, signs, strict=True)]) >= reached
    return (extreme + 1) / (DRAWS + 1)


def _student(probability: float, freedom: int) -> float:
    """Return the quantile of Student's distribution, accurate enough for an interval (Abramowitz and Stegun, 26.7.5):
    from 7 degrees of freedom up, to 0.001 for a level of 95 %, to 0.006 for 99 %.
    """
    z = NormalDist().inv_cdf(probability)
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )
