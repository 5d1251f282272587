"""Port of administration: tenants, checks, deletion."""

from typing import Protocol

from harness.core.access import needs


class Admin(Protocol):
    """Administration of the database. Methods without a role concern every tenant: no token is enough for them."""

    @needs("admin")
    def clear(self, table: str, tenant: str) -> int:
        """Delete every row of the tenant; return how many."""

    @needs("admin")
    def forget(self, tenant: str, user: str | None = None) -> int:
        """Delete the tenant and everything it has, or one of its users with the user's tokens; rows that a user stored
        stay, without the name. Return how many rows were deleted.
        """

    def tenants(self) -> list[str]:
        """Return every tenant with rows or tokens, sorted by name."""

    def verify(self, *, repair: bool) -> list[str]:
        """Check the file, the rows, the audits and the vector index; return one line per problem.

        With `repair`, unusable rows and damaged embeddings are deleted, and a lost index is rebuilt.
        """

    def unchecked(self) -> int:
        """Return how many rows have no checksum: older ones, and those of other programs. Damage in them goes
        unnoticed unless it makes the row unreadable.
        """

    def reindex(self) -> int:
        """Rebuild the vector index from the rows; return how many vectors it has now.

        Raises:
            IndexUnavailable: no index can be made.
        """

    def size(self) -> int:
        """Return the size of the database on disk, in bytes."""
