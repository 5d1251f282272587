"""An agent's hybrid vector cache: solved queries, and chunks of documents. The two layers are never merged."""

import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

import orjson
from msgspec import Struct

from harness.core.entries import Entry, Neighbour
from harness.core.freshness import HOUR, checked_ttl, is_expired
from harness.core.keys import canonical_json, normalise
from harness.core.text import one_line
from harness.errors import InvalidInput, StoreCorrupt
from harness.ports import Embedder, Store, Vectors

QUERIES = "agent_queries"
CHUNKS = "agent_chunks"

MAX_DOCUMENT_CHARS = 2_000_000
"""About a thousand pages; embedding them takes minutes."""
MAX_JSON_BYTES = 8 * 2**20
MAX_NAME_CHARS = 2_000

_ROUNDING = 1e-6
"""In float32 a vector's similarity to itself may come out as 0.9999999."""
_ALL_TIMES = float("-inf")
"""Asked for the rows that are not expired at this time, a store brings expired ones too."""
_NEVER = 1e15
_OWN = ("document", "chunk_index", "section")


class QueryHit(Struct, frozen=True):
    """What was stored for a query that means about the same: the payload, that query, their similarity (0..1), and the
    age of the answer in seconds.
    """

    payload: Any
    query: str
    similarity: float
    age: float


class StoredChunk(Struct, frozen=True, kw_only=True):
    """A slice of a document. `metadata` is the document's, with `document` (its id), `chunk_index` (from 0) and
    `section` ("" when none was given).
    """

    text: str
    metadata: dict[str, Any]


class Anchor(StoredChunk, frozen=True, kw_only=True):
    """A chunk that matched, and how well (0..1)."""

    similarity: float


