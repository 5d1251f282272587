"""How the store's parts read and write: on a connection that has named the tenant, in a transaction when they write."""

from collections.abc import Callable
from typing import Any, TypeVar

from harness.storage.postgres.connections import Connections
from harness.storage.postgres.dialect import escaped

T = TypeVar("T")


class Statements:
    """What every part of the store is built on."""

    _connections: Connections

    def _all(self, tenant: str, sql: str, *bound: Any) -> list[Any]:
        values = (escaped(tenant), *bound)

        def fetch(connection: Any) -> list[Any]:
            rows: list[Any] = connection.execute(sql, values, binary=True).fetchall()
            return rows

        return self._connections.run(tenant, fetch)

    def _write(self, tenant: str, write: Callable[[Any], T], *, again: bool = True) -> T:
        """Write in a transaction, which may be repeated unless `again` is false, and its end was not told."""
        ending = False

        def transaction(connection: Any) -> T:
            nonlocal ending
            ending = False
            with connection.transaction():
                written = write(connection)
                ending = True
            return written

        self._connections.introduce(tenant)
        return self._connections.run(tenant, transaction, in_doubt=lambda: ending and not again)
