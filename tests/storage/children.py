"""Functions that tests run in other processes; the module imports little, so that many start quickly."""

import signal
import sqlite3
from multiprocessing.pool import Pool
from multiprocessing.synchronize import Barrier
from pathlib import Path

from harness.storage.sqlite.store import SqliteStore
from tests.storage.entries import NOW, RESEARCH, SEARCHES, TENANT, an_entry

_meeting: Barrier | None = None


def start(processes: int) -> Pool:
    """Start a pool of fresh processes that can meet (`spawn`: they inherit nothing); close and join it."""
    from multiprocessing import get_context

    context = get_context("spawn")
    return context.Pool(processes, initializer=_meet_at, initargs=(context.Barrier(processes),))


def _meet_at(barrier: Barrier) -> None:
    global _meeting  # noqa: PLW0603 - what a process of a pool inherits
    _meeting = barrier
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted too, and ends the pool


def open_together(path: str) -> tuple[int, int]:
    """Open the store at the same moment as the other processes of the pool; return the rows of the two tables."""
    assert _meeting is not None
    _meeting.wait(60)
    store = SqliteStore(Path(path))
    searches, researches = (
        sum(store.listings.stats(table, tenant, NOW).total for tenant in store.admin.tenants())
        for table in (SEARCHES, RESEARCH)
    )
    store.close()
    return searches, researches


def write_and_read(path: str, name: int, count: int) -> int:
    """Put `count` entries of this `name`, all processes of the pool at once; then return how many are not found."""
    assert _meeting is not None
    store = SqliteStore(Path(path))
    _meeting.wait(60)
    for number in range(count):
        store.rows.put(SEARCHES, TENANT, an_entry(f"{name}-{number}"))
    missing = sum(store.rows.get(SEARCHES, TENANT, f"{name}-{number}") is None for number in range(count))
    store.close()
    return missing


def schema(path: Path, *tables: str) -> list[tuple[str, str, str]]:
    """Return kind, name and SQL of the tables, indexes and triggers, read without the store."""
    marks = ", ".join("?" * len(tables))
    connection = sqlite3.connect(path)
    found = connection.execute(
        f"SELECT type, name, sql FROM sqlite_master WHERE tbl_name IN ({marks}) ORDER BY type, name", tables
    ).fetchall()
    connection.close()
    return found


def rows(path: Path, table: str) -> list[tuple[object, ...]]:
    """Return every row of the table in the order of its keys, read without the store."""
    connection = sqlite3.connect(path)
    found = connection.execute(f"SELECT * FROM {table} ORDER BY key").fetchall()
    connection.close()
    return found
