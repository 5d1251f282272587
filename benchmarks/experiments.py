"""Does the experiment loop keep only what is really better? `python -m benchmarks.experiments`.

Loops are simulated with a noisy scorer on 24 tasks, 16 to tune and 8 to confirm, with the rules and defaults of
`harness_evals.verdicts`: an A/A run for the noise floor, then experiments, each judged at its share of alpha. First,
every loop tries changes without effect. Then single changes that help or harm by a multiple of the measured noise
floor. "t-test" and "greedy" are the rules of common loops: keep a change that is better at p < 0.05, one-sided, on all
tasks, without sharing alpha; keep every change with a higher score. They judge the same runs, repeats included; a loop
that runs each task once does worse. Last, changes back to the default, which only this loop prefers if they are not
worse.

Assumptions: tasks differ in difficulty and noise; one run in twenty fails half-way and loses 0.2; the effect of a
change varies between tasks (standard deviation: half of the effect); scores are hundredths from 0 to 1, which cuts
gains on easy tasks. Runs are independent: a slow network on one side only is not simulated. The defaults were chosen on
other simulated loops than those shown.
"""

import argparse
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev
from typing import Any

import orjson
from harness_evals.verdicts import ALPHA, EXPERIMENTS, REPEATS, Arm, clear_loser, decide
from tabulate import tabulate

from benchmarks.rows import SEED, at_least, entry_point, say
from harness.core.calibration import interval
from harness.core.statistics import Scores, alpha_share, noise_floor, paired_differences

TUNE, CONFIRM = 16, 8
LOOPS = 20
CHANGES = 200
"""Single changes simulated for each size."""

EFFECTS = (-2.0, 0.5, 1.0, 1.5, 2.0, 3.0)
"""True effects of a change, in noise floors."""

SIMPLER_EFFECTS = (0.0, -0.5, -1.0, -2.0)
"""The same, of changes back to the default."""

MOST_FALSE, LEAST_FOUND = 1, 0.8
OURS, T_TEST, GREEDY = "this loop", "t-test", "greedy"

_T_23 = 1.714  # the one-sided 0.05 point of Student's distribution with 24 - 1 degrees of freedom
_SPREAD = 0.5
_POOR_RUNS, _POOR_LOSS = 0.05, 0.2


@dataclass(frozen=True)
class Experiment:
    """Scores of both sides if everything is run, and the state of the loop at that time."""

    baseline: Arm
    candidate: Arm
    alpha: float
    noise_floor: float


@dataclass(frozen=True)
class Judged:
    """Decision of a rule on an experiment: whether it kept the candidate, the measured gain, the number of runs."""

    kept: bool
    gain: float
    runs: int


class Scorer:
    """Simulated tasks of one loop, and their scores; `seed` decides everything."""

    def __init__(self, seed: str) -> None:
        self._chance = random.Random(f"{SEED} {seed}")
        self._tasks = {
            f"{split} {number:02}": (self._chance.uniform(0.3, 0.8), self._chance.uniform(0.03, 0.09))
            for split, tasks in (("tune", TUNE), ("confirm", CONFIRM))
            for number in range(tasks)
        }

    def arm(self, effect: float, changed: int = 1) -> Arm:
        """Score every task `REPEATS` times with `changed` settings; `effect` is the mean of what they add to scores."""
        scores = {task: self._task(task, effect * self._chance.gauss(1, _SPREAD)) for task in self._tasks}
        tune = {task: scores[task] for task in self._tasks if task.startswith("tune")}
        return Arm(tune, {task: scores[task] for task in self._tasks if task not in tune}, changed)

    def noise_floor(self) -> float:
        """Measure the noise floor in an A/A run on the split `tune`."""
        return noise_floor(self.arm(0).tune, self.arm(0).tune)

    def _task(self, task: str, effect: float) -> list[float]:
        level, noise = self._tasks[task]
        runs = []
        for _ in range(REPEATS):
            poor = _POOR_LOSS if self._chance.random() < _POOR_RUNS else 0.0
            runs.append(round(min(1.0, max(0.0, self._chance.gauss(level + effect, noise) - poor)), 2))
        return runs


