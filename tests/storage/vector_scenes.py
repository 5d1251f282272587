"""Scenes with vectors, each run in separate processes: `python -m tests.storage.vector_scenes NAME PATH …`."""

import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import filelock  # noqa: F401 - the store imports it late: too late for who is forked
import numpy as np  # noqa: F401 - as above

from harness.storage.sqlite.store import SqliteStore
from tests.storage.embedded import ask, brute_force, embedded, fill, keys_near, near, vector_of
from tests.storage.entries import SEARCHES, TENANT
from tests.storage.scenarios import ROOT, _all_ended_well, _fork, _Threads, play

MODULE = "tests.storage.vector_scenes"
LIMIT = 50
"""Rows in the tail, where a scene wants the index to be used."""


def play_at_once(count: int, name: str, *arguments: str | Path) -> None:
    """Run a scene in `count` fresh processes at once; each gets its number as the last argument.

    Raises:
        AssertionError: with what the first one wrote whose promise did not hold.
    """
    command = [sys.executable, "-m", MODULE, name, *map(str, arguments)]
    players = [
        subprocess.Popen([*command, str(number)], cwd=ROOT, stderr=subprocess.PIPE, text=True)
        for number in range(count)
    ]
    told = [player.communicate(timeout=120)[1] for player in players]
    for player, words in zip(players, told, strict=True):
        assert player.returncode == 0, f"{name} ended with {player.returncode}:\n{words}"


def opened(path: Path) -> SqliteStore:
    """Open a store whose tail is so short that a few rows go to the index."""
    return SqliteStore(path, tail_limit=LIMIT)


def settle(store: SqliteStore, rounds: int = 2) -> None:
    """Wait until vectors are written to the index in the background."""
    for _ in range(rounds):  # the first one ends what is under way; the next look-up may begin another
        ask(store, vector_of("any"))
        store.close()


def assert_exact(store: SqliteStore, held: list[str], every: int = 1, k: int = 3) -> None:
    """Look up every `every`-th key's neighbours: the answer equals a comparison with all rows."""
    for number, key in enumerate(held[::every]):
        asked = near(vector_of(key), 0.4, str(number))
        expected = brute_force(held, asked, k)
        assert keys_near(store, asked, 1) == expected[:1], f"of {len(held)} rows, {expected[0]} is the nearest"
        assert ask(store, vector_of(key), 1)[0][0] == key, f"of {len(held)} rows, {key} is not found"


# Scenes --------------------------------------------------------------------------------------------------------------


def put(path: Path, *keys: str) -> None:
    """Put rows, as another process does."""
    store = SqliteStore(path)
    for key in keys:
        store.rows.put(SEARCHES, TENANT, embedded(key))
    store.close()


