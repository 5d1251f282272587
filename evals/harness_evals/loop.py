"""The loop of experiments: tries changes of settings, and keeps only what is really better.

The evaluator is fixed: an experiment changes settings alone, never tasks, scorers, rules or the journal.
"""

import logging
import random
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

from msgspec import Struct

from harness.core.statistics import Scores, alpha_share, noise_floor
from harness.errors import HarnessError, InvalidInput
from harness.ports import Progress
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
from harness_evals.run import Job, told, versions
from harness_evals.scorers import score
from harness_evals.space import Changes, Space, changed
from harness_evals.suite import digest_of_task
from harness_evals.tasks import Task
from harness_evals.verdicts import LOSER_TASKS, Arm, Verdict, clear_loser, compare, decide, needs_confirm, too_few_tasks

log = logging.getLogger(f"harness.{__name__}")  # what is shown is what `harness` logs

Runner: TypeAlias = Callable[[Sequence[Job]], Iterator[tuple[Job, Outcome]]]

LOOK_EVERY = 3
"""Tasks between two looks at whether a candidate is a clear loser."""
FEWEST = 2
"""So many tasks of a split make a comparison."""
EPOCHS = 1_000
"""Repeats of one experiment are numbered from its own multiple of this: each has its own draws of a model."""


class Budget(Struct, frozen=True):
    """What ends a loop before its experiments are through: seconds, live calls; not bounded where `None`."""

    seconds: float | None = None
    live_calls: int | None = None


class _Side(Struct):
    """What one side of an experiment has come to, by task."""

    settings: Settings
    scores: dict[str, list[float]] = {}
    errors: list[str] = []
    digests: dict[str, str] = {}

    def of(self, tasks: Sequence[Task]) -> Scores:
        return {task.id: self.scores[task.id] for task in tasks if task.id in self.scores}


def begin(tasks: Sequence[Task], settings: Settings, space: Space, options: Options, *, now: float) -> Begun:
    """Return what a loop begins with; say so if it can never keep anything.

    Raises:
        InvalidInput: no tasks of the split `tune`, or rules that make no sense.
    """
    tune, confirm = ([task for task in tasks if task.split == split] for split in ("tune", "confirm"))
    if len(tune) < FEWEST:
        raise InvalidInput(
            f"experiments need at least {FEWEST} tasks of the split tune, not {len(tune)}; name more with --tasks"
        )
    if options.experiments < 1 or options.repeats < 1 or options.plateau < 1:
        raise InvalidInput("experiments, repeats and plateau must be at least 1")
    if not 0 <= options.delta <= 1:
        raise InvalidInput(f"--delta must be 0 to 1, for instance 0.01, not {options.delta:g}")
    if len(confirm) < FEWEST:
        log.warning("nothing can be kept: %s", _unconfirmed(len(confirm)))
    if warning := too_few_tasks(len(tune), experiments=options.experiments, alpha=options.alpha):
        log.warning("nothing can be kept for a gain: %s", warning)
    started = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    return Begun(
        f"{started}-{secrets.token_hex(3)}",
        now,
        {task.id: digest_of_task(task) for task in tasks},
        options,
        told(settings),
        {name: list(values) for name, values in space.items()},
        versions(),
    )


