"""The page of the cache: what it saved, what it reused, why it did not answer, and what it holds."""

from collections import Counter
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from harness.cache.usage import CALL_SAVED, CALLED
from harness.core.text import one_line
from harness.errors import HarnessError
from harness.server.api import cache_routes
from harness.server.api.cache_routes import DaysQuery
from harness.server.api.history_routes import OriginChosen
from harness.server.pages.history_page import ORIGINS
from harness.server.pages.templates import page
from harness.server.responses.reuse_responses import first_day, reuse_response
from harness.server.route_dependencies import RequestApp

router = APIRouter()

RANGES = ((7, "the last 7 days"), (30, "the last 30 days"), (90, "the last 90 days"))


@router.get("/cache")
def cache(
    request: Request,
    app: RequestApp,
    q: Annotated[str, Query(max_length=10_000)] = "",
    origin: OriginChosen = "own",
    days: DaysQuery = 30,
) -> Response:
    """Show what the cache saved and holds and, with a query, why it is answered as it is."""
    failure, explained = "", None
    if one_line(q):
        try:
            explained = cache_routes.explain(app, q)
        except HarnessError as error:
            failure = str(error)
    stats = cache_routes.stats(app, origin)
    since = first_day(app.cache.now, days)
    shown = {day: counted for day, counted in stats.days.items() if day >= since}
    totals = sum(map(Counter, shown.values()), Counter[str]())
    return page(
        request,
        "cache.html",
        stats=stats,
        days=days,
        shown=shown,
        outcomes=[how for how in (*CALL_SAVED, *CALLED) if totals[how]],
        saved=sum(totals[how] for how in CALL_SAVED),
        lookups=totals.total(),
        reuse=reuse_response(app, days, origin),
        q=q,
        explained=explained,
        failure=failure,
        origin=origin,
        ranges=RANGES,
        origins=[each for each in ORIGINS if each[0] != "run"],  # counts use the origin of the run itself
    )
