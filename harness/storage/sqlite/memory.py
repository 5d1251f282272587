"""The store on a SQLite database in memory: for replays and tests."""

import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TypeVar

from harness.core.entries import Entry
from harness.errors import InvalidInput, StoreError
from harness.storage.forks import free_in_child, section
from harness.storage.sqlite.connections import Handle
from harness.storage.sqlite.database import Database
from harness.storage.sqlite.entries import row_values
from harness.storage.sqlite.migrations import migrate
from harness.storage.sqlite.store import SqliteParts
from harness.storage.sqlite.vectors import VectorSearch
from harness.storage.sqlite.words import WordSearch
from harness.storage.statements import NO_TEXT
from harness.storage.tables import TABLES

T = TypeVar("T")


class MemoryConnections(Database):
    """One connection to a database in memory, used by one thread at a time."""

    database = "file::memory:"

    def __init__(self) -> None:
        self.local = SimpleNamespace()  # no handle: every call goes through `run`
        self._lock = free_in_child(threading.RLock())
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        migrate(connection)
        connection.text_factory = bytes
        self._handle = Handle(connection, (0, 0))

    def handle(self) -> Handle:
        """See `Database.handle`; all threads share it."""
        return self._handle

    def run(self, operation: Callable[[Handle], T]) -> T:
        """See `Database.run`."""
        with self._lock, section():
            try:
                return operation(self._handle)
            except UnicodeEncodeError:
                raise InvalidInput(NO_TEXT) from None
            except sqlite3.Error as error:
                raise StoreError(f"the database in memory refuses: {error}") from error

    def size(self) -> int:
        """See `Database.size`."""
        pages, free, size = (
            self.fetch_one(f"PRAGMA {name}", ())[0] for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * size)


class ThreadLocks:
    """The port `Locks` between the threads of this process."""

    def __init__(self) -> None:
        self._lock = free_in_child(threading.Lock())
        self._held: dict[str, threading.Lock] = {}

    @contextmanager
    def hold(self, name: str, wait: float) -> Iterator[bool]:
        """See `Locks.hold`."""
        with self._lock:
            lock = self._held.setdefault(name, free_in_child(threading.Lock()))
        acquired = lock.acquire(timeout=max(0.0, wait))
        try:
            yield acquired
        finally:
            if acquired:
                lock.release()


class MemoryStore(SqliteParts):
    """Cache tables in memory; they are lost with the object, and `close` keeps them."""

    def __init__(self) -> None:
        connections = MemoryConnections()
        # no tail is too long: there is no place for an index
        vectors = VectorSearch(connections, None, tail_limit=sys.maxsize)
        super().__init__(connections, vectors, WordSearch(connections, None), ThreadLocks())

    def fill(self, tenant: str, rows: Mapping[tuple[str, str], Entry]) -> None:
        """Put many rows, by table and key, in one transaction."""

        def write(connection: sqlite3.Connection) -> None:
            for (table, _), entry in rows.items():
                connection.execute(TABLES[table].upsert, row_values(TABLES[table], tenant, entry))

        self._connections.write(write)
