"""History as JSON: searches, researches and documents; one entry: read, delete, search again."""

import time
from typing import Annotated, Literal, TypeAlias

from fastapi import APIRouter, Path, Query, Request
from msgspec import Struct

from harness.app import App
from harness.core.freshness import is_expired
from harness.core.keys import canonical_json
from harness.core.origins import OriginChoice
from harness.core.tables import KNOWLEDGE, RUNS, SEARCHES
from harness.errors import InvalidInput, SearchError
from harness.ports import single_engines
from harness.research.history import MAX_LIMIT, MAX_OFFSET, HistoryPage, since_of
from harness.research.search import ask_all
from harness.server.responses.history_responses import (
    DeleteResponse,
    EntryResponse,
    HistoryResponse,
    RefreshResponse,
    deleted_response,
    history_response,
)
from harness.server.responses.response_schema import iso
from harness.server.route_dependencies import ERROR_RESPONSES, RequestApp

router = APIRouter(prefix="/api", tags=["history"], responses=ERROR_RESPONSES)

SourceName = Literal["search", "research", "knowledge"]
SourcePath = Annotated[SourceName, Path(description="The kind of entry.")]
IdPath = Annotated[str, Path(min_length=1, max_length=200, description="Its id from the history.")]
QueryText = Annotated[str, Query(max_length=10_000, description="Query for search by meaning; empty: newest first.")]
Since = Annotated[
    str, Query(max_length=64, description="Only entries stored since `2026-11-22`, a time, Unix seconds, or `7d`.")
]
OriginChosen = Annotated[
    OriginChoice,
    Query(description="Who made it; `own`: users and agents; `run`: searches made by researches."),
]
FoundChoice: TypeAlias = Literal["any", "yes", "no"]
FoundChosen = Annotated[
    FoundChoice, Query(description="`yes`: only searches with results and researches with a report; `no`: the others.")
]
Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT)]
_FOUND = {"any": None, "yes": True, "no": False}
Offset = Annotated[int, Query(ge=0, le=MAX_OFFSET)]


@router.get("/research-history")
def research_history(
    app: RequestApp,
    q: QueryText = "",
    since: Since = "",
    source: Annotated[Literal["search", "research", "knowledge", "all"], Query()] = "all",
    limit: Limit = 20,
    offset: Offset = 0,
    origin: OriginChosen = "own",
    found: FoundChosen = "any",
) -> HistoryResponse:
    """List the history: by meaning if `q` is given, else newest first. A repeated research is one item."""
    filters = HistoryFilters(q, since, source, origin, found)
    return history_response(find_page(app, filters, limit, offset), limit, offset)


class HistoryFilters(Struct, frozen=True):
    """Filters of the history, as they are in the address of its page."""

    q: str = ""
    since: str = ""
    source: str = "all"
    origin: str = "own"
    found: str = "any"


def find_page(app: App, filters: HistoryFilters, limit: int, offset: int) -> HistoryPage:
    """Return a page of the history.

    Raises:
        HarnessError: see `History.page`.
    """
    if filters.found not in _FOUND:
        raise InvalidInput(f"found is any, yes or no, not {filters.found!r:.60}")
    return app.history.page(
        filters.q,
        since=since_of(filters.since, time.time()),
        source=filters.source,
        limit=limit,
        offset=offset,
        origin=filters.origin,
        found=_FOUND[filters.found],
    )


@router.get("/entries/{source}/{id}")
def entry(app: RequestApp, source: SourcePath, id: IdPath) -> EntryResponse:  # noqa: A002 - the name in the URL
    """Return one complete entry as stored."""
    found = app.history.entry(source, id)
    row = found.entry
    return EntryResponse(
        source=source,
        id=row.key,
        title=row.text,
        created_at=iso(row.created_at),
        expires_at=iso(row.expires_at),
        expired=is_expired(row.expires_at, time.time(), row.created_at),
        about=found.about,
        data=found.data,
    )


@router.delete("/entries/{source}/{id}")
def clear(request: Request, app: RequestApp, source: SourcePath, id: IdPath) -> DeleteResponse:  # noqa: A002
    """Delete one entry from the history and the cache."""
    app.identity.require("admin")
    found = app.history.entry(source, id)
    if found.table == RUNS:
        request.app.state.researches.check_ended(app.identity.tenant, id)
    if found.table == KNOWLEDGE:
        return deleted_response(int(app.knowledge.delete(found.entry.key)), source)
    return deleted_response(sum(app.cache.maintenance.delete({found.table: [found.entry]}).values()), source)


@router.post("/entries/{source}/{id}/refresh")
def refresh(app: RequestApp, source: SourcePath, id: IdPath) -> RefreshResponse:  # noqa: A002
    """Repeat a search with the engine that answered it, and replace the stored results."""
    app.identity.require("writer")
    found = app.history.entry(source, id)
    if found.table != SEARCHES:
        raise InvalidInput(
            f"only searches can be refreshed, not {source}; research the question again, or update the document"
        )
    for engine in single_engines(app.sources.engines(question=found.entry.text)):
        if (engine.name, canonical_json(dict(engine.options))) == (found.about["engine"], found.about["options"]):
            settings = app.settings
            [search] = ask_all(
                [found.entry.text],
                app.cache.refreshing(),
                [engine],
                fetch=settings,
                max_results=max(settings.max_results, found.about["max_results"]),
                progress=app.progress,
                what="searching",
            )
            if isinstance(search.outcome, SearchError):
                raise search.outcome
            return RefreshResponse(id=id, results=len(search.results), live_calls=int(search.outcome.how == "live"))
    raise InvalidInput(
        f"the engine {found.about['engine']} is not set up here with the same options; start the server with --engine"
    )
