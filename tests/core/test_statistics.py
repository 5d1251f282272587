"""Paired scores: differences by task, the exact test, intervals, errors, alpha, the noise floor."""

import itertools
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist, fmean, stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.statistics import (
    DRAWS,
    EXACT_TASKS,
    _student,
    alpha_share,
    bootstrap_interval,
    clustered_error,
    noise_floor,
    paired_differences,
    sign_flip_p,
    tasks_needed,
)
from harness.errors import InvalidInput

PROPERTY = settings(deadline=None)
RESAMPLED = settings(deadline=None, max_examples=25)

HUNDREDTHS = st.integers(-100, 100)
DIFFERENCES = st.lists(HUNDREDTHS.map(lambda n: n / 100), min_size=1, max_size=10)
FINITE = st.lists(st.floats(-1, 1), min_size=2, max_size=20)


def counted(hundredths: Sequence[int]) -> Fraction:
    """Count, exactly, the sign patterns under which the sum is at least the actual one."""
    patterns = list(itertools.product((1, -1), repeat=len(hundredths)))
    sums = [sum(sign * each for sign, each in zip(signs, hundredths, strict=True)) for signs in patterns]
    return Fraction(sum(each >= sum(hundredths) for each in sums), len(patterns))


# --- paired_differences


def test_repeats_are_averaged_before_tasks_are_compared() -> None:
    """A task counts once, however often it ran."""
    found = paired_differences({"b": [0.1, 0.3], "a": [0.5]}, {"a": [0.4], "b": [0.5, 0.7]})
    assert found == {"a": -0.1, "b": 0.4}
    assert list(found) == ["a", "b"]


def test_a_rounding_error_is_no_difference() -> None:
    """Equal means from different numbers are equal."""
    assert 0.1 + 0.2 != 0.15 + 0.15
    assert paired_differences({"a": [0.1, 0.2]}, {"a": [0.15, 0.15]}) == {"a": 0.0}


@pytest.mark.parametrize(
    ("baseline", "candidate", "message"),
    [
        ({}, {}, "no scores"),
        ({"a": []}, {"a": []}, "no scores"),
        ({"a": [0.5]}, {"a": [0.5], "b": [0.5]}, "task b has scores on one side only"),
        ({"a": [0.5, 0.5]}, {"a": [0.5]}, "task a has 2 repeats on one side and 1 on the other"),
        ({"a": [math.nan]}, {"a": [0.5]}, "NaN"),
        ({"a": [0.5]}, {"a": [math.inf]}, "NaN or infinite"),
    ],
)
def test_scores_that_do_not_pair_are_refused(
    baseline: dict[str, list[float]], candidate: dict[str, list[float]], message: str
) -> None:
    """A missing run is never a 0, and never ignored."""
    with pytest.raises(InvalidInput, match=message):
        paired_differences(baseline, candidate)
    with pytest.raises(InvalidInput, match=message):
        noise_floor(baseline, candidate)


# --- sign_flip_p


@PROPERTY
@given(hundredths=st.lists(HUNDREDTHS, min_size=1, max_size=10))
def test_p_is_the_share_of_all_sign_patterns(hundredths: list[int]) -> None:
    """It equals a count of every pattern in whole numbers, with ties and zeros."""
    assert sign_flip_p([each / 100 for each in hundredths]) == float(counted(hundredths))


@pytest.mark.parametrize(
    ("differences", "p"),
    [([0.1] * 16, 2**-16), ([-0.1] * 16, 1.0), ([0.3, -0.1, -0.2], 5 / 8), ([0.2], 0.5), ([0.1] * 32, 2**-32)],
)
def test_p_by_hand(differences: list[float], p: float) -> None:
    """All better: one pattern of 2^n. A sum that differs from 0 only by rounding ties with others of 0."""
    assert sign_flip_p(differences) == p


def test_fishers_own_example() -> None:
    """Darwin's maize: 863 of the 32,768 patterns of 15 pairs reach the sum of 314 (Fisher, 1935, section 21)."""
    eighths = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    assert sign_flip_p([each / 8 for each in eighths]) == 863 / 2**15


@PROPERTY
@given(sizes=st.lists(st.integers(0, 30), min_size=1, max_size=7))
def test_p_keeps_its_level_whatever_the_sizes(sizes: list[int]) -> None:
    """If every sign is as likely plus as minus, p is at most a in at most a share a of all cases."""
    patterns = itertools.product((1, -1), repeat=len(sizes))
    found = sorted(sign_flip_p([s * n / 30 for s, n in zip(signs, sizes, strict=True)]) for signs in patterns)
    assert all(rank / len(found) <= p + 1e-12 for rank, p in enumerate(found, start=1) if p not in found[rank:])


