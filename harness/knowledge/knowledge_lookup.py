"""Lookup of documents: by URL first, then by meaning."""

import logging
from collections.abc import Callable, Container, Iterator
from itertools import islice
from typing import Literal

from msgspec import Struct, structs

from harness.core.freshness import is_expired
from harness.errors import StoreCorrupt
from harness.knowledge.knowledge_documents import KnowledgeDocument, LookupResult, decode
from harness.knowledge.knowledge_rows import KnowledgeRows, readable
from harness.storage.forks import cached_property

log = logging.getLogger(__name__)

NEAREST_PER_CANDIDATE = 8
"""Near rows that are examined for each wanted candidate; few pass the guards and tags."""


class Criteria(Struct, frozen=True):
    """Requirements on an answer: the age in seconds since the last update, the confidence and the tags (in lower case);
    at most `limit` candidates are compared.
    """

    max_age: float | None
    min_confidence: float
    tags: frozenset[str]
    limit: int

    def check(self, document: KnowledgeDocument, now: float) -> Literal["fits", "stale", "unfit"]:
        """Return whether a document may answer, could answer after a refresh, or cannot answer."""
        tags = {tag.casefold() for tag in document.tags}
        if document.confidence < self.min_confidence or not self.tags <= tags:
            return "unfit"
        too_old = self.max_age is not None and now - document.updated_at > self.max_age
        return "stale" if too_old or is_expired(document.expires_at, now, document.created_at) else "fits"


class KnowledgeLookup:
    """Lookup of documents by URL and by meaning."""

    def __init__(self, rows: KnowledgeRows, floor: float, words: Callable[[], Container[str]]) -> None:
        self._rows = rows
        self._floor = floor
        self._load_words = words

    @cached_property
    def _words(self) -> Container[str]:
        return self._load_words()

    def lookup(self, query: str, url_key: str, criteria: Criteria) -> LookupResult:
        """See `Knowledge.lookup`."""
        stale: list[str] = []
        for document in readable(reversed(self._rows.rows_of(url_key)) if url_key else ()):
            verdict = criteria.check(document, self._rows.clock())
            if verdict == "fits":
                log.info("hit %r by URL: %r", query, document.title)
                return LookupResult(hit=True, document=document, found="url", similarity=1.0)
            if verdict == "stale":
                stale.append(document.id)
        return self._by_meaning(query, criteria, url_key, stale)

    def _by_meaning(self, query: str, criteria: Criteria, url_key: str, stale: list[str]) -> LookupResult:
        fitting: list[tuple[KnowledgeDocument, float]] = []
        for document, similarity in islice(self._candidates(query, criteria, url_key), criteria.limit):
            verdict = criteria.check(document, self._rows.clock())
            if verdict == "fits":
                fitting.append((document, similarity))
            elif verdict == "stale":
                stale.append(document.id)
        missed = LookupResult(hit=False, stale_exists=bool(stale), stale_id=stale[0] if stale else None)
        if not fitting:
            log.info("%s %r", "stale" if stale else "miss", query)
            return missed
        document, similarity = max(fitting, key=lambda each: (each[0].confidence, each[1], each[0].updated_at))
        log.info("hit %r by meaning: %r (%.2f)", query, document.title, similarity)
        return structs.replace(missed, hit=True, document=document, found="meaning", similarity=similarity)

    def _candidates(self, query: str, criteria: Criteria, url_key: str) -> Iterator[tuple[KnowledgeDocument, float]]:
        """Yield the nearest documents that pass guards, floor and tags, with their similarity, nearest first; without
        the URL's own document, which was checked before.
        """
        from harness.knowledge.matching import objection

        for near in self._rows.nearest(query, NEAREST_PER_CANDIDATE * (criteria.limit + 2), at_least=self._floor):
            if url_key and near.entry.own.url_key == url_key:
                continue
            try:
                document = decode(near.entry)
            except StoreCorrupt as error:
                log.warning("%s", error)
                continue
            if not criteria.tags <= {tag.casefold() for tag in document.tags}:
                continue
            if why := objection(query, document.title, document.content, near.similarity, known=self._words):
                log.debug("%r does not answer %r: %s", document.title, query, why)
                continue
            yield document, near.similarity
