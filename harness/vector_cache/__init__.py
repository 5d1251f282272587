"""An agent's vector cache: solved queries, and chunks of documents. The two layers are never merged."""

import time
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

from harness.core.freshness import HOUR, checked_ttl
from harness.ports import Embedder, Store
from harness.vector_cache.chunks import Anchor, ChunkStore, EmbeddedChunk, StoredChunk
from harness.vector_cache.solved_queries import QueryHit, SolvedQueries
from harness.vector_cache.vector_cache_checks import at_least, name, share
from harness.vector_cache.vector_rows import VectorRows

__all__ = ["Anchor", "EmbeddedChunk", "QueryHit", "StoredChunk", "VectorCache"]


@dataclass(eq=False, repr=False)
class VectorCache(SolvedQueries, ChunkStore):
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
        self._rows = VectorRows(self.store, self.embedder, tenant, space, self.clock)
