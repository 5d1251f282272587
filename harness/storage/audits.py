"""What audits found: one row for each pair of queries; the statements for both databases, and SQLite's part."""

import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec

from harness.core.audits import Audit, flaw
from harness.core.text import clean, one_line
from harness.storage.sqlite.connections import Connections, Handle
from harness.storage.tables import AUDITS

COLUMNS = (
    *("tenant", "key_a", "key_b", "query_a", "query_b"),
    *("overlap", "similarity", "probability", "agreed", "created_at"),
)
_NUMBERED = ", ".join(f"?{number}" for number in range(1, len(COLUMNS) + 1))
_REPLACED = ", ".join(f"{column} = excluded.{column}" for column in COLUMNS[3:])
"""What a later audit of a pair changes."""

# values are numbered as SQLite has it; PostgreSQL writes `$` for `?`
PUT = (
    f"INSERT INTO {AUDITS} ({', '.join(COLUMNS)}) VALUES ({_NUMBERED}) "
    f"ON CONFLICT (tenant, key_a, key_b) DO UPDATE SET {_REPLACED} WHERE {AUDITS}.agreed "
    f"AND (NOT excluded.agreed OR excluded.created_at > {AUDITS}.created_at)"
)
ALL = f"SELECT {', '.join(COLUMNS[1:])} FROM {AUDITS} WHERE tenant = ?1 ORDER BY created_at, key_a, key_b"
COUNT = f"SELECT count(*) FILTER (WHERE agreed), count(*) FILTER (WHERE NOT agreed) FROM {AUDITS} WHERE tenant = ?1"
DISAGREEING = (
    f"SELECT key_b FROM {AUDITS} WHERE tenant = ?1 AND key_a = ?2 AND NOT agreed "
    f"UNION ALL SELECT key_a FROM {AUDITS} WHERE tenant = ?1 AND key_b = ?2 AND NOT agreed"
)
_EVERY = f"SELECT {', '.join(COLUMNS)} FROM {AUDITS} ORDER BY tenant, key_a, key_b"
_DELETE = f"DELETE FROM {AUDITS} WHERE hex(tenant) = ? AND hex(key_a) = ? AND hex(key_b) = ?"
"""A damaged key may be of another kind than text: what it is made of finds it."""
CLEAR = f"DELETE FROM {AUDITS} WHERE tenant = ?1"


class SqliteAudits:
    """The part of the `Store` that keeps audits."""

    _connections: Connections

    def put_audit(self, tenant: str, audit: Audit) -> bool:
        """See `Store.put_audit`."""
        values = (tenant, *values_of(audit))
        return self._connections.write(lambda connection: connection.execute(PUT, values).rowcount == 1)

    def audits(self, tenant: str) -> list[Audit]:
        """See `Store.audits`."""
        rows = self._connections.run(partial(_fetch, ALL, (tenant,)))
        return [audit for row in rows if (audit := audit_in(row, _text))]

    def audited(self, tenant: str) -> tuple[int, int]:
        """See `Store.audited`."""
        ((agreeing, disagreeing),) = self._connections.run(partial(_fetch, COUNT, (tenant,)))
        return agreeing, disagreeing

    def disagreeing(self, tenant: str, key: str) -> frozenset[str]:
        """See `Store.disagreeing`."""
        found = self._connections.run(partial(_fetch, DISAGREEING, (tenant, key)))
        return frozenset(_text(other) for (other,) in found)

    def clear_audits(self, tenant: str) -> int:
        """See `Store.clear_audits`."""
        return self._connections.write(partial(delete_audits, tenant))

    def _unusable_audits(self, *, repair: bool) -> list[str]:
        """Return a line for each row that is no audit; with `repair`, they are deleted."""
        unusable = self._connections.run(_unusable)
        if unusable and repair:
            found = [tuple(_bytes(value).hex().upper() for value in keys) for keys in unusable]
            self._connections.write(lambda connection: connection.executemany(_DELETE, found))
        return [problem(*map(_text, keys[1:])) for keys in unusable]


def delete_audits(tenant: str, connection: sqlite3.Connection) -> int:
    """Delete what the tenant's audits found; return of how many pairs."""
    return connection.execute(CLEAR, (tenant,)).rowcount


def values_of(audit: Audit) -> tuple[Any, ...]:
    """Return what the row of an audit holds but its tenant, in the order of `COLUMNS`."""
    found = (audit.overlap, audit.similarity, audit.probability, audit.agreed, audit.created_at)
    return (*audit.keys, *audit.queries, *found)


def audit_in(row: Sequence[Any], text: Callable[[Any], Any]) -> Audit | None:
    """Return the audit that a row of `ALL` holds, `None` if it is damaged; `text` reads what the database keeps."""
    *keys, one, other, overlap, similarity, probability, agreed, created_at = row
    found = {
        "queries": (text(one), text(other)),
        "overlap": overlap,
        "similarity": similarity,
        "probability": probability,
        "agreed": {0: False, 1: True}.get(agreed),
        "created_at": created_at,
    }
    try:
        audit = msgspec.convert(found, Audit)
    except msgspec.ValidationError:
        return None
    return None if flaw(audit, [text(key) for key in keys]) else audit


def problem(key_a: Any, key_b: Any) -> str:
    """Say in a line which row is no audit."""
    one, other = (one_line(clean(key, 12)) for key in (key_a, key_b))
    return f"{AUDITS}: row {one}… {other}…: it cannot be used"


def _fetch(sql: str, values: tuple[Any, ...], handle: Handle) -> list[Any]:
    return handle.connection.execute(sql, values).fetchall()


def _unusable(handle: Handle) -> list[Any]:
    """Return tenant and keys of the rows that are no audit; those that are pass by one at a time."""
    return [row[:3] for row in handle.connection.execute(_EVERY) if audit_in(row[1:], _text) is None]


def _text(value: Any) -> Any:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()
