"""Semantic caches to compare. Inside the timing each does everything from a query's text to a list of results:
embedding, finding neighbours, deciding, reading and decoding the row.

All embed with one MiniLM in this process. GPTCache is set up by its `init_similar_cache` (SQLite and FAISS, default
evaluator and threshold) except for the size limit: at the default of 1,000 rows it would evict the rows to find. Chroma
is a persistent collection with cosine distance and returns the nearest row at any distance.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Never

import orjson

from benchmarks.rows import Results, results
from benchmarks.shipped import open_cache
from harness.cache import Answer
from harness.core.entries import Entry
from harness.core.keys import DEFAULT_ENGINE, search_key
from harness.core.tables import SEARCHES
from harness.models.local.embedder import MiniLM
from harness.ports import Embedder, Vectors
from harness.storage.sqlite.store import SqliteStore

if TYPE_CHECKING:  # or a process that only looks up would import what makes the rows
    from benchmarks.neighbours import Rows

OURS = "this cache"
GPTCACHE = "GPTCache"
CHROMA = "Chroma"
EMBEDDING = "the embedding alone"

TTL = 10 * 365 * 86_400.0
"""Seconds: nothing expires while it is measured."""

_GPTCACHE_BATCH = 1_000
_CHROMA_BATCH = 2_000


class Missed(Exception):
    """Raised instead of searching, so that a look-up which finds nothing stores nothing."""


class Contender(ABC):
    """One semantic cache with its files in a separate folder."""

    name: str

    @abstractmethod
    def fill(self, rows: "Rows") -> None:
        """Store `rows` with their vectors; row n's value is `results(n)`."""

    @abstractmethod
    def hit(self, query: str) -> Results | None:
        """Return the results stored for what `query` rewords."""

    @abstractmethod
    def miss(self, query: str) -> object:
        """Look up what is not there."""

    @abstractmethod
    def put(self, query: str, answer: Results) -> object:
        """Embed and store."""

    @abstractmethod
    def close(self) -> None:
        """Close files."""


class Ours(Contender):
    """A `Cache` with an embedder, called as everything in this project calls it."""

    name = OURS

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        folder.mkdir(exist_ok=True)
        self._store = SqliteStore(folder / "harness.db")
        self._cache = open_cache(self._store, embedder)

    def fill(self, rows: "Rows") -> None:
        """Write through the store, so that whatever it does for its vector index is done."""
        now = time.time()
        for number, (text, vector) in enumerate(zip(rows.texts, rows.vectors, strict=True)):
            payload = orjson.dumps(results(number))
            own = (len(results(number)), DEFAULT_ENGINE, "{}")
            embedding = vector.astype("<f4").tobytes()
            entry = Entry(search_key(text), text, payload, now, now + TTL, now, own, embedding, MiniLM.id)
            self._store.rows.put(SEARCHES, "default", entry)

    def ask(self, query: str) -> Answer[Results]:
        """Look `query` up; nothing is stored if it is not there.

        Raises:
            Missed: it is not there.
        """
        return self._cache.searches.answer(query, _missed)

    def hit(self, query: str) -> Results | None:
        """Go through `SearchCache.answer`; what it calls on a miss raises."""
        try:
            return self.ask(query).value
        except Missed:
            return None

    def miss(self, query: str) -> None:
        """Go the same way, and make sure that it is a miss."""
        if self.hit(query) is not None:
            raise AssertionError(f"a miss was expected for {query!r}")

    def put(self, query: str, answer: Results) -> bool:
        """Go through `SearchCache.put`."""
        return self._cache.searches.put(query, answer, ttl=TTL)

    def search(self, query: str, answer: Results) -> Results:
        """Go through `SearchCache.answer` of what is not there: look up, get `answer`, store it."""
        return self._cache.searches.answer(query, lambda _query, _most: answer, ttl=TTL).value

    def close(self) -> None:
        """Let go of the database."""
        self._store.close()


def _missed(query: str, max_results: int) -> Never:
    raise Missed(query, max_results)


