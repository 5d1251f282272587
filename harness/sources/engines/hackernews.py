"""Hacker News, through the search API of Algolia.

https://hn.algolia.com/api. Algolia documents the parameters: https://www.algolia.com/doc/api-reference/search-api-parameters
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct, field

from harness.core.text import clean, one_line
from harness.ports import SearchResult
from harness.settings import Settings
from harness.sources.engines.filters import NO_FILTERS, Filters, filters_of
from harness.sources.engines.json_api import ApiEngine
from harness.sources.engines.result_fields import plain, result
from harness.sources.engines.result_lists import results

BASE_URL = "https://hn.algolia.com/api/v1"
MAX_RESULTS = 100

_WHO = "Hacker News"
_ITEM_URL = "https://news.ycombinator.com/item?id="
_MAX_QUERY_BYTES = 512
"""Algolia refuses a longer query."""

_ID = re.compile(r"[1-9][0-9]{0,14}")
_OPERATOR = re.compile(r'"|(?<!\w)-+')


class _Hit(Struct):
    """Fields of a story or comment that are read. `story_text` and `comment_text` are HTML."""

    object_id: str | int | None = field(name="objectID", default=None)
    title: str | None = None
    story_title: str | None = None
    story_text: str | None = None
    comment_text: str | None = None
    author: str | None = None
    created_at: str | None = None


class _Reply(Struct):
    hits: list[Any]


class HackerNews(ApiEngine):
    """Search the stories and comments of Hacker News; at most `MAX_RESULTS`. Those with a text come first, each group
    most relevant first. A result's address is its page on Hacker News; a story that is only a link has an empty body.

    Filter: years. `timeout` is in seconds.

    Raises:
        InvalidInput: `base_url` is not an http(s) URL.
    """

    name, who, where = "hackernews", _WHO, "the URL of the search of Hacker News"

    def __init__(self, *, filters: Filters = NO_FILTERS, timeout: float = 10.0, base_url: str = BASE_URL) -> None:
        super().__init__(base_url, BASE_URL, timeout, filters.options)
        self._filters = _filter_parameters(filters)

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`."""
        text = _words(query)
        if not text:  # it would find everything
            return []
        limit = min(max_results, MAX_RESULTS)
        parameters = {
            "query": text,
            "tags": "(story,comment)",
            "hitsPerPage": str(min(2 * limit, MAX_RESULTS)),  # about half of them are stories without a text
            "removeWordsIfNoResults": "lastWords",  # else every word must be found
            **self._filters,
        }
        hits = self._items(self._reply(_Reply, "search", params=parameters).hits, _Hit)
        found = results(map(_result, hits), MAX_RESULTS)
        return sorted(found, key=lambda each: not each["body"])[:limit]


def _words(query: str) -> str:
    """Return a query without quotation marks and without hyphens before words, which exclude them; at most
    `_MAX_QUERY_BYTES` long.
    """
    text = one_line(clean(_OPERATOR.sub(" ", query), _MAX_QUERY_BYTES))
    return text.encode()[:_MAX_QUERY_BYTES].decode(errors="ignore").strip()


def _result(hit: _Hit) -> SearchResult | None:
    """Return a result, `None` for a post that was deleted or has no number."""
    number = str(hit.object_id or "")
    if not _ID.fullmatch(number) or not (hit.title or hit.comment_text):
        return None
    title = hit.title or f"Comment on: {hit.story_title or 'a story'}"
    return result(
        title,
        _ITEM_URL + number,
        plain(hit.comment_text or hit.story_text),
        date=hit.created_at,
        authors=hit.author,
        site=_WHO,
    )


def _filter_parameters(filters: Filters) -> Mapping[str, str]:
    """Return the years as a range of seconds since 1970, in UTC."""
    bounds = [f"created_at_i>={_seconds(filters.since)}"] if filters.since else []
    bounds += [f"created_at_i<{_seconds(filters.until + 1)}"] if filters.until else []
    return {"numericFilters": ",".join(bounds)} if bounds else {}


def _seconds(year: int) -> int:
    """Return the beginning of a year in seconds since 1970; 0 for earlier years."""
    return max(0, int(datetime(year, 1, 1, tzinfo=UTC).timestamp()))


def from_settings(argument: str, settings: Settings) -> HackerNews:
    """Return the engine with the filters in `argument`."""
    return HackerNews(filters=filters_of("hackernews", argument, ("years",)), timeout=settings.search_timeout)
