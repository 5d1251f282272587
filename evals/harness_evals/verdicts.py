"""Verdicts on changes of settings, from scores alone, by rules fixed before the first experiment.

A candidate is kept if it is better on the split `tune` by more than `delta` and more than the noise floor,
significantly so at this experiment's share of alpha, and not worse on the split `confirm`, which is run for it alone;
or if it is as good with fewer changed settings. So the chance that any of at most `EXPERIMENTS` candidates is kept as
better, though its change has no effect, is at most `ALPHA`.

Assumptions: baseline and candidate run in turns, each task equally often on both sides, so that without an effect
either could have had the other's scores; both run again for each experiment, because scores kept for being high are not
a baseline; tasks do not influence each other; rules and tasks do not change during the loop. The verdict is about these
tasks: whether they represent others is for their author to say. That simpler settings are equal is judged by the 95 %
interval, outside the bound: one that is worse by the whole margin passes `tune` in about 1 of 40 cases. An A/A run
answered from a cache measures no noise.

The defaults are those that `python -m benchmarks.experiments` simulates.
"""

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias, assert_never

from msgspec import Struct

from harness.core.statistics import (
    Scores,
    alpha_share,
    bootstrap_interval,
    paired_differences,
    sign_flip_p,
    tasks_needed,
)
from harness.errors import InvalidInput

DELTA = 0.01
"""Least gain in mean score (0..1) that justifies a change."""

ALPHA = 0.05
"""Chance, over all experiments of a loop together, of keeping a gain that is not there."""

EXPERIMENTS = 40
REPEATS = 4
"""Runs of each task on each side; also in the A/A run."""

LOSER_TASKS = 6
"""Tasks before the first check for a clear loser."""

LOSER_LEVEL = 0.02
"""Largest p of a clear loser, in the sign-flip test that it is worse: with only 6 tasks, it must lose all."""

Status: TypeAlias = Literal["keep", "unconfirmed", "discard", "inconclusive", "inert", "crash", "invalid"]
"""`unconfirmed`: kept by the rule `gain`, not shown beyond these tasks. `inert`: no stage of any run differs. `crash`:
a run, or a check of the code, failed. `invalid`: the proposal could not be used.
"""

KEPT: frozenset[Status] = frozenset(("keep", "unconfirmed"))
TESTED: frozenset[Status] = frozenset(("keep", "unconfirmed", "discard", "inconclusive"))
"""Verdicts that spend a share of alpha: the others compare nothing."""

KeepRule: TypeAlias = Literal["significant", "gain"]
"""`significant`: see `decide`. `gain`: also a gain above the margin that is not significant; see `by_gain`."""

Finding: TypeAlias = Literal["better", "equal but simpler", "worse", "no gain", "unclear"]
"""Result on the split `tune`."""


class Arm(Struct, frozen=True):
    """One side of an experiment: its scores on both splits; `confirm` may be empty until needed. `changed` is the
    number of settings that differ from the defaults: fewer are simpler. `errors` are those of failed runs.
    """

    tune: Scores
    confirm: Scores = {}
    changed: int = 0
    errors: tuple[str, ...] = ()


class Comparison(Struct, frozen=True):
    """Comparison of candidate and baseline on one split: the mean of the differences by task (-1..1), its 95 % interval
    from `low` to `high`, the one-sided `p` of "not better", the number of `tasks` and of those that `differ` at all.
    """

    difference: float
    low: float
    high: float
    p: float
    tasks: int
    differ: int


class Verdict(Struct, frozen=True):
    """Verdict on a candidate, with reasons in sentences. A split that was not needed, or not run, is `None`; after a
    crash both are: a failed run is never a score.
    """

    status: Status
    reasons: tuple[str, ...]
    tune: Comparison | None = None
    confirm: Comparison | None = None


def too_few_tasks(tasks: int, *, experiments: int = EXPERIMENTS, alpha: float = ALPHA) -> str:
    """Return a warning if no experiment on `tasks` tasks of the split `tune` can be significant, with the number
    needed; empty if there are enough.

    Tasks on which both sides always score the same do not count, which shows only later: have some extra.

    Raises:
        InvalidInput: `experiments` is under 1, or `alpha` not between 0 and 1.
    """
    share = alpha_share(1, experiments, alpha)
    needed = tasks_needed(share)
    if tasks >= needed:
        return ""
    return (
        f"{tasks} tasks on tune are too few: their least p is {2.0**-tasks:.3g}, and each of {experiments} experiments "
        f"may spend {share:.3g}; {needed} tasks are needed, or fewer experiments"
    )


def compare(baseline: Scores, candidate: Scores) -> Comparison:
    """Compare two sides on one split.

    Raises:
        InvalidInput: fewer than two tasks, and as `paired_differences` does.
    """
    differences = list(paired_differences(baseline, candidate).values())
    low, high = bootstrap_interval(differences)
    return Comparison(
        difference=math.fsum(differences) / len(differences),
        low=low,
        high=high,
        p=sign_flip_p(differences),
        tasks=len(differences),
        differ=sum(each != 0 for each in differences),
    )


def needs_confirm(baseline: Arm, candidate: Arm, *, alpha: float, noise_floor: float, delta: float = DELTA) -> bool:
    """Return whether the candidate passes on the split `tune`, so that `confirm` must be run; see `decide`."""
    if baseline.errors or candidate.errors:
        return False
    return _passes(
        _finding(baseline, candidate, compare(baseline.tune, candidate.tune), alpha, _margin(alpha, delta, noise_floor))
    )


