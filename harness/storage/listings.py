"""Lists and counts of rows in either database."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from math import inf
from typing import Any

from harness.core.entries import Entry, Outline, TableStats
from harness.core.freshness import latest_creation
from harness.core.origins import EVERY
from harness.ports import NOTHING
from harness.storage.statements import Statements, numbered
from harness.storage.tables import ORIGINS, Table

SCAN_BATCH = 500


class SqlListings:
    """The port `Listings`. `count_vectors` returns how many of a table's vectors, for a tenant, are in an index, and
    how many only in the rows.
    """

    def __init__(self, statements: Statements, count_vectors: Callable[[str, str], tuple[int, int]]) -> None:
        self._statements = statements
        self._count_vectors = count_vectors

    def find(self, table: str, tenant: str, where: Mapping[str, Any]) -> list[Entry]:
        """See `Listings.find`."""
        declared = self._statements.tables[table]
        sql = f"{declared.select_whole} WHERE {declared.where(where)} ORDER BY seq"
        return self._statements.entries(table, self._statements.fetch_all(tenant, sql, *where.values()))

    def recent(self, table: str, tenant: str, limit: int, *, where: Mapping[str, Any] = NOTHING) -> list[Entry]:
        """See `Listings.recent`."""
        declared = self._statements.tables[table]
        sql = f"{declared.select_whole} WHERE {_mine(declared, where)} ORDER BY seq DESC LIMIT ?{len(where) + 2}"
        rows = self._statements.fetch_all(tenant, sql, *where.values(), max(0, limit))
        return self._statements.entries(table, rows)

    def outlines(
        self, table: str, tenant: str, where: Mapping[str, Any] = NOTHING, *, after: int = 0, limit: int
    ) -> list[Outline]:
        """See `Listings.outlines`."""
        declared = self._statements.tables[table]
        condition = f"{_mine(declared, where)} AND seq > ?{len(where) + 2}"
        sql = f"{declared.select_outline} WHERE {condition} ORDER BY seq DESC LIMIT ?{len(where) + 3}"
        rows = self._statements.fetch_all(tenant, sql, *where.values(), after, max(0, limit))
        return self._statements.outlines(table, rows)

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
        declared = self._statements.tables[table]
        condition, bound = f"{declared.mine} AND created_at >= {declared.moment('?2')}", tuple(origins)
        if {*origins} != {*EVERY}:
            mark = f"SELECT origin FROM {ORIGINS} AS marked WHERE marked.tenant = ?1 AND source = '{table}'"
            own = f"({mark} AND marked.key = {declared.name}.{declared.column('key')})"
            condition = f"{condition} AND coalesce({own}, 'user') IN ({numbered(bound, 5)})"
        else:
            bound = ()
        sql = f"{declared.select_outline} WHERE {condition} ORDER BY created_at DESC, seq DESC LIMIT ?3 OFFSET ?4"
        rows = self._statements.fetch_all(tenant, sql, since, max(0, limit), max(0, offset), *bound)
        return self._statements.outlines(table, rows)

    def scan(self, table: str, tenant: str) -> Iterator[Entry]:
        """See `Listings.scan`; in batches, so that a large table is never in memory."""
        for rows in whole_rows(self._statements, table, tenant):
            yield from self._statements.entries(table, rows)

    def stats(self, table: str, tenant: str, now: float, embedder: str = "") -> TableStats:
        """See `Listings.stats`."""
        declared = self._statements.tables[table]
        indexed, tail = self._count_vectors(table, tenant)
        fresh, created, bound = declared.fresh(2), declared.read("created_at"), (now, latest_creation(now))
        mine = f"FROM {declared.name} WHERE {declared.mine}"
        sql = (
            f"SELECT count(*) FILTER (WHERE {fresh}), count(*) FILTER (WHERE NOT ({fresh})), count(*), "
            f"min({created}), max({created}) {mine}"
        )
        unembedded = f"SELECT count(*) {mine} AND {fresh} AND (embedder IS NULL OR embedder <> ?4)"
        live, expired, total, oldest, newest = self._statements.fetch_all(tenant, sql, *bound)[0]
        missing = self._statements.fetch_all(tenant, unembedded, *bound, embedder)[0][0] if embedder else 0
        return TableStats(table, live, expired, total, oldest, newest, indexed, tail, missing)

    def expiring(self, table: str, tenant: str, moments: Sequence[float]) -> list[int]:
        """See `Listings.expiring`; each row is counted once, between two moments."""
        if not moments:
            return []
        declared, ordered = self._statements.tables[table], sorted(moments)
        bounds = [bound for span in zip((-inf, *ordered), ordered, strict=False) for bound in span]
        spans = ", ".join(f"(?{at}, ?{at + 1})" for at in range(2, len(bounds) + 2, 2))
        within = f"expires_at > {declared.moment('since')} AND expires_at <= {declared.moment('upto')}"
        counted = f"SELECT count(*) FROM {declared.name} WHERE {declared.mine} AND {within}"
        sql = f"WITH span (since, upto) AS (VALUES {spans}) SELECT ({counted}) FROM span ORDER BY upto"
        counts = accumulate(count for (count,) in self._statements.fetch_all(tenant, sql, *bounds))
        reached = dict(zip(ordered, counts, strict=True))
        return [reached[moment] for moment in moments]


def _mine(declared: Table, where: Mapping[str, Any]) -> str:
    """Return the condition for a tenant's rows, with certain values if `where` has any."""
    return declared.where(where) if where else declared.mine


def whole_rows(statements: Statements, table: str, tenant: str) -> Iterator[list[tuple[Any, ...]]]:
    """Yield all rows of the tenant in batches, as `Table.select_whole` reads them, the oldest first."""
    declared = statements.tables[table]
    sql = f"{declared.select_numbered} WHERE {declared.mine} AND seq > ?2 ORDER BY seq LIMIT {SCAN_BATCH}"
    since = 0
    while rows := statements.fetch_all(tenant, sql, since):
        yield [row[1:] for row in rows]
        since = rows[-1][0]
