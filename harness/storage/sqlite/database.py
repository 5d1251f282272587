"""Interface of the connections to one SQLite database, in a file or in memory."""

import sqlite3
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from harness.storage.sqlite.connections import Handle

T = TypeVar("T")


class Database(Protocol):
    """Connections to one database."""

    local: Any
    """`local.handle` is this thread's handle, once it has one."""

    database: str
    """URI of the file that is read."""

    def handle(self) -> Handle:
        """Return this thread's handle."""

    def run(self, operation: Callable[[Handle], T]) -> T:
        """Run `operation` on a handle.

        Raises:
            StoreError: the database refuses.
        """

    def write(self, operation: Callable[[sqlite3.Connection], T]) -> T:
        """Run `operation` in one transaction.

        Raises:
            StoreError: the database refuses.
        """

    def fetch_all(self, sql: str, values: tuple[Any, ...]) -> list[Any]:
        """Return every row of a query."""

    def fetch_one(self, sql: str, values: tuple[Any, ...]) -> Any:
        """Return the first row of a query, or `None`."""

    def clear(self, table: str, tenant: str) -> int:
        """Delete the tenant's rows of a table; return how many there were."""

    def shrink(self) -> None:
        """Return the space of deleted rows to the file system."""

    def repair(self) -> None:
        """Repair the file, or replace it."""

    def size(self) -> int:
        """Return the size in bytes."""

    def reopen(self) -> None:
        """Close every connection; the next call opens a new one."""
