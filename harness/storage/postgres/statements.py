"""Statements on a connection that has named the tenant; writes in a transaction."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from harness.core.entries import Entry, Outline
from harness.storage.postgres.connections import PostgresConnections
from harness.storage.postgres.dialect import POSTGRES_TABLES, plain, text_of
from harness.storage.postgres.row_codec import ROW_CODECS

T = TypeVar("T")


class PostgresStatements:
    """The `Statements` of a PostgreSQL database; `$1` may be written instead of `?1`. Bound text is escaped here."""

    tables = POSTGRES_TABLES
    text = staticmethod(text_of)

    def __init__(self, connections: PostgresConnections) -> None:
        self.connections = connections

    def fetch_all(self, tenant: str, sql: str, *bound: Any, prepare: bool | None = None) -> list[Any]:
        """See `Statements.fetch_all`. `prepare`: whether the server keeps the plan; `None`: after a few repetitions."""
        sql, values = sql.replace("?", "$"), plain([tenant, *bound])

        def fetch(connection: Any) -> list[Any]:
            rows: list[Any] = connection.execute(sql, values, prepare=prepare, binary=True).fetchall()
            return rows

        return self.connections.run(tenant, fetch)

    def change(self, tenant: str, sql: str, *rows: tuple[Any, ...], again: bool = True) -> int:
        """See `Statements.change`."""
        sql, values = sql.replace("?", "$"), [plain([tenant, *row]) for row in rows]

        def change(connection: Any) -> int:
            return sum(int(connection.execute(sql, each).rowcount) for each in values)

        return self.write(tenant, change, again=again)

    def write(self, tenant: str, write: Callable[[Any], T], *, again: bool = True) -> T:
        """Run `write` in a transaction. If the connection breaks during the commit, it is repeated unless `again` is
        false.
        """
        ending = False

        def transaction(connection: Any) -> T:
            nonlocal ending
            ending = False
            with connection.transaction():
                written = write(connection)
                ending = True
            return written

        self.connections.introduce(tenant)
        return self.connections.run(tenant, transaction, in_doubt=lambda: ending and not again)

    def entries(self, table: str, rows: Sequence[tuple[Any, ...]]) -> list[Entry]:
        """See `Statements.entries`."""
        return ROW_CODECS[table].entries(rows)

    def outlines(self, table: str, rows: Sequence[tuple[Any, ...]]) -> list[Outline]:
        """See `Statements.outlines`."""
        return [ROW_CODECS[table].outline(row) for row in rows]
