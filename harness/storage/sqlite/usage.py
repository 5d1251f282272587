"""Usage counts and origins of rows in a SQLite file."""

from collections.abc import Mapping, Sequence

from harness.core.origins import EVERY
from harness.storage.sqlite.database import Database
from harness.storage.sqlite.entries import MAX_BOUND, as_text, marks
from harness.storage.tables import ORIGINS, TABLES, USES


class SqliteUsage:
    """The port `Usage` on SQLite."""

    def __init__(self, connections: Database) -> None:
        self._connections = connections

    def add(self, tenant: str, day: str, times: Mapping[str, int], *, origin: str = "user") -> None:
        """See `Usage.add`."""
        sql = (
            f"INSERT INTO {USES} VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (tenant, day, origin, what) DO UPDATE SET times = times + excluded.times"
        )
        values = [(tenant, day, origin, what, number) for what, number in times.items()]
        self._connections.write(lambda connection: connection.executemany(sql, values))

    def by_day(self, tenant: str, origins: Sequence[str] = EVERY, since: str = "") -> dict[str, dict[str, int]]:
        """See `Usage.by_day`."""
        condition = f"tenant = ? AND day >= ? AND origin IN ({marks(origins)})"
        sql = f"SELECT day, what, sum(times) FROM {USES} WHERE {condition} GROUP BY day, what ORDER BY day, what"
        days: dict[str, dict[str, int]] = {}
        for day, what, times in self._connections.fetch_all(sql, (tenant, since, *origins)):
            days.setdefault(as_text(day), {})[as_text(what)] = times
        return days

    def mark_origin(self, table: str, tenant: str, key: str, origin: str) -> None:
        """See `Usage.mark_origin`."""
        row: tuple[str, ...] = (tenant, TABLES[table].name, key)
        sql = f"DELETE FROM {ORIGINS} WHERE tenant = ? AND source = ? AND key = ?"
        if origin != "user":
            sql, row = f"INSERT OR REPLACE INTO {ORIGINS} VALUES (?, ?, ?, ?)", (*row, origin)
        self._connections.write(lambda connection: connection.execute(sql, row))

    def origins(self, table: str, tenant: str, keys: Sequence[str]) -> dict[str, str]:
        """See `Usage.origins`."""
        found: dict[str, str] = {}
        for start in range(0, len(keys), MAX_BOUND):
            part = keys[start : start + MAX_BOUND]
            sql = f"SELECT key, origin FROM {ORIGINS} WHERE tenant = ? AND source = ? AND key IN ({marks(part)})"
            found.update(
                (as_text(key), as_text(origin))
                for key, origin in self._connections.fetch_all(sql, (tenant, table, *part))
            )
        return found
