"""Rows of one tenant's documents, with vectors of their titles."""

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from harness.core.entries import Entry, Neighbour
from harness.core.tables import KNOWLEDGE, KnowledgeColumns
from harness.errors import (
    AccessDenied,
    EmbeddingError,
    IndexUnavailable,
    InvalidInput,
    SearchBackendError,
    StoreCorrupt,
    StoreError,
)
from harness.knowledge import knowledge_checks as checks
from harness.knowledge.knowledge_documents import KnowledgeDocument, decode
from harness.ports import Embedder, Store

log = logging.getLogger(__name__)

EVER = 0.0
"""With this time as now, a store returns expired rows, too."""
EMBED_AT_ONCE = 8
"""Titles without a vector that one write or lookup embeds besides its own, in 20 ms."""


@dataclass(eq=False)
class KnowledgeRows:
    """Documents of one tenant in one `Store`."""

    store: Store
    embedder: Embedder
    tenant: str
    clock: Callable[[], float]

    def __post_init__(self) -> None:
        if not isinstance(self.tenant, str) or not self.tenant.strip():
            raise InvalidInput("a tenant needs a name")
        self._writable = True

    def row(self, document_id: str) -> Entry | None:
        """Return the row of a document of this tenant; `None` for an unusable id, too."""
        usable = isinstance(document_id, str) and document_id.isalnum() and document_id.isascii()
        return self.store.rows.get(KNOWLEDGE, self.tenant, document_id) if usable and len(document_id) <= 64 else None

    def rows_of(self, url_key: str) -> list[Entry]:
        """Return the rows with this URL key: at most one, unless another program wrote them."""
        return self.store.listings.find(KNOWLEDGE, self.tenant, {"url_key": url_key})

    def nearest(self, query: str, k: int, *, at_least: float) -> list[Neighbour]:
        """Return up to `k` rows with the nearest titles, expired or not, of a similarity of `at_least` (0..1).

        Raises:
            SearchBackendError: embedding or the search by vector failed.
        """
        self.embed_some()
        try:
            return self.store.nearest.search(
                KNOWLEDGE,
                self.tenant,
                (),
                self.embedder.embed([query])[0],
                embedder=self.embedder.id,
                k=k,
                now=EVER,
                at_least=at_least,
            )
        except (EmbeddingError, IndexUnavailable, StoreError) as error:
            raise SearchBackendError(
                f"the lookup by meaning failed: {error}; a lookup by source_url still works"
            ) from error

    def entry(self, document: KnowledgeDocument) -> Entry:
        """Return the row of a document, with a vector of its title unless embedding fails."""
        embedding: bytes | None = None
        try:
            embedding = self.embedder.embed([document.title])[0].tobytes()
        except EmbeddingError as error:
            log.warning("%r is stored, but only its URL finds it until it has a vector: %s", document.title, error)
        return Entry(
            document.id,
            document.title,
            msgspec.json.encode(document),
            document.created_at,
            document.expires_at,
            document.updated_at,
            KnowledgeColumns(checks.url_key(document.source_url), document.version),
            embedding,
            self.embedder.id if embedding else None,
        )

    def embed_some(self) -> None:
        """Embed a few titles that have no vector, or one of another model."""
        if not self._writable:
            return
        try:
            missing = self.store.nearest.unembedded(KNOWLEDGE, self.tenant, self.embedder.id, EMBED_AT_ONCE)
            vectors = self.embedder.embed([title for _, title in missing]) if missing else ()
            for (key, title), vector in zip(missing, vectors, strict=True):
                row = self.store.rows.get(KNOWLEDGE, self.tenant, key)
                if row is not None and row.text == title:
                    embedded = replace(row, embedding=vector.tobytes(), embedder=self.embedder.id)
                    # not `Nearest.embed`: a title changed at this moment would get the vector of the old one
                    self.store.rows.swap(KNOWLEDGE, self.tenant, embedded, expecting={"version": row.own.version})
        except EmbeddingError as error:
            log.debug("titles without a vector were not embedded: %s", error)
        except (StoreError, AccessDenied) as error:  # a read-only store or token: later writes would fail, too
            self._writable = False
            log.debug("titles without a vector were not embedded: %s", error)


def readable(entries: Iterable[Entry]) -> Iterator[KnowledgeDocument]:
    """Yield the documents of rows; log and skip damaged ones."""
    for entry in entries:
        try:
            yield decode(entry)
        except StoreCorrupt as error:
            log.warning("%s", error)