def decide(baseline: Arm, candidate: Arm, *, alpha: float, noise_floor: float, delta: float = DELTA) -> Verdict:
    """Return the verdict on a candidate.

    `alpha` is this experiment's share (`alpha_share`), `noise_floor` that of an A/A run on the split `tune`
    (`statistics.noise_floor`); the larger of it and `delta` is the margin within which scores are equal. The split
    `confirm` is used only if the candidate passes on `tune`.

    Raises:
        InvalidInput: `confirm` is needed and has no scores; `alpha` is not between 0 and 1, `delta` or `noise_floor`
            not within 0..1; and as in `compare`.
    """
    if errors := (*candidate.errors, *baseline.errors):
        side = "candidate" if candidate.errors else "baseline"
        return Verdict("crash", (f"{len(errors)} runs failed, so there are no scores to compare; {side}: {errors[0]}",))
    margin = _margin(alpha, delta, noise_floor)
    tune = compare(baseline.tune, candidate.tune)
    finding = _finding(baseline, candidate, tune, alpha, margin)
    on_tune = (_in_words("tune", tune), _why(finding, tune, alpha, margin))
    if not _passes(finding):
        return Verdict("inconclusive" if finding == "unclear" else "discard", on_tune, tune)
    if not candidate.confirm:
        raise InvalidInput("tune lets the candidate pass, and confirm has no scores; run both sides on confirm")
    confirm = compare(baseline.confirm, candidate.confirm)
    reasons = (*on_tune, _in_words("confirm", confirm))
    if confirm.difference < (0 if finding == "better" else -margin):
        return Verdict("discard", (*reasons, "worse on confirm: what tune shows does not hold"), tune, confirm)
    return Verdict("keep", (*reasons, "not worse on confirm"), tune, confirm)


def by_gain(verdict: Verdict, *, noise_floor: float, delta: float = DELTA) -> Verdict:
    """Return the verdict by the rule `gain`: a candidate that `decide` neither keeps nor finds worse on `confirm` is
    kept, unconfirmed, if its gain on `tune` is above the margin, as in loops without statistics.
    """
    found, margin = verdict.tune, max(delta, noise_floor)
    undecided = verdict.status in {"inconclusive", "discard"} and verdict.confirm is None
    if found is None or not undecided or found.difference <= margin:
        return verdict
    reason = (
        f"kept by the rule gain: better by more than {margin:.3f} on these {found.tasks} tasks; that it helps on "
        f"others is not shown (p {found.p:.3g})"
    )
    return Verdict("unconfirmed", (*verdict.reasons, reason), found)


def clear_loser(baseline: Scores, candidate: Scores) -> Verdict | None:
    """Return the verdict "discard" if the first tasks of the split `tune`, with all their repeats on both sides, show
    that the candidate is worse; `None` to continue.

    It may be called after every task. It never says keep, so it cannot raise the chance of keeping a useless change;
    called that often it also stops about 6 of 100 candidates that are as good as the baseline.

    Raises:
        InvalidInput: as in `paired_differences`.
    """
    differences = paired_differences(baseline, candidate)
    if len(differences) < LOSER_TASKS or sign_flip_p([-each for each in differences.values()]) > LOSER_LEVEL:
        return None
    so_far = compare(baseline, candidate)
    return Verdict(
        "discard", (_in_words("tune", so_far), f"a clear loser after {so_far.tasks} tasks; the rest is not run"), so_far
    )


def _margin(alpha: float, delta: float, noise_floor: float) -> float:
    if not (0 < alpha < 1 and 0 <= delta <= 1 and 0 <= noise_floor <= 1):
        raise InvalidInput(
            f"alpha is {alpha}, delta {delta} and the noise floor {noise_floor}; alpha must be between 0 and 1, "
            "the others from 0 to 1"
        )
    return max(delta, noise_floor)


def _finding(baseline: Arm, candidate: Arm, tune: Comparison, alpha: float, margin: float) -> Finding:
    if tune.p <= alpha and tune.difference > margin:
        return "better"
    if tune.high < 0:
        return "worse"
    if candidate.changed < baseline.changed and tune.low >= -margin:
        return "equal but simpler"
    return "no gain" if tune.high <= margin else "unclear"


def _passes(finding: Finding) -> bool:
    return finding in {"better", "equal but simpler"}


def figures(found: Comparison, tasks: str = "tasks") -> str:
    """Return a comparison in words."""
    return (
        f"{found.difference:+.3f} on {found.tasks} {tasks}, of which {found.differ} differ "
        f"(95 % interval {found.low:+.3f} to {found.high:+.3f}, p {found.p:.3g})"
    )


def _in_words(split: str, found: Comparison) -> str:
    return f"{split}: {figures(found)}"


def _why(finding: Finding, tune: Comparison, alpha: float, margin: float) -> str:
    match finding:
        case "better":
            return f"better by more than {margin:.3f}, and p is at most {alpha:.3g}"
        case "equal but simpler":
            return f"at worst {max(0.0, -tune.low):.3f} lower, within {margin:.3f}, with fewer settings changed"
        case "worse":
            return "worse: the whole interval is below 0"
        case "no gain":
            return f"the whole interval is within a gain of {margin:.3f}, which is not worth a change"
        case "unclear":
            return "; ".join(_missing(tune, alpha, margin))
        case _:
            assert_never(finding)


def _missing(tune: Comparison, alpha: float, margin: float) -> Sequence[str]:
    """Return what a possible gain still lacks."""
    missing = []
    if tune.difference <= margin:
        missing.append(f"not better by more than {margin:.3f}, though it may be")
    if tune.p > alpha:
        missing.append(f"p is above {alpha:.3g}")
    if 2.0**-tune.differ > alpha:
        missing.append(f"only {tune.differ} tasks changed; significance needs {tasks_needed(alpha)}")
    return missing
