"""Audits in either database: one row per pair of queries."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from harness.core.audits import Audit, flaw
from harness.core.text import clean, one_line
from harness.storage.statements import Statements
from harness.storage.tables import AUDITS

COLUMNS = (
    *("tenant", "key_a", "key_b", "query_a", "query_b"),
    *("overlap", "similarity", "probability", "agreed", "created_at"),
)
_NUMBERED = ", ".join(f"?{number}" for number in range(1, len(COLUMNS) + 1))
_REPLACED = ", ".join(f"{column} = excluded.{column}" for column in COLUMNS[3:])
"""Columns that a later audit of a pair updates."""

_PUT = (
    f"INSERT INTO {AUDITS} ({', '.join(COLUMNS)}) VALUES ({_NUMBERED}) "
    f"ON CONFLICT (tenant, key_a, key_b) DO UPDATE SET {_REPLACED} WHERE {AUDITS}.agreed "
    f"AND (NOT excluded.agreed OR excluded.created_at > {AUDITS}.created_at)"
)
ALL = f"SELECT {', '.join(COLUMNS[1:])} FROM {AUDITS} WHERE tenant = ?1 ORDER BY created_at, key_a, key_b"
_COUNT = f"SELECT count(*) FILTER (WHERE agreed), count(*) FILTER (WHERE NOT agreed) FROM {AUDITS} WHERE tenant = ?1"
_DISAGREEING = (
    f"SELECT key_b FROM {AUDITS} WHERE tenant = ?1 AND key_a = ?2 AND NOT agreed "
    f"UNION ALL SELECT key_a FROM {AUDITS} WHERE tenant = ?1 AND key_b = ?2 AND NOT agreed"
)
CLEAR = f"DELETE FROM {AUDITS} WHERE tenant = ?1"


class SqlAudits:
    """The port `Audits`."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def put(self, tenant: str, audit: Audit) -> bool:
        """See `Audits.put`."""
        found = (audit.overlap, audit.similarity, audit.probability, audit.agreed, audit.created_at)
        return self._statements.change(tenant, _PUT, (*audit.keys, *audit.queries, *found)) == 1

    def all(self, tenant: str) -> list[Audit]:
        """See `Audits.all`."""
        rows = self._statements.fetch_all(tenant, ALL)
        return [audit for row in rows if (audit := audit_in(row, self._statements.text))]

    def count(self, tenant: str) -> tuple[int, int]:
        """See `Audits.count`."""
        ((agreeing, disagreeing),) = self._statements.fetch_all(tenant, _COUNT)
        return agreeing, disagreeing

    def disagreeing(self, tenant: str, key: str) -> frozenset[str]:
        """See `Audits.disagreeing`."""
        found = self._statements.fetch_all(tenant, _DISAGREEING, key)
        return frozenset(self._statements.text(other) for (other,) in found)

    def clear(self, tenant: str) -> int:
        """See `Audits.clear`."""
        return self._statements.change(tenant, CLEAR, ())


def audit_in(row: Sequence[Any], text: Callable[[Any], Any]) -> Audit | None:
    """Return the audit that a row of `ALL` holds, `None` if it is damaged; `text` reads what the database keeps."""
    keys, queries, found = row[:2], row[2:4], dict(zip(COLUMNS[5:], row[4:], strict=True))
    found |= {"queries": tuple(map(text, queries)), "agreed": {0: False, 1: True}.get(found["agreed"])}
    try:
        audit = msgspec.convert(found, Audit)
    except msgspec.ValidationError:
        return None
    return None if flaw(audit, [text(key) for key in keys]) else audit


def problem(key_a: Any, key_b: Any) -> str:
    """Say in a line which row is no audit."""
    one, other = (one_line(clean(key, 12)) for key in (key_a, key_b))
    return f"{AUDITS}: row {one}… {other}…: it cannot be used"
