"""Rows of one tenant's memories in one store, which opens at first use."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from harness.chat.exchanges import Exchange, Remembered, seconds_of
from harness.chat.word_index import WordIndex
from harness.core.entries import Entry, Outline
from harness.core.freshness import NEVER
from harness.core.tables import MEMORY, MemoryColumns
from harness.errors import EmbeddingError, InvalidInput
from harness.ports import Embedder, Store, Vectors
from harness.settings import VectorStoreSettings
from harness.storage.forks import cached_property

if TYPE_CHECKING:
    from harness.core.redaction import Redactor


class MemoryRows:
    """One tenant's collection. Creating it opens nothing and embeds nothing."""

    def __init__(
        self,
        store: Store | Callable[[], Store],
        embedder: Embedder,
        settings: VectorStoreSettings,
        *,
        tenant: str = "default",
        clock: Callable[[], float] = time.time,
        redactor: "Redactor | None" = None,
    ) -> None:
        if not isinstance(tenant, str) or not tenant.strip():
            raise InvalidInput("a tenant needs a name")
        self.settings = settings
        self.embedder = embedder
        self.tenant = tenant
        self.clock = clock
        self.collection = settings.collection_name
        self.words = WordIndex(self.outlines)
        self._open_store = store
        self._given_redactor = redactor

    @cached_property
    def store(self) -> Store:
        """The store, opened at first use."""
        return self._open_store() if callable(self._open_store) else self._open_store

    @cached_property
    def _redactor(self) -> "Redactor":
        from harness.core.redaction import Redactor

        return self._given_redactor or Redactor(self.settings.redact)

    def outlines(self, after: int, limit: int) -> list[Outline]:
        """Return the memories without vectors and payloads; see `Listings.outlines`."""
        return self.store.listings.outlines(
            MEMORY, self.tenant, {"collection": self.collection}, after=after, limit=limit
        )

    def masked(self, text: str) -> tuple[str, int]:
        """Return a text with its secrets masked, and their number."""
        return self._redactor.redact(text)

    def rows(self, **where: object) -> list[Entry]:
        """Return the rows of this collection with these column values."""
        return self.store.listings.find(MEMORY, self.tenant, {"collection": self.collection, **where})

    def row(self, key: str) -> Entry | None:
        """Return the row of this collection with this key, without its embedding."""
        entry = self.store.rows.get(MEMORY, self.tenant, key) if key and len(key) <= 64 else None
        return entry if entry is not None and entry.own.collection == self.collection else None

    def vectors(self, texts: list[str]) -> Vectors:
        """Return a vector of each text.

        Raises:
            EmbeddingError: embedding failed, or the dimension differs from the one in the settings.
        """
        vectors = self.embedder.embed(texts)
        wanted = self.settings.embedding_dimensions
        if wanted is not None and vectors.shape[1] != wanted:
            raise EmbeddingError(
                f"{self.embedder.id} makes vectors of {vectors.shape[1]} numbers, but "
                f"vector_store.embedding_dimensions is {wanted}; change it, or the model"
            )
        return vectors

    def entry(self, remembered: Remembered, vector: bytes | None) -> Entry:
        """Return the row of a memory.

        Raises:
            InvalidInput: its timestamp is not a time.
        """
        at = seconds_of(remembered.timestamp)
        if isinstance(remembered, Exchange):
            place = (remembered.thread_id, remembered.session_id, remembered.thread_continuation_seq)
            own = MemoryColumns(self.collection, "exchange", *place, len(remembered.prior_exchange_ids))
        else:
            place = (remembered.document_id, remembered.session_id or "", 0)
            own = MemoryColumns(self.collection, "document", *place, remembered.chunk_index)
        payload, embedder = msgspec.json.encode(remembered), None if vector is None else self.embedder.id
        return Entry(remembered.id, remembered.text, payload, at, NEVER, at, own, vector, embedder)
