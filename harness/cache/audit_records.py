"""Stored outcomes of audits of semantic hits."""

from typing import TYPE_CHECKING

from harness.cache.context import CacheContext
from harness.core.audits import Audit

if TYPE_CHECKING:  # statistics take 10 ms to import
    from harness.cache.audit import Audited


class AuditRecords:
    """Outcomes of the audits of one tenant, one for each pair of queries."""

    def __init__(self, context: CacheContext) -> None:
        self._store = context.store
        self._tenant = context.tenant

    def all(self) -> list[Audit]:
        """Return all outcomes, oldest first."""
        return self._store.audits(self._tenant)

    def summary(self) -> "Audited":
        """Return how many pairs were audited, and what share of them disagreed."""
        from harness.cache.audit import summary_of

        return summary_of(*self._store.audited(self._tenant))

    def restore(self, audit: Audit) -> bool:
        """Store an imported outcome, unless the pair has a newer one, or one that disagrees; return whether it was."""
        return self._store.put_audit(self._tenant, audit)

    def clear(self) -> int:
        """Delete all outcomes, so that pairs that disagreed may answer each other again; return how many."""
        return self._store.clear_audits(self._tenant)
