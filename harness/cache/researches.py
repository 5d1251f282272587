"""Cached researches: whole gathered contexts."""

import logging
from typing import Any, ClassVar

import orjson
from msgspec import Struct

from harness.cache.context import CachePart
from harness.cache.lookup_request import UNREADABLE, LookupRequest, encoded_json
from harness.core.entries import Entry, Hit, Miss, Stale
from harness.core.freshness import DEFAULT_TTL, checked_ttl
from harness.core.keys import research_key
from harness.core.tables import RESEARCH, ResearchColumns
from harness.errors import InvalidInput

log = logging.getLogger(__name__)


class ResearchContext(Struct, frozen=True):
    """A gathered context: its text, the search rounds that led to it, and how much each added."""

    context: str
    search_rounds: Any
    novelty_scores: list[float]


class ResearchRequest(LookupRequest[ResearchContext], frozen=True, kw_only=True, gc=False):
    """One research. `fingerprint` identifies planner, engine and parameters."""

    table: ClassVar[str] = RESEARCH

    task_type: str
    fingerprint: str

    @property
    def scope(self) -> tuple[str, str]:
        """Task type and fingerprint."""
        return (self.task_type, self.fingerprint)

    def decode(self, entry: Entry) -> ResearchContext | Miss:
        """Return the context with its rounds and scores."""
        try:
            rounds, scores = map(orjson.loads, (entry.own.search_rounds, entry.own.novelty_scores))
            return ResearchContext(entry.payload.decode(), rounds, scores)
        except ValueError:
            return Miss(UNREADABLE)

    def columns(self, value: ResearchContext) -> tuple[Any, ...]:
        """Return rounds and scores as JSON, task type and fingerprint."""
        rounds, scores = (encoded_json(each).decode() for each in (value.search_rounds, value.novelty_scores))
        return ResearchColumns(rounds, scores, self.task_type, self.fingerprint)

    def taught_text(self, value: ResearchContext) -> str:
        """Return the context."""
        return value.context


class ResearchCache(CachePart):
    """Cached researches of one tenant."""

    def find(
        self, task: str, task_type: str, *, fingerprint: str = ""
    ) -> Hit[ResearchContext] | Stale[ResearchContext] | Miss:
        """Look a gathered research up. `fingerprint` identifies how it was gathered; another one is another research.

        Raises:
            InvalidInput: an unusable task.
            StoreError: the store cannot be read.
        """
        return self._lookup.find(_request(task, task_type, fingerprint, DEFAULT_TTL))

    def put(
        self,
        task: str,
        task_type: str,
        research: ResearchContext,
        *,
        ttl: float = DEFAULT_TTL,
        fingerprint: str = "",
    ) -> bool:
        """Store a gathered research; return whether it was stored: an empty context is not.

        Raises:
            InvalidInput: an unusable task or `ttl`, a context that is not text, rounds or scores that are not JSON.
            StoreError: the store cannot take it.
        """
        request = _request(task, task_type, fingerprint, checked_ttl(ttl))
        if not isinstance(research.context, str):
            raise InvalidInput(
                f"the context must be text, not {type(research.context).__name__}; encode it as JSON first"
            )
        if not research.context.strip():
            log.info("not stored, empty context: %r", task)
            return False
        request.columns(research)  # raises where nothing is written, too
        try:
            payload = research.context.encode()
        except UnicodeEncodeError:
            raise InvalidInput("the context contains a lone surrogate (broken Unicode); re-encode it") from None
        if self._policy.write:
            self._lookup.put(request, research, payload)
        return self._policy.write


def _request(task: str, task_type: str, fingerprint: str, ttl: float) -> ResearchRequest:
    key = research_key(task, task_type, fingerprint)
    return ResearchRequest(key=key, text=task, ttl=ttl, task_type=task_type.lower(), fingerprint=fingerprint)
