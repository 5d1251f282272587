"""Explanation of one search lookup."""

from typing import Any

from msgspec import Struct

from harness.cache.context import CacheContext
from harness.cache.lookup_request import LookupRequest
from harness.cache.semantic import Candidate
from harness.core.entries import Hit, Miss, Stale


class Explanation(Struct, frozen=True):
    """Why the cache answers a search as it does. `expanded` is the query with its abbreviations written out;
    `threshold` is the lowest score that the rule accepts. `candidates` are empty after an exact hit, or if lookups by
    meaning are off.
    """

    query: str
    key: str
    exact: Hit[Any] | Stale[Any] | Miss
    expanded: str
    volatile: bool
    threshold: float
    candidates: tuple[Candidate, ...]

    @property
    def answer(self) -> Candidate | None:
        """The candidate that answers, if there is one."""
        return next((candidate for candidate in self.candidates if not candidate.refusal), None)

    def shown(self, now: float) -> dict[str, Any]:
        """Return the explanation as JSON values; `now` is in seconds since the epoch."""
        hit = self.exact if isinstance(self.exact, Hit) else None
        answer = None if hit else self.answer
        return {
            "query": self.query,
            "key": self.key,
            "exact": type(self.exact).__name__.lower(),
            "read_as": self.expanded,
            "volatile": self.volatile,
            "threshold": self.threshold,
            "candidates": [shown_candidate(each, now) for each in self.candidates],
            "decision": hit.found if hit else "semantic" if answer else "miss",
            "answered_by": answer.entry.text if answer else None,
        }


class MissedSearch(Struct, frozen=True):
    """One search that went to its engine at the time `at` (seconds since the epoch). `nearest` is the cached search
    that was most similar then, and why it did not answer; `None` if there was none, or if lookups by meaning are off.
    """

    query: str
    engine: str
    at: float
    nearest: Candidate | None


def nearest_before(context: CacheContext, request: LookupRequest[Any], before: float) -> Candidate | None:
    """Return the row nearest to a request among those that were stored and fresh at the time `before`; `None` if there
    is none, or if lookups by meaning are off.

    Raises:
        StoreError: the store cannot be read.
    """
    if context.semantics is None:
        return None
    ttl = context.policy.volatile_ttl
    return next(context.semantics.candidates_for(request, before, volatile_ttl=ttl, before=before, texts=False), None)


def shown_candidate(candidate: Candidate, now: float) -> dict[str, Any]:
    """Return a candidate as JSON values; `now` is in seconds since the epoch."""
    decision = candidate.decision
    return {
        "query": candidate.entry.text,
        "similarity": round(decision.similarity, 4),
        "required": decision.required,
        "probability": decision.probability,
        "age_seconds": round(now - candidate.entry.created_at, 3),
        "guards": {verdict.guard: verdict.reason or "passed" for verdict in decision.verdicts},
        "objections": [verdict.guard for verdict in decision.objections],
        "refused": candidate.refusal or None,
        "reason": candidate.reason or None,
    }
