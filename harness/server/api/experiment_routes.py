"""Evaluations and experiment loops as JSON and as pages, for the local user only."""

from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import Annotated, TypeVar
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Path, Query, Request
from harness_evals.evaluation_names import resume_command
from harness_evals.task_view import stage_view, task_view
from starlette.responses import Response

from harness.server.api import experiments, task_runs
from harness.server.api.experiment_files import whole_log
from harness.server.api.task_runs import Shown
from harness.server.pages.templates import page
from harness.server.responses.experiment_responses import (
    ComparisonResponse,
    EvaluationResponse,
    ExperimentsResponse,
    LoopResponse,
)
from harness.server.responses.task_run_responses import StageResponse, TaskRunResponse, TrialDetailResponse
from harness.server.route_dependencies import ERROR_RESPONSES, RequestApp

T = TypeVar("T", str, int)

router = APIRouter(prefix="/api/experiments", tags=["experiments"], responses=ERROR_RESPONSES)
pages = APIRouter(prefix="/experiments")


def data_dir_of(app: RequestApp) -> FilePath:
    """Return the folder of logs and journals.

    Raises:
        AccessDenied: the request has a token; tokens belong to one tenant, evaluations to the whole machine.
    """
    app.identity.require_local()
    return app.settings.data_dir


DataDir = Annotated[FilePath, Depends(data_dir_of)]
IdPath = Annotated[str, Path(min_length=1, max_length=1_000, description="Its id from the list.")]
IdQuery = Annotated[
    str,
    Query(min_length=1, max_length=1_000, description="The id of an evaluation, or LOOP:NUMBER:baseline of an arm."),
]
TaskPath = Annotated[str, Path(min_length=1, max_length=100, description="The id of a task.")]
TaskQuery = Annotated[str, Query(min_length=1, max_length=100, description="The id of a task.")]
RunQuery = Annotated[int, Query(ge=1, le=1_000_000, description="Number of the run of the task, from 1.")]
NumberPath = Annotated[int, Path(ge=1, le=1_000_000, description="Number of the experiment.")]
SortQuery = Annotated[str, Query(max_length=100)]


@router.get("")
def listed(data_dir: DataDir) -> ExperimentsResponse:
    """List experiment loops and evaluations, newest first."""
    return experiments.listed(data_dir)


@router.get("/compare")
def compared(data_dir: DataDir, first: IdQuery, second: IdQuery) -> ComparisonResponse:
    """Compare two evaluations task by task: is the second one better, and at which stage do they start to differ?"""
    one, other = (experiments.evaluation_named(data_dir, name) for name in (first, second))
    return experiments.comparison_response((first, one), (second, other))


@router.get("/compare/task")
def compared_task(
    data_dir: DataDir, first: IdQuery, second: IdQuery, task: TaskQuery, run: RunQuery = 1
) -> StageResponse:
    """Return the first stage in which a run of a task differs between two evaluations, with the difference."""
    logs = whole_log(data_dir, first), whole_log(data_dir, second)
    return task_runs.stage_response(stage_view(*logs, task, run, data_dir))


@router.get("/loops/{id}")
def loop(data_dir: DataDir, id: IdPath) -> LoopResponse:  # noqa: A002 - the name in the URL
    """Return an experiment loop: its experiments with their verdicts, and the kept settings."""
    return experiments.loop(data_dir, id)


@router.get("/loops/{id}/experiments/{number}")
def experiment(data_dir: DataDir, id: IdPath, number: NumberPath) -> TrialDetailResponse:  # noqa: A002
    """Return one experiment of a loop: idea, verdict, what it changed, and the evaluations of both arms."""
    return task_runs.experiment(data_dir, id, number)


@router.get("/evaluations/{id}")
def evaluation(data_dir: DataDir, id: IdPath) -> EvaluationResponse:  # noqa: A002
    """Return an evaluation: scores by task, means, failures and costs."""
    return experiments.evaluation_response(id, experiments.evaluation_named(data_dir, id))


@router.get("/evaluations/{id}/tasks/{task}")
def task(data_dir: DataDir, id: IdPath, task: TaskPath, run: RunQuery = 1) -> TaskRunResponse:  # noqa: A002
    """Return one run of a task: scores, the report with the nuggets that it says, sources, rounds, cost."""
    return task_runs.task_run_response(task_view(whole_log(data_dir, id), task, run, data_dir))


