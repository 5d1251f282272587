"""Scores of rounds: novelty and relevance of the gathered chunks."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field

from msgspec import Struct

from harness.cache import Cache
from harness.core.foreign_text import foreign_language
from harness.core.multilingual_vectors import SCALE, scale
from harness.core.novelty import novelty
from harness.core.text import one_line
from harness.errors import StoreError
from harness.ports import CrossLanguageEmbedder, Embedder, Progress, Reader, Vectors
from harness.research.fingerprint import Code
from harness.research.gathering import SourceText
from harness.research.relevance import MIN_SIMILARITY, Wording
from harness.storage.forks import cached_property
from harness.vector_cache import EmbeddedChunk, StoredChunk, VectorCache

log = logging.getLogger(__name__)

SCORED = 3
"""The score is the mean similarity of this many best chunks: a single one may match by chance."""


class RoundScore(Struct, frozen=True):
    """Score of a round. `novelty` (mean cosine distance, 0..1) compares its chunks with the earlier ones. For all
    chunks so far: `score` is the mean similarity (0..1) of the question to the best ones, which a round has where no
    reader says how likely they answer; `best` is that of the best one, `worded` whether any has the question's words
    (see `Wording.matches`).
    """

    novelty: float
    score: float
    best: float
    worded: bool = False

    @property
    def relevant(self) -> bool:
        """Whether any chunk is about the question, by meaning or by words."""
        return self.worded or self.best >= MIN_SIMILARITY


@dataclass(eq=False, repr=False)
class ChunkSet:
    """The documents of one research as chunks with vectors.

    The chunks are stored in the chunk store for `ttl` seconds; with `keep` off, or if the store cannot be written, only
    in memory. `code` names the code that processes them.
    """

    question: str
    chunks: VectorCache
    embedder: Embedder
    _: KW_ONLY
    code: Code
    keep: bool
    ttl: float
    progress: Progress
    rarity: Callable[[str], int]
    _held: dict[str, list[EmbeddedChunk]] = field(default_factory=dict, init=False)
    _vectors: "dict[str, Vectors]" = field(default_factory=dict, init=False)
    _read: dict[tuple[str, str, str], float] = field(default_factory=dict, init=False)
    _far_vector: "Vectors | None" = field(default=None, init=False)

    @property
    def chunking_id(self) -> str:
        """Id of all that determines chunks and vectors, apart from the documents."""
        return f"{self.chunks.chunk_tokens} {self.embedder.id}"

    @property
    def question_vector(self) -> Vectors:
        """The question's vector, shape (dimension,), of length 1. If documents are in other languages (see `across`),
        `SCALE` times its vector for these is added, which changes no similarity to an English text.

        Raises:
            EmbeddingError: the embedder failed.
        """
        return self._own_vector if self._far_vector is None else self._own_vector + SCALE * self._far_vector

    @cached_property
    def _own_vector(self) -> Vectors:
        vector: Vectors = self.embedder.embed([self.question])[0]
        return vector

    @property
    def across(self) -> bool:
        """Whether a document is in another language than an English question, and the embedder compares the two."""
        return self._far_vector is not None

    @cached_property
    def scale(self) -> float:
        """Factor of similarities to the question, to compare them with limits (see `multilingual_vectors.scale`)."""
        return scale(self.embedder.id, foreign_language(self.question))

    @cached_property
    def wording(self) -> Wording:
        """The question's words."""
        return Wording.of(self.question, self.rarity)

    def chunks_of(self, documents: Iterable[SourceText]) -> list[EmbeddedChunk]:
        """Return the chunks of documents, in order, each document once.

        Raises:
            EmbeddingError: the embedder failed.
        """
        each = {document.id: document for document in documents}
        new = [name for name in each if name not in self._held]
        for done, name in enumerate(new):
            self.progress("embedding documents", done, len(new))
            self._held[name] = self._embedded(each[name])
            self._look_for_other_language(self._held[name])
        if new:
            self.progress("embedding documents", len(new), len(new))
        return [chunk for name in each for chunk in self._held[name]]

    def vectors_of(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts, at least one, shape (texts, dimension). Those of the question, of chunks,
        which are often a single sentence, and of earlier calls are not made again.

        Raises:
            EmbeddingError: the embedder failed.
        """
        import numpy as np

        self._vectors |= {chunk.text: chunk.vector for held in self._held.values() for chunk in held}
        self._vectors[self.question] = self.question_vector
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        self._vectors |= zip(missing, self.embedder.embed(missing), strict=True) if missing else ()
        return np.stack([self._vectors[text] for text in texts])

    def answers(self, reader: Reader, question: str, texts: Sequence[str]) -> list[float]:
        """Return what the reader's `answers` returns. No text is read again for the same question.

        Raises:
            ReaderError: the reader failed.
        """
        missing = [text for text in dict.fromkeys(texts) if (reader.id, question, text) not in self._read]
        found = reader.answers(question, missing) if missing else []
        self._read |= {(reader.id, question, text): answered for text, answered in zip(missing, found, strict=True)}
        return [self._read[reader.id, question, text] for text in texts]

    def chunk(self, document: str, index: int) -> StoredChunk | None:
        """Return one chunk of a known document, or `None`."""
        held = self._held.get(document, [])
        return held[index] if 0 <= index < len(held) else None

    def tidy(self) -> None:
        """Delete expired chunks from the store; if that fails, they stay until next time."""
        if self.keep:
            try:
                self.chunks.drop_expired()
            except StoreError as error:
                log.debug("expired chunks stay: %s", error)

    def _look_for_other_language(self, chunks: list[EmbeddedChunk]) -> None:
        """Embed an English question again if its own vector says nothing about one of the chunks."""
        if self.across or not isinstance(self.embedder, CrossLanguageEmbedder) or foreign_language(self.question):
            return
        if not all(float(chunk.vector @ self._own_vector) for chunk in chunks):
            self._far_vector = self.embedder.embed_across([self.question])[0]

    def _embedded(self, document: SourceText) -> list[EmbeddedChunk]:
        metadata = {"url": document.url}
        if self.keep:
            try:
                return self.chunks.embedded_document(document.id, document.text, metadata, ttl=self.ttl)
            except StoreError as error:
                log.error("chunks are not kept: %s", error)  # noqa: TRY400 - one line; nothing is lost
                self.keep = False
        return self.chunks.cut(document.id, document.text, metadata)


class RoundScorer(Struct, frozen=True):
    """Scorer of rounds; earlier scores come from the cache, where they stay for `ttl` seconds."""

    chunk_set: ChunkSet
    cache: Cache
    ttl: float

    def score(self, found: Sequence[SourceText], earlier: Sequence[SourceText]) -> RoundScore:
        """Score the documents that a round found, given those from earlier rounds.

        Raises:
            EmbeddingError: the embedder failed.
            StoreError: the cache cannot be read.
        """
        ids = [[document.id for document in documents] for documents in (found, earlier)]
        ranking = f"{self.chunk_set.code.scoring} {self.chunk_set.chunking_id}"
        return self.cache.derived.get(
            self.chunk_set.question, ranking, ids, lambda: self._scored(found, earlier), RoundScore, ttl=self.ttl
        )

    def _scored(self, found: Sequence[SourceText], earlier: Sequence[SourceText]) -> RoundScore:
        import numpy as np

        new, old = self._matrix(found), self._matrix(earlier)
        if not len(new) and not len(old):
            return RoundScore(0.0, 0.0, 0.0)
        nearest = (new @ old.T).max(axis=1) if len(new) and len(old) else np.zeros(len(new))
        chunks = self.chunk_set.chunks_of([*earlier, *found])
        different = {one_line(chunk.text): chunk.vector for chunk in chunks}  # a copy adds nothing
        similarities = np.stack(list(different.values())) @ self.chunk_set.question_vector * self.chunk_set.scale
        near = np.sort(np.clip(similarities, 0.0, 1.0))[::-1]
        wording = self.chunk_set.wording
        worded = any(wording.matches(wording.stems_of(text)) for text in different)
        score, best = round(float(near[:SCORED].mean()), 4), round(float(near[0]), 4)
        return RoundScore(novelty(nearest.tolist()), score, best, worded)

    def _matrix(self, documents: Sequence[SourceText]) -> Vectors:
        """Return the vectors of the documents' chunks, shape (chunks, dimension)."""
        import numpy as np

        chunks = self.chunk_set.chunks_of(documents)
        return np.stack([chunk.vector for chunk in chunks]) if chunks else np.empty((0, 0), np.float32)
