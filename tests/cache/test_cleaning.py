"""Deletion of expired rows of all tenants, in batches and periodically."""

import logging
import threading
import time
from collections.abc import Callable

import pytest

from harness.cache.cleaning import SWEPT, periodic, sweep_all
from harness.cache.tool_cache import STALE_FOR
from harness.core.entries import Entry
from harness.core.tables import TOOLS
from harness.errors import StoreBusy
from harness.storage.sqlite.rows import SWEEP_BATCH
from harness.storage.sqlite.store import SqliteStore
from harness.storage.tables import TABLES

NOW = 1_000_000.0


def row(key: str, table: str, expires_at: float) -> Entry:
    """Return a row of any table."""
    own = tuple(1 if "INTEGER" in column else "{}" for column in TABLES[table].own)
    return Entry(key, "text", b"[]", 1.0, expires_at, 1.0, own)


def until(happened: Callable[[], bool]) -> None:
    """Wait until something has happened in another thread."""
    end = time.monotonic() + 10
    while not happened():
        assert time.monotonic() < end, "it has not happened"
        time.sleep(0.005)


def test_all_expired_rows_are_deleted_except_knowledge() -> None:
    """Every declared table is swept, except documents, their earlier versions, and conversations."""
    assert {*TABLES} - {*SWEPT} == {"knowledge", "knowledge_history", "memory"}
    assert len(SWEPT) == len({*SWEPT})


def test_every_tenant_is_swept_and_counted(store: SqliteStore) -> None:
    """Rows expired for long enough are deleted, to the second; fresh or recently expired ones stay."""
    for tenant, number in (("lab", 2), ("mill", 1), ("new", 0)):
        for table in TABLES:
            for each in range(number):
                store.rows.put(table, tenant, row(f"old{each}", table, NOW - 60))
            store.rows.put(table, tenant, row("kept for a while", table, NOW - 59))
            store.rows.put(table, tenant, row("fresh", table, NOW + 1))
    others = len(SWEPT) - 1
    assert sweep_all(store, NOW, 60.0) == {"lab": 2 * others, "mill": others, "new": 0}
    assert sweep_all(store, NOW) == dict.fromkeys(("lab", "mill", "new"), others)
    for table in TABLES:
        assert "fresh" in {entry.key for entry in store.listings.scan(table, "lab")}
    assert [entry.key for entry in store.listings.scan("knowledge", "mill")] == ["old0", "kept for a while", "fresh"]


def test_tool_results_stay_while_they_may_be_returned_as_stale(store: SqliteStore) -> None:
    """A week, even if other rows are kept for less; to the second."""
    store.rows.put(TOOLS, "lab", row("stale", TOOLS, NOW - STALE_FOR + 1))
    store.rows.put(TOOLS, "lab", row("forgotten", TOOLS, NOW - STALE_FOR))
    assert sweep_all(store, NOW) == {"lab": 1}
    assert [entry.key for entry in store.listings.scan(TOOLS, "lab")] == ["stale"]


def test_others_write_while_it_is_swept(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """It deletes in batches: another put can run between two of them."""
    table = "search_cache"
    count = 2 * SWEEP_BATCH + 1
    store.rows.replace(
        table, "lab", [row(f"{each}", table, 1.0) for each in range(count)], instead_of={"engine": "none"}
    )
    left: list[int] = []
    write = store._connections.write

    def writing(work: Callable[..., object]) -> object:
        done = write(work)
        left.append(store.listings.stats(table, "lab", NOW).total)
        return done

    monkeypatch.setattr(store._connections, "write", writing)
    assert sweep_all(store, NOW) == {"lab": count}
    assert [number for number in dict.fromkeys(left) if number] == [SWEEP_BATCH + 1, 1]


def test_it_works_at_once_and_then_again() -> None:
    """Until it is stopped, and never after."""
    done: list[float] = []
    with periodic(0.01, lambda: done.append(time.monotonic())):
        until(lambda: len(done) >= 3)
    count = len(done)
    time.sleep(0.05)
    assert len(done) == count


def test_stopping_waits_for_the_running_work_only() -> None:
    """The store may be closed after it; it does not wait for the next time."""
    begun, finished = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        time.sleep(0.05)
        finished.set()

    with periodic(3_600.0, work):
        begun.wait(10)
        started = time.monotonic()
    assert finished.is_set()
    assert time.monotonic() - started < 5


def test_a_failure_is_logged_once_and_work_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    """A busy store is tried again; logged at level WARNING once, until the work has succeeded in between."""
    caplog.set_level(logging.DEBUG, "harness")
    turns: list[int] = []

    def work() -> None:
        turns.append(len(turns))
        if len(turns) in {1, 2, 3, 5}:
            raise StoreBusy("another process is writing; try again")

    with periodic(0.001, work):
        until(lambda: len(turns) >= 6)
    levels = [record.levelname for record in caplog.records if "tried again" in record.message]
    assert levels == ["WARNING", "DEBUG", "DEBUG", "WARNING"]
