"""A recorded web: results and pages in a folder, searched and read without network.

`results.jsonl` has a line for each page: its URL, title and snippet, as a search engine shows them, and the file with
its HTML, or the error that reading it gives. Pages pass through the same extraction as those of the web.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from harness.app import App
from harness.core.pages import Page
from harness.core.text import content_words, stem
from harness.errors import InvalidInput, PageError
from harness.ports import Embedder, PageReader, SearchEngine, SearchResult
from harness.sources.from_settings import Sources
from harness.sources.pages.extraction_process import Worker
from harness_evals.log import read_lines
from harness_evals.tasks import TASKS_DIR

PREFIX = "recorded:"
RESULTS = "results.jsonl"
MAX_RESULTS = 2_000
MAX_PAGE_BYTES = 200_000
K1, B = 1.2, 0.75
"""Usual constants of BM25 (Robertson and Zaragoza, 2009)."""
TITLE_WEIGHT = 2

_Text = Annotated[str, Meta(min_length=1, max_length=1_000)]


class Recorded(Struct, frozen=True, forbid_unknown_fields=True):
    """One page: as search results show it, and its `file` in the folder `pages`, or the `error` of reading it."""

    url: Annotated[str, Meta(pattern="^https?://", max_length=500)]
    title: _Text
    snippet: _Text
    file: Annotated[str, Meta(pattern=r"^([A-Za-z0-9_-]+\.html)?$")] = ""
    date: str = ""
    error: str = ""


class RecordedWeb:
    """Search engine and page reader over the web recorded in `folder`.

    Results are ranked by BM25 over the stems of titles and snippets; of equals, the first line comes first. Safe from
    any thread.

    Raises:
        InvalidInput: no such folder, or its results cannot be read; the message has file and line.
    """

    def __init__(self, folder: Path) -> None:
        if not (folder / RESULTS).is_file():
            raise InvalidInput(f"no recorded web at {folder}; it must hold {RESULTS} and pages/")
        self._folder = folder
        held = [each for each, _ in zip(read_lines(folder / RESULTS, Recorded), range(MAX_RESULTS), strict=False)]
        self._recorded = {each.url: each for each in held}
        self._words = [Counter(_terms(each.title) * TITLE_WEIGHT + _terms(each.snippet)) for each in held]
        self._often = Counter(word for words in self._words for word in words)
        self._worker = Worker()
        self.options: Mapping[str, Any] = {"web": self._digest}
        self.name = "recorded"

    @cached_property
    def _digest(self) -> str:
        """Digest of all results and pages: a changed web is searched and read again."""
        found = sha256()
        for path in [self._folder / RESULTS, *sorted((self._folder / "pages").glob("*.html"))]:
            found.update(path.read_bytes())
        return found.hexdigest()[:16]

    def texts(self) -> dict[str, str]:
        """Return the texts of all pages by URL; of one that cannot be read, its snippet."""
        return {url: self.read(url).text if found.file else found.snippet for url, found in self._recorded.items()}

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`."""
        wanted = set(_terms(query))
        mean = sum(map(Counter.total, self._words)) / max(1, len(self._words))
        scores = [self._score(wanted, words, mean) for words in self._words]
        held = list(self._recorded.values())
        best = sorted((at for at, score in enumerate(scores) if score > 0), key=lambda at: -scores[at])
        return [_result(held[at]) for at in best[:max_results]]

    def read(self, url: str, held: Page | None = None) -> Page:  # noqa: ARG002 - recorded pages never change
        """See `PageReader.read`.

        Raises:
            PageError: the page is not recorded, or was recorded as failing.
        """
        found = self._recorded.get(url)
        if found is None:
            raise PageError(f"{url}: answered HTTP 404: it is not part of the recorded web")
        if found.error or not found.file:
            raise PageError(f"{url}: {found.error or 'answered HTTP 404: there is no such page'}")
        with (self._folder / "pages" / found.file).open("rb") as file:
            body = file.read(MAX_PAGE_BYTES)
        return self._worker.extract(body, "text/html; charset=utf-8").page_at(url)

    def _score(self, wanted: set[str], words: Counter[str], mean: float) -> float:
        length = K1 * (1 - B + B * words.total() / mean) if mean else K1
        return math.fsum(
            self._rarity(word) * words[word] * (K1 + 1) / (words[word] + length)
            for word in sorted(wanted)
            if words[word]
        )

    def _rarity(self, word: str) -> float:
        often = self._often[word]
        return math.log(1 + (len(self._words) - often + 0.5) / (often + 0.5))


class _Reader:
    """Page reader of a recorded web."""

    def __init__(self, web: RecordedWeb) -> None:
        self.name = f"recorded-{web.options['web']}"
        self.read = web.read


class _RecordedSources(Sources):
    """Sources of an app whose only engine and page reader are a recorded web."""

    def __init__(self, app: App, web: RecordedWeb) -> None:
        def embedder() -> Embedder:
            return app.models.embedder

        def library() -> SearchEngine:
            raise InvalidInput("a recorded web has no library")

        super().__init__(app.settings, embedder, app.progress, library)
        self._web = web

    @property
    def reader(self) -> PageReader:
        return _Reader(self._web)

    def engines(
        self,
        specs: Sequence[str] = (),  # noqa: ARG002 - as `Sources` declares it
        *,
        question: str = "",  # noqa: ARG002
        waits: bool = False,  # noqa: ARG002
    ) -> tuple[SearchEngine, ...]:
        return (self._web,)


def is_recorded(engine: str | None) -> bool:
    """Return whether a task's engine is a recorded web."""
    return engine is not None and engine.startswith(PREFIX)


def open_web(engine: str) -> RecordedWeb:
    """Return the web that `recorded:NAME` (next to the tasks of this package) or `recorded:PATH` names.

    Raises:
        InvalidInput: see `RecordedWeb`.
    """
    name = engine.removeprefix(PREFIX)
    ours = TASKS_DIR.parent / name
    return _web(ours if (ours / RESULTS).is_file() else Path(name).expanduser())


@lru_cache(maxsize=8)
def _web(folder: Path) -> RecordedWeb:
    return RecordedWeb(folder)


@contextmanager
def with_recorded_web(app: App, engine: str | None) -> Iterator[App]:
    """Yield the app itself, or one that shares its cache and models and has a recorded web as its only source.

    Raises:
        InvalidInput: see `RecordedWeb`.
    """
    if engine is None or not is_recorded(engine):
        yield app
        return
    with app.serving(app.identity) as served:
        served.sources = _RecordedSources(served, open_web(engine))
        yield served


def _terms(text: str) -> list[str]:
    return [stem(word) for word in content_words(text)]


def _result(found: Recorded) -> SearchResult:
    result = SearchResult(title=found.title, href=found.url, body=found.snippet)
    if found.date:
        result["date"] = found.date
    return result
