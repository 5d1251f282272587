"""Looking up: by the URL first, then by meaning; a hit, something stale, or neither."""

import logging
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from harness.core.entries import Neighbour
from harness.core.freshness import is_expired
from harness.core.tables import KNOWLEDGE
from harness.errors import EmbeddingError, IndexUnavailable, SearchBackendError, StoreCorrupt, StoreError
from harness.knowledge import checks
from harness.knowledge.documents import Document, Lookup, decode
from harness.knowledge.rows import Shelf, readable

log = logging.getLogger(__name__)

EVER = 0.0
"""Asked for the rows that are not expired at this time, a store brings expired ones too."""
NEAREST_PER_CANDIDATE = 8
"""Near rows that are judged for each candidate that is wanted: of these, guards and tags let few pass."""


class Wanted(Struct, frozen=True):
    """What a document needs to answer: at most so old (seconds since its last update), at least so sure, all these
    tags (in small letters); at most so many candidates are weighed.
    """

    max_age: float | None
    min_confidence: float
    tags: frozenset[str]
    limit: int

    def judge(self, document: Document, now: float) -> Literal["fits", "stale", "unfit"]:
        """Say whether a document may answer, or might if it were refreshed."""
        tags = {tag.casefold() for tag in document.tags}
        if document.confidence < self.min_confidence or not self.tags <= tags:
            return "unfit"
        too_old = self.max_age is not None and now - document.updated_at > self.max_age
        return "stale" if too_old or is_expired(document.expires_at, now, document.created_at) else "fits"


class Lookups(Shelf):
    """What is known of something."""

    def lookup(
        self,
        query: str,
        source_url: str | None = None,
        max_age_hours: float | None = None,
        min_confidence: float = 0.5,
        limit: int = 3,
        tags: Sequence[str] | None = None,
    ) -> Lookup:
        """Return what is known about `query`.

        The document that was read at `source_url` (in whatever spelling of the address) answers first. If there is
        none, or it fails a filter, of the `limit` (1..100) nearest documents by meaning that no guard objects to and
        that have all the `tags` the one of highest confidence answers, of equals the more similar one, then the fresher
        one. What answers has at least `min_confidence` (0..1), has not expired, and was updated at most `max_age_hours`
        ago. What is only expired or too old is stale, and named for a refresh: the URL's document before others, else
        the most similar one. What is not sure enough is neither. A damaged document is passed over, with a warning.

        A read, but that it may give vectors to a few titles that have none.

        Raises:
            InvalidInput: an unusable query, URL or tag, or a number out of its range.
            SearchBackendError: nothing can be looked up by meaning.
            StoreError: the store cannot be read.
        """
        asked = checks.query(query)
        url_key = checks.url_key(checks.source_url(source_url or ""))
        wanted = Wanted(
            None if max_age_hours is None else checks.hours(max_age_hours, "max_age_hours"),
            checks.share(min_confidence, "min_confidence"),
            frozenset(tag.casefold() for tag in checks.tags(tags or ())),
            checks.limit(limit),
        )
        stale: list[str] = []
        for document in readable(reversed(self._rows_of(url_key)) if url_key else ()):
            judged = wanted.judge(document, self._clock())
            if judged == "fits":
                log.info("hit %r by URL: %r", asked, document.title)
                return Lookup(hit=True, document=document, found="url", similarity=1.0)
            if judged == "stale":
                stale.append(document.id)
        return self._by_meaning(asked, wanted, url_key, stale)

    def get(self, document_id: str) -> Document | None:
        """Return a document, expired or not; `None` if this tenant has none of that id.

        Raises:
            StoreError: the store cannot be read (`StoreCorrupt`: the document is damaged).
        """
        row = self._row(document_id)
        return None if row is None else decode(row)

    def _by_meaning(self, asked: str, wanted: Wanted, url_key: str, stale: list[str]) -> Lookup:
        fitting: list[tuple[Document, float]] = []
        for document, similarity in self._candidates(asked, wanted, url_key):
            judged = wanted.judge(document, self._clock())
            if judged == "fits":
                fitting.append((document, similarity))
            elif judged == "stale":
                stale.append(document.id)
        stale_id = stale[0] if stale else None
        if not fitting:
            log.info("%s %r", "stale" if stale else "miss", asked)
            return Lookup(hit=False, stale_exists=bool(stale), stale_id=stale_id)
        document, similarity = max(fitting, key=lambda each: (each[0].confidence, each[1], each[0].updated_at))
        log.info("hit %r by meaning: %r (%.2f)", asked, document.title, similarity)
        return Lookup(
            hit=True,
            document=document,
            stale_exists=bool(stale),
            stale_id=stale_id,
            found="meaning",
            similarity=similarity,
        )

    def _candidates(self, asked: str, wanted: Wanted, url_key: str) -> Iterator[tuple[Document, float]]:
        """Yield the nearest documents that guards, floor and tags let pass, with their similarity, nearest first; not
        the URL's own, which has been judged.
        """
        from harness.knowledge.matching import objection

        counted = 0
        for near in self._nearest(asked, NEAREST_PER_CANDIDATE * (wanted.limit + 2)):
            if url_key and near.entry.own.url_key == url_key:
                continue
            try:
                document = decode(near.entry)
            except StoreCorrupt as error:
                log.warning("%s", error)
                continue
            if not wanted.tags <= {tag.casefold() for tag in document.tags}:
                continue
            if why := objection(asked, document.title, document.content, near.similarity, known=self._words):
                log.debug("%r does not answer %r: %s", document.title, asked, why)
                continue
            yield document, near.similarity
            counted += 1
            if counted == wanted.limit:
                return

    def _nearest(self, asked: str, k: int) -> list[Neighbour]:
        """Return the rows whose titles are nearest, expired or not, down to the floor.

        Raises:
            SearchBackendError: no vector can be made, or no rows found by one.
        """
        self._embed_some()
        try:
            return self._store.nearest.search(
                KNOWLEDGE,
                self._tenant,
                (),
                self._vector(asked),
                embedder=self._embedder.id,
                k=k,
                now=EVER,
                at_least=self.floor,
            )
        except (EmbeddingError, IndexUnavailable, StoreError) as error:
            raise SearchBackendError(
                f"nothing can be looked up by meaning: {error}; a source_url still finds"
            ) from error
