"""The `Store` on SQLite: one file, any number of threads and processes."""

import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

from harness.core.entries import Entry, TableStats
from harness.stores.connections import Connections, Handle
from harness.stores.tables import OWN_START, TABLES

BUSY_SECONDS = 30.0
SWEEP_BATCH = 1_000
"""Rows that one write deletes at the most, so that no writer holds the lock for long."""


class SqliteStore:
    """Cache tables in the SQLite file at `path`, made or brought up to date on opening.

    Write-ahead log with synchronous=NORMAL: what `put` acknowledged survives `kill -9` of any process; a power cut may
    take the last moments, never the file's consistency. One connection a thread; a forked child opens its own. A file
    that is damaged, or no database, is moved aside under a dated name, reported by a warning, and replaced.

    Raises:
        StoreError: if the file cannot be opened (`MigrationError`, `StoreBusy` where that is the reason).
    """

    def __init__(self, path: Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path = path
        self._connections = Connections(path, busy_seconds)
        self._connections.handle()

    def get(self, table: str, tenant: str, key: str) -> Entry | None:
        """See `Store.get`."""
        declared = TABLES[table]
        try:
            handle = self._connections.local.handle
            row = handle.execute(declared.select, (tenant, key)).fetchone()
        except (AttributeError, sqlite3.Error):  # the long road: opens, tells errors apart, replaces a damaged file
            row = self._connections.run(partial(_fetch, declared.select, (tenant, key)))
        if row is None:
            return None
        own = tuple(map(_text, row[OWN_START:])) if declared.decides_by_text else row[OWN_START:]
        return Entry(key, _text(row[0]), row[1], row[2], row[3], row[4], own)

    def put(self, table: str, tenant: str, entry: Entry, *, sweep_before: float | None = None) -> None:
        """See `Store.put`."""
        declared = TABLES[table]
        values = (
            *(tenant, entry.key, entry.text, entry.payload.decode()),
            *entry.own,
            *(entry.created_at, entry.expires_at, entry.last_used_at, entry.embedding, entry.embedder),
        )

        def write(connection: sqlite3.Connection) -> None:
            if sweep_before is not None:
                _sweep_batch(connection, table, sweep_before)
            connection.execute(declared.upsert, values)

        self._connections.write(write)

    def touch(self, table: str, tenant: str, key: str, now: float) -> None:
        """See `Store.touch`."""
        sql = f"UPDATE {TABLES[table].name} SET last_used_at = ? WHERE tenant = ? AND key = ?"
        self._connections.write(lambda connection: connection.execute(sql, (now, tenant, key)))

    def sweep(self, table: str, before: float) -> int:
        """See `Store.sweep`."""
        deleted = 0
        while batch := self._connections.write(lambda connection: _sweep_batch(connection, table, before)):
            deleted += batch
        return deleted

    def clear(self, table: str) -> int:
        """See `Store.clear`. The disk space of what was deleted is given back to the file system."""
        sql = f"DELETE FROM {TABLES[table].name}"
        deleted = self._connections.write(lambda connection: connection.execute(sql).rowcount)
        for statement in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
            self._connections.run(partial(_fetch, statement, ()))
        return deleted

    def stats(self, table: str, now: float) -> TableStats:
        """See `Store.stats`."""
        sql = (
            "SELECT count(*) FILTER (WHERE expires_at > ?1), count(*) FILTER (WHERE expires_at <= ?1), count(*), "
            f"min(created_at), max(created_at) FROM {TABLES[table].name}"
        )
        return TableStats(table, *self._connections.run(partial(_fetch, sql, (now,))))

    def size(self) -> int:
        """See `Store.size`; the write-ahead log counts."""
        files = (self.path, self.path.with_name(f"{self.path.name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def close(self) -> None:
        """See `Store.close`: what another thread is doing is finished first. A later call opens again."""
        self._connections.reopen()


def _fetch(sql: str, values: tuple[Any, ...], handle: Handle) -> Any:
    return handle.connection.execute(sql, values).fetchone()


def _text(value: Any) -> Any:
    """Make text of what came back as bytes; what is no UTF-8, in a damaged row, shows as replacement characters."""
    return value.decode(errors="replace") if type(value) is bytes else value


def _sweep_batch(connection: sqlite3.Connection, table: str, before: float) -> int:
    name = TABLES[table].name
    return connection.execute(
        f"DELETE FROM {name} WHERE rowid IN (SELECT rowid FROM {name} WHERE expires_at <= ? LIMIT {SWEEP_BATCH})",
        (before,),
    ).rowcount
