"""Servers that stop and hang, ended sessions, killed writers: callers wait or get an error, nothing is lost."""

import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from harness.errors import StoreBusy
from harness.storage.postgres import schema
from harness.storage.postgres.store import PostgresStore
from tests.storage.embedded import ask, embedded, vector_of
from tests.storage.entries import SEARCHES, TENANT, an_entry
from tests.storage.killed_writers import kill_writer
from tests.storage.postgres.load import Load, taken
from tests.storage.postgres.places import a_database
from tests.storage.postgres.servers import Server
from tests.storage.scenarios import ROOT

pytestmark = pytest.mark.slow

KILLS = 60
BUSY = 2.0
CALLS: dict[str, Callable[[PostgresStore], Any]] = {
    "get": lambda store: store.rows.get(SEARCHES, TENANT, "k"),
    "put": lambda store: store.rows.put(SEARCHES, TENANT, an_entry("k")),
    "put for somebody new": lambda store: store.rows.put(SEARCHES, f"new {time.monotonic()}", an_entry("k")),
    "swap": lambda store: store.rows.swap(SEARCHES, TENANT, an_entry("k"), expecting={"max_results": 10}),
    "nearest": lambda store: ask(store, vector_of("k")),
    "count": lambda store: store.usage.add(TENANT, "2026-01-01", {"exact": 1}),
    "tenants": lambda store: store.admin.tenants(),
    "turn": lambda store: taken(store, "q"),
    "verify": lambda store: store.admin.verify(repair=False),
}


@pytest.fixture
def brief(url: str) -> Iterator[PostgresStore]:
    """Return a store that waits for two seconds, with a row."""
    store = PostgresStore(url, busy_seconds=BUSY)
    store.rows.put(SEARCHES, TENANT, embedded("k"))
    yield store
    store.close()


@pytest.fixture
def patient(url: str) -> Iterator[PostgresStore]:
    """Return a store that waits for longer than any restart takes."""
    store = PostgresStore(url, busy_seconds=20)
    yield store
    store.close()


@contextmanager
def stopped(server: Server, how: signal.Signals = signal.SIGINT) -> Iterator[None]:
    """Stop the server for a while."""
    server.stop(how)
    try:
        yield
    finally:
        server.start()


def end_sessions(server: Server) -> int:
    """End every session of the stores, as an administrator does; return how many there were."""
    sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'harness'"
    return len(server.execute(sql))


# Writers that die ----------------------------------------------------------------------------------------------------


def test_acknowledged_rows_survive_kill_9(url: str, patient: PostgresStore) -> None:
    """Writers are killed at random moments: every row that they reported is there."""
    rng = random.Random(20)
    command = [sys.executable, "-m", "tests.storage.postgres.players", "write_for_ever", url]
    acknowledged: set[int] = set()
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as victims:
        for _ in range(KILLS):
            acknowledged |= kill_writer(victims, str(max(acknowledged, default=0) + 1), rng.choice([0, 1, 5, 20]))
    assert [number for number in acknowledged if patient.rows.get(SEARCHES, TENANT, str(number)) is None] == []
    assert len(acknowledged) > KILLS
    assert patient.admin.verify(repair=False) == []


# Servers that go and come --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["restart", "crash", "end sessions"])
def test_calls_wait_for_a_restarted_server(server: Server, patient: PostgresStore, how: str) -> None:
    """Three times during work: a caller that waits long enough gets no error, except for uncertain swaps."""
    disturb: Callable[[], object] = {
        "restart": server.restart,
        "crash": server.crash,
        "end sessions": lambda: end_sessions(server),
    }[how]
    with Load(patient) as load:
        for _ in range(3):
            time.sleep(1)
            disturb()
        time.sleep(1)
    assert load.errors == []
    assert load.lost == []
    assert load.busy <= 3, "only a swap that was under way may be in doubt, and there is one at a time"
    assert len(load.acknowledged) > 20
    assert [key for key in load.acknowledged if patient.rows.get(SEARCHES, TENANT, key) is None] == []
    assert patient.admin.verify(repair=False) == []


def test_a_call_that_cannot_be_served_in_time_raises(server: Server, brief: PostgresStore) -> None:
    """Every call, within `busy_seconds` and two more, while the server is away; then all work again at once."""
    for call in CALLS.values():
        call(brief)
    with stopped(server):
        for name, call in CALLS.items():
            began = time.monotonic()
            with pytest.raises(StoreBusy, match="try again later"):
                call(brief)
            assert time.monotonic() - began < BUSY + 2, name
    for name, call in CALLS.items():
        began = time.monotonic()
        call(brief)
        assert time.monotonic() - began < BUSY, name


