"""A frozen run: the answers of search engines and the pages that one research used, in a folder; searched and read
without network.

`answers.jsonl` has a line about the run, then one for each search; `pages.jsonl` one for each page. A search or page
that failed has its error's code and message instead of an answer.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, NoReturn, cast

import msgspec
from msgspec import Meta, Struct

from harness.cache.failures import raise_error
from harness.core.keys import canonical_url, normalise
from harness.core.pages import Page
from harness.core.sites import ANY_SITE, Sites
from harness.errors import EngineUnavailable, InvalidInput, PageError
from harness.ports import SearchEngine, SearchResult
from harness_evals.log import read_lines
from harness_evals.word_ranking import WordRanking

ANSWERS, PAGES = "answers.jsonl", "pages.jsonl"
MAX_BYTES = 20_000_000
"""Size of each of the two files."""

_Name = Annotated[str, Meta(min_length=1, max_length=500)]
_Error = Annotated[str, Meta(max_length=2_000)]


class FrozenEngine(Struct, frozen=True, forbid_unknown_fields=True):
    """Name and options of an engine of the run."""

    name: _Name
    options: dict[str, Any] = {}

    @property
    def alternatives(self) -> "tuple[FrozenEngine, ...]":
        """The engines of a chain of which one answers; none if it is not a chain.

        Raises:
            ValueError: they are damaged.
        """
        return msgspec.convert(self.options.get("alternatives", ()), tuple[FrozenEngine, ...])


class FrozenAbout(Struct, frozen=True, tag="run", tag_field="line"):
    """The run: its id and engines."""

    run: str
    engines: Annotated[tuple[FrozenEngine, ...], Meta(min_length=1, max_length=50)]

    def __post_init__(self) -> None:
        for engine in self.engines:
            _ = engine.alternatives


class FrozenAnswer(Struct, frozen=True, tag="answer", tag_field="line", omit_defaults=True):
    """One search: its query as it was sent to the engine, and the results, or the `error` (`code: message`)."""

    engine: _Name
    query: Annotated[str, Meta(min_length=1, max_length=10_000)]
    results: Annotated[tuple[dict[str, Any], ...], Meta(max_length=1_000)] = ()
    error: _Error = ""

    def __post_init__(self) -> None:
        if not all(isinstance(each.get(name), str) for each in self.results for name in ("title", "href", "body")):
            raise ValueError("a result needs title, href and body")

    @property
    def found(self) -> list[SearchResult]:
        """The results; they may have more fields than a search result declares."""
        return cast("list[SearchResult]", list(self.results))


class FrozenPage(Struct, frozen=True, omit_defaults=True):
    """One page at a URL as it was extracted, or the `error` (`code: message`) of reading it."""

    url: Annotated[str, Meta(min_length=1, max_length=10_000)]
    page: Page | None = None
    error: _Error = ""


class FrozenRun:
    """Engines and page reader of the run that is frozen in `folder`. A search of the run has its answer; any other
    query of an engine is answered by the words of all results that this engine gave. Safe from any thread.

    Raises:
        InvalidInput: its files cannot be read; the message has file and line.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        lines = _lines(folder / ANSWERS, FrozenAbout | FrozenAnswer)
        if [at for at, line in enumerate(lines) if isinstance(line, FrozenAbout)] != [0]:
            raise InvalidInput(f"{folder / ANSWERS} does not begin with the line of its run; freeze the run again")
        about, *answers = lines
        pages: list[FrozenPage] = _lines(folder / PAGES, FrozenPage)
        self._pages = {canonical_url(each.url): each for each in pages}
        self._answers: Sequence[FrozenAnswer] = answers
        self.engines: tuple[SearchEngine, ...] = tuple(self._engine(each) for each in about.engines)

    @cached_property
    def digest(self) -> str:
        """Digest of all answers and pages: a changed one is searched and read again."""
        found = sha256()
        for name in (ANSWERS, PAGES):
            found.update((self._folder / name).read_bytes())
        return found.hexdigest()[:16]

    def texts(self) -> dict[str, str]:
        """Return the text of each page, or of the results at its URL, by URL."""
        texts: dict[str, str] = {}
        for result in (each for answer in self._answers for each in answer.results):
            texts[result["href"]] = f"{texts.get(result['href'], '')}\n\n{result['body']}".strip()
        read = {each.url: each.page.text for each in self._pages.values() if each.page is not None}
        return texts | {url: f"{texts.get(url, '')}\n\n{text}".strip() for url, text in read.items()}

    def read(self, url: str, held: Page | None = None, sites: Sites = ANY_SITE) -> Page:  # noqa: ARG002 - no redirects
        """See `PageReader.read`.

        Raises:
            PageError: the page is not part of the run, or could not be read in it.
        """
        found = self._pages.get(canonical_url(url))
        if found is None:
            raise PageError(f"{url}: answered HTTP 404: it is not part of the frozen run")
        if found.page is None:
            _raise(found.error or f"{PageError.code}: {url}: answered HTTP 404: there is no such page")
        return found.page

    def _engine(self, about: FrozenEngine) -> SearchEngine:
        if alternatives := about.alternatives:
            engines = [_Answering(each, self._answers_of(each.name), self.digest) for each in alternatives]
            return _Chain(about, engines, self.digest)
        return _Answering(about, self._answers_of(about.name), self.digest)

    def _answers_of(self, engine: str) -> list[FrozenAnswer]:
        return [answer for answer in self._answers if answer.engine == engine]


