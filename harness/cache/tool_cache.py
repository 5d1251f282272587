"""Cached results of agents' tools, by cache type."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

import msgspec
import orjson
from msgspec import Struct, structs

from harness.cache.context import CachePart
from harness.cache.json_form import Made, Uncached, made
from harness.cache.json_values import count_of, encoded, is_empty
from harness.cache.lookup import Answer
from harness.cache.lookup_request import UNREADABLE, LookupRequest
from harness.core.entries import Entry, Hit, Miss, Stale
from harness.core.freshness import DAY, DEFAULT_TTL, seconds_of
from harness.core.keys import checked_cache_type, in_words, tool_key
from harness.core.tables import TOOLS, ToolColumns, UnansweredColumns
from harness.core.text import clean
from harness.errors import InvalidInput

STALE_FOR = 7 * DAY
"""Seconds after its expiry for which an entry is still found, as stale."""
MAX_PARAMS_BYTES = 100_000
MAX_RECENT = 1_000
MAX_USER = 200
"""Characters of the user who stored an entry."""


class ToolEntry(Struct, frozen=True):
    """One entry without its results. Times are seconds since the epoch.

    `count` is the number of results: the length of a list, 1 for anything else. `params` are the other arguments of the
    tool.
    """

    key: str
    cache_type: str
    query: str
    params: dict[str, Any]
    count: int
    created_by: str | None
    created_at: float
    expires_at: float


class ToolRequest(LookupRequest[Any], frozen=True, kw_only=True, gc=False):
    """One call of a tool. `params` is a JSON object, and `user` is who stores the results."""

    table: ClassVar[str] = TOOLS
    exact_ttl: ClassVar[bool] = True
    keep_stale: ClassVar[float] = STALE_FOR

    cache_type: str
    params: str = "{}"
    user: str | None = None

    @property
    def scope(self) -> tuple[str] | None:
        """The cache type; an address of the web, or a JSON object, has no meaning."""
        return (self.cache_type,) if in_words(self.text) else None

    def decode(self, entry: Entry) -> Any:
        """Return the results."""
        try:
            return orjson.loads(entry.payload)
        except ValueError:
            return Miss(UNREADABLE)

    def encode(self, value: Any) -> Made | Uncached:
        """Return the results in their JSON form, or as they are."""
        return made(value, partial(encoded, what="it"))

    def columns(self, value: Any) -> ToolColumns:
        """Return type, params, number of results and user."""
        return ToolColumns(self.cache_type, self.params, count_of(value), self.user)

    @property
    def source(self) -> str:
        """The cache type."""
        return self.cache_type

    def origin(self, entry: Entry) -> str | None:
        """Return the user who stored the row."""
        created_by: str | None = entry.own.created_by
        return created_by

    def refusal(self, entry: Entry) -> str:
        """Refuse rows about addresses and data, too."""
        if not in_words(entry.text):
            return "an address, or data: only the same text may answer"
        return LookupRequest.refusal(self, entry)

    @property
    def unanswered_row(self) -> tuple[str, UnansweredColumns]:
        """The key with its table: a search may have the same key."""
        return f"{TOOLS}:{self.key}", UnansweredColumns(TOOLS, "{}")


class ToolCache(CachePart):
    """Cached tool results of one tenant."""

    def find(self, cache_type: str, query: str) -> Hit[Any] | Stale[Any] | Miss:
        """Look up the results of a tool: exactly, then by meaning among fresh entries of the same type. An address of
        the web, or a JSON object, is only looked up exactly. An expired entry is found for `STALE_FOR` seconds.

        Raises:
            InvalidInput: an unusable type or query.
            StoreError: the store cannot be read.
        """
        return self._lookup.find(_request(cache_type, query))

    def put(
        self,
        cache_type: str,
        query: str,
        data: object,
        *,
        params: Mapping[str, Any] | None = None,
        ttl_hours: float | None = None,
        created_by: str | None = None,
    ) -> ToolEntry:
        """Store the results of a tool, any JSON value, in place of older ones; return the new entry.

        It lives for `ttl_hours`, by default as the setting says for its type. `params` (a JSON object) are stored with
        it, and `created_by` is the user who stores it.

        Raises:
            InvalidInput: an unusable type, query or lifetime; data or params that cannot be stored (see `encoded`), or
                empty data: null, an empty list, object or text; a cache that is not written.
            StoreError: the store cannot take it.
        """
        request = _request(cache_type, query)
        ttl = self.ttl(request.cache_type, ttl_hours)
        payload = encoded(data)
        if is_empty(data):
            raise InvalidInput(f"nothing to store for {request.cache_type}: the data is empty; store the results")
        if not self._policy.write:
            raise InvalidInput("nothing was stored: this cache is only read (--no-cache, a replay, or a reader)")
        request = structs.replace(request, ttl=ttl, params=_params(request.text, params), user=_user(created_by))
        return entry_of(self._lookup.put(request, data, payload))

    def answer(
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
        """Return the cached results of a tool, else those of `compute()`, stored as `put` stores them.

        The value is in its JSON form either way (see `json_form`). A value without one is returned as it is, not
        stored, with a warning that names the function (`name`). Of all who ask the same at the same time, in any thread
        or process, one computes. Empty results are returned, and not stored.

        Raises:
            InvalidInput: an unusable type, query or lifetime.
            OfflineMiss: it is not in the cache, and may not be computed.
            StoreError: the store cannot be read.
            Exception: whatever `compute` raises, unless an expired answer may be served (`Policy.stale_if_error`; see
                `is_failure`). If it fails in another process that this one waits for, a `SearchError`.
        """
        request = _request(cache_type, query)
        request = structs.replace(
            request,
            ttl=self.ttl(request.cache_type, ttl_hours),
            params=_params(request.text, params),
            user=_user(created_by),
            function=name or request.cache_type,
        )
        return self._lookup.answer(request, compute)

    def recent(self, limit: int = 20, cache_type: str | None = None) -> list[ToolEntry]:
        """Return the entries stored last, newest first, expired or not; of one type, if given.

        Raises:
            InvalidInput: an unusable type, or a `limit` that is not from 1 to `MAX_RECENT`.
            StoreError: the store cannot be read.
        """
        if type(limit) is not int or not 1 <= limit <= MAX_RECENT:
            raise InvalidInput(f"limit must be a whole number from 1 to {MAX_RECENT:,}")
        where = {} if cache_type is None else {"cache_type": checked_cache_type(cache_type)}
        return [entry_of(each) for each in self._store.listings.recent(TOOLS, self._tenant, limit, where=where)]

    def ttl(self, cache_type: str, ttl_hours: float | None = None) -> float:
        """Return the lifetime (seconds) of a new entry: `ttl_hours`, by default as the setting says for its type.

        Raises:
            InvalidInput: `ttl_hours` is not more than 0 and at most a century.
        """
        if ttl_hours is not None:
            return seconds_of(ttl_hours)
        hours = self._policy.tool_ttl_hours.get(checked_cache_type(cache_type))
        return float(DEFAULT_TTL) if hours is None else seconds_of(hours)


def stored_by(cache_type: str | None, created_by: str | None) -> Callable[[Entry], bool]:
    """Return a filter for rows of this type, stored by this user; `None` means any.

    Raises:
        InvalidInput: an unusable type.
    """
    name, user = None if cache_type is None else checked_cache_type(cache_type), _user(created_by)

    def fits(entry: Entry) -> bool:  # rows of other tables have other columns
        return (name is None or entry.own.cache_type == name) and (created_by is None or entry.own.created_by == user)

    return fits


def entry_of(entry: Entry) -> ToolEntry:
    """Return a row without its results."""
    columns: ToolColumns = entry.own
    cache_type, params, count, created_by = columns
    try:
        decoded = msgspec.json.decode(params, type=dict[str, Any])
    except msgspec.MsgspecError:
        decoded = {}
    decoded.pop("query", None)
    return ToolEntry(entry.key, cache_type, entry.text, decoded, count, created_by, entry.created_at, entry.expires_at)


def _request(cache_type: str, query: str) -> ToolRequest:
    """Return the request for a query, with the key and the text of its row."""
    key = tool_key(cache_type, query)
    return ToolRequest(key=key, text=query.strip(), ttl=DEFAULT_TTL, cache_type=checked_cache_type(cache_type))


def _params(query: str, params: Mapping[str, Any] | None) -> str:
    return encoded({**(params or {}), "query": query}, "params", MAX_PARAMS_BYTES).decode()


def _user(created_by: str | None) -> str | None:
    return clean(created_by, MAX_USER) or None
