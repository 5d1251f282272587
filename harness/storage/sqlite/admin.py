"""Administration of a SQLite file: tenants, checks, deletion."""

import sqlite3
from functools import partial
from typing import Any

from harness.storage import checks
from harness.storage.audits import CLEAR, COLUMNS, audit_in, problem
from harness.storage.sqlite.connections import Handle
from harness.storage.sqlite.database import Database
from harness.storage.sqlite.entries import as_text
from harness.storage.sqlite.vectors import VectorSearch
from harness.storage.sqlite.words import WordSearch
from harness.storage.tables import AUDITS, FORGET_EMBEDDING, ORIGINS, TABLES, TOKENS, TOOLS, USES

_EVERY_AUDIT = f"SELECT {', '.join(COLUMNS)} FROM {AUDITS} ORDER BY tenant, key_a, key_b"
_DELETE_AUDIT = f"DELETE FROM {AUDITS} WHERE hex(tenant) = ? AND hex(key_a) = ? AND hex(key_b) = ?"
"""A damaged key may be of another kind than text: what it is made of finds it."""


class SqliteAdmin:
    """The port `Admin` on SQLite."""

    def __init__(self, connections: Database, vectors: VectorSearch, words: WordSearch) -> None:
        self._connections = connections
        self._vectors = vectors
        self._words = words

    def clear(self, table: str, tenant: str) -> int:
        """See `Admin.clear`. The disk space of what was deleted is given back to the file system."""
        deleted = self._connections.clear(TABLES[table].name, tenant)
        if not self._connections.fetch_one(f"SELECT 1 FROM {TABLES[table].name} LIMIT 1", ()):
            self._vectors.forget(table)
        if TABLES[table].words:
            self._words.forget(table, tenant)
        self._connections.shrink()
        return deleted

    def forget(self, tenant: str, user: str | None = None) -> int:
        """See `Admin.forget`."""
        if user is not None:
            return self._connections.write(partial(_forget_user, tenant, user))
        gone = sum(self.clear(table, tenant) for table in TABLES)
        return gone + self._connections.write(partial(_forget_beside, tenant))

    def tenants(self) -> list[str]:
        """See `Admin.tenants`."""
        names = {name for table in TABLES for (name,) in self._connections.fetch_all(_distinct_tenants(table), ())}
        return sorted(map(as_text, names))

    def verify(self, *, repair: bool) -> list[str]:
        """See `Admin.verify`."""
        problems = checks.file_problems(self._connections.database)
        if problems:  # nothing else can be relied on, and looking on would replace the file
            if repair:
                self._connections.repair()
            return problems
        for table in TABLES.values():
            unusable = checks.unusable_rows(table, self._connections.fetch_all)
            problems += [f"{table.name}: row {seq}: {reason}" for seq, reason in unusable]
            damaged = checks.damaged_embeddings(table, self._connections.fetch_all)
            problems += [f"{table.name}: row {seq}: its embedding is damaged" for seq in damaged]
            if repair:
                delete = f"DELETE FROM {table.name} WHERE seq = ?"
                forget = f"UPDATE {table.name} SET {FORGET_EMBEDDING} WHERE seq = ?"
                self._execute_many(delete, [(seq,) for seq, _ in unusable])
                self._execute_many(forget, [(seq,) for seq in damaged])
        problems += self._unusable_audits(repair=repair)
        lost = self._vectors.lost()
        if lost and repair:
            self._vectors.rebuild()
        problems += [f"the vector index has lost {name}" for name in lost]
        if damage := self._words.damage():
            problems.append(f"the index of words is damaged: {damage}")
            if repair:
                self._words.repair()
        return problems

    def _unusable_audits(self, *, repair: bool) -> list[str]:
        """Return a line for each row that is no audit; with `repair`, they are deleted."""
        unusable = self._connections.run(_unusable_audits)
        if repair:
            found = [tuple(_bytes(value).hex().upper() for value in keys) for keys in unusable]
            self._execute_many(_DELETE_AUDIT, found)
        return [problem(*map(as_text, keys[1:])) for keys in unusable]

    def unchecked(self) -> int:
        """See `Admin.unchecked`."""
        return sum(
            self._connections.fetch_all(f"SELECT count(*) FROM {table} WHERE checksum IS NULL", ())[0][0]
            for table in TABLES
        )

    def reindex(self) -> int:
        """See `Admin.reindex`; scopes small enough to be scanned are left out of it."""
        return self._vectors.rebuild()

    def size(self) -> int:
        """See `Admin.size`; the write-ahead log counts."""
        return self._connections.size()

    def _execute_many(self, sql: str, values: list[tuple[Any, ...]]) -> None:
        if values:
            self._connections.write(lambda connection: connection.executemany(sql, values))


def _forget_beside(tenant: str, connection: sqlite3.Connection) -> int:
    for table in (USES, ORIGINS):
        connection.execute(f"DELETE FROM {table} WHERE tenant = ?", (tenant,))
    return connection.execute(CLEAR, (tenant,)).rowcount


def _forget_user(tenant: str, user: str, connection: sqlite3.Connection) -> int:
    connection.execute(f"UPDATE {TOOLS.name} SET created_by = NULL WHERE tenant = ? AND created_by = ?", (tenant, user))
    return connection.execute(f"DELETE FROM {TOKENS.name} WHERE tenant = ? AND user_id = ?", (tenant, user)).rowcount


def _unusable_audits(handle: Handle) -> list[Any]:
    """Return tenant and keys of the rows that are no audit; those that are pass by one at a time."""
    return [row[:3] for row in handle.connection.execute(_EVERY_AUDIT) if audit_in(row[1:], as_text) is None]


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _distinct_tenants(table: str) -> str:
    """Hop from one tenant to the next along an index, instead of reading all of it."""
    return (
        f"WITH RECURSIVE held (tenant) AS (SELECT min(tenant) FROM {table} UNION ALL "
        f"SELECT (SELECT min(tenant) FROM {table} WHERE tenant > held.tenant) FROM held WHERE held.tenant IS NOT NULL) "
        "SELECT tenant FROM held WHERE tenant IS NOT NULL"
    )
