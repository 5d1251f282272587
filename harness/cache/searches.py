"""Searches: looked up exactly, then by meaning; else one live call for all who ask, and what comes of its failure."""

import copy
import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import orjson
from msgspec import Struct

from harness.cache.json_form import MAX_PAYLOAD_BYTES, Made, Uncached, made, too_much
from harness.cache.lookup import NO_RESULTS, UNREADABLE, Answer, Road, encode, is_failure, raise_told, told
from harness.cache.results import checked_max_results, encodable, is_results, text_of
from harness.cache.tables import SEARCHES, UNANSWERED
from harness.cache.usage import How
from harness.cache.values import is_empty
from harness.core.entries import Entry, Found, Hit, Miss, Stale
from harness.core.freshness import DEFAULT_TTL, checked_ttl, is_expired
from harness.core.keys import DEFAULT_ENGINE, canonical_json, search_key
from harness.core.tables import SearchColumns, UnansweredColumns
from harness.errors import (
    InvalidInput,
    SearchError,
    StoreError,
)

log = logging.getLogger(__name__)

DEFAULT_MAX_RESULTS = 10
FAILURE_SECONDS = 30.0
"""How long a failure, or an empty answer, is kept for those in other processes that wait for it."""

SearchFunction = Callable[[str, int], Iterable[Mapping[str, Any]]]
Results = list[dict[str, Any]]

_NO_RESULTS = {"code": NO_RESULTS}


class Question(Struct, frozen=True):
    """One search as it is asked: everything that decides which row answers it."""

    query: str
    key: str
    max_results: int
    engine: str
    options: str
    """Canonical JSON."""
    function: str = ""
    """The name of a script's function, whose result may be any JSON value; "" for an engine, whose results are a list
    of JSON objects."""

    @property
    def scope(self) -> tuple[str, str]:
        """What a row must share to answer by meaning."""
        return (self.engine, self.options)


