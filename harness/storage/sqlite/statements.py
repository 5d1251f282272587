"""Statements for one tenant of a SQLite file."""

from collections.abc import Sequence
from typing import Any

from harness.core.entries import Entry, Outline
from harness.storage.sqlite.database import Database
from harness.storage.sqlite.entries import as_text, entries_of, outline_of
from harness.storage.tables import TABLES


class SqliteStatements:
    """The `Statements` of one SQLite database."""

    tables = TABLES
    text = staticmethod(as_text)

    def __init__(self, connections: Database) -> None:
        self._connections = connections

    def fetch_all(self, tenant: str, sql: str, *bound: Any) -> list[Any]:
        """See `Statements.fetch_all`."""
        return self._connections.fetch_all(sql, (tenant, *bound))

    def change(self, tenant: str, sql: str, *rows: tuple[Any, ...], again: bool = True) -> int:  # noqa: ARG002 - no connection to a file breaks during a commit
        """See `Statements.change`."""
        values = [(tenant, *row) for row in rows]
        return self._connections.write(lambda connection: connection.executemany(sql, values).rowcount)

    def entries(self, table: str, rows: Sequence[tuple[Any, ...]]) -> list[Entry]:
        """See `Statements.entries`."""
        return entries_of(TABLES[table], rows)

    def outlines(self, table: str, rows: Sequence[tuple[Any, ...]]) -> list[Outline]:
        """See `Statements.outlines`."""
        return [outline_of(TABLES[table], row) for row in rows]
