"""Usage counts and origins of rows in either database."""

from collections.abc import Mapping, Sequence

from harness.core.origins import EVERY
from harness.storage.statements import Statements, numbered
from harness.storage.tables import MAX_BOUND, ORIGINS, USES


class SqlUsage:
    """The port `Usage`."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def add(self, tenant: str, day: str, times: Mapping[str, int], *, origin: str = "user") -> None:
        """See `Usage.add`."""
        sql = (
            f"INSERT INTO {USES} (tenant, day, origin, what, times) VALUES (?1, ?2, ?3, ?4, ?5) "
            f"ON CONFLICT (tenant, day, origin, what) DO UPDATE SET times = {USES}.times + excluded.times"
        )
        # in one order, so that two who count at once do not wait for each other
        rows = [(day, origin, what, times[what]) for what in sorted(times)]
        self._statements.change(tenant, sql, *rows, again=False)

    def by_day(self, tenant: str, origins: Sequence[str] = EVERY, since: str = "") -> dict[str, dict[str, int]]:
        """See `Usage.by_day`."""
        condition = f"tenant = ?1 AND day >= ?2 AND origin IN ({numbered(origins, 3)})"
        sums = f"SELECT day, what, CAST(sum(times) AS BIGINT) FROM {USES} WHERE {condition} GROUP BY day, what"
        days: dict[str, dict[str, int]] = {}
        text = self._statements.text
        for day, what, times in self._statements.fetch_all(tenant, f"{sums} ORDER BY day, what", since, *origins):
            days.setdefault(text(day), {})[text(what)] = times
        return days

    def mark_origin(self, table: str, tenant: str, key: str, origin: str) -> None:
        """See `Usage.mark_origin`."""
        row: tuple[str, ...] = (table, key)
        sql = f"DELETE FROM {ORIGINS} WHERE tenant = ?1 AND source = ?2 AND key = ?3"
        if origin != "user":
            sql = (
                f"INSERT INTO {ORIGINS} VALUES (?1, ?2, ?3, ?4) "
                "ON CONFLICT (tenant, source, key) DO UPDATE SET origin = excluded.origin"
            )
            row = (*row, origin)
        self._statements.change(tenant, sql, row)

    def origins(self, table: str, tenant: str, keys: Sequence[str]) -> dict[str, str]:
        """See `Usage.origins`."""
        found: dict[str, str] = {}
        text = self._statements.text
        for start in range(0, len(keys), MAX_BOUND):
            part = keys[start : start + MAX_BOUND]
            condition = f"tenant = ?1 AND source = ?2 AND key IN ({numbered(part, 3)})"
            rows = self._statements.fetch_all(
                tenant, f"SELECT key, origin FROM {ORIGINS} WHERE {condition}", table, *part
            )
            found.update((text(key), text(origin)) for key, origin in rows)
        return found
