"""Experiment loop: tries changes of settings, and keeps only real improvements.

The evaluator is fixed: an experiment changes settings alone, never tasks, scorers, rules or the journal.
"""

import logging
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

from msgspec import Struct

from harness.core.statistics import alpha_share, noise_floor
from harness.errors import HarnessError, InvalidInput
from harness.ports import Progress, silent
from harness.settings import Settings
from harness_evals.journal import (
    JOURNAL,
    STOP,
    Begun,
    Experiment,
    Journal,
    JournalWriter,
    NoiseFloor,
    Options,
    Ran,
    digest_of,
    read_journal,
)
from harness_evals.outcome import Outcome
from harness_evals.proposers import Proposer, Tried
from harness_evals.run import Job, recorded_settings, versions
from harness_evals.sides import Side, mean_score, ran_of, shuffled
from harness_evals.space import Changes, Space, changed
from harness_evals.suite import digest_of_task
from harness_evals.tasks import Task
from harness_evals.verdicts import LOSER_TASKS, Arm, Verdict, clear_loser, compare, decide, needs_confirm, too_few_tasks

log = logging.getLogger(f"harness.{__name__}")  # logged under `harness`, so that it is shown

Runner: TypeAlias = Callable[[Sequence[Job]], Iterator[tuple[Job, Outcome]]]

LOOK_EVERY = 3
"""Tasks between two checks for a clear loser."""
FEWEST = 2
"""Least tasks of a split for a comparison."""
EPOCHS = 1_000
"""Repeats of one experiment are numbered from its own multiple of this, so that each gets its own model samples."""


class Budget(Struct, frozen=True):
    """Limits that end a loop before its last experiment: seconds, live calls; `None` means unlimited."""

    seconds: float | None = None
    live_calls: int | None = None


def begin(tasks: Sequence[Task], settings: Settings, space: Space, options: Options, *, now: float) -> Begun:
    """Return the start of a loop; warn if it can never keep anything.

    Raises:
        InvalidInput: no tasks of the split `tune`, or invalid rules.
    """
    tune, confirm = ([task for task in tasks if task.split == split] for split in ("tune", "confirm"))
    if len(tune) < FEWEST:
        raise InvalidInput(
            f"experiments need at least {FEWEST} tasks of the split tune, not {len(tune)}; add more with --tasks"
        )
    if options.experiments < 1 or options.repeats < 1 or options.plateau < 1:
        raise InvalidInput("experiments, repeats and plateau must be at least 1")
    if not 0 <= options.delta <= 1:
        raise InvalidInput(f"--delta must be 0 to 1, for instance 0.01, not {options.delta:g}")
    if len(confirm) < FEWEST:
        log.warning("no experiment can be kept: %s", _unconfirmed(len(confirm)))
    if warning := too_few_tasks(len(tune), experiments=options.experiments, alpha=options.alpha):
        log.warning("no gain can be significant: %s", warning)
    started = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    return Begun(
        f"{started}-{secrets.token_hex(3)}",
        now,
        {task.id: digest_of_task(task) for task in tasks},
        options,
        recorded_settings(settings),
        {name: list(values) for name, values in space.items()},
        versions(),
    )


