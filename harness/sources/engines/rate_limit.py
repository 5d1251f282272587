"""The engine gate: live calls of one engine keep their distance, in all threads and processes that share a folder.

Who wants to call takes the next free turn, a time that may lie ahead, and sleeps until then: so turns go first come,
first served, and how long the queue is shows before anybody joins it. A process that dies leaves its turns unused, and
they pass. The turns of the last interval and of the future are what a bucket of pyrate-limiter holds, in one small
SQLite file an engine. When an engine asks for fewer requests, a file beside it says until when nobody calls.

pyrate-limiter 4.5 is used with care:

- `SQLiteBucket.put` counts, then inserts, and lets another process do the same in between: eight of them got three
  times the rate. Its own `use_file_lock` keeps them apart, but waits without limit for a process that was stopped. So
  we hold a file lock of our own, with a time-out, around everything that is done to the file.
- `Limiter` starts a thread that clears old entries (`Leaker`), wakes all who wait at the same time, and notes a start
  as planned, not as it was, so that late ones bunch up. So we do without: the bucket decides, we sleep and clear.
"""

import logging
import math
import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.core.keys import digest_of
from harness.errors import HarnessError, InvalidInput, RateLimited
from harness.ports import SearchEngine, SearchResult

if TYPE_CHECKING:  # pyrate-limiter takes 0.1 s to import, and an exact hit has no turn to wait for
    from pyrate_limiter import Rate

log = logging.getLogger(__name__)

BACK_OFF = 2.0
MAX_BACK_OFF = 60.0
"""Seconds; also the longest time for which anything in the shared file can keep everybody from calling."""

MIN_PER_MINUTE = 0.01
MAX_PER_MINUTE = 60_000.0
MAX_WAIT = 3_600.0

_LOCK_SECONDS = 5.0
_LOCK_POLL_SECONDS = 0.01
_PIECE_SECONDS = 0.25
_CLOCK_STEP_MS = 1_000

# SQLITE_ERROR is a statement that the schema does not know: somebody else's tables, or none
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR})


