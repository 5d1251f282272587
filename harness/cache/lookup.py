"""What every kind of cached thing has in common: found, kept, noted, counted."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

import orjson
from msgspec import Struct, structs

from harness.cache.json_form import MAX_PAYLOAD_BYTES, Uncached
from harness.cache.policy import Policy
from harness.cache.results import MAX_TAUGHT_CHARS
from harness.cache.semantic import Candidate, Semantics
from harness.cache.single_flight import Once
from harness.cache.tables import BY_ORIGIN, SEARCHES, UNANSWERED
from harness.cache.usage import How, Tally, Use, day_of
from harness.core.entries import Entry, Found, Hit, Miss, Stale
from harness.core.freshness import HOUR, age_in_words, is_expired, is_volatile, jittered
from harness.core.origins import OWN, RunOrigin
from harness.core.text import shorten
from harness.errors import (
    AccessDenied,
    EmbeddingError,
    HarnessError,
    InvalidInput,
    OfflineMiss,
    SearchError,
    StoreError,
)
from harness.ports import Store

if TYPE_CHECKING:  # it is made where hits are audited
    from harness.cache.audit import Auditor

log = logging.getLogger(__name__)
T = TypeVar("T")

TOUCH_AFTER = HOUR
"""A hit notes its use only when the row's `last_used_at` is older, so that look-ups stay reads (cf. relatime)."""
TALLY_EVERY = 2_000
EMBED_AT_ONCE = 8
"""Rows that a live call embeds besides its own: 40 ms beside a second or so."""
UNREADABLE = "unreadable"
NO_RESULTS = "no_results"
"""The code of a row that says that there are none."""
MAX_TOLD = 300
"""Characters of what was asked that a message repeats."""


class Answer(Struct, Generic[T], frozen=True, gc=False):
    """Answer for the caller: `how` says who answered, `outcome` how the look-up before ended.

    `own` says whether `value` is JSON made for this caller alone; otherwise it is the object that a function returned
    and that could not be cached, which all who asked at the same time get.
    """

    value: T
    outcome: Hit[T] | Stale[T] | Miss
    how: How
    own: bool = True

    def copied(self) -> "Answer[T]":
        """Return this answer for another caller, who may change its value."""
        return structs.replace(self, value=deepcopy(self.value)) if self.own else self


