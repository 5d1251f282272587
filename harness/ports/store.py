"""Port of the database."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any, Protocol

from harness.core.audits import Audit
from harness.core.entries import Entry, Neighbour, Outline, TableStats
from harness.core.origins import EVERY
from harness.ports.embedder import Vectors

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Store(Protocol):
    """Cache tables in one database, named as declared. Every method is atomic, and safe from any thread and process.

    Rows belong to a tenant. No method that names one reads, counts or changes a row of another.

    Every method raises `StoreBusy` when a lock is not free in time, `StoreCorrupt` for a damaged file, and
    `StoreError` for anything else that the database refuses.
    """

    def get(self, table: str, tenant: str, key: str) -> Entry | None:
        """Return the row, expired or not, or `None`. A read: it changes nothing.

        In every method a row that does not match its checksum counts as none; a put replaces it. It is logged once.
        """

    def whole(self, table: str, tenant: str, key: str) -> Entry | None:
        """Return the row with every own column and its embedding, expired or not, or `None`."""

    def put(self, table: str, tenant: str, entry: Entry, *, sweep_before: float | None = None) -> None:
        """Insert or replace the row. When it returns, the row survives the death of this process.

        In the same transaction, rows of the tenant that expired at or before `sweep_before` go (in bounded number).
        """

    def swap(self, table: str, tenant: str, entry: Entry, *, expecting: Mapping[str, Any] | None) -> bool:
        """Put the row where the present one has these own-column values, or (`None`) where there is none; return
        whether it was put. Of all who try at once with the same expectation, one succeeds.

        Raises:
            InvalidInput: the table has no such column, or none is named.
        """

    def replace(self, table: str, tenant: str, entries: Sequence[Entry], *, instead_of: Mapping[str, Any]) -> int:
        """Put `entries` where the tenant's rows with these own-column values were, all or nothing; return how many
        went. Whoever looks sees the old rows or the new ones, never a mixture.

        Raises:
            InvalidInput: the table has no such column, or none is named.
        """

    def rows(self, table: str, tenant: str, where: Mapping[str, Any]) -> list[Entry]:
        """Return the tenant's rows with these own-column values, whole; in the order in which they were written.

        Raises:
            InvalidInput: the table has no such column, or none is named.
        """

    def recent(self, table: str, tenant: str, limit: int, *, where: Mapping[str, Any] = NOTHING) -> list[Entry]:
        """Return the tenant's up to `limit` rows that were written last, whole, the newest first; of those with these
        own-column values, if any are named. Expired rows count.

        Raises:
            InvalidInput: the table has no such column.
        """

    def outlines(
        self, table: str, tenant: str, where: Mapping[str, Any], *, after: int = 0, limit: int
    ) -> list[Outline]:
        """Return the tenant's up to `limit` rows with these own-column values that were written last, and after the one
        of the number `after`; the newest first. Cheap beside `rows`: neither payload nor embedding is read.

        Where several write at the same time, a row may be found later than one of a higher number.

        Raises:
            InvalidInput: the table has no such column, or none is named.
        """

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
        """Return the tenant's up to `limit` rows created at or after `since` (seconds since the epoch), the newest
        first; of those created at the same moment the one written last. The first `offset` of them are left out, and
        so are those of other `origins`.

        Cheap beside `recent`: neither payload nor embedding is read. Expired rows count.
        """

    def scopes(self, table: str, tenant: str, embedder: str) -> list[tuple[str, ...]]:
        """Return each combination of the scope columns' values that some row of the tenant with a vector of `embedder`
        has, expired or not; in the order of these values. Without scope columns, `()` is the only one.
        """

    def nearest(
        self,
        table: str,
        tenant: str,
        scope: tuple[str, ...],
        vector: Vectors,
        *,
        embedder: str,
        k: int,
        now: float,
        at_least: float = 0.0,
    ) -> list[Neighbour]:
        """Return up to `k` rows that are not expired at `now` and at least so similar, nearest to `vector` first.

        Only rows whose scope columns equal `scope` and whose embedding is of `embedder` count; `vector` is a unit
        vector, float32, shape (dimension,). What any process has put before is found. The rows carry the embeddings
        that the similarities were computed from. A read: it changes no row.
        """

    def scan(self, table: str, tenant: str) -> Iterator[Entry]:
        """Yield every row, whole: all own columns and the embedding; oldest first."""

    def unembedded(self, table: str, tenant: str, embedder: str, limit: int) -> list[tuple[str, str]]:
        """Return key and text of up to `limit` rows without a vector of `embedder`."""

    def embed(self, table: str, tenant: str, key: str, embedding: bytes, embedder: str) -> None:
        """Give the row its embedding, if it is still there."""

    def touch(self, table: str, tenant: str, key: str, now: float) -> None:
        """Note that the row was used."""

    def sweep(self, table: str, tenant: str, before: float) -> int:
        """Delete every row of the tenant that expired at or before `before`, in batches, between which others may
        write; return how many.
        """

    def delete(self, table: str, tenant: str, keys: Sequence[str], *, expired_at: float | None = None) -> int:
        """Delete these rows, or those of them that are expired at `expired_at`; return how many went."""

    def evict(self, table: str, tenant: str, scope: tuple[str, ...], keep: int) -> int:
        """Delete all rows of a scope but the `keep` most recently used ones; return how many went.

        Expired or not, embedded or not, every row counts. Of rows used at the same moment the later written one stays.
        """

    def clear(self, table: str, tenant: str) -> int:
        """Delete every row of the tenant; return how many."""

    def tenants(self) -> list[str]:
        """Return everybody whose rows or tokens the store holds, in the order of their names."""

    def forget(self, tenant: str, user: str | None = None) -> int:
        """Delete the tenant and all that it has, or one user of it, with the user's tokens; what a user has stored
        stays, as nobody's. Return how many rows have gone.
        """

    def meanings(self, tenant: str, shorts: Sequence[str]) -> list[tuple[str, str]]:
        """Return the (short, meaning) pairs that rows of the tenant teach for these short forms, each as often as it
        is taught. Short forms are compared without regard to case.
        """

    def count(self, tenant: str, day: str, times: Mapping[str, int], *, origin: str = "user") -> None:
        """Add to how often each thing happened on `day` (YYYY-MM-DD) for this origin."""

    def counted(self, tenant: str, origins: Sequence[str] = EVERY) -> dict[str, dict[str, int]]:
        """Return how often each thing happened for these origins on each day (YYYY-MM-DD) on which anything did, the
        earliest first.
        """

    def mark(self, table: str, tenant: str, key: str, origin: str) -> None:
        """Say who the row was made for. The mark goes with the row; without one, it is the user's."""

    def origins(self, table: str, tenant: str, keys: Sequence[str]) -> dict[str, str]:
        """Return who these rows were made for, by key; those of the user are left out."""

    def put_audit(self, tenant: str, audit: Audit) -> bool:
        """Keep what an audit found of a pair of queries; return whether it was kept. Of two that agree the later one
        stays, and one that disagrees takes the place of one that agrees, and stays for good.
        """

    def audits(self, tenant: str) -> list[Audit]:
        """Return what the tenant's audits found, one of each pair; the oldest first."""

    def audited(self, tenant: str) -> tuple[int, int]:
        """Return how many pairs of the tenant were found to agree, and how many to disagree."""

    def disagreeing(self, tenant: str, key: str) -> frozenset[str]:
        """Return the keys of the queries that were found to ask something else than the one with this key (see
        `Audit.keys`), whichever of the two was asked.
        """

    def clear_audits(self, tenant: str) -> int:
        """Delete what the tenant's audits found; return of how many pairs."""

    def turn(self, name: str, wait: float) -> AbstractContextManager[bool]:
        """Hold the lock `name` among all threads and processes; it is free again when its holder dies.

        Yields whether it was got within `wait` seconds.
        """

    def stats(self, table: str, tenant: str, now: float, embedder: str = "") -> TableStats:
        """Count what the table holds of the tenant; `unembedded` are the live rows without a vector of `embedder`."""

    def expiring(self, table: str, tenant: str, moments: Sequence[float]) -> list[int]:
        """Return how many rows of the tenant expire at or before each of `moments` (seconds since the epoch; up to
        1,000 of them, in any order). What has expired by now counts as well.
        """

    def verify(self, *, repair: bool) -> list[str]:
        """Check the file, the rows, what audits found, and the vector index; return a line for each problem, none when
        all is well.

        With `repair`, rows that no look-up can use are deleted, damaged embeddings are forgotten, and a lost index is
        made anew; what is said was then mended.
        """

    def unchecked(self) -> int:
        """Return how many rows have no checksum: older ones, and those of other programs. Damage in them is not found
        unless it shows.
        """

    def reindex(self) -> int:
        """Make the vector index anew from the rows; return how many vectors it has now.

        Raises:
            IndexUnavailable: no index can be made.
        """

    def size(self) -> int:
        """Return the bytes that the database takes on disk."""

    def close(self) -> None:
        """Let go of every connection of this process."""