class Searches(Road):
    """The cache of searches."""

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

        What is returned has been through the cache's encoding either way, so a hit equals the miss that made it. If the
        results cannot be kept (a full disk, too many bytes), they are returned all the same, with an error in the log.
        Of all who ask the same at the same time, in any process, one computes. In a run (see `recording`) only rows
        stored before it began answer by meaning.

        Raises:
            InvalidInput: an unusable query, `ttl` or `max_results`, or results that are not a list of JSON objects.
            StoreError: the store cannot be read.
            OfflineMiss: the cache has no answer, and may not compute one.
            Exception: whatever `compute` raises; nothing is stored then. If a search fails in another process that this
                one waits for, its `SearchError`.
        """
        wanted = checked_max_results(max_results)
        question = Question(query, search_key(query, engine, options), wanted, engine, _canonical(options))
        return self._answer(question, compute, checked_ttl(ttl))

    def call(
        self,
        query: str,
        compute: Callable[[str, int], object],
        *,
        name: str,
        ttl: float = DEFAULT_TTL,
        max_results: int = DEFAULT_MAX_RESULTS,
        engine: str = DEFAULT_ENGINE,
    ) -> Answer[Any]:
        """Answer `query` as `search` does, for a function of a script; `name` is its name in messages.

        Its result may be any value: it is stored and returned in its JSON form (see `json_form`). One that has none is
        returned as it is, not stored, with one warning for each function. An expired answer is served, where that is
        allowed, whichever exception the function fails with (see `is_failure`).

        Raises:
            InvalidInput: an unusable query, `ttl` or `max_results`.
            StoreError, OfflineMiss, Exception: see `search`.
        """
        wanted = checked_max_results(max_results)
        question = Question(query, search_key(query, engine), wanted, engine, "{}", name)
        return self._answer(question, compute, checked_ttl(ttl))

    def _answer(self, question: Question, compute: Callable[[str, int], Any], ttl: float) -> Answer[Any]:
        key, query = question.key, question.query
        outcome: Hit[Any] | Stale[Any] | Miss = Miss("not looked up")
        if self.policy.read:
            outcome = self._look_up(question)
            if type(outcome) is Hit:  # isinstance takes three times as long
                return Answer(outcome.value, outcome, "exact")
        if self.policy.read and (other := self._known_empty(question) or self._by_meaning(question)):
            self._audit(question, other, compute, ttl)
            return Answer(other.value, other, other.found)
        if self.policy.offline:
            late = self._late(SEARCHES, key, query, outcome, None)
            return Answer(late.value, late, "stale")
        try:
            return self._live(question, compute, ttl, outcome)
        except Exception as error:
            if not isinstance(error, SearchError) and not (question.function and is_failure(error)):
                raise
            self._failed(SEARCHES, key, error)
            late = self._late(SEARCHES, key, query, outcome, error)
            return Answer(late.value, late, "stale")

    def get_search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        engine: str = DEFAULT_ENGINE,
        options: Mapping[str, Any] | None = None,
        function: str = "",
    ) -> Hit[Any] | Stale[Any] | Miss:
        """Look a search up, exactly, then by meaning. A row that was asked for fewer results does not answer, nor one
        that is not a list of JSON objects, unless it is looked up for a script's `function`.

        Raises:
            InvalidInput: an unusable query or `max_results`.
            StoreError: the store cannot be read.
        """
        wanted = 0 if max_results is None else checked_max_results(max_results)
        question = Question(query, search_key(query, engine, options), wanted, engine, _canonical(options), function)
        outcome = self._look_up(question)
        return outcome if type(outcome) is Hit else self._by_meaning(question) or outcome

    def _look_up(self, question: Question) -> Hit[Any] | Stale[Any] | Miss:
        """Look a search up by its key."""
        entry = self._store.rows.get(SEARCHES, self._tenant, question.key)
        if entry is None:
            return self._missed(question.query, "unknown")
        results = self._results(entry, question.max_results, any_json=bool(question.function))
        if type(results) is Miss:  # see `_answer`
            return self._missed(question.query, results.reason)
        return self._found(SEARCHES, entry, question.key, question.query, results)

    def _results(self, entry: Entry, wanted: int, *, any_json: bool = False) -> Any:
        """Return what a row holds, at most `wanted` results (0: all of them), or the `Miss` that says why it cannot
        answer; a value that is not a list of JSON objects does so only where `any_json` may.
        """
        if entry.own.max_results < wanted:
            return Miss("fewer results than asked for")
        try:
            results = orjson.loads(entry.payload)
        except ValueError:
            return Miss(UNREADABLE)
        if is_empty(results):
            return Miss("stored without results")
        if not any_json and not is_results(results):
            return Miss("not a list of results")
        return _first(results, wanted) if wanted else results

    def _unfit(self, entry: Entry, wanted: int, *, any_json: bool = False) -> str:
        """Say why a row cannot answer, "" when it can."""
        results = self._results(entry, wanted, any_json=any_json)
        return results.reason if isinstance(results, Miss) else ""

    def _known_empty(self, question: Question) -> Hit[Results] | None:
        """Return the answer "no results" if the engine gave it a short while ago; replaying, raise what it raised."""
        entry = self._believed_empty(question.key)
        if entry is not None:
            self._note(UNANSWERED, question.key, entry.key, "no results", entry.payload)
            return Hit([], "no results", entry.text, 1.0, max(0.0, self._clock() - entry.created_at))
        self._raise_as_then(question.key)
        return None

    def _believed_empty(self, key: str) -> Entry | None:
        """Return the row that says "no results", if it is still believed; it is kept longer for those who wait."""
        entry = self._store.rows.get(UNANSWERED, self._tenant, key)
        if entry is None or orjson.loads(entry.payload) != _NO_RESULTS:
            return None
        believed = self._clock() - entry.created_at < self.policy.negative_ttl
        fresh = believed and not is_expired(entry.expires_at, self._clock(), entry.created_at)
        return entry if self.policy.replay or fresh else None

    def _by_meaning(self, question: Question) -> Hit[Any] | None:
        if self.semantics is None:
            return None

        any_json = bool(question.function)

        def unfit(entry: Entry) -> str:
            return self._unfit(entry, question.max_results, any_json=any_json)

        found = self._nearest(SEARCHES, question.scope, question.query, unfit)
        if found is None:
            return None
        results = self._results(found.entry, question.max_results, any_json=any_json)
        assert not isinstance(results, Miss)  # noqa: S101 - `unfit` has just said so
        return self._meant(SEARCHES, question.key, question.query, found, results)

    def _audit(self, question: Question, served: Hit[Results], compute: SearchFunction, ttl: float) -> None:
        """Have a hit by meaning checked by the live search, if chance wants that; not where nothing may be searched, or
        kept. An engine that is free is asked, too: what other results it brings is as good an evidence.
        """
        if self.auditor is None or served.found != "semantic" or self.policy.offline or not self.policy.write:
            return
        if not is_results(served.value):  # nothing that can be compared
            return
        if self.auditor.wants_one():
            from harness.core.audits import addresses

            mine = copy.copy(self)
            mine._uses = None  # noqa: SLF001 - same class; a run repeats with what it was served, not with this
            shown = addresses(served.value)  # now: what was served is the caller's, who may change it
            self.auditor.begin(partial(mine._audited, question, served, shown, compute, ttl))  # noqa: SLF001

    def _audited(
        self, question: Question, served: Hit[Results], shown: frozenset[str], compute: SearchFunction, ttl: float
    ) -> None:
        """Search as if nothing had answered by meaning, and keep what the results say of what was served.

        Raises:
            Exception: whatever `compute` raises.
            StoreError: what was found cannot be kept.
        """
        from harness.cache.audit import compared

        try:
            live = self._live(question, compute, ttl, Miss("audited")).value
        except SearchError as error:
            self._failed(SEARCHES, question.key, error)
            raise
        finally:
            self.flush()
        if is_results(live) and (audit := compared(question.query, served, shown, live, self._clock())) is not None:
            self._store.audits.put(self._tenant, audit)

    def _live(
        self, question: Question, compute: SearchFunction, ttl: float, outcome: Hit[Any] | Stale[Any] | Miss
    ) -> Answer[Any]:
        started = self._clock()
        work = partial(self._compute, question, compute, ttl)
        if self.policy.write:
            name = f"{self._tenant} {question.key} {question.max_results} {bool(question.function)}"
            payload, mine = self._once.run(name, partial(self._computed_meanwhile, question, started), work)
        else:
            payload, mine = work(), True
        if isinstance(payload, Uncached):
            how: How = "live" if mine else "exact"
            self._note(SEARCHES, question.key, "", how, b"")
            return Answer(payload.value, outcome, how, own=False)
        results = _first(orjson.loads(payload), question.max_results)
        if not self.policy.write:
            self._note(SEARCHES, question.key, "", "live", payload)
            return Answer(results, outcome, "live")
        nothing = is_empty(results)
        table, kept = (UNANSWERED, orjson.dumps(_NO_RESULTS)) if nothing else (SEARCHES, payload)
        self._note(table, question.key, question.key, "live" if mine else "no results" if nothing else "exact", kept)
        if mine:
            self._embed_some(SEARCHES)
            return Answer(results, outcome, "live")
        log.info("hit %r, computed meanwhile", question.query)
        found: Found = "no results" if nothing else "exact"
        return Answer(results, Hit(results, found, question.query, 1.0, 0.0), found)

    def _compute(self, question: Question, compute: SearchFunction, ttl: float) -> bytes | Uncached:
        try:
            result = _made(question, compute(question.query, question.max_results))
        except Exception as error:
            self._keep_unanswered(question, told(error), FAILURE_SECONDS)
            raise
        if isinstance(result, Uncached):
            self._warn_uncached(question.function, result.reason)
            return result
        if is_empty(result.value):
            reason = {**_NO_RESULTS, "value": result.value} if result.value != [] else _NO_RESULTS
            self._keep_unanswered(question, reason, max(self.policy.negative_ttl, FAILURE_SECONDS))
        elif self.policy.write:
            try:
                self._put_search(question, result.value, result.payload, ttl)
            except (StoreError, InvalidInput) as error:  # the disk is full, or they are too many bytes
                self._say_once(f"results are not cached: {error}")
        return result.payload

    def _computed_meanwhile(self, question: Question, started: float) -> "bytes | Uncached | None":
        """Return what somebody else has stored since this look-up began; raise what they failed with."""
        now = self._clock()
        entry = self._store.rows.get(SEARCHES, self._tenant, question.key)
        if (
            entry is not None
            and not is_expired(entry.expires_at, now, entry.created_at)
            and (self.policy.read or self._answers_unread(entry, started))
        ):
            unfit = self._unfit(entry, question.max_results, any_json=bool(question.function))
            return None if unfit else entry.payload
        unanswered = self._store.rows.get(UNANSWERED, self._tenant, question.key)
        # of somebody who asked at the same time as this one, or it would not be waiting: not of an earlier failure
        if (
            unanswered is None
            or unanswered.created_at <= started
            or is_expired(unanswered.expires_at, now, unanswered.created_at)
        ):
            return None
        reason = orjson.loads(unanswered.payload)
        if reason["code"] != NO_RESULTS:
            raise_told(reason)
        return orjson.dumps(reason.get("value", []) if question.function else [])

    def _keep_unanswered(self, question: Question, reason: Mapping[str, str], ttl: float) -> None:
        if not self.policy.write:
            return
        now = self._clock()
        own = UnansweredColumns(question.engine, question.options)
        entry = Entry(question.key, question.query, orjson.dumps(reason), now, now + ttl, now, own)
        try:
            self._store.rows.put(UNANSWERED, self._tenant, entry, sweep_before=now)
        except StoreError as error:
            log.debug("not kept that %r was not answered: %s", question.query, error)

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
        found = encodable(results)
        key = search_key(query, engine, options)
        if not found:
            log.info("not stored, no results: %r", query)
            return False
        asked = max(DEFAULT_MAX_RESULTS, len(found)) if max_results is None else checked_max_results(max_results)
        self._put_search(Question(query, key, asked, engine, _canonical(options)), found, encode(found), ttl)
        return True

    def _put_search(self, question: Question, results: object, payload: bytes, ttl: float) -> None:
        own = SearchColumns(question.max_results, question.engine, question.options)
        self._put(SEARCHES, question.key, question.query, payload, ttl, own, text_of(results))


def _made(question: Question, result: Any) -> Made | Uncached:
    """Return the form of a result to store: of a list, as many results as were asked for."""
    wanted = question.max_results
    if not question.function:
        results = encodable(result)[:wanted]
        return Made(results, encode(results))
    found = made(result, lambda form: _bounded(encode(_first(form, wanted))))
    return Made(_first(found.value, wanted), found.payload) if isinstance(found, Made) else found


def _first(results: Any, wanted: int) -> Any:
    return results[:wanted] if isinstance(results, list) else results


def _bounded(payload: bytes) -> bytes:
    if len(payload) > MAX_PAYLOAD_BYTES:
        raise too_much("it", MAX_PAYLOAD_BYTES)
    return payload


def _canonical(options: Mapping[str, Any] | None) -> str:
    return canonical_json(options) if options else "{}"
