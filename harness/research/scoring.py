"""What a research holds, chunk by chunk; and how far each round brought it."""

import logging
from collections.abc import Iterable, Sequence

from msgspec import Struct

from harness.cache import Cache
from harness.core.novelty import novelty
from harness.core.text import one_line, stems
from harness.errors import StoreError
from harness.ports import Embedder, Progress, Vectors
from harness.research.fingerprint import Code
from harness.research.gathering import Document
from harness.research.relevance import MIN_SIMILARITY, Wording
from harness.storage.forks import cached_property
from harness.vector_cache import EmbeddedChunk, StoredChunk, VectorCache

log = logging.getLogger(__name__)

SCORED = 3
"""The score is the mean similarity of so many best chunks: one alone may be there by chance."""


class Judgement(Struct, frozen=True):
    """Of a round: how far (mean cosine distance, 0..1) its chunks are from those held before. Of all that is held then:
    the mean similarity (0..1) of the question to the best chunks, that of the best one, and whether any has the
    question's words (see `Wording.matches`).
    """

    novelty: float
    score: float
    best: float
    worded: bool = False

    @property
    def relevant(self) -> bool:
        """Whether any chunk is about the question, by meaning or by words."""
        return self.worded or self.best >= MIN_SIMILARITY


class Holdings:
    """The documents of one research, in chunks with their vectors.

    They come from the chunk store, where they are added first; with `keep` off, or where they cannot be kept, they are
    held here alone. `ttl` is for how many seconds they are kept. `code` names the code that works with them.
    """

    def __init__(
        self,
        question: str,
        chunks: VectorCache,
        embedder: Embedder,
        *,
        code: Code,
        keep: bool,
        ttl: float,
        progress: Progress,
    ) -> None:
        self.question = question
        self.code = code
        self.embedder = embedder
        self._chunks = chunks
        self._keep = keep
        self._ttl = ttl
        self._progress = progress
        self._held: dict[str, list[EmbeddedChunk]] = {}

    @property
    def way(self) -> str:
        """What decides chunks and vectors, besides the documents."""
        return f"{self._chunks.chunk_tokens} {self.embedder.id}"

    @cached_property
    def asked(self) -> Vectors:
        """The question's vector, of length 1, shape (dimension,).

        Raises:
            EmbeddingError: none can be made.
        """
        vector: Vectors = self.embedder.embed([self.question])[0]
        return vector

    @cached_property
    def wording(self) -> Wording:
        """The question's words."""
        return Wording.of(self.question)

    def chunks_of(self, documents: Iterable[Document]) -> list[EmbeddedChunk]:
        """Return the chunks of documents, in their order, each document once.

        Raises:
            EmbeddingError: no vectors can be made.
        """
        each = {document.id: document for document in documents}
        new = [name for name in each if name not in self._held]
        for done, name in enumerate(new):
            self._progress("weighing what was found", done, len(new))
            self._held[name] = self._embedded(each[name])
        if new:
            self._progress("weighing what was found", len(new), len(new))
        return [chunk for name in each for chunk in self._held[name]]

    def chunk(self, document: str, index: int) -> StoredChunk | None:
        """Return one chunk of a document that is held, or `None`."""
        held = self._held.get(document, [])
        return held[index] if 0 <= index < len(held) else None

    def tidy(self) -> None:
        """Delete chunks from the store whose time is over; where that fails, they stay until next time."""
        if self._keep:
            try:
                self._chunks.drop_expired()
            except StoreError as error:
                log.debug("expired chunks stay: %s", error)

    def _embedded(self, document: Document) -> list[EmbeddedChunk]:
        metadata = {"url": document.url}
        if self._keep:
            try:
                return self._chunks.embedded_document(document.id, document.text, metadata, ttl=self._ttl)
            except StoreError as error:
                log.error("chunks are not kept: %s", error)  # noqa: TRY400 - one line; nothing is lost
                self._keep = False
        return self._chunks.cut(document.id, document.text, metadata)


class Judge:
    """Judges rounds; what it has judged before comes from the cache."""

    def __init__(self, holdings: Holdings, cache: Cache, *, ttl: float) -> None:
        self._holdings = holdings
        self._cache = cache
        self._ttl = ttl

    def judge(self, found: Sequence[Document], held: Sequence[Document]) -> Judgement:
        """Judge what a round found, beside what was held before it.

        Raises:
            EmbeddingError: no vectors can be made.
            StoreError: the cache cannot be read.
        """
        ids = [[document.id for document in documents] for documents in (found, held)]
        ranking = f"{self._holdings.code.judging} {self._holdings.way}"
        return self._cache.derived.get(
            self._holdings.question, ranking, ids, lambda: self._judged(found, held), Judgement, ttl=self._ttl
        )

    def _judged(self, found: Sequence[Document], held: Sequence[Document]) -> Judgement:
        import numpy as np

        new, old = self._matrix(found), self._matrix(held)
        if not len(new) and not len(old):
            return Judgement(0.0, 0.0, 0.0)
        nearest = (new @ old.T).max(axis=1) if len(new) and len(old) else np.zeros(len(new))
        chunks = self._holdings.chunks_of([*held, *found])
        different = {one_line(chunk.text): chunk.vector for chunk in chunks}  # a copy elsewhere says nothing more
        near = np.sort(np.clip(np.stack(list(different.values())) @ self._holdings.asked, 0.0, 1.0))[::-1]
        worded = any(self._holdings.wording.matches(frozenset(stems(text))) for text in different)
        score, best = round(float(near[:SCORED].mean()), 4), round(float(near[0]), 4)
        return Judgement(novelty(nearest.tolist()), score, best, worded)

    def _matrix(self, documents: Sequence[Document]) -> Vectors:
        """Return the vectors of the documents' chunks, shape (chunks, dimension)."""
        import numpy as np

        chunks = self._holdings.chunks_of(documents)
        return np.stack([chunk.vector for chunk in chunks]) if chunks else np.empty((0, 0), np.float32)
