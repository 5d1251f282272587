"""What services ask of the outside world. Adapters implement these; services know nothing else of them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypedDict

from harness.core.entries import Entry, TableStats

if TYPE_CHECKING:  # numpy takes 0.1 s to import, and an exact hit has no vectors
    import numpy as np
    from numpy.typing import NDArray

Vectors: TypeAlias = "NDArray[np.float32]"


class SearchResult(TypedDict):
    """One result of a search engine, in the shape that DuckDuckGo's have. `body` is plain text."""

    title: str
    href: str
    body: str


class Progress(Protocol):
    """Told about long work: `done` of `total` steps of `what` are finished; equal numbers mean the end."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Take note; must be quick and must not raise."""


class Store(Protocol):
    """Cache tables in one database, named as declared. Every method is atomic, and safe from any thread and process.

    Every method raises `StoreBusy` when a lock is not free in time, `StoreCorrupt` for a damaged file, and
    `StoreError` for anything else that the database refuses.
    """

    def get(self, table: str, tenant: str, key: str) -> Entry | None:
        """Return the row, expired or not, or `None`. A read: it changes nothing."""

    def put(self, table: str, tenant: str, entry: Entry, *, sweep_before: float | None = None) -> None:
        """Insert or replace the row. When it returns, the row survives the death of this process.

        In the same transaction, rows of the table that expired at or before `sweep_before` go (in bounded number).
        """

    def touch(self, table: str, tenant: str, key: str, now: float) -> None:
        """Note that the row was used."""

    def sweep(self, table: str, before: float) -> int:
        """Delete every row that expired at or before `before`, in batches; return how many."""

    def clear(self, table: str) -> int:
        """Delete every row of the table; return how many."""

    def stats(self, table: str, now: float) -> TableStats:
        """Count what the table holds."""

    def size(self) -> int:
        """Return the bytes that the database takes on disk."""

    def close(self) -> None:
        """Let go of every connection of this process."""


class SearchEngine(Protocol):
    """Something that answers queries."""

    name: str
    """Stable name: part of every key but the default engine's."""

    options: Mapping[str, Any]
    """The JSON-able options that differ from the defaults and change results; part of the key."""

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """Return up to `max_results` results, best first; empty when there truly are none.

        Raises:
            RateLimited: the engine asks for fewer requests.
            EngineUnavailable: no answer, or not an answer of this engine.
        """


class Embedder(Protocol):
    """Turns texts into vectors whose dot product is their similarity."""

    id: str
    """Names model, weights and version: vectors of different ids are never compared."""

    dimension: int

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text: float32, shape (len(texts), dimension). A text's vector depends on the
        text alone, not on what else is in the batch.

        Raises:
            EmbeddingError: the model is missing, damaged, or failed.
        """