def by_this_loop(experiment: Experiment) -> Judged:
    """Judge as `harness_evals.verdicts` has it: task by task, `confirm` only for what passes `tune`."""
    baseline, candidate = experiment.baseline, experiment.candidate
    for done in range(1, TUNE + 1):
        if clear_loser(_first(baseline.tune, done), _first(candidate.tune, done)):
            return Judged(kept=False, gain=0.0, runs=2 * REPEATS * done)
    verdict = decide(baseline, candidate, alpha=experiment.alpha, noise_floor=experiment.noise_floor)
    gain = verdict.tune.difference if verdict.tune else 0.0
    return Judged(verdict.status == "keep", gain, 2 * REPEATS * (TUNE + (CONFIRM if verdict.confirm else 0)))


def by_t_test(experiment: Experiment) -> Judged:
    """Keep what a paired t-test over all tasks finds better at 0.05."""
    differences = _all_differences(experiment)
    mean, error = fmean(differences), stdev(differences) / sqrt(len(differences))
    return Judged(mean > _T_23 * error, mean, 2 * REPEATS * len(differences))


def greedy(experiment: Experiment) -> Judged:
    """Keep whatever scored higher."""
    differences = _all_differences(experiment)
    return Judged(fmean(differences) > 0, fmean(differences), 2 * REPEATS * len(differences))


RULES: Mapping[str, Callable[[Experiment], Judged]] = {OURS: by_this_loop, T_TEST: by_t_test, GREEDY: greedy}


def nothing_to_find(loops: int) -> list[dict[str, Judged]]:
    """Return what every rule did with each of the changes that do nothing, `EXPERIMENTS` in each of `loops`."""
    judged = []
    for loop in range(loops):
        scorer = Scorer(f"nothing {loop}")
        floor = scorer.noise_floor()
        for number in range(1, EXPERIMENTS + 1):
            alpha = alpha_share(number, EXPERIMENTS, ALPHA)
            judged.append(_judged(Experiment(scorer.arm(0), scorer.arm(0), alpha, floor)))
        say(f"loop {loop + 1} of {loops}: noise floor {floor:.3f}, kept {_kept(judged, OURS)} so far")
    return judged


def one_change(effect: float, changes: int, changed: int = 1) -> list[dict[str, Judged]]:
    """Return the decisions of every rule on `changes` changes of `effect` noise floors, each in a separate loop.

    Candidates have `changed` settings that are not the defaults; baselines have 1.
    """
    judged = []
    for number in range(changes):
        scorer = Scorer(f"change {effect} {changed} {number}")
        floor = scorer.noise_floor()
        alpha = alpha_share(number % EXPERIMENTS + 1, EXPERIMENTS, ALPHA)
        judged.append(_judged(Experiment(scorer.arm(0), scorer.arm(effect * floor, changed), alpha, floor)))
    simpler = "" if changed else ", simpler"
    say(f"a change of {effect:+g} noise floors{simpler}: kept {_kept(judged, OURS)} of {changes}")
    return judged


def _judged(experiment: Experiment) -> dict[str, Judged]:
    return {name: rule(experiment) for name, rule in RULES.items()}


def _first(scores: Scores, tasks: int) -> Scores:
    return dict(list(scores.items())[:tasks])


def _all_differences(experiment: Experiment) -> list[float]:
    sides = ({**arm.tune, **arm.confirm} for arm in (experiment.baseline, experiment.candidate))
    return list(paired_differences(*sides).values())


def _kept(judged: Sequence[Mapping[str, Judged]], rule: str) -> int:
    return sum(each[rule].kept for each in judged)


