"""Confirmation: what a loop kept against its first state, on tasks that no experiment used."""

from collections.abc import Sequence
from pathlib import Path

from harness.core.statistics import tasks_needed
from harness.errors import InvalidInput
from harness.ports import Progress
from harness.settings import Settings
from harness_evals.journal import Confirmation, Journal, JournalWriter
from harness_evals.objective import Objective
from harness_evals.paired_runs import Comparing, PairedRuns, Runner
from harness_evals.sides import Side
from harness_evals.space import changed, code_of
from harness_evals.tasks import Task
from harness_evals.verdicts import Comparison, compare, figures

LEVEL = 0.05
"""Largest p with which a gain is confirmed: one test, of one state."""


def confirm(
    journal: Journal,
    tasks: Sequence[Task],
    settings: Settings,
    run: Runner,
    *,
    trials: tuple[Path, Path] | None = None,
    progress: Progress | None = None,
) -> Confirmation:
    """Run the loop's first state and the kept one on `tasks`, and append the result to the journal. `trials` are
    copies of the program without and with the kept code, if code was kept. A confirmation that was stopped continues.

    Raises:
        InvalidInput: nothing was kept, a task belongs to the loop, there are too few, or a run failed.
        StoreBusy: another program is writing the journal.
    """
    best, options = journal.best, journal.begun.options
    if not best:
        raise InvalidInput(f"the loop {journal.begun.id} kept nothing, so there is nothing to confirm")
    if used := sorted(task.id for task in tasks if task.id in journal.begun.tasks):
        raise InvalidInput(f"the loop's experiments used {', '.join(used[:5])}; name other tasks")
    if len(tasks) < (needed := tasks_needed(LEVEL)):
        raise InvalidInput(
            f"confirming needs at least {needed} tasks that no experiment used, not {len(tasks)}; name others with "
            "--tasks-dir or --tasks"
        )
    number = options.experiments + 1 + len(journal.confirmations)
    comparing = Comparing(f"confirm-{len(journal.confirmations) + 1}", number, "confirmation")
    objective = Objective(options.objective)
    first, kept = trials or (None, None)
    baseline = Side("baseline", settings, objective, trial=first)
    candidate = Side("candidate", changed(settings, best), objective, trial=kept, code=code_of(best))
    sides = baseline, candidate
    runs = PairedRuns(run, journal.folder, options, at=journal.begun.at)
    runs.progress, runs.expected = progress, 2 * options.repeats * len(tasks)
    with JournalWriter(journal.folder) as writer:
        runs.resume(comparing, sides, tasks)
        runs.run(comparing, sides, tasks, tasks, range(options.repeats))
        if errors := [*baseline.errors, *candidate.errors]:
            raise InvalidInput(f"a run failed, so nothing is confirmed: {errors[0]}; call it again to continue")
        found = compare(baseline.of(tasks), candidate.of(tasks))
        result = Confirmation(
            len(journal.experiments),
            tuple(task.id for task in tasks),
            found.p <= LEVEL and found.difference > 0,
            found.difference,
            found.low,
            found.high,
            found.p,
            _reasons(found),
            {side.name: comparing.file(side) for side in sides},
        )
        writer.write(result)
    return result


def _reasons(found: Comparison) -> tuple[str, ...]:
    shown = figures(found, "further tasks")
    if found.difference <= 0:
        reason = "not better on tasks that no experiment used: the gain was chance, or held for those tasks alone"
    elif found.p > LEVEL:
        reason = f"better, but so much happens by chance more often than once in {1 / LEVEL:.0f} times"
    else:
        reason = "better on tasks that no experiment used"
    return shown, reason
