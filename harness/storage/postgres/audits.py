"""Audits in PostgreSQL: one row per pair of queries."""

from functools import partial
from typing import Any

from harness.core.audits import Audit
from harness.storage import audit_statements as audits
from harness.storage.postgres.dialect import escaped, text_of
from harness.storage.postgres.statements import Statements
from harness.storage.tables import AUDITS

_DELETE = f"DELETE FROM {AUDITS} WHERE tenant = $1 AND key_a = $2 AND key_b = $3"
_PUT, _ALL, _COUNT, _DISAGREEING, _CLEAR = (
    sql.replace("?", "$") for sql in (audits.PUT, audits.ALL, audits.COUNT, audits.DISAGREEING, audits.CLEAR)
)


class PostgresAudits:
    """The port `Audits` on PostgreSQL."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def put(self, tenant: str, audit: Audit) -> bool:
        """See `Audits.put`."""
        found = (audit.overlap, audit.similarity, audit.probability, audit.agreed, audit.created_at)
        values = (escaped(tenant), *audit.keys, *map(escaped, audit.queries), *found)
        return self._statements.write(tenant, lambda connection: bool(connection.execute(_PUT, values).rowcount == 1))

    def all(self, tenant: str) -> list[Audit]:
        """See `Audits.all`."""
        return [audit for row in self._statements.fetch_all(tenant, _ALL) if (audit := audits.audit_in(row, text_of))]

    def count(self, tenant: str) -> tuple[int, int]:
        """See `Audits.count`."""
        ((agreeing, disagreeing),) = self._statements.fetch_all(tenant, _COUNT)
        return agreeing, disagreeing

    def disagreeing(self, tenant: str, key: str) -> frozenset[str]:
        """See `Audits.disagreeing`."""
        return frozenset(text_of(other) for (other,) in self._statements.fetch_all(tenant, _DISAGREEING, escaped(key)))

    def clear(self, tenant: str) -> int:
        """See `Audits.clear`."""
        return self._statements.write(
            tenant, lambda connection: int(connection.execute(_CLEAR, (escaped(tenant),)).rowcount)
        )

    def unusable(self, tenant: str, *, repair: bool) -> list[str]:
        """Return a line for each row of the tenant that is no audit; with `repair`, they are deleted."""
        keys = [row[:2] for row in self._statements.fetch_all(tenant, _ALL) if audits.audit_in(row, text_of) is None]
        if repair:
            for one, other in keys:
                self._statements.write(tenant, partial(_delete, (escaped(tenant), one.decode(), other.decode())))
        return [f"{tenant}: {audits.problem(*map(text_of, each))}" for each in keys]


def _delete(values: tuple[str, str, str], connection: Any) -> None:
    connection.execute(_DELETE, values)
