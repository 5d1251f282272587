"""Runs of evaluation tasks: one, two side by side, and those of the arms of an experiment."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from harness_evals.changed_targets import TargetChange, changed_targets
from harness_evals.task_view import StageView, TaskView, clean_line
from msgspec import to_builtins
from msgspec.structs import asdict

from harness.core.text import clean
from harness.errors import NotFound
from harness.server.api.experiment_files import loops, loops_in, plain_value, short, short_lines, stored_arms
from harness.server.responses.experiment_responses import TaskResponse
from harness.server.responses.task_run_responses import (
    ChangedTarget,
    LineResponse,
    StageResponse,
    TaskDifference,
    TaskRunResponse,
    TrialDetailResponse,
)

Shown: TypeAlias = Literal["all", "failed", "low", "missed"]

FIGURES = ("total", "live_calls", "tokens", "seconds")
"""Figures of a task by which tasks can be sorted, besides its scorers."""
MAX_IDEA = 2_000


def task_run_response(view: TaskView) -> TaskRunResponse:
    """Return one run of a task as programs see it."""
    return TaskRunResponse.model_validate(to_builtins(view))


def stage_response(view: StageView) -> StageResponse:
    """Return where two runs differ as programs see it."""
    return StageResponse.model_validate(to_builtins(view))


def chosen(tasks: Sequence[TaskResponse], shown: Shown, sort: str, *, down: bool) -> list[TaskResponse]:
    """Return the tasks to show: `all`, those with a `failed` run, those with a total below the mean (`low`), or those
    that miss a vital nugget (`missed`). `sort` is `task`, one of `FIGURES` or a scorer; tasks without a value of it
    come last, and with another name all keep their order.
    """
    totals = [each.total for each in tasks if each.total is not None]
    mean = sum(totals) / len(totals) if totals else 0.0
    found = [each for each in tasks if _is_shown(each, shown, mean)]
    if sort == "task":
        return sorted(found, key=lambda each: each.task, reverse=down)
    valued = [(value, each) for each in found if (value := _value(each, sort)) is not None]
    ranked = [each for _, each in sorted(valued, key=lambda pair: pair[0], reverse=down)]
    return [*ranked, *(each for each in found if _value(each, sort) is None)]


def _is_shown(task: TaskResponse, shown: Shown, mean: float) -> bool:
    match shown:
        case "failed":
            return bool(task.errors)
        case "low":
            return task.total is None or task.total < mean
        case "missed":
            return task.values.get("nugget_vital", 1.0) < 1
    return True


def _value(task: TaskResponse, name: str) -> float | None:
    return getattr(task, name) if name in FIGURES else task.values.get(name)


def experiment(data_dir: Path, loop: str, number: int) -> TrialDetailResponse:
    """Return one experiment of a loop.

    Raises:
        NotFound: there is no such loop or experiment.
        StoreCorrupt: its journal is damaged.
    """
    paths = loops_in(data_dir)
    journal = loops.named(loop, paths, "experiment loop")
    made = next((each for each in journal.experiments if each.number == number), None)
    if made is None:
        raise NotFound(f"the loop {clean(loop, 100)} has no experiment {number}")
    scores = sorted(made.task_scores.items(), key=lambda each: (-abs(each[1][1] - each[1][0]), each[0]))
    texts = {
        "idea": clean(made.idea, MAX_IDEA),
        "hypothesis": clean(made.hypothesis, MAX_IDEA),
        "reasons": short_lines(made.reasons),
        "targets": [_target(each) for each in changed_targets(journal, made)],
        "evaluations": stored_arms(paths[loop], made.evaluations),
        "commit": short(made.commit),
        "task_scores": [TaskDifference(task=short(task), baseline=was, candidate=now) for task, (was, now) in scores],
        "numbers": [each.number for each in journal.experiments],
    }
    return TrialDetailResponse(**{**asdict(made), **texts}, loop=loop)


def _target(change: TargetChange) -> ChangedTarget:
    return ChangedTarget(
        target=short(change.target),
        before=plain_value(change.before),
        after=plain_value(change.after),
        lines=[LineResponse.model_validate(to_builtins(clean_line(line))) for line in change.lines],
    )
