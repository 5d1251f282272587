"""Verdicts on a candidate: keep, discard, inconclusive, crash."""

import math
import random
from collections.abc import Sequence

import msgspec
import pytest
from harness_evals.verdicts import (
    ALPHA,
    EXPERIMENTS,
    LOSER_TASKS,
    Arm,
    Verdict,
    clear_loser,
    decide,
    needs_confirm,
    too_few_tasks,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.statistics import Scores, alpha_share, sign_flip_p, tasks_needed
from harness.errors import InvalidInput

PROPERTY = settings(deadline=None, max_examples=30)

ONE_SHARE = alpha_share(1, EXPERIMENTS, ALPHA)
FLOOR = 0.02


def scores(split: str, values: Sequence[float]) -> Scores:
    """Return scores of two equal repeats, a task for each of `values`."""
    return {f"{split}{at:02}": [value, value] for at, value in enumerate(values)}


def arm(tune: Sequence[float], confirm: Sequence[float] = (0.5,) * 8, *, changed: int = 1, error: str = "") -> Arm:
    """Return one side, from its score on each task."""
    return Arm(scores("t", tune), scores("c", confirm), changed, (error,) if error else ())


BASELINE = arm([0.5] * 16)


def judged(candidate: Arm, *, baseline: Arm = BASELINE, alpha: float = ONE_SHARE, floor: float = FLOOR) -> Verdict:
    """Decide on a candidate."""
    return decide(baseline, candidate, alpha=alpha, noise_floor=floor)


# --- better


def test_a_gain_on_both_splits_is_kept() -> None:
    """More than the margin, significant, not worse on confirm; the figures are those of the scores."""
    found = judged(arm([0.6] * 16))
    assert found.status == "keep"
    assert found.tune is not None
    assert found.confirm is not None
    assert (found.tune.difference, found.tune.p, found.tune.tasks) == (pytest.approx(0.1), 2**-16, 16)
    assert (found.tune.low, found.tune.high) == pytest.approx((0.1, 0.1))
    assert found.confirm.difference == 0
    assert found.reasons == (
        "tune: +0.100 on 16 tasks, of which 16 differ (95 % interval +0.100 to +0.100, p 1.53e-05)",
        "better by more than 0.020, and p is at most 0.00125",
        "confirm: +0.000 on 8 tasks, of which 0 differ (95 % interval +0.000 to +0.000, p 1)",
        "not worse on confirm",
    )


def test_a_gain_that_confirm_refutes_is_discarded() -> None:
    """Better on tune, worse on confirm."""
    found = judged(arm([0.6] * 16, [0.49] * 8))
    assert found.status == "discard"
    assert found.reasons[-1].startswith("worse on confirm")


@pytest.mark.parametrize(("gain", "floor"), [(0.009, 0.0), (0.019, 0.02), (0.05, 0.06)])
def test_a_gain_within_delta_or_the_noise_floor_is_not_worth_a_change(gain: float, floor: float) -> None:
    """However significant it is: it must exceed the larger of both."""
    found = judged(arm([0.5 + gain] * 16), floor=floor)
    assert found.status == "discard"
    assert "not worth a change" in found.reasons[-1]
    assert found.confirm is None


def test_a_gain_that_may_be_chance_is_inconclusive() -> None:
    """Higher on average, but within the range of sign patterns."""
    found = judged(arm([0.9, 0.2] * 8))
    assert found.status == "inconclusive"
    assert "p is above 0.00125" in found.reasons[-1]


def test_too_few_changed_tasks_are_a_reason() -> None:
    """Tasks with equal scores cannot make a gain significant; the reason has the number needed."""
    found = judged(arm([0.9] * 5 + [0.5] * 11))
    assert found.status == "inconclusive"
    assert "only 5 tasks changed; significance needs 10" in found.reasons[-1]


def test_an_unclear_gain_below_the_margin_says_so() -> None:
    """It may or may not justify a change."""
    found = judged(arm([0.7, 0.35] * 8), floor=0.06)
    assert found.status == "inconclusive"
    assert found.reasons[-1] == "not better by more than 0.060, though it may be; p is above 0.00125"


def test_a_tiny_share_of_alpha_keeps_nothing() -> None:
    """Scores that are significant for one experiment alone are not for one of many thousands."""
    candidate = arm([0.6] * 16)
    assert judged(candidate, alpha=2.0**-16).status == "keep"
    assert judged(candidate, alpha=2.0**-17).status == "inconclusive"


# --- worse, equal, simpler


def test_a_loss_is_discarded() -> None:
    """Even if it is simpler."""
    assert judged(arm([0.4] * 16, changed=0)).reasons[-1] == "worse: the whole interval is below 0"
    assert judged(arm([0.4] * 16)).status == "discard"


def test_of_equal_scores_the_simpler_settings_are_kept() -> None:
    """The same scores: fewer changed settings win, as many or more do not."""
    assert judged(arm([0.5] * 16, changed=0)).status == "keep"
    assert judged(arm([0.5] * 16, changed=1)).status == "discard"
    assert judged(arm([0.5] * 16, changed=2)).status == "discard"


def test_simpler_settings_that_may_be_worse_are_not_equal() -> None:
    """Absence of evidence is not evidence: the interval must be within the margin."""
    found = judged(arm([0.6, 0.4] * 8, changed=0))
    assert found.status == "inconclusive"


def test_simpler_settings_that_fail_on_confirm_are_discarded() -> None:
    """Within the margin there too; slightly lower is allowed."""
    assert judged(arm([0.5] * 16, [0.49] * 8, changed=0)).status == "keep"
    assert judged(arm([0.5] * 16, [0.47] * 8, changed=0)).status == "discard"


# --- crash


@pytest.mark.parametrize(("candidate", "baseline", "side"), [("boom", "", "candidate"), ("", "boom", "baseline")])
def test_a_run_that_failed_is_a_crash_and_no_score(candidate: str, baseline: str, side: str) -> None:
    """Even if the other runs would be kept; the reason has the first error."""
    sides = {"baseline": arm([0.5] * 16, error=baseline), "candidate": arm([0.9] * 16, error=candidate)}
    found = judged(sides["candidate"], baseline=sides["baseline"])
    assert (found.status, found.tune, found.confirm) == ("crash", None, None)
    assert f"{side}: boom" in found.reasons[0]
    assert not needs_confirm(sides["baseline"], sides["candidate"], alpha=ONE_SHARE, noise_floor=0)


# --- confirm


@PROPERTY
@given(
    candidate=st.lists(st.sampled_from([0.3, 0.5, 0.6, 0.7]), min_size=16, max_size=16),
    changed=st.integers(0, 2),
    confirm=st.sampled_from([0.4, 0.5, 0.6]),
)
def test_confirm_is_looked_at_only_if_tune_lets_pass(candidate: list[float], changed: int, confirm: float) -> None:
    """`needs_confirm` agrees with `decide`; if it is false, confirm may be empty and changes nothing."""
    whole = arm(candidate, [confirm] * 8, changed=changed)
    without = Arm(whole.tune, changed=changed)
    found = judged(whole)
    needed = needs_confirm(BASELINE, without, alpha=ONE_SHARE, noise_floor=FLOOR)
    assert needed == (found.confirm is not None)
    if needed:
        with pytest.raises(InvalidInput, match="run both sides on confirm"):
            judged(without)
    else:
        assert judged(without) == found
        assert found.status != "keep"


@PROPERTY
@given(differences=st.lists(st.integers(-30, 30), min_size=10, max_size=16), floor=st.floats(0, 0.2))
def test_only_real_gains_are_kept_as_better(differences: list[int], floor: float) -> None:
    """A keep without simpler settings means: more than the margin, and significant."""
    candidate = arm([0.5 + each / 100 for each in differences], [0.9] * 8)
    found = judged(candidate, baseline=arm([0.5] * len(differences)), floor=floor)
    better = sum(differences) / len(differences) / 100 > max(0.01, floor) + 1e-9
    significant = sign_flip_p([each / 100 for each in differences]) <= ONE_SHARE
    assert found.status != "keep" or (better and significant)


@pytest.mark.slow
def test_of_useless_changes_hardly_any_is_kept() -> None:
    """400 candidates with the baseline's settings, noisy scores, a generous alpha of 0.02 each: at most 8 are expected
    to be significant; without a noise floor, about half of those are not worse on confirm.
    """
    chance = random.Random(5)

    def noisy() -> Arm:
        return arm([chance.gauss(0.5, 0.1) for _ in range(16)], [chance.gauss(0.5, 0.1) for _ in range(8)])

    kept = sum(judged(noisy(), baseline=noisy(), alpha=0.02, floor=0.0).status == "keep" for _ in range(400))
    assert 0 < kept <= 8


# --- clear_loser


def test_a_clear_loser_stops_after_six_tasks() -> None:
    """All six are worse: the rest is not run. Five are not enough."""
    worse = [0.3] * LOSER_TASKS
    found = clear_loser(scores("t", [0.5] * LOSER_TASKS), scores("t", worse))
    assert found is not None
    assert found.status == "discard"
    assert found.reasons[-1] == "a clear loser after 6 tasks; the rest is not run"
    assert clear_loser(scores("t", [0.5] * 5), scores("t", worse[:5])) is None


def test_one_task_that_is_better_spares_a_candidate_for_now() -> None:
    """Five of six worse may be chance; nine of ten is not."""
    assert clear_loser(scores("t", [0.5] * 6), scores("t", [0.3] * 5 + [0.6])) is None
    assert clear_loser(scores("t", [0.5] * 10), scores("t", [0.3] * 9 + [0.6])) is not None


@PROPERTY
@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=16))
def test_an_early_stop_never_keeps(values: list[float]) -> None:
    """It discards a worse candidate, or lets it continue."""
    found = clear_loser(scores("t", [0.5] * len(values)), scores("t", values))
    assert found is None or (found.status == "discard" and found.tune is not None and found.tune.difference < 0)


