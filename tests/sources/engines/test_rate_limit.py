"""The rate limit with a fake clock, then between real threads and processes.

Assertions about real time never say how soon a call starts, only that it does not start too soon: call number `n` (from
0) of all callers cannot start before `n` intervals have passed. That holds on a busy machine, too.
"""

import logging
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from harness.errors import EngineUnavailable, InvalidInput, RateLimited, SearchError
from harness.ports import SearchResult
from harness.sources.engines import rate_limit
from harness.sources.engines.rate_limit import MAX_BACK_OFF, RateLimitedEngine
from tests.fakes import FakeClock

RESULT = SearchResult(title="Title", href="https://example.org/", body="Body.")
INTERVAL = 0.1
EARLY = 0.02
"""Seconds by which two clocks of one machine may differ."""


class Engine:
    """Records when it is called; raises the `failures` one after the other, then answers."""

    def __init__(self, clock: Callable[[], float], failures: Sequence[SearchError] = (), name: str = "ddgs") -> None:
        self.name = name
        self.options: Mapping[str, Any] = {"region": "de-de"}
        self.calls: list[float] = []
        self._clock = clock
        self._failures = list(failures)

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`."""
        self.calls.append(self._clock())
        if self._failures:
            raise self._failures.pop(0)
        return [RESULT] * max_results


@pytest.fixture
def engine(clock: FakeClock) -> Engine:
    """Return an engine that answers."""
    return Engine(clock)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the shared folder; neither it nor its parent exists yet."""
    return tmp_path / "data" / "gates"


def gated(engine: Engine, folder: Path, clock: FakeClock, per_minute: float = 60, **settings: Any) -> RateLimitedEngine:
    """Return an engine whose sleeping moves `clock`, with the longest back-off."""
    faked: dict[str, Any] = {"clock": clock, "sleep": clock.advance, "random": lambda: 1.0}
    return RateLimitedEngine(engine, folder, per_minute=per_minute, **faked | settings)


def refused(times: int) -> list[SearchError]:
    """Return `times` refusals of an engine."""
    return [RateLimited(f"HTTP 429, number {number}") for number in range(1, times + 1)]


def gaps(times: Sequence[float]) -> list[float]:
    """Return the seconds between one time and the next."""
    return [after - before for before, after in pairwise(times)]


def the_file(folder: Path, suffix: str = ".db") -> Path:
    """Return the only file of that suffix."""
    [path] = folder.glob(f"*{suffix}")
    return path


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the logged warnings and errors."""
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


# --- the engine behind the limit


def test_a_gated_engine_has_the_name_and_options_of_its_engine(folder: Path, clock: FakeClock, engine: Engine) -> None:
    """A rate limit changes no key."""
    limited = gated(engine, folder, clock)
    assert (limited.name, limited.options) == ("ddgs", {"region": "de-de"})


def test_results_come_through(folder: Path, clock: FakeClock, engine: Engine) -> None:
    """The engine's results are returned unchanged."""
    assert gated(engine, folder, clock).search("q", 2) == [RESULT, RESULT]


@pytest.mark.parametrize("per_minute", [0, -1, 5e-324, float("nan"), float("inf"), 1e9])
def test_an_unusable_rate_is_refused(folder: Path, clock: FakeClock, engine: Engine, per_minute: float) -> None:
    """A rate without spacing, or with endless spacing, is a mistake."""
    with pytest.raises(InvalidInput, match="per_minute"):
        gated(engine, folder, clock, per_minute=per_minute)


@pytest.mark.parametrize("max_wait", [-1, float("nan"), float("inf")])
def test_an_unusable_longest_wait_is_refused(folder: Path, clock: FakeClock, engine: Engine, max_wait: float) -> None:
    """No caller waits without end."""
    with pytest.raises(InvalidInput, match="max_wait"):
        gated(engine, folder, clock, max_wait=max_wait)


# --- turns


def test_calls_are_spaced(folder: Path, clock: FakeClock, engine: Engine) -> None:
    """Sixty a minute is one a second, not sixty at once."""
    limited = gated(engine, folder, clock, per_minute=60)
    for _ in range(4):
        limited.search("q", 1)
    assert all(1.0 <= gap < 1.1 for gap in gaps(engine.calls))


def test_the_first_call_does_not_wait(folder: Path, clock: FakeClock, engine: Engine) -> None:
    """A turn that is free is taken at once."""
    before = clock()
    gated(engine, folder, clock, per_minute=1).search("q", 1)
    assert engine.calls == [before]


def test_a_pause_earns_no_burst(folder: Path, clock: FakeClock, engine: Engine) -> None:
    """After an hour without a call, calls are still spaced."""
    limited = gated(engine, folder, clock)
    for _ in range(2):
        clock.advance(3_600)
        limited.search("q", 1)
        limited.search("q", 1)
    assert all(gap >= 1.0 for gap in gaps(engine.calls))


def test_a_call_long_after_the_last_does_not_wait(folder: Path, clock: FakeClock, engine: Engine) -> None:
    """Only the rest of the interval is waited for."""
    limited = gated(engine, folder, clock)
    limited.search("q", 1)
    clock.advance(1.5)
    limited.search("q", 1)
    assert gaps(engine.calls) == [pytest.approx(1.5)]


def test_engines_with_one_folder_share_their_turns(folder: Path, clock: FakeClock, engine: Engine) -> None:
    """Three together call no more often than one."""
    gates = [gated(engine, folder, clock) for _ in range(3)]
    for limited in gates * 2:
        limited.search("q", 1)
    assert all(gap >= 1.0 for gap in gaps(engine.calls))


def test_engines_do_not_wait_for_each_other(folder: Path, clock: FakeClock) -> None:
    """Names have separate turns, even if they differ only in characters that a file name cannot have."""
    before = clock()
    for name in ("a:b", "a/b", "a-b"):
        gated(Engine(clock, name=name), folder, clock, per_minute=1).search("q", 1)
    assert clock() == before


@pytest.mark.parametrize("name", ["../../outside", "/etc/passwd", "C:\\x", "é" * 300, ".", ""])
def test_a_name_cannot_leave_the_folder(folder: Path, clock: FakeClock, name: str) -> None:
    """An engine's name is never a path."""
    gated(Engine(clock, refused(1), name), folder, clock).search("q", 1)
    made = [path for path in folder.parent.parent.rglob("*") if path.is_file()]
    assert made
    assert all(path.parent == folder and path.name.startswith("gate-") for path in made)


def test_the_file_does_not_grow(folder: Path, clock: FakeClock, engine: Engine) -> None:
    """Past turns are not stored."""
    limited = gated(engine, folder, clock)
    for _ in range(20):
        limited.search("q", 1)
    with closing(sqlite3.connect(the_file(folder))) as database:
        assert database.execute("SELECT count(*) FROM schedule").fetchone()[0] <= 2


# --- a queue that is too long


def test_a_turn_that_comes_too_late_is_not_waited_for(folder: Path, clock: FakeClock, engine: Engine) -> None:
    """No caller hangs in a long queue: the error says how long it is, and what to do."""
    limited = gated(engine, folder, clock, max_wait=10, sleep=lambda _: None)  # time stands still: every turn is queued
    for _ in range(10):
        limited.search("q", 1)
    with pytest.raises(RateLimited, match=r"^9 searches are queued for ddgs.* 10 s away; raise searches_per_minute"):
        limited.search("q", 1)
    assert len(engine.calls) == 10


def test_a_refused_caller_takes_no_turn(folder: Path, clock: FakeClock, engine: Engine) -> None:
    """Refused searches do not make the queue longer."""
    limited = gated(engine, folder, clock, max_wait=1.5, sleep=lambda _: None)
    for _ in range(10):
        with suppress(RateLimited):
            limited.search("q", 1)
    clock.advance(1.5)
    limited.search("q", 1)
    assert len(engine.calls) == 3


def test_with_no_wait_at_all_a_free_turn_is_taken(folder: Path, clock: FakeClock, engine: Engine) -> None:
    """`max_wait=0` means now or never."""
    limited = gated(engine, folder, clock, max_wait=0)
    limited.search("q", 1)
    with pytest.raises(RateLimited, match="next turn"):
        limited.search("q", 1)
    assert len(engine.calls) == 1


def test_time_that_goes_by_meanwhile_makes_no_turn_too_late(folder: Path, clock: FakeClock, engine: Engine) -> None:
    """Opening the file takes some milliseconds; a turn that is free after them is free."""

    def passing() -> float:
        clock.advance(0.005)
        return clock()

    RateLimitedEngine(engine, folder, per_minute=60, max_wait=0, clock=passing, sleep=clock.advance).search("q", 1)
    assert len(engine.calls) == 1


# --- an engine that asks for fewer requests


def test_a_refused_search_is_tried_again(folder: Path, clock: FakeClock) -> None:
    """After a pause, the search succeeds."""
    engine = Engine(clock, refused(1))
    assert gated(engine, folder, clock).search("q", 1) == [RESULT]
    assert gaps(engine.calls) == [pytest.approx(2.0)]


def test_the_pause_doubles_up_to_a_limit(folder: Path, clock: FakeClock) -> None:
    """An engine that refuses again and again is asked less and less often."""
    engine = Engine(clock, refused(7))
    gated(engine, folder, clock, retries=7).search("q", 1)
    assert gaps(engine.calls) == pytest.approx([2, 4, 8, 16, 32, MAX_BACK_OFF, MAX_BACK_OFF], abs=0.01)


def test_the_pause_is_random(folder: Path, clock: FakeClock) -> None:
    """With full jitter a pause is anything between none and the whole."""
    engine = Engine(clock, refused(2))
    gated(engine, folder, clock, per_minute=6_000, random=iter([0.25, 0.75]).__next__).search("q", 1)
    assert gaps(engine.calls) == pytest.approx([0.5, 3.0], abs=0.01)


def test_a_pause_is_never_shorter_than_the_interval(folder: Path, clock: FakeClock) -> None:
    """A search that is tried again waits for a turn like every other."""
    engine = Engine(clock, refused(1))
    gated(engine, folder, clock, random=lambda: 0.0).search("q", 1)
    assert gaps(engine.calls) == [pytest.approx(1.0, abs=0.01)]


def test_an_engine_that_always_refuses_is_an_error(folder: Path, clock: FakeClock) -> None:
    """After the last try, the engine's own error is raised."""
    engine = Engine(clock, refused(9))
    with pytest.raises(RateLimited, match="HTTP 429, number 3"):
        gated(engine, folder, clock, retries=2).search("q", 1)
    assert len(engine.calls) == 3


def test_an_engine_that_does_not_answer_is_not_called_again(folder: Path, clock: FakeClock) -> None:
    """The engine had its own time-out; no pause follows."""
    engine = Engine(clock, [EngineUnavailable("no answer")])
    limited = gated(engine, folder, clock)
    with pytest.raises(EngineUnavailable):
        limited.search("q", 1)
    limited.search("q", 1)
    assert gaps(engine.calls) == [pytest.approx(1.0, abs=0.01)]


def test_a_refusal_is_a_pause_for_all_callers(folder: Path, clock: FakeClock, engine: Engine) -> None:
    """Callers that were not refused wait, too, and then do not call all at once."""
    before = clock()
    with pytest.raises(RateLimited):
        gated(Engine(clock, refused(1)), folder, clock, retries=0).search("q", 1)
    for _ in range(3):
        gated(engine, folder, clock).search("q", 1)
    assert engine.calls[0] >= before + 2.0
    assert all(gap >= 1.0 for gap in gaps(engine.calls))


def test_a_pause_holds_for_callers_that_wait_already(folder: Path, clock: FakeClock, engine: Engine) -> None:
    """A refusal also counts for callers who took their turn before it."""
    other = gated(engine, folder, clock)

    def sleep(seconds: float) -> None:
        if not other._queue.held_until():
            other._queue.hold_back(20)
        clock.advance(seconds)

    limited = gated(engine, folder, clock, sleep=sleep)
    limited.search("q", 1)
    limited.search("q", 1)
    assert gaps(engine.calls)[0] >= 20


def test_a_shorter_pause_does_not_end_a_longer_one(folder: Path, clock: FakeClock, engine: Engine) -> None:
    """The pause that ends later counts."""
    before = clock()
    for seconds in (20, 5):
        gated(engine, folder, clock)._queue.hold_back(seconds)
    gated(engine, folder, clock).search("q", 1)
    assert engine.calls[0] >= before + 20


def test_a_pause_that_is_too_long_is_not_waited_for(folder: Path, clock: FakeClock, engine: Engine) -> None:
    """The error says that the engine refused, and when to try again."""
    gated(engine, folder, clock)._queue.hold_back(30)
    with pytest.raises(RateLimited, match=r"ddgs asked for fewer requests .* another 30 s"):
        gated(engine, folder, clock, max_wait=10).search("q", 1)
    clock.advance(30)
    gated(engine, folder, clock, max_wait=10).search("q", 1)
    assert len(engine.calls) == 1


@pytest.mark.parametrize("noise", [b"", "soon", "nan", float("inf"), 9e29, 2**62, -1, b"\xff\0", None])
def test_noise_as_the_end_of_a_pause_is_ignored(folder: Path, clock: FakeClock, engine: Engine, noise: object) -> None:
    """A value that is not a time, or that no back-off reaches, is ignored."""
    limited = gated(engine, folder, clock)
    limited._queue.hold_back(1)
    with closing(sqlite3.connect(the_file(folder))) as database, database:
        database.execute("UPDATE schedule SET held = ?", (noise,))
    before = clock()
    gated(engine, folder, clock).search("q", 1)
    assert engine.calls == [before]


def test_a_clock_set_back_does_not_prolong_a_pause(folder: Path, clock: FakeClock, engine: Engine) -> None:
    """No caller waits for the old clock's time to come again."""
    limited = gated(engine, folder, clock)
    limited._queue.hold_back(30)
    clock.advance(-86_400)
    before = clock()
    limited.search("q", 1)
    assert engine.calls == [before]


# --- files that are damaged, lost or out of reach


def spaced(calls: Sequence[float]) -> bool:
    """Return whether calls, one a second, were spaced and waited no longer than that."""
    return all(1.0 <= gap < 1.1 for gap in gaps(calls))


NOT_OURS = "CREATE TABLE schedule (x)"
FAR_AHEAD = "taken = 1700000000000, turn = 9999999999999999"
TAKEN_LATER = "taken = 9999999999999, turn = 9999999999999"
NAMELESS = "taken = 'who?', turn = 1700000000000"
TEXT = "taken = 1700000000000, turn = 'soon'"
NO_TEXT = "taken = CAST(X'FF' AS TEXT), turn = 1700000000000"
NOTHING = "taken = NULL, turn = NULL"


@pytest.mark.parametrize(
    "noise", [b"noise", b"SQLite format 3\0" + b"\xff" * 5_000, NOT_OURS], ids=["noise", "header", "not ours"]
)
def test_a_damaged_file_is_replaced(
    folder: Path, clock: FakeClock, engine: Engine, noise: bytes | str, caplog: pytest.LogCaptureFixture
) -> None:
    """The search is made, one line says what happened, and calls are spaced again."""
    gated(engine, folder, clock).search("q", 1)
    path = the_file(folder)
    if isinstance(noise, bytes):
        path.write_bytes(noise)
    else:
        path.unlink()
        with closing(sqlite3.connect(path)) as database:
            database.execute(noise)
    clock.advance(1.0)
    for _ in range(2):
        gated(engine, folder, clock).search("q", 1)
    assert spaced(engine.calls)
    assert [str(path) in line for line in warnings(caplog)] == [True]


@pytest.mark.parametrize("noise", [FAR_AHEAD, TAKEN_LATER, NAMELESS, TEXT, NO_TEXT, NOTHING])
def test_noise_as_a_turn_is_ignored(folder: Path, clock: FakeClock, engine: Engine, noise: str) -> None:
    """A turn that no caller can have taken is not waited for."""
    gated(engine, folder, clock).search("q", 1)
    with closing(sqlite3.connect(the_file(folder))) as database, database:
        database.execute(f"UPDATE schedule SET {noise}")
    clock.advance(1.1)
    gated(engine, folder, clock).search("q", 1)
    gated(engine, folder, clock).search("q", 1)
    assert len(engine.calls) == 3
    assert gaps(engine.calls) == [pytest.approx(1.1), pytest.approx(1.0, abs=0.01)]


def test_a_clock_set_back_does_not_block_turns(folder: Path, clock: FakeClock, engine: Engine) -> None:
    """Turns taken on the old clock are not a queue."""
    limited = gated(engine, folder, clock)
    limited.search("q", 1)
    clock.advance(-86_400)
    before = clock()
    limited.search("q", 1)
    limited.search("q", 1)
    assert engine.calls[1:] == [before, pytest.approx(before + 1, abs=0.01)]


def test_files_deleted_between_calls_are_made_again(folder: Path, clock: FakeClock, engine: Engine) -> None:
    """An emptied folder costs one interval, and nothing else."""
    limited = gated(engine, folder, clock)
    limited.search("q", 1)
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    limited.search("q", 1)
    gated(engine, folder, clock).search("q", 1)
    assert gaps(engine.calls)[1] >= 1.0


def test_a_folder_that_cannot_be_made_costs_no_search(
    folder: Path, clock: FakeClock, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    """Calls are then spaced within the process; one warning says so."""
    folder.parent.write_text("a file")
    limited = gated(engine, folder, clock)
    for _ in range(3):
        limited.search("q", 1)
    assert spaced(engine.calls)
    assert ["within this process only" in line for line in warnings(caplog)] == [True]


def test_a_pause_that_cannot_be_shared_is_kept(folder: Path, clock: FakeClock) -> None:
    """Without a folder, this process at least waits before it tries again."""
    folder.parent.write_text("a file")
    engine = Engine(clock, refused(2))
    gated(engine, folder, clock).search("q", 1)
    assert gaps(engine.calls) == pytest.approx([2.0, 4.0], abs=0.01)


def test_a_folder_in_the_file_s_place_costs_no_search(folder: Path, clock: FakeClock, engine: Engine) -> None:
    """The search is made."""
    limited = gated(engine, folder, clock)
    limited.search("q", 1)
    path = the_file(folder)
    path.unlink()
    path.mkdir()
    for _ in range(2):
        limited.search("q", 1)
    assert len(engine.calls) == 3


def test_a_file_that_can_be_used_again_is_used(folder: Path, clock: FakeClock, engine: Engine) -> None:
    """A temporary failure has no lasting effect on a long-lived process."""
    folder.parent.write_text("a file")
    limited = gated(engine, folder, clock)
    limited.search("q", 1)
    folder.parent.unlink()
    clock.advance(1.0)
    limited.search("q", 1)
    gated(engine, folder, clock).search("q", 1)
    assert spaced(engine.calls)


def test_a_lock_that_is_never_released_costs_no_search(
    folder: Path, clock: FakeClock, engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A process that was stopped at the wrong moment stops no other."""
    monkeypatch.setattr(rate_limit, "_LOCK_SECONDS", 0.05)
    limited = gated(engine, folder, clock)
    limited.search("q", 1)
    with closing(sqlite3.connect(the_file(folder))) as stopped:
        stopped.execute("BEGIN IMMEDIATE")
        limited.search("q", 1)
    assert len(engine.calls) == 2
    assert len(warnings(caplog)) == 1


# --- threads and processes

PROGRAM = f"""
import logging, os, signal, sys, threading, time
from pathlib import Path
from harness.sources.engines.rate_limit import RateLimitedEngine

class Engine:
    name, options = "ddgs", {{}}
    def search(self, query, max_results):
        os.write(1, f"{{time.time()!r}}\\n".encode())
        return []

def gated(per_minute=60 / {INTERVAL}, max_wait=60.0):
    return RateLimitedEngine(Engine(), Path(sys.argv[1]), per_minute=per_minute, max_wait=max_wait)

gated()._queue._memory()  # imports take longer than what is measured
print("ready", flush=True)
sys.stdin.readline()
"""


@contextmanager
def processes(folder: Path, program: str, count: int = 1) -> Iterator[list[subprocess.Popen[str]]]:
    """Start processes that run `PROGRAM` and then, after `go`, `program`; kill them at the end."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM + program, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(count)
    ]
    try:
        for process in started:
            assert process.stdout
            assert process.stdout.readline() == "ready\n", process.communicate()[1]
        yield started
    finally:
        for process in started:
            process.kill()
            process.communicate()


def go(started: Sequence[subprocess.Popen[str]]) -> float:
    """Start `program` in all at once; return the time before."""
    before = time.time()
    for process in started:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    return before


def calls_of(started: Sequence[subprocess.Popen[str]]) -> list[float]:
    """Wait until all succeed; return the sorted times of their calls."""
    calls = []
    for process in started:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
        calls += [float(line) for line in out.split()]
    return sorted(calls)


def assert_spaced(calls: Sequence[float], start: float, interval: float = INTERVAL) -> None:
    """Check that no call came before its turn: see the module's docstring."""
    assert all(call - start >= number * interval - EARLY for number, call in enumerate(sorted(calls)))


@pytest.mark.slow
def test_processes_take_turns(folder: Path) -> None:
    """Four processes that start at once on a new folder call as often as one would."""
    with processes(folder, "limited = gated()\nfor _ in range(3): limited.search('q', 1)", 4) as started:
        start = go(started)
        calls = calls_of(started)
    assert len(calls) == 12
    assert_spaced(calls, start)


RACE = """
queue, latest = gated(per_minute=6_000)._queue, int(time.time() * 1_000) + 600_000
for _ in range(30):
    time.sleep(0.002)
    print(queue.take(latest))
"""


@pytest.mark.slow
def test_processes_never_share_a_turn(folder: Path) -> None:
    """Five processes race for turns; each is an interval (here 10 ms) after the one before."""
    with processes(folder, RACE, 5) as started:
        go(started)
        turns = calls_of(started)
    assert len(turns) == 150
    assert min(gaps(turns)) > 10


def test_threads_never_share_a_turn(folder: Path) -> None:
    """Nor do threads that have no file."""
    folder.parent.write_text("a file")
    queue = RateLimitedEngine(Engine(time.time), folder, per_minute=6_000)._queue
    latest = queue.now() + 600_000
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            turns = sorted(pool.map(lambda _: queue.take(latest), range(400)))
    finally:
        sys.setswitchinterval(usual)
    assert min(gaps(turns)) > 10


@pytest.mark.slow
def test_threads_take_turns(folder: Path) -> None:
    """Eight threads with one engine call as often as one would."""
    engine = Engine(time.time)
    limited = RateLimitedEngine(engine, folder, per_minute=60 / INTERVAL)
    start = time.time()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: limited.search("q", 1), range(10)))
    assert len(engine.calls) == 10
    assert_spaced(engine.calls, start)


@pytest.mark.slow
def test_a_refusal_is_a_pause_for_another_process(folder: Path) -> None:
    """One process was refused, the other waits."""
    with processes(folder, "gated().search('q', 1)") as started:
        refusing = RateLimitedEngine(
            Engine(time.time, refused(1)), folder, per_minute=6_000, retries=0, random=lambda: 0.5
        )
        before = time.time()
        with pytest.raises(RateLimited):
            refusing.search("q", 1)
        go(started)
        [call] = calls_of(started)
    assert call >= before + 1.0 - EARLY


def test_ctrl_c_ends_a_wait_at_once(folder: Path) -> None:
    """Also for a turn that is half a minute away."""
    program = "limited = gated(2)\nlimited.search('q', 1)\nprint('waiting', flush=True)\nlimited.search('q', 1)"
    with processes(folder, program) as started:
        go(started)
        [process] = started
        assert process.stdout
        while process.stdout.readline() != "waiting\n":
            pass
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert "KeyboardInterrupt" in err
    assert process.returncode in {130, -signal.SIGINT}


@pytest.mark.slow
def test_processes_killed_while_they_wait_block_no_other(folder: Path) -> None:
    """The turns of killed processes pass unused."""
    with processes(folder, "limited = gated()\nwhile True: limited.search('q', 1)", 2) as started:
        go(started)
        time.sleep(0.5)
        for process in started:
            process.kill()
        engine = Engine(time.time)
        RateLimitedEngine(engine, folder, per_minute=60 / INTERVAL, max_wait=1.0).search("q", 1)
    assert len(engine.calls) == 1


FORK = """
limited = gated()
limited.search('q', 1)
child = os.fork()
for _ in range(3): limited.search('q', 1)
if child: os.waitpid(child, 0)
sys.stdout.flush()
os._exit(0)
"""

FORK_WITHOUT_FILE = """
limited = RateLimitedEngine(Engine(), Path(os.devnull) / 'x', per_minute=60_000)
logging.disable()
lock, _ = limited._queue._memory()
with lock:  # as if another thread took a turn just now
    child = os.fork()
    if not child:
        limited.search('q', 1)
        os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@forks
def test_parent_and_child_take_turns(folder: Path) -> None:
    """A fork shares the parent's turns."""
    with processes(folder, FORK) as started:
        start = go(started)
        calls = calls_of(started)
    assert len(calls) == 7
    assert_spaced(calls, start)


@forks
def test_a_child_does_not_wait_for_threads_of_its_parent(folder: Path) -> None:
    """A lock that a thread of the parent holds is free in the child."""
    with processes(folder, FORK_WITHOUT_FILE) as started:
        go(started)
        assert len(calls_of(started)) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="this system cannot limit the size of files")
def test_a_full_disk_costs_no_search(folder: Path) -> None:
    """If the disk is full, the search is made; one warning says so."""
    program = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\nlimited = gated()\n"
    with processes(folder, program + "for _ in range(3): limited.search('q', 1)") as started:
        start = go(started)
        out, err = started[0].communicate(timeout=60)
    assert_spaced([float(line) for line in out.split()], start)
    assert len(out.split()) == 3
    assert err.count("within this process only") == len(err.splitlines()) == 1


def test_nothing_is_left_running(folder: Path) -> None:
    """After a search no thread is left, and the process ends without output."""
    program = "gated().search('q', 1)\nassert threading.enumerate() == [threading.main_thread()]"
    with processes(folder, program) as started:
        go(started)
        assert len(calls_of(started)) == 1


def test_an_unused_limit_costs_nothing(folder: Path) -> None:
    """Creating one touches no file and imports no lock library: an exact hit uses neither."""
    program = f"""
import sys
from pathlib import Path
from harness.sources.engines.rate_limit import RateLimitedEngine
class Engine:
    name, options = "ddgs", {{}}
RateLimitedEngine(Engine(), Path({str(folder)!r}), per_minute=60)
assert not {{"pyrate_limiter", "filelock"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    assert not folder.exists()
