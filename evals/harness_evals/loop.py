"""Experiment loop: tries changes, and keeps only real improvements.

The evaluator is fixed: an experiment changes settings, prompts, rules or declared source files, never tasks, scorers,
the rules of the loop or its journal.
"""

import logging
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Self

from msgspec import Struct, structs
from msgspec.structs import replace

from harness.core.statistics import noise_floor
from harness.errors import HarnessError, InvalidInput
from harness.ports import Progress
from harness.settings import Settings
from harness_evals.experiment import FEWEST, Contest, unconfirmable
from harness_evals.journal import (
    JOURNAL,
    STOP,
    Begun,
    Experiment,
    Journal,
    JournalWriter,
    NoiseFloor,
    Options,
    digest_of,
    kept_changes,
    program_digest,
    read_journal,
)
from harness_evals.objective import Objective
from harness_evals.paired_runs import EPOCHS, Comparing, PairedRuns, Runner, entries_of
from harness_evals.proposers import Proposal, Proposer, Situation, TaskState, Tried
from harness_evals.run import recorded_settings, versions
from harness_evals.sides import Side, mean_score, shuffled
from harness_evals.space import Changes, InvalidProposal, Space, changed, code_of
from harness_evals.stages import digest_of_task
from harness_evals.tasks import Task
from harness_evals.trials import CodeTrials, Trial
from harness_evals.verdicts import too_few_tasks

log = logging.getLogger(f"harness.{__name__}")  # logged under `harness`, so that it is shown

MAX_INVALID = 3
"""Proposals in a row that cannot be used, after which the loop ends."""


class Budget(Struct, frozen=True):
    """Limits that end a loop before its last experiment: seconds, live calls, tokens; `None` means unlimited."""

    seconds: float | None = None
    live_calls: int | None = None
    tokens: int | None = None


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
    Objective(options.objective)
    if "prompts" in options.surfaces and settings.model is None:
        log.warning("changes of prompts have no effect: only a language model reads them, and `model` is not set")
    few = too_few_tasks(len(tune), experiments=options.experiments, alpha=options.alpha)
    if options.keep_rule == "significant":
        hint = "; --keep-rule gain keeps gains that are not shown beyond these tasks"
        if len(confirm) < FEWEST:
            log.warning("no experiment can be kept: %s%s", unconfirmable(len(confirm)), hint)
        if few:
            log.warning("no gain can be significant: %s%s", few, hint)
    started = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    return Begun(
        f"{started}-{secrets.token_hex(3)}",
        now,
        {task.id: digest_of_task(task) for task in tasks},
        options,
        recorded_settings(settings),
        {name: list(values) for name, values in space.items()},
        versions(),
        program_digest(),
    )


