"""Routes of the charts, one SVG image each."""

import time
from calendar import timegm
from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from harness.core.freshness import DAY
from harness.core.origins import origins_of
from harness.errors import NotFound
from harness.research.drawing import Look
from harness.research.figures import as_svg, figure_of
from harness.research.run_view import past_run
from harness.server.api import experiments
from harness.server.api.experiment_routes import DataDir
from harness.server.api.history_routes import OriginChosen
from harness.server.pages import charts
from harness.server.pages.charts import Trial, day_and_month
from harness.server.route_dependencies import RequestApp

router = APIRouter(prefix="/charts")

DAYS = 30
"""Days shown, up to the last day with an answered search."""
HEADERS = {
    "Cache-Control": "private, max-age=60",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",  # an SVG contains its own styles
}


def look_of(*, dark: bool = False, narrow: bool = False) -> Look:
    """Return the look of a chart from the query parameters."""
    return Look(dark, narrow)


RequestLook = Annotated[Look, Depends(look_of)]


@router.get("/cache.svg")
def cache(app: RequestApp, look: RequestLook, origin: OriginChosen = "own") -> Response:
    """Draw the answered searches by day."""
    return _image(charts.hit_rates(last_days(app.cache.usage.by_day(origins_of(origin))), look))


@router.get("/runs/{run}.svg")
def run(app: RequestApp, look: RequestLook, run: str) -> Response:
    """Draw the rounds of a research, with the limits at which it stops."""
    past = past_run(app.cache, run)
    return _image(charts.rounds([(each.novelty, each.score) for each in past.rounds], past.limits, look))


@router.get("/runs/{run}/figure.svg")
def figure(app: RequestApp, look: RequestLook, run: str) -> Response:
    """Draw the values that a report's quotations give for its question."""
    report = past_run(app.cache, run).report
    found = figure_of(report) if report else None
    if found is None:
        raise NotFound("there is nothing to draw yet")
    return _image(as_svg(found, look))


@router.get("/evaluations.svg")
def evaluations(data_dir: DataDir, look: RequestLook) -> Response:
    """Draw the scores of all evaluations."""
    return _image(charts.totals(experiments.totals(data_dir), look))


@router.get("/loops/{loop}.svg")
def loop(data_dir: DataDir, look: RequestLook, loop: str) -> Response:
    """Draw the experiments of a loop."""
    trials = [
        Trial(each.number, each.status, each.score, each.baseline, each.low, each.high, ", ".join(each.changed))
        for each in experiments.loop(data_dir, loop).trials
    ]
    return _image(charts.scores(trials, look))


@router.get("/compare/{first}/{second}.svg")
def compared(data_dir: DataDir, look: RequestLook, first: str, second: str) -> Response:
    """Draw the differences of tasks between two evaluations."""
    tasks = experiments.comparison(data_dir, first, second).tasks
    return _image(
        charts.differences({each.task: each.difference for each in tasks if each.difference is not None}, look)
    )


def last_days(counted: Mapping[str, Mapping[str, int]]) -> list[tuple[str, Mapping[str, int]]]:
    """Return the last `DAYS` days of counts by day (YYYY-MM-DD), with a label for each; empty days are included.

    Raises:
        NotFound: there are no counts.
    """
    if not counted:
        raise NotFound("there is nothing to draw yet")
    last = timegm(time.strptime(max(counted), "%Y-%m-%d"))
    days = [last - ago * DAY for ago in reversed(range(DAYS))]
    return [(day_and_month(day), counted.get(time.strftime("%Y-%m-%d", time.gmtime(day)), {})) for day in days]


def _image(svg: bytes) -> Response:
    return Response(svg, media_type="image/svg+xml", headers=HEADERS)
