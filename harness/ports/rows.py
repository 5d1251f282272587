"""Port of single rows: read, write, delete."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, Protocol

from harness.core.access import needs
from harness.core.entries import Entry


class Rows(Protocol):
    """Rows by key. A row whose checksum does not match counts as absent in every method; it is logged once."""

    @needs("reader")
    def get(self, table: str, tenant: str, key: str) -> Entry | None:
        """Return the row, expired or not, or `None`. A read: it changes nothing."""

    @needs("reader")
    def get_whole(self, table: str, tenant: str, key: str) -> Entry | None:
        """Return the row with every own column and its embedding, expired or not, or `None`."""

    @needs("writer")
    def put(self, table: str, tenant: str, entry: Entry, *, sweep_before: float | None = None) -> None:
        """Insert or replace the row. When this returns, the row survives the death of this process.

        The same transaction deletes a bounded number of the tenant's rows that expired at or before `sweep_before`.
        """

    @needs("writer")
    def swap(self, table: str, tenant: str, entry: Entry, *, expecting: Mapping[str, Any] | None) -> bool:
        """Put the row only if the present one has these own-column values, or (`None`) if there is none; return
        whether it was put. Of several callers with the same expectation, one succeeds.

        Raises:
            InvalidInput: the table has no such column, or `expecting` is empty.
        """

    @needs("writer")
    def replace(self, table: str, tenant: str, entries: Sequence[Entry], *, instead_of: Mapping[str, Any]) -> int:
        """Put `entries` in place of the tenant's rows with these own-column values, all or nothing; return how many
        rows were deleted. A reader sees the old rows or the new ones, never a mixture.

        Raises:
            InvalidInput: the table has no such column, or `instead_of` is empty.
        """

    @needs("writer")
    def touch(self, table: str, tenant: str, key: str, now: float) -> None:
        """Record that the row was used."""

    @needs("writer")
    def delete(self, table: str, tenant: str, keys: Sequence[str], *, expired_at: float | None = None) -> int:
        """Delete these rows, or only those that are expired at `expired_at`; return how many were deleted."""

    @needs("writer")
    def sweep(self, table: str, tenant: str, before: float, *, created_after: float = inf) -> int:
        """Delete every row of the tenant that expired at or before `before`; return how many.

        Rows created later than `created_after` go too, unless they never expire: the clock was set back.

        Works in batches; others can write between two of them.
        """

    @needs("writer")
    def evict(self, table: str, tenant: str, scope: tuple[str, ...], keep: int) -> int:
        """Delete all rows of a scope but the `keep` most recently used; return how many were deleted.

        Every row counts, expired or not, embedded or not. Of rows used at the same time, the one written later stays.
        """
