"""Lists of results, each address once, from one page or from several."""

from collections.abc import Callable, Iterable

from harness.errors import SearchError
from harness.ports import SearchResult


def results(found: Iterable[SearchResult | None], limit: int, same: Callable[[str], str] = str) -> list[SearchResult]:
    """Return up to `limit` results, each address once; of addresses that `same` makes equal, the first."""
    by_address: dict[str, SearchResult] = {}
    for each in found:
        if each is not None:
            by_address.setdefault(same(each["href"]), each)
    return list(by_address.values())[:limit]


def results_of_pages(
    pages: Iterable[Iterable[SearchResult | None]], limit: int, same: Callable[[str], str] = str
) -> list[SearchResult]:
    """Return up to `limit` results from pages, until one has nothing new. If a later page fails, the results until
    then are returned.

    Raises:
        SearchError: there is no result before the page that fails.
    """
    found: list[SearchResult] = []
    try:
        for page in pages:
            before, found = len(found), results([*found, *page], limit, same)
            if len(found) in {before, limit}:
                break
    except SearchError:
        if not found:
            raise
    return found
