"""Search engine over local text: a folder, a JSON Lines file, or the language reference inside Python."""

import logging
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from harness.core.foreign_text import foreign_language
from harness.core.keys import digest_of
from harness.core.multilingual_vectors import understands
from harness.core.text import one_line
from harness.errors import EmbeddingError, EngineUnavailable, InvalidInput, StoreCorrupt, StoreError
from harness.ports import CrossLanguageEmbedder, Embedder, Progress, SearchResult, Vectors
from harness.sources.corpus.corpus_index import CorpusIndex, Meaning
from harness.sources.corpus.embedding import STUCK_SECONDS, VectorMaker
from harness.sources.corpus.local_documents import CorpusDocument, CorpusSource, FileSource
from harness.storage.forks import free_in_child

log = logging.getLogger(__name__)
T = TypeVar("T")

BUNDLED = "python-docs"

EMBED_AT_ONCE = 1_000
"""Maximum number of passages embedded on opening for a caller that waits: up to a minute on two slow cores."""

EMBED_IN_PASSING = 16
"""Maximum for a caller that does not wait: less than a second."""

PATIENCE_SECONDS = 1.0
"""Time that a caller that does not wait gives another process to finish these."""


class PythonDocs:
    """Language reference of the running Python (`pydoc_data.topics`), one document per topic."""

    label = BUNDLED

    def parts(self) -> Mapping[str, str]:
        """See `CorpusSource.parts`: one part, which changes with the interpreter."""
        return {"topics": sys.version}

    def read(self, part: str) -> Iterator[CorpusDocument]:  # noqa: ARG002 - there is only one
        """See `CorpusSource.read`."""
        from pydoc_data.topics import topics

        return topic_documents(topics)


def topic_documents(topics: Mapping[str, str]) -> Iterator[CorpusDocument]:
    """Yield one document per topic, in the order of their labels."""
    for label in sorted(topics):
        heading = next(iter(topics[label].splitlines()), label)
        yield CorpusDocument(title=one_line(heading), text=topics[label], href=f"pydoc:{label}")


