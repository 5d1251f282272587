"""Connections to one SQLite file: one a thread, across forks, lost files and damage."""

import logging
import os
import sqlite3
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar
from weakref import WeakSet

from harness.errors import InvalidInput, MigrationError, StoreBusy, StoreError
from harness.storage import forks  # noqa: F401 - its hooks and filelock's come before ours, and so run after them
from harness.storage.sqlite.damaged_files import (
    DAMAGED,
    beside,
    copied,
    identity,
    is_of_unknown_version,
    is_sound,
    primary,
    remove_copy,
    replace_database,
    without,
)
from harness.storage.sqlite.database import Database, in_transaction
from harness.storage.sqlite.migrations import is_current, migrate
from harness.storage.sqlite.salvage import salvage
from harness.storage.sqlite.store_errors import has_no_space, is_full, store_error
from harness.storage.statements import NO_TEXT

log = logging.getLogger(__name__)
T = TypeVar("T")

PAGE_CACHE_KIB = 32_768
"""Pages that a connection keeps. Mapping the file would be as fast, but kills us when another program cuts it short."""

Durability: TypeAlias = Literal["normal", "full"]
SYNCHRONOUS: Mapping[Durability, str] = {"normal": "NORMAL", "full": "FULL"}
"""SQLite's setting for each durability: FULL waits at every commit until the disk has the log."""
_REFUSED = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM})
_NO_SPACE = frozenset({sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN})


class Handle:
    """One thread's connection; `file` identifies the file that it is open on.

    It is closed when the last reference goes: its thread has ended, or the store was closed. So users of the
    connection must hold the handle meanwhile: closing a connection that another thread is using is a crash.

    It also sets `busy`, and asks for `execute` after that: a fork must not copy what SQLite itself has locked at some
    moment, because the child would wait for it for ever. So it has `execute` refuse, and waits for `busy` to end.

    `execute` is that of one cursor for all look-ups: making a new one takes as long as hashing the key.
    """

    __slots__ = ("__weakref__", "busy", "connection", "execute", "file")

    def __init__(self, connection: sqlite3.Connection, file: tuple[int, int]) -> None:
        self.connection = connection
        self.file = file
        self.execute = connection.cursor().execute
        self.busy = False

    def retire(self) -> None:
        """Wait for the end of what the connection is used for, and close it; `execute` raises from now on."""
        self.execute = _refuse
        while self.busy:
            time.sleep(0.001)
        self.connection.close()

    def __del__(self) -> None:
        if sys.is_finalizing():  # no fork follows, and the holder of the lock may have been stopped
            self.connection.close()
            return
        with _closing:
            self.connection.close()