# --- too_few_tasks


def test_too_few_tasks_are_a_warning() -> None:
    """With the number needed, and the smallest possible p."""
    assert too_few_tasks(5) == (
        "5 tasks on tune are too few: their least p is 0.0312, and each of 40 experiments may spend 0.00125; "
        "10 tasks are needed, or fewer experiments"
    )


@given(tasks=st.integers(0, 30), experiments=st.integers(1, 1_000))
def test_the_warning_comes_exactly_where_nothing_could_be_kept(tasks: int, experiments: int) -> None:
    """Enough tasks: no warning. The number is that of the statistics."""
    said = too_few_tasks(tasks, experiments=experiments)
    needed = tasks_needed(ALPHA / experiments)
    assert bool(said) == (tasks < needed)
    assert not said or f"{needed} tasks are needed" in said


def test_the_number_of_tasks_in_the_warning_suffices() -> None:
    """As many tasks as needed, all of them better, are kept at the share of alpha; one fewer are not."""
    needed = tasks_needed(ONE_SHARE)
    for tasks, status in ((needed, "keep"), (needed - 1, "inconclusive")):
        assert judged(arm([0.7] * tasks), baseline=arm([0.5] * tasks)).status == status


# --- what is given


@pytest.mark.parametrize(
    ("alpha", "delta", "floor"),
    [(0.0, 0.01, 0.0), (1.0, 0.01, 0.0), (0.05, -0.1, 0.0), (0.05, 0.01, math.nan), (math.nan, 0.01, 0.0)],
)
def test_invalid_terms_are_refused(alpha: float, delta: float, floor: float) -> None:
    """An alpha of 1 would keep all, a NaN floor nothing."""
    with pytest.raises(InvalidInput, match="alpha is"):
        decide(BASELINE, arm([0.6] * 16), alpha=alpha, noise_floor=floor, delta=delta)


def test_one_task_cannot_be_judged() -> None:
    """One task does not show how tasks vary."""
    with pytest.raises(InvalidInput, match="at least 2 tasks"):
        judged(arm([0.9]), baseline=arm([0.5]))


def test_the_order_of_tasks_changes_nothing() -> None:
    """A log read back in another order gives the same verdict."""
    candidate = arm([0.5 + each / 40 for each in range(16)])
    turned = Arm(dict(reversed(list(candidate.tune.items()))), candidate.confirm, candidate.changed)
    assert judged(turned) == judged(candidate)


def test_a_verdict_can_be_logged() -> None:
    """As JSON, and back."""
    found = judged(arm([0.6] * 16))
    assert msgspec.json.decode(msgspec.json.encode(found), type=Verdict) == found
