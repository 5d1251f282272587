"""Audits in a SQLite file: one row per pair of queries."""

import sqlite3
from functools import partial
from typing import Any

from harness.core.audits import Audit
from harness.storage.audit_statements import ALL, CLEAR, COLUMNS, COUNT, DISAGREEING, PUT, audit_in, problem, values_of
from harness.storage.sqlite.connections import Handle
from harness.storage.sqlite.database import Database
from harness.storage.sqlite.entries import as_text
from harness.storage.tables import AUDITS

_EVERY = f"SELECT {', '.join(COLUMNS)} FROM {AUDITS} ORDER BY tenant, key_a, key_b"
_DELETE = f"DELETE FROM {AUDITS} WHERE hex(tenant) = ? AND hex(key_a) = ? AND hex(key_b) = ?"
"""A damaged key may be of another kind than text: what it is made of finds it."""


class SqliteAudits:
    """The port `Audits` on SQLite."""

    def __init__(self, connections: Database) -> None:
        self._connections = connections

    def put(self, tenant: str, audit: Audit) -> bool:
        """See `Audits.put`."""
        values = (tenant, *values_of(audit))
        return self._connections.write(lambda connection: connection.execute(PUT, values).rowcount == 1)

    def all(self, tenant: str) -> list[Audit]:
        """See `Audits.all`."""
        rows = self._connections.fetch_all(ALL, (tenant,))
        return [audit for row in rows if (audit := audit_in(row, as_text))]

    def count(self, tenant: str) -> tuple[int, int]:
        """See `Audits.count`."""
        ((agreeing, disagreeing),) = self._connections.fetch_all(COUNT, (tenant,))
        return agreeing, disagreeing

    def disagreeing(self, tenant: str, key: str) -> frozenset[str]:
        """See `Audits.disagreeing`."""
        found = self._connections.fetch_all(DISAGREEING, (tenant, key))
        return frozenset(as_text(other) for (other,) in found)

    def clear(self, tenant: str) -> int:
        """See `Audits.clear`."""
        return self._connections.write(partial(delete_audits, tenant))

    def unusable(self, *, repair: bool) -> list[str]:
        """Return a line for each row that is no audit; with `repair`, they are deleted."""
        unusable = self._connections.run(_unusable)
        if unusable and repair:
            found = [tuple(_bytes(value).hex().upper() for value in keys) for keys in unusable]
            self._connections.write(lambda connection: connection.executemany(_DELETE, found))
        return [problem(*map(as_text, keys[1:])) for keys in unusable]


def delete_audits(tenant: str, connection: sqlite3.Connection) -> int:
    """Delete what the tenant's audits found; return of how many pairs."""
    return connection.execute(CLEAR, (tenant,)).rowcount


def _unusable(handle: Handle) -> list[Any]:
    """Return tenant and keys of the rows that are no audit; those that are pass by one at a time."""
    return [row[:3] for row in handle.connection.execute(_EVERY) if audit_in(row[1:], as_text) is None]


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()
