"""Lookup engine shared by all cached kinds: exact, semantic, single flight, stale if the live call fails."""

import logging
import time
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

import orjson
from msgspec import Struct, structs

from harness.cache.context import CacheContext
from harness.cache.failures import error_code_message
from harness.cache.json_form import MAX_PAYLOAD_BYTES, Made, Uncached
from harness.cache.json_values import is_empty
from harness.cache.lookup_request import MAX_SHOWN, UNREADABLE, LookupRequest
from harness.cache.search_results import MAX_TAUGHT_CHARS
from harness.cache.unanswered import Unanswered
from harness.cache.usage import FLUSH_AFTER, How, UsageCounts
from harness.core.entries import Entry, Found, Hit, Miss, Stale
from harness.core.freshness import HOUR, age_in_words, is_expired, is_volatile, jittered
from harness.core.origins import OWN
from harness.core.tables import BY_ORIGIN, SEARCHES, UNANSWERED
from harness.core.text import shorten
from harness.errors import AccessDenied, InvalidInput, OfflineMiss, StoreError

if TYPE_CHECKING:
    from harness.cache.semantic import Candidate

log = logging.getLogger(__name__)
T = TypeVar("T")

TOUCH_AFTER = HOUR
"""A hit updates a row's `last_used_at` only when that is older, so that lookups stay reads (compare relatime)."""
NOT_LOOKED_UP = Miss("not looked up")


class Answer(Struct, Generic[T], frozen=True, gc=False):
    """Value for the caller: `how` it was found, and the `outcome` of the lookup before.

    `own` says whether `value` is JSON made for this caller alone. Otherwise it is the object that a function returned
    and that could not be cached; all callers that asked at the same time share it.
    """

    value: T
    outcome: Hit[T] | Stale[T] | Miss
    how: How
    own: bool = True

    @property
    def age(self) -> float:
        """The seconds since the value was computed; 0 if it was now."""
        return 0.0 if self.how == "live" or isinstance(self.outcome, Miss) else self.outcome.age

    def copied(self) -> "Answer[T]":
        """Return this answer for another caller, who may change its value."""
        return structs.replace(self, value=deepcopy(self.value)) if self.own else self


class _Computed(Struct, frozen=True, gc=False):
    """Row of a live result, and the table that it belongs to."""

    table: str
    entry: Entry