class Road:
    """The road that every kind takes through one `Store`, for one tenant; `auditor` checks some hits by meaning.
    `origin` says who uses it; counts and rows are kept with it.
    """

    def __init__(
        self,
        store: Store,
        *,
        semantics: Semantics | None = None,
        policy: Policy = Policy(),  # noqa: B008 - immutable
        auditor: "Auditor | None" = None,
        tenant: str = "default",
        clock: Callable[[], float] = time.time,
        origin: RunOrigin = "user",
    ) -> None:
        self.policy = policy
        self.origin: RunOrigin = origin
        self.semantics = semantics
        self.auditor = auditor
        self._store = store
        self._tenant = tenant
        self._clock = clock
        self._said: set[str] = set()
        self._embedded: set[str] = set()
        self._tally = Tally()
        self._happened = self._tally.happened
        self._once: Once[bytes | Uncached] = Once(store, policy.turn_wait)
        self._uses: list[Use] | None = None
        self.began: float | None = None
        """When the run began that this cache records (seconds since the epoch); `None` outside a run."""
        self._resumed = False
        self.tokens = 0
        """Tokens of all completions since `recording`, those from the cache too: a run that is repeated ends alike."""

    @property
    def tenant(self) -> str:
        """Whose rows this cache reads and writes."""
        return self._tenant

    @property
    def now(self) -> float:
        """The time by this cache's clock, in seconds since the epoch."""
        return self._clock()

    def flush(self) -> None:
        """Store what has been counted so far; nothing is lost where that fails but the counts."""
        counted = self._tally.take()
        if self.policy.write and counted:
            try:
                self._store.usage.add(self._tenant, day_of(self._clock()), counted, origin=self.origin)
            except StoreError as error:
                log.debug("uses were not counted: %s", error)

    def _answers_unread(self, entry: Entry, started: float) -> bool:
        """Say whether a row answers a call that began at `started` though nothing is to be read from the cache: it was
        stored meanwhile, or earlier by the same run.
        """
        return entry.created_at >= (self.began if self._resumed and self.began is not None else started)

    def _found(self, table: str, entry: Entry, key: str, asked: str, value: T) -> Hit[T] | Stale[T]:
        now = self._clock()
        age = now - entry.created_at if now > entry.created_at else 0.0  # a clock may have been set back
        if is_expired(entry.expires_at, now, entry.created_at):
            log.info("stale %r", asked)
            return Stale(value, entry.text, age, max(0.0, now - entry.expires_at))
        if now - entry.last_used_at > TOUCH_AFTER:
            self._touch(table, entry.key, now)
        if log.isEnabledFor(logging.INFO):  # asked first: this is the path of every hit
            log.info("hit %r", asked)
        self._happened.append("exact")
        if self._uses is not None or len(self._happened) >= TALLY_EVERY:  # asked here: a call takes 0.2 µs of 20
            self._record(table, key, entry.key, "exact", entry.payload)
        return Hit(value, "exact", entry.text, 1.0, age)

    def _nearest(
        self, table: str, scope: tuple[str, ...], asked: str, unfit: Callable[[Entry], str]
    ) -> Candidate | None:
        assert self.semantics is not None  # noqa: S101 - callers have asked
        return self.semantics.find(
            table, scope, asked, self._clock(), volatile_ttl=self.policy.volatile_ttl, before=self.began, unfit=unfit
        )

    def _meant(self, table: str, key: str, asked: str, found: Candidate, value: T) -> Hit[T]:
        entry, now = found.entry, self._clock()
        if now - entry.last_used_at > TOUCH_AFTER:
            self._touch(table, entry.key, now)
        log.info("hit %r by meaning: %r (%.2f)", asked, entry.text, found.decision.similarity)
        how: Found = "semantic" if entry.key != key else "exact"  # stored since the exact look-up, by somebody else
        self._note(table, key, entry.key, how, entry.payload)
        decision, age = found.decision, max(0.0, now - entry.created_at)
        return Hit(value, how, entry.text, decision.similarity, age, decision.probability)

    def _note(self, table: str, asked: str, served: str, how: How, payload: bytes) -> None:
        self._happened.append(how)
        self._record(table, asked, served, how, payload)

    def _record(self, table: str, asked: str, served: str, how: How, payload: bytes) -> None:
        if self._uses is not None:
            self._uses.append(Use(table, asked, served, how, sha256(payload).hexdigest()))
        if len(self._happened) >= TALLY_EVERY:
            self.flush()

    def _embed_some(self, table: str) -> None:
        """Embed a few rows of another model, or of a time before: in the background of use, until there are none."""
        if self.semantics is None or not self.policy.write or table in self._embedded:
            return
        try:
            if self.semantics.embed_missing(table, EMBED_AT_ONCE) < EMBED_AT_ONCE:
                self._embedded.add(table)
        except (EmbeddingError, StoreError) as error:
            self._embedded.add(table)
            log.debug("rows without a vector stay so: %s", error)

    def _say_once(self, message: str) -> None:
        if message not in self._said:  # a full disk stays full: not a line for every search
            self._said.add(message)
            log.error(message)

    def _warn_uncached(self, function: str, reason: str) -> None:
        """Warn that the results of a function are not cached; once for each function."""
        if function not in self._said:
            self._said.add(function)
            log.warning("a result of %s is returned but not cached: %s", function, reason)

    def _missed(self, asked: str, reason: str) -> Miss:
        if reason == UNREADABLE:
            log.warning("what is cached for %r is unreadable; it will be replaced", asked)
        log.info("miss %r (%s)", asked, reason)
        return Miss(reason)

    def _touch(self, table: str, key: str, now: float) -> None:
        try:
            self._store.rows.touch(table, self._tenant, key, now)
        except StoreError as error:  # a read-only or busy store still answers
            log.debug("the use of %s was not noted: %s", key, error)

    def _late(
        self, table: str, key: str, asked: str, outcome: Hit[T] | Stale[T] | Miss, error: Exception | None
    ) -> Stale[T]:
        """Serve the expired answer where what gives it fails, or is out of reach, and that is allowed (RFC 5861).

        Raises:
            Exception: `error`, when it may not be served, or there is none.
            OfflineMiss: likewise, offline.
        """
        if isinstance(outcome, Stale) and 0 < self.policy.stale_if_error >= outcome.expired_for:
            log.warning("%r: %s; serving the expired answer (%s)", asked, error or "offline", age_in_words(outcome.age))
            entry = self._store.rows.get(table, self._tenant, key)
            self._note(table, key, key, "stale", entry.payload if entry else b"")
            return outcome
        if error is not None:
            raise error
        what = (
            f"its answer expired {age_in_words(outcome.expired_for)}"
            if isinstance(outcome, Stale)
            else "nothing is cached"
        )
        advice = "replay a snapshot that holds it" if self.policy.replay else "run it once online"
        raise OfflineMiss(f"offline, and {what} for {shorten(asked, MAX_TOLD)!r}; {advice}")

    def _failed(self, table: str, key: str, error: Exception) -> None:
        self._happened.append("failed")
        if self._uses is not None:
            reason = told(error)
            self._uses.append(Use(table, key, "", "failed", error=f"{reason['code']}: {reason['message']}"))

    def _raise_as_then(self, key: str) -> None:
        """Replaying, raise what was raised at the time instead of an answer."""
        if self.policy.replay and (entry := self._store.rows.get(UNANSWERED, self._tenant, key)):
            reason = orjson.loads(entry.payload)
            if reason.get("code") != NO_RESULTS:
                raise_told(reason)

    def _put(
        self,
        table: str,
        key: str,
        text: str,
        payload: bytes,
        ttl: float,
        own: tuple[Any, ...],
        teaching: str,
        *,
        meant: bool = True,
        exactly: bool = False,
        stale_for: float = 0.0,
    ) -> Entry:
        """Keep a row, and return it; where it is `meant` to be found by meaning, with a vector of its text.

        Where it lives for `exactly` its `ttl`, that holds though its text speaks of now. Expired rows of the table are
        kept for `stale_for` seconds at least.
        """
        if len(payload) > MAX_PAYLOAD_BYTES:
            raise InvalidInput(f"{len(payload):,} bytes are too much for one entry; at most {MAX_PAYLOAD_BYTES:,}")
        now, policy = self._clock(), self.policy
        if meant and not exactly and is_volatile(text, time.gmtime(now).tm_year):
            ttl = min(ttl, policy.volatile_ttl)
        embedding: bytes | None = None
        embedder: str | None = None
        teaches: tuple[tuple[str, str], ...] = ()
        if self.semantics is not None:
            from harness.core.abbreviations import find_abbreviations

            teaches = tuple(find_abbreviations(teaching[:MAX_TAUGHT_CHARS]))
            embedding = self.semantics.embedding(text, teaches) if meant else None
            embedder = self.semantics.embedder.id if embedding else None
        expires_at = now + (jittered(ttl, policy.jitter, key) if policy.jitter and not exactly else ttl)
        entry = Entry(key, text, payload, now, expires_at, now, own, embedding, embedder, teaches)
        kept_for = max(policy.stale_if_error, policy.keep_expired, stale_for)
        self._store.rows.put(table, self._tenant, entry, sweep_before=now - kept_for)
        self._mark(table, key)
        log.debug("stored %r in %s", text, table)
        return entry

    def _mark(self, table: str, key: str) -> None:
        """Note who a row was stored for, where history asks. Searches of a run belong to the run."""
        if table not in BY_ORIGIN:
            return
        origin = "run" if table == SEARCHES and self.began is not None and self.origin in OWN else self.origin
        try:
            if origin != "user" or self._store.usage.origins(table, self._tenant, [key]):
                self._store.usage.mark_origin(table, self._tenant, key, origin)
        except StoreError as error:
            log.debug("who %s was stored for is not noted: %s", key, error)


