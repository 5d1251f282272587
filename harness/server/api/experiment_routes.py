"""Evaluations and loops of experiments, for this machine alone: as JSON, and as pages that show the same."""

from pathlib import Path as FilePath
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import Response

from harness.server.api import experiments
from harness.server.api.experiment_responses import ComparisonReply, EvaluationReply, ExperimentsReply, LoopReply
from harness.server.dependencies import FAILURES, Mine
from harness.server.pages.templates import page

router = APIRouter(prefix="/api/experiments", tags=["experiments"], responses=FAILURES)
pages = APIRouter(prefix="/experiments")


def data_dir_of(app: Mine) -> FilePath:
    """Return where logs and journals are.

    Raises:
        AccessDenied: a token says who asks; it is for one tenant, and they are the machine's.
    """
    app.identity.require_local()
    return app.settings.data_dir


DataDir = Annotated[FilePath, Depends(data_dir_of)]
IdPath = Annotated[str, Path(min_length=1, max_length=1_000, description="Its id, as the list tells it.")]
IdQuery = Annotated[str, Query(min_length=1, max_length=1_000, description="The id of an evaluation.")]


@router.get("")
def listed(data_dir: DataDir) -> ExperimentsReply:
    """List loops of experiments and evaluations, the newest first."""
    return experiments.listed(data_dir)


@router.get("/compare")
def compared(data_dir: DataDir, first: IdQuery, second: IdQuery) -> ComparisonReply:
    """Compare two evaluations task by task: is the second one better, and where do they begin to differ?"""
    return experiments.comparison(data_dir, first, second)


@router.get("/loops/{id}")
def loop(data_dir: DataDir, id: IdPath) -> LoopReply:  # noqa: A002 - the address names it so
    """Tell of a loop of experiments: what was tried, with which verdict, and what is kept."""
    return experiments.loop(data_dir, id)


@router.get("/evaluations/{id}")
def evaluation(data_dir: DataDir, id: IdPath) -> EvaluationReply:  # noqa: A002
    """Tell of an evaluation: scores by task, their means, what failed, and what it cost."""
    return experiments.evaluation(data_dir, id)


@pages.get("")
def show_all(request: Request, data_dir: DataDir) -> Response:
    """Show loops and evaluations, with the newest of both as pictures."""
    told = experiments.listed(data_dir)
    newest = next((each for each in told.loops if each.experiments), None)
    return page(
        request,
        "experiments.html",
        told=told,
        newest=experiments.loop(data_dir, newest.id) if newest else None,
        measured=[each for each in told.evaluations if each.mean is not None],
        readable=[each.id for each in told.evaluations if not each.message],
    )


@pages.get("/compare")
def show_comparison(request: Request, data_dir: DataDir, first: IdQuery, second: IdQuery) -> Response:
    """Show two evaluations side by side."""
    return page(request, "compare.html", told=experiments.comparison(data_dir, first, second))


@pages.get("/loops/{id}")
def show_loop(request: Request, data_dir: DataDir, id: IdPath) -> Response:  # noqa: A002
    """Show a loop of experiments."""
    return page(request, "experiment_loop.html", told=experiments.loop(data_dir, id))


@pages.get("/evaluations/{id}")
def show_evaluation(request: Request, data_dir: DataDir, id: IdPath) -> Response:  # noqa: A002
    """Show an evaluation."""
    return page(request, "evaluation.html", told=experiments.evaluation(data_dir, id))
