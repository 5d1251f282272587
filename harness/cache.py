"""`Cache`: what every cached thing goes through. Exact, then compute; one look-up, one outcome."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import orjson
from msgspec import Struct

from harness.core.entries import Entry, Hit, Miss, Stale, TableStats
from harness.core.freshness import DEFAULT_TTL, HOUR, checked_ttl, is_expired
from harness.core.keys import DEFAULT_ENGINE, canonical_json, research_key, search_key
from harness.errors import InvalidInput, StoreError
from harness.ports import Store

log = logging.getLogger(__name__)
T = TypeVar("T")

SEARCHES = "search_cache"
RESEARCH = "research_cache"
TABLES = (SEARCHES, RESEARCH)

DEFAULT_MAX_RESULTS = 10
MAX_RESULTS = 100
MAX_PAYLOAD_BYTES = 16 * 2**20
TOUCH_AFTER = HOUR
"""A hit notes its use only when the row's `last_used_at` is older, so that look-ups stay reads (cf. relatime)."""

SearchFunction = Callable[[str, int], Iterable[Mapping[str, Any]]]
Results = list[dict[str, Any]]


class Answer(Struct, Generic[T], frozen=True, gc=False):
    """What the caller gets, and how: `outcome` is the hit, or why it was computed."""

    value: T
    outcome: Hit[T] | Stale[T] | Miss


class ResearchContext(Struct, frozen=True):
    """A gathered context as the cache keeps it: text, the rounds that led to it, and how much each added."""

    context: str
    search_rounds: Any
    novelty_scores: list[float]


