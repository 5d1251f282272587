"""Stand-ins for what is outside: a store without a database, and a clock that goes when it is told to."""

import threading

import msgspec

from harness.core.entries import Entry, TableStats
from harness.core.freshness import is_expired
from harness.stores.tables import TABLES

SWEEP_BATCH = 1_000
"""Rows that one put sweeps at the most."""


class FakeClock:
    """A clock for `Cache(clock=…)`: call it for the time, in seconds since the epoch; `advance` it by hand."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        """Return the time."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Let `seconds` go by."""
        self.now += seconds


class MemoryStore:
    """The `Store` port in a dict a table: nothing outlives the object, and `close` lets go of nothing.

    A look-up brings back what one in a database does: the decisive columns of `own`, and no embedding.
    """

    def __init__(self) -> None:
        self._tables: dict[str, dict[tuple[str, str], Entry]] = {name: {} for name in TABLES}
        self._lock = threading.RLock()

    def get(self, table: str, tenant: str, key: str) -> Entry | None:
        """See `Store.get`."""
        with self._lock:
            entry = self._tables[table].get((tenant, key))
        if entry is None:
            return None
        decisive = entry.own[: len(TABLES[table].decisive)]
        return msgspec.structs.replace(entry, own=decisive, embedding=None, embedder=None)

    def put(self, table: str, tenant: str, entry: Entry, *, sweep_before: float | None = None) -> None:
        """See `Store.put`."""
        with self._lock:
            if sweep_before is not None:
                self._sweep(table, sweep_before, SWEEP_BATCH)
            self._tables[table][tenant, entry.key] = entry

    def touch(self, table: str, tenant: str, key: str, now: float) -> None:
        """See `Store.touch`."""
        with self._lock:
            rows = self._tables[table]
            if entry := rows.get((tenant, key)):
                rows[tenant, key] = msgspec.structs.replace(entry, last_used_at=now)

    def sweep(self, table: str, before: float) -> int:
        """See `Store.sweep`."""
        with self._lock:
            return self._sweep(table, before, None)

    def clear(self, table: str) -> int:
        """See `Store.clear`."""
        with self._lock:
            deleted = len(self._tables[table])
            self._tables[table].clear()
            return deleted

    def stats(self, table: str, now: float) -> TableStats:
        """See `Store.stats`."""
        with self._lock:
            entries = list(self._tables[table].values())
        expired = sum(is_expired(entry.expires_at, now) for entry in entries)
        created = [entry.created_at for entry in entries]
        return TableStats(
            table,
            live=len(entries) - expired,
            expired=expired,
            total=len(entries),
            oldest=min(created, default=None),
            newest=max(created, default=None),
        )

    def size(self) -> int:
        """Return the bytes of what the tables hold; nothing is on a disk."""
        with self._lock:
            entries = [entry for rows in self._tables.values() for entry in rows.values()]
        return sum(len(f"{entry.key}{entry.text}".encode()) + len(entry.payload) for entry in entries)

    def close(self) -> None:
        """See `Store.close`."""

    def _sweep(self, table: str, before: float, limit: int | None) -> int:
        rows = self._tables[table]
        expired = [place for place, entry in rows.items() if is_expired(entry.expires_at, before)][:limit]
        for place in expired:
            del rows[place]
        return len(expired)
