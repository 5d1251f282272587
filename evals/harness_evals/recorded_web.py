"""A recorded web: results and pages in a folder, searched and read without network.

`results.jsonl` has a line for each page: its URL, title and snippet, as a search engine shows them, and the file with
its HTML, or the error that reading it gives. Pages pass through the same extraction as those of the web.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, TypeGuard

from msgspec import Meta, Struct
from msgspec.structs import replace

from harness.core.keys import canonical_url
from harness.core.pages import Page
from harness.core.sites import ANY_SITE, Sites
from harness.errors import InvalidInput, PageError
from harness.ports import SearchEngine, SearchResult
from harness.sources.pages.extraction_process import Worker
from harness_evals.frozen_run import ANSWERS, FrozenRun
from harness_evals.log import read_lines
from harness_evals.tasks import RECORDED, TASKS_DIR
from harness_evals.word_ranking import WordRanking

RESULTS = "results.jsonl"
MAX_RESULTS = 2_000
MAX_PAGE_BYTES = 200_000

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

    Results are ranked by the words of titles and snippets (see `WordRanking`). Safe from any thread.

    Raises:
        InvalidInput: no such folder, or its results cannot be read; the message has file and line.
    """

    def __init__(self, folder: Path) -> None:
        if not (folder / RESULTS).is_file():
            raise InvalidInput(f"no recorded web at {folder}; it must hold {RESULTS} and pages/")
        self._folder = folder
        held = [each for each, _ in zip(read_lines(folder / RESULTS, Recorded), range(MAX_RESULTS), strict=False)]
        self._recorded = {canonical_url(each.url): each for each in held}
        self._ranking = WordRanking([(each.title, each.snippet) for each in self._recorded.values()])
        self._worker = Worker()
        self.options: Mapping[str, Any] = {"web": self.digest}
        self.name = "recorded"
        self.engines: tuple[SearchEngine, ...] = (self,)

    @cached_property
    def digest(self) -> str:
        """Digest of all results and pages: a changed web is searched and read again."""
        found = sha256()
        for path in [self._folder / RESULTS, *sorted((self._folder / "pages").glob("*.html"))]:
            found.update(path.read_bytes())
        return found.hexdigest()[:16]

    def texts(self) -> dict[str, str]:
        """Return the texts of all pages by URL; of one that cannot be read, its snippet."""
        held = self._recorded.values()
        return {each.url: self.read(each.url).text if each.file else each.snippet for each in held}

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`."""
        held = list(self._recorded.values())
        return [_result(held[at]) for at in self._ranking.best(query, max_results)]

    def read(self, url: str, held: Page | None = None, sites: Sites = ANY_SITE) -> Page:  # noqa: ARG002 - no redirects
        """See `PageReader.read`.

        Raises:
            PageError: the page is not recorded, or was recorded as failing.
        """
        found = self._recorded.get(canonical_url(url))
        if found is None:
            raise PageError(f"{url}: answered HTTP 404: it is not part of the recorded web")
        if found.error or not found.file:
            raise PageError(f"{url}: {found.error or 'answered HTTP 404: there is no such page'}")
        with (self._folder / "pages" / found.file).open("rb") as file:
            body = file.read(MAX_PAGE_BYTES)
        page = self._worker.extract(body, "text/html; charset=utf-8")
        return replace(page, url=url, title=page.title or url)


def is_recorded(engine: str | None) -> TypeGuard[str]:
    """Return whether a task's engine is a recorded web."""
    return engine is not None and engine.startswith(RECORDED)


def open_web(engine: str) -> RecordedWeb | FrozenRun:
    """Return the web or frozen run that `recorded:NAME` (next to the tasks of this package) or `recorded:PATH` names.

    Raises:
        InvalidInput: see `RecordedWeb` and `FrozenRun`.
    """
    name = engine.removeprefix(RECORDED)
    ours = TASKS_DIR.parent / name
    return _web(ours if (ours / RESULTS).is_file() else Path(name).expanduser())


@lru_cache(maxsize=8)
def _web(folder: Path) -> RecordedWeb | FrozenRun:
    return FrozenRun(folder) if (folder / ANSWERS).is_file() else RecordedWeb(folder)


def _result(found: Recorded) -> SearchResult:
    result = SearchResult(title=found.title, href=found.url, body=found.snippet)
    if found.date:
        result["date"] = found.date
    return result
