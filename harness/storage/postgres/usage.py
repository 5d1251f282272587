"""Usage counts and origins of rows in PostgreSQL."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.core.origins import EVERY
from harness.storage.postgres.dialect import escaped, text_of
from harness.storage.postgres.statements import Statements
from harness.storage.tables import ORIGINS, USES


class PostgresUsage:
    """The port `Usage` on PostgreSQL."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def add(self, tenant: str, day: str, times: Mapping[str, int], *, origin: str = "user") -> None:
        """See `Usage.add`."""
        sql = (
            f"INSERT INTO {USES} (tenant, day, what, times, origin) VALUES ($1, $2, $3, $4, $5) "
            f"ON CONFLICT (tenant, day, origin, what) DO UPDATE SET times = {USES}.times + excluded.times"
        )
        # in one order, so that two who count at once do not wait for each other
        bound = [(escaped(tenant), day, escaped(what), times[what], origin) for what in sorted(times)]

        def write(connection: Any) -> None:
            for values in bound:
                connection.execute(sql, values)

        self._statements.write(tenant, write, again=False)

    def by_day(self, tenant: str, origins: Sequence[str] = EVERY, since: str = "") -> dict[str, dict[str, int]]:
        """See `Usage.by_day`."""
        condition = "tenant = $1 AND origin = ANY ($2::text[]) AND day >= $3"
        sums = f"SELECT day, what, sum(times)::bigint FROM {USES} WHERE {condition} GROUP BY day, what"
        days: dict[str, dict[str, int]] = {}
        for day, what, times in self._statements.fetch_all(tenant, f"{sums} ORDER BY day, what", list(origins), since):
            days.setdefault(text_of(day), {})[text_of(what)] = times
        return days

    def mark_origin(self, table: str, tenant: str, key: str, origin: str) -> None:
        """See `Usage.mark_origin`."""
        row: tuple[str, ...] = (escaped(tenant), table, escaped(key))
        sql = f"DELETE FROM {ORIGINS} WHERE tenant = $1 AND source = $2 AND key = $3"
        if origin != "user":
            sql = (
                f"INSERT INTO {ORIGINS} VALUES ($1, $2, $3, $4) "
                "ON CONFLICT (tenant, source, key) DO UPDATE SET origin = excluded.origin"
            )
            row = (*row, origin)
        self._statements.write(tenant, lambda connection: connection.execute(sql, row))

    def origins(self, table: str, tenant: str, keys: Sequence[str]) -> dict[str, str]:
        """See `Usage.origins`."""
        condition = "tenant = $1 AND source = $2 AND key = ANY ($3::text[])"
        sql = f"SELECT key, origin FROM {ORIGINS} WHERE {condition}"
        rows = self._statements.fetch_all(tenant, sql, table, [escaped(key) for key in keys]) if keys else []
        return {text_of(key): text_of(origin) for key, origin in rows}