class GatedEngine:
    """`engine`, whose calls get turns 60 / `per_minute` seconds apart (no bursts) wherever `folder` is shared.

    No call comes before its turn; one that the machine delays comes closer to the next.
    A turn that would come more than `max_wait` seconds from now is not waited for. When the engine raises
    `RateLimited`, everybody is held back for a random part of 2, 4, 8 … seconds ("full jitter": AWS Architecture Blog,
    "Exponential Backoff And Jitter"), and the search is tried again, up to `retries` times.

    `folder` belongs to one machine: its processes share a clock and file locks. One that cannot be used costs no
    search: calls are then spaced within this process only. `clock` gives seconds since the epoch.

    Raises:
        InvalidInput: `per_minute` is not from 0.01 to 60,000, or `max_wait` not from 0 to 3,600.
    """

    def __init__(
        self,
        engine: SearchEngine,
        folder: Path,
        *,
        per_minute: float,
        retries: int = 2,
        max_wait: float = 60.0,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], object] = time.sleep,
        random: Callable[[], float] = random.random,
    ) -> None:
        if not MIN_PER_MINUTE <= per_minute <= MAX_PER_MINUTE:
            raise InvalidInput(
                f"per_minute cannot be {per_minute}; give a number from {MIN_PER_MINUTE:g} to {MAX_PER_MINUTE:,g}"
            )
        if not 0 <= max_wait <= MAX_WAIT:
            raise InvalidInput(f"max_wait cannot be {max_wait}; give seconds from 0 to {MAX_WAIT:,g}")
        self.name = engine.name
        self.options: Mapping[str, Any] = engine.options
        self._engine = engine
        self._queue = _Queue(engine.name, folder, interval=math.ceil(60_000 / per_minute), clock=clock)
        self._retries = retries
        self._max_wait = max_wait
        self._sleep = sleep
        self._random = random

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`; it also raises `RateLimited` when the turn would come too late."""
        attempt = 0
        while True:
            self._wait_for_turn()
            try:
                return self._engine.search(query, max_results)
            except RateLimited:
                self._queue.hold_back(self._random() * min(MAX_BACK_OFF, BACK_OFF * 2.0 ** min(attempt, 10)))
                if attempt >= self._retries:
                    raise
                attempt += 1

    def _wait_for_turn(self) -> None:
        latest = self._queue.now() + round(self._max_wait * 1_000)
        while True:
            turn = self._queue.take(latest)
            left = (turn - self._queue.now()) / 1_000
            while left > 0:  # in pieces: a Ctrl-C comes through between them where it cannot end a sleep
                piece = min(left, _PIECE_SECONDS)
                self._sleep(piece)
                left -= piece
            if self._queue.held_until() <= turn:
                return
            # somebody was refused meanwhile: after the pause calls must not come all at once, so take a new turn


class _Queue:
    """The turns of one engine. Times are milliseconds since the epoch, as the library's are.

    A connection lives no longer than it takes to find a turn: so there is none that a fork could copy, an interrupted
    call leave locked, or a deleted file keep from being noticed.
    """

    def __init__(self, name: str, folder: Path, *, interval: int, clock: Callable[[], float]) -> None:
        safe = "".join(char if char.isascii() and char.isalnum() else "-" for char in name.lower())[:40]
        self._name = name
        self._path = folder / f"gate-{safe}-{digest_of(name)}.db"
        self._interval = interval
        self._clock = clock
        self._in_memory: dict[int, tuple[threading.Lock, Any]] = {}
        self._held = 0
        self._warned = False

    def now(self) -> int:
        """Return the time."""
        return int(self._clock() * 1_000)

    def take(self, latest: int) -> int:
        """Take the next free turn and return its time, at which the caller may call if nobody is held back then.

        Raises:
            RateLimited: the next turn comes after `latest`; none was taken.
        """
        try:
            with self._exclusive():
                return self._take_from_file(latest)
        except HarnessError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever is the matter with the file, no search is lost for it
            self._warn(error)
        lock, bucket = self._memory()
        with lock:
            return self._take_from(bucket, latest)

    def hold_back(self, seconds: float) -> None:
        """Let nobody call for `seconds`, or for longer where that is the case already."""
        log.info("%s asks for fewer requests; its searches are held back for %.1f s", self._name, seconds)
        until = self.now() + math.ceil(seconds * 1_000)
        self._held = max(until, self.held_until())
        try:
            with self._exclusive():
                new = self._beside(".until-new")
                new.write_text(str(max(until, self.held_until())))
                new.replace(self._beside(".until"))
        except Exception as error:  # noqa: BLE001 - see `take`
            self._warn(error)

    def held_until(self) -> int:
        """Return the time until which nobody may call, 0 if everybody may.

        A time further ahead than any back-off is noise, or was written before the clock was set back.
        """
        now = self.now()
        for until in sorted((self._held, self._shared_hold()), reverse=True):
            if now < until <= now + MAX_BACK_OFF * 1_000:
                return until
        return 0

    def _shared_hold(self) -> int:
        try:
            with self._beside(".until").open("rb") as file:
                return int(file.read(32))
        except (OSError, ValueError):  # nobody was refused yet, or noise; `take` tells of an unusable folder
            return 0

    # Turns -------------------------------------------------------------------------------------------------------

    def _take_from_file(self, latest: int) -> int:
        try:
            return self._take_from_database(latest)
        except sqlite3.DatabaseError as error:
            # an error without a code is Python's own, over text that is none
            if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF not in _DAMAGED:
                raise
            log.warning("%s is damaged (%s); started a new one, it holds nothing of value", self._path, error)
        for suffix in ("", "-journal", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        return self._take_from_database(latest)

    def _take_from_database(self, latest: int) -> int:
        from pyrate_limiter import SQLiteBucket

        with closing(SQLiteBucket.init_from_file([self._rate()], table="turns", db_path=str(self._path))) as bucket:
            bucket.conn.execute("PRAGMA synchronous = OFF")  # what a power failure takes is of the last minute
            return self._take_from(bucket, latest)

    def _take_from(self, bucket: Any, latest: int) -> int:
        """Put the next turn into `bucket`, which nobody else may use meanwhile; its name is when it was taken."""
        from pyrate_limiter import RateItem

        now = self.now()
        newest = bucket.peek(0)
        if newest is not None and _is_noise(newest, now):
            bucket.flush()
        bucket.leak(now)
        turn = RateItem(str(now), max(now, self.held_until()))
        if turn.timestamp > max(now, latest):  # a turn that is free now is never too late
            raise RateLimited(
                f"{self._name} asked for fewer requests and is left alone for another "
                f"{(turn.timestamp - now) / 1_000:.0f} s; try again then"
            )
        if not bucket.put(turn):
            turn.timestamp += bucket.waiting(turn)
            if turn.timestamp > latest:
                raise self._queue_too_long(bucket, now, turn.timestamp)
            bucket.put(turn)
        return turn.timestamp

    def _queue_too_long(self, bucket: Any, now: int, turn: int) -> RateLimited:
        queued = sum(bucket.peek(index).timestamp > now for index in range(bucket.count()))
        searches = "1 search is" if queued == 1 else f"{queued} searches are"
        return RateLimited(
            f"{searches} queued for {self._name}, and the next turn is {(turn - now) / 1_000:.0f} s away; "
            "raise searches_per_minute or try again later"
        )

    def _memory(self) -> tuple[threading.Lock, Any]:
        """Return the turns of this process alone; a forked child has its own, for the parent's lock may be taken."""
        from pyrate_limiter import InMemoryBucket

        process = os.getpid()
        if process not in self._in_memory:
            self._in_memory.setdefault(process, (threading.Lock(), InMemoryBucket([self._rate()])))
        return self._in_memory[process]

    def _rate(self) -> "Rate":
        from pyrate_limiter import Rate

        return Rate(1, self._interval)

    # Files -------------------------------------------------------------------------------------------------------

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        from filelock import FileLock

        self._path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self._beside(".lock"))
        with lock.acquire(timeout=_LOCK_SECONDS, poll_interval=_LOCK_POLL_SECONDS):
            yield

    def _beside(self, suffix: str) -> Path:
        return self._path.with_suffix(suffix)

    def _warn(self, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            log.warning(
                "searches of %s are spaced within this process only, as %s cannot be used (%s: %s); "
                "check permissions and free space",
                self._name,
                self._path,
                type(error).__name__,
                error,
            )


def _is_noise(newest: Any, now: int) -> bool:
    """Tell whether the last turn is one that nobody can have taken, or that was taken before the clock was set back."""
    try:
        taken = int(newest.name)
        return bool(taken > now + _CLOCK_STEP_MS or not taken <= newest.timestamp <= taken + MAX_WAIT * 1_000)
    except (TypeError, ValueError):
        return True
