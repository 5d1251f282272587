"""Chunks of documents, found by meaning."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from harness.core.entries import Entry, Neighbour
from harness.core.freshness import NEVER, checked_ttl, is_expired
from harness.core.tables import CHUNKS, ChunkColumns
from harness.errors import InvalidInput
from harness.ports import Vectors
from harness.vector_cache import vector_cache_checks as checks
from harness.vector_cache.vector_rows import VectorRows, loaded


class StoredChunk(Struct, frozen=True, kw_only=True):
    """A chunk of a document. `metadata` is the document's, plus `document` (its id), `chunk_index` (from 0) and
    `section` ("" if none was given).
    """

    text: str
    metadata: dict[str, Any]


class Anchor(StoredChunk, frozen=True, kw_only=True):
    """A chunk that matched, with its similarity (0..1)."""

    similarity: float


class EmbeddedChunk(StoredChunk, frozen=True, kw_only=True):
    """A chunk with its vector, of length 1, shape (dimension,)."""

    vector: Vectors


class ChunkStore:
    """Layer of document chunks; see `VectorCache`. A chunk has at least `chunk_tokens[0]` and at most `chunk_tokens[1]`
    tokens of the embedder, where the text allows.
    """

    chunk_threshold: float | None
    chunk_tokens: tuple[int, int]
    _rows: VectorRows

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
        return len(self._add(document, text, metadata, section, ttl))

    def _add(
        self, document: str, text: str, metadata: Mapping[str, Any] | None, section: str | None, ttl: float | None
    ) -> list[Entry]:
        """Do what `add_document` does; return the rows."""
        entries = self._cut(document, text, metadata, section, ttl)
        rows = self._rows
        rows.store.rows.replace(CHUNKS, rows.tenant, entries, instead_of=rows.of_document(document))
        return entries

    def embedded_document(
        self, document: str, text: str, metadata: Mapping[str, Any] | None = None, *, ttl: float | None = None
    ) -> list[EmbeddedChunk]:
        """Return a document's chunks with their vectors, in order. Add the document if it is missing, damaged, expired,
        or stored with another text or metadata.

        Raises as `add_document` does, and `StoreCorrupt` if a row is damaged.
        """
        entries = self._entries(document)
        if not self._is_current(entries, text, metadata):
            entries = self._add(document, text, metadata, None, ttl)
        return [_embedded(entry) for entry in entries]

    def _is_current(self, entries: list[Entry], text: str, metadata: Mapping[str, Any] | None) -> bool:
        """Return whether these rows are the whole document, undamaged, not expired and of this embedder."""
        embedder, now = self._rows.embedder, self._rows.clock()
        size = 4 * embedder.dimension
        sound = all(
            entry.embedder == embedder.id
            and len(entry.embedding or b"") == size
            and not is_expired(entry.expires_at, now, entry.created_at)
            and entry.own.chunk_index == at
            and entry.payload == checks.metadata(metadata)
            for at, entry in enumerate(entries)
        )
        stored = "".join("".join(entry.text.split()) for entry in entries)
        return bool(entries) and sound and stored == "".join(text.split())

    def cut(self, document: str, text: str, metadata: Mapping[str, Any] | None = None) -> list[EmbeddedChunk]:
        """Return the chunks that `add_document` would store, without storing them. Raises as it does."""
        return [_embedded(entry) for entry in self._cut(document, text, metadata, None, None)]

    def drop_expired(self) -> int:
        """Delete the expired chunks of every space; return their number.

        Raises:
            StoreError: the store cannot be written.
        """
        return self._rows.store.rows.sweep(CHUNKS, self._rows.tenant, self._rows.clock())

    def remove_document(self, document: str) -> int:
        """Remove a document's chunks; return their number.

        Raises:
            InvalidInput: no id.
            StoreError: the store cannot be written.
        """
        rows = self._rows
        return rows.store.rows.replace(CHUNKS, rows.tenant, (), instead_of=rows.of_document(document))

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
        least = checks.share(self.chunk_threshold if threshold is None else threshold, "threshold")
        k = checks.at_least(k, 1, "k")
        cap = k if per_document is None else checks.at_least(per_document, 1, "per_document")
        if checks.at_least(min_chunks, 1, "min_chunks") > k:
            raise InvalidInput(f"{min_chunks} chunks cannot be found among {k}; set min_chunks to at most k")
        vector = self._rows.embedder.embed([checks.query(query)])[0]
        wanted = k
        now = self._rows.clock()
        while True:
            near = self._rows.nearest(CHUNKS, vector, wanted, least)
            fresh = [each for each in near if not is_expired(each.entry.expires_at, now, each.entry.created_at)]
            found = _capped(fresh, k, cap)
            if len(found) == k or len(near) < wanted:
                break
            wanted *= 2
        if len(found) < min_chunks:
            return []
        return [
            Anchor(text=each.entry.text, metadata=_metadata(each.entry), similarity=each.similarity) for each in found
        ]

    def chunk(self, document: str, index: int) -> StoredChunk | None:
        """Return one chunk of a document, or `None` if there is no such chunk; used to widen an anchor by its
        neighbours.

        Raises:
            InvalidInput: no id.
            StoreError: the store cannot be used (`StoreCorrupt`: the row is damaged).
        """
        rows = self._rows
        rows.of_document(document)  # raises if it is not an id
        entry = rows.store.rows.get(CHUNKS, rows.tenant, rows.key(document, str(index)))
        return StoredChunk(text=entry.text, metadata=_metadata(entry)) if entry else None

    def document_chunks(self, document: str) -> list[StoredChunk]:
        """Return all chunks of a document, in order; none if there is no such document.

        Raises:
            InvalidInput: no id.
            StoreError: the store cannot be used (`StoreCorrupt`: a row is damaged).
        """
        return [StoredChunk(text=entry.text, metadata=_metadata(entry)) for entry in self._entries(document)]

    def _entries(self, document: str) -> list[Entry]:
        """Return the rows of a document, in order."""
        rows = self._rows
        entries = rows.store.listings.find(CHUNKS, rows.tenant, rows.of_document(document))
        return sorted(entries, key=lambda entry: entry.own.chunk_index)

    def _cut(
        self, document: str, text: str, metadata: Mapping[str, Any] | None, section: str | None, ttl: float | None
    ) -> list[Entry]:
        from harness.core.chunking import token_chunks  # loads the sentence splitter, which queries do not need

        rows = self._rows
        rows.of_document(document)  # raises if it is not an id
        part, encoded = checks.text(section or "", "section", checks.MAX_NAME_CHARS), checks.metadata(metadata)
        if not checks.text(text, "text of a document", checks.MAX_DOCUMENT_CHARS).strip():
            raise InvalidInput(f"the document {document[:60]!r} has no text; call remove_document to remove it")
        least, most = self.chunk_tokens
        chunks = token_chunks(text, rows.embedder.count_tokens, least=least, most=most)
        vectors = rows.embedder.embed([chunk.text for chunk in chunks])
        now = rows.clock()
        until = NEVER if ttl is None else now + checked_ttl(ttl)
        return [
            rows.entry(
                rows.key(document, str(at)),
                chunk.text,
                encoded,
                now,
                until,
                ChunkColumns(rows.space, document, at, part),
                vector,
            )
            for at, (chunk, vector) in enumerate(zip(chunks, vectors, strict=True))
        ]


def _capped(near: list[Neighbour], k: int, per_document: int) -> list[Neighbour]:
    """Return the first `k` with at most `per_document` of one document."""
    taken: list[Neighbour] = []
    counts: dict[str, int] = {}
    for each in near:
        document = each.entry.own.document
        if len(taken) < k and counts.get(document, 0) < per_document:
            taken.append(each)
            counts[document] = counts.get(document, 0) + 1
    return taken


def _metadata(entry: Entry) -> dict[str, Any]:
    """Return a chunk's metadata, with the values of the table's own columns."""
    return loaded(entry) | {name: getattr(entry.own, name) for name in checks.OWN}


def _embedded(entry: Entry) -> EmbeddedChunk:
    import numpy as np

    vector = np.frombuffer(entry.embedding or b"", np.float32)
    return EmbeddedChunk(text=entry.text, metadata=_metadata(entry), vector=vector)
