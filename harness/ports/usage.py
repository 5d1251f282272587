"""Port of usage counts and the origins of rows."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from harness.core.access import needs
from harness.core.origins import EVERY


class Usage(Protocol):
    """Usage counts by day and origin, and the origin of each row."""

    @needs("writer")
    def add(self, tenant: str, day: str, times: Mapping[str, int], *, origin: str = "user") -> None:
        """Add to the counts of each event on `day` (YYYY-MM-DD) for this origin."""

    @needs("reader")
    def by_day(self, tenant: str, origins: Sequence[str] = EVERY, since: str = "") -> dict[str, dict[str, int]]:
        """Return the counts of each event for these origins by day (YYYY-MM-DD), the earliest first, from the day
        `since` on. Days without events are left out.
        """

    @needs("writer")
    def mark_origin(self, table: str, tenant: str, key: str, origin: str) -> None:
        """Record for whom the row was made. The mark is deleted with the row; a row without one is the user's."""

    @needs("reader")
    def origins(self, table: str, tenant: str, keys: Sequence[str]) -> dict[str, str]:
        """Return for whom these rows were made, by key; the user's rows are left out."""