@pages.get("")
def show_all(request: Request, data_dir: DataDir) -> Response:
    """Show loops and evaluations, with charts of the newest."""
    found = experiments.listed(data_dir)
    newest = next((each for each in found.loops if each.experiments), None)
    return page(
        request,
        "experiments.html",
        listed=found,
        newest=experiments.loop(data_dir, newest.id) if newest else None,
        measured=[each for each in found.evaluations if each.mean is not None],
        readable=[each.id for each in found.evaluations if not each.message],
    )


@pages.get("/compare")
def show_comparison(request: Request, data_dir: DataDir, first: IdQuery, second: IdQuery) -> Response:
    """Show two evaluations side by side."""
    return page(request, "compare.html", comparison=compared(data_dir, first, second))


@pages.get("/compare/task")
def show_task_comparison(
    request: Request, data_dir: DataDir, first: IdQuery, second: IdQuery, task: TaskQuery, run: RunQuery = 1
) -> Response:
    """Show one task of two evaluations side by side, and where they begin to differ."""
    logs = whole_log(data_dir, first), whole_log(data_dir, second)
    one, other = (task_runs.task_run_response(task_view(log, task, run, data_dir)) for log in logs)
    evaluations = (experiments.evaluation_named(data_dir, name) for name in (first, second))
    order = [each.task for each in experiments.compared_tasks(*evaluations) if each.difference is not None]
    return page(
        request,
        "compare_task.html",
        one=one,
        other=other,
        values={each.name: each.value for each in other.scores},
        differing=task_runs.stage_response(stage_view(*logs, task, run, data_dir)),
        near=_neighbours(order, task),
    )


@pages.get("/loops/{id}")
def show_loop(request: Request, data_dir: DataDir, id: IdPath) -> Response:  # noqa: A002
    """Show an experiment loop."""
    return page(request, "experiment_loop.html", shown=experiments.loop(data_dir, id))


@pages.get("/loops/{id}/experiments/{number}")
def show_experiment(request: Request, data_dir: DataDir, id: IdPath, number: NumberPath) -> Response:  # noqa: A002
    """Show one experiment of a loop."""
    found = task_runs.experiment(data_dir, id, number)
    return page(request, "experiment.html", shown=found, near=_neighbours(found.numbers, number))


@pages.get("/evaluations/{id}")
def show_evaluation(
    request: Request,
    data_dir: DataDir,
    id: IdPath,  # noqa: A002
    show: Shown = "all",
    sort: SortQuery = "",
    down: bool = False,
) -> Response:
    """Show an evaluation: its tasks, filtered and sorted."""
    shown = evaluation(data_dir, id)
    return page(
        request,
        "evaluation.html",
        shown=shown,
        resume=resume_command(shown.evaluation.id),
        tasks=task_runs.chosen(shown.tasks, show, sort, down=down),
        filters={"show": show, "sort": sort, "down": down},
        query=_query(show, sort, down=down),
    )


@pages.get("/evaluations/{id}/tasks/{task}")
def show_task(
    request: Request,
    data_dir: DataDir,
    id: IdPath,  # noqa: A002
    task: TaskPath,
    run: RunQuery = 1,
    show: Shown = "all",
    sort: SortQuery = "",
    down: bool = False,
) -> Response:
    """Show one run of a task; its neighbours are those of the list that it was chosen from."""
    order = task_runs.chosen(evaluation(data_dir, id).tasks, show, sort, down=down)
    return page(
        request,
        "task_run.html",
        shown=task_runs.task_run_response(task_view(whole_log(data_dir, id), task, run, data_dir)),
        near=_neighbours([each.task for each in order], task),
        query=_query(show, sort, down=down),
    )


def _query(show: Shown, sort: str, *, down: bool) -> str:
    """Return the query of a page of tasks; empty for all tasks in their order."""
    given = {"show": show if show != "all" else "", "sort": sort, "down": "1" if down else ""}
    return urlencode({name: value for name, value in given.items() if value})


def _neighbours(order: Sequence[T], present: T) -> tuple[T | None, T | None]:
    """Return what comes before and after `present`; `None` at the ends, or if it is not there."""
    if present not in order:
        return None, None
    at = order.index(present)
    return order[at - 1] if at else None, order[at + 1] if at + 1 < len(order) else None
