"""Routes of the charts, one SVG image each."""

import time
from calendar import timegm
from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from harness.cache.usage import day_of
from harness.core.freshness import DAY
from harness.core.origins import origins_of
from harness.errors import NotFound
from harness.library.library_sources import MAX_COUNTED, overview_of
from harness.research.drawing import Look
from harness.research.figures import as_svg, figures_of
from harness.research.run_view import past_run
from harness.server.api import experiments
from harness.server.api.cache_routes import DaysQuery
from harness.server.api.experiment_routes import DataDir
from harness.server.api.history_routes import OriginChosen
from harness.server.pages import charts
from harness.server.pages.charts import day_and_month
from harness.server.pages.library_pages import KIND_NAMES
from harness.server.responses.reuse_responses import first_day, saved_by_day
from harness.server.route_dependencies import RequestApp

router = APIRouter(prefix="/charts")

HEADERS = {
    "Cache-Control": "private, max-age=60",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",  # an SVG contains its own styles
}


def look_of(*, dark: bool = False, narrow: bool = False) -> Look:
    """Return the look of a chart from the query parameters."""
    return Look(dark, narrow)


RequestLook = Annotated[Look, Depends(look_of)]


@router.get("/cache.svg")
def cache(app: RequestApp, look: RequestLook, days: DaysQuery = 30, origin: OriginChosen = "own") -> Response:
    """Draw the answered searches by day."""
    counted = app.cache.usage.by_day(origins_of(origin))
    return _image(charts.hit_rates(last_days(counted, days, app.cache.now), look))


@router.get("/saved.svg")
def saved(app: RequestApp, look: RequestLook, days: DaysQuery = 30, origin: OriginChosen = "own") -> Response:
    """Draw the saved calls by day and engine."""
    now = app.cache.now
    counted = saved_by_day(app.cache.usage.details(origins_of(origin), first_day(now, days)))
    return _image(charts.amounts(last_days(counted, days, now), "saved calls", look))


@router.get("/library.svg")
def library(app: RequestApp, look: RequestLook, days: DaysQuery = 30) -> Response:
    """Draw the passages of the library by the day they were read and by kind of source."""
    now = time.time()
    days_by_kind = overview_of(app.library.newest(MAX_COUNTED), now).days
    counted = {
        day: {KIND_NAMES.get(kind, kind): times for kind, times in kinds.items()} for day, kinds in days_by_kind.items()
    }
    return _image(charts.amounts(last_days(counted, days, now), "passages read", look))


@router.get("/runs/{run}.svg")
def run(app: RequestApp, look: RequestLook, run: str) -> Response:
    """Draw the rounds of a research, with the limits at which it stops."""
    past = past_run(app.cache, run)
    return _image(charts.rounds([(each.novelty, each.score) for each in past.rounds], past.limits, look))


@router.get("/runs/{run}/figures/{number}.svg")
def figure(app: RequestApp, look: RequestLook, run: str, number: int) -> Response:
    """Draw values that a report's quotations give for its question; its first figure is number 1."""
    report = past_run(app.cache, run).report
    found = figures_of(report) if report else []
    if not 1 <= number <= len(found):
        raise NotFound("there is nothing to draw yet")
    return _image(as_svg(found[number - 1], look))


@router.get("/evaluations.svg")
def evaluations(data_dir: DataDir, look: RequestLook) -> Response:
    """Draw the scores of all evaluations."""
    return _image(charts.totals(experiments.totals(data_dir), look))


@router.get("/loops/{loop}.svg")
def loop(data_dir: DataDir, look: RequestLook, loop: str) -> Response:
    """Draw the experiments of a loop."""
    return _image(charts.scores(experiments.loop(data_dir, loop).trials, look))


@router.get("/compare/{first}/{second}.svg")
def compared(data_dir: DataDir, look: RequestLook, first: str, second: str) -> Response:
    """Draw the differences of tasks between two evaluations."""
    one, other = (experiments.evaluation_named(data_dir, name) for name in (first, second))
    tasks = experiments.compared_tasks(one, other)
    return _image(
        charts.differences({each.task: each.difference for each in tasks if each.difference is not None}, look)
    )


def last_days(counted: Mapping[str, Mapping[str, int]], days: int, now: float) -> list[tuple[str, Mapping[str, int]]]:
    """Return the last `days` days of counts by day (YYYY-MM-DD), each with a label; the last one is that of the time
    `now`. They begin with the first day that has counts; later days without any are included.

    Raises:
        NotFound: these days have no counts.
    """
    first = min((day for day in counted if day >= first_day(now, days)), default="")
    if not first:
        raise NotFound("there is nothing to draw yet")
    begin = timegm(time.strptime(first, "%Y-%m-%d"))
    moments = range(begin, int(now) + 1, int(DAY))
    return [(day_and_month(each), counted.get(day_of(each), {})) for each in moments]


def _image(svg: bytes) -> Response:
    return Response(svg, media_type="image/svg+xml", headers=HEADERS)