class VectorCache:
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
    >>> from harness.embedders.minilm import MiniLM
    >>> from harness.stores.sqlite import SqliteStore
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

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        space: str = "default",
        tenant: str = "default",
        threshold: float = 0.85,
        chunk_threshold: float | None = None,
        ttl: float = 48 * HOUR,
        max_queries: int = 200,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.threshold = _share(threshold, "threshold")
        self.chunk_threshold = self.threshold if chunk_threshold is None else _share(chunk_threshold, "chunk_threshold")
        self.ttl = checked_ttl(ttl)
        self.max_queries = _at_least(max_queries, 1, "max_queries")
        self._space = _name(space, "a space needs a name")
        self._tenant = _name(tenant, "a tenant needs a name")
        self._store = store
        self._embedder = embedder
        self._clock = clock

    # Solved queries ----------------------------------------------------------------------------------------------

    def put_query(self, query: str, payload: Any, *, ttl: float | None = None) -> None:
        """Keep what solves `query`, for `ttl` seconds (that of the cache if `None`).

        A query that is the same but for case and spacing is replaced. Expired queries go in the same transaction (in
        bounded number), and then the least recently used of this space beyond `max_queries`; chunks are not touched.

        Raises:
            InvalidInput: an empty or unusable query, a payload that is not JSON, or a `ttl` that is no lifetime.
            EmbeddingError: no vector could be made.
            StoreError: the store cannot be written.
        """
        lifetime = self.ttl if ttl is None else checked_ttl(ttl)
        text = _query(query)
        encoded = _json({"payload": payload}, "payload")  # a database keeps objects, whatever the payload is
        vector = self._embedder.embed([text])[0]
        now = self._clock()
        entry = self._entry(self._key(normalise(text)), text, encoded, now, now + lifetime, (self._space,), vector)
        self._store.put(QUERIES, self._tenant, entry, sweep_before=now)
        self._store.evict(QUERIES, self._tenant, (self._space,), self.max_queries)

    def get_query(self, query: str, *, candidates: int = 3) -> QueryHit | None:
        """Return the nearest valid answer among the `candidates` nearest queries, or `None`.

        They are tried in falling similarity: one below the threshold ends the search, an expired one is deleted, and
        the first valid one is returned and its use noted.

        Raises:
            InvalidInput: an empty or unusable query, or `candidates` below 1.
            EmbeddingError: no vector could be made.
            StoreError: the store cannot be used (`StoreCorrupt`: the row that answers is damaged).
        """
        candidates = _at_least(candidates, 1, "candidates")
        vector = self._embedder.embed([_query(query)])[0]
        for near in self._nearest(QUERIES, vector, candidates, self.threshold):
            entry, now = near.entry, self._clock()
            if is_expired(entry.expires_at, now):  # unless somebody has just renewed it
                self._store.delete(QUERIES, self._tenant, [entry.key], expired_at=now)
                continue
            payload = _loaded(entry, "payload")["payload"]
            self._store.touch(QUERIES, self._tenant, entry.key, now)
            return QueryHit(payload, entry.text, near.similarity, max(0.0, now - entry.created_at))
        return None

    # Chunks of documents -----------------------------------------------------------------------------------------

    def add_document(
        self, document: str, text: str, metadata: Mapping[str, Any] | None = None, section: str | None = None
    ) -> int:
        """Cut `text` into chunks of 200 to 350 tokens of the embedder and keep them; return how many.

        A document of this id is replaced as a whole: whoever searches finds the old chunks or the new ones. `metadata`
        (JSON) comes back with every chunk; `section` tells what part of something larger the document is.

        Raises:
            InvalidInput: no id, no text, a text over `MAX_DOCUMENT_CHARS`, or metadata that cannot be kept.
            EmbeddingError: no vectors could be made.
            StoreError: the store cannot be written.
        """
        from harness.core.chunking import token_chunks  # with the sentence splitter; a query needs neither

        self._of(document)  # is it an id?
        part, encoded = _text(section or "", "section", MAX_NAME_CHARS), _metadata(metadata)
        if not _text(text, "text of a document", MAX_DOCUMENT_CHARS).strip():
            raise InvalidInput(f"the document {document[:60]!r} has no text; call remove_document to take it out")
        chunks = token_chunks(text, self._embedder.count_tokens)
        vectors = self._embedder.embed([chunk.text for chunk in chunks])
        now = self._clock()
        entries = [
            self._entry(
                self._key(document, str(at)),
                chunk.text,
                encoded,
                now,
                _NEVER,
                (self._space, document, at, part),
                vector,
            )
            for at, (chunk, vector) in enumerate(zip(chunks, vectors, strict=True))
        ]
        self._store.replace(CHUNKS, self._tenant, entries, instead_of=self._of(document))
        return len(entries)

    def remove_document(self, document: str) -> int:
        """Remove a document's chunks; return how many there were.

        Raises:
            InvalidInput: no id.
            StoreError: the store cannot be written.
        """
        return self._store.replace(CHUNKS, self._tenant, (), instead_of=self._of(document))

    def search_chunks(
        self,
        query: str,
        k: int = 8,
        *,
        threshold: float | None = None,
        per_document: int | None = None,
        min_chunks: int = 1,
    ) -> list[Anchor]:
        """Return the `k` chunks nearest to `query`, nearest first, or none when there are fewer than `min_chunks`.

        None is below `threshold` (0..1; `chunk_threshold` if `None`), and at most `per_document` are of one document:
        of the store more is asked, doubling, until there are `k` or no more are near enough.

        Raises:
            InvalidInput: an unusable query, a number below 1, `min_chunks` above `k`, or a threshold outside 0..1.
            EmbeddingError: no vector could be made.
            StoreError: the store cannot be used (`StoreCorrupt`: a row that was found is damaged).
        """
        least = self.chunk_threshold if threshold is None else _share(threshold, "threshold")
        k = _at_least(k, 1, "k")
        cap = k if per_document is None else _at_least(per_document, 1, "per_document")
        if _at_least(min_chunks, 1, "min_chunks") > k:
            raise InvalidInput(f"{min_chunks} chunks are never found among {k}; set min_chunks to at most k")
        vector = self._embedder.embed([_query(query)])[0]
        wanted = k
        while True:
            near = self._nearest(CHUNKS, vector, wanted, least)
            found = _capped(near, k, cap)
            if len(found) == k or len(near) < wanted:
                break
            wanted *= 2
        if len(found) < min_chunks:
            return []
        return [
            Anchor(text=each.entry.text, metadata=_described(each.entry), similarity=each.similarity) for each in found
        ]

    def chunk(self, document: str, index: int) -> StoredChunk | None:
        """Return one chunk of a document, or `None` when there is no such chunk: for widening an anchor by what stands
        beside it.

        Raises:
            InvalidInput: no id.
            StoreError: the store cannot be used (`StoreCorrupt`: the row is damaged).
        """
        self._of(document)  # is it an id?
        entry = self._store.get(CHUNKS, self._tenant, self._key(document, str(index)))
        return StoredChunk(text=entry.text, metadata=_described(entry)) if entry else None

    def document_chunks(self, document: str) -> list[StoredChunk]:
        """Return all chunks of a document, in its order; none when there is no such document.

        Raises:
            InvalidInput: no id.
            StoreError: the store cannot be used (`StoreCorrupt`: a row is damaged).
        """
        entries = self._store.rows(CHUNKS, self._tenant, self._of(document))
        chunks = [StoredChunk(text=entry.text, metadata=_described(entry)) for entry in entries]
        return sorted(chunks, key=lambda chunk: chunk.metadata["chunk_index"])

    # ---------------------------------------------------------------------------------------------------------------

    def _nearest(self, table: str, vector: Vectors, k: int, least: float) -> list[Neighbour]:
        """Return the rows of this space that are near enough, expired or not."""
        at_least, scope = max(0.0, least - _ROUNDING), (self._space,)
        embedder = self._embedder.id
        return self._store.nearest(
            table, self._tenant, scope, vector, embedder=embedder, k=k, now=_ALL_TIMES, at_least=at_least
        )

    def _entry(
        self, key: str, text: str, payload: bytes, now: float, until: float, own: tuple[Any, ...], vector: Vectors
    ) -> Entry:
        return Entry(key, text, payload, now, until, now, own, vector.tobytes(), self._embedder.id)

    def _of(self, document: str) -> dict[str, Any]:
        """Return what tells the rows of a document, if this is an id."""
        return {"space": self._space, "document": _name(document, "a document needs an id")}

    def _key(self, *parts: str) -> str:
        """Return the key of what `parts` name in this space; no two lists of parts share one."""
        return sha256(canonical_json([self._space, *parts]).encode()).hexdigest()


