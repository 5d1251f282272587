"""Scenes that may end a process, each run in a separate one: `python -m tests.storage.scenarios NAME PATH …`.

A scene ends with exit code 0 if its promise held; otherwise the reason is on standard error, or a signal ended it.
"""

import faulthandler
import io
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout, suppress
from itertools import count
from pathlib import Path

import filelock  # noqa: F401 - the store imports it late: too late for who may no longer read it
import pytest

from harness.cache import Cache
from harness.errors import StoreError
from harness.storage.sqlite.store import SqliteStore
from tests.storage.entries import SEARCHES, TENANT, an_entry

RUNS = "research_runs"
ROOT = Path(__file__).parents[2]
THREADS = 8


def play(name: str, *arguments: str | Path, module: str = __name__) -> None:
    """Run a scene of `module` in a fresh process.

    Raises:
        AssertionError: with what the process wrote, if its promise did not hold.
    """
    # "full_disk": in a separate mount namespace, which needs no right outside
    apart = ["unshare", "--map-root-user", "--mount"] if name.endswith("full_disk") else []
    command = [*apart, sys.executable, "-m", module, name, *map(str, arguments)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert told.returncode == 0, f"{name} ended with {told.returncode}:\n{told.stderr}"


# Scenes --------------------------------------------------------------------------------------------------------------


def put(path: Path, key: str) -> None:
    """Put one row, as a command does that runs once."""
    store = SqliteStore(path)
    store.rows.put(SEARCHES, TENANT, an_entry(key))
    store.close()


def close_under_threads(path: Path) -> None:
    """Close the store again and again while threads use it: no call fails, nothing acknowledged is lost."""
    store = SqliteStore(path)
    store.rows.put(SEARCHES, TENANT, an_entry("first"))
    used = threading.Semaphore(0)

    def use(name: int) -> None:
        for number in range(200):
            assert store.rows.get(SEARCHES, TENANT, "first") is not None
            store.rows.put(SEARCHES, TENANT, an_entry(f"{name}-{number}"))
            used.release()

    threads = _Threads(use)
    for uses in range(THREADS * 200):
        if not used.acquire(timeout=20):
            break  # they have failed, and join says why
        if uses % 5 == 0:
            store.close()
    threads.join()
    _all_found(path, (f"{name}-{number}" for name in range(THREADS) for number in range(200)))


def lose_the_file_under_threads(path: Path, how: str) -> None:
    """Remove the file (with `k0`, `k1`, …) while threads use it: no call fails, and no later put is lost."""
    for round_ in range(8):  # what goes wrong here does not go wrong every time
        folder = path.parent / str(round_)
        folder.mkdir()
        _lose_once(shutil.copy(path, folder / path.name), how)


def _inode(path: Path) -> int | None:
    """Return which file the path names; `None` while it names none, between the old one and the new one."""
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None


def _lose_once(path: Path, how: str) -> None:
    store = SqliteStore(path)
    warm = threading.Barrier(THREADS + 1)
    gone = threading.Event()
    later: list[str] = []

    def use(name: int) -> None:
        for number in range(20):
            _use(f"{name}-before-{number}")
        warm.wait(60)
        for number in range(100):
            was_gone = gone.is_set()
            _use(f"{name}-{number}")
            if was_gone:
                later.append(f"{name}-{number}")

    def _use(key: str) -> None:
        store.rows.get(SEARCHES, TENANT, f"k{random.randrange(200)}")
        store.rows.put(SEARCHES, TENANT, an_entry(key))

    threads = _Threads(use)
    warm.wait(60)
    if how == "moved away":
        path.rename(path.with_name("moved.db"))
    elif how == "damaged":
        was = path.stat().st_ino
        _overwrite(path)
        end = time.monotonic() + 10
        # a row put before the damage is noticed is lost with the file; a look-up may be answered from memory
        while time.monotonic() < end and _inode(path) in (None, was):
            store.rows.get(SEARCHES, TENANT, "k7")
    else:
        for suffix in ("", "-wal", "-shm") if how == "deleted with its log" else ("",):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
    gone.set()
    threads.join()
    store.rows.put(SEARCHES, TENANT, an_entry("last"))
    _all_found(path, [*later, "last"])
    store.close()
    _all_found(path, [*later, "last"])


def fork_children(path: Path) -> None:
    """Fork with an open store: children write and read, the parent continues, and all find every row."""
    store = SqliteStore(path)
    store.rows.put(SEARCHES, TENANT, an_entry("parent"))

    def child(name: int) -> None:
        assert store.rows.get(SEARCHES, TENANT, "parent") is not None
        for number in range(100):
            store.rows.put(SEARCHES, TENANT, an_entry(f"{name}-{number}"))
            assert store.rows.get(SEARCHES, TENANT, f"{name}-{number}") is not None

    children = [_fork(child, name) for name in range(4)]
    for number in range(100):
        store.rows.put(SEARCHES, TENANT, an_entry(f"parent-{number}"))
    _all_ended_well(children)
    keys = [f"{name}-{number}" for name in (*range(4), "parent") for number in range(100)]
    assert all(store.rows.get(SEARCHES, TENANT, key) for key in keys)
    store.close()
    _all_found(path, keys)


def child_exits_as_programs_do(path: Path) -> None:
    """A child that ends with `sys.exit`, and so tears its objects down, does not disturb the parent."""
    store = SqliteStore(path)
    store.rows.put(SEARCHES, TENANT, an_entry("before"))
    child = os.fork()
    if child == 0:
        store.rows.put(SEARCHES, TENANT, an_entry("child"))
        sys.exit(0)
    _all_ended_well([child])
    store.rows.put(SEARCHES, TENANT, an_entry("after"))
    _all_found(path, ["before", "child", "after"])
    store.close()
    _all_found(path, ["before", "child", "after"])


def parent_closes_before_its_child(path: Path) -> None:
    """The parent closes its store while a child still uses its own: what the child puts afterwards is kept."""
    store = SqliteStore(path)
    store.rows.put(SEARCHES, TENANT, an_entry("parent"))
    from_child, to_parent = os.pipe()
    from_parent, to_child = os.pipe()

    def child(_name: int) -> None:
        store.rows.put(SEARCHES, TENANT, an_entry("before"))
        os.write(to_parent, b".")
        os.read(from_parent, 1)
        store.rows.put(SEARCHES, TENANT, an_entry("after"))

    forked = _fork(child, 0)
    os.read(from_child, 1)
    store.close()
    os.write(to_child, b".")
    _all_ended_well([forked])
    _all_found(path, ["parent", "before", "after"])


def fork_while_threads_write(path: Path) -> None:
    """Fork while threads of the parent write: the children's writes and theirs all succeed."""
    store = SqliteStore(path, busy_seconds=10)
    under_way = threading.Barrier(4)
    stop = threading.Event()
    written: list[str] = []

    def write(name: int) -> None:
        for number in count():
            if number == 20:
                under_way.wait(60)
            if stop.is_set():
                break
            store.rows.put(SEARCHES, TENANT, an_entry(f"{name}-{number}"))
            written.append(f"{name}-{number}")

    def child(name: int) -> None:
        signal.alarm(30)  # a lock that a thread of the parent held at the fork is never freed here
        for number in range(20):
            store.rows.put(SEARCHES, TENANT, an_entry(f"child-{name}-{number}"))

    threads = _Threads(write, 3)
    under_way.wait(60)
    children = [_fork(child, name) for name in range(10)]
    try:
        _all_ended_well(children)
    finally:
        stop.set()
        threads.join()
    _all_found(path, [*written, *(f"child-{name}-{number}" for name in range(10) for number in range(20))])


def write_without_the_right_to() -> None:
    """In a read-only folder, a store is refused with what to do, and the file is unchanged."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "harness.db"
        put(path, "k")
        before = path.read_bytes()
        Path(folder).chmod(0o555)
        for file in Path(folder).iterdir():
            file.chmod(0o444)
        child = _fork(_refused, path) if os.geteuid() == 0 else _refused(path)
        if child is not None:
            _all_ended_well([child])
        assert path.read_bytes() == before
        Path(folder).chmod(0o755)


def read_without_the_right_to_write(kind: str) -> None:
    """In a read-only folder, every reading command works, writes are refused, and nothing is changed.

    `kind`: the file was closed; a killed process left it a log; it is of an older program.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "harness.db"
        Path(folder).chmod(0o755)
        _leave_behind(path, kind)
        with tempfile.TemporaryDirectory() as writable:  # imports all that the child may no longer read
            shutil.copytree(folder, writable, dirs_exist_ok=True)
            _use_every_reading_command(Path(writable))
        before = {each.name: each.read_bytes() for each in Path(folder).iterdir()}
        Path(folder).chmod(0o555)
        for file in Path(folder).iterdir():
            file.chmod(0o444)
        child = _fork(_reads, path)
        _all_ended_well([child])
        assert {each.name: each.read_bytes() for each in Path(folder).iterdir()} == before
        Path(folder).chmod(0o755)


def clear_on_a_full_disk(size: str, payload: str) -> None:
    """On a file system of this size without a free byte, the command clears the cache and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
        path = Path(folder) / "harness.db"
        store = SqliteStore(path)
        store.rows.put(RUNS, TENANT, an_entry("run", own=("ddgs",), payload=b"{}"))
        large = b'["' + b"x" * int(payload) + b'"]'
        with pytest.raises(StoreError, match="disk is full"):  # noqa: PT012 - which of them fails is not known
            for number in count():
                store.rows.put(SEARCHES, TENANT, an_entry(str(number), payload=large))
        rest = Path(folder) / "rest"
        with rest.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(100))
        assert os.statvfs(folder).f_bavail == 0
        store.close()  # which may free the space of the log
        with rest.open("ab", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(100))
        assert os.statvfs(folder).f_bavail == 0
        before = store.admin.size()
        os.environ["HARNESS_DATA_DIR"] = folder
        code, told, _ = _command("cache", "stats", "--json")
        assert (code, '"search_cache"' in told) == (0, True), told
        code, _, told = _command("cache", "expired")
        assert (code, "the disk is full" in told) == (4, True), told
        code, told, _ = _command("cache", "clear", "--yes")
        assert (code, "deleted" in told) == (0, True), told
        assert store.admin.size() < before / 2
        store.rows.put(SEARCHES, TENANT, an_entry("after", payload=large))
        assert store.rows.get(RUNS, TENANT, "run") is not None
        assert store.admin.verify(repair=False) == []
        store.close()
        subprocess.run(["umount", folder], check=True)


def _leave_behind(path: Path, kind: str) -> None:
    alive = path.with_name("alive.db")
    store = SqliteStore(alive)
    Cache(store).searches.put("a query", [{"title": "a title", "href": "https://example.org", "body": "a body"}])
    if kind != "with a log":
        store.close()
    if kind == "of an older program":
        with sqlite3.connect(alive) as connection:
            connection.execute("ALTER TABLE memory DROP COLUMN checksum")
            connection.execute("ALTER TABLE memory DROP COLUMN embedding_checksum")
            connection.execute("DELETE FROM harness_migrations WHERE name = '0020-checksums'")
        connection.close()
    for suffix in ("", "-wal"):
        if Path(f"{alive}{suffix}").exists():
            shutil.copyfile(f"{alive}{suffix}", f"{path}{suffix}")
    store.close()
    for each in path.parent.glob("alive.db*"):
        each.unlink()


def _reads(path: Path) -> None:
    if os.geteuid() == 0:
        os.setuid(65_534)
    _use_every_reading_command(path.parent)
    code, _, told = _command("cache", "clear", "--yes")
    assert code == 4, told
    assert f"the database {path} is read-only" in told, told
    assert "Traceback" not in told


def _use_every_reading_command(folder: Path) -> None:
    os.environ |= {"HARNESS_DATA_DIR": str(folder), "HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"}
    for arguments in (
        ("search", "a query", "--offline", "--exact"),
        ("cache", "stats"),
        ("cache", "explain", "a query"),
        ("cache", "runs"),
        ("cache", "verify"),
        ("history",),
    ):
        ended = _command(*arguments)
        assert ended[0] == 0, (arguments, ended)
        assert "a title" in ended[1] or arguments[0] != "search", ended


def _command(*arguments: str) -> tuple[int, str, str]:
    """Run the command in this process; return its code, and what it wrote to its two streams."""
    from harness.cli.main import main

    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["harness", *arguments]
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ending:
        main()
    return int(ending.value.code or 0), out.getvalue(), err.getvalue()


def _refused(path: Path) -> None:
    if os.geteuid() == 0:
        os.setuid(65_534)  # no one: root may write whatever the mode says
    with pytest.raises(StoreError, match="--data-dir"):
        put(path, "new")


# ---------------------------------------------------------------------------------------------------------------------


class _Threads:
    """Threads of one function, called with their number, whose errors are raised by `join`."""

    def __init__(self, use: Callable[[int], None], count: int = THREADS) -> None:
        self._use = use
        self._errors: list[BaseException] = []
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(count)]
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        """Wait for all; raise the first error of any."""
        for thread in self._threads:
            thread.join()
        if self._errors:
            raise AssertionError(f"{len(self._errors)} of {len(self._threads)} threads failed") from self._errors[0]

    def _run(self, number: int) -> None:
        try:
            self._use(number)
        except BaseException as error:  # noqa: BLE001 - raised again by join
            self._errors.append(error)


def _fork(work: Callable[..., None], argument: object) -> int:
    """Let a forked child do `work` and end without tearing down; return its id."""
    child = os.fork()
    if child:
        return child
    try:
        work(argument)
    except BaseException:  # noqa: BLE001 - a child must not go on as the parent
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


def _all_ended_well(children: Iterable[int], seconds: float = 60) -> None:
    """Wait for the children; kill those that have not ended in time, even if they hang within the fork itself."""
    deadline = time.monotonic() + seconds
    codes = []
    for child in children:
        while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
            time.sleep(0.01)
        if ended == (0, 0):
            os.kill(child, signal.SIGKILL)
            ended = os.waitpid(child, 0)
        codes.append(os.waitstatus_to_exitcode(ended[1]))
    assert not any(codes), f"exit codes of the children: {codes}"


def _all_found(path: Path, keys: Iterable[str]) -> None:
    """Check in another process that every key is found and nothing is damaged, beyond this process's connections."""
    script = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
found = {key for (key,) in connection.execute("SELECT key FROM search_cache")}
missing = [key for key in sys.stdin.read().split() if key not in found]
sys.exit(f"{len(missing)} rows are lost: {missing[:5]}" if missing else 0)
"""
    wanted = "\n".join(keys)
    told = subprocess.run(
        [sys.executable, "-c", script, path], input=wanted, text=True, capture_output=True, timeout=60, check=False
    )
    assert told.returncode == 0, told.stderr


def _overwrite(path: Path) -> None:
    connection = sqlite3.connect(path)
    pages = connection.execute(
        "SELECT rootpage FROM sqlite_master WHERE tbl_name = 'search_cache' AND rootpage > 0"
    ).fetchall()
    connection.close()
    with path.open("r+b") as file:
        for (page,) in pages:
            file.seek((page - 1) * 4_096)
            file.write(random.Random(page).randbytes(4_096))


SCENES: dict[str, Callable[..., None]] = {
    scene.__name__: scene
    for scene in (
        put,
        close_under_threads,
        lose_the_file_under_threads,
        fork_children,
        child_exits_as_programs_do,
        parent_closes_before_its_child,
        fork_while_threads_write,
        write_without_the_right_to,
        read_without_the_right_to_write,
        clear_on_a_full_disk,
    )
}

if __name__ == "__main__":
    faulthandler.enable()
    SCENES[sys.argv[1]](*(Path(each) if "/" in each else each for each in sys.argv[2:]))