@PROPERTY
@given(differences=DIFFERENCES, data=st.data())
def test_p_does_not_depend_on_order_or_scale_or_tasks_that_tie(differences: list[float], data: st.DataObject) -> None:
    """Tasks have no order, scores no unit, and a difference of 0 is 0 under every pattern."""
    p = sign_flip_p(differences)
    shuffled = data.draw(st.permutations(differences))
    assert sign_flip_p(shuffled) == p
    assert sign_flip_p([each / 8 for each in differences]) == p
    assert sign_flip_p([0.0, *differences, 0.0]) == p


@PROPERTY
@given(differences=DIFFERENCES)
def test_better_and_worse_share_the_patterns(differences: list[float]) -> None:
    """Both p together are 1, plus the ties; neither is ever 0."""
    better, worse = sign_flip_p(differences), sign_flip_p([-each for each in differences])
    assert better + worse > 1
    assert min(better, worse) >= 2.0 ** -len(differences)


@PROPERTY
@given(differences=DIFFERENCES, gain=st.floats(0.01, 1))
def test_a_gain_on_one_task_never_raises_p(differences: list[float], gain: float) -> None:
    """A larger gain on a task is not less significant."""
    first = abs(differences[0])
    assert sign_flip_p([first + gain, *differences[1:]]) <= sign_flip_p([first, *differences[1:]]) + 1e-12


def test_no_difference_at_all_is_no_evidence() -> None:
    """All 0: every pattern has the same sum."""
    assert sign_flip_p([0.0] * 40) == 1.0


def test_beyond_the_exact_count_p_is_drawn_and_near_the_exact_one() -> None:
    """40 equal differences are a binomial, so the exact value is known; the same seed draws the same."""
    differences = [0.1] * 25 + [-0.1] * 15
    exact = sum(math.comb(40, k) for k in range(25, 41)) / 2**40
    assert len(differences) > EXACT_TASKS
    assert sign_flip_p(differences) == pytest.approx(exact, rel=0.05)
    assert sign_flip_p(differences) == sign_flip_p(differences[::-1])


def test_a_drawn_p_is_never_0() -> None:
    """The observed pattern counts as one of the drawn ones."""
    assert sign_flip_p([0.1] * 60) == 1 / (DRAWS + 1)


@pytest.mark.parametrize("differences", [[], [0.1, math.nan], [-math.inf]])
def test_invalid_differences_are_refused(differences: list[float]) -> None:
    """An invalid comparison is not "no difference"."""
    for statistic in (sign_flip_p, bootstrap_interval):
        with pytest.raises(InvalidInput, match=r"no scores|NaN"):
            statistic(differences)


# --- bootstrap_interval


@RESAMPLED
@given(differences=FINITE, data=st.data())
def test_an_interval_holds_the_mean_and_stays_within_the_values(differences: list[float], data: st.DataObject) -> None:
    """In any order, and on every call."""
    low, high = bootstrap_interval(differences)
    slack = 1e-12
    assert min(differences) - slack <= low <= fmean(differences) + slack
    assert fmean(differences) - slack <= high <= max(differences) + slack
    assert bootstrap_interval(data.draw(st.permutations(differences))) == (low, high)


@RESAMPLED
@given(differences=FINITE, levels=st.tuples(st.floats(0.5, 0.99), st.floats(0.5, 0.99)))
def test_more_certainty_never_makes_an_interval_shorter(differences: list[float], levels: tuple[float, float]) -> None:
    """The interval at the higher level contains the other."""
    low, high = bootstrap_interval(differences, max(levels))
    inner_low, inner_high = bootstrap_interval(differences, min(levels))
    assert low <= inner_low
    assert inner_high <= high


def test_the_interval_of_equal_differences_is_a_point() -> None:
    """Without variation there is no uncertainty."""
    assert bootstrap_interval([0.25] * 5) == (0.25, 0.25)


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "least"), [(8, 0.90), (16, 0.92)])
def test_an_interval_covers_the_true_mean_nearly_at_its_level(tasks: int, least: float) -> None:
    """Over 300 draws of normal differences around 0, with as few tasks as an evaluation has."""
    chance = random.Random(7)
    intervals = [bootstrap_interval([chance.gauss(0, 1) for _ in range(tasks)]) for _ in range(300)]
    assert least <= fmean(low <= 0 <= high for low, high in intervals) <= 0.98


@pytest.mark.parametrize(("differences", "level"), [([0.1], 0.95), ([0.1, 0.2], 1.0), ([0.1, 0.2], math.nan)])
def test_an_interval_needs_two_tasks_and_a_level(differences: list[float], level: float) -> None:
    """One task says nothing about others; level 1 has no interval."""
    with pytest.raises(InvalidInput, match=r"at least 2 tasks|must be between 0 and 1"):
        bootstrap_interval(differences, level)


# --- clustered_error


def test_with_one_score_per_task_the_error_is_the_usual_one() -> None:
    """Standard deviation divided by the root of n."""
    scores = [0.1, 0.5, 0.4, 0.9]
    found = clustered_error({str(at): [score] for at, score in enumerate(scores)})
    assert found == pytest.approx(stdev(scores) / math.sqrt(4))


