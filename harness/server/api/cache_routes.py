"""Cache statistics, explanations and deletion as JSON."""

from typing import Annotated

from fastapi import APIRouter, Query

from harness.cache import KINDS
from harness.core.freshness import HOUR
from harness.core.keys import MAX_QUERY_CHARS
from harness.research.search import engine_for
from harness.server.api.history_routes import OriginChosen
from harness.server.responses.cache_responses import (
    ClearRequest,
    ClearResponse,
    ExplainResponse,
    StatsResponse,
    stats_response,
)
from harness.server.responses.reuse_responses import ReuseResponse, reuse_response
from harness.server.route_dependencies import ERROR_RESPONSES, RequestApp

router = APIRouter(prefix="/api", tags=["cache"], responses=ERROR_RESPONSES)

DaysQuery = Annotated[int, Query(ge=1, le=366, description="Number of days, today included.")]


@router.get("/stats")
def stats(app: RequestApp, origin: OriginChosen = "own") -> StatsResponse:
    """Return what the cache holds, its answers by day, and when entries expire. Counts the answers to users and agents,
    unless `origin` selects others.
    """
    return stats_response(app, origin)


@router.get("/cache/reuse")
def reuse(app: RequestApp, days: DaysQuery = 30, origin: OriginChosen = "own") -> ReuseResponse:
    """Return what the cache saved by engine and day, the most reused entries, and why the cache did not answer."""
    return reuse_response(app, days, origin)


@router.get("/explain")
def explain(
    app: RequestApp,
    q: Annotated[str, Query(min_length=1, max_length=MAX_QUERY_CHARS, description="The query of the search.")],
) -> ExplainResponse:
    """Explain how a search would be answered: candidates, guards, decision. Searches nothing, changes nothing."""
    engine = engine_for(q, app.sources.engines(question=q), app.cache, app.settings.max_results)
    explained = app.cache.searches.explain(
        q, max_results=app.settings.max_results, engine=engine.name, options=engine.options
    )
    return ExplainResponse.model_validate(explained.shown(app.cache.now))


@router.post("/cache/clear")
def clear(app: RequestApp, request: ClearRequest) -> ClearResponse:
    """Delete entries by kind and age."""
    app.identity.require("admin")
    cache, hours = app.cache, request.older_than_hours
    selected = cache.maintenance.select(KINDS[request.kind], older_than=None if hours is None else hours * HOUR)
    deleted = dict.fromkeys(selected, 0) if request.dry_run else cache.maintenance.delete(selected)
    return ClearResponse(selected=sum(map(len, selected.values())), deleted=deleted)


@router.post("/cache/expired")
def expired(app: RequestApp) -> ClearResponse:
    """Delete expired entries."""
    app.identity.require("admin")
    deleted = app.cache.maintenance.sweep()
    return ClearResponse(selected=sum(deleted.values()), deleted=deleted)
