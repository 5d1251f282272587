"""Research over local text: a folder, a JSON Lines file, or the language reference inside every Python interpreter."""

import logging
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from harness.core.keys import digest_of
from harness.core.text import one_line
from harness.engines.corpus_files import Document, FileSource, Source
from harness.engines.corpus_index import CorpusIndex
from harness.errors import EngineUnavailable, InvalidInput, StoreCorrupt
from harness.ports import Progress, SearchResult

log = logging.getLogger(__name__)
T = TypeVar("T")

BUNDLED = "python-docs"


class PythonDocs:
    """The reference of the Python that runs this program (`pydoc_data.topics`), one document a topic."""

    label = BUNDLED

    def parts(self) -> Mapping[str, str]:
        """See `Source.parts`: one part, which changes with the interpreter."""
        return {"topics": sys.version}

    def read(self, part: str) -> Iterator[Document]:  # noqa: ARG002 - there is only one
        """See `Source.read`."""
        from pydoc_data.topics import topics

        for label in sorted(topics):
            heading = next(iter(topics[label].splitlines()), label)
            yield Document(id=label, title=one_line(heading), text=topics[label], href=f"pydoc:{label}")


class Corpus:
    """A `SearchEngine` over an index of local text, brought up to date when it is opened.

    A change of the text is a change of `options`, so of every key. A damaged index is made anew.

    Raises:
        StoreError: the index cannot be written.
    """

    name = "corpus"

    def __init__(self, source: Source, index: CorpusIndex, progress: Progress) -> None:
        self._source = source
        self._index = index
        self._progress = progress
        self._mending = threading.Lock()
        self._version = self._on_index(self._up_to_date)
        self.options: Mapping[str, Any] = {"corpus": source.label, "version": self._version}

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`: one result a document, its best passages as the body, by BM25."""
        return self._on_index(lambda index: index.search(query, max_results, version=self._version))

    def _up_to_date(self, index: CorpusIndex) -> str:
        index.update(self._source, self._progress)
        return index.version()

    def _on_index(self, operation: Callable[[CorpusIndex], T]) -> T:
        try:
            return operation(self._index)
        except (StoreCorrupt, EngineUnavailable):
            with self._mending:  # another thread may be making it anew
                try:
                    return operation(self._index)
                except StoreCorrupt as error:
                    log.warning("%s: making it anew", error)
                    self._index.discard()
                    self._index.update(self._source, self._progress)
                    return operation(self._index)


def open_corpus(argument: str, index_dir: Path, progress: Progress) -> Corpus:
    """Open the corpus that `argument` names (`python-docs` or a path), bringing its index up to date first.

    Raises:
        InvalidInput: no argument, no such path, or nothing in it that can be read.
        StoreError: the index cannot be written.
    """
    if not argument:
        raise InvalidInput("which corpus? pass --engine corpus:python-docs or --engine corpus:PATH")
    source: Source = PythonDocs() if argument == BUNDLED else FileSource.at(argument)
    name = "".join(char if char.isalnum() else "-" for char in Path(source.label).name.lower())[:40]
    corpus = Corpus(source, CorpusIndex(index_dir / f"{name}-{digest_of(source.label)}.db"), progress)
    if not corpus.options["version"]:
        raise InvalidInput(f"nothing to read in {source.label}; put .md .txt .rst .html .pdf or .jsonl files there")
    return corpus
