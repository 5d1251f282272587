"""Statements on a connection that has named the tenant; writes in a transaction."""

from collections.abc import Callable
from typing import Any, TypeVar

from harness.storage.postgres.connections import PostgresConnections
from harness.storage.postgres.dialect import escaped

T = TypeVar("T")


class Statements:
    """Reads and writes for one tenant, for the parts of the store."""

    def __init__(self, connections: PostgresConnections) -> None:
        self.connections = connections

    def fetch_all(self, tenant: str, sql: str, *bound: Any) -> list[Any]:
        """Return every row of a query; the tenant is bound as `$1`, `bound` after it."""
        values = (escaped(tenant), *bound)
        rows: list[Any] = self.connections.run(tenant, lambda each: each.execute(sql, values, binary=True).fetchall())
        return rows

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
