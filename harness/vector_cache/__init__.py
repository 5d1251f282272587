"""An agent's vector cache: solved queries, and chunks of documents. The two layers are never merged."""

import time
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from harness.core.freshness import HOUR, checked_ttl
from harness.ports import Embedder, Store
from harness.vector_cache.chunks import CHUNKS, Anchor, ChunkStore, EmbeddedChunk, StoredChunk
from harness.vector_cache.solved_queries import QUERIES, QueryHit, SolvedQueries, accept_any
from harness.vector_cache.vector_cache_checks import at_least, name, share
from harness.vector_cache.vector_rows import VectorRows

__all__ = ["CHUNKS", "QUERIES", "Anchor", "EmbeddedChunk", "QueryHit", "StoredChunk", "VectorCache"]


@dataclass(eq=False, repr=False)
class VectorCache:
    """Two layers over one store, for one tenant and space: solved queries and chunks of documents.

    It holds no policy: it stores, orders by similarity, and decides nothing about an agent's loop. All state is in the
    store: threads and processes may share it, and a new object continues where the last one stopped. Tenants and spaces
    never see each other's rows. Vectors are computed outside of transactions, and invalid input writes nothing.

    `threshold` is the minimum similarity (0..1; 0.0 is a value) of a solved query, `chunk_threshold` that of a chunk:
    the same if `None`, although a passage is rarely as similar to a question as another question is (with MiniLM, 0.3
    to 0.5 finds passages). `ttl` is the lifetime of a solved query in seconds; beyond `max_queries` the least recently
    used are deleted. Chunks stay until they are replaced or removed. `chunk_tokens` is the minimum and maximum length
    of a chunk. `clock` returns seconds since the epoch.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from harness.models.local.embedder import MiniLM
    >>> from harness.storage.sqlite.store import SqliteStore
    >>> folder = TemporaryDirectory()
    >>> store = SqliteStore(Path(folder.name) / "agent.db")
    >>> cache = VectorCache(store, MiniLM(), chunk_threshold=0.3)

    A solved query answers queries with the same meaning:

    >>> cache.put_query("GitHub API rate limits", {"answer": "5,000 requests an hour"})
    >>> hit = cache.get_query("github rest api rate limit")
    >>> hit.payload, hit.query, round(hit.similarity, 1)
    ({'answer': '5,000 requests an hour'}, 'GitHub API rate limits', 0.9)
    >>> cache.get_query("how to bake bread") is None
    True

    Documents are found by their passages:

    >>> cache.add_document("whales", "The blue whale is the largest animal known.", {"source": "book"}, "Mammals")
    1
    >>> [anchor] = cache.search_chunks("Which animal is the largest?")
    >>> anchor.text, anchor.metadata["source"], anchor.metadata["document"], anchor.metadata["chunk_index"]
    ('The blue whale is the largest animal known.', 'book', 'whales', 0)
    >>> store.close()
    >>> folder.cleanup()

    Raises:
        InvalidInput: a threshold outside 0..1, an unusable `ttl`, `max_queries` below 1, or an unusable name.
    """

    store: Store
    embedder: Embedder
    _: KW_ONLY
    space: str = "default"
    tenant: str = "default"
    threshold: float = 0.85
    chunk_threshold: float | None = None
    ttl: float = 48 * HOUR
    max_queries: int = 200
    chunk_tokens: tuple[int, int] = (200, 350)
    clock: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        self.threshold = share(self.threshold, "threshold")
        chunk_threshold = self.threshold if self.chunk_threshold is None else self.chunk_threshold
        self.chunk_threshold = share(chunk_threshold, "chunk_threshold")
        self.ttl = checked_ttl(self.ttl)
        at_least(self.max_queries, 1, "max_queries")
        at_least(self.chunk_tokens[0], 1, "chunk_tokens")
        space, tenant = name(self.space, "a space needs a name"), name(self.tenant, "a tenant needs a name")
        rows = VectorRows(self.store, self.embedder, tenant, space, self.clock)
        self._queries = SolvedQueries(rows)
        self._chunks = ChunkStore(rows, self.chunk_tokens)

    def put_query(self, query: str, payload: Any, *, ttl: float | None = None) -> None:
        """Store the payload that solves `query`, for `ttl` seconds (that of the cache if `None`).

        It replaces a query that differs only in case and spacing. The same transaction deletes expired queries, up to a
        bounded number; then the least recently used of this space beyond `max_queries` are deleted. Chunks stay.

        Raises:
            InvalidInput: an empty or unusable query, a payload that is not JSON, or an unusable `ttl`.
            EmbeddingError: embedding failed.
            StoreError: the store cannot be written.
        """
        self._queries.put(query, payload, self.ttl if ttl is None else ttl, self.max_queries)

    def get_query(
        self,
        query: str,
        *,
        candidates: int = 3,
        accept: Callable[[str, float], bool] = accept_any,
        same_only: bool = False,
    ) -> QueryHit | None:
        """Return the nearest valid answer among the `candidates` nearest queries, or `None`.

        Candidates are tried in order of similarity. One below the threshold ends the search, an expired one is deleted,
        and one that `accept` (called with its query and similarity) rejects is skipped. The first valid one is
        returned and its use recorded. The identical query comes first and is always accepted; finding it needs no
        vector. With `same_only`, no other query is searched.

        Raises:
            InvalidInput: an empty or unusable query, or `candidates` below 1.
            EmbeddingError: embedding failed.
            StoreError: the store cannot be used (`StoreCorrupt`: the row of the answer is damaged).
        """
        at_least(candidates, 1, "candidates")
        return self._queries.get(query, 0 if same_only else candidates, accept, self.threshold)

    def add_document(
        self,
        document: str,
        text: str,
        metadata: Mapping[str, Any] | None = None,
        section: str | None = None,
        *,
        ttl: float | None = None,
    ) -> int:
        """Split `text` into chunks of `chunk_tokens` (200 to 350) tokens of the embedder and store them; return their
        number.

        An existing document with this id is replaced atomically: a search finds either the old or the new chunks.
        `metadata` (JSON) is returned with every chunk; `section` names the part of a larger work. With a `ttl`
        (seconds), the chunks expire.

        Raises:
            InvalidInput: no id, no text, a text over `MAX_DOCUMENT_CHARS`, unusable metadata, or an unusable `ttl`.
            EmbeddingError: embedding failed.
            StoreError: the store cannot be written.
        """
        return len(self._chunks.add(document, text, metadata, section, ttl))

    def embedded_document(
        self, document: str, text: str, metadata: Mapping[str, Any] | None = None, *, ttl: float | None = None
    ) -> list[EmbeddedChunk]:
        """Return a document's chunks with their vectors, in order. Add the document if it is missing, damaged, expired,
        or stored with another text or metadata.

        Raises as `add_document` does, and `StoreCorrupt` if a row is damaged.
        """
        return self._chunks.embedded(document, text, metadata, ttl)

    def cut(self, document: str, text: str, metadata: Mapping[str, Any] | None = None) -> list[EmbeddedChunk]:
        """Return the chunks that `add_document` would store, without storing them. Raises as it does."""
        return self._chunks.cut(document, text, metadata)

    def drop_expired(self) -> int:
        """Delete the expired chunks of every space; return their number.

        Raises:
            StoreError: the store cannot be written.
        """
        return self._chunks.drop_expired()

    def remove_document(self, document: str) -> int:
        """Remove a document's chunks; return their number.

        Raises:
            InvalidInput: no id.
            StoreError: the store cannot be written.
        """
        return self._chunks.remove(document)

    def search_chunks(
        self,
        query: str,
        k: int = 8,
        *,
        threshold: float | None = None,
        per_document: int | None = None,
        min_chunks: int = 1,
    ) -> list[Anchor]:
        """Return the `k` chunks nearest to `query`, nearest first, or none if there are fewer than `min_chunks`.

        No chunk is below `threshold` (0..1; `chunk_threshold` if `None`), and at most `per_document` come from one
        document: the search is repeated with twice as many rows until there are `k` or no more are near enough.

        Raises:
            InvalidInput: an unusable query, a number below 1, `min_chunks` above `k`, or a threshold outside 0..1.
            EmbeddingError: embedding failed.
            StoreError: the store cannot be used (`StoreCorrupt`: a row that was found is damaged).
        """
        least = share(self.chunk_threshold if threshold is None else threshold, "threshold")
        return self._chunks.search(query, k, least, per_document=per_document, min_chunks=min_chunks)

    def chunk(self, document: str, index: int) -> StoredChunk | None:
        """Return one chunk of a document, or `None` if there is no such chunk; used to widen an anchor by its
        neighbours.

        Raises:
            InvalidInput: no id.
            StoreError: the store cannot be used (`StoreCorrupt`: the row is damaged).
        """
        return self._chunks.chunk(document, index)

    def document_chunks(self, document: str) -> list[StoredChunk]:
        """Return all chunks of a document, in order; none if there is no such document.

        Raises:
            InvalidInput: no id.
            StoreError: the store cannot be used (`StoreCorrupt`: a row is damaged).
        """
        return self._chunks.of_document(document)
