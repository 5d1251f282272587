"""The `Store` on SQLite: one file, any number of threads and processes."""

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakSet

from harness.core.entries import Entry, TableStats
from harness.errors import MigrationError, StoreBusy, StoreCorrupt, StoreError
from harness.stores.migrations import is_current, migrate
from harness.stores.tables import OWN_START, TABLES

log = logging.getLogger(__name__)
T = TypeVar("T")

BUSY_SECONDS = 30.0
PAGE_CACHE_KIB = 32_768
"""Pages that a connection keeps. Mapping the file would be as fast, but kills us when another program cuts it short."""

SWEEP_BATCH = 1_000
"""Rows that one write deletes at the most, so that no writer holds the lock for long."""

_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


class _Handle:
    """One thread's connection; `file` identifies the file that it is open on.

    It is closed when nobody holds the handle any more: its thread has ended, or the store was closed. So whoever uses
    the connection must hold the handle meanwhile: closing a connection that another thread is using is a crash.

    `execute` is that of one cursor for all look-ups: making a new one takes as long as hashing the key.
    """

    def __init__(self, connection: sqlite3.Connection, file: tuple[int, int]) -> None:
        self.connection = connection
        self.file = file
        self.execute = connection.cursor().execute

    def __del__(self) -> None:
        self.connection.close()