def test_many_threads_get_an_error_in_time(server: Server, brief: PostgresStore) -> None:
    """None waits while another waits, neither for connections nor for turns."""
    took: list[float] = []

    def use(number: int) -> None:
        call = CALLS["turn" if number % 2 else "put"]
        began = time.monotonic()
        with pytest.raises(StoreBusy):
            call(brief)
        took.append(time.monotonic() - began)

    with stopped(server):
        threads = [threading.Thread(target=use, args=(number,)) for number in range(32)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(took) == 32
    assert max(took) < BUSY + 2


def test_a_server_is_found_at_once_after_a_long_absence(server: Server, brief: PostgresStore) -> None:
    """However long it was away, and however often it was tried."""
    with stopped(server):
        end = time.monotonic() + 15
        while time.monotonic() < end:
            with pytest.raises(StoreBusy):
                brief.rows.get(SEARCHES, TENANT, "k")
    began = time.monotonic()
    assert brief.rows.get(SEARCHES, TENANT, "k") is not None
    assert time.monotonic() - began < 1


def test_sessions_that_ended_while_idle_are_replaced(server: Server, brief: PostgresStore) -> None:
    """A call that must not run twice runs, too, if the session had ended before it."""
    several = [threading.Thread(target=brief.rows.get, args=(SEARCHES, TENANT, "k")) for _ in range(16)]
    for thread in several:
        thread.start()
    for thread in several:
        thread.join()
    for _ in range(5):
        assert end_sessions(server) >= 1
        brief.usage.add(TENANT, "2026-01-01", {"exact": 1})
        assert brief.rows.swap(SEARCHES, TENANT, an_entry("k"), expecting={"max_results": 10})
    assert brief.usage.by_day(TENANT) == {"2026-01-01": {"exact": 5}}


def test_a_query_whose_session_ends_is_repeated(server: Server, brief: PostgresStore) -> None:
    """A read and a write that wait for a lock when their session is ended: both succeed in the end."""
    got: list[object] = []
    with psycopg.connect(server.url) as holder:
        holder.execute("LOCK TABLE search_cache IN ACCESS EXCLUSIVE MODE")
        threads = [threading.Thread(target=lambda name=name: got.append(CALLS[name](brief))) for name in ("get", "put")]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        assert end_sessions(server) >= 2
        time.sleep(0.2)
        holder.rollback()
    for thread in threads:
        thread.join()
    assert len(got) == 2


def test_another_programs_lock_is_not_waited_for_for_ever(server: Server, brief: PostgresStore) -> None:
    """Readers and writers get an error in time, and work again when it is free."""
    with psycopg.connect(server.url) as holder:
        holder.execute("LOCK TABLE search_cache, harness_uses IN ACCESS EXCLUSIVE MODE")
        for name in ("get", "put", "swap", "nearest", "count"):
            began = time.monotonic()
            with pytest.raises(StoreBusy, match="lock timeout"):
                CALLS[name](brief)
            assert BUSY - 0.5 < time.monotonic() - began < BUSY + 2, name
        holder.rollback()
    CALLS["get"](brief)
    CALLS["put"](brief)


def test_a_lock_that_becomes_free_is_waited_for(server: Server, brief: PostgresStore) -> None:
    """Callers that come meanwhile are served afterwards."""
    with psycopg.connect(server.url) as holder:
        holder.execute("LOCK TABLE search_cache IN ACCESS EXCLUSIVE MODE")
        free = threading.Timer(1, holder.rollback)
        free.start()
        began = time.monotonic()
        assert brief.rows.get(SEARCHES, TENANT, "k") is not None
        assert time.monotonic() - began > 0.5
        free.join()


def test_waiting_for_a_migration_ends_in_time(server: Server, url: str) -> None:
    """Opening a database that another process prepares for too long raises an error in time."""
    with a_database(server, "being_prepared") as fresh, psycopg.connect(fresh, autocommit=True) as holder:
        holder.execute("SELECT pg_advisory_lock(%s)", (schema._LOCK,))
        began = time.monotonic()
        with pytest.raises(StoreBusy):
            PostgresStore(fresh, busy_seconds=BUSY)
        assert time.monotonic() - began < BUSY + 2