_BUGS = (TypeError, AttributeError, NameError, ImportError, NotImplementedError, AssertionError, SyntaxError)
_OURS = (InvalidInput, OfflineMiss, StoreError, AccessDenied)


def is_failure(error: Exception) -> bool:
    """Say whether an exception of a function means that what it asks has failed, so that an expired answer may be
    served: not if the function or the call is wrong, or if the cache itself failed.
    """
    return not isinstance(error, (*_OURS, *_BUGS))


def told(error: Exception, what: str = "the search") -> dict[str, str]:
    """Tell an error of `what` so that another process can raise it."""
    if isinstance(error, HarnessError):
        code, message = error.code, str(error)
    else:
        code, message = SearchError.code, f"{what} failed in another process: {type(error).__name__}: {error}"
    return {"code": code, "message": message.encode(errors="replace").decode()}


def raise_told(reason: Mapping[str, str]) -> NoReturn:
    """Raise an error that was told."""
    known = {error.code: error for error in _every_error(HarnessError)}
    raise known.get(reason.get("code", ""), SearchError)(str(reason.get("message", "it failed")))


def _every_error(root: type[HarnessError]) -> Iterator[type[HarnessError]]:
    yield root
    for error in root.__subclasses__():
        yield from _every_error(error)


def encode(value: object) -> bytes:
    """Return `value` as JSON.

    Raises:
        InvalidInput: if it is not JSON.
    """
    try:
        return orjson.dumps(value)
    except TypeError as error:
        raise InvalidInput(f"not JSON: {error}; pass strings, numbers, lists and dicts with text keys") from error
