"""Results of agents' tools, by cache type: found exactly, then by meaning, else computed once."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec
import orjson
from msgspec import Struct

from harness.cache.computed import Asked, Kept
from harness.cache.json_form import made
from harness.cache.lookup import NO_RESULTS, UNREADABLE, Answer, is_failure
from harness.cache.tables import TOOLS
from harness.cache.values import count_of, encoded, is_empty
from harness.core.entries import Entry, Hit, Miss, Stale
from harness.core.freshness import DAY, DEFAULT_TTL, seconds_of
from harness.core.keys import checked_cache_type, in_words, tool_key
from harness.core.tables import ToolColumns
from harness.core.text import clean
from harness.errors import InvalidInput

STALE_FOR = 7 * DAY
"""How long a look-up can still tell that there was an answer, after its expiry."""
MAX_PARAMS_BYTES = 100_000
MAX_RECENT = 1_000
MAX_USER = 200
"""Characters of who stored something."""


class ToolEntry(Struct, frozen=True):
    """What the cache holds for one query, without the answer itself. Times are seconds since the epoch.

    `count` is how many results there are: the length of a list, 1 for anything else. `params` are what the tool was
    asked with besides.
    """

    key: str
    cache_type: str
    query: str
    params: dict[str, Any]
    count: int
    created_by: str | None
    created_at: float
    expires_at: float


class Tools(Kept):
    """The cache of what tools bring."""

    def find_tool(self, cache_type: str, query: str) -> Hit[Any] | Stale[Any] | Miss:
        """Look up what a tool brought: exactly, then by meaning among fresh entries of the same type. An address of the
        web, or a JSON object, is only looked up exactly. An expired answer is told, and kept for, `STALE_FOR` seconds.

        Raises:
            InvalidInput: an unusable type or query.
            StoreError: the store cannot be read.
        """
        name, key, text = checked_cache_type(cache_type), tool_key(cache_type, query), query.strip()
        if not self.policy.read:
            return Miss("not looked up")
        outcome: Hit[Any] | Stale[Any] | Miss = self._found_whole(TOOLS, key, text, Any)
        return outcome if isinstance(outcome, Hit) else self._like(name, key, text) or outcome

    def put_tool(
        self,
        cache_type: str,
        query: str,
        data: object,
        *,
        params: Mapping[str, Any] | None = None,
        ttl_hours: float | None = None,
        created_by: str | None = None,
    ) -> ToolEntry:
        """Keep what a tool brought, any JSON value, in place of what is there; return how it is kept.

        It lives for `ttl_hours`, else as long as the setting says for its type. `params` (a JSON object) are kept with
        it, and `created_by` says who stored it.

        Raises:
            InvalidInput: an unusable type, query or lifetime; data or params that cannot be kept (see `encoded`), or
                nothing: null, an empty list, object or text; a cache that is not written.
            StoreError: the store cannot take it.
        """
        name, key, text = checked_cache_type(cache_type), tool_key(cache_type, query), query.strip()
        ttl = self.tool_ttl(name, ttl_hours)
        payload = encoded(data)
        if is_empty(data):
            raise InvalidInput(f"nothing to store for {name}: the data is empty; store what was found")
        if not self.policy.write:
            raise InvalidInput("nothing was stored: this cache is only read (--no-cache, a replay, or a reader)")
        own = ToolColumns(name, _params(text, params), count_of(data), _user(created_by))
        return entry_of(self._put_tool(key, text, payload, ttl, own))

    def tool(
        self,
        cache_type: str,
        query: str,
        compute: Callable[[], Any],
        *,
        params: Mapping[str, Any] | None = None,
        ttl_hours: float | None = None,
        created_by: str | None = None,
        name: str = "",
    ) -> Answer[Any]:
        """Return what a tool brings for `query`, from the cache, else `compute()`, kept as `put_tool` keeps it.

        The answer is in its JSON form either way (see `json_form`); one that has none is returned as it is, not stored,
        with a warning that names the function (`name`). Of all who ask the same at the same time, in any thread or
        process, one computes. What is empty is returned, and not kept.

        Raises:
            InvalidInput: an unusable type, query or lifetime.
            OfflineMiss: it is not in the cache, and may not be computed.
            StoreError: the store cannot be read.
            Exception: whatever `compute` raises, unless an expired answer may be served (`Policy.stale_if_error`; see
                `is_failure`). If it fails in another process that this one waits for, a `SearchError`.
        """
        kind, key, text = checked_cache_type(cache_type), tool_key(cache_type, query), query.strip()
        ttl = self.tool_ttl(kind, ttl_hours)
        told = _params(text, params)

        def keep(value: Any, payload: bytes) -> None:
            if is_empty(value):
                self._tell_waiting(asked, {"code": NO_RESULTS, "value": value})
            else:
                self._put_tool(key, text, payload, ttl, ToolColumns(kind, told, count_of(value), _user(created_by)))

        asked: Asked[Any] = Asked(
            table=TOOLS,
            key=key,
            text=text,
            kind=Any,
            compute=compute,
            encode=partial(made, encode=partial(encoded, what="it")),
            keep=keep,
            failures=is_failure,
            like=partial(self._like, kind, key, text),
            name=name or kind,
            told_as=f"{TOOLS}:{key}",  # a search may well have the key of a tool's query
        )
        return self._kept(asked)

    def recent_tools(self, limit: int = 20, cache_type: str | None = None) -> list[ToolEntry]:
        """Return what was stored last, newest first, expired or not; of one type, if it is named.

        Raises:
            InvalidInput: an unusable type, or a `limit` that is not from 1 to `MAX_RECENT`.
            StoreError: the store cannot be read.
        """
        if type(limit) is not int or not 1 <= limit <= MAX_RECENT:
            raise InvalidInput(f"limit must be a whole number from 1 to {MAX_RECENT:,}")
        where = {} if cache_type is None else {"cache_type": checked_cache_type(cache_type)}
        return [entry_of(each) for each in self._store.listings.recent(TOOLS, self._tenant, limit, where=where)]

    def tool_entry(self, cache_type: str, query: str) -> ToolEntry | None:
        """Return how the very query is kept, expired or not, if it is.

        Raises:
            InvalidInput: an unusable type or query.
            StoreError: the store cannot be read.
        """
        entry = self._store.rows.get(TOOLS, self._tenant, tool_key(cache_type, query))
        return None if entry is None else entry_of(entry)

    def clear_tools(self, *, cache_type: str | None = None, created_by: str | None = None) -> int:
        """Delete what tools brought: all, or of one type, or what one user stored; return how many entries.

        Raises:
            InvalidInput: an unusable type.
            StoreError: the store cannot be written.
        """
        if cache_type is None and created_by is None:
            return self._store.admin.clear(TOOLS, self._tenant)
        fits = stored_by(cache_type, created_by)
        keys = [entry.key for entry in self._store.listings.scan(TOOLS, self._tenant) if fits(entry)]
        return self._store.rows.delete(TOOLS, self._tenant, keys)

    def tool_ttl(self, cache_type: str, ttl_hours: float | None = None) -> float:
        """Return the lifetime (seconds) of what is stored of a type now: `ttl_hours`, else as the setting says.

        Raises:
            InvalidInput: `ttl_hours` is not more than 0 and at most a century.
        """
        if ttl_hours is not None:
            return seconds_of(ttl_hours)
        hours = self.policy.tool_ttl_hours.get(checked_cache_type(cache_type))
        return float(DEFAULT_TTL) if hours is None else seconds_of(hours)

    def _like(self, cache_type: str, key: str, text: str) -> Hit[Any] | None:
        if self.semantics is None or not in_words(text):
            return None
        found = self._nearest(TOOLS, (cache_type,), text, _unfit)
        return None if found is None else self._meant(TOOLS, key, text, found, orjson.loads(found.entry.payload))

    def _put_tool(self, key: str, text: str, payload: bytes, ttl: float, own: ToolColumns) -> Entry:
        return self._put(
            TOOLS, key, text, payload, ttl, own, "", meant=in_words(text), exactly=True, stale_for=STALE_FOR
        )


def stored_by(cache_type: str | None, created_by: str | None) -> Callable[[Entry], bool]:
    """Return what says of a row whether it is of this type, and was stored by this user; `None` is any.

    Raises:
        InvalidInput: an unusable type.
    """
    name, user = None if cache_type is None else checked_cache_type(cache_type), _user(created_by)

    def fits(entry: Entry) -> bool:
        return (name is None or entry.own.cache_type == name) and (created_by is None or entry.own.created_by == user)

    return fits


def entry_of(entry: Entry) -> ToolEntry:
    """Tell a row of the table without its answer."""
    own: ToolColumns = entry.own
    try:
        told = msgspec.json.decode(own.query_params, type=dict[str, Any])
    except msgspec.MsgspecError:
        told = {}
    told.pop("query", None)
    times = (entry.created_at, entry.expires_at)
    return ToolEntry(entry.key, own.cache_type, entry.text, told, own.result_count, own.created_by, *times)


def _unfit(entry: Entry) -> str:
    if not in_words(entry.text):
        return "an address, or data: it answers to its very words only"
    try:
        orjson.loads(entry.payload)
    except ValueError:
        return UNREADABLE
    return ""


def _params(query: str, params: Mapping[str, Any] | None) -> str:
    return encoded({**(params or {}), "query": query}, "params", MAX_PARAMS_BYTES).decode()


def _user(created_by: str | None) -> str | None:
    return clean(created_by, MAX_USER) or None