def put_and_ask(path: Path, count: str, name: str) -> None:
    """Put rows and ask for them, while others do the same: each is found at once, and so are all earlier ones."""
    store = opened(path)
    mine: list[str] = []
    for number in range(int(count)):
        mine.append(f"{name}-{number}")
        store.rows.put(SEARCHES, TENANT, embedded(mine[-1]))
        for key in (mine[-1], mine[number // 2]):
            found = keys_near(store, near(vector_of(key), 0.3), 1)
            assert found == [key], f"after {number + 1} puts, {key} is not found, but {found}"
    store.close()


def damage_the_index(path: Path, how: str) -> None:
    """Damage the index in use, and again before it is opened: answers stay right, and it is rebuilt."""
    held = [f"k{number}" for number in range(200)]
    store = opened(path)
    fill(store, held)
    settle(store)
    assert store.listings.stats(SEARCHES, TENANT, 0.0).indexed
    assert_exact(store, held, 20)
    damage(path, how)
    assert_exact(store, held, 20)
    settle(store)
    _assert_made_anew(store, held)
    damage(path, how)
    store = opened(path)
    assert_exact(store, held, 20)
    store.rows.put(SEARCHES, TENANT, embedded("later"))
    assert_exact(store, [*held, "later"], 20)
    settle(store)
    _assert_made_anew(store, [*held, "later"])


def _assert_made_anew(store: SqliteStore, held: list[str]) -> None:
    assert store.admin.verify(repair=False) == []
    assert store.listings.stats(SEARCHES, TENANT, 0.0).indexed
    assert_exact(store, held, 20)
    store.close()


def damage(path: Path, how: str) -> None:
    """Damage the index next to the database, in one of the ways that a disk or a user may."""
    folder = path.with_name(f"{path.name}.chroma")
    assert folder.is_dir()
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    assert files
    if how in {"deleted", "a file"}:
        shutil.rmtree(folder)
    if how == "a file":
        folder.write_text("mine")
    for file in files if how in {"noise", "cut short", "emptied"} else ():
        content = file.read_bytes()
        kept = {"noise": os.urandom(len(content)), "cut short": content[: len(content) // 2], "emptied": b""}[how]
        with file.open("r+b") as open_file:  # in place, while others have it open
            open_file.truncate(len(kept))
            open_file.write(kept)


def without_chroma(path: Path) -> None:
    """Check that every row is found if ChromaDB cannot be imported, with one warning."""
    folder = path.with_name("nothing to import")
    folder.mkdir()
    for name in ("chromadb", "chromadb_rust_bindings"):
        (folder / f"{name}.py").write_text("raise ImportError('not installed')")
    sys.path.insert(0, str(folder))  # which the processes that the store starts go by, too
    told: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: told.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("harness").addHandler(handler)
    store = opened(path)
    held = [entry.key for entry in store.listings.scan(SEARCHES, TENANT)]
    for number in range(3 * LIMIT):
        held.append(f"new-{number}")
        store.rows.put(SEARCHES, TENANT, embedded(held[-1]))
        assert keys_near(store, vector_of(held[-1]), 1) == held[-1:], f"row {len(held)} is not found"
    assert_exact(store, held, 10)
    settle(store)
    assert_exact(store, held, 10)
    store.close()
    assert len(told) == 1, told
    assert "ChromaDB" in told[0]


def answer_without_importing_chroma(path: Path) -> None:
    """Find a row among a thousand without importing the modules of the index."""
    store = SqliteStore(path)
    assert keys_near(store, vector_of("k500"), 1) == ["k500"]
    store.close()
    heavy = {"chromadb", "chromadb_rust_bindings", "onnxruntime"} & set(sys.modules)
    assert not heavy, heavy


def fork_with_an_index(path: Path) -> None:
    """Ask and put in a child and its parent, which has the index open: both find the rows of both."""
    store = opened(path)
    held = [f"k{number}" for number in range(150)]
    fill(store, held)
    settle(store)
    assert_exact(store, held, 20)

    def child(number: int) -> None:
        signal.alarm(60)
        assert_exact(store, held, 20)
        mine = [f"child-{number}-{row}" for row in range(70)]
        for key in mine:
            store.rows.put(SEARCHES, TENANT, embedded(key))
            assert keys_near(store, vector_of(key), 1) == [key]
        store.close()

    children = [_fork(child, number) for number in range(2)]
    mine = [f"parent-{row}" for row in range(70)]
    for key in mine:
        store.rows.put(SEARCHES, TENANT, embedded(key))
        assert keys_near(store, vector_of(key), 1) == [key]
    _all_ended_well(children)
    assert_exact(store, [*held, *mine, *(f"child-{number}-{row}" for number in range(2) for row in range(70))], 20)
    store.close()


def fork_while_threads_ask(path: Path) -> None:
    """A child forked in the middle of another thread's look-up is not locked out by it."""
    store = SqliteStore(path)
    fill(store, [f"k{number}" for number in range(500)])
    stop = threading.Event()

    def use(_name: int) -> None:
        while not stop.is_set():
            ask(store, vector_of("k7"))

    def child(_name: int) -> None:
        signal.alarm(20)  # a lock that a thread of the parent held at the fork is never freed here
        assert keys_near(store, vector_of("k7"), 1) == ["k7"]

    threads = _Threads(use, 4)
    children = []
    try:
        for number in range(12):
            time.sleep(0.01)
            children.append(_fork(child, number))
        _all_ended_well(children)
    finally:
        stop.set()
        threads.join()


def count_in_turns(path: Path) -> None:
    """Count in eight processes, each in its turn: no count is lost."""
    total = path.with_name("total")
    total.write_text("0")

    def child(_number: int) -> None:
        signal.alarm(60)
        store = SqliteStore(path)
        for _ in range(25):
            with store.locks.hold("counter", 60) as mine:
                assert mine
                seen = int(total.read_text())
                time.sleep(0.0005)
                total.write_text(str(seen + 1))

    _all_ended_well([_fork(child, number) for number in range(8)])
    assert total.read_text() == "200", f"{200 - int(total.read_text())} counts are lost"


def die_with_the_turn(path: Path) -> None:
    """Kill the holder of a turn: the waiting processes get it within two seconds, one after the other."""
    from_holder, to_us = os.pipe()

    def hold(_number: int) -> None:
        with SqliteStore(path).locks.hold("name", 60):
            os.write(to_us, b".")
            signal.pause()

    def wait(_number: int) -> None:
        signal.alarm(60)
        store = SqliteStore(path)
        os.write(to_us, b".")
        with store.locks.hold("name", 60) as mine:
            assert mine

    holder = _fork(hold, 0)
    assert os.read(from_holder, 1)
    waiting = [_fork(wait, number) for number in range(3)]
    for _ in waiting:
        assert os.read(from_holder, 1)
    time.sleep(0.1)  # they wait for it by now; if not, they get it the sooner
    os.kill(holder, signal.SIGKILL)
    killed = time.monotonic()
    _all_ended_well(waiting)
    assert time.monotonic() - killed < 2
    os.waitpid(holder, 0)


SCENES: dict[str, Callable[..., None]] = {
    scene.__name__: scene
    for scene in (
        put,
        put_and_ask,
        damage_the_index,
        without_chroma,
        answer_without_importing_chroma,
        fork_with_an_index,
        fork_while_threads_ask,
        count_in_turns,
        die_with_the_turn,
    )
}

__all__ = ["MODULE", "SCENES", "play"]

if __name__ == "__main__":
    import faulthandler

    faulthandler.enable()
    SCENES[sys.argv[1]](*(Path(each) if "/" in each else each for each in sys.argv[2:]))