class GptCache(Contender):
    """GPTCache through its `get` and `put`; values are JSON text, as it keeps text."""

    name = GPTCACHE

    def __init__(self, folder: Path, embedder: Embedder, *, most_rows: int = 1_000_000) -> None:
        _install_nothing()
        from gptcache import Cache as PeerCache
        from gptcache.adapter import api
        from gptcache.manager import manager_factory

        self._api = api
        self._manager = manager_factory(
            "sqlite,faiss",
            data_dir=str(folder),
            vector_params={"dimension": embedder.dimension},
            eviction_params={"max_size": most_rows},
        )
        self._cache = PeerCache()
        api.init_similar_cache(cache_obj=self._cache, embedding=_Embedding(embedder), data_manager=self._manager)

    def fill(self, rows: "Rows") -> None:
        """Import with the vectors that are there."""
        for part in _parts(rows, _GPTCACHE_BATCH):
            values = [orjson.dumps(results(number)).decode() for number in part]
            vectors = list(rows.vectors[part.start : part.stop])
            self._manager.import_data(rows.texts[part.start : part.stop], values, vectors, [None] * len(part))
        self._manager.flush()

    def hit(self, query: str) -> Results | None:
        """Look up, decode."""
        found = self._api.get(query, cache_obj=self._cache)
        return None if found is None else orjson.loads(found)

    miss = hit

    def put(self, query: str, answer: Results) -> object:
        """Encode, embed, store; every twentieth call writes the whole FAISS index to its file, as it comes."""
        return self._api.put(query, orjson.dumps(answer).decode(), cache_obj=self._cache)

    def close(self) -> None:
        """Write the index and close."""
        self._manager.close()
        self._cache.data_manager = SimpleNamespace(close=int)  # it closes again at exit, when the folder is gone


class _Embedding:
    """An embedder as GPTCache calls it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.dimension = embedder.dimension

    def to_embeddings(self, text: str, **_: Any) -> Vectors:
        return self._embedder.embed([text])[0]


def _install_nothing() -> None:
    """Keep GPTCache from running `pip install` for what it misses."""
    import gptcache.utils
    from gptcache.utils import dependency_control

    def refuse(package: str, warn: bool = False) -> Never:
        del warn
        raise ImportError(f"GPTCache wants {package}; install it yourself")

    gptcache.utils.prompt_install = dependency_control.prompt_install = refuse


class Chroma(Contender):
    """A collection in Chroma; documents are the queries, values are metadata."""

    name = CHROMA

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        import chromadb

        settings = chromadb.Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(str(folder), settings)
        self._collection = self._client.get_or_create_collection(
            "rows", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
        )
        self._embedder = embedder

    def fill(self, rows: "Rows") -> None:
        """Add in batches with the vectors that are there."""
        for part in _parts(rows, _CHROMA_BATCH):
            self._collection.add(
                ids=[search_key(text) for text in rows.texts[part.start : part.stop]],
                embeddings=rows.vectors[part.start : part.stop],
                documents=rows.texts[part.start : part.stop],
                metadatas=[_metadata(results(number)) for number in part],
            )

    def hit(self, query: str) -> Results:
        """Embed, ask for the nearest row, decode it."""
        vector = self._embedder.embed([query])
        found = self._collection.query(query_embeddings=vector, n_results=1, include=["metadatas", "distances"])
        return orjson.loads(found["metadatas"][0][0]["results"])

    miss = hit

    def put(self, query: str, answer: Results) -> object:
        """Embed and add one row."""
        vectors = self._embedder.embed([query])
        return self._collection.upsert([search_key(query)], vectors, [_metadata(answer)], [query])

    def close(self) -> None:
        """Stop the client; its folder may be removed then."""
        self._client.close()


def _metadata(answer: Results) -> dict[str, str]:
    return {"results": orjson.dumps(answer).decode()}


CONTENDERS: dict[str, type[Ours | GptCache | Chroma]] = {each.name: each for each in (Ours, GptCache, Chroma)}


def _parts(rows: "Rows", size: int) -> Iterator[range]:
    for start in range(0, len(rows.texts), size):
        yield range(start, min(start + size, len(rows.texts)))


def share_right(contender: Contender, rows: "Rows") -> float:
    """Return the share (0..1) of the queries that find the row that they reword."""
    right = sum(contender.hit(ask) == results(row) for ask, row in zip(rows.asks, rows.answers, strict=True))
    return right / len(rows.asks)
