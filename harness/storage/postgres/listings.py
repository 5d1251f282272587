"""Lists and counts of rows of PostgreSQL."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from math import inf
from typing import Any

from harness.core.entries import Entry, Outline, TableStats
from harness.core.origins import EVERY
from harness.ports import NOTHING
from harness.storage.postgres.dialect import POSTGRES_TABLES
from harness.storage.postgres.row_codec import ROW_CODECS
from harness.storage.postgres.row_writes import plain
from harness.storage.postgres.statements import Statements
from harness.storage.postgres.vectors import HnswIndexes
from harness.storage.tables import ORIGINS

SCAN_BATCH = 500


class PostgresListings:
    """The port `Listings` on PostgreSQL."""

    def __init__(self, statements: Statements, vectors: HnswIndexes) -> None:
        self._statements = statements
        self._vectors = vectors

    def find(self, table: str, tenant: str, where: Mapping[str, Any]) -> list[Entry]:
        """See `Listings.find`."""
        declared = POSTGRES_TABLES[table]
        sql = f"{declared.select_whole} WHERE {declared.where(where)} ORDER BY seq"
        return ROW_CODECS[table].entries(tenant, self._statements.fetch_all(tenant, sql, *map(plain, where.values())))

    def recent(self, table: str, tenant: str, limit: int, *, where: Mapping[str, Any] = NOTHING) -> list[Entry]:
        """See `Listings.recent`."""
        declared = POSTGRES_TABLES[table]
        condition = declared.where(where) if where else declared.mine
        sql = f"{declared.select_whole} WHERE {condition} ORDER BY seq DESC LIMIT ${len(where) + 2}"
        return ROW_CODECS[table].entries(
            tenant, self._statements.fetch_all(tenant, sql, *map(plain, where.values()), max(0, limit))
        )

    def outlines(
        self, table: str, tenant: str, where: Mapping[str, Any] = NOTHING, *, after: int = 0, limit: int
    ) -> list[Outline]:
        """See `Listings.outlines`."""
        declared = POSTGRES_TABLES[table]
        condition = f"{declared.where(where) if where else declared.mine} AND seq > ${len(where) + 2}"
        sql = f"{declared.select_outline} WHERE {condition} ORDER BY seq DESC LIMIT ${len(where) + 3}"
        rows = self._statements.fetch_all(tenant, sql, *map(plain, where.values()), after, max(0, limit))
        return [ROW_CODECS[table].outline(row) for row in rows]

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
        declared = POSTGRES_TABLES[table]
        key = f"{declared.name}.{declared.column('key')}"
        mark = f"SELECT origin FROM {ORIGINS} AS marked WHERE marked.tenant = $1 AND source = '{table}'"
        condition = f"AND coalesce(({mark} AND marked.key = {key}), 'user') = ANY ($5::text[])"
        order = "ORDER BY created_at DESC, seq DESC LIMIT $3 OFFSET $4"
        sql = f"{declared.select_outline} WHERE {declared.mine} AND created_at >= {declared.moment(2)} {condition}"
        bound = (since, max(0, limit), max(0, offset), list(origins))
        return [ROW_CODECS[table].outline(row) for row in self._statements.fetch_all(tenant, f"{sql} {order}", *bound)]

    def scan(self, table: str, tenant: str) -> Iterator[Entry]:
        """See `Listings.scan`; in batches, so that a large table is never in memory."""
        yield from ROW_CODECS[table].entries(tenant, whole_rows(self._statements, table, tenant))

    def stats(self, table: str, tenant: str, now: float, embedder: str = "") -> TableStats:
        """See `Listings.stats`."""
        declared = POSTGRES_TABLES[table]
        indexed, tail = self._vectors.counts(table, tenant)
        fresh = declared.fresh(2)
        created = "extract(epoch FROM {}(created_at))::float8" if declared.is_tools else "{}(created_at)"
        sql = (
            f"SELECT count(*) FILTER (WHERE {fresh}), count(*) FILTER (WHERE NOT ({fresh})), "
            f"count(*), {created.format('min')}, {created.format('max')}, "
            f"count(*) FILTER (WHERE {fresh} AND embedder IS DISTINCT FROM $3) "
            f"FROM {declared.name} WHERE {declared.mine}"
        )
        live, expired, total, oldest, newest, missing = self._statements.fetch_all(tenant, sql, now, embedder)[0]
        return TableStats(
            table, live, expired, total, oldest, newest, indexed, tail, unembedded=missing if embedder else 0
        )

    def expiring(self, table: str, tenant: str, moments: Sequence[float]) -> list[int]:
        """See `Listings.expiring`; each row is counted once, between two moments."""
        if not moments:
            return []
        declared = POSTGRES_TABLES[table]
        since, upto = ("to_timestamp(since)", "to_timestamp(upto)") if declared.is_tools else ("since", "upto")
        within = f"{declared.mine} AND expires_at > {since} AND expires_at <= {upto}"
        counted = f"SELECT count(*) FROM {declared.name} WHERE {within}"
        sql = f"SELECT ({counted}) FROM unnest($2::float8[], $3::float8[]) AS span (since, upto) ORDER BY upto"
        ordered = sorted(moments)
        counts = accumulate(
            count for (count,) in self._statements.fetch_all(tenant, sql, [-inf, *ordered[:-1]], ordered)
        )
        reached = dict(zip(ordered, counts, strict=True))
        return [reached[moment] for moment in moments]


def whole_rows(statements: Statements, table: str, tenant: str) -> Iterator[tuple[Any, ...]]:
    """Yield every row of the tenant as `select_whole` reads it, the oldest first."""
    declared = POSTGRES_TABLES[table]
    whole = declared.select_whole.replace("SELECT ", "SELECT seq, ", 1)
    sql = f"{whole} WHERE {declared.mine} AND seq > $2 ORDER BY seq LIMIT {SCAN_BATCH}"
    since = 0
    while rows := statements.fetch_all(tenant, sql, since):
        yield from (row[1:] for row in rows)
        since = rows[-1][0]