class SqliteStore:
    """Cache tables in the SQLite file at `path`, made or brought up to date on opening.

    Write-ahead log with synchronous=NORMAL: what `put` acknowledged survives `kill -9` of any process; a power cut may
    take the last moments, never the file's consistency. One connection a thread; a forked child opens its own. A file
    that is damaged, or no database, is moved aside under a dated name, reported by a warning, and replaced.

    Raises:
        StoreError: if the file cannot be opened (`MigrationError`, `StoreBusy` where that is the reason).
    """

    def __init__(self, path: Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._local = threading.local()
        self._opening = threading.Lock()
        self._writing = threading.Lock()
        _stores.add(self)
        self._handle()

    def get(self, table: str, tenant: str, key: str) -> Entry | None:
        """See `Store.get`."""
        declared = TABLES[table]
        try:
            handle = self._local.handle
            row = handle.execute(declared.select, (tenant, key)).fetchone()
        except (AttributeError, sqlite3.Error):  # the long road: opens, tells errors apart, replaces a damaged file
            row = self._run(partial(_fetch, declared.select, (tenant, key)))
        if row is None:
            return None
        return Entry(key, row[0].decode(), row[1], row[2], row[3], row[4], row[OWN_START:])

    def put(self, table: str, tenant: str, entry: Entry, *, sweep_before: float | None = None) -> None:
        """See `Store.put`."""
        declared = TABLES[table]
        values = (
            *(tenant, entry.key, entry.text, entry.payload.decode()),
            *entry.own,
            *(entry.created_at, entry.expires_at, entry.last_used_at, entry.embedding, entry.embedder),
        )

        def write(connection: sqlite3.Connection) -> None:
            if sweep_before is not None:
                _sweep_batch(connection, table, sweep_before)
            connection.execute(declared.upsert, values)

        self._write(write)

    def touch(self, table: str, tenant: str, key: str, now: float) -> None:
        """See `Store.touch`."""
        sql = f"UPDATE {TABLES[table].name} SET last_used_at = ? WHERE tenant = ? AND key = ?"
        self._write(lambda connection: connection.execute(sql, (now, tenant, key)))

    def sweep(self, table: str, before: float) -> int:
        """See `Store.sweep`."""
        deleted = 0
        while batch := self._write(lambda connection: _sweep_batch(connection, table, before)):
            deleted += batch
        return deleted

    def clear(self, table: str) -> int:
        """See `Store.clear`. The disk space of what was deleted is given back to the file system."""
        deleted = self._write(lambda connection: connection.execute(f"DELETE FROM {TABLES[table].name}").rowcount)
        self._run(lambda handle: handle.connection.execute("VACUUM"))
        return deleted

    def stats(self, table: str, now: float) -> TableStats:
        """See `Store.stats`."""
        sql = (
            "SELECT count(*) FILTER (WHERE expires_at > :now), count(*) FILTER (WHERE expires_at <= :now), count(*), "
            f"min(created_at), max(created_at) FROM {TABLES[table].name}"
        )
        return TableStats(table, *self._run(lambda handle: handle.connection.execute(sql, {"now": now}).fetchone()))

    def size(self) -> int:
        """See `Store.size`; the write-ahead log counts."""
        files = (self.path, self.path.with_name(f"{self.path.name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def close(self) -> None:
        """See `Store.close`: what another thread is doing is finished first. A later call opens again."""
        self._reopen()

    # One thread's connection -------------------------------------------------------------------------------------

    def _handle(self) -> _Handle:
        try:
            handle: _Handle = self._local.handle
        except AttributeError:
            handle = self._local.handle = self._open()
        return handle

    def _reopen(self) -> None:
        """Let go of every thread's connection; each opens a new one at its next call."""
        self._local = threading.local()

    def _run(self, operation: Callable[[_Handle], T]) -> T:
        """Run `operation` on this thread's connection; on a damaged file, once more on the one that replaced it."""
        handle = None
        try:
            handle = self._handle()
            return operation(handle)
        except sqlite3.Error as error:
            if handle is None or _primary(error) not in _DAMAGED:
                raise self._translated(error) from error
            self._replace_damaged()
        with self._translating():
            return operation(self._handle())

    def _write(self, operation: Callable[[sqlite3.Connection], T]) -> T:
        """Run `operation` in one transaction, on the file that stands at `path` now."""

        def transaction(handle: _Handle) -> T:
            if handle.file != _identity(self.path):  # deleted or moved under us: writing on would lose it all
                self._reopen()
                handle = self._handle()
            with handle.connection as connection:  # commits, or rolls back
                connection.execute("BEGIN IMMEDIATE")  # a deferred one may fail with BUSY at its first write, at once
                return operation(connection)

        with self._writing:  # only one can write: threads that queue here need not poll for the file's lock
            return self._run(transaction)

    # Opening -----------------------------------------------------------------------------------------------------

    def _open(self) -> _Handle:
        with self._opening, self._translating():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = self._connect()
            try:
                ready = is_current(connection) and _journal_mode(connection) == "wal"
            except (sqlite3.DatabaseError, MigrationError) as error:
                connection.close()
                if _primary(error) not in _DAMAGED:
                    raise
                self._move_aside()
                connection, ready = self._connect(), False
            if not ready:
                try:
                    self._prepare(connection)
                except BaseException:
                    connection.close()
                    raise
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA cache_size = -{PAGE_CACHE_KIB}")
            connection.execute("PRAGMA secure_delete = OFF")  # where it is on, clearing writes as much as it deletes
            # A payload goes to a JSON parser, which wants bytes: making text of it first takes as long as parsing it.
            connection.text_factory = bytes
            return _Handle(connection, _identity(self.path))

    def _connect(self) -> sqlite3.Connection:
        # close() and the end of a thread close connections from elsewhere; each is used by one thread only
        return sqlite3.connect(
            self.path, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False, cached_statements=64
        )

    def _prepare(self, connection: sqlite3.Connection) -> None:
        with self._file_lock():
            self._switch_to_wal(connection)
            migrate(connection)

    def _switch_to_wal(self, connection: sqlite3.Connection) -> None:
        """Wait ourselves: where somebody reads the file, SQLite fails at once instead of waiting its busy time-out."""
        deadline = time.monotonic() + self._busy_seconds
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if _primary(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
            else:
                return

    @contextmanager
    def _file_lock(self) -> Iterator[None]:
        from filelock import FileLock, Timeout

        try:
            with FileLock(f"{self.path}.lock", timeout=self._busy_seconds):
                yield
        except Timeout as error:
            raise StoreBusy(f"another process is preparing {self.path}; try again in a minute") from error

    # Damage ------------------------------------------------------------------------------------------------------

    def _replace_damaged(self) -> None:
        with self._opening, self._translating():
            self._reopen()
            self._move_aside()

    def _move_aside(self) -> None:
        """Rename the file if it is still damaged: another thread or process may have replaced it already."""
        with self._file_lock():
            if not self.path.exists() or _is_sound(self.path):
                return
            aside = self.path.with_name(f"{self.path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
            while aside.exists():
                aside = aside.with_name(f"{aside.name}-again")
            for suffix in ("", "-wal", "-shm"):
                part = self.path.with_name(self.path.name + suffix)
                if part.exists():
                    part.rename(aside.with_name(aside.name + suffix))
        log.warning("%s is damaged or not a database; moved it to %s and started a new one", self.path, aside)

    # Errors ------------------------------------------------------------------------------------------------------

    @contextmanager
    def _translating(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise self._translated(error) from error

    def _translated(self, error: sqlite3.Error | OSError) -> StoreError:
        match _primary(error):
            case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
                return StoreBusy(f"another process held {self.path} for over {self._busy_seconds:g} s; try again")
            case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
                return StoreCorrupt(f"{self.path} is damaged ({error}); move it away and try again")
            case sqlite3.SQLITE_FULL:
                return StoreError(
                    f"the disk is full: nothing more fits into {self.path}; free space or choose another --data-dir"
                )
            case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
                return StoreError(
                    f"cannot write {self.path} ({error}); check its permissions or choose another --data-dir"
                )
        return StoreError(
            f"cannot use {self.path} ({error}); check the disk and permissions or choose another --data-dir"
        )


def _fetch(sql: str, values: tuple[str, ...], handle: _Handle) -> Any:
    return handle.connection.execute(sql, values).fetchone()


def _sweep_batch(connection: sqlite3.Connection, table: str, before: float) -> int:
    name = TABLES[table].name
    return connection.execute(
        f"DELETE FROM {name} WHERE rowid IN (SELECT rowid FROM {name} WHERE expires_at <= ? LIMIT {SWEEP_BATCH})",
        (before,),
    ).rowcount


def _primary(error: BaseException) -> int:
    """Return the primary result code of SQLite's error, 0 for another kind of error."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _identity(path: Path) -> tuple[int, int]:
    """Return device and inode of the file at `path`, zeros when there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - Path.stat costs twice as much, on every write
    except FileNotFoundError:
        return (0, 0)
    return (found.st_dev, found.st_ino)


def _journal_mode(connection: sqlite3.Connection) -> str:
    mode: str = connection.execute("PRAGMA journal_mode").fetchone()[0]
    return mode


def _is_sound(path: Path) -> bool:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS)
    try:
        return bool(connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
    except sqlite3.DatabaseError as error:
        if _primary(error) in _DAMAGED:
            return False
        raise
    finally:
        connection.close()


# A fork copies one thread and every lock. So it waits until no thread writes, for a lock that SQLite holds then would
# be held for ever in the child; and the child must never touch a connection that its parent opened: not use it, and
# not close it.
_stores: WeakSet[SqliteStore] = WeakSet()
_paused: list[SqliteStore] = []
_inherited: list[threading.local] = []


def _pause_writers() -> None:
    for store in list(_stores):
        store._writing.acquire()  # noqa: SLF001 - same module
        _paused.append(store)


def _resume_writers() -> None:
    while _paused:
        _paused.pop()._writing.release()  # noqa: SLF001


def _forget_connections() -> None:
    for store in _paused:
        _inherited.append(store._local)  # noqa: SLF001
        store._local = threading.local()  # noqa: SLF001
        store._opening = threading.Lock()  # noqa: SLF001
    _resume_writers()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork either
    os.register_at_fork(before=_pause_writers, after_in_parent=_resume_writers, after_in_child=_forget_connections)
