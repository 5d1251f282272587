"""Lists and counts of rows of a SQLite file."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from math import inf
from typing import Any

from harness.core.entries import Entry, Outline, TableStats
from harness.core.freshness import NEVER, fresh_sql, latest_creation
from harness.core.origins import EVERY
from harness.ports import NOTHING
from harness.storage.sqlite.database import Database
from harness.storage.sqlite.entries import entries_of, marks, outline_of
from harness.storage.sqlite.vectors import VectorSearch
from harness.storage.tables import ORIGINS, TABLES

SCAN_BATCH = 500


class SqliteListings:
    """The port `Listings` on SQLite."""

    def __init__(self, connections: Database, vectors: VectorSearch) -> None:
        self._connections = connections
        self._vectors = vectors

    def find(self, table: str, tenant: str, where: Mapping[str, Any]) -> list[Entry]:
        """See `Listings.find`."""
        declared = TABLES[table]
        sql = f"{declared.select_whole} WHERE {declared.where(where)} ORDER BY seq"
        return entries_of(declared, self._connections.fetch_all(sql, (tenant, *where.values())))

    def recent(self, table: str, tenant: str, limit: int, *, where: Mapping[str, Any] = NOTHING) -> list[Entry]:
        """See `Listings.recent`."""
        declared = TABLES[table]
        condition = declared.where(where) if where else "tenant = ?"
        sql = f"{declared.select_whole} WHERE {condition} ORDER BY seq DESC LIMIT ?"
        return entries_of(declared, self._connections.fetch_all(sql, (tenant, *where.values(), max(0, limit))))

    def outlines(
        self, table: str, tenant: str, where: Mapping[str, Any] = NOTHING, *, after: int = 0, limit: int
    ) -> list[Outline]:
        """See `Listings.outlines`."""
        declared = TABLES[table]
        condition = declared.where(where) if where else "tenant = ?"
        sql = f"{declared.select_outline} WHERE {condition} AND seq > ? ORDER BY seq DESC LIMIT ?"
        return [
            outline_of(TABLES[table], row)
            for row in self._connections.fetch_all(sql, (tenant, *where.values(), after, max(0, limit)))
        ]

    def timeline(
        self,
        table: str,
        tenant: str,
        *,
        since: float = 0.0,
        limit: int,
        offset: int = 0,
        origins: Sequence[str] = EVERY,
    ) -> list[Outline]:
        """See `Listings.timeline`."""
        condition, bound = "", tuple(origins)
        if {*origins} != {*EVERY}:
            mark = f"SELECT origin FROM {ORIGINS} WHERE tenant = {table}.tenant AND source = '{table}'"
            condition = f"AND coalesce(({mark} AND key = {table}.key), 'user') IN ({marks(bound)})"
        else:
            bound = ()
        order = "ORDER BY created_at DESC, seq DESC LIMIT ? OFFSET ?"
        sql = f"{TABLES[table].select_outline} WHERE tenant = ? AND created_at >= ? {condition} {order}"
        return [
            outline_of(TABLES[table], row)
            for row in self._connections.fetch_all(sql, (tenant, since, *bound, max(0, limit), max(0, offset)))
        ]

    def scan(self, table: str, tenant: str) -> Iterator[Entry]:
        """See `Listings.scan`; in batches, so that a large table is never in memory."""
        declared = TABLES[table]
        since = 0
        sql = f"{declared.select_numbered} WHERE tenant = ? AND seq > ? ORDER BY seq LIMIT {SCAN_BATCH}"
        while rows := self._connections.fetch_all(sql, (tenant, since)):
            yield from entries_of(declared, [row[1:] for row in rows])
            since = rows[-1][0]

    def stats(self, table: str, tenant: str, now: float, embedder: str = "") -> TableStats:
        """See `Listings.stats`."""
        indexed, tail = self._vectors.counts(table, tenant)
        fresh, bound = fresh_sql("?1", "?2", str(NEVER)), (now, latest_creation(now), tenant)
        sql = (
            f"SELECT count(*) FILTER (WHERE {fresh}), count(*) FILTER (WHERE NOT ({fresh})), count(*), "
            f"min(created_at), max(created_at) FROM {TABLES[table].name} WHERE tenant = ?3"
        )
        unembedded = f"SELECT count(*) FROM {TABLES[table].name} WHERE tenant = ?3 AND {fresh} AND embedder IS NOT ?4"
        live, expired, total, oldest, newest = self._connections.fetch_one(sql, bound)
        missing = self._connections.fetch_one(unembedded, (*bound, embedder))[0] if embedder else 0
        return TableStats(table, live, expired, total, oldest, newest, indexed, tail, missing)

    def expiring(self, table: str, tenant: str, moments: Sequence[float]) -> list[int]:
        """See `Listings.expiring`; each row is counted once, between two moments."""
        if not moments:
            return []
        ordered = sorted(moments)
        spans = ", ".join("(?, ?)" for _ in ordered)
        sql = (
            f"WITH span (since, upto) AS (VALUES {spans}) SELECT (SELECT count(*) FROM {TABLES[table].name} "
            "WHERE tenant = ? AND expires_at > since AND expires_at <= upto) FROM span ORDER BY upto"
        )
        bounds = [bound for span in zip((-inf, *ordered), ordered, strict=False) for bound in span]
        counts = accumulate(count for (count,) in self._connections.fetch_all(sql, (*bounds, tenant)))
        reached = dict(zip(ordered, counts, strict=True))
        return [reached[moment] for moment in moments]
