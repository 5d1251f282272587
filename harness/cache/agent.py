"""`research_cache`: the tool cache as an agent asks for it, in one call with one plain reply."""

import time
from typing import Any, Literal, assert_never, get_args

from msgspec import Struct

from harness.cache.agent_turns import is_first
from harness.cache.service import Cache
from harness.cache.tools import ToolEntry
from harness.cache.values import count_of, parsed
from harness.core.entries import Hit, Miss, Stale
from harness.core.freshness import age_in_words, is_expired
from harness.core.keys import checked_cache_type, tool_key
from harness.errors import InvalidInput

Action = Literal["lookup", "store", "list_recent"]
ACTIONS: tuple[str, ...] = get_args(Action)

_FRESH = "fresh: use it"
_MEANT = "fresh, and stored for another query that means the same: use it if that is what you asked"
_STALE = "stale: search again, then store what you find; use this only if the search fails"
_MISSING = "not cached: search, then store what you find"
_SEEN = "already seen in this request: use what you were given then"


class RecentEntry(Struct, frozen=True):
    """One query that is cached, for `list_recent`."""

    query: str
    cache_type: str
    count: int
    age: str
    stale: bool
    created_by: str | None


class ToolReply(Struct, frozen=True, kw_only=True):
    """What an agent is told; every field is JSON. Times are ISO 8601 in UTC.

    `found` says that there is an entry, expired or not, and `stale` that it has expired. `results` are what was stored;
    `null` where they were handed out before in this request (`seen`). `count` is the length of a list, 1 for anything
    else. `match` says how it was found, `matched_query` what it was stored for, and `similarity` (0..1) how alike that
    is. `note` says what to do next. `entries` are those of `list_recent`, newest first.
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
    """Look up what a tool brought for a query, store it, or list what was stored last.

    `data` is a JSON value, or the text of one. Within a `request_scope` the results of an entry are handed out once;
    what the agent has stored in it counts as handed out. `list_recent` lists every type if none is named.

    Raises:
        InvalidInput: an unknown action, an unusable type, query, lifetime or limit, or data that cannot be kept.
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
    return _stored(cache, cache.put_tool(cache_type, query, value, ttl_hours=ttl_hours, created_by=created_by))


def _looked_up(cache: Cache, cache_type: str, query: str) -> ToolReply:
    outcome = cache.find_tool(cache_type, query)
    match outcome:
        case Miss():
            return ToolReply(action="lookup", found=False, note=_MISSING, key=tool_key(cache_type, query))
        case Hit():
            semantic = outcome.found == "semantic"
            similarity, note = outcome.similarity, _MEANT if semantic else _FRESH
        case Stale():
            semantic, similarity, note = False, 1.0, _STALE
        case _:
            assert_never(outcome)
    held = cache.tool_entry(cache_type, outcome.query)
    key, cached_at = tool_key(cache_type, outcome.query), cache.now - outcome.age
    first = is_first(cache.tenant, key)
    return ToolReply(
        action="lookup",
        found=True,
        note=note if first else _SEEN,
        results=outcome.value if first else None,
        count=count_of(outcome.value),
        age=age_in_words(outcome.age),
        cached_at=_iso(cached_at),
        expires_at=_iso(held.expires_at) if held else None,
        matched_query=outcome.query,
        match="semantic" if semantic else "exact",
        similarity=round(similarity, 4),
        stale=isinstance(outcome, Stale),
        seen=not first,
        key=key,
    )


def _stored(cache: Cache, entry: ToolEntry) -> ToolReply:
    is_first(cache.tenant, entry.key)  # the agent has it, so a look-up need not repeat it
    return ToolReply(
        action="store",
        found=True,
        note=f"stored; fresh until {_iso(entry.expires_at)}",
        count=entry.count,
        age=age_in_words(0.0),
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
            age_in_words(now - each.created_at),
            is_expired(each.expires_at, now, each.created_at),
            each.created_by,
        )
        for each in cache.recent_tools(limit, cache_type)
    )
    of = "" if cache_type is None else f" of {checked_cache_type(cache_type)}"
    note = f"{len(entries)} entries{of}, newest first: look one up by its query"
    if not entries:
        note = f"nothing{of} is cached"
    return ToolReply(action="list_recent", found=bool(entries), note=note, count=len(entries), entries=entries)


def _iso(moment: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
