"""Lists of results, each address once, from one page or from several."""

from collections.abc import Callable, Iterable

from harness.errors import SearchError
from harness.ports import SearchResult
from harness.sources.engines.result_fields import MAX_BODY_CHARS, joined


def results(found: Iterable[SearchResult | None], limit: int, same: Callable[[str], str] = str) -> list[SearchResult]:
    """Return up to `limit` results, each address once; of addresses that `same` makes equal, the first, with what the
    others say of the page.
    """
    by_address: dict[str, SearchResult] = {}
    for each in found:
        if each is not None:
            address = same(each["href"])
            known = by_address.get(address)
            by_address[address] = _merged(known, each) if known else each
    return list(by_address.values())[:limit]


def _merged(first: SearchResult, other: SearchResult) -> SearchResult:
    """Return a result with the text and the fields of another one of its page, too."""
    bodies = (first["body"], other["body"] if other["body"] not in first["body"] else "")
    return {**other, **first, "body": joined(bodies)[:MAX_BODY_CHARS]}


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
