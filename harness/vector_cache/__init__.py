"""An agent's hybrid vector cache: solved queries, and chunks of documents. The two layers are never merged."""

from harness.core.tables import CHUNKS, QUERIES
from harness.vector_cache.chunks import Anchor, Chunks, EmbeddedChunk, StoredChunk
from harness.vector_cache.queries import Queries, QueryHit

__all__ = ["CHUNKS", "QUERIES", "Anchor", "EmbeddedChunk", "QueryHit", "StoredChunk", "VectorCache"]


class VectorCache(Queries, Chunks):
    """Two layers over one store, for one tenant and space: what was asked and solved, and what documents say.

    It holds no policy: it keeps what it is given, orders by similarity, and decides nothing about an agent's loop.
    Nothing is kept in the object: threads and processes may share a store, and a new object goes on where the last one
    stopped. Tenants and spaces never see each other's rows. Vectors are made outside of transactions, and bad input
    writes nothing.

    `threshold` is the least similarity (0..1; 0.0 is a value) of a solved query, `chunk_threshold` that of a chunk: the
    same one if `None`, though a passage is rarely as near to a question as another question is (with MiniLM, 0.3 to 0.5
    finds passages). `ttl` is the lifetime of a solved query in seconds; of more than `max_queries` the least recently
    used go. Chunks live until they are replaced or removed. `clock` returns seconds since the epoch.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from harness.models.local.embedder import MiniLM
    >>> from harness.storage.sqlite.store import SqliteStore
    >>> folder = TemporaryDirectory()
    >>> store = SqliteStore(Path(folder.name) / "agent.db")
    >>> cache = VectorCache(store, MiniLM(), chunk_threshold=0.3)

    A solved query answers what means the same:

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
        InvalidInput: a threshold outside 0..1, a `ttl` that is no lifetime, `max_queries` below 1, or an unusable name.
    """
