"""Acceptance threshold from labelled pairs: the bound, the threshold, the intervals."""

import math
import random
from bisect import bisect_left
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.core.calibration import Interval, calibrate, interval, lowest_for_served, lowest_threshold
from harness.errors import InvalidInput

PROPERTY = settings(deadline=None)

SCORES = st.one_of(st.floats(allow_nan=False, max_value=1e300), st.sampled_from([0.0, 0.5, 0.5, 1.0]))
RISKS = st.floats(0.001, 0.999)
HUNDREDTHS = [i / 100 for i in range(100)]


def served(scores: list[float], threshold: float) -> int:
    """Count the scores that a threshold serves."""
    return sum(score >= threshold for score in scores)


def keeps_the_bound(count: int, labels: int, max_wrong: float) -> bool:
    """Return whether serving `count` of `labels` different pairs keeps (n R + 1) / (n + 1) <= max_wrong, exactly."""
    return Fraction(count + 1, labels + 1) <= Fraction(repr(max_wrong))


# --- lowest_threshold


def test_the_threshold_is_just_above_the_highest_score_that_may_not_be_served() -> None:
    """A share of 0.05 of 99 pairs allows four wrong ones: (4 + 1) / 100. The fifth highest score is just below."""
    threshold = lowest_threshold(HUNDREDTHS[1:], 0.05)
    assert threshold == math.nextafter(0.95, math.inf)
    assert served(HUNDREDTHS[1:], threshold) == 4


def test_the_order_of_the_scores_does_not_matter() -> None:
    """Labels may be collected in any order."""
    assert lowest_threshold([0.2, 0.9, 0.1, 0.5], 0.4) == lowest_threshold([0.9, 0.5, 0.2, 0.1], 0.4)


def test_equal_scores_are_served_together_or_not_at_all() -> None:
    """If a tie exceeds the limit, none of it is served."""
    scores = [0.9] * 3 + [0.1] * 16
    assert served(scores, lowest_threshold(scores, 0.15)) == 0
    assert served(scores, lowest_threshold(scores, 0.2)) == 3


def test_the_fewest_labels_allowed_serve_none_of_them() -> None:
    """With n + 1 = 1 / max_wrong the threshold is above every different pair."""
    scores = HUNDREDTHS[:19]
    assert lowest_threshold(scores, 0.05) == math.nextafter(max(scores), math.inf)


@pytest.mark.parametrize(("max_wrong", "needed"), [(0.05, 19), (0.3, 3), (0.01, 99), (0.1, 9), (0.9, 1)])
def test_too_few_labels_are_refused_with_the_number_needed(max_wrong: float, needed: int) -> None:
    """The error gives the number of pairs needed; that many are enough."""
    with pytest.raises(InvalidInput, match=f"too few labels.* at least {needed} are needed for max_wrong {max_wrong}"):
        lowest_threshold([0.5] * (needed - 1), max_wrong)
    assert lowest_threshold([0.5] * needed, max_wrong) > 0.5


def test_a_limit_means_the_number_as_written() -> None:
    """0.3 is three tenths: two of nine may be served, though the float 0.3 is slightly smaller."""
    scores = HUNDREDTHS[:9]
    assert served(scores, lowest_threshold(scores, 0.3)) == 2


def test_refused_pairs_count_but_are_never_served() -> None:
    """A pair that a guard rejects is a label too; its -inf is below every threshold."""
    scores = [-math.inf] * 15 + [0.9] * 4
    assert served(scores, lowest_threshold(scores, 0.25)) == 4
    assert served(scores, lowest_threshold(scores, 0.75)) == 4


def test_refused_pairs_scored_zero_are_not_served() -> None:
    """Zero is an ordinary score: such pairs are not served, even if the threshold is the next number."""
    assert served([0.0] * 9, lowest_threshold([0.0] * 9, 0.5)) == 0


