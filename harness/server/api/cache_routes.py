"""The cache as JSON: what it holds, how often it answers, why; and its clearing."""

import time
from typing import Annotated

from fastapi import APIRouter, Query

from harness.app import App
from harness.cache import KINDS
from harness.cache.tables import ANSWERS
from harness.core.freshness import DAY, HOUR
from harness.core.keys import MAX_QUERY_CHARS
from harness.core.origins import origins_of
from harness.server.api.history_routes import OriginChosen
from harness.server.api.responses import Cleared, Expiring, ExplainReply, StatsReply, TableReply, ToClear
from harness.server.dependencies import FAILURES, Mine
from harness.server.pages.templates import iso

router = APIRouter(prefix="/api", tags=["cache"], responses=FAILURES)

HITS = ("exact", "semantic", "stale", "no results")
MISSES = ("live", "failed")
_WITHIN = (("1 hour", HOUR), ("1 day", DAY), ("1 week", 7 * DAY), ("30 days", 30 * DAY), ("later", 36_500 * DAY))


@router.get("/stats")
def stats(app: Mine, origin: OriginChosen = "own") -> StatsReply:
    """Describe the cache: its contents, its answers day by day, and when entries expire. Answers are counted for users
    and agents, unless `origin` says otherwise.
    """
    cache, local = app.cache, app.identity.local
    days = cache.counted_by_day(origins_of(origin))
    totals = {how: sum(day.get(how, 0) for day in days.values()) for how in (*HITS, *MISSES)}
    hits = {how: totals[how] for how in HITS}
    return StatsReply(
        database=app.place if local else None,
        size_bytes=cache.size() if local else None,
        tables=[
            TableReply(
                table=each.table,
                live=each.live,
                expired=each.expired,
                total=each.total,
                oldest=None if each.oldest is None else iso(each.oldest),
                newest=None if each.newest is None else iso(each.newest),
                indexed=each.indexed,
                tail=each.tail,
                unembedded=each.unembedded,
            )
            for each in cache.stats()
        ],
        hits=hits,
        misses=sum(totals[how] for how in MISSES),
        live_calls_saved=sum(hits.values()),
        days=days,
        expiring=_expiring(app),
    )


@router.get("/explain")
def explain(
    app: Mine, q: Annotated[str, Query(min_length=1, max_length=MAX_QUERY_CHARS, description="The search.")]
) -> ExplainReply:
    """Tell how a search would be answered: candidates, guards, the decision. Nothing is searched, nothing changed."""
    engine = app.engines()[0]
    explained = app.cache.explain(q, max_results=app.settings.max_results, engine=engine.name, options=engine.options)
    return ExplainReply.model_validate(explained.shown(app.cache.now))


@router.post("/cache/clear")
def clear(app: Mine, wanted: ToClear) -> Cleared:
    """Delete entries by kind and age."""
    app.identity.require("admin")
    cache, hours = app.cache, wanted.older_than_hours
    selected = cache.select(KINDS[wanted.kind], older_than=None if hours is None else hours * HOUR)
    deleted = dict.fromkeys(selected, 0) if wanted.dry_run else cache.delete(selected)
    return Cleared(selected=sum(map(len, selected.values())), deleted=deleted)


@router.post("/cache/expired")
def expired(app: Mine) -> Cleared:
    """Delete what has expired."""
    app.identity.require("admin")
    deleted = app.cache.sweep()
    return Cleared(selected=sum(deleted.values()), deleted=deleted)


def _expiring(app: App) -> list[Expiring]:
    """Count what is live by when it expires, each entry in the first span that it fits."""
    now = time.time()
    moments = [now, *(now + seconds for _, seconds in _WITHIN)]
    tables = [app.store.listings.expiring(table, app.identity.tenant, moments) for table in ANSWERS]
    upto = [sum(counts) for counts in zip(*tables, strict=True)]
    return [
        Expiring(within=name, entries=after - before)
        for (name, _), before, after in zip(_WITHIN, upto, upto[1:], strict=False)
    ]
