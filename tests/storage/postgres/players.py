"""Scenes that tests run in other processes: `python -m tests.storage.postgres.players NAME URL …`."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import psycopg  # noqa: F401 - the store imports it late: here it is paid for once

from harness.cache import Cache
from harness.errors import StoreError
from harness.storage.postgres.store import PostgresStore
from tests.storage.entries import SEARCHES, TENANT, an_entry
from tests.storage.scenarios import ROOT

PAYLOAD = b'["' + b"x" * 40_000 + b'"]'


def play(name: str, *arguments: object, status: int = 0) -> str:
    """Run a scene in a separate process; return what it wrote."""
    command = [sys.executable, "-m", "tests.storage.postgres.players", name, *map(str, arguments)]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == status, done.stderr
    return done.stdout


def write_line(*words: object) -> None:
    """Write a line at once, and whole."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def opened(url: str) -> PostgresStore:
    """Open a store as these processes do."""
    return PostgresStore(url, busy_seconds=30)


def open_together(url: str, processes: str) -> None:
    """Run `processes` processes that open the same database at the same moment, and put a row each."""

    def use(number: int) -> None:
        store = opened(url)
        store.rows.put(SEARCHES, TENANT, an_entry(str(number)))
        store.close()

    _forked(int(processes), use)


def write_and_read(url: str, processes: str, entries: str) -> None:
    """Run processes that put their own entries and find all of them."""

    def use(number: int) -> None:
        store = opened(url)
        for entry in range(int(entries)):
            store.rows.put(SEARCHES, TENANT, an_entry(f"{number}-{entry}"))
        missing = [one for one in range(int(entries)) if store.rows.get(SEARCHES, TENANT, f"{number}-{one}") is None]
        assert not missing, missing
        store.close()

    _forked(int(processes), use)


def swap_together(url: str, processes: str, times: str) -> None:
    """Run processes that count in one row by compare and swap; no step is lost."""

    def use(_number: int) -> None:
        store = opened(url)
        for _ in range(int(times)):
            while True:
                before = store.rows.get("knowledge", TENANT, "counter")
                version = before.own[1] if before else 0
                entry = an_entry("counter", own=("", version + 1))
                if store.rows.swap("knowledge", TENANT, entry, expecting={"version": version} if before else None):
                    break
        store.close()

    _forked(int(processes), use)


def write_for_ever(url: str) -> None:
    """For every number on standard input, fork a victim that puts rows from there on, and reports each."""
    for line in sys.stdin:
        victim = os.fork()
        if victim == 0:
            try:
                store = opened(url)
                for number in count(int(line)):
                    store.rows.put(SEARCHES, TENANT, an_entry(str(number), payload=PAYLOAD))
                    write_line(number)
            finally:
                os._exit(1)
        write_line("pid", victim)
        write_line("dead", os.WTERMSIG(os.waitpid(victim, 0)[1]))


def ask_together(url: str, processes: str, calls: str, ending: str) -> None:
    """Run `processes` processes with the same search; each notes its call in a file, and reports its result.

    The first call takes a second, or hangs (`first-hangs`).
    """
    opened(url).close()
    noted = Path(calls)

    def engine(_query: str, _most: int) -> list[dict[str, Any]]:
        with noted.open("a") as file:
            file.write(f"{os.getpid()}\n")
        first = noted.read_text().splitlines() == [str(os.getpid())]
        time.sleep(1 if ending == "results" else 600 if first else 0)
        return [{"title": "t", "by": os.getpid()}]

    def use(_number: int) -> None:
        store = opened(url)
        cache = Cache(store)
        answer = cache.searches.answer("q", engine)
        write_line(answer.value[0]["by"], getattr(answer.outcome, "found", "miss"))
        cache.usage.flush()
        store.close()

    _forked(int(processes), use, killed=ending == "first-hangs")


def hold_a_turn(url: str, name: str) -> None:
    """Hold a turn until killed."""
    with opened(url).locks.hold(name, 10) as mine:
        write_line("held" if mine else "not held")
        time.sleep(600)


def fork_while_threads_write(url: str) -> None:
    """Fork during writes and during a turn: the children write, the parent and the turn continue."""
    store = opened(url)
    stop = threading.Event()
    failures: list[BaseException] = []

    def write(number: int) -> None:
        try:
            for entry in count():
                if stop.is_set():
                    return
                store.rows.put(SEARCHES, TENANT, an_entry(f"thread-{number}-{entry}"))
                store.rows.get(SEARCHES, TENANT, f"thread-{number}-{entry}")
        except BaseException as error:  # noqa: BLE001 - reported below
            failures.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for child in range(12):
        with store.locks.hold("the parent's", 10) as mine:
            assert mine
            _forked(1, lambda _, child=child: _as_child(store, child))  # type: ignore[misc]
            other = opened(url)
            with other.locks.hold("the parent's", 0) as got:
                assert not got, "a child has given the parent's turn back"
            other.close()
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures, failures
    assert all(store.rows.get(SEARCHES, TENANT, f"child-{child}") for child in range(12))
    store.close()


def _as_child(store: PostgresStore, child: int) -> None:
    store.rows.put(SEARCHES, TENANT, an_entry(f"child-{child}"))
    with store.locks.hold("the parent's", 0) as mine:
        assert not mine, "the parent holds it"
    with store.locks.hold("the child's", 5) as mine:
        assert mine
    store.close()


def fork_in_a_turn(url: str) -> None:
    """Check that a child that leaves the block in which it was forked does not end its parent's turn."""
    store = opened(url)
    with store.locks.hold("q", 5) as mine:
        assert mine
        child = os.fork()
        if child:
            assert os.waitpid(child, 0)[1] == 0
    if child == 0:
        os._exit(0)
    with opened(url).locks.hold("q", 5) as mine:
        assert mine
    store.rows.put(SEARCHES, TENANT, an_entry("after"))
    assert store.rows.get(SEARCHES, TENANT, "after")


def child_exits_as_programs_do(url: str) -> None:
    """Check that a child that tears down everything keeps its parent's sessions and turn intact."""
    store = opened(url)
    store.rows.put(SEARCHES, TENANT, an_entry("before"))
    with store.locks.hold("q", 5) as mine:
        assert mine
        child = os.fork()
        if child == 0:
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        with opened(url).locks.hold("q", 0) as got:
            assert not got
    assert store.rows.get(SEARCHES, TENANT, "before")
    assert store.rows.swap(SEARCHES, TENANT, an_entry("new"), expecting=None)


def die_in_a_migration(url: str) -> None:
    """Be killed between the statements of a migration."""
    from harness.storage.postgres import schema

    first = schema.MIGRATIONS[0]
    half = first.statements[: len(first.statements) // 2]
    schema.MIGRATIONS = (schema.PostgresMigration(first.name, (*half, "SELECT pg_sleep(600)")), *schema.MIGRATIONS[1:])
    threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
    try:
        opened(url)
    except StoreError as error:
        write_line(error)


def _forked(number: int, use: Callable[[int], None], *, killed: bool = False) -> None:
    """Fork `number` children that do the same once all have started; each (but a `killed` one) must end well."""
    start, go = os.pipe()
    children = []
    for each in range(number):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.close(go)
                os.read(start, 1)
                use(each)
                status = 0
            except BaseException:  # noqa: BLE001 - printed, and shown by the status
                sys.excepthook(*sys.exc_info())
            finally:
                os._exit(status)
        children.append(child)
    os.close(go)
    os.close(start)
    ends = [os.waitpid(child, 0)[1] for child in children]
    assert sorted(ends) == [0] * (number - killed) + [signal.SIGKILL] * killed, ends


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
