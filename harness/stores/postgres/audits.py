"""What audits found, in PostgreSQL: one row for each pair of queries."""

from collections.abc import Sequence
from typing import Any

from harness.core.audits import Audit
from harness.stores.audits import COLUMNS, REPLACED
from harness.stores.postgres.dialect import escaped, text_of
from harness.stores.postgres.statements import Statements
from harness.stores.tables import AUDITS

_NUMBERS = ", ".join(f"${number}" for number in range(1, len(COLUMNS) + 1))
_PUT = (
    f"INSERT INTO {AUDITS} ({', '.join(COLUMNS)}) VALUES ({_NUMBERS}) "
    f"ON CONFLICT (tenant, key_a, key_b) DO UPDATE SET {REPLACED} WHERE {AUDITS}.agreed "
    f"AND (NOT excluded.agreed OR excluded.created_at > {AUDITS}.created_at)"
)
_ALL = f"SELECT {', '.join(COLUMNS[3:])} FROM {AUDITS} WHERE tenant = $1 ORDER BY created_at, key_a, key_b"
_COUNT = f"SELECT count(*) FILTER (WHERE agreed), count(*) FILTER (WHERE NOT agreed) FROM {AUDITS} WHERE tenant = $1"
_DISAGREEING = (
    f"SELECT key_b FROM {AUDITS} WHERE tenant = $1 AND key_a = $2 AND NOT agreed "
    f"UNION ALL SELECT key_a FROM {AUDITS} WHERE tenant = $1 AND key_b = $2 AND NOT agreed"
)
_CLEAR = f"DELETE FROM {AUDITS} WHERE tenant = $1"


class PostgresAudits(Statements):
    """The part of the `Store` that keeps audits."""

    def put_audit(self, tenant: str, audit: Audit) -> bool:
        """See `Store.put_audit`."""
        found = (audit.overlap, audit.similarity, audit.probability, audit.agreed, audit.created_at)
        values = (escaped(tenant), *audit.keys, *map(escaped, audit.queries), *found)
        return self._write(tenant, lambda connection: bool(connection.execute(_PUT, values).rowcount == 1))

    def audits(self, tenant: str) -> list[Audit]:
        """See `Store.audits`."""
        return [_audit(row) for row in self._all(tenant, _ALL)]

    def audited(self, tenant: str) -> tuple[int, int]:
        """See `Store.audited`."""
        ((agreeing, disagreeing),) = self._all(tenant, _COUNT)
        return agreeing, disagreeing

    def disagreeing(self, tenant: str, key: str) -> frozenset[str]:
        """See `Store.disagreeing`."""
        return frozenset(text_of(other) for (other,) in self._all(tenant, _DISAGREEING, escaped(key)))

    def clear_audits(self, tenant: str) -> int:
        """See `Store.clear_audits`."""
        return self._write(tenant, lambda connection: int(connection.execute(_CLEAR, (escaped(tenant),)).rowcount))


def _audit(row: Sequence[Any]) -> Audit:
    one, other, overlap, similarity, probability, agreed, created_at = row
    return Audit(
        queries=(text_of(one), text_of(other)),
        overlap=overlap,
        similarity=similarity,
        probability=probability,
        agreed=agreed,
        created_at=created_at,
    )
