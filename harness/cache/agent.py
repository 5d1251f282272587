"""`research_cache`: the tool cache for agents, in one call with one plain reply."""

import time
from typing import Any, Literal, assert_never, get_args

from msgspec import Struct

from harness.cache.json_values import count_of, parsed
from harness.cache.request_scope import is_first
from harness.cache.service import Cache
from harness.cache.tool_cache import ToolEntry
from harness.core.entries import Hit, Miss, Stale
from harness.core.freshness import age_in_words, is_expired
from harness.core.keys import checked_cache_type
from harness.errors import InvalidInput

Action = Literal["lookup", "store", "list_recent"]
ACTIONS: tuple[str, ...] = get_args(Action)

_FRESH = "fresh: use it"
_SEMANTIC = "fresh, and stored for another query that means the same: use it if that is what you asked"
_STALE = "stale: search again, then store what you find; use this only if the search fails"
_MISSING = "not cached: search, then store what you find"
_SEEN = "already seen in this request: use what you were given then"


class RecentEntry(Struct, frozen=True):
    """One cached query, for `list_recent`."""

    query: str
    cache_type: str
    count: int
    age: str
    stale: bool
    created_by: str | None


class ToolReply(Struct, frozen=True, kw_only=True):
    """Reply to an agent; every field is JSON. Times are ISO 8601 in UTC.

    `found`: there is an entry, expired or not; `stale`: it has expired. `results` are the stored data, or `null` if
    they were handed out before in this request (`seen`). `count` is the length of a list, 1 for anything else. `match`
    is how the entry was found, `matched_query` the query that it was stored for, and `similarity` (0..1) that of the
    two queries. `note` is what to do next. `entries` are those of `list_recent`, newest first.
    """

    action: Action
    found: bool
    note: str
    results: Any = None
    count: int = 0
    age: str | None = None
    cached_at: str | None = None
    expires_at: str | None = None
    matched_query: str | None = None
    match: Literal["exact", "semantic"] | None = None
    similarity: float | None = None
    stale: bool = False
    seen: bool = False
    key: str | None = None
    entries: tuple[RecentEntry, ...] = ()


def research_cache(
    cache: Cache,
    action: str,
    *,
    cache_type: str | None = None,
    query: str = "",
    data: object = None,
    ttl_hours: float | None = None,
    limit: int = 20,
    created_by: str | None = None,
) -> ToolReply:
    """Look up the results of a tool for a query, store them, or list the entries stored last.

    `data` is a JSON value, or the text of one. Within a `request_scope` the results of an entry are handed out once;
    results that the agent has stored in it count as handed out. `list_recent` lists every type if none is given.

    Raises:
        InvalidInput: an unknown action, an unusable type, query, lifetime or limit, or data that cannot be stored.
        AccessDenied: this tenant's cache may not be written.
        StoreError: the store cannot be read or written.
    """
    if action == "list_recent":
        return _listed(cache, cache_type, limit)
    if action not in ACTIONS:
        raise InvalidInput(f"no such action: {action!r:.50}; choose {', '.join(ACTIONS)}")
    if cache_type is None:
        raise InvalidInput(f"{action} needs a cache_type, as job_search, web_fetch or company_research")
    if action == "lookup":
        return _looked_up(cache, cache_type, query)
    value = parsed(data) if isinstance(data, str) else data
    return _stored(cache, cache.tools.put(cache_type, query, value, ttl_hours=ttl_hours, created_by=created_by))


def _looked_up(cache: Cache, cache_type: str, query: str) -> ToolReply:
    outcome = cache.tools.find(cache_type, query)
    match outcome:
        case Miss():
            return ToolReply(action="lookup", found=False, note=_MISSING, key=outcome.key)
        case Hit():
            semantic = outcome.found == "semantic"
            similarity, note = outcome.similarity, _SEMANTIC if semantic else _FRESH
        case Stale():
            semantic, similarity, note = False, 1.0, _STALE
        case _:
            assert_never(outcome)
    first = is_first(cache.tenant, outcome.key)
    return ToolReply(
        action="lookup",
        found=True,
        note=note if first else _SEEN,
        results=outcome.value if first else None,
        count=count_of(outcome.value),
        age=_age(outcome.age),
        cached_at=_iso(cache.now - outcome.age),
        expires_at=_iso(outcome.expires_at),
        matched_query=outcome.query,
        match="semantic" if semantic else "exact",
        similarity=round(similarity, 4),
        stale=isinstance(outcome, Stale),
        seen=not first,
        key=outcome.key,
    )


def _age(seconds: float) -> str:
    """Return an age in the short form of this tool: `just now`, `5m ago`, `2h ago`, `3d ago`."""
    return age_in_words(seconds).replace(" min ", "m ").replace(" h ", "h ").replace(" d ", "d ")


def _stored(cache: Cache, entry: ToolEntry) -> ToolReply:
    is_first(cache.tenant, entry.key)  # the agent has the results, so a lookup need not repeat them
    return ToolReply(
        action="store",
        found=True,
        note=f"stored; fresh until {_iso(entry.expires_at)}",
        count=entry.count,
        age=_age(0.0),
        cached_at=_iso(entry.created_at),
        expires_at=_iso(entry.expires_at),
        matched_query=entry.query,
        key=entry.key,
    )


def _listed(cache: Cache, cache_type: str | None, limit: int) -> ToolReply:
    now = cache.now
    entries = tuple(
        RecentEntry(
            each.query,
            each.cache_type,
            each.count,
            _age(now - each.created_at),
            is_expired(each.expires_at, now, each.created_at),
            each.created_by,
        )
        for each in cache.tools.recent(limit, cache_type)
    )
    of = "" if cache_type is None else f" of {checked_cache_type(cache_type)}"
    note = f"{len(entries)} entries{of}, newest first: look one up by its query"
    if not entries:
        note = f"nothing{of} is cached"
    return ToolReply(action="list_recent", found=bool(entries), note=note, count=len(entries), entries=entries)


def _iso(moment: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