class Loop:
    """One loop, written to the journal in `folder` as it runs; an existing journal is continued.

    `tasks` and `settings` are those of its start; `run` executes jobs, each once, in any order; `code` makes trials of
    changed source files, if those may change. Close it, or use it as a context manager.

    Raises:
        InvalidInput: the journal is damaged, or tasks, settings or the program have changed.
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
        code: CodeTrials | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if begun.tasks != {task.id: digest_of_task(task) for task in tasks} or begun.settings != recorded_settings(
            settings
        ):
            raise InvalidInput(f"tasks or settings have changed since {begun.id} began; begin a new loop")
        if begun.code and begun.code != program_digest():
            raise InvalidInput(f"the program has changed since {begun.id} began; begin a new loop")
        self.begun = begun
        self.ended = ""
        self.noise_floor: NoiseFloor | None = None
        self.experiments: list[Experiment] = []
        self._folder = folder
        self._settings = settings
        self._proposer = proposer
        self._budget = budget
        self._code = code
        self._clock = clock
        self._began = clock()
        self._tasks = tasks
        self._tune = shuffled([task for task in tasks if task.split == "tune"], begun.options.seed)
        self._runs = PairedRuns(run, folder, begun.options, at=begun.at)
        self._baseline: Trial | None = None
        is_new = not (folder / JOURNAL).exists()
        self._journal = JournalWriter(folder)  # before copies of code are removed: another program may use them
        try:
            if is_new:
                self._journal.write(begun)
            else:
                self._go_on(read_journal(folder))
        except HarnessError:
            self._journal.close()
            raise

    @property
    def best(self) -> Changes:
        """The changes kept so far."""
        return kept_changes(self.experiments)

    @property
    def runs_left(self) -> int:
        """Runs of tasks left, if every experiment runs all tasks of `tune`."""
        comparisons = self.begun.options.experiments - len(self.experiments) + (self.noise_floor is None)
        return max(0, comparisons) * _runs(self.begun.options, self._tune)

    def steps(self, progress: Progress | None = None) -> Iterator[NoiseFloor | Experiment]:
        """Measure the noise floor, then run one experiment after the other; yield each when it is in the journal. At
        the end, `ended` is the reason. `progress` counts runs of tasks.
        """
        self._runs.progress = progress
        self._runs.expected = self.runs_left
        if self.noise_floor is None:
            self.noise_floor = self._measured_noise()
            self._journal.write(self.noise_floor)
            yield self.noise_floor
        while not (reason := self._reason_to_end()):
            before = self._proposer.tokens
            try:
                proposal = self._next()
            except InvalidProposal as error:
                experiment = self._invalid(str(error))
            except HarnessError as error:
                reason = f"nothing can be proposed: {error}"
                break
            else:
                if proposal is None:
                    reason = "nothing is left to try"
                    break
                experiment = self._experiment(proposal)
            experiment = replace(experiment, tokens=experiment.tokens + self._proposer.tokens - before)
            self._journal.write(experiment)
            self.experiments.append(experiment)
            self._runs.expected = self._runs.done + self.runs_left
            self._write_results()
            yield experiment
        self.ended = reason
        self._write_results()

    def plateau(self) -> bool:
        """Return whether the last `options.plateau` experiments kept nothing."""
        last = self.experiments[-self.begun.options.plateau :]
        return len(last) == self.begun.options.plateau and not any(each.is_kept for each in last)

    def close(self) -> None:
        """Close the journal, and remove the copy of kept code."""
        self._drop_baseline()
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _write_results(self) -> None:
        self._journal.write_table(self.experiments)
        self._journal.write_best(changed(self._settings, self.best))

    def _go_on(self, held: Journal) -> None:
        if held.begun != self.begun:
            raise InvalidInput(f"{held.folder} is the journal of {held.begun.id}, not of {self.begun.id}")
        self.noise_floor = held.noise_floor
        self.experiments = list(held.experiments)
        if self._code is not None:
            self._code.restore(held.commit)

    # Proposals ---------------------------------------------------------------------------------------------------

    def _next(self) -> Proposal | None:
        """Return the next proposal whose settings and code were not tried yet."""
        seen = {digest_of(self._settings), *(each.settings for each in self.experiments)}
        tried = [Tried(e.changes, e.score, e.status, e.idea, e.reasons) for e in self.experiments]
        situation = self._situation()
        while (proposal := self._proposer.propose(replace(situation, tried=tuple(tried)))) is not None:
            if self._digest(proposal.changes) not in seen:
                return proposal
            tried.append(Tried(proposal.changes, None, "identical", proposal.idea))
        return None

    def _situation(self) -> Situation:
        left = {"experiments": float(self.begun.options.experiments - len(self.experiments)), **self._left()}
        space = {name: tuple(values) for name, values in self.begun.space.items()}
        return Situation(self.best, (), space, self._targets(), self._states(), left)

    def _targets(self) -> dict[str, str]:
        """Return the present texts of what may change, by target."""
        from harness_evals.targets import texts_in

        surfaces = self.begun.options.surfaces
        texts = texts_in(surfaces, changed(self._settings, self.best))
        if self._code is not None and "code" in surfaces:
            texts |= {**self._code.texts, **code_of(self.best)}
        return texts

    def _states(self) -> tuple[TaskState, ...]:
        """Return the state of each task of `tune` with the changes kept so far."""
        kept = next((each for each in reversed(self.experiments) if each.is_kept), None)
        file = kept.evaluations.get("candidate", "") if kept else "0-baseline.jsonl"
        side = Side("baseline", self._settings, Objective(self.begun.options.objective))
        for entry in entries_of(self._folder, file) if file else ():
            side.add(entry)
        return tuple(side.states(self._tune))

    def _changed_code(self, changes: Changes) -> dict[str, str]:
        """Return the source files of changes that differ from those at the start."""
        known = self._code.texts if self._code is not None else {}
        return {path: text for path, text in code_of(changes).items() if known.get(path) != text}

    def _invalid(self, reason: str) -> Experiment:
        return Experiment(len(self.experiments) + 1, {}, "", "invalid", (reason,), 0, 0.0, 0)

    # Ends --------------------------------------------------------------------------------------------------------

    def _left(self) -> dict[str, float]:
        """Return how much is left of each budget that is limited."""
        steps: list[NoiseFloor | Experiment] = [*self.experiments, *([self.noise_floor] if self.noise_floor else [])]
        calls, tokens = sum(step.live_calls for step in steps), sum(step.tokens for step in steps)
        spent = {"seconds": self._clock() - self._began, "live_calls": calls, "tokens": tokens}
        most = structs.asdict(self._budget)
        return {name: max(0.0, limit - spent[name]) for name, limit in most.items() if limit is not None}

    def _reason_to_end(self) -> str:
        last = self.experiments[-MAX_INVALID:]
        if len(last) == MAX_INVALID and all(each.status == "invalid" for each in last):
            return f"{MAX_INVALID} proposals in a row cannot be used; the last: {last[-1].reasons[0]}"
        if len(self.experiments) >= self.begun.options.experiments:
            return "all experiments are made"
        if (self._folder / STOP).exists():
            return f"the file {self._folder / STOP} asks for it"
        if spent := [name for name, left in self._left().items() if not left]:
            return f"the budget of {spent[0].replace('_', ' ')} is spent"
        if self.begun.code and self.begun.code != program_digest():
            return "the program has changed, so results would not be comparable; begin a new loop"
        return ""

    # One experiment ----------------------------------------------------------------------------------------------

    def _measured_noise(self) -> NoiseFloor:
        began = self._clock()
        objective = Objective(self.begun.options.objective)
        one, other = Side("baseline", self._settings, objective), Side("candidate", self._settings, objective)
        comparing = Comparing("0", 0, "noise floor", EPOCHS // 2)
        self._runs.resume(comparing, (one, other), self._tasks)
        times = range(self.begun.options.repeats)
        self._runs.run(comparing, (one, other), self._tune, self._tasks, times)
        if errors := tuple(dict.fromkeys([*one.errors, *other.errors])):
            raise InvalidInput(f"the loop's first settings do not run: {errors[0]}")
        first, second = one.of(self._tune), other.of(self._tune)
        calls, tokens = one.live_calls + other.live_calls, one.tokens + other.tokens
        floor = noise_floor(first, second)
        return NoiseFloor(floor, mean_score(first), self._clock() - began, calls, tokens=tokens)

    def _experiment(self, proposal: Proposal) -> Experiment:
        number, began = len(self.experiments) + 1, self._clock()
        contest = Contest(self._runs, self.begun.options, self._tasks, self._tune, self.experiments, self.noise_floor)
        try:
            trial = self._trial(number, proposal.changes)
        except InvalidProposal as error:
            return replace(self._invalid(str(error)), idea=proposal.idea, hypothesis=proposal.hypothesis)
        try:
            failed = trial.check() if trial is not None else ""
            made = (
                contest.failed(number, proposal, failed)
                if failed
                else contest.run(number, proposal, *self._sides(proposal, trial))
            )
            made = replace(made, settings=self._digest(proposal.changes), seconds=self._clock() - began)
            if trial is not None and made.is_kept:
                made = replace(made, commit=trial.keep(message_of(made)))
                self._drop_baseline()
        finally:
            if trial is not None:
                trial.discard()
        return made

    def _digest(self, changes: Changes) -> str:
        return digest_of(changed(self._settings, changes), self._changed_code(changes))

    def _sides(self, proposal: Proposal, trial: Trial | None) -> tuple[Side, Side]:
        objective = Objective(self.begun.options.objective)
        baseline = Side("baseline", changed(self._settings, self.best), objective)
        candidate = Side("candidate", changed(self._settings, proposal.changes), objective)
        if trial is not None and self._code is not None:
            if self._baseline is None:  # also without kept code: a checkout may hold other edits
                self._baseline = self._code.trial(0, {})
            baseline.trial, baseline.code = self._baseline.root, self._changed_code(self.best)
            candidate.trial, candidate.code = trial.root, self._changed_code(proposal.changes)
        return baseline, candidate

    def _trial(self, number: int, changes: Changes) -> Trial | None:
        """Return a copy of the program with the changed code; `None` without any."""
        if not (code_of(changes) or self._changed_code(self.best)):
            return None
        if self._code is None:
            raise InvalidProposal("it changes source files; pass --surface code to let experiments do that")
        unchanged = {path: self._code.texts[path] for path in code_of(self.best) if path in self._code.texts}
        return self._code.trial(number, {**unchanged, **code_of(changes)})

    def _drop_baseline(self) -> None:
        if self._baseline is not None:
            self._baseline.discard()
        self._baseline = None


def message_of(made: Experiment) -> str:
    """Return the message of the commit of a kept experiment: the idea, the figures, the reasons."""
    figures = f"{made.status}: score {made.score:.4f}, {made.delta:+.4f} on {made.tasks} tasks"
    hypothesis = [made.hypothesis] if made.hypothesis else []
    title = f"Experiment {made.number}: {made.idea or made.description}"[:200]
    return "\n".join([title, "", *hypothesis, figures, *made.reasons])


def expected_runs(options: Options, tasks: Sequence[Task]) -> int:
    """Return the number of runs of a loop, if every experiment runs all tasks of `tune`."""
    return (options.experiments + 1) * _runs(options, [task for task in tasks if task.split == "tune"])


def _runs(options: Options, tasks: Sequence[Task]) -> int:
    """Return the number of runs for one comparison on some tasks."""
    return 2 * options.repeats * len(tasks)
