"""Port of audit results."""

from typing import Protocol

from harness.core.access import needs
from harness.core.audits import Audit


class Audits(Protocol):
    """Results of audits: one for each pair of queries."""

    @needs("writer")
    def put(self, tenant: str, audit: Audit) -> bool:
        """Store an audit of a pair of queries; return whether it was stored. A later agreement replaces an earlier
        one. A disagreement replaces an agreement and is never replaced by one.
        """

    @needs("reader")
    def all(self, tenant: str) -> list[Audit]:
        """Return the tenant's audits, one per pair, the oldest first."""

    @needs("reader")
    def count(self, tenant: str) -> tuple[int, int]:
        """Return how many pairs of the tenant agree, and how many disagree."""

    @needs("reader")
    def disagreeing(self, tenant: str, key: str) -> frozenset[str]:
        """Return the keys of the queries found to differ from the query with this key (see `Audit.keys`), in either
        order.
        """

    @needs("admin")
    def clear(self, tenant: str) -> int:
        """Delete the tenant's audits; return how many pairs were deleted."""
