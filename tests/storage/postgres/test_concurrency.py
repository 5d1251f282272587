"""Many processes, many threads and forks on one database: nothing is lost, done twice or left open."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

from harness.cache import Cache
from harness.core.entries import Entry
from harness.storage.postgres.connections import POOL_SIZE
from harness.storage.postgres.store import PostgresStore
from tests.storage.embedded import EMBEDDER, ask, vector_of
from tests.storage.entries import NOW, SEARCHES, TENANT, a_tool_entry, an_entry
from tests.storage.postgres.players import play
from tests.storage.postgres.servers import Server
from tests.storage.scenarios import ROOT

pytestmark = pytest.mark.slow

THREADS = 64
DEADLINE = 60


def together(count: int, use: Callable[[int], Any]) -> list[Any]:
    """Run the same work in `count` threads; return each result. An error of one is raised."""
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(use, range(count)))


def sessions(server: Server) -> int:
    """Return how many sessions stores have, after waiting for those that have just ended."""
    sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'harness'"
    deadline = time.monotonic() + 5
    while (number := int(server.execute(sql)[0][0])) and time.monotonic() < deadline:
        time.sleep(0.05)
    return number


def begun(name: str, *arguments: object) -> "subprocess.Popen[str]":
    """Start a scene in a separate process."""
    command = [sys.executable, "-m", "tests.storage.postgres.players", name, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


# Processes -----------------------------------------------------------------------------------------------------------


def test_eight_processes_lose_nothing(url: str, store: PostgresStore) -> None:
    """8 processes write and read 300 rows each."""
    play("write_and_read", url, 8, 300)
    assert store.listings.stats(SEARCHES, TENANT, NOW).total == 8 * 300


def test_processes_swap_without_losing_a_step(url: str, store: PostgresStore) -> None:
    """8 processes count to 25 each in one row by compare and swap."""
    play("swap_together", url, 8, 25)
    counter = store.rows.get("knowledge", TENANT, "counter")
    assert counter is not None
    assert counter.own[1] == 200


def test_sixteen_processes_make_one_call(url: str, store: PostgresStore, tmp_path: Path) -> None:
    """All get its results, and the counts of all add up."""
    told = play("ask_together", url, 16, tmp_path / "calls", "results").splitlines()
    (caller,) = (tmp_path / "calls").read_text().split()
    assert sorted(told) == sorted([f"{caller} miss"] + [f"{caller} exact"] * 15)
    assert Cache(store, tenant=TENANT).usage.total() == {"live": 1, "exact": 15}


def test_another_takes_over_from_a_killed_process(url: str, store: PostgresStore, tmp_path: Path) -> None:
    """`kill -9` of the process that computes frees its turn; the rest get the answer of a second call."""
    calls = tmp_path / "calls"
    asking = begun("ask_together", url, 6, calls, "first-hangs")
    deadline = time.monotonic() + DEADLINE
    while not (calls.exists() and calls.read_text().endswith("\n")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.3)
    os.kill(int(calls.read_text()), signal.SIGKILL)
    out, _ = asking.communicate(timeout=DEADLINE)
    assert asking.returncode == 0
    (_, second) = calls.read_text().split()
    assert [line.split()[0] for line in out.splitlines()] == [second] * 5


def test_one_process_at_a_time_has_the_turn(url: str, store: PostgresStore) -> None:
    """Another process waits for it, and gets it as soon as the holder is dead."""
    with begun("hold_a_turn", url, "q") as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with store.locks.hold("q", 0.1) as mine:
            assert not mine
        with store.locks.hold("another", 0) as mine:
            assert mine
        holder.kill()
        with store.locks.hold("q", 10) as mine:
            assert mine


# Forks ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scene", ["fork_while_threads_write", "fork_in_a_turn", "child_exits_as_programs_do"])
def test_forks(url: str, server: Server, scene: str) -> None:
    """See the scenes: parent and child continue, and each turn stays its holder's."""
    play(scene, url)
    assert sessions(server) == 0


# Threads -------------------------------------------------------------------------------------------------------------


