"""Evaluations and experiment loops as JSON and as pages, for the local user only."""

from pathlib import Path as FilePath
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import Response

from harness.server.api import experiments
from harness.server.pages.templates import page
from harness.server.responses.experiment_responses import (
    ComparisonResponse,
    EvaluationResponse,
    ExperimentsResponse,
    LoopResponse,
)
from harness.server.route_dependencies import ERROR_RESPONSES, RequestApp

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
IdQuery = Annotated[str, Query(min_length=1, max_length=1_000, description="The id of an evaluation.")]


@router.get("")
def listed(data_dir: DataDir) -> ExperimentsResponse:
    """List experiment loops and evaluations, newest first."""
    return experiments.listed(data_dir)


@router.get("/compare")
def compared(data_dir: DataDir, first: IdQuery, second: IdQuery) -> ComparisonResponse:
    """Compare two evaluations task by task: is the second one better, and at which stage do they start to differ?"""
    return experiments.comparison(data_dir, first, second)


@router.get("/loops/{id}")
def loop(data_dir: DataDir, id: IdPath) -> LoopResponse:  # noqa: A002 - the name in the URL
    """Return an experiment loop: its experiments with their verdicts, and the kept settings."""
    return experiments.loop(data_dir, id)


@router.get("/evaluations/{id}")
def evaluation(data_dir: DataDir, id: IdPath) -> EvaluationResponse:  # noqa: A002
    """Return an evaluation: scores by task, means, failures and costs."""
    return experiments.evaluation(data_dir, id)


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
    return page(request, "compare.html", comparison=experiments.comparison(data_dir, first, second))


@pages.get("/loops/{id}")
def show_loop(request: Request, data_dir: DataDir, id: IdPath) -> Response:  # noqa: A002
    """Show an experiment loop."""
    return page(request, "experiment_loop.html", shown=experiments.loop(data_dir, id))


@pages.get("/evaluations/{id}")
def show_evaluation(request: Request, data_dir: DataDir, id: IdPath) -> Response:  # noqa: A002
    """Show an evaluation."""
    return page(request, "evaluation.html", shown=experiments.evaluation(data_dir, id))
