"""What looking up and writing have in common: one tenant's rows, and vectors of their titles."""

import logging
import time
from collections.abc import Callable, Container, Iterable, Iterator

from msgspec.structs import replace

from harness.core.entries import Entry
from harness.core.tables import KNOWLEDGE, KnowledgeColumns
from harness.errors import AccessDenied, EmbeddingError, InvalidInput, StoreCorrupt, StoreError
from harness.knowledge import checks
from harness.knowledge.documents import Document, decode, encode
from harness.ports import Embedder, Store, Vectors
from harness.storage.forks import cached_property

log = logging.getLogger(__name__)

TTL_HOURS = 720.0
FLOOR = 0.6
EMBED_AT_ONCE = 8
"""Titles without a vector that one write or look-up embeds besides its own: 20 ms."""


class Shelf:
    """One tenant's documents in one `Store`."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        tenant: str = "default",
        ttl_hours: float = TTL_HOURS,
        floor: float = FLOOR,
        words: Callable[[], Container[str]] = frozenset,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not isinstance(tenant, str) or not tenant.strip():
            raise InvalidInput("a tenant needs a name")
        self.ttl = checks.hours(ttl_hours, "ttl_hours")
        self.floor = checks.share(floor, "floor")
        self._store = store
        self._embedder = embedder
        self._tenant = tenant
        self._load_words = words
        self._clock = clock
        self._writable = True

    @cached_property
    def _words(self) -> Container[str]:
        return self._load_words()

    def _row(self, document_id: str) -> Entry | None:
        """Return the row of a document of this tenant; what is no id names none."""
        known = isinstance(document_id, str) and document_id.isalnum() and document_id.isascii()
        return self._store.rows.get(KNOWLEDGE, self._tenant, document_id) if known and len(document_id) <= 64 else None

    def _rows_of(self, url_key: str) -> list[Entry]:
        """Return the rows whose document was read at this address: one at the most, unless somebody meddled."""
        return self._store.listings.find(KNOWLEDGE, self._tenant, {"url_key": url_key})

    def _vector(self, text: str) -> Vectors:
        vector: Vectors = self._embedder.embed([text])[0]
        return vector

    def _entry(self, document: Document) -> Entry:
        """Return the row of a document, with a vector of its title if one can be made."""
        embedding: bytes | None = None
        try:
            embedding = self._vector(document.title).tobytes()
        except EmbeddingError as error:
            log.warning("%r is kept, but found by its URL alone until it has a vector: %s", document.title, error)
        return Entry(
            document.id,
            document.title,
            encode(document),
            document.created_at,
            document.expires_at,
            document.updated_at,
            KnowledgeColumns(checks.url_key(document.source_url), document.version),
            embedding,
            self._embedder.id if embedding else None,
        )

    def _embed_some(self) -> None:
        """Embed a few titles of another model, or of a time when there was none: in the background of use."""
        if not self._writable:
            return
        try:
            missing = self._store.nearest.unembedded(KNOWLEDGE, self._tenant, self._embedder.id, EMBED_AT_ONCE)
            vectors = self._embedder.embed([title for _, title in missing]) if missing else ()
            for (key, title), vector in zip(missing, vectors, strict=True):
                row = self._store.rows.get(KNOWLEDGE, self._tenant, key)
                if row is not None and row.text == title:
                    embedded = replace(row, embedding=vector.tobytes(), embedder=self._embedder.id)
                    # not `Nearest.embed`: a title that is changed at this moment would get the old one's vector
                    self._store.rows.swap(KNOWLEDGE, self._tenant, embedded, expecting={"version": row.own.version})
        except EmbeddingError as error:
            log.debug("titles without a vector stay so: %s", error)
        except (StoreError, AccessDenied) as error:  # a read-only store, or a reader's token: the next one is, too
            self._writable = False
            log.debug("titles without a vector stay so: %s", error)


def readable(entries: Iterable[Entry]) -> Iterator[Document]:
    """Yield the documents of rows; one that is damaged is told of, and passed over."""
    for entry in entries:
        try:
            yield decode(entry)
        except StoreCorrupt as error:
            log.warning("%s", error)
