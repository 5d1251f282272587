"""Base of the connections to one SQLite database, in a file or in memory."""

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from harness.storage.sqlite.connections import Handle

T = TypeVar("T")


def in_transaction(connection: sqlite3.Connection, operation: Callable[[sqlite3.Connection], T]) -> T:
    """Run `operation` in a transaction that is committed at its end, or rolled back if it raises."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")  # a deferred one may fail with BUSY at its first write, at once
        return operation(connection)


class Database(ABC):
    """Connections to one database. What concerns its file does nothing here, as a database in memory has none."""

    local: Any
    """`local.handle` is this thread's handle, once it has one."""

    database: str
    """URI of the file that is read."""

    @abstractmethod
    def handle(self) -> "Handle":
        """Return this thread's handle."""

    @abstractmethod
    def run(self, operation: "Callable[[Handle], T]") -> T:
        """Run `operation` on a handle.

        Raises:
            StoreError: the database refuses.
        """

    @abstractmethod
    def size(self) -> int:
        """Return the size in bytes."""

    def write(self, operation: Callable[[sqlite3.Connection], T]) -> T:
        """Run `operation` in one transaction.

        Raises:
            StoreError: the database refuses.
        """
        return self.run(lambda handle: in_transaction(handle.connection, operation))

    def fetch_all(self, sql: str, values: tuple[Any, ...]) -> list[Any]:
        """Return every row of a query."""
        return self.run(lambda handle: handle.connection.execute(sql, values).fetchall())

    def fetch_one(self, sql: str, values: tuple[Any, ...]) -> Any:
        """Return the first row of a query, or `None`."""
        return self.run(lambda handle: handle.connection.execute(sql, values).fetchone())

    def clear(self, table: str, tenant: str) -> int:
        """Delete the tenant's rows of a table; return how many there were."""
        sql = f"DELETE FROM {table} WHERE tenant = ?"
        return self.write(lambda connection: connection.execute(sql, (tenant,)).rowcount)

    def shrink(self) -> None:  # noqa: B027 - in memory there is no file, and nothing to do
        """Return the space of deleted rows to the file system."""

    def repair(self) -> None:  # noqa: B027 - in memory there is no file, and nothing to do
        """Repair the file, or replace it."""

    def reopen(self) -> None:  # noqa: B027 - in memory the content would be lost
        """Close every connection; the next call opens a new one."""
