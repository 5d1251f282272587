"""Stored outcomes of audits of semantic hits."""

from typing import TYPE_CHECKING

from harness.cache.context import CachePart
from harness.core.audits import Audit

if TYPE_CHECKING:  # statistics take 10 ms to import
    from harness.cache.audit import Audited


class AuditRecords(CachePart):
    """Outcomes of the audits of one tenant, one for each pair of queries."""

    def all(self) -> list[Audit]:
        """Return all outcomes, oldest first."""
        return self._store.audits.all(self._tenant)

    def summary(self) -> "Audited":
        """Return how many pairs were audited, and what share of them disagreed."""
        from harness.cache.audit import Audited
        from harness.core.calibration import interval

        agreeing, disagreeing = self._store.audits.count(self._tenant)
        total = agreeing + disagreeing
        return Audited(total, agreeing, disagreeing, interval(disagreeing, total))

    def restore(self, audit: Audit) -> bool:
        """Store an imported outcome, unless the pair has a newer one, or one that disagrees; return whether it was."""
        return self._store.audits.put(self._tenant, audit)

    def clear(self) -> int:
        """Delete all outcomes, so that pairs that disagreed may answer each other again; return how many."""
        return self._store.audits.clear(self._tenant)
