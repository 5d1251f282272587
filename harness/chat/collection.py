"""What every part of the memory works with: one tenant's collection in one store, opened when first needed."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from harness.chat.exchanges import Remembered, entry_of
from harness.chat.journal import Journal
from harness.chat.strategies import RetrievalStrategy, strategy_named
from harness.chat.word_index import WordIndex
from harness.core.entries import Entry, Outline
from harness.core.tables import MEMORY
from harness.errors import EmbeddingError, InvalidInput
from harness.ports import Embedder, Progress, Store, Vectors
from harness.settings import VectorStoreSettings
from harness.storage.forks import cached_property

if TYPE_CHECKING:
    from harness.core.redaction import Redactor


def _silent(what: str, done: int, total: int) -> None:
    """Show no progress."""


class Collection:
    """One tenant's collection. Making it reads nothing: neither store nor embedder is asked before it is needed."""

    def __init__(
        self,
        store: Store | Callable[[], Store],
        embedder: Embedder,
        settings: VectorStoreSettings | None = None,
        *,
        tenant: str = "default",
        place: str = "",
        clock: Callable[[], float] = time.time,
        redactor: "Redactor | None" = None,
        journal: Path | None = None,
        documents_folder: Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        if not isinstance(tenant, str) or not tenant.strip():
            raise InvalidInput("a tenant needs a name")
        self.settings = settings or VectorStoreSettings()
        self.place = place
        self._opens = store
        self._embedder = embedder
        self._tenant = tenant
        self._clock = clock
        self._given_redactor = redactor
        self._journal = None if journal is None else Journal(journal)
        self._documents_folder = self.settings.documents_folder or documents_folder
        self._progress = progress or _silent
        self._words = WordIndex(self.outlines)

    @cached_property
    def _store(self) -> Store:
        return self._opens() if callable(self._opens) else self._opens

    @cached_property
    def _redactor(self) -> "Redactor":
        from harness.core.redaction import Redactor

        return self._given_redactor or Redactor(self.settings.redact)

    @cached_property
    def _strategy(self) -> RetrievalStrategy:
        return strategy_named(self.settings)

    @property
    def _name(self) -> str:
        return self.settings.collection_name

    def outlines(self, after: int, limit: int) -> list[Outline]:
        """Return what is remembered, without vectors and payloads; see `Listings.outlines`."""
        return self._store.listings.outlines(MEMORY, self._tenant, {"collection": self._name}, after=after, limit=limit)

    def close(self) -> None:
        """Let go of the word index; the store is whoever's opened it. A later call begins anew."""
        self._words.forget()

    def _masked(self, text: str) -> tuple[str, int]:
        """Return a text with its secrets masked, and how many there were."""
        return self._redactor.redact(text)

    def _rows(self, **where: object) -> list[Entry]:
        return self._store.listings.find(MEMORY, self._tenant, {"collection": self._name, **where})

    def _row(self, key: str) -> Entry | None:
        """Return the row of this collection with this key, without its embedding."""
        entry = self._store.rows.get(MEMORY, self._tenant, key) if key and len(key) <= 64 else None
        return entry if entry is not None and entry.own.collection == self._name else None

    def _vectors(self, texts: list[str]) -> Vectors:
        """Return a vector of each text.

        Raises:
            EmbeddingError: none can be made, or they have another dimension than the settings name.
        """
        vectors = self._embedder.embed(texts)
        wanted = self.settings.embedding_dimensions
        if wanted is not None and vectors.shape[1] != wanted:
            raise EmbeddingError(
                f"{self._embedder.id} makes vectors of {vectors.shape[1]} numbers, and "
                f"vector_store.embedding_dimensions is {wanted}; change it, or the model"
            )
        return vectors

    def _entry(self, remembered: Remembered, vector: bytes | None) -> Entry:
        return entry_of(remembered, self._name, vector, None if vector is None else self._embedder.id)