@given(scores=st.lists(st.floats(0, 1), min_size=2, max_size=8), repeats=st.integers(1, 5))
def test_identical_repeats_add_no_certainty(scores: list[float], repeats: int) -> None:
    """A deterministic task is one piece of evidence, not five."""
    once = clustered_error({str(at): [score] for at, score in enumerate(scores)})
    often = clustered_error({str(at): [score] * repeats for at, score in enumerate(scores)})
    assert often == pytest.approx(once, abs=1e-12)


@pytest.mark.parametrize("scores", [{}, {"a": [0.5]}, {"a": [0.5], "b": []}, {"a": [0.5], "b": [math.nan]}])
def test_an_error_needs_two_tasks_with_scores(scores: dict[str, list[float]]) -> None:
    """Otherwise it would be 0, or NaN."""
    with pytest.raises(InvalidInput):
        clustered_error(scores)


# --- _student


@pytest.mark.parametrize(
    ("probability", "freedom", "quantile", "within"),
    [
        (0.975, 7, 2.36462, 1e-3),
        (0.95, 7, 1.89458, 1e-3),
        (0.995, 7, 3.49948, 6e-3),
        (0.975, 10, 2.22814, 2e-4),
        (0.9, 12, 1.35622, 1e-5),
        (0.975, 30, 2.04227, 1e-5),
        (0.95, 120, 1.65765, 1e-5),
    ],
)
def test_quantiles_are_those_of_the_tables(probability: float, freedom: int, quantile: float, within: float) -> None:
    """Student's distribution, as published."""
    assert _student(probability, freedom) == pytest.approx(quantile, abs=within)


# --- noise_floor


def test_the_noise_floor_bounds_single_runs_of_the_same_settings() -> None:
    """Scores with a known noise of 0.1 on 16 tasks: the floor is 1.96 times 0.1 times the root of 2/16."""
    chance = random.Random(11)

    def side() -> dict[str, list[float]]:
        return {f"t{task}": [chance.gauss(0.5, 0.1) for _ in range(200)] for task in range(16)}

    found = noise_floor(side(), side())
    assert found == pytest.approx(NormalDist().inv_cdf(0.975) * 0.1 * math.sqrt(2 / 16), rel=0.05)


def test_deterministic_runs_have_no_noise() -> None:
    """Identical scores, run for run."""
    assert noise_floor({"a": [0.2, 0.4]}, {"a": [0.2, 0.4]}) == 0.0


@given(scores=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=8))
def test_the_sides_of_an_a_a_run_are_interchangeable(scores: list[tuple[float, float]]) -> None:
    """Swapping them changes nothing."""
    first, second = ({str(at): [pair[side]] for at, pair in enumerate(scores)} for side in (0, 1))
    assert noise_floor(first, second) == noise_floor(second, first)


# --- alpha


@given(experiments=st.integers(1, 200), alpha=st.floats(0.001, 0.5))
def test_all_experiments_together_spend_alpha_and_no_more(experiments: int, alpha: float) -> None:
    """The shares add up to the agreed alpha."""
    spent = math.fsum(alpha_share(number, experiments, alpha) for number in range(1, experiments + 1))
    assert spent == pytest.approx(alpha)


@pytest.mark.parametrize(
    ("experiment", "experiments", "alpha"), [(0, 5, 0.05), (6, 5, 0.05), (1, 0, 0.05), (1, 5, 0.0)]
)
def test_beyond_the_agreed_experiments_there_is_no_alpha(experiment: int, experiments: int, alpha: float) -> None:
    """A loop without end would find something by chance."""
    with pytest.raises(InvalidInput):
        alpha_share(experiment, experiments, alpha)


@pytest.mark.parametrize(("alpha", "tasks"), [(0.5, 1), (0.25, 2), (0.05, 5), (0.05 / 40, 10), (2.0**-10, 10)])
def test_tasks_needed_by_hand(alpha: float, tasks: int) -> None:
    """Five tasks reach 1/32, ten 1/1,024."""
    assert tasks_needed(alpha) == tasks


@given(alpha=st.floats(1e-9, 0.999))
def test_one_task_fewer_could_not_be_significant(alpha: float) -> None:
    """The number reaches alpha, and one fewer does not."""
    tasks = tasks_needed(alpha)
    assert Fraction(1, 2**tasks) <= Fraction(alpha)
    assert tasks == 1 or Fraction(1, 2 ** (tasks - 1)) > Fraction(alpha)


@pytest.mark.parametrize("alpha", [0.0, 1.0, -1.0, math.nan])
def test_an_invalid_alpha_is_refused(alpha: float) -> None:
    """Between 0 and 1, exclusive."""
    with pytest.raises(InvalidInput, match="alpha is"):
        tasks_needed(alpha)
