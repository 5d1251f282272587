"""Cached searches, of engines and of functions in scripts."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import inf
from typing import Any, ClassVar

import orjson
from msgspec import structs

from harness.cache.context import CacheContext, CachePart
from harness.cache.explanation import Explanation, MissedSearch, nearest_before
from harness.cache.failures import is_failure
from harness.cache.json_form import MAX_PAYLOAD_BYTES, Made, Uncached, made, too_much
from harness.cache.json_values import is_empty
from harness.cache.lookup import Answer, Lookup
from harness.cache.lookup_request import UNREADABLE, LookupRequest, encoded_json
from harness.cache.search_results import checked_max_results, is_results, result_list, text_of, texts_of
from harness.cache.unanswered import Unanswered
from harness.cache.usage import RunUsage, UsageCounts
from harness.core.entries import Entry, Hit, Miss, Stale
from harness.core.freshness import DEFAULT_TTL, checked_ttl, is_volatile
from harness.core.keys import DEFAULT_ENGINE, canonical_json, search_key
from harness.core.origins import OWN
from harness.core.tables import SEARCHES, SearchColumns, UnansweredColumns
from harness.errors import SearchError

log = logging.getLogger(__name__)

DEFAULT_MAX_RESULTS = 10

Results = list[dict[str, Any]]


class SearchRequest(LookupRequest[Any], frozen=True, kw_only=True, gc=False):
    """One search. `max_results` 0 means any number; `options` are canonical JSON.

    With the name of a script's `function`, the result may be any JSON value; otherwise it is a list of JSON objects.
    """

    table: ClassVar[str] = SEARCHES
    remembers_empty: ClassVar[bool] = True
    shares_bugs: ClassVar[bool] = True
    subject: ClassVar[str] = "the search"

    max_results: int
    engine: str
    options: str

    @property
    def scope(self) -> tuple[str, str]:
        """Engine and options."""
        return (self.engine, self.options)

    def decode(self, entry: Entry) -> Any:
        """Return at most `max_results` results, or a `Miss`."""
        wanted = self.max_results
        if entry.own.max_results < wanted:
            return Miss("fewer results than asked for")
        try:
            results = orjson.loads(entry.payload)
        except ValueError:
            return Miss(UNREADABLE)
        if is_empty(results):
            return Miss("stored without results")
        if not self.function and not is_results(results):
            return Miss("not a list of results")
        return _first(results, wanted) if wanted else results

    def texts(self, entry: Entry) -> list[str]:
        """Return title and body of each result; none of a value that is no list of results."""
        value = self.decode(entry)
        return texts_of(value) if is_results(value) else []

    def encode(self, value: Any) -> Made | Uncached:
        """Return at most `max_results` results, and their JSON."""
        wanted = self.max_results
        if not self.function:
            results = result_list(value)[:wanted]
            return Made(results, encoded_json(results))
        form = made(value, lambda form: _bounded(encoded_json(_first(form, wanted))))
        return Made(_first(form.value, wanted), form.payload) if isinstance(form, Made) else form

    def columns(self, value: Any) -> tuple[Any, ...]:
        """Return the number asked for, engine and options."""
        return SearchColumns(self.max_results, self.engine, self.options)

    @property
    def source(self) -> str:
        """The engine."""
        return self.engine

    def origin(self, entry: Entry) -> str:
        """Return the engine."""
        return self.engine

    def taught_text(self, value: Any) -> str:
        """Return titles and bodies."""
        return text_of(value)

    def empty_value(self, reason: Mapping[str, Any]) -> Any:
        """Return an empty list, or the empty value of a script's function."""
        return reason.get("value", []) if self.function else []

    def may_serve_stale(self, error: Exception) -> bool:
        """Return whether the search failed; for a script's function, see `is_failure`."""
        return isinstance(error, SearchError) or bool(self.function and is_failure(error))

    @property
    def arguments(self) -> tuple[str, int]:
        """Query and number of results."""
        return self.text, self.max_results

    @property
    def flight(self) -> str:
        """Searches for another number of results do not wait for this one."""
        return f"{self.key} {self.max_results} {bool(self.function)}"

    @property
    def unanswered_row(self) -> tuple[str, UnansweredColumns]:
        """Key, engine and options."""
        return self.key, UnansweredColumns(*self.scope)