def _figures(judged: Sequence[Mapping[str, Judged]], loops: int) -> dict[str, dict[str, Any]]:
    """Return what each rule came to; `gain_claimed` is what a loop would tell that its kept changes gained."""
    return {
        rule: {
            "kept": _kept(judged, rule),
            "of": len(judged),
            "x_greedy": _kept(judged, rule) / max(1, _kept(judged, GREEDY)),
            "gain_claimed": sum(each[rule].gain for each in judged if each[rule].kept) / loops,
            "runs": fmean(each[rule].runs for each in judged),
        }
        for rule in RULES
    }


def _nothing_table(figures: Mapping[str, Mapping[str, Any]], loops: int) -> str:
    rows = [
        [
            rule,
            f"{f['kept']} of {f['of']}",
            f"{f['x_greedy']:.3f}",
            f"{f['gain_claimed']:+.3f}",
            f"{f['runs']:.0f}",
            f"{f['runs'] / figures[GREEDY]['runs']:.2f}",
        ]
        for rule, f in figures.items()
    ]
    title = f"{loops} loops of {EXPERIMENTS} changes that do nothing"
    headers = (title, "kept", "x greedy", "gain claimed by a loop", "runs each", "x greedy")
    return tabulate(rows, headers, colalign=("left", *["right"] * 5), disable_numparse=True)


def _changes_table(what: str, told: Mapping[float, Mapping[str, Mapping[str, Any]]]) -> str:
    rows = []
    for effect, figures in told.items():
        cells = [_share(figures[rule]["kept"], figures[rule]["of"]) for rule in RULES]
        ours = figures[OURS]
        rows.append([f"{effect:+g} noise floors", *cells, f"{ours['x_greedy']:.2f}", f"{ours['runs']:.0f}"])
    title = f"{next(iter(told.values()))[OURS]['of']} {what} of"
    headers = (title, *(f"kept by {rule}" for rule in RULES), f"{OURS} x greedy", "its runs each")
    return tabulate(rows, headers, colalign=("left", *["right"] * 5), disable_numparse=True)


def _named(told: Mapping[float, Mapping[str, Any]]) -> dict[str, Any]:
    return {f"{effect:+g}": figures for effect, figures in told.items()}


def _share(kept: int, of: int) -> str:
    found = interval(kept, of)
    return f"{found.share:.1%} ({found.low:.0%}-{found.high:.0%})"


def _goals(false: int, found: float) -> str:
    met = {True: "met", False: "NOT MET"}
    return (
        f"kept though it does nothing: {false} (goal: at most {MOST_FALSE}): {met[false <= MOST_FALSE]}\n"
        f"gains of two noise floors found: {found:.1%} (goal: at least {LEAST_FOUND:.0%}): {met[found >= LEAST_FOUND]}"
    )


@entry_point
def main() -> None:
    """Simulate, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.experiments", description=__doc__)
    parser.add_argument("--loops", type=at_least(1), default=LOOPS, help=f"loops of null changes (default {LOOPS})")
    parser.add_argument("--changes", type=at_least(1), default=CHANGES, help=f"changes a size (default {CHANGES})")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    nothing = _figures(nothing_to_find(arguments.loops), arguments.loops)
    told = {effect: _figures(one_change(effect, arguments.changes), arguments.changes) for effect in EFFECTS}
    simpler = {each: _figures(one_change(each, arguments.changes, 0), arguments.changes) for each in SIMPLER_EFFECTS}
    if arguments.json:
        found = {"nothing": nothing, "changes": _named(told), "simpler": _named(simpler)}
        print(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
        return
    tables = (_changes_table("changes", told), _changes_table("simplifications", simpler))
    print(_nothing_table(nothing, arguments.loops), *tables, sep="\n\n", end="\n\n")
    print(_goals(nothing[OURS]["kept"], told[2.0][OURS]["kept"] / arguments.changes))


if __name__ == "__main__":
    main()