class _Answering:
    """One engine of a frozen run; `digest` identifies the run in the keys of its searches."""

    def __init__(self, about: FrozenEngine, answers: Sequence[FrozenAnswer], digest: str) -> None:
        self.name = about.name
        self.options: Mapping[str, Any] = {**about.options, "web": digest}
        self._answers = {normalise(each.query): each for each in answers}
        results = {result["href"]: result for each in answers for result in each.found}
        self._results = list(results.values())
        self._ranking = WordRanking([(each["title"], each["body"]) for each in self._results])

    def holds(self, query: str) -> bool:
        """Return whether the run has sent this query to this engine."""
        return normalise(query) in self._answers

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`."""
        answer = self._answers.get(normalise(query))
        if answer is None:
            return [self._results[at] for at in self._ranking.best(query, max_results)]
        if answer.error:
            _raise(answer.error)
        return answer.found[:max_results]


class _Chain:
    """Engines of a frozen run of which one answered each search."""

    def __init__(self, about: FrozenEngine, engines: Sequence[_Answering], digest: str) -> None:
        self.name = about.name
        self.options: Mapping[str, Any] = {**about.options, "web": digest}
        self._engines = engines
        self.alternatives: tuple[SearchEngine, ...] = tuple(_Alternative(each, engines) for each in engines)

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`."""
        found = next((each for each in self._engines if each.holds(query)), self._engines[0])
        return found.search(query, max_results)

    def in_order(self) -> Sequence[SearchEngine]:
        """Return the engines."""
        return self.alternatives

    def note(self, engine: SearchEngine, error: Exception | None) -> None:
        """Note nothing: the run decides which engine answers."""


class _Alternative:
    """One engine of a chain; it refuses the searches that another one answered in the run."""

    def __init__(self, engine: _Answering, every: Sequence[_Answering]) -> None:
        self.name, self.options = engine.name, engine.options
        self._engine = engine
        self._others = [each for each in every if each is not engine]

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`.

        Raises:
            EngineUnavailable: another engine answered it.
        """
        if not self._engine.holds(query) and any(each.holds(query) for each in self._others):
            raise EngineUnavailable(f"{self.name}: another engine answered this in the frozen run")
        return self._engine.search(query, max_results)


def _lines(path: Path, kind: Any) -> list[Any]:
    """Return all lines of a file.

    Raises:
        InvalidInput: it is missing or too large, or a line is wrong.
    """
    if not path.is_file():
        raise InvalidInput(f"there is no {path}; freeze the run again with `harness eval new --from-run RUN`")
    if (size := path.stat().st_size) > MAX_BYTES:
        raise InvalidInput(f"{path} has {size:,} bytes; at most {MAX_BYTES:,} are read")
    return list(read_lines(path, kind))


def _raise(error: str) -> NoReturn:
    code, _, message = error.partition(": ")
    raise_error({"code": code, "message": message})
