"""One search for another tool, through the same cache entries as `harness search`."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from harness.app import App
from harness.core.keys import canonical_url
from harness.core.text import clean, one_line, shorten
from harness.errors import SearchError
from harness.research.search import EngineSearch
from harness.server.responses.search_responses import ReuseResponse, reuse_response
from harness.server.search_api.search_options import SearchOptions, engine_settings

MAX_TITLE = 300
MAX_URL = 4_000
MAX_TEXT = 4_000
MAX_REASON = 300


class RankedResult(Struct, frozen=True):
    """One result, with texts cleaned and limited; `engines` found it, at these `ranks` (from 1)."""

    title: str
    url: str
    text: str
    engines: tuple[str, ...]
    ranks: tuple[int, ...]


class SearchOutcome(Struct, frozen=True):
    """Results, best first; engines that failed while others answered, with the reason; engines that ranked by words
    only; and the passages that answered instead of the engines, if they did.
    """

    found: Sequence[RankedResult]
    failed: Sequence[tuple[str, str]]
    live_calls: int
    by_words: Sequence[str]
    reuse: ReuseResponse | None = None


NOTHING = SearchOutcome((), (), 0, ())
"""Outcome without a search."""


def search(app: App, query: str, options: SearchOptions, max_results: int) -> SearchOutcome:
    """Search with the engines of `app` and these `options`, for up to `max_results` (1 to 100) results.

    Raises:
        InvalidInput: an invalid query, or an option that an engine does not support.
        SearchError: every engine failed.
        OfflineMiss: offline, and the cache has no answer.
        StoreError: the cache cannot be read.
    """
    specs, changes = engine_settings(app.settings, options)
    if options.reuse:
        changes["reuse"] = options.reuse
    with app.serving(app.identity, origin="agent", max_results=max_results, **changes) as mine:
        searches, results = mine.search(query, specs, reuse=options.takes_passages)
    ranks = _ranks(searches)
    failures = [(each.engine, each.outcome) for each in searches if isinstance(each.outcome, SearchError)]
    return SearchOutcome(
        found=[_found(result, ranks) for result in results],
        failed=[(engine, shorten(clean(error, 2 * MAX_REASON), MAX_REASON)) for engine, error in failures],
        live_calls=sum(not isinstance(each.outcome, SearchError) and each.outcome.how == "live" for each in searches),
        by_words=list(dict.fromkeys(each.engine for each in searches if each.ranked_by == "words")),
        reuse=reuse_response(searches),
    )


def _ranks(searches: list[EngineSearch]) -> dict[str, dict[str, int]]:
    """Return for each URL the engines that found it, with its rank in each."""
    ranks: dict[str, dict[str, int]] = {}
    for each in searches:
        for rank, result in enumerate(each.results, start=1):
            ranks.setdefault(_identity(result), {}).setdefault(each.engine, rank)
    return ranks


def _identity(result: Mapping[str, Any]) -> str:
    return canonical_url(str(result.get("href") or ""))


def _found(result: Mapping[str, Any], ranks: Mapping[str, Mapping[str, int]]) -> RankedResult:
    by_engine = ranks[_identity(result)]
    return RankedResult(
        title=one_line(clean(result.get("title"), MAX_TITLE)),
        url=clean(result.get("href"), MAX_URL),
        text=clean(result.get("body"), MAX_TEXT),
        engines=tuple(by_engine),
        ranks=tuple(by_engine.values()),
    )
