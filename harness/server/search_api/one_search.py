"""One search for another tool, through the cache: the same entries as those of `harness search`."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from harness.app import App
from harness.core.keys import canonical_url
from harness.core.text import clean, one_line, shorten
from harness.errors import SearchError
from harness.research.search import EngineSearch
from harness.server.search_api.search_options import Wishes, choices

MAX_TITLE = 300
MAX_ADDRESS = 4_000
MAX_TEXT = 4_000
MAX_REASON = 300


class Found(Struct, frozen=True):
    """One result, its texts cleaned and bounded, and the engines that found it, each with its rank there, from 1."""

    title: str
    url: str
    text: str
    engines: tuple[str, ...]
    ranks: tuple[int, ...]


class Searched(Struct, frozen=True):
    """What came of a search, best first; the engines that failed where others answered, with the reason; and those that
    ranked by words alone.
    """

    found: Sequence[Found]
    failed: Sequence[tuple[str, str]]
    live_calls: int
    by_words: Sequence[str]


NOTHING = Searched((), (), 0, ())
"""What comes of no search."""


def search(app: App, query: str, wishes: Wishes, max_results: int) -> Searched:
    """Ask the engines of `app` one query, as `wishes` say, for up to `max_results` (1 to 100) results.

    Raises:
        InvalidInput: an unusable query, or a wish that cannot be kept.
        SearchError: every engine failed.
        OfflineMiss: the cache has no answer, and may not compute one.
        StoreError: the cache cannot be read.
    """
    specs, changes = choices(app.settings, wishes)
    with app.serving(app.identity, origin="agent", max_results=max_results, **changes) as mine:
        asked, results = mine.search(query, specs)
    ranks = _ranks(asked)
    failures = [(each.engine, each.outcome) for each in asked if isinstance(each.outcome, SearchError)]
    return Searched(
        found=[_found(result, ranks) for result in results],
        failed=[(engine, shorten(clean(error, 2 * MAX_REASON), MAX_REASON)) for engine, error in failures],
        live_calls=sum(not isinstance(each.outcome, SearchError) and each.outcome.how == "live" for each in asked),
        by_words=list(dict.fromkeys(each.engine for each in asked if each.ranked_by == "words")),
    )


def _ranks(asked: list[EngineSearch]) -> dict[str, dict[str, int]]:
    """Return of every address the engines that found it, with its rank in each."""
    ranks: dict[str, dict[str, int]] = {}
    for each in asked:
        for rank, result in enumerate(each.results, start=1):
            ranks.setdefault(_identity(result), {}).setdefault(each.engine, rank)
    return ranks


def _identity(result: Mapping[str, Any]) -> str:
    return canonical_url(str(result.get("href") or ""))


def _found(result: Mapping[str, Any], ranks: Mapping[str, Mapping[str, int]]) -> Found:
    by_engine = ranks[_identity(result)]
    return Found(
        title=one_line(clean(result.get("title"), MAX_TITLE)),
        url=clean(result.get("href"), MAX_ADDRESS),
        text=clean(result.get("body"), MAX_TEXT),
        engines=tuple(by_engine),
        ranks=tuple(by_engine.values()),
    )
