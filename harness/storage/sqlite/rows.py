"""Rows of a SQLite file: read, write, delete."""

import sqlite3
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from msgspec import structs

from harness.core.entries import Entry
from harness.core.freshness import NEVER
from harness.storage.checksums import report, row_checksum
from harness.storage.sqlite.database import Database
from harness.storage.sqlite.entries import as_text, entries_of, write_row
from harness.storage.tables import OWN_START, TABLES

SWEEP_BATCH = 1_000
"""Rows that one write deletes at most, so that no writer holds the lock for long."""


class SqliteRows:
    """The port `Rows` on SQLite."""

    def __init__(self, connections: Database) -> None:
        self._connections = connections

    def get(self, table: str, tenant: str, key: str) -> Entry | None:
        """See `Rows.get`."""
        declared = TABLES[table]
        try:
            handle = self._connections.local.handle
            handle.busy = True
            try:
                row = handle.execute(declared.select, (tenant, key)).fetchone()
            finally:
                handle.busy = False
        except (AttributeError, UnicodeEncodeError, sqlite3.Error):
            # the slow path opens, classifies errors, and replaces a damaged file
            row = self._connections.fetch_one(declared.select, (tenant, key))
        if row is None:
            return None
        own = row[OWN_START:]
        stored = row[OWN_START - 1]
        if stored is None:
            entry = self.get_whole(table, tenant, key)  # looks at more than is read here
            return entry and structs.replace(entry, embedding=None, embedder=None)
        if stored != row_checksum(declared, tenant, key, row[0], row[1], row[2], row[3], own):
            report(declared, key, stored)
            return None
        return Entry(key, as_text(row[0]), row[1], row[2], row[3], row[4], declared.decode_own(own))

    def get_whole(self, table: str, tenant: str, key: str) -> Entry | None:
        """See `Rows.get_whole`."""
        declared = TABLES[table]
        rows = self._connections.fetch_all(f"{declared.select_whole} WHERE {declared.one}", (tenant, key))
        # in a damaged file an index may lead to another row
        found = entries_of(declared, [row for row in rows if (as_text(row[0]), as_text(row[1])) == (tenant, key)])
        return found[0] if found else None

    def put(self, table: str, tenant: str, entry: Entry, *, sweep_before: float | None = None) -> None:
        """See `Rows.put`."""

        def write(connection: sqlite3.Connection) -> None:
            if sweep_before is not None:
                _sweep_batch(connection, table, tenant, sweep_before)
            write_row(connection, TABLES[table], tenant, entry)

        self._connections.write(write)

    def swap(self, table: str, tenant: str, entry: Entry, *, expecting: Mapping[str, Any] | None) -> bool:
        """See `Rows.swap`."""
        declared = TABLES[table]
        condition = declared.mine if expecting is None else declared.where(expecting)
        sql = f"{declared.select_whole} WHERE {condition} AND key = ?"
        bound = (tenant, *(expecting or {}).values(), entry.key)

        def write(connection: sqlite3.Connection) -> bool:
            present = entries_of(declared, connection.execute(sql, bound).fetchall())  # a damaged row counts as none
            if bool(present) == (expecting is not None):
                write_row(connection, declared, tenant, entry)
                return True
            return False

        return self._connections.write(write)

    def replace(self, table: str, tenant: str, entries: Sequence[Entry], *, instead_of: Mapping[str, Any]) -> int:
        """See `Rows.replace`."""
        declared = TABLES[table]
        delete = f"DELETE FROM {declared.name} WHERE {declared.where(instead_of)}"

        def write(connection: sqlite3.Connection) -> int:
            gone = connection.execute(delete, (tenant, *instead_of.values())).rowcount
            for entry in entries:
                write_row(connection, declared, tenant, entry)
            return gone

        return self._connections.write(write)

    def touch(self, table: str, tenant: str, key: str, now: float) -> None:
        """See `Rows.touch`."""
        sql = f"UPDATE {TABLES[table].name} SET last_used_at = ? WHERE tenant = ? AND key = ?"
        self._connections.write(lambda connection: connection.execute(sql, (now, tenant, key)))

    def delete(self, table: str, tenant: str, keys: Sequence[str], *, expired_at: float | None = None) -> int:
        """See `Rows.delete`."""
        sql = f"DELETE FROM {TABLES[table].name} WHERE tenant = ? AND key = ?"
        values: list[tuple[Any, ...]] = [(tenant, key) for key in keys]
        if expired_at is not None:
            sql, values = f"{sql} AND expires_at <= ?", [(*each, expired_at) for each in values]
        return self._connections.write(lambda connection: connection.executemany(sql, values).rowcount) if values else 0

    def sweep(self, table: str, tenant: str, before: float, *, created_after: float = inf) -> int:
        """See `Rows.sweep`."""
        deleted = 0
        while batch := self._connections.write(
            lambda connection: _sweep_batch(connection, table, tenant, before, created_after)
        ):
            deleted += batch
        return deleted

    def evict(self, table: str, tenant: str, scope: tuple[str, ...], keep: int) -> int:
        """See `Rows.evict`."""
        mine = TABLES[table].equal("tenant", *TABLES[table].scope)
        used = f"SELECT seq FROM {table} WHERE {mine} ORDER BY last_used_at DESC, seq DESC LIMIT -1 OFFSET ?"
        sql = f"DELETE FROM {table} WHERE seq IN ({used})"
        values = (tenant, *scope, max(0, keep))
        return self._connections.write(lambda connection: connection.execute(sql, values).rowcount)


def _sweep_batch(
    connection: sqlite3.Connection, table: str, tenant: str, before: float, created_after: float = inf
) -> int:
    name, gone = TABLES[table].name, "expires_at <= ?"
    bound: tuple[Any, ...] = (tenant, before)
    if created_after < inf:  # an OR reads every row, so it is left out where it changes nothing
        gone, bound = f"{gone} OR (created_at > ? AND expires_at < {NEVER})", (*bound, created_after)
    expired = f"SELECT rowid FROM {name} WHERE tenant = ? AND ({gone}) LIMIT {SWEEP_BATCH}"
    return connection.execute(f"DELETE FROM {name} WHERE rowid IN ({expired})", bound).rowcount
