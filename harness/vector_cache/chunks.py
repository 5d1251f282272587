"""The chunk store: what documents say, in slices."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from harness.core.entries import Entry, Neighbour
from harness.core.freshness import NEVER, checked_ttl, is_expired
from harness.core.tables import CHUNKS, ChunkColumns
from harness.errors import InvalidInput
from harness.ports import Vectors
from harness.vector_cache import checks
from harness.vector_cache.collection import Space, loaded


class StoredChunk(Struct, frozen=True, kw_only=True):
    """A slice of a document. `metadata` is the document's, with `document` (its id), `chunk_index` (from 0) and
    `section` ("" when none was given).
    """

    text: str
    metadata: dict[str, Any]


class Anchor(StoredChunk, frozen=True, kw_only=True):
    """A chunk that matched, and how well (0..1)."""

    similarity: float


class EmbeddedChunk(StoredChunk, frozen=True, kw_only=True):
    """A chunk with its vector, of length 1, shape (dimension,)."""

    vector: Vectors


class Chunks(Space):
    """What documents say."""

    def add_document(
        self,
        document: str,
        text: str,
        metadata: Mapping[str, Any] | None = None,
        section: str | None = None,
        *,
        ttl: float | None = None,
    ) -> int:
        """Cut `text` into chunks of `chunk_tokens` (200 to 350) tokens of the embedder and keep them; return how many.

        A document of this id is replaced as a whole: whoever searches finds the old chunks or the new ones. `metadata`
        (JSON) comes back with every chunk; `section` tells what part of something larger the document is. With a `ttl`
        (seconds) it is not found any more when that is over.

        Raises:
            InvalidInput: no id, no text, a text over `MAX_DOCUMENT_CHARS`, metadata that cannot be kept, or a `ttl`
                that is no lifetime.
            EmbeddingError: no vectors could be made.
            StoreError: the store cannot be written.
        """
        return len(self._add(document, text, metadata, section, ttl))

    def embedded_document(
        self, document: str, text: str, metadata: Mapping[str, Any] | None = None, *, ttl: float | None = None
    ) -> list[EmbeddedChunk]:
        """Return a document's chunks with their vectors, in its order. One that is not there yet is added first; one
        that is, is taken to have this text.

        Raises as `add_document` does, and `StoreCorrupt` where a row is damaged.
        """
        held = self._rows(document)
        if not self._is_whole(held, text, metadata):
            held = self._add(document, text, metadata, None, ttl)
        return [_embedded(entry) for entry in held]

    def _is_whole(self, held: list[Entry], text: str, metadata: Mapping[str, Any] | None) -> bool:
        """Say whether these rows are a document as this embedder sees it: fresh, sound, and all of it."""
        size, now = 4 * self._embedder.dimension, self._clock()
        sound = all(
            entry.embedder == self._embedder.id
            and len(entry.embedding or b"") == size
            and not is_expired(entry.expires_at, now, entry.created_at)
            and entry.own.chunk_index == at
            and entry.payload == checks.metadata(metadata)
            for at, entry in enumerate(held)
        )
        return bool(held) and sound and "".join("".join(entry.text.split()) for entry in held) == "".join(text.split())

    def cut(self, document: str, text: str, metadata: Mapping[str, Any] | None = None) -> list[EmbeddedChunk]:
        """Return the chunks that `add_document` would keep, and keep none. Raises as it does."""
        return [_embedded(entry) for entry in self._cut(document, text, metadata, None, None)]

    def drop_expired(self) -> int:
        """Delete the chunks whose time is over, of every space; return how many.

        Raises:
            StoreError: the store cannot be written.
        """
        return self._store.rows.sweep(CHUNKS, self._tenant, self._clock())

    def remove_document(self, document: str) -> int:
        """Remove a document's chunks; return how many there were.

        Raises:
            InvalidInput: no id.
            StoreError: the store cannot be written.
        """
        return self._store.rows.replace(CHUNKS, self._tenant, (), instead_of=self._of(document))

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
        least = self.chunk_threshold if threshold is None else checks.share(threshold, "threshold")
        k = checks.at_least(k, 1, "k")
        cap = k if per_document is None else checks.at_least(per_document, 1, "per_document")
        if checks.at_least(min_chunks, 1, "min_chunks") > k:
            raise InvalidInput(f"{min_chunks} chunks are never found among {k}; set min_chunks to at most k")
        vector = self._embedder.embed([checks.query(query)])[0]
        wanted = k
        now = self._clock()
        while True:
            near = self._nearest(CHUNKS, vector, wanted, least)
            found = _capped(
                [each for each in near if not is_expired(each.entry.expires_at, now, each.entry.created_at)], k, cap
            )
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
        entry = self._store.rows.get(CHUNKS, self._tenant, self._key(document, str(index)))
        return StoredChunk(text=entry.text, metadata=_described(entry)) if entry else None

    def document_chunks(self, document: str) -> list[StoredChunk]:
        """Return all chunks of a document, in its order; none when there is no such document.

        Raises:
            InvalidInput: no id.
            StoreError: the store cannot be used (`StoreCorrupt`: a row is damaged).
        """
        return [StoredChunk(text=entry.text, metadata=_described(entry)) for entry in self._rows(document)]

    def _rows(self, document: str) -> list[Entry]:
        """Return the rows of a document, in its order."""
        return sorted(
            self._store.listings.find(CHUNKS, self._tenant, self._of(document)), key=lambda entry: entry.own.chunk_index
        )

    def _add(
        self, document: str, text: str, metadata: Mapping[str, Any] | None, section: str | None, ttl: float | None
    ) -> list[Entry]:
        entries = self._cut(document, text, metadata, section, ttl)
        self._store.rows.replace(CHUNKS, self._tenant, entries, instead_of=self._of(document))
        return entries

    def _cut(
        self, document: str, text: str, metadata: Mapping[str, Any] | None, section: str | None, ttl: float | None
    ) -> list[Entry]:
        from harness.core.chunking import token_chunks  # with the sentence splitter; a query needs neither

        self._of(document)  # is it an id?
        part, encoded = checks.text(section or "", "section", checks.MAX_NAME_CHARS), checks.metadata(metadata)
        if not checks.text(text, "text of a document", checks.MAX_DOCUMENT_CHARS).strip():
            raise InvalidInput(f"the document {document[:60]!r} has no text; call remove_document to take it out")
        least, most = self.chunk_tokens
        chunks = token_chunks(text, self._embedder.count_tokens, least=least, most=most)
        vectors = self._embedder.embed([chunk.text for chunk in chunks])
        now = self._clock()
        until = NEVER if ttl is None else now + checked_ttl(ttl)
        return [
            self._entry(
                self._key(document, str(at)),
                chunk.text,
                encoded,
                now,
                until,
                ChunkColumns(self._space, document, at, part),
                vector,
            )
            for at, (chunk, vector) in enumerate(zip(chunks, vectors, strict=True))
        ]


def _capped(near: list[Neighbour], k: int, per_document: int) -> list[Neighbour]:
    """Take the first `k` with at most `per_document` of one document."""
    taken: list[Neighbour] = []
    counts: dict[str, int] = {}
    for each in near:
        document = each.entry.own.document
        if len(taken) < k and counts.get(document, 0) < per_document:
            taken.append(each)
            counts[document] = counts.get(document, 0) + 1
    return taken


def _described(entry: Entry) -> dict[str, Any]:
    """Return a chunk's metadata with what its own columns tell."""
    return loaded(entry) | {name: getattr(entry.own, name) for name in checks.OWN}


def _embedded(entry: Entry) -> EmbeddedChunk:
    import numpy as np

    vector = np.frombuffer(entry.embedding or b"", np.float32)
    return EmbeddedChunk(text=entry.text, metadata=_described(entry), vector=vector)