def _capped(near: list[Neighbour], k: int, per_document: int) -> list[Neighbour]:
    """Take the first `k` with at most `per_document` of one document."""
    taken: list[Neighbour] = []
    counts: dict[str, int] = {}
    for each in near:
        document = each.entry.own[1]
        if len(taken) < k and counts.get(document, 0) < per_document:
            taken.append(each)
            counts[document] = counts.get(document, 0) + 1
    return taken


def _described(entry: Entry) -> dict[str, Any]:
    """Return a chunk's metadata with what its own columns tell."""
    return _loaded(entry) | dict(zip(_OWN, entry.own[1:], strict=True))


def _loaded(entry: Entry, *needed: str) -> dict[str, Any]:
    try:
        loaded = orjson.loads(entry.payload)
    except ValueError:
        loaded = None
    if not isinstance(loaded, dict) or not loaded.keys() >= {*needed}:
        raise StoreCorrupt(f"what is kept for {entry.text[:60]!r} is damaged; run `harness cache verify --repair`")
    return loaded


# What callers pass ---------------------------------------------------------------------------------------------------


def _query(query: str) -> str:
    """Return the query on one line, if it is one."""
    normalise(query)
    return one_line(_text(query, "query", len(query)))


def _name(name: str, otherwise: str) -> str:
    if not isinstance(name, str) or not name.strip():
        raise InvalidInput(otherwise)
    return _text(name, otherwise.split()[1], MAX_NAME_CHARS)


def _text(text: str, what: str, most: int) -> str:
    """Return `text` if a database can keep it, unchanged."""
    if not isinstance(text, str):
        raise InvalidInput(f"the {what} must be text, not {type(text).__name__}")
    if len(text) > most:
        raise InvalidInput(f"the {what} is {len(text):,} characters long; at most {most:,} are kept, so split it")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"the {what} contains a lone surrogate (broken Unicode); re-encode it") from None
    return text


def _metadata(metadata: Mapping[str, Any] | None) -> bytes:
    if not isinstance(metadata, Mapping | None):
        raise InvalidInput(f"metadata must be a mapping, not {type(metadata).__name__}")
    given = dict(metadata or {})
    if taken := sorted(given.keys() & {*_OWN}):
        raise InvalidInput(f"metadata cannot hold {', '.join(taken)}: every chunk has its own; choose another name")
    return _json(given, "metadata")


def _json(value: dict[str, Any], what: str) -> bytes:
    """Encode what comes back as it went in, and nothing else: no NaN, no tuples, no dates."""
    try:
        encoded = orjson.dumps(value)
    except TypeError as error:
        raise InvalidInput(f"the {what} is not JSON ({error}); pass dicts, lists, text and numbers only") from None
    if len(encoded) > MAX_JSON_BYTES:
        raise InvalidInput(f"the {what} takes {len(encoded):,} bytes as JSON; at most {MAX_JSON_BYTES:,} are kept")
    if orjson.loads(encoded) != value:
        raise InvalidInput(f"the {what} is not JSON (it would not come back as it is); use lists for tuples, no NaN")
    return encoded


def _share(value: float, name: str) -> float:
    if not isinstance(value, int | float) or not 0.0 <= value <= 1.0:  # false for NaN, too
        raise InvalidInput(f"{name} must be a similarity from 0 to 1, not {value!r:.40}")
    return float(value)


def _at_least(value: int, least: int, name: str) -> int:
    if not isinstance(value, int) or value < least:
        raise InvalidInput(f"{name} must be a whole number of at least {least}, not {value!r:.40}")
    return value