class SqliteConnections(Database):
    """Every thread's connection to the database at `path`, made or brought up to date on opening.

    `local.handle` is this thread's, once it has one. Text comes back as bytes: a payload goes to a JSON parser, which
    wants bytes, and making text of it first takes as long as parsing it.
    """

    def __init__(self, path: Path, busy_seconds: float, *, durability: Durability = "normal") -> None:
        self.path = path
        self._durability = durability
        self.local = threading.local()
        self._busy_seconds = busy_seconds
        self._opening = threading.Lock()
        self._writing = threading.Lock()
        self._handles: WeakSet[Handle] = WeakSet()
        self._copy: Path | None = None
        self.database = path.absolute().as_uri()
        """URI of the file; of a read-only file that has a log, URI of a copy."""
        with _turn:
            _all.add(self)

    def handle(self) -> Handle:
        """Return this thread's handle, opening the file if need be."""
        try:
            handle: Handle = self.local.handle
        except AttributeError:
            handle = self.local.handle = self._open()
        return handle

    def run(self, operation: Callable[[Handle], T]) -> T:
        """Run `operation` on this thread's handle; on a damaged file, once more on the one that replaced it."""
        try:
            with self._held() as handle:
                return operation(handle)
        except UnicodeEncodeError:
            raise InvalidInput(NO_TEXT) from None
        except sqlite3.Error as error:
            if not self._is_damage(error):
                raise store_error(error, self.path, self._busy_seconds) from error
        del handle  # or its connection would be open on the damaged file while that is moved
        self._replace_damaged()
        with self._translating(), self._held() as handle:
            return operation(handle)

    @contextmanager
    def _held(self) -> Iterator[Handle]:
        """Hold this thread's handle: a fork of another thread waits until it is let go."""
        while True:
            handle = self.handle()
            handle.busy = True
            try:
                if handle.execute is not _refuse:
                    yield handle
                    return
            finally:
                handle.busy = False

    def write(self, operation: Callable[[sqlite3.Connection], T]) -> T:
        """Run `operation` in one transaction, on the file that is at `path` now."""

        def transaction(handle: Handle) -> T:
            # deleted or moved under us: writing on would lose it all; or the disk may have space again
            if handle.file != identity(self.path) or self._without_space:
                self.reopen()
                handle = self.handle()
            return in_transaction(handle.connection, operation)

        with self._writing:  # only one can write: threads that queue here need not poll for the file's lock
            return self.run(transaction)

    def size(self) -> int:
        """Return the size of the file and its write-ahead log, in bytes."""
        files = (self.path, beside(self.path, "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def reopen(self) -> None:
        """Let go of every thread's connection; each opens a new one at its next call."""
        self.local = threading.local()

    # Opening -----------------------------------------------------------------------------------------------------

    def _open(self) -> Handle:
        with self._opening, self._translating():
            while True:
                file = self._existing_file()
                connection = self._prepared(file)
                if connection is not None and file == identity(self.path):
                    break
                if connection is not None:  # another process has moved the file aside meanwhile
                    connection.close()
            connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS[self._durability]}")
            connection.execute(f"PRAGMA cache_size = -{PAGE_CACHE_KIB}")
            connection.execute("PRAGMA secure_delete = OFF")  # where it is on, clearing writes as much as it deletes
            connection.text_factory = bytes
            handle = Handle(connection, file)
            self._handles.add(handle)
            return handle

    def _existing_file(self) -> tuple[int, int]:
        """Make an empty file where there is none, without the log that an earlier one may have left behind."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not self.path.exists():
            with self._file_lock():
                if not self.path.exists():
                    for suffix in ("-wal", "-shm"):
                        beside(self.path, suffix).unlink(missing_ok=True)
                    self.path.touch()
        return identity(self.path)

    def _prepared(self, file: tuple[int, int]) -> sqlite3.Connection | None:
        """Return a connection to an up-to-date database, or `None` after having moved a damaged one aside."""
        self.database = self.path.absolute().as_uri()
        connection = self._connect()
        try:
            if not (is_current(connection) and connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"):
                with self._file_lock():
                    migrate(connection)
                    self._switch_to_wal(connection)
        except (sqlite3.DatabaseError, MigrationError, StoreError, OSError) as error:
            connection.close()
            if self._is_read_only() and (isinstance(error, OSError) or primary(error) in _REFUSED):
                return self._read_only()
            if has_no_space(self.path) and primary(error) in _NO_SPACE:
                return self._read_only()
            # SQLITE_ERROR: a header that asks for another version of SQLite, if the file is not sound
            unreadable = primary(error) in DAMAGED | {sqlite3.SQLITE_ERROR}
            if (unreadable and self._move_aside()) or file != identity(self.path):
                return None
            raise
        return connection

    @property
    def _without_space(self) -> bool:
        """Whether the file is only read, because the disk had no space for the log's index when it was opened."""
        return self.database != self.path.absolute().as_uri() and not self._is_read_only()

    def _is_read_only(self) -> bool:
        """Say whether this user may read the file, and may not write it or make a file in its folder."""
        writable = os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)
        return os.access(self.path, os.R_OK) and not writable

    def _read_only(self) -> sqlite3.Connection:
        """Connect to a file that cannot be written, nor its log be read for want of the log's index.

        Without a log, and up to date, the file is read as it is; otherwise from a copy, which is brought up to date.
        """
        log_file = beside(self.path, "-wal")
        if not log_file.exists() or log_file.stat().st_size == 0:
            self.database = f"{self.path.absolute().as_uri()}?immutable=1"
            connection = self._connect()
            if is_current(connection):
                return connection
            connection.close()
        if self._copy is None:
            self._copy = copied(self.path)
            weakref.finalize(self, remove_copy, self._copy, os.getpid())
        self.database = self._copy.as_uri()
        connection = self._connect()
        migrate(connection)
        connection.execute("PRAGMA query_only = ON")
        return connection

    def _connect(self) -> sqlite3.Connection:
        # the end of a thread closes its connection from elsewhere; each is used by one thread only
        return sqlite3.connect(
            self.database,
            timeout=self._busy_seconds,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=64,
            uri=True,
        )

    def _switch_to_wal(self, connection: sqlite3.Connection) -> None:
        """Wait here: while another process reads the file, SQLite fails at once instead of waiting."""
        deadline = time.monotonic() + self._busy_seconds
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if primary(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
            else:
                return

    @contextmanager
    def _file_lock(self) -> Iterator[None]:
        from filelock import FileLock, Timeout

        try:
            with FileLock(beside(self.path, ".lock"), timeout=self._busy_seconds):
                yield
        except Timeout as error:
            raise StoreBusy(f"another process is preparing {self.path}; try again in a minute") from error

    def clear(self, table: str, tenant: str) -> int:
        """Delete the tenant's rows of a table; return how many there were.

        A full disk has no room for the log of that: then the other rows are written to a new file in its place.
        """
        try:
            return super().clear(table, tenant)
        except StoreError as error:
            if not is_full(error):
                raise
        with self._writing, self._opening, self._translating(), self._file_lock():
            with closing(sqlite3.connect(self.path, timeout=self._busy_seconds, isolation_level=None)) as lock:
                with suppress(*([sqlite3.OperationalError] if self._without_space else [])):
                    lock.execute("BEGIN IMMEDIATE")  # blocks writers; without space for a log's index, none can write
                content, gone = without(self.database, table, tenant)
            self.reopen()
            replace_database(self.path, content)
            return gone

    def shrink(self) -> None:
        """Give the space of what was deleted back to the file system; on a full disk the file keeps it for new rows."""
        for statement in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
            try:
                self.run(lambda handle, sql=statement: handle.connection.execute(sql).fetchone())  # type: ignore[misc]
            except StoreError as error:
                if not is_full(error):
                    raise

    # Damage ------------------------------------------------------------------------------------------------------

    def repair(self) -> None:
        """Rebuild the file's indexes; if that does not repair it, move it aside and start a new one with the rows that
        can be read.
        """
        try:
            with closing(sqlite3.connect(self.path, timeout=self._busy_seconds)) as connection:
                connection.execute("REINDEX")
        except sqlite3.DatabaseError as error:
            log.debug("the indexes cannot be rebuilt: %s", error)
        self._replace_damaged()

    def _is_damage(self, error: sqlite3.Error) -> bool:
        code = primary(error)
        return code in DAMAGED or (code == sqlite3.SQLITE_READONLY and is_of_unknown_version(self.path))

    def _replace_damaged(self) -> None:
        with self._opening, self._translating():
            self.reopen()
            self._move_aside()

    def _move_aside(self) -> bool:
        """Rename the file, and start another with the rows that can be read, if it is still damaged: another thread or
        process may have replaced it already.
        """
        with self._file_lock():
            if not self.path.exists() or is_sound(self.path):
                return False
            aside = beside(self.path, f".damaged-{time.strftime('%Y%m%d-%H%M%S')}")
            while aside.exists():
                aside = beside(aside, "-again")
            for suffix in ("-wal", "-shm", ""):  # the log first: no process may open the file with the log of another
                part = beside(self.path, suffix)
                if part.exists():
                    part.rename(beside(aside, suffix))
            kept = salvage(aside, self.path)
        log.warning(
            "%s is damaged or not a database; moved it to %s and started a new one%s",
            self.path, aside, f" with the {kept:,} rows that can be read" if kept else "",
        )  # fmt: skip
        return True

    # Errors ------------------------------------------------------------------------------------------------------

    @contextmanager
    def _translating(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise store_error(error, self.path, self._busy_seconds) from error


def _refuse(*_statement: object) -> sqlite3.Cursor:
    raise sqlite3.ProgrammingError("the connection was closed because the process forks")


# A fork copies one thread, every lock, and what SQLite knows of the parent's locks on the file, none of which holds for
# the child. So before a fork, threads that write, open, look up or close finish, and every connection is closed; parent
# and child each open their own afterwards.
_all: WeakSet[SqliteConnections] = WeakSet()
_closing = threading.RLock()
_paused: list[SqliteConnections] = []
_turn = threading.Lock()
"""Held during a fork: no other thread forks meanwhile or makes new `SqliteConnections`."""


def _before_fork() -> None:
    _turn.acquire()
    for connections in list(_all):
        connections._writing.acquire()  # noqa: SLF001 - same module
        connections._opening.acquire()  # noqa: SLF001
        for handle in list(connections._handles):  # noqa: SLF001
            handle.retire()
        connections.reopen()
        _paused.append(connections)
    _closing.acquire()


def _after_fork() -> None:
    _closing.release()
    while _paused:
        connections = _paused.pop()
        connections._opening.release()  # noqa: SLF001 - same module
        connections._writing.release()  # noqa: SLF001
    _turn.release()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork either
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