class Corpus:
    """A `SearchEngine` over an index of local text, updated when it is opened.

    With an `embedder` it searches by words and meaning (`mode` in its options: "hybrid") if every passage has a vector
    on opening, else by words only ("words"); an open corpus keeps its mode, but a question whose language the embedder
    does not understand is searched by words only. On opening it takes the vectors that ship with the program and makes
    up to `EMBED_AT_ONCE` others if the caller `waits`, else up to `EMBED_IN_PASSING`. The rest is made by `embed` and
    in the background of searches, for the next opening.

    A change of text or mode changes `options`, and so every cache key. A damaged index is rebuilt.

    Raises:
        StoreError: the index cannot be written.
    """

    name = "corpus"

    def __init__(
        self,
        source: CorpusSource,
        index: CorpusIndex,
        progress: Progress,
        embedder: Embedder | None = None,
        *,
        waits: bool = True,
    ) -> None:
        self._waits = waits
        self._source = source
        self._index = index
        self._progress = progress
        self._embedder = embedder
        self._maker = VectorMaker(index.database, embedder) if embedder else None
        self._rebuilding = free_in_child(threading.Lock())
        self._version, self._hybrid = self._on_index(self._up_to_date)
        self.options: Mapping[str, Any] = {"corpus": source.label, "version": self._version, "mode": "words"}
        if embedder and self._hybrid:
            self.options |= {"mode": "hybrid", "embedder": embedder.id}

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`: one result per document, its best passages as the body."""
        if self._maker and not self._hybrid:
            self._maker.start()
        meaning = self._meaning(query) if self._hybrid else None
        return self._on_index(lambda index: index.search(query, max_results, version=self._version, meaning=meaning))

    def unembedded(self) -> int:
        """Return the number of texts without a vector; 0 without an embedder."""
        return self._maker.missing() if self._maker else 0

    def embed(self) -> None:
        """Make all missing vectors, with progress; an interrupted call continues at the next one.

        A corpus opened afterwards searches by meaning, too; this one keeps its mode.

        Raises:
            EmbeddingError: the embedder failed.
            StoreError: the index cannot be written.
        """
        if self._maker:
            self._maker.finish(f"embedding {self._source.label}", self._progress)

    def close(self) -> None:
        """Stop embedding in the background; finished vectors are kept. Searching still works."""
        if self._maker:
            self._maker.stop()

    def _up_to_date(self, index: CorpusIndex) -> tuple[str, bool]:
        """Update the index; return its version and whether every passage has a vector."""
        index.update(self._source, self._progress)
        return index.version(), self._maker is not None and self._is_embedded(self._maker)

    def _is_embedded(self, maker: VectorMaker) -> bool:
        """Make the missing vectors if they are few enough; return whether all are there now."""
        at_once, patience = (EMBED_AT_ONCE, STUCK_SECONDS) if self._waits else (EMBED_IN_PASSING, PATIENCE_SECONDS)
        try:
            left = maker.take_shipped()
            if left > at_once:
                log.info("searching %s by words only: %d of its passages have no vector", self._source.label, left)
                return False
            maker.finish(f"embedding {self._source.label}", self._progress, patience=patience)
        except StoreCorrupt:
            raise
        except (EmbeddingError, StoreError) as error:
            if self._waits and isinstance(error, StoreError):  # a caller that waits needs a repeatable answer
                raise
            log.warning("searching %s by words only: %s", self._source.label, error)
            return False
        return True

    def _meaning(self, query: str) -> Meaning | None:
        language = foreign_language(query)
        if self._embedder is None or not understands(self._embedder.id, language):
            return None
        vector = self._vector(self._embedder.embed, query)
        if language or not isinstance(self._embedder, CrossLanguageEmbedder):
            return Meaning(self._embedder.id, vector, language)
        return Meaning(self._embedder.id, vector, across=partial(self._vector, self._embedder.embed_across, query))

    @staticmethod
    def _vector(embed: Callable[[Sequence[str]], Vectors], query: str) -> Vectors:
        try:
            vector: Vectors = embed([query])[0]
        except EmbeddingError as error:
            raise EngineUnavailable(f"the question cannot be embedded: {error}") from error
        return vector

    def _on_index(self, operation: Callable[[CorpusIndex], T]) -> T:
        try:
            return operation(self._index)
        except (StoreCorrupt, EngineUnavailable):
            with self._rebuilding:  # another thread may be rebuilding it
                try:
                    return operation(self._index)
                except StoreCorrupt as error:
                    log.warning("%s: rebuilding it", error)
                    self._index.rebuild(self._source, self._progress)
                    self._up_to_date(self._index)
                    return operation(self._index)


def source_of(argument: str) -> CorpusSource:
    """Return the source that `argument` (`python-docs` or a path) names, without reading or indexing it.

    Raises:
        InvalidInput: no argument, no such path, or an unsupported file type.
    """
    if not argument:
        raise InvalidInput("which corpus? pass --engine corpus:python-docs or --engine corpus:PATH")
    return PythonDocs() if argument == BUNDLED else FileSource.at(argument)


def open_corpus(
    argument: str, index_dir: Path, progress: Progress, embedder: Embedder | None = None, *, waits: bool = True
) -> Corpus:
    """Open the corpus that `argument` (`python-docs` or a path) names, and update its index; see `Corpus`.

    Raises:
        InvalidInput: see `source_of`; or it has no readable text.
        StoreError: the index cannot be written.
    """
    source = source_of(argument)
    name = "".join(char if char.isalnum() else "-" for char in Path(source.label).name.lower())[:40]
    index = CorpusIndex(index_dir / f"{name}-{digest_of(source.label)}.db")
    corpus = Corpus(source, index, progress, embedder, waits=waits)
    if not corpus.options["version"]:
        raise InvalidInput(f"nothing to read in {source.label}; put .md .txt .rst .html .pdf or .jsonl files there")
    return corpus