class Cache:
    """Exact cache of searches and researches in a `Store`, for one tenant.

    Look-ups never change what is stored, but for a note of use at most once an hour. Expired rows stay until the
    next write of their table sweeps them. Empty results are never stored.
    """

    def __init__(self, store: Store, *, tenant: str = "default", clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._tenant = tenant
        self._clock = clock
        self._said: set[str] = set()

    # Searches ----------------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        compute: SearchFunction,
        *,
        ttl: float = DEFAULT_TTL,
        max_results: int = DEFAULT_MAX_RESULTS,
        engine: str = DEFAULT_ENGINE,
        options: Mapping[str, Any] | None = None,
    ) -> Answer[Results]:
        """Answer `query` from the cache, else call `compute(query, max_results)` and keep what it returns.

        What is returned has been through the cache's encoding either way, so a hit equals the miss that made it.
        If the results cannot be kept (a full disk, too many bytes), they are returned all the same, with an error in
        the log.

        Raises:
            InvalidInput: an unusable query, `ttl` or `max_results`, or results that are not a list of JSON objects.
            StoreError: the store cannot be read.
            Exception: whatever `compute` raises; nothing is stored then.
        """
        checked_ttl(ttl)
        outcome = self._look_up(query, checked_max_results(max_results), engine, options)
        if type(outcome) is Hit:  # isinstance takes three times as long
            return Answer(outcome.value, outcome)
        results = _encodable(compute(query, max_results))[:max_results]
        payload = _encode(results)
        if results:
            try:
                self._put_search(query, payload, ttl, max_results, engine, options)
            except (StoreError, InvalidInput) as error:  # the disk is full, or they are too many bytes
                self._say_once(f"results are not cached: {error}")
        return Answer(orjson.loads(payload), outcome)

    def get_search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        engine: str = DEFAULT_ENGINE,
        options: Mapping[str, Any] | None = None,
    ) -> Hit[Results] | Stale[Results] | Miss:
        """Look a search up. A row that was asked for fewer results than `max_results` does not answer.

        Raises:
            InvalidInput: an unusable query or `max_results`.
            StoreError: the store cannot be read.
        """
        wanted = 0 if max_results is None else checked_max_results(max_results)
        return self._look_up(query, wanted, engine, options)

    def _look_up(
        self, query: str, wanted: int, engine: str, options: Mapping[str, Any] | None
    ) -> Hit[Results] | Stale[Results] | Miss:
        """Look a search up that is to bring `wanted` results; 0 takes whatever is there."""
        entry = self._store.get(SEARCHES, self._tenant, search_key(query, engine, options))
        if entry is None:
            return self._missed(query, "unknown")
        if entry.own[0] < wanted:  # own: max_results, engine, options
            return self._missed(query, "fewer results than asked for")
        try:
            results: Results = orjson.loads(entry.payload)
        except ValueError:
            return self._unreadable(query)
        if not results:
            return self._missed(query, "stored without results")
        if type(results) is not list or type(results[0]) is not dict:  # an older program's file may hold anything
            return self._unreadable(query)
        if wanted and len(results) > wanted:
            results = results[:wanted]
        return self._found(SEARCHES, entry, query, results)

    def put_search(
        self,
        query: str,
        results: Iterable[Mapping[str, Any]],
        *,
        ttl: float = DEFAULT_TTL,
        max_results: int | None = None,
        engine: str = DEFAULT_ENGINE,
        options: Mapping[str, Any] | None = None,
    ) -> bool:
        """Keep `results`; return whether they were stored: empty results are not.

        `max_results` is how many had been asked for: the default, or as many as there are, when not given.

        Raises:
            InvalidInput: an unusable query, `ttl` or results.
            StoreError: the store cannot take them.
        """
        checked_ttl(ttl)
        found = _encodable(results)
        if not found:
            search_key(query, engine, options)  # an unusable query is an error here too
            log.info("not stored, no results: %r", query)
            return False
        asked = max(DEFAULT_MAX_RESULTS, len(found)) if max_results is None else checked_max_results(max_results)
        self._put_search(query, _encode(found), ttl, asked, engine, options)
        return True

    def _put_search(
        self, query: str, payload: bytes, ttl: float, max_results: int, engine: str, options: Mapping[str, Any] | None
    ) -> None:
        own = (max_results, engine, canonical_json(options or {}))
        self._put(SEARCHES, search_key(query, engine, options), query, payload, ttl, own)

    # Researches --------------------------------------------------------------------------------------------------

    def get_research(
        self, task: str, task_type: str, *, fingerprint: str = ""
    ) -> Hit[ResearchContext] | Stale[ResearchContext] | Miss:
        """Look a gathered research up. `fingerprint` names what gathered it; another one is another research.

        Raises:
            InvalidInput: an unusable task.
            StoreError: the store cannot be read.
        """
        entry = self._store.get(RESEARCH, self._tenant, research_key(task, task_type, fingerprint))
        if entry is None:
            return self._missed(task, "unknown")
        try:
            context = entry.payload.decode()
            rounds, scores = map(orjson.loads, entry.own[:2])  # own: search_rounds, novelty_scores, …
        except ValueError:
            return self._unreadable(task)
        return self._found(RESEARCH, entry, task, ResearchContext(context, rounds, scores))

    def put_research(
        self,
        task: str,
        task_type: str,
        research: ResearchContext,
        *,
        ttl: float = DEFAULT_TTL,
        fingerprint: str = "",
    ) -> bool:
        """Keep a gathered research; return whether it was stored: one with an empty context is not.

        Raises:
            InvalidInput: an unusable task or `ttl`, a context that is no text, rounds or scores that are not JSON.
            StoreError: the store cannot take it.
        """
        checked_ttl(ttl)
        key = research_key(task, task_type, fingerprint)
        if not isinstance(research.context, str):
            raise InvalidInput(
                f"the context must be text, not {type(research.context).__name__}; encode it as JSON first"
            )
        if not research.context.strip():
            log.info("not stored, empty context: %r", task)
            return False
        rounds, scores = (_encode(each).decode() for each in (research.search_rounds, research.novelty_scores))
        own = (rounds, scores, task_type.lower(), fingerprint)
        self._put(RESEARCH, key, task, _utf8(research.context), ttl, own)
        return True

    # Maintenance -------------------------------------------------------------------------------------------------

    def stats(self) -> list[TableStats]:
        """Count what each table holds, for all tenants."""
        return [self._store.stats(table, self._clock()) for table in TABLES]

    def size(self) -> int:
        """Return the bytes that the database takes on disk."""
        return self._store.size()

    def clear(self) -> dict[str, int]:
        """Delete everything; return how many rows of each table."""
        return {table: self._store.clear(table) for table in TABLES}

    def sweep(self) -> dict[str, int]:
        """Delete what is expired; return how many rows of each table."""
        return {table: self._store.sweep(table, self._clock()) for table in TABLES}

    # One road for every kind ---------------------------------------------------------------------------------------

    def _found(self, table: str, entry: Entry, asked: str, value: T) -> Hit[T] | Stale[T]:
        now = self._clock()
        age = now - entry.created_at if now > entry.created_at else 0.0  # a clock may have been set back
        if is_expired(entry.expires_at, now):
            log.info("stale %r", asked)
            return Stale(value, entry.text, age, now - entry.expires_at)
        if now - entry.last_used_at > TOUCH_AFTER:
            self._touch(table, entry.key, now)
        if log.isEnabledFor(logging.INFO):  # asked first: this is the path of every hit
            log.info("hit %r", asked)
        return Hit(value, "exact", entry.text, 1.0, age)

    def _say_once(self, message: str) -> None:
        if message not in self._said:  # a full disk stays full: not a line for every search
            self._said.add(message)
            log.error(message)

    def _unreadable(self, asked: str) -> Miss:
        log.warning("what is cached for %r is unreadable; it will be replaced", asked)
        return self._missed(asked, "unreadable")

    def _missed(self, asked: str, reason: str) -> Miss:
        log.info("miss %r (%s)", asked, reason)
        return Miss(reason)

    def _touch(self, table: str, key: str, now: float) -> None:
        try:
            self._store.touch(table, self._tenant, key, now)
        except StoreError as error:  # a read-only or busy store still answers
            log.debug("the use of %s was not noted: %s", key, error)

    def _put(self, table: str, key: str, text: str, payload: bytes, ttl: float, own: tuple[Any, ...]) -> None:
        if len(payload) > MAX_PAYLOAD_BYTES:
            raise InvalidInput(f"{len(payload):,} bytes are too much for one entry; at most {MAX_PAYLOAD_BYTES:,}")
        now = self._clock()
        entry = Entry(key, text, payload, now, now + ttl, now, own)
        self._store.put(table, self._tenant, entry, sweep_before=now)
        log.debug("stored %r in %s", text, table)


def checked_max_results(max_results: int) -> int:
    """Return `max_results` if it is a whole number from 1 to `MAX_RESULTS`.

    Raises:
        InvalidInput: otherwise.
    """
    if type(max_results) is not int or not 1 <= max_results <= MAX_RESULTS:
        raise InvalidInput(f"max_results must be a whole number from 1 to {MAX_RESULTS}, not {max_results!r}")
    return max_results


def _encodable(results: Iterable[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    if isinstance(results, (str, bytes, Mapping)) or not isinstance(results, Iterable):
        raise InvalidInput(f"results must be a list of JSON objects, not {type(results).__name__}")
    found = list(results)
    if wrong := next((type(result).__name__ for result in found if not isinstance(result, Mapping)), None):
        raise InvalidInput(f"every result must be a JSON object (a dict), not {wrong}")
    return found


def _encode(value: object) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError as error:
        raise InvalidInput(f"not JSON: {error}; pass strings, numbers, lists and dicts with text keys") from error


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InvalidInput("the context contains a lone surrogate (broken Unicode); re-encode it") from None
