"""Solved questions: their researches stopped because they had found enough."""

import logging
import time
from collections.abc import Sequence
from typing import Any

import msgspec
import orjson
from msgspec import Struct, to_builtins

from harness.cache import Cache, Use
from harness.core.freshness import is_volatile
from harness.core.keys import normalise
from harness.core.text import clean
from harness.errors import EmbeddingError, HarnessError, InvalidInput, StoreCorrupt, StoreError
from harness.research.evidence import Evidence
from harness.research.gathering import Gathered
from harness.research.model_for_run import model_outage
from harness.research.planner import Plan
from harness.research.report import Report
from harness.vector_cache import QueryHit, VectorCache

log = logging.getLogger(__name__)


class Origin(Struct, frozen=True):
    """The question whose research is reused: as asked, its similarity (0..1), and its age in seconds."""

    question: str
    similarity: float
    age: float


class Solution(Struct, frozen=True):
    """A solved question: its plan, the gathered context, and the cached answers it used."""

    origin: Origin
    plan: Plan
    gathered: Gathered
    uses: tuple[dict[str, str], ...]


class SolvedQuestions(Struct, frozen=True):
    """Solved questions of one fingerprint, in a query cache for agents. Decides which ones are stored."""

    queries: VectorCache
    cache: Cache

    def find(self, question: str) -> Solution | None:
        """Return the solution of this question, or of an equivalent one.

        Raises:
            StoreError: the cache cannot be read.
        """
        policy, semantics = self.cache.policy, self.cache.semantics
        if not policy.read or policy.replay:
            return None

        def accept(other: str, similarity: float) -> bool:
            volatile = self._is_volatile(question) and not self._is_volatile(other)  # that one has a longer TTL
            return semantics is not None and not volatile and semantics.accepts(question, other, similarity)

        try:
            hit = self.queries.get_query(question, accept=accept, same_only=semantics is None)
        except StoreCorrupt as error:
            log.warning("the solution of %r is unreadable (%s) and will be replaced", question, error)
            return None
        except EmbeddingError as error:
            log.debug("lookup of solved questions failed: %s", error)
            return None
        if hit is None:
            return None
        try:
            return _solution(hit)
        except (ValueError, KeyError, TypeError, HarnessError) as error:
            log.warning("the solution of %r is unreadable (%s) and will be replaced", hit.query, error)
            return None

    def admit(
        self, plan: Plan, gathered: Gathered, evidence: Sequence[Evidence], report: Report, *, ttl: float
    ) -> bool:
        """Store the plan's question if it is solved: gathering stopped because the score was met, no search failed or
        was stale, and the report quotes at least one document. Return whether it is stored.
        """
        solved = gathered.stop_reason == "score met" and report.verified > 0 and bool(report.sources)
        failed = any(search.answered_by == "failed" for search in gathered.searches)
        late = any(use.how == "stale" for use in self.cache.uses)
        if not (solved and self.cache.policy.write) or failed or late or model_outage(self.cache.uses):
            return False
        payload: dict[str, Any] = {
            "plan": to_builtins(plan),
            "docs": to_builtins(gathered),
            "chunks": [
                {"text": " ".join(found.sentences), "url": found.source.url, "similarity": found.similarity}
                for found in evidence
            ],
            "retrieval_score": gathered.score,
            "answer": report.markdown(),
            "citations": to_builtins(report.citations),
            "uses": to_builtins(self.cache.uses),
        }
        if self._is_volatile(plan.question):
            ttl = min(ttl, self.cache.policy.volatile_ttl)
        try:
            self.queries.put_query(plan.question, orjson.loads(orjson.dumps(payload)), ttl=min(ttl, self.queries.ttl))
        except (StoreError, EmbeddingError, InvalidInput) as error:
            log.error("the solved question is not stored: %s", error)  # noqa: TRY400 - one line; nothing is lost
            return False
        return True

    def _is_volatile(self, question: str) -> bool:
        return is_volatile(question, time.gmtime(self.cache.now).tm_year)


def _solution(hit: QueryHit) -> Solution:
    """Decode a stored solution; it may come from another user's file.

    Raises:
        ValueError, KeyError, TypeError, HarnessError: it is not what `SolvedQuestions.admit` writes.
    """
    plan = msgspec.convert(hit.payload["plan"], Plan)
    gathered = msgspec.convert(hit.payload["docs"], Gathered)
    uses = to_builtins(msgspec.convert(hit.payload["uses"], tuple[Use, ...]))
    if len(plan.sections) < 2 or normalise(plan.question) != normalise(hit.query):
        raise ValueError("its plan is for another question")
    if not gathered.rounds or not gathered.sources or gathered.stop_reason != "score met":
        raise ValueError("it was not solved")
    if not _is_clean(plan, gathered):
        raise ValueError("it holds control characters")
    return Solution(Origin(plan.question, hit.similarity, hit.age), plan, gathered, uses)


def _is_clean(plan: Plan, gathered: Gathered) -> bool:
    """Return whether every text is as clean as adapters make it: a row may come from another user's file."""
    found = [text for source in gathered.sources for text in (source.url, source.title, *source.texts)]
    return all(clean(text, len(text)) == text.strip() for text in (plan.question, *plan.sections, *plan.parts, *found))