@pytest.mark.parametrize("max_wrong", [0.0, 1.0, -0.1, 1.5, math.nan, math.inf])
def test_a_limit_outside_of_zero_to_one_is_refused(max_wrong: float) -> None:
    """Zero wrong answers cannot be guaranteed from a sample, and any number needs no threshold."""
    with pytest.raises(InvalidInput, match="must be between 0 and 1"):
        lowest_threshold([0.5] * 100, max_wrong)


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_a_score_above_every_threshold_is_an_error(score: float) -> None:
    """NaN cannot be compared, and nothing is above +inf."""
    with pytest.raises(InvalidInput, match="NaN or"):
        lowest_threshold([0.1] * 50 + [score], 0.1)


@PROPERTY
@given(scores=st.lists(SCORES, min_size=1, max_size=60), max_wrong=RISKS)
@example(scores=[0.5, 0.5, 0.5, 0.1], max_wrong=0.6)
@example(scores=[-0.0, 0.0, 0.0], max_wrong=0.5)
def test_the_threshold_keeps_the_bound_and_no_lower_one_does(scores: list[float], max_wrong: float) -> None:
    """The share served, corrected for the sample, is within the limit; with the next lower number it is not."""
    if not keeps_the_bound(0, len(scores), max_wrong):
        with pytest.raises(InvalidInput):
            lowest_threshold(scores, max_wrong)
        return
    threshold = lowest_threshold(scores, max_wrong)
    lower = math.nextafter(threshold, -math.inf)
    assert keeps_the_bound(served(scores, threshold), len(scores), max_wrong)
    assert not keeps_the_bound(served(scores, lower), len(scores), max_wrong)


@PROPERTY
@given(scores=st.lists(SCORES, min_size=9, max_size=20), limits=st.tuples(st.floats(0.1, 0.99), st.floats(0.1, 0.99)))
def test_a_looser_limit_never_raises_the_threshold(scores: list[float], limits: tuple[float, float]) -> None:
    """A higher limit serves at least as many pairs."""
    assert lowest_threshold(scores, min(limits)) >= lowest_threshold(scores, max(limits))


@pytest.mark.parametrize(("labels", "max_wrong"), [(19, 0.05), (99, 0.05), (60, 0.1), (250, 0.02)])
@pytest.mark.parametrize("levels", [10_000, 20])
def test_over_many_draws_the_mean_share_served_wrongly_is_within_the_limit(
    labels: int, max_wrong: float, levels: int
) -> None:
    """The guarantee itself: the mean, over 1,000 samples of labels, of the true share of different pairs served.

    Scores are drawn evenly from 10,000 or from 20 levels, so that the true share is known; of 20, many are equal.
    """
    chance = random.Random(7)
    scale = [level / levels for level in range(levels)]
    shares = []
    for _ in range(1_000):
        threshold = lowest_threshold(chance.choices(scale, k=labels), max_wrong)
        shares.append(1 - bisect_left(scale, threshold) / levels)
    mean = sum(shares) / len(shares)
    assert mean <= max_wrong + 0.003
    assert levels == 20 or mean > 0.9 * max_wrong, "the limit is used, not only kept"


# --- interval


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (0, 100, 0.0, 0.036217),
        (5, 100, 0.016432, 0.112835),
        (50, 100, 0.398321, 0.601679),
        (100, 100, 0.963783, 1.0),
        (1, 1, 0.025, 1.0),
        (0, 1, 0.0, 0.975),
        (1, 10, 0.00252858, 0.445016),
        (3, 3, 0.292402, 1.0),
        (1, 1_000_000, 2.5318e-8, 5.57163e-6),
        (500_000, 1_000_000, 0.4990195, 0.5009805),
    ],
)
def test_intervals_are_those_of_clopper_and_pearson(successes: int, trials: int, low: float, high: float) -> None:
    """The ends agree with published tables and with other implementations."""
    found = interval(successes, trials)
    assert found.share == successes / trials
    assert found.low == pytest.approx(low, rel=2e-5, abs=1e-12)
    assert found.high == pytest.approx(high, rel=2e-5)


def test_without_trials_the_interval_is_everything() -> None:
    """Without a judged pair, any share is possible."""
    assert interval(0, 0) == Interval(share=0.0, low=0.0, high=1.0)


@pytest.mark.parametrize(("successes", "trials"), [(-1, 5), (6, 5), (1, 0)])
def test_impossible_counts_are_refused(successes: int, trials: int) -> None:
    """More successes than trials is a caller's error, not a share above one."""
    with pytest.raises(InvalidInput, match="cannot be"):
        interval(successes, trials)