class Loop:
    """One loop, written to the journal in `folder` as it goes; begun there already, it goes on where it was.

    `tasks` and `settings` are those that it began with; `run` does jobs, in whatever order, each once. Use it as a
    context manager, or close it.

    Raises:
        InvalidInput: the journal is damaged, or tasks or settings have changed since.
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
        if begun.tasks != {task.id: digest_of_task(task) for task in tasks} or begun.settings != told(settings):
            raise InvalidInput(f"tasks or settings are not those that {begun.id} began with; begin a new loop")
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
        self._tune = _shuffled([task for task in tasks if task.split == "tune"], begun.options.seed)
        self._confirm = [task for task in tasks if task.split == "confirm"]
        self._ran: tuple[Ran, ...] = ()
        is_new = not (folder / JOURNAL).exists()
        if not is_new:
            self._go_on(read_journal(folder))
        self._progress: Progress = _silent
        self._done = self._expected = 0
        self._journal = JournalWriter(folder)
        if is_new:
            self._journal.write(begun)

    @property
    def best(self) -> Changes:
        """The changes that are kept by now."""
        return next((each.changes for each in reversed(self.experiments) if each.status == "keep"), {})

    @property
    def runs_left(self) -> int:
        """Runs of tasks until the end, if every experiment is measured on all tasks of `tune`."""
        comparisons = self.begun.options.experiments - len(self.experiments) + (self.noise_floor is None)
        return max(0, comparisons) * _runs(self.begun.options, self._tune)

    def steps(self, progress: Progress | None = None) -> Iterator[NoiseFloor | Experiment]:
        """Measure the noise floor, then make one experiment after the other; yield each when it is in the journal. Ends
        with `ended` telling why. `progress` counts runs of tasks.
        """
        self._progress = progress or _silent
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
        """Say whether the last experiments, as many as the rules say, were all discarded or undecided."""
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
        """Have the proposer propose again what it has proposed, so that it goes on as if it had not been stopped."""
        if held.begun != self.begun:
            raise InvalidInput(f"{held.folder} is the journal of {held.begun.id}, not of {self.begun.id}")
        self.noise_floor = held.noise_floor
        for experiment in held.experiments:
            self._next()
            self.experiments.append(experiment)
        number = len(self.experiments) + 1 if self.noise_floor else 0
        self._ran = tuple(ran for ran in held.under_way if ran.repeat // EPOCHS == number)

    def _next(self) -> Changes | None:
        """Return the next changes that make settings which were not tried yet."""
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
        """The live calls of this step's runs that were made before the loop was stopped."""
        return sum(ran.live_calls for ran in self._ran)

    # One experiment ----------------------------------------------------------------------------------------------

    def _measured_noise(self) -> NoiseFloor:
        began = self._clock()
        one, other = _Side(self._settings), _Side(self._settings)
        calls = self._run_sides(one, other, self._tune, 0, apart=EPOCHS // 2)
        errors = tuple(dict.fromkeys([*one.errors, *other.errors]))
        if errors:
            raise InvalidInput(f"the settings that the loop begins with do not run: {errors[0]}")
        first, second = one.of(self._tune), other.of(self._tune)
        return NoiseFloor(noise_floor(first, second), _mean(first), self._clock() - began, calls + self._spent)

    def _experiment(self, changes: Changes) -> Experiment:
        number, options = len(self.experiments) + 1, self.begun.options
        began = self._clock()
        baseline = _Side(changed(self._settings, self.best))
        candidate = _Side(changed(self._settings, changes))
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
            score=None if crashed else _mean(candidate.of(self._tune)),
            baseline=None if crashed else _mean(baseline.of(self._tune)),
            delta=found.difference if found else None,
            p=found.p if found else None,
            low=found.low if found else None,
            high=found.high if found else None,
            digests={"baseline": baseline.digests, "candidate": candidate.digests},
            task_scores={
                task: (_mean({task: scores}), _mean({task: candidate.scores[task]}))
                for task, scores in baseline.scores.items()
                if task in candidate.scores
            },
        )

    def _tuned(self, baseline: _Side, candidate: _Side, number: int) -> tuple[Verdict | None, int]:
        """Run both sides on `tune`; stop where one crashes or the candidate is clearly worse."""
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

    def _run_sides(
        self, baseline: _Side, candidate: _Side, tasks: Sequence[Task], number: int, *, apart: int = 0
    ) -> int:
        """Run both sides on tasks, in turns, until one crashes; return the live calls. `apart` parts their epochs. What
        was run before the loop was stopped is not run again; crashes are.
        """
        options = self.begun.options
        jobs: list[Job] = []
        sides: dict[int, _Side] = {}
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
            ran = _ran(job, outcome, places[id(job)][0])
            self._journal.write_run(ran)
            calls += ran.live_calls
            found[id(job)] = ran
            if ran.error:  # a crash is one whatever the rest comes to, and the rest may hang as long
                break
        for job in jobs:  # in their own order, whichever ended first
            if id(job) in found:
                _add(sides[id(job)], found[id(job)])
        return calls

    def _arms(self, baseline: _Side, candidate: _Side) -> tuple[Arm, Arm]:
        plain = told(Settings())
        one, other = (
            Arm(
                side.of(self._tune),
                side.of(self._confirm),
                sum(plain.get(name) != value for name, value in told(side.settings).items()),
                tuple(side.errors),
            )
            for side in (baseline, candidate)
        )
        return one, other


def _ran(job: Job, outcome: Outcome, settings: str) -> Ran:
    total = None if outcome.error else score(job.task, outcome).total
    report, calls = outcome.digests.get("report", ""), outcome.cost.live_calls
    return Ran(settings, job.task.id, job.repeat, calls, total, report, outcome.error)


def _add(side: _Side, ran: Ran) -> None:
    if ran.score is None:
        side.errors.append(f"{ran.task}: {ran.error}")
        return
    side.scores.setdefault(ran.task, []).append(ran.score)
    side.digests[ran.task] = ran.report


def expected_runs(options: Options, tasks: Sequence[Task]) -> int:
    """Return how many runs a loop takes, if every experiment is measured on all tasks of `tune`."""
    return (options.experiments + 1) * _runs(options, [task for task in tasks if task.split == "tune"])


def _silent(what: str, done: int, total: int) -> None:
    """Show no progress."""


def _runs(options: Options, tasks: Sequence[Task]) -> int:
    """Return how many runs one comparison on some tasks takes."""
    return 2 * options.repeats * len(tasks)


def _unconfirmed(tasks: int) -> str:
    return f"what tune shows is confirmed on at least {FEWEST} tasks of the split confirm, not {tasks}; name more"


def _shuffled(tasks: Sequence[Task], seed: int) -> list[Task]:
    """Return the tasks in an order drawn once: the first ones decide on clear losers, and files have them by name."""
    order = sorted(tasks, key=lambda task: task.id)
    random.Random(seed).shuffle(order)  # noqa: S311 - no secret
    return order


def _mean(scores: Mapping[str, Sequence[float]]) -> float:
    means = [sum(each) / len(each) for each in scores.values()]
    return sum(means) / len(means) if means else 0.0
