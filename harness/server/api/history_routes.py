"""The history as JSON: what was searched, researched and written down; one thing of it whole, deleted, asked anew."""

import time
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request

from harness.app import App
from harness.cache.tables import KNOWLEDGE, RUNS, SEARCHES
from harness.core.freshness import is_expired
from harness.core.keys import canonical_json
from harness.core.origins import OriginChoice
from harness.errors import InvalidInput, SearchError
from harness.research.history import MAX_LIMIT, MAX_OFFSET, Past, as_json, since_of
from harness.research.search import ask_all
from harness.server.api.responses import Done, EntryReply, HistoryReply, PastReply, Refreshed, done
from harness.server.dependencies import FAILURES, Mine
from harness.server.pages.templates import iso

router = APIRouter(prefix="/api", tags=["history"], responses=FAILURES)

SourceName = Literal["search", "research", "knowledge"]
SourcePath = Annotated[SourceName, Path(description="What kind of thing it is.")]
IdPath = Annotated[str, Path(min_length=1, max_length=200, description="Its id, as the history tells it.")]
QueryText = Annotated[str, Query(max_length=10_000, description="What to look for, by meaning; the newest if empty.")]
Since = Annotated[
    str, Query(max_length=64, description="Only entries stored since: `2026-11-22`, a time, Unix seconds, or `7d`.")
]
OriginChosen = Annotated[
    OriginChoice,
    Query(description="For whom it was made; `own` is users and agents. What a run searched is of the origin `run`."),
]
Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT)]
Offset = Annotated[int, Query(ge=0, le=MAX_OFFSET)]


@router.get("/research-history")
def research_history(
    app: Mine,
    q: QueryText = "",
    since: Since = "",
    source: Annotated[Literal["search", "research", "knowledge", "all"], Query()] = "all",
    limit: Limit = 20,
    offset: Offset = 0,
    origin: OriginChosen = "own",
) -> HistoryReply:
    """Look through the past: by meaning where `q` is given, else the newest first. A repeated research is one item."""
    items, more = find(app, q, since, source, limit, offset, origin)
    return HistoryReply(items=[PastReply.model_validate(as_json(each)) for each in items], next_offset=more)


def find(
    app: App, query: str, since: str, source: str, limit: int, offset: int, origin: str
) -> tuple[list[Past], int | None]:
    """Return a page of the history, and where the next one begins.

    Raises:
        HarnessError: see `History.find`.
    """
    moment = since_of(since, time.time())
    found = app.history.page(query, since=moment, source=source, limit=limit, offset=offset, origin=origin)
    following = offset + limit
    return found.items, following if found.more and following <= MAX_OFFSET else None


@router.get("/entries/{source}/{id}")
def entry(app: Mine, source: SourcePath, id: IdPath) -> EntryReply:  # noqa: A002 - the address names it so
    """Return one thing of the past, whole, as it was stored."""
    found = app.history.entry(source, id)
    row = found.entry
    return EntryReply(
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
def clear(request: Request, app: Mine, source: SourcePath, id: IdPath) -> Done:  # noqa: A002
    """Delete one thing of the past; the history, and every look-up, is without it from then on."""
    app.identity.require("admin")
    found = app.history.entry(source, id)
    if found.table == RUNS:
        request.app.state.researches.check_ended(app.identity.tenant, id)
    if found.table == KNOWLEDGE:
        return done(int(app.knowledge.delete(found.entry.key)), source)
    return done(sum(app.cache.delete({found.table: [found.entry]}).values()), source)


@router.post("/entries/{source}/{id}/refresh")
def refresh(app: Mine, source: SourcePath, id: IdPath) -> Refreshed:  # noqa: A002
    """Ask a search anew, of the engine that answered it; what it brings takes the place of what was kept."""
    app.identity.require("writer")
    found = app.history.entry(source, id)
    if found.table != SEARCHES:
        raise InvalidInput(f"a {source} is not asked anew here; research the question again, or write the document")
    for engine in app.sources.engines():
        if (engine.name, canonical_json(dict(engine.options))) == (found.about["engine"], found.about["options"]):
            settings = app.settings
            asked = ask_all(
                [found.entry.text],
                app.cache.refreshing(),
                [engine],
                ttl=settings.ttl,
                max_results=max(settings.max_results, found.about["max_results"]),
                concurrency=1,
                progress=app.progress,
                what="searching",
            )[0]
            if isinstance(asked.outcome, SearchError):
                raise asked.outcome
            return Refreshed(id=id, results=len(asked.results), live_calls=int(asked.outcome.how == "live"))
    raise InvalidInput(
        f"the engine {found.about['engine']} is not set up here in the same way; start with --engine to have it"
    )