class SearchCache(CachePart):
    """Cached searches of one tenant."""

    def __init__(self, context: CacheContext, lookup: Lookup) -> None:
        super().__init__(context, lookup)
        self._missed: dict[tuple[str, float], MissedSearch] = {}

    def answer(
        self,
        query: str,
        compute: Callable[[str, int], object],
        *,
        ttl: float = DEFAULT_TTL,
        max_results: int = DEFAULT_MAX_RESULTS,
        engine: str = DEFAULT_ENGINE,
        options: Mapping[str, Any] | None = None,
        function: str = "",
    ) -> Answer[Any]:
        """Return the cached results of `query`, else those of `compute(query, max_results)`, which are then cached.

        Of all who ask the same at the same time, in any process, one computes. In a run (see `Cache.recording`) only
        rows stored before it began answer by meaning.

        Results are a list of JSON objects. With the name of a script's `function`, for messages, they may be any value:
        it is stored and returned in its JSON form (see `json_form`); without one, it is returned as it is, not stored,
        with one warning for each function. An expired answer is served then, where that is allowed, whichever exception
        the function fails with (see `is_failure`).

        Raises:
            InvalidInput: an unusable query, `ttl` or `max_results`, or results that are not a list of JSON objects.
            StoreError, OfflineMiss, Exception: see `Lookup.answer`.
        """
        wanted = checked_max_results(max_results)
        request = _request(query, wanted, engine, options, ttl=checked_ttl(ttl), function=function)
        answer = self._lookup.answer(request, compute)
        if answer.how == "semantic":
            self._maybe_audit(request, answer, compute)
        elif answer.how == "live" and answer.own and self._context.semantics is not None and self._context.policy.write:
            self._context.semantics.embed_some(SEARCHES)
        return answer

    def find(
        self,
        query: str,
        *,
        max_results: int | None = None,
        engine: str = DEFAULT_ENGINE,
        options: Mapping[str, Any] | None = None,
        function: str = "",
    ) -> Hit[Any] | Stale[Any] | Miss:
        """Look a search up, exactly, then by meaning. A row for fewer results does not answer, nor one that is not a
        list of JSON objects, unless a script's `function` is named.

        Raises:
            InvalidInput: an unusable query or `max_results`.
            StoreError: the store cannot be read.
        """
        wanted = 0 if max_results is None else checked_max_results(max_results)
        return self._lookup.find(_request(query, wanted, engine, options, function=function))

    def holds(
        self,
        query: str,
        *,
        max_results: int,
        engine: str,
        options: Mapping[str, Any] | None,
        by_meaning: bool = False,
    ) -> bool:
        """Return whether an exact hit, empty or not, would answer the search, or one `by_meaning`; leave no trace.

        Raises:
            InvalidInput: an unusable query or `max_results`.
            StoreError: the store cannot be read.
        """
        request, context = _request(query, checked_max_results(max_results), engine, options), self._context
        if not context.policy.read:
            return False
        exact = isinstance(self._explained_exact(request, context.clock()), Hit)
        return exact or (by_meaning and self._lookup.candidate(request) is not None)

    def put(
        self,
        query: str,
        results: Iterable[Mapping[str, Any]],
        *,
        ttl: float = DEFAULT_TTL,
        max_results: int | None = None,
        engine: str = DEFAULT_ENGINE,
        options: Mapping[str, Any] | None = None,
    ) -> bool:
        """Store `results`; return whether they were stored: empty results are not.

        `max_results` is the number that was asked for; by default 10, or as many as there are.

        Raises:
            InvalidInput: an unusable query, `ttl` or results.
            StoreError: the store cannot take them.
        """
        checked_ttl(ttl)
        found = result_list(results)
        asked = max(DEFAULT_MAX_RESULTS, len(found)) if max_results is None else checked_max_results(max_results)
        request = _request(query, asked, engine, options, ttl=ttl)
        if not found:
            log.info("not stored, no results: %r", query)
            return False
        self._lookup.put(request, found, encoded_json(found))
        return True

    def claim(self, key: str) -> None:
        """Record that a user or agent asked for the search with this key, which was stored for a run, an evaluation or
        an experiment: from now on it is in their history.

        Raises:
            StoreError: the store cannot be read.
        """
        context = self._context
        if (
            context.policy.write
            and context.origin in OWN
            and key in self._store.usage.origins(SEARCHES, self._tenant, [key])
        ):
            self._lookup.mark_origin(SEARCHES, key)

    def explain(
        self,
        query: str,
        *,
        max_results: int = DEFAULT_MAX_RESULTS,
        engine: str = DEFAULT_ENGINE,
        options: Mapping[str, Any] | None = None,
    ) -> Explanation:
        """Look `query` up as a search would, and return every candidate with its verdicts; change nothing.

        Raises:
            InvalidInput: an unusable query.
            StoreError: the store cannot be read.
        """
        request = _request(query, max_results, engine, options)
        context, now = self._context, self._context.clock()
        semantics = context.semantics
        volatile = is_volatile(query, time.gmtime(now).tm_year)
        exact = self._explained_exact(request, now)
        if semantics is None or isinstance(exact, Hit):
            return Explanation(query, request.key, exact, query, volatile, 0.0, ())
        meanings = semantics.meanings(query)
        judged = semantics.candidates_for(request, now, volatile_ttl=context.policy.volatile_ttl)
        # before the rule is read: a verifier that fails here changes it
        candidates = tuple({each.entry.key: each for each in judged}.values())
        expanded = meanings.expand(query) if meanings else query
        return Explanation(query, request.key, exact, expanded, volatile, semantics.rule.threshold, candidates)

    def _explained_exact(self, request: SearchRequest, now: float) -> Hit[Any] | Stale[Any] | Miss:
        exact = self._lookup.peek(request)
        if isinstance(exact, Hit) or (empty := Unanswered(self._context).remembered_empty(request.key)) is None:
            return exact
        age = max(0.0, now - empty.created_at)
        return Hit([], "no results", empty.text, 1.0, age, None, empty.key, empty.expires_at)

    def newest_misses(self, origins: Sequence[str], limit: int, seconds: float) -> Iterator[MissedSearch]:
        """Yield up to `limit` searches that went to an engine, the newest first, of rows with these origins. Comparing
        them with earlier ones takes `seconds` at most after the first; the remaining ones are left out.

        Raises:
            StoreError: the store cannot be read.
        """
        rows = self._store.listings.timeline(SEARCHES, self._tenant, limit=limit, origins=origins)
        known, self._missed, until = self._missed, {}, inf  # a page that is shown again compares nothing again
        for row in rows:
            at, own = row.created_at, row.own
            if (missed := known.get((row.key, at))) is None:
                if time.monotonic() > until:
                    return
                request = SearchRequest(key=row.key, text=row.text, ttl=0.0, **own._asdict())
                missed = MissedSearch(row.text, own.engine, at, nearest_before(self._context, request, at))
                until = min(until, time.monotonic() + seconds)
            self._missed[row.key, at] = missed
            yield missed

    # Audits ------------------------------------------------------------------------------------------------------

    def _maybe_audit(self, request: SearchRequest, served: Answer[Any], compute: Callable[..., Any]) -> None:
        """Check some semantic hits by a live search in the background, where searching and storing are allowed. Free
        engines are asked, too: other results of theirs are as good as evidence.
        """
        context, hit = self._context, served.outcome
        if context.auditor is None or not isinstance(hit, Hit) or context.policy.offline or not context.policy.write:
            return
        if is_results(hit.value) and context.auditor.wants_one():
            from harness.core.audits import addresses

            shown = addresses(hit.value)  # now: the caller may change the value
            context.auditor.begin(partial(self._audit, request, hit, shown, compute))

    def _audit(
        self, request: SearchRequest, served: Hit[Results], shown: frozenset[str], compute: Callable[..., Any]
    ) -> None:
        """Search live, compare the results with the hit, and store the outcome.

        Raises:
            Exception: whatever `compute` raises.
            StoreError: the outcome cannot be stored.
        """
        from harness.cache.audit import compared

        # the run records the answer that it was served, not this one
        context = structs.replace(self._context, run=RunUsage())
        try:
            live = Lookup(context).live(request, compute, Miss("audited", request.key)).value
        except SearchError:
            context.tally.happened.append((context.origin, "failed", SEARCHES, request.engine, "audited"))
            raise
        finally:
            UsageCounts(context).flush()
        if is_results(live) and (audit := compared(request.text, served, shown, live, context.clock())) is not None:
            self._store.audits.put(self._tenant, audit)


def _request(
    query: str,
    max_results: int,
    engine: str,
    options: Mapping[str, Any] | None,
    *,
    ttl: float = DEFAULT_TTL,
    function: str = "",
) -> SearchRequest:
    key = search_key(query, engine, options)
    canonical = canonical_json(options) if options else "{}"
    return SearchRequest(
        key=key, text=query, ttl=ttl, function=function, max_results=max_results, engine=engine, options=canonical
    )


def _first(results: Any, wanted: int) -> Any:
    return results[:wanted] if isinstance(results, list) else results


def _bounded(payload: bytes) -> bytes:
    if len(payload) > MAX_PAYLOAD_BYTES:
        raise too_much("it", MAX_PAYLOAD_BYTES)
    return payload