class Lookup:
    """Lookup engine for one tenant of one store.

    `answer` tries, in this order: the row with the request's key; a remembered empty result; a row that means the same;
    one live call for all who ask at the same time, in any thread or process; and, if that fails, the expired row, where
    the policy allows it.
    """

    def __init__(self, context: CacheContext) -> None:
        self._context = context
        self._store = context.store
        self._tenant = context.tenant
        self._clock = context.clock
        self._policy = context.policy
        self._origin = context.origin
        self._semantics = context.semantics
        self._run = context.run
        self._recording = context.run.began is not None
        self._happened = context.tally.happened
        self._usage = UsageCounts(context)
        self._flights = context.flights
        self._unanswered = Unanswered(context)

    # Reading -----------------------------------------------------------------------------------------------------

    def answer(self, request: LookupRequest[T], compute: Callable[..., object]) -> Answer[T]:
        """Return the cached answer, else call `compute` with the request's arguments, and store what it returns.

        The value has been through the kind's encoding either way, so a hit equals the miss that stored it. If it cannot
        be stored (a full disk, too many bytes), it is returned all the same, with an error in the log.

        Raises:
            StoreError: the store cannot be read.
            OfflineMiss: the cache has no answer, and may not compute one.
            Exception: whatever `compute` raises; nothing is stored then. If it fails in another process that this one
                waits for, its `SearchError`.
        """
        outcome: Hit[T] | Stale[T] | Miss = NOT_LOOKED_UP
        if self._policy.read:
            outcome = self._exact(request)
            if type(outcome) is Hit:  # see `_outcome`
                return Answer(outcome.value, outcome, "exact")
            if other := self._known_empty(request) or self._semantic(request):
                return Answer(other.value, other, other.found)
        if self._policy.offline:
            return self._stale(request, outcome, None)
        try:
            return self.live(request, compute, outcome)
        except Exception as error:
            if not request.may_serve_stale(error):
                raise
            self._note_failure(request, error, outcome)
            return self._stale(request, outcome, error)

    def find(self, request: LookupRequest[T]) -> Hit[T] | Stale[T] | Miss:
        """Look up exactly, then by meaning; compute nothing.

        Raises:
            StoreError: the store cannot be read.
        """
        if not self._policy.read:
            return structs.replace(NOT_LOOKED_UP, key=request.key)
        outcome = self._exact(request)
        return outcome if type(outcome) is Hit else self._semantic(request) or outcome

    def peek(self, request: LookupRequest[T]) -> Hit[T] | Stale[T] | Miss:
        """Look up exactly, and leave no trace: nothing is counted, recorded or logged.

        Raises:
            StoreError: the store cannot be read.
        """
        return self._outcome(request, self._store.rows.get(request.table, self._tenant, request.key), self._clock())

    def _exact(self, request: LookupRequest[T]) -> Hit[T] | Stale[T] | Miss:
        entry = self._store.rows.get(request.table, self._tenant, request.key)
        now = self._clock()
        outcome = self._outcome(request, entry, now)
        if entry is not None and type(outcome) is Hit:
            if log.isEnabledFor(logging.INFO):  # this is the path of every hit
                log.info("hit %r", request.text)
            self._used(request, entry, "exact", now)
        elif isinstance(outcome, Miss):
            if outcome.reason == UNREADABLE:
                log.warning("the cached answer for %r is unreadable; it will be replaced", request.text)
            log.info("miss %r (%s)", request.text, outcome.reason)
        else:
            log.info("stale %r", request.text)
        return outcome

    def _outcome(self, request: LookupRequest[T], entry: Entry | None, now: float) -> Hit[T] | Stale[T] | Miss:
        if entry is None:
            return Miss("unknown", request.key)
        value = request.decode(entry)
        if type(value) is Miss:  # isinstance takes 0.25 µs of a hit's 13
            return Miss(value.reason, request.key)
        origin = request.origin(entry)
        age = now - entry.created_at if now > entry.created_at else 0.0  # a clock may have been set back
        if is_expired(entry.expires_at, now, entry.created_at):
            late = max(0.0, now - entry.expires_at)
            return Stale(value, entry.text, age, late, entry.key, entry.expires_at, origin, entry.payload)
        return Hit(value, "exact", entry.text, 1.0, age, None, entry.key, entry.expires_at, origin, entry.payload)

    def _known_empty(self, request: LookupRequest[T]) -> Hit[T] | None:
        """Return an empty result of a short while ago. In a replay, raise the error that was recorded."""
        key, _ = request.unanswered_row
        if request.remembers_empty:
            entry = self._unanswered.remembered_empty(key)
            if entry is not None:
                self._note(request, entry.key, "no results", entry.payload, UNANSWERED)
                return self._hit(request, entry, request.empty_value({}), "no results")
        self._unanswered.raise_recorded(key)
        return None

    def candidate(self, request: LookupRequest[T]) -> "Candidate | None":
        """Return the row that answers by meaning, if any; leave no trace.

        Raises:
            StoreError: the store cannot be read.
        """
        if self._semantics is None or request.scope is None:
            return None
        ttl, began = self._policy.volatile_ttl, self._run.began
        return self._semantics.find(request, self._clock(), volatile_ttl=ttl, before=began)

    def _semantic(self, request: LookupRequest[T]) -> Hit[T] | None:
        candidate = self.candidate(request)
        if candidate is None:
            return None
        entry, decision = candidate.entry, candidate.decision
        value = request.decode(entry)
        assert not isinstance(value, Miss)  # noqa: S101 - `refusal` has checked it
        log.info("hit %r by meaning: %r (%.2f) %s", request.text, entry.text, decision.similarity, candidate.reason)
        # another process may have stored this key since the exact lookup
        found: Found = "semantic" if entry.key != request.key else "exact"
        self._used(request, entry, found, self._clock())
        return structs.replace(
            self._hit(request, entry, value, found),
            similarity=decision.similarity,
            probability=decision.probability,
            reason=candidate.reason,
        )

    def _hit(self, request: LookupRequest[T], entry: Entry, value: T, found: Found) -> Hit[T]:
        age = max(0.0, self._clock() - entry.created_at)
        key, origin = (request.key, None) if found == "no results" else (entry.key, request.origin(entry))
        return Hit(value, found, entry.text, 1.0, age, None, key, entry.expires_at, origin, entry.payload)

    def _stale(
        self, request: LookupRequest[T], outcome: Hit[T] | Stale[T] | Miss, error: Exception | None
    ) -> Answer[T]:
        """Return the expired answer, if the policy allows it (RFC 5861).

        Raises:
            Exception: `error`, if it does not.
            OfflineMiss, AccessDenied: likewise, without an error; see `Policy`.
        """
        window = self._policy.stale_if_error
        if isinstance(outcome, Stale) and 0 < window >= outcome.expired_for:
            reason, age = error or "offline", age_in_words(outcome.age)
            log.warning("%r: %s; serving the expired answer (%s)", request.text, reason, age)
            self._note(request, request.key, "stale", outcome.payload)
            return Answer(outcome.value, outcome, "stale")
        if error is not None:
            raise error
        expired = isinstance(outcome, Stale)
        state = f"its answer expired {age_in_words(outcome.expired_for)}" if expired else "nothing is cached"  # type: ignore[union-attr]
        missing = f"{state} for {shorten(request.text, MAX_SHOWN)!r}"
        if self._policy.denied:
            raise AccessDenied(f"{missing}, and a live call needs a token of the role writer; ask an admin for one")
        advice = "replay a snapshot that holds it" if self._policy.replay else "run it once online"
        raise OfflineMiss(f"offline, and {missing}; {advice}")

    # Computing ---------------------------------------------------------------------------------------------------

    def live(
        self, request: LookupRequest[T], compute: Callable[..., object], outcome: Hit[T] | Stale[T] | Miss
    ) -> Answer[T]:
        """Compute an answer, once for all who ask at the same time, and store it. `outcome` is that of the lookup.

        Raises:
            StoreError: the store cannot be read.
            Exception: whatever `compute` raises, here or in the process that this one waits for.
        """
        work = partial(self._compute, request, compute)
        if self._policy.write:
            meanwhile = partial(self._stored_meanwhile, request, self._clock())
            computed, mine = self._flights.run(f"{self._tenant} {request.flight}", meanwhile, work)
        else:
            computed, mine = work(), True
        if isinstance(computed, Uncached):
            how: How = "live" if mine else "exact"
            self._note(request, "", how, b"", why=_why_missed(outcome))
            return Answer(computed.value, outcome, how, own=False)
        entry = computed.entry
        empty = computed.table == UNANSWERED
        value = request.empty_value(orjson.loads(entry.payload)) if empty else request.decode(entry)
        assert not isinstance(value, Miss)  # noqa: S101 - it was stored for this request
        found: Found = "no results" if empty else "exact"
        served = request.key if self._policy.write else ""
        how = "live" if mine else found
        self._note(request, served, how, entry.payload, computed.table, why=_why_missed(outcome))
        if mine:
            return Answer(value, outcome, "live")
        log.info("hit %r, computed meanwhile", request.text)
        return Answer(value, self._hit(request, entry, value, found), found)

    def _compute(self, request: LookupRequest[T], compute: Callable[..., object]) -> _Computed | Uncached:
        try:
            made = request.encode(compute(*request.arguments))
        except Exception as error:
            if request.may_share(error):
                subject = request.subject or repr(shorten(request.text, MAX_SHOWN))
                self._unanswered.put(request, error_code_message(error, subject))
            raise
        if isinstance(made, Uncached):
            message = f"a result of {request.function} is returned but not cached: {made.reason}"
            self._context.log_once(logging.WARNING, request.function, message)
            return made
        if is_empty(made.value):
            return _Computed(UNANSWERED, self._unanswered.put_empty(request, made.value))
        return _Computed(request.table, self._stored(request, made))

    def _stored_meanwhile(self, request: LookupRequest[T], started: float) -> _Computed | None:
        """Return the row that another process stored since `started`; raise the error that it met.

        Where nothing is read from the cache, only a row counts that was stored since this lookup, or the run, began.
        """
        entry = self._store.rows.get(request.table, self._tenant, request.key)
        if entry is not None and not is_expired(entry.expires_at, self._clock(), entry.created_at):
            run = self._run
            since = run.began if run.resumed and run.began is not None else started
            if self._policy.read or entry.created_at >= since:
                return None if isinstance(request.decode(entry), Miss) else _Computed(request.table, entry)
        empty = self._unanswered.since(request, started)
        return None if empty is None else _Computed(UNANSWERED, empty)

    # Writing -----------------------------------------------------------------------------------------------------

    def _stored(self, request: LookupRequest[T], made: Made) -> Entry:
        if self._policy.write:
            try:
                return self.put(request, made.value, made.payload)
            except (StoreError, InvalidInput) as error:  # the disk is full, or there are too many bytes
                self._context.log_once(logging.ERROR, str(error), f"an answer is not cached: {error}")
        now = self._clock()
        return Entry(request.key, request.text, made.payload, now, now + request.ttl, now, request.columns(made.value))

    def put(self, request: LookupRequest[T], value: T, payload: bytes) -> Entry:
        """Store a value and its bytes, with a vector if it may answer by meaning; return the row.

        Raises:
            InvalidInput: too many bytes.
            StoreError: the store cannot take it.
        """
        if len(payload) > MAX_PAYLOAD_BYTES:
            raise InvalidInput(f"{len(payload):,} bytes are too much for one entry; at most {MAX_PAYLOAD_BYTES:,}")
        now, policy, ttl, text = self._clock(), self._policy, request.ttl, request.text
        has_meaning = request.scope is not None
        if not request.exact_ttl:
            if has_meaning and is_volatile(text, time.gmtime(now).tm_year):
                ttl = min(ttl, policy.volatile_ttl)
            ttl = jittered(ttl, policy.jitter, request.key) if policy.jitter else ttl
        embedding: bytes | None = None
        embedder: str | None = None
        teaches: tuple[tuple[str, str], ...] = ()
        if self._semantics is not None:
            from harness.core.abbreviations import find_abbreviations

            teaches = tuple(find_abbreviations(request.taught_text(value)[:MAX_TAUGHT_CHARS]))
            embedding = self._semantics.embedding(text, teaches) if has_meaning else None
            embedder = self._semantics.embedder.id if embedding else None
        own = request.columns(value)
        entry = Entry(request.key, text, payload, now, now + ttl, now, own, embedding, embedder, teaches)
        keep_stale = max(policy.stale_if_error, policy.keep_expired, request.keep_stale)
        self._store.rows.put(request.table, self._tenant, entry, sweep_before=now - keep_stale)
        self.mark_origin(request.table, request.key)
        log.debug("stored %r in %s", text, request.table)
        return entry

    def mark_origin(self, table: str, key: str) -> None:
        """Record the origin of a row, for history. Searches of a run belong to the run."""
        if table not in BY_ORIGIN:
            return
        origin = "run" if table == SEARCHES and self._recording and self._origin in OWN else self._origin
        try:
            if origin != "user" or self._store.usage.origins(table, self._tenant, [key]):
                self._store.usage.mark_origin(table, self._tenant, key, origin)
        except StoreError as error:
            log.debug("the origin of %s is not recorded: %s", key, error)

    # Usage -------------------------------------------------------------------------------------------------------

    def _used(self, request: LookupRequest[T], entry: Entry, how: How, now: float) -> None:
        if now - entry.last_used_at > TOUCH_AFTER:
            try:
                self._store.rows.touch(request.table, self._tenant, entry.key, now)
            except StoreError as error:  # a read-only or busy store still answers
                log.debug("the use of %s was not recorded: %s", entry.key, error)
        self._note(request, entry.key, how, entry.payload)

    def _note(
        self, request: LookupRequest[T], served: str, how: How, payload: bytes, table: str = "", why: str = ""
    ) -> None:
        """Count and record an answer from the row `served` of `table`, by default the request's; `why` is the reason
        of a live call.
        """
        self._happened.append((self._origin, how, request.table, request.source, why if how == "live" else served))
        if self._recording:
            self._run.add(table or request.table, request.key, served, how, payload)
        if len(self._happened) >= FLUSH_AFTER:
            self._usage.flush()

    def _note_failure(self, request: LookupRequest[T], error: Exception, outcome: Hit[T] | Stale[T] | Miss) -> None:
        self._happened.append((self._origin, "failed", request.table, request.source, _why_missed(outcome)))
        reason = error_code_message(error)
        self._run.add_failure(request.table, request.key, f"{reason['code']}: {reason['message']}")


def _why_missed(outcome: Hit[T] | Stale[T] | Miss) -> str:
    """Return why the outcome of an exact lookup led to a live call."""
    return outcome.reason if isinstance(outcome, Miss) else "expired"