def test_more_threads_than_connections(store: PostgresStore, server: Server) -> None:
    """64 threads put, get, swap and search: each finds its own, over at most 16 connections."""
    most = 0

    def use(number: int) -> None:
        nonlocal most
        for turn in range(10):
            key = f"{number}-{turn}"
            entry = an_entry(key, embedding=vector_of(key).tobytes(), embedder=EMBEDDER)
            assert store.rows.swap(SEARCHES, TENANT, entry, expecting=None)
            assert store.rows.get(SEARCHES, TENANT, key) is not None
            assert ask(store, vector_of(key), 1)[0][0] == key
        if number == 0:
            most = int(server.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'harness'")[0][0])

    together(THREADS, use)
    assert 0 < most <= POOL_SIZE
    assert store.listings.stats(SEARCHES, TENANT, NOW).total == THREADS * 10


def test_turns_need_no_connections(store: PostgresStore) -> None:
    """While 64 threads hold turns or wait for them, look-ups are answered, at once."""
    held, done = threading.Barrier(33), threading.Event()

    def hold(number: int) -> bool:
        with store.locks.hold(f"turn {number % 32}", 0 if number < 32 else 0.5) as mine:
            if number < 32:
                held.wait(DEADLINE)
                done.wait(DEADLINE)
            return mine

    with ThreadPoolExecutor(THREADS) as pool:
        holders = [pool.submit(hold, number) for number in range(32)]
        held.wait(DEADLINE)
        waiters = [pool.submit(hold, number) for number in range(32, 64)]
        began = time.monotonic()
        for _ in range(50):
            store.rows.get(SEARCHES, TENANT, "k")
        assert time.monotonic() - began < 5
        assert not any(waiter.result() for waiter in waiters)
        done.set()
        assert all(holder.result() for holder in holders)


def test_two_stores_of_one_process_share_turns(url: str, store: PostgresStore) -> None:
    """They exclude each other as two processes do."""
    other = PostgresStore(url, busy_seconds=10)
    with store.locks.hold("q", 0) as mine, other.locks.hold("q", 0) as too:
        assert (mine, too) == (True, False)
    with other.locks.hold("q", 1) as mine, store.locks.hold("q", 0) as too:
        assert (mine, too) == (True, False)
    other.close()


@pytest.mark.parametrize("times", [1, 5])
def test_no_session_stays_open(url: str, server: Server, times: int) -> None:
    """After `close` there are as many as before, whatever the store was used for, and however often it reopens."""
    assert sessions(server) == 0
    store = PostgresStore(url, busy_seconds=10)
    for _ in range(times):
        together(8, lambda number: store.rows.put(SEARCHES, TENANT, an_entry(str(number))))
        with store.locks.hold("q", 1):
            pass
        store.admin.verify(repair=True)
        store.admin.reindex()
        store.close()
        assert sessions(server) == 0


def test_a_turn_held_while_the_store_is_closed_leaves_no_session(url: str, server: Server) -> None:
    """The turn is kept to its end; then its session ends."""
    store = PostgresStore(url, busy_seconds=10)
    other = PostgresStore(url, busy_seconds=10)
    with store.locks.hold("q", 1) as mine:
        store.close()
        assert mine
        with other.locks.hold("q", 0) as too:
            assert not too
    other.close()
    assert sessions(server) == 0


def test_a_store_may_be_closed_while_threads_use_it(store: PostgresStore) -> None:
    """`close` fails no call: the next one opens again."""

    def use(number: int) -> None:
        for turn in range(40):
            if number == 0:
                store.close()
            store.rows.put(SEARCHES, TENANT, an_entry(f"{number}-{turn}"))

    together(8, use)
    assert store.listings.stats(SEARCHES, TENANT, NOW).total == 8 * 40


def test_nobody_sees_a_half_replaced_set(store: PostgresStore) -> None:
    """8 threads replace the same rows: every read sees five of one writer, and five are left."""
    mixed: list[object] = []

    def chunks(writer: int, turn: int) -> list[Entry]:
        return [an_entry(f"{writer}-{turn}-{place}", own=("", "doc", place, str(writer))) for place in range(5)]

    def use(number: int) -> None:
        for turn in range(15):
            if number < 6:
                store.rows.replace("agent_chunks", TENANT, chunks(number, turn), instead_of={"document": "doc"})
            else:
                seen = store.listings.find("agent_chunks", TENANT, {"document": "doc"})
                if seen and (len(seen) != 5 or len({entry.own[3] for entry in seen}) != 1):
                    mixed.append([entry.key for entry in seen])

    together(8, use)
    assert mixed == []
    assert len(store.listings.find("agent_chunks", TENANT, {"document": "doc"})) == 5


def test_locks_in_opposite_orders_are_resolved(store: PostgresStore) -> None:
    """The server breaks a deadlock by failing one of the two, which is tried again."""
    for key in ("a", "b"):
        store.rows.put(SEARCHES, TENANT, an_entry(key))
    both = threading.Barrier(2)
    tries: list[int] = []

    def use(number: int) -> None:
        first, second = ("a", "b") if number else ("b", "a")

        def write(connection: "psycopg.Connection[Any]") -> None:
            tries.append(number)
            sql = "UPDATE search_cache SET last_used_at = 0 WHERE tenant = $1 AND key = $2"
            connection.execute(sql, (TENANT, first))
            if len(tries) <= 2:
                both.wait(DEADLINE)
            connection.execute(sql, (TENANT, second))

        store.audits._statements.write(TENANT, write, again=False)

    together(2, use)
    assert len(tries) == 3


def test_tenants_and_users_may_be_deleted_while_others_write(store: PostgresStore) -> None:
    """A put raises no error if its tenant or its user is deleted at the same moment."""

    def use(number: int) -> None:
        for turn in range(30):
            if number == 0:
                store.admin.forget(TENANT)
            elif number == 1:
                store.admin.forget(TENANT, "ann")
            else:
                store.rows.put("tool_cache", TENANT, a_tool_entry(f"{number}-{turn % 3}", created_by="ann"))
                store.usage.add(TENANT, "2026-01-01", {"exact": 1})

    together(8, use)
    store.rows.put("tool_cache", TENANT, a_tool_entry("last", created_by="ann"))
    assert store.rows.get("tool_cache", TENANT, "last") is not None
