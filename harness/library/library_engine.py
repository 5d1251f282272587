"""Search engine over the library: research and search over everything that was read, without a request."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.core.page_numbers import joined_starts
from harness.core.search_engines import LIBRARY
from harness.library.held_passages import HeldPassage
from harness.library.library_search import FoundPassage
from harness.ports import SearchResult

PASSAGES_A_RESULT = 3
"""Passages of one source that a result may have, on average, before more are looked for."""
MAX_FOUND = 100


class LibraryEngine:
    """A `SearchEngine` with one result for each source, its passages found as the body. A change of the library changes
    `options`, and so every cache key.
    """

    name = LIBRARY

    def __init__(self, find: Callable[[str, int], Sequence[FoundPassage]], version: str) -> None:
        self._find = find
        self.options: Mapping[str, Any] = {"version": version}

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`."""
        return results_of(
            [each.passage for each in self._find(query, min(MAX_FOUND, PASSAGES_A_RESULT * max_results))]
        )[:max_results]


def results_of(passages: Sequence[HeldPassage]) -> list[SearchResult]:
    """Return passages, best first, as results: one for each source, its passages in the order of the document."""
    sources: dict[str, list[HeldPassage]] = {}
    for each in passages:
        sources.setdefault(each.url, []).append(each)
    return [_result(url, held) for url, held in sources.items()]


def _result(url: str, held: Sequence[HeldPassage]) -> SearchResult:
    ordered = sorted(held, key=_place)
    texts = [each.under_heading for each in ordered]
    result = SearchResult(title=held[0].title, href=url, body="\n\n".join(texts))
    if starts := joined_starts(texts, (each.page_starts_under_heading for each in ordered), between=2):
        result["page_starts"] = starts
    return result


def _place(passage: HeldPassage) -> tuple[str, str, int]:
    return passage.source, passage.found_by, passage.position
