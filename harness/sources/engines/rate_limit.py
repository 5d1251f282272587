"""Rate limit for the live calls of one engine, shared by all threads and processes that use the same folder.

A caller takes the next free turn, a time that may be in the future, and sleeps until then. So turns are first come,
first served, and the length of the queue is known before joining it. If a process dies, its turns pass unused.

The time of the last turn is in a one-row table of a small SQLite file per engine, read and written in one `BEGIN
IMMEDIATE` transaction. When an engine refuses a call, the row also holds the end of the pause.
"""

import logging
import math
import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from harness.core.keys import digest_of
from harness.errors import HarnessError, InvalidInput, RateLimited
from harness.ports import SearchEngine, SearchResult

log = logging.getLogger(__name__)

BACK_OFF = 2.0
MAX_BACK_OFF = 60.0
"""Seconds; also the longest pause that a damaged file can cause."""

MIN_PER_MINUTE = 0.01
MAX_PER_MINUTE = 60_000.0
MAX_WAIT = 3_600.0

_LOCK_SECONDS = 5.0
_SLEEP_SECONDS = 0.25
_CLOCK_STEP_MS = 1_000

# SQLITE_ERROR is an unknown table or column: the file was made by another program
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR})


class RateLimitedEngine:
    """`engine`, whose calls are at least 60 / `per_minute` seconds apart (no bursts) wherever `folder` is shared.

    No call starts before its turn; a call that the machine delays is closer to the next one.
    A turn more than `max_wait` seconds away is refused. When the engine raises `RateLimited`, all callers wait for a
    random part of 2, 4, 8 … seconds ("full jitter": AWS Architecture Blog, "Exponential Backoff And Jitter"), and the
    search is tried again, up to `retries` times.

    `folder` is on one machine: its processes share a clock and file locks. If it cannot be used, calls are spaced
    within this process only; no search fails for it. `clock` returns seconds since the epoch.

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
        """See `SearchEngine.search`; also raises `RateLimited` if the next turn is too far away."""
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
            while left > 0:  # in short sleeps: where Ctrl-C cannot end a sleep, it works between two
                seconds = min(left, _SLEEP_SECONDS)
                self._sleep(seconds)
                left -= seconds
            if self._queue.held_until() <= turn:
                return
            # another call was refused meanwhile: take a new turn, so that not all call at once after the pause


class _Schedule(NamedTuple):
    """The row of the file: when the last turn was taken, the time of that turn, and the end of the pause. Times are
    milliseconds since the epoch, 0 for none.
    """

    taken: int = 0
    turn: int = 0
    held: int = 0


class _Queue:
    """The turns of one engine. A connection lives for one transaction: a fork copies none, an interrupted call leaves
    none locked, and a deleted file is noticed.
    """

    def __init__(self, name: str, folder: Path, *, interval: int, clock: Callable[[], float]) -> None:
        safe = "".join(char if char.isascii() and char.isalnum() else "-" for char in name.lower())[:40]
        self._name = name
        self._path = folder / f"gate-{safe}-{digest_of(name)}.db"
        self._interval = interval + 1  # times are cut to milliseconds, so a call may come 1 ms after its turn
        self._clock = clock
        self._in_memory: dict[int, tuple[threading.Lock, list[_Schedule]]] = {}
        self._held = 0
        self._warned = False

    def now(self) -> int:
        """Return the time in milliseconds since the epoch."""
        return int(self._clock() * 1_000)

    def take(self, latest: int) -> int:
        """Take the next free turn and return its time. The caller may call then, unless there is a pause.

        Raises:
            RateLimited: the next turn is after `latest`; none was taken.
        """
        return self._update(lambda schedule: self._with_turn(schedule, latest)).turn

    def hold_back(self, seconds: float) -> None:
        """Start a pause of `seconds` for all callers; a longer pause stays."""
        log.info("%s asks for fewer requests; its searches are held back for %.1f s", self._name, seconds)
        until = self.now() + math.ceil(seconds * 1_000)
        self._held = max(until, self._pause(self._held))
        self._update(lambda schedule: schedule._replace(held=max(until, self._pause(schedule.held))))

    def held_until(self) -> int:
        """Return the end of the pause, 0 if there is none."""
        try:
            with closing(sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=ro", _LOCK_SECONDS, uri=True)) as file:
                schedule = self._read(file)
        except (OSError, sqlite3.Error):  # no turn was taken yet, or `take` warns of the file
            schedule = _Schedule()
        return max(self._pause(self._held), self._pause(schedule.held))

    # The next turn -------------------------------------------------------------------------------------------------

    def _with_turn(self, schedule: _Schedule, latest: int) -> _Schedule:
        now = self.now()
        free = max(now, self._pause(self._held), self._pause(schedule.held))
        if free > max(now, latest):  # a turn that is free now is never too late
            raise RateLimited(
                f"{self._name} asked for fewer requests and is left alone for another {(free - now) / 1_000:.0f} s; "
                "try again then"
            )
        last = 0 if schedule.taken > now + _CLOCK_STEP_MS else schedule.turn  # the clock was set back
        turn = max(free, last + self._interval)
        if free < turn and latest < turn:
            queued = math.ceil((last - now) / self._interval)
            searches = "1 search is" if queued == 1 else f"{queued} searches are"
            raise RateLimited(
                f"{searches} queued for {self._name}, and the next turn is {(turn - now) / 1_000:.0f} s away; "
                "raise searches_per_minute or try again later"
            )
        return schedule._replace(taken=now, turn=turn)

    def _pause(self, until: int) -> int:
        """Return `until` if it is the end of a pause, else 0: a time that has passed, or that no back-off reaches, as
        after the clock was set back.
        """
        now = self.now()
        return until if now < until <= now + MAX_BACK_OFF * 1_000 else 0

    # The file ------------------------------------------------------------------------------------------------------

    def _update(self, change: Callable[[_Schedule], _Schedule]) -> _Schedule:
        """Change the schedule in the file; if the file cannot be used, that of this process. Return the new one."""
        try:
            return self._update_file(change)
        except HarnessError:
            raise
        except Exception as error:  # noqa: BLE001 - no search fails for a problem with the file
            self._warn(error)
        lock, schedules = self._memory()
        with lock:
            schedules[:] = [change(schedules[0])]
            return schedules[0]

    def _update_file(self, change: Callable[[_Schedule], _Schedule]) -> _Schedule:
        try:
            return self._transact(change)
        except sqlite3.DatabaseError as error:
            # an error without a code is Python's own, for text that is not UTF-8
            if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF not in _DAMAGED:
                raise
            log.warning("%s is damaged (%s); started a new one, it holds nothing of value", self._path, error)
        for suffix in ("", "-journal", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        return self._transact(change)

    def _transact(self, change: Callable[[_Schedule], _Schedule]) -> _Schedule:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self._path, _LOCK_SECONDS, isolation_level=None)) as file:
            file.execute("PRAGMA synchronous = OFF")  # a power failure costs one interval
            file.execute("BEGIN IMMEDIATE")
            file.execute("CREATE TABLE IF NOT EXISTS schedule (id INTEGER PRIMARY KEY, taken, turn, held)")
            schedule = change(self._read(file))
            file.execute("INSERT OR REPLACE INTO schedule VALUES (1, ?, ?, ?)", schedule)
            file.execute("COMMIT")
            return schedule

    def _read(self, file: sqlite3.Connection) -> _Schedule:
        """Return the schedule in the file, without values that this module cannot have written."""
        row = file.execute("SELECT taken, turn, held FROM schedule WHERE id = 1").fetchone() or (0, 0, 0)
        taken, turn, held = (value if isinstance(value, int) else 0 for value in row)
        if not taken <= turn <= taken + MAX_WAIT * 1_000:
            taken = turn = 0
        return _Schedule(taken, turn, held)

    def _memory(self) -> tuple[threading.Lock, list[_Schedule]]:
        """Return the schedule of this process alone; a forked child gets its own, as the parent's lock may be taken."""
        return self._in_memory.setdefault(os.getpid(), (threading.Lock(), [_Schedule()]))

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
