"""One experiment: both sides on the tasks, and the verdict."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from harness.core.statistics import alpha_share
from harness.settings import Settings
from harness_evals.journal import Experiment, NoiseFloor, Options
from harness_evals.paired_runs import Comparing, PairedRuns
from harness_evals.proposers import Proposal
from harness_evals.run import recorded_settings
from harness_evals.sides import Side, differs, mean_score, nuggets_moved
from harness_evals.tasks import Task
from harness_evals.verdicts import (
    LOSER_TASKS,
    TESTED,
    Arm,
    Verdict,
    by_gain,
    clear_loser,
    compare,
    decide,
    needs_confirm,
)

LOOK_EVERY = 3
"""Tasks between two checks for a clear loser."""
FEWEST = 2
"""Least tasks of a split for a comparison."""
INERT = "no stage of any run differs: the change has no effect on these tasks"


class Contest(Struct, frozen=True):
    """Rules and circumstances of an experiment: all tasks, those of `tune` in the loop's order, what was tried before,
    and the noise floor.
    """

    runs: PairedRuns
    options: Options
    tasks: Sequence[Task]
    tune: Sequence[Task]
    before: Sequence[Experiment]
    noise_floor: NoiseFloor | None

    def failed(self, number: int, proposal: Proposal, reason: str) -> Experiment:
        """Return an experiment whose code does not pass the checks."""
        return self._made(number, proposal, Verdict("crash", (reason,)), ())

    def run(self, number: int, proposal: Proposal, baseline: Side, candidate: Side) -> Experiment:
        """Run both sides as far as the verdict needs, and return the experiment, its digest and seconds left out."""
        comparing = Comparing(str(number), number, f"experiment {number} of {self.options.experiments}")
        sides = baseline, candidate
        self.runs.resume(comparing, sides, self.tasks)
        verdict = self._verdict(comparing, sides)
        files = {side.name: comparing.file(side) for side in sides}
        return replace(self._made(number, proposal, verdict, sides), evaluations=files)

    def _verdict(self, comparing: Comparing, sides: tuple[Side, Side]) -> Verdict:
        baseline, candidate = sides
        if (early := self._tuned(comparing, sides)) is not None:
            return early
        options, floor = self.options, self.noise_floor.value if self.noise_floor else 0.0
        tested = sum(each.status in TESTED for each in self.before) + 1
        alpha = alpha_share(tested, options.experiments, options.alpha)
        confirm = [task for task in self.tasks if task.split == "confirm"]
        arms = self._arms(sides)
        passes = needs_confirm(*arms, alpha=alpha, noise_floor=floor, delta=options.delta)
        if passes and len(confirm) < FEWEST:
            verdict = Verdict("inconclusive", (unconfirmable(len(confirm)),), compare(*(a.tune for a in arms)))
        else:
            if passes:
                self.runs.expected += 2 * options.repeats * len(confirm)
                self.runs.run(comparing, sides, confirm, self.tasks, range(options.repeats))
                arms = self._arms(sides)
            verdict = decide(*arms, alpha=alpha, noise_floor=floor, delta=options.delta)
        if options.keep_rule == "gain":
            verdict = by_gain(verdict, noise_floor=floor, delta=options.delta)
            if moved := nuggets_moved(baseline, candidate, self.tune):
                verdict = Verdict(verdict.status, (*verdict.reasons, moved), verdict.tune, verdict.confirm)
        return verdict

    def _tuned(self, comparing: Comparing, sides: tuple[Side, Side]) -> Verdict | None:
        """Run both sides on `tune`: each task once until any stage of any task differs, then with all repeats. Stop if
        one crashes, the candidate is clearly worse, or nothing differs.
        """
        done, differ = 0, False
        while done < len(self.tune):
            upto = max(LOSER_TASKS, done + LOOK_EVERY)
            self.runs.run(comparing, sides, self.tune[done:upto], self.tasks, range(1))
            done = min(upto, len(self.tune))
            ran = self.tune[:done]
            differ = differ or differs(*sides, ran)
            if differ:
                self.runs.run(comparing, sides, ran, self.tasks, range(1, self.options.repeats))
            if any(side.errors for side in sides):
                return decide(*self._arms(sides), alpha=1.0, noise_floor=0.0)
            if differ and done < len(self.tune):
                loser = clear_loser(*(side.of(ran) for side in sides))
                if loser is not None:
                    return loser
        return None if differ else Verdict("inert", (INERT,))

    def _arms(self, sides: tuple[Side, Side]) -> tuple[Arm, Arm]:
        plain = recorded_settings(Settings())
        confirm = [task for task in self.tasks if task.split == "confirm"]
        one, other = (
            Arm(
                side.of(self.tune),
                side.of(confirm),
                sum(plain.get(name) != value for name, value in recorded_settings(side.settings).items())
                + len(side.code),
                tuple(side.errors),
            )
            for side in sides
        )
        return one, other

    def _made(self, number: int, proposal: Proposal, verdict: Verdict, sides: Sequence[Side]) -> Experiment:
        found, crashed = verdict.tune, verdict.status == "crash" or not sides
        baseline, candidate = sides or (None, None)
        by_task = [side.of(self.tasks) for side in sides]
        return Experiment(
            number,
            dict(proposal.changes),
            "",
            verdict.status,
            verdict.reasons,
            found.tasks if found else 0,
            0.0,
            sum(side.live_calls for side in sides),
            score=None if crashed or candidate is None else mean_score(candidate.of(self.tune)),
            baseline=None if crashed or baseline is None else mean_score(baseline.of(self.tune)),
            delta=found.difference if found else None,
            p=found.p if found else None,
            low=found.low if found else None,
            high=found.high if found else None,
            digests={side.name: side.digests for side in sides},
            task_scores={
                task: (mean_score({task: scores}), mean_score({task: by_task[1][task]}))
                for task, scores in (by_task[0] if by_task else {}).items()
                if task in by_task[1]
            },
            idea=proposal.idea,
            hypothesis=proposal.hypothesis,
            tokens=sum(side.tokens for side in sides),
        )


def unconfirmable(tasks: int) -> str:
    """Return why nothing can be confirmed on this number of tasks."""
    return f"confirming a gain needs at least {FEWEST} tasks of the split confirm, not {tasks}; add more"
