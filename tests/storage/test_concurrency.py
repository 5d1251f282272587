"""Many processes, many threads, forks and sudden deaths: nothing that was acknowledged is lost."""

import os
import random
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.storage.sqlite.store import SqliteStore
from tests.storage import children
from tests.storage.entries import NOW, SEARCHES, TENANT, an_entry
from tests.storage.killed_writers import kill_writer
from tests.storage.scenarios import ROOT, play

pytestmark = pytest.mark.slow

PROCESSES = 8
ENTRIES = 10_000
THREADS = 16
KILLS = 200

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    """Open an empty store."""
    store = SqliteStore(path)
    yield store
    store.close()


# Processes -----------------------------------------------------------------------------------------------------------


def test_eight_processes_lose_nothing(path: Path) -> None:
    """8 processes write and read 10,000 entries each in one new file: none is lost, none finds it locked."""
    pool = children.start(PROCESSES)
    jobs = [(str(path), name, ENTRIES) for name in range(PROCESSES)]
    missing = pool.starmap(children.write_and_read, jobs, chunksize=1)
    pool.close()
    pool.join()
    assert missing == [0] * PROCESSES
    assert SqliteStore(path).listings.stats(SEARCHES, TENANT, NOW).total == PROCESSES * ENTRIES


# Threads -------------------------------------------------------------------------------------------------------------


def test_threads_share_a_store(store: SqliteStore) -> None:
    """16 threads put and get in one store: each finds its own rows at once, and in the end all are there."""
    missed: list[str] = []

    def use(name: int) -> None:
        for number in range(100):
            store.rows.put(SEARCHES, TENANT, an_entry(f"{name}-{number}"))
            if store.rows.get(SEARCHES, TENANT, f"{name}-{number}") is None:
                missed.append(f"{name}-{number}")

    _run_threads(use)
    assert not missed
    assert store.listings.stats(SEARCHES, TENANT, NOW).total == THREADS * 100


def test_each_thread_has_its_own_connection(store: SqliteStore) -> None:
    """No two threads ever share a connection, so none waits for or rolls back the work of another."""
    together = threading.Barrier(THREADS)
    connections: list[sqlite3.Connection] = []

    def use(_name: int) -> None:
        store.rows.get(SEARCHES, TENANT, "k")
        connections.append(store._connections.handle().connection)
        together.wait(60)  # all at once: the address of a closed connection may be used again

    _run_threads(use)
    assert len({id(connection) for connection in connections}) == THREADS


def test_connections_of_ended_threads_are_closed(store: SqliteStore) -> None:
    """A thread takes its connection with it when it ends."""
    connections: list[sqlite3.Connection] = []

    def use(_name: int) -> None:
        store.rows.get(SEARCHES, TENANT, "k")
        connections.append(store._connections.handle().connection)

    _run_threads(use)
    for connection in connections:
        with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
            connection.execute("SELECT 1")
    assert store.rows.get(SEARCHES, TENANT, "k") is None


@pytest.mark.skipif(sys.platform != "linux", reason="counts the open files in /proc")
def test_coming_and_going_threads_leave_no_open_files(store: SqliteStore) -> None:
    """However many threads have used a store, the files that stay open do not grow in number."""

    def use(_name: int) -> None:
        store.rows.put(SEARCHES, TENANT, an_entry("k"))

    counts = []
    for _ in range(10):
        for _ in range(5):
            _run_threads(use, 1)
        counts.append(len(list(Path("/proc/self/fd").iterdir())))
    assert counts[-1] <= counts[0] + 2


def test_a_store_may_be_closed_while_threads_use_it(path: Path) -> None:
    """`close` neither crashes threads at work nor fails them: their next call opens again, and nothing is lost."""
    play("close_under_threads", path)


# Forks ---------------------------------------------------------------------------------------------------------------


@forks
def test_forked_children_use_the_store_of_their_parent(path: Path) -> None:
    """A child of a process with an open store writes and reads, the parent goes on, and nothing is lost."""
    play("fork_children", path)


@forks
def test_a_child_that_exits_leaves_the_parent_alone(path: Path) -> None:
    """A child that tears down everything it inherited damages neither the parent's store nor the file."""
    play("child_exits_as_programs_do", path)


@forks
def test_a_parent_that_closes_leaves_its_child_alone(path: Path) -> None:
    """A row that a child puts after its parent has closed the store is kept."""
    play("parent_closes_before_its_child", path)


@forks
def test_a_parent_may_fork_while_its_threads_write(path: Path) -> None:
    """A child forked in the middle of another thread's write is not locked out by it."""
    play("fork_while_threads_write", path)


# Sudden death --------------------------------------------------------------------------------------------------------


@forks
def test_acknowledged_rows_survive_kill_9(tmp_path: Path) -> None:
    """200 writers are killed at a random moment: the file opens, is sound, and has every acknowledged row.

    A new file every ten kills, so that some die while they make it.
    """
    rng = random.Random(20)
    acknowledged: dict[Path, set[int]] = {}
    command = [sys.executable, "-m", "tests.storage.victims"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as victims:
        for kill in range(KILLS):
            path = tmp_path / f"{kill // 10}.db"
            stored = acknowledged.setdefault(path, set())
            new = kill_writer(victims, f"{path}\t{max(stored, default=0) + 1}", rng.choice([0, 1, 5, 20, 110]))
            stored |= new
            _assert_sound(path)
            _assert_holds(path, new)
    for path, stored in acknowledged.items():
        _assert_holds(path, stored)
    assert sum(map(len, acknowledged.values())) > KILLS


def _assert_sound(path: Path) -> None:
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


def _assert_holds(path: Path, numbers: set[int]) -> None:
    store = SqliteStore(path)
    missing = [number for number in numbers if store.rows.get(SEARCHES, TENANT, str(number)) is None]
    store.close()
    assert not missing


def _run_threads(use: Callable[[int], None], count: int = THREADS) -> None:
    threads = [threading.Thread(target=use, args=(name,)) for name in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
