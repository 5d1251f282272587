"""Researches: whole gathered contexts."""

import logging
from typing import Any

import orjson
from msgspec import Struct

from harness.cache.lookup import UNREADABLE, Road, encode
from harness.cache.tables import RESEARCH
from harness.core.entries import Entry, Hit, Miss, Stale
from harness.core.freshness import DEFAULT_TTL, checked_ttl
from harness.core.keys import research_key
from harness.core.tables import ResearchColumns
from harness.errors import InvalidInput

log = logging.getLogger(__name__)


class ResearchContext(Struct, frozen=True):
    """A gathered context as the cache keeps it: text, the rounds that led to it, and how much each added."""

    context: str
    search_rounds: Any
    novelty_scores: list[float]


class Researches(Road):
    """The cache of researches."""

    def get_research(
        self, task: str, task_type: str, *, fingerprint: str = ""
    ) -> Hit[ResearchContext] | Stale[ResearchContext] | Miss:
        """Look a gathered research up. `fingerprint` names what gathered it; another one is another research.

        Raises:
            InvalidInput: an unusable task.
            StoreError: the store cannot be read.
        """
        key = research_key(task, task_type, fingerprint)
        outcome: Hit[ResearchContext] | Stale[ResearchContext] | Miss = Miss("not looked up")
        if self.policy.read:
            entry = self._store.rows.get(RESEARCH, self._tenant, key)
            outcome = self._missed(task, "unknown") if entry is None else self._research(entry, key, task)
            if type(outcome) is not Hit and self.semantics is not None:
                found = self._nearest(RESEARCH, (task_type.lower(), fingerprint), task, _unfit_research)
                if found is not None and (context := _context(found.entry)) is not None:
                    return self._meant(RESEARCH, key, task, found, context)
        return outcome

    def _research(self, entry: Entry, key: str, task: str) -> Hit[ResearchContext] | Stale[ResearchContext] | Miss:
        context = _context(entry)
        if context is None:
            return self._missed(task, UNREADABLE)
        return self._found(RESEARCH, entry, key, task, context)

    def put_research(
        self,
        task: str,
        task_type: str,
        research: ResearchContext,
        *,
        ttl: float = DEFAULT_TTL,
        fingerprint: str = "",
    ) -> bool:
        """Keep a gathered research; return whether it was stored: one with an empty context is not.

        Raises:
            InvalidInput: an unusable task or `ttl`, a context that is no text, rounds or scores that are not JSON.
            StoreError: the store cannot take it.
        """
        checked_ttl(ttl)
        key = research_key(task, task_type, fingerprint)
        if not isinstance(research.context, str):
            raise InvalidInput(
                f"the context must be text, not {type(research.context).__name__}; encode it as JSON first"
            )
        if not research.context.strip():
            log.info("not stored, empty context: %r", task)
            return False
        rounds, scores = (encode(each).decode() for each in (research.search_rounds, research.novelty_scores))
        payload = _utf8(research.context)
        if self.policy.write:
            own = ResearchColumns(rounds, scores, task_type.lower(), fingerprint)
            self._put(RESEARCH, key, task, payload, ttl, own, research.context)
        return self.policy.write


def _context(entry: Entry) -> ResearchContext | None:
    try:
        rounds, scores = map(orjson.loads, (entry.own.search_rounds, entry.own.novelty_scores))
        return ResearchContext(entry.payload.decode(), rounds, scores)
    except ValueError:
        return None


def _unfit_research(entry: Entry) -> str:
    return "" if _context(entry) else UNREADABLE


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InvalidInput("the context contains a lone surrogate (broken Unicode); re-encode it") from None