@PROPERTY
@given(trials=st.integers(1, 200), data=st.data())
def test_the_ends_leave_a_fortieth_on_each_side(trials: int, data: st.DataObject) -> None:
    """By definition: at the lower end, this many successes or more, at the upper end this many or fewer, have a chance
    of 2.5 %, computed with the binomial distribution itself.
    """
    successes = data.draw(st.integers(0, trials))
    found = interval(successes, trials)

    def chance(counts: range, share: float) -> float:
        return math.fsum(math.comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in counts)

    assert 0.0 <= found.low <= found.share <= found.high <= 1.0
    if successes:
        assert chance(range(successes, trials + 1), found.low) == pytest.approx(0.025, rel=1e-6)
    if successes < trials:
        assert chance(range(successes + 1), found.high) == pytest.approx(0.025, rel=1e-6)


@PROPERTY
@given(trials=st.integers(0, 60), data=st.data())
def test_failures_mirror_successes(trials: int, data: st.DataObject) -> None:
    """The interval of the other outcome is the mirror image."""
    successes = data.draw(st.integers(0, trials))
    found, mirrored = interval(successes, trials), interval(trials - successes, trials)
    if trials:
        assert (found.low, found.high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low), abs=1e-9)


# --- calibrate


def test_the_threshold_comes_from_all_different_pairs() -> None:
    """Half the labels judge, but all of them choose what is used."""
    found = calibrate([*HUNDREDTHS, 0.99, 0.5], [False] * 100 + [True] * 2, 0.05)
    assert found.threshold == lowest_threshold(HUNDREDTHS, 0.05)
    assert (found.different, found.same, found.max_wrong) == (100, 2, 0.05)


def test_shares_are_of_the_pairs_with_each_label() -> None:
    """`served` counts the same pairs, `wrong` the different ones, whatever their numbers."""
    found = calibrate([0.1] * 40 + [0.9] * 30 + [0.05] * 10, [False] * 40 + [True] * 40, 0.1)
    assert found.served == interval(30, 40)
    assert found.wrong == interval(0, 40)


def test_no_pair_is_judged_by_a_threshold_that_it_chose() -> None:
    """Each half is judged by the other: high scores at even positions are served wrongly, and counted."""
    different = [0.9 if i % 2 == 0 else 0.1 for i in range(40)]
    found = calibrate(different, [False] * 40, 0.05)
    assert served(different, found.threshold) == 0, "the threshold of all of them serves none"
    assert found.wrong == interval(20, 40), "the one from the odd half serves all of the even half"


def test_same_pairs_are_judged_by_the_other_half_too() -> None:
    """A half's results on the same pairs that set its threshold do not count."""
    scores = [0.1, 0.8] * 20 + [0.5, 0.05] * 10
    assert calibrate(scores, [False] * 40 + [True] * 20, 0.05).served == interval(0, 20)


def test_halves_are_taken_within_each_label() -> None:
    """Alternating labels do not put all different pairs into one half."""
    scores = [0.1, 0.9] * 40
    found = calibrate(scores, [False, True] * 40, 0.05)
    assert found.served.share == 1.0


def test_a_half_with_too_few_labels_serves_nothing() -> None:
    """Enough labels for a threshold, too few to judge it: the estimate is that nothing is served."""
    found = calibrate([0.1] * 20 + [0.9] * 20, [False] * 20 + [True] * 20, 0.05)
    assert found.threshold == math.nextafter(0.1, math.inf)
    assert found.served == interval(0, 20)
    assert found.wrong == interval(0, 20)


def test_without_same_pairs_the_served_share_is_unknown() -> None:
    """The threshold needs no same pair; the share it serves does."""
    assert calibrate([0.1] * 40, [False] * 40, 0.05).served == Interval(share=0.0, low=0.0, high=1.0)


def test_scores_and_labels_must_pair_up() -> None:
    """A missing label is an error; no pair is left out."""
    with pytest.raises(InvalidInput, match="every score needs one label"):
        calibrate([0.1, 0.2], [True], 0.5)


