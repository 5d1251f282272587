"""Port of lists and counts of rows."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

from harness.core.access import needs
from harness.core.entries import Entry, Outline, TableStats
from harness.core.origins import EVERY

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Listings(Protocol):
    """Lists and counts of one tenant's rows."""

    @needs("reader")
    def find(self, table: str, tenant: str, where: Mapping[str, Any]) -> list[Entry]:
        """Return the whole rows with these own-column values, in the order they were written.

        Raises:
            InvalidInput: the table has no such column, or `where` is empty.
        """

    @needs("reader")
    def recent(self, table: str, tenant: str, limit: int, *, where: Mapping[str, Any] = NOTHING) -> list[Entry]:
        """Return up to `limit` whole rows, the last written first; with `where`, only rows with these own-column
        values. Expired rows count.

        Raises:
            InvalidInput: the table has no such column.
        """

    @needs("reader")
    def outlines(
        self, table: str, tenant: str, where: Mapping[str, Any] = NOTHING, *, after: int = 0, limit: int
    ) -> list[Outline]:
        """Return up to `limit` rows with a number above `after`, the last written first; with `where`, only rows with
        these own-column values. Cheaper than `find`: it reads neither payload nor embedding.

        With several writers, a row may become visible after one with a higher number.

        Raises:
            InvalidInput: the table has no such column.
        """

    @needs("reader")
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
        """Return up to `limit` rows of these `origins` created at or after `since` (seconds since the epoch), the
        newest first, after skipping `offset` rows. Rows created at the same time: the last written first.

        Cheaper than `recent`: it reads neither payload nor embedding. Expired rows count.
        """

    @needs("reader")
    def scan(self, table: str, tenant: str) -> Iterator[Entry]:
        """Yield every row with all own columns and its embedding, the oldest first."""

    @needs("reader")
    def stats(self, table: str, tenant: str, now: float, embedder: str = "") -> TableStats:
        """Count the tenant's rows in the table; `unembedded` counts the live rows without a vector of `embedder`."""

    @needs("reader")
    def expiring(self, table: str, tenant: str, moments: Sequence[float]) -> list[int]:
        """Return how many rows expire at or before each of `moments` (seconds since the epoch; up to 1,000, in any
        order). Rows that are expired now count as well.
        """