class Loop:
    """One loop, written to the journal in `folder` as it runs; an existing journal is continued.

    `tasks` and `settings` are those of its start; `run` executes jobs, each once, in any order. Close it, or use it as
    a context manager.

    Raises:
        InvalidInput: the journal is damaged, or tasks or settings have changed.
        StoreBusy: another program is writing it.
        StoreError: the journal cannot be written.
    """

    def __init__(
        self,
        begun: Begun,
        folder: Path,
        tasks: Sequence[Task],
        settings: Settings,
        proposer: Proposer,
        run: Runner,
        *,
        budget: Budget = Budget(),  # noqa: B008 - immutable
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if begun.tasks != {task.id: digest_of_task(task) for task in tasks} or begun.settings != recorded_settings(
            settings
        ):
            raise InvalidInput(f"tasks or settings have changed since {begun.id} began; begin a new loop")
        self.begun = begun
        self.ended = ""
        self.noise_floor: NoiseFloor | None = None
        self.experiments: list[Experiment] = []
        self._folder = folder
        self._settings = settings
        self._proposer = proposer
        self._run = run
        self._budget = budget
        self._clock = clock
        self._began = clock()
        self._tune = shuffled([task for task in tasks if task.split == "tune"], begun.options.seed)
        self._confirm = [task for task in tasks if task.split == "confirm"]
        self._ran: tuple[Ran, ...] = ()
        is_new = not (folder / JOURNAL).exists()
        if not is_new:
            self._go_on(read_journal(folder))
        self._progress: Progress = silent
        self._done = self._expected = 0
        self._journal = JournalWriter(folder)
        if is_new:
            self._journal.write(begun)

    @property
    def best(self) -> Changes:
        """The changes kept so far."""
        return next((each.changes for each in reversed(self.experiments) if each.status == "keep"), {})

    @property
    def runs_left(self) -> int:
        """Runs of tasks left, if every experiment runs all tasks of `tune`."""
        comparisons = self.begun.options.experiments - len(self.experiments) + (self.noise_floor is None)
        return max(0, comparisons) * _runs(self.begun.options, self._tune)

    def steps(self, progress: Progress | None = None) -> Iterator[NoiseFloor | Experiment]:
        """Measure the noise floor, then run one experiment after the other; yield each when it is in the journal. At
        the end, `ended` is the reason. `progress` counts runs of tasks.
        """
        self._progress = progress or silent
        self._done, self._expected = 0, self.runs_left
        if self.noise_floor is None:
            self.noise_floor = self._measured_noise()
            self._write(self.noise_floor)
            yield self.noise_floor
        while not (reason := self._reason_to_end()):
            try:
                changes = self._next()
            except HarnessError as error:
                reason = f"nothing can be proposed: {error}"
                break
            if changes is None:
                reason = "nothing is left to try"
                break
            experiment = self._experiment(changes)
            self._write(experiment)
            self.experiments.append(experiment)
            self._expected = self._done + self.runs_left
            self._write_results()
            yield experiment
        self.ended = reason
        self._write_results()

    def plateau(self) -> bool:
        """Return whether the last `options.plateau` experiments were all discarded or undecided."""
        last = self.experiments[-self.begun.options.plateau :]
        return len(last) == self.begun.options.plateau and all(each.status != "keep" for each in last)

    def close(self) -> None:
        """Close the journal."""
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, step: NoiseFloor | Experiment) -> None:
        self._journal.write(step)
        self._ran = ()

    def _write_results(self) -> None:
        self._journal.write_table(self.experiments)
        self._journal.write_best(changed(self._settings, self.best))

    def _go_on(self, held: Journal) -> None:
        """Repeat the proposer's past proposals, so that it continues as if it had not been stopped."""
        if held.begun != self.begun:
            raise InvalidInput(f"{held.folder} is the journal of {held.begun.id}, not of {self.begun.id}")
        self.noise_floor = held.noise_floor
        for experiment in held.experiments:
            self._next()
            self.experiments.append(experiment)
        number = len(self.experiments) + 1 if self.noise_floor else 0
        self._ran = tuple(ran for ran in held.under_way if ran.repeat // EPOCHS == number)

    def _next(self) -> Changes | None:
        """Return the next changes whose settings were not tried yet."""
        seen = {digest_of(self._settings), *(each.settings for each in self.experiments)}
        tried = [Tried(each.changes, each.score, each.status) for each in self.experiments]
        while (changes := self._proposer.propose(self.best, tried)) is not None:
            if digest_of(changed(self._settings, changes)) not in seen:
                return changes
            tried.append(Tried(changes, None, "identical"))
        return None

    def _reason_to_end(self) -> str:
        seconds = self._clock() - self._began
        calls = sum(each.live_calls for each in self.experiments)
        calls += self.noise_floor.live_calls if self.noise_floor else 0
        if len(self.experiments) >= self.begun.options.experiments:
            return "all experiments are made"
        if (self._folder / STOP).exists():
            return f"the file {self._folder / STOP} asks for it"
        if self._budget.seconds is not None and seconds >= self._budget.seconds:
            return "the budget of seconds is spent"
        if self._budget.live_calls is not None and calls >= self._budget.live_calls:
            return "the budget of live calls is spent"
        return ""

    @property
    def _spent(self) -> int:
        """The live calls of this step's runs before the loop was stopped."""
        return sum(ran.live_calls for ran in self._ran)

    # One experiment ----------------------------------------------------------------------------------------------

    def _measured_noise(self) -> NoiseFloor:
        began = self._clock()
        one, other = Side(self._settings), Side(self._settings)
        calls = self._run_sides(one, other, self._tune, 0, apart=EPOCHS // 2)
        errors = tuple(dict.fromkeys([*one.errors, *other.errors]))
        if errors:
            raise InvalidInput(f"the loop's first settings do not run: {errors[0]}")
        first, second = one.of(self._tune), other.of(self._tune)
        return NoiseFloor(noise_floor(first, second), mean_score(first), self._clock() - began, calls + self._spent)

    def _experiment(self, changes: Changes) -> Experiment:
        number, options = len(self.experiments) + 1, self.begun.options
        began = self._clock()
        baseline = Side(changed(self._settings, self.best))
        candidate = Side(changed(self._settings, changes))
        floor = self.noise_floor.value if self.noise_floor else 0.0
        alpha = alpha_share(number, options.experiments, options.alpha)
        verdict, calls = self._tuned(baseline, candidate, number)
        if verdict is None:
            arms = self._arms(baseline, candidate)
            passes = needs_confirm(*arms, alpha=alpha, noise_floor=floor, delta=options.delta)
            if passes and len(self._confirm) < FEWEST:
                verdict = Verdict("inconclusive", (_unconfirmed(len(self._confirm)),), compare(*(a.tune for a in arms)))
            else:
                if passes:
                    self._expected += _runs(options, self._confirm)
                    calls += self._run_sides(baseline, candidate, self._confirm, number)
                    arms = self._arms(baseline, candidate)
                verdict = decide(*arms, alpha=alpha, noise_floor=floor, delta=options.delta)
        found, crashed = verdict.tune, verdict.status == "crash"
        return Experiment(
            number,
            dict(changes),
            digest_of(candidate.settings),
            verdict.status,
            verdict.reasons,
            found.tasks if found else 0,
            self._clock() - began,
            calls + self._spent,
            score=None if crashed else mean_score(candidate.of(self._tune)),
            baseline=None if crashed else mean_score(baseline.of(self._tune)),
            delta=found.difference if found else None,
            p=found.p if found else None,
            low=found.low if found else None,
            high=found.high if found else None,
            digests={"baseline": baseline.digests, "candidate": candidate.digests},
            task_scores={
                task: (mean_score({task: scores}), mean_score({task: candidate.scores[task]}))
                for task, scores in baseline.scores.items()
                if task in candidate.scores
            },
        )

    def _tuned(self, baseline: Side, candidate: Side, number: int) -> tuple[Verdict | None, int]:
        """Run both sides on `tune`; stop if one crashes or the candidate is clearly worse."""
        calls, done = 0, 0
        while done < len(self._tune):
            upto = max(LOSER_TASKS, done + LOOK_EVERY)
            calls += self._run_sides(baseline, candidate, self._tune[done:upto], number)
            done = upto
            if baseline.errors or candidate.errors:
                return decide(*self._arms(baseline, candidate), alpha=1.0, noise_floor=0.0), calls
            if done < len(self._tune):
                loser = clear_loser(baseline.of(self._tune), candidate.of(self._tune))
                if loser is not None:
                    return loser, calls
        return None, calls

    def _run_sides(self, baseline: Side, candidate: Side, tasks: Sequence[Task], number: int, *, apart: int = 0) -> int:
        """Run both sides on tasks, in turns, until one crashes; return the live calls. `apart` separates the epochs of
        the two sides. Runs from before a stop are not repeated, except crashes.
        """
        options = self.begun.options
        jobs: list[Job] = []
        sides: dict[int, Side] = {}
        for place, task in enumerate(tasks):
            for repeat in range(options.repeats):
                pair = [(baseline, 0), (candidate, apart)]
                for side, offset in pair if (place + repeat) % 2 == 0 else reversed(pair):
                    epoch = number * EPOCHS + offset + repeat
                    job = Job(task, epoch, side.settings, self.begun.at, options.fresh, "experiment")
                    sides[id(job)] = side
                    jobs.append(job)
        calls = 0
        what = f"experiment {number} of {options.experiments}" if number else "noise floor"
        held = {(ran.settings, ran.task, ran.repeat): ran for ran in self._ran if not ran.error}
        digests = {id(side): digest_of(side.settings) for side in (baseline, candidate)}
        places = {id(job): (digests[id(sides[id(job)])], job.task.id, job.repeat) for job in jobs}
        found = {id(job): held[places[id(job)]] for job in jobs if places[id(job)] in held}
        self._done += len(found)
        self._progress(what, self._done, self._expected)
        for job, outcome in self._run([job for job in jobs if id(job) not in found]):
            self._done += 1
            self._progress(what, self._done, self._expected)
            ran = ran_of(job, outcome, places[id(job)][0])
            self._journal.write_run(ran)
            calls += ran.live_calls
            found[id(job)] = ran
            if ran.error:  # a crash decides, and the rest might hang just as long
                break
        for job in jobs:  # in job order, whichever ended first
            if id(job) in found:
                sides[id(job)].add(found[id(job)])
        return calls

    def _arms(self, baseline: Side, candidate: Side) -> tuple[Arm, Arm]:
        plain = recorded_settings(Settings())
        one, other = (
            Arm(
                side.of(self._tune),
                side.of(self._confirm),
                sum(plain.get(name) != value for name, value in recorded_settings(side.settings).items()),
                tuple(side.errors),
            )
            for side in (baseline, candidate)
        )
        return one, other


def expected_runs(options: Options, tasks: Sequence[Task]) -> int:
    """Return the number of runs of a loop, if every experiment runs all tasks of `tune`."""
    return (options.experiments + 1) * _runs(options, [task for task in tasks if task.split == "tune"])


def _runs(options: Options, tasks: Sequence[Task]) -> int:
    """Return the number of runs for one comparison on some tasks."""
    return 2 * options.repeats * len(tasks)


def _unconfirmed(tasks: int) -> str:
    return f"confirming a gain needs at least {FEWEST} tasks of the split confirm, not {tasks}; add more"