def test_labels_that_are_all_same_are_too_few() -> None:
    """Without a different pair nothing is known about wrong answers."""
    with pytest.raises(InvalidInput, match="0 pairs are labelled different; at least 19"):
        calibrate([0.9] * 500, [True] * 500, 0.05)


def test_a_same_pair_must_have_a_score_too() -> None:
    """NaN is rejected whatever its label."""
    with pytest.raises(InvalidInput, match="NaN"):
        calibrate([0.1] * 40 + [math.nan], [False] * 40 + [True], 0.05)


@PROPERTY
@given(pairs=st.lists(st.tuples(SCORES, st.booleans()), min_size=1, max_size=30), max_wrong=st.floats(0.2, 0.9))
def test_calibration_is_the_same_every_time(pairs: list[tuple[float, bool]], max_wrong: float) -> None:
    """It is deterministic, and its shares are shares of the given labels."""
    scores, labels = [score for score, _ in pairs], [label for _, label in pairs]
    try:
        found = calibrate(scores, labels, max_wrong)
    except InvalidInput:
        assert not keeps_the_bound(0, labels.count(False), max_wrong)
        return
    assert found == calibrate(scores, labels, max_wrong)
    assert (found.different, found.same) == (labels.count(False), labels.count(True))
    assert 0.0 <= found.wrong.share <= 1.0
    assert 0.0 <= found.served.share <= 1.0


@pytest.mark.slow
def test_over_many_draws_the_estimated_wrong_share_is_within_the_limit() -> None:
    """Cross-fitting is unbiased: its mean keeps the limit, and that of `served` is close to the truth."""
    chance = random.Random(11)
    wrong, right = [], []
    for _ in range(400):
        scores = [chance.random() for _ in range(120)] + [math.sqrt(chance.random()) for _ in range(40)]
        found = calibrate(scores, [False] * 120 + [True] * 40, 0.1)
        wrong.append(found.wrong.share)
        right.append(found.served.share - (1 - found.threshold**2))
    assert sum(wrong) / len(wrong) <= 0.1 + 0.005
    assert abs(sum(right) / len(right)) < 0.02


# --- the share of wrong ones among those served


def test_served_pairs_are_correct_as_often_as_requested() -> None:
    """At the threshold the 95 % bound on the wrong ones among those served holds; just below, it fails."""
    same = [0.5 + number / 1_000 for number in range(400)]
    different = [number / 1_000 for number in range(600)]
    threshold = lowest_for_served(same, different, 0.05)
    served = sum(score >= threshold for score in same + different)
    wrong = sum(score >= threshold for score in different)
    assert 0 < wrong < 0.05 * served
    assert interval(wrong, served).share < 0.05


def test_without_wrong_ones_enough_right_ones_are_needed() -> None:
    """59 correct of 59 mean with 95 % confidence that at most 5 % are wrong; 58 do not."""
    assert lowest_for_served([0.9] * 59, [], 0.05) == 0.9
    assert lowest_for_served([0.9] * 58, [], 0.05) == math.inf


def test_a_wrong_pair_among_equals_counts_at_any_position() -> None:
    """Equal scores are served together or not at all."""
    assert lowest_for_served([0.9] * 100, [0.9] * 50, 0.05) == math.inf


def test_refused_pairs_are_never_served() -> None:
    """Their score is minus infinity: below every threshold."""
    assert lowest_for_served([-math.inf] * 500, [], 0.05) == math.inf


def test_the_threshold_keeps_both_bounds() -> None:
    """`calibrate` uses the higher of the two thresholds, and raises an error if none is possible."""
    scores = [0.5 + number / 2_000 for number in range(800)] + [number / 2_000 for number in range(1_200)]
    labels = [True] * 800 + [False] * 1_200
    loose, strict = calibrate(scores, labels, 0.2), calibrate(scores, labels, 0.2, 0.02)
    assert strict.threshold > loose.threshold
    assert strict.wrong_of_served.share <= 0.02 < loose.wrong_of_served.share
    with pytest.raises(InvalidInput, match="no threshold"):
        calibrate(scores[::-1], labels, 0.2, 0.001)
