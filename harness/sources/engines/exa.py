"""Exa, a search of the web by meaning that returns the text of the pages.

https://exa.ai/docs/reference/search
"""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from msgspec import Struct

from harness.core.keys import MAX_QUERY_CHARS
from harness.core.text import clean, one_line
from harness.errors import EngineUnavailable
from harness.ports import SearchResult
from harness.settings import Settings
from harness.sources.engines.filters import NO_FILTERS, Filters, filters_of
from harness.sources.engines.json_api import ApiEngine, failure_of
from harness.sources.engines.result_fields import joined, result
from harness.sources.engines.result_lists import results
from harness.sources.http.request import HttpResponse

BASE_URL = "https://api.exa.ai"
MAX_RESULTS = 100
MAX_TEXT_CHARS = 6_000
MAX_HIGHLIGHTS_CHARS = 2_000
"""Requested of each page: 100 pages of 8,000 characters stay below the limit of a response."""

_DASHBOARD = "https://dashboard.exa.ai"


class _Item(Struct, rename="camel"):
    """Fields of a result that are read. `text` is how the page begins, `highlights` are passages that fit the query."""

    title: str | None = None
    url: str | None = None
    text: str | None = None
    highlights: list[str | None] | None = None
    published_date: str | None = None
    author: str | None = None


class _Reply(Struct):
    results: list[Any]


class _Failure(Struct):
    tag: str | None = None


class Exa(ApiEngine):
    """Search the web by meaning, best first; at most `MAX_RESULTS`. A result's body is how its page begins, then the
    passages further down that fit the query.

    Filter: years, in which the page was published as far as Exa can tell. `timeout` is in seconds.

    Raises:
        InvalidInput: no key or one of another form, or `base_url` is not an http(s) URL.
    """

    name, who, where = "exa", "Exa", "the URL of Exa"
    key_setting, key_page = "exa_api_key", _DASHBOARD

    def __init__(
        self, *, api_key: str | None, filters: Filters = NO_FILTERS, timeout: float = 10.0, base_url: str = BASE_URL
    ) -> None:
        super().__init__(base_url, BASE_URL, timeout, filters.options, api_key)
        self._headers = {"x-api-key": self._key}
        self._filters = _filter_fields(filters)

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`.

        Raises:
            InvalidInput: Exa refuses the key.
        """
        text = one_line(clean(query, MAX_QUERY_CHARS))  # no character has a meaning
        if not text:
            return []
        limit = min(max_results, MAX_RESULTS)
        request = {
            "query": text,
            "numResults": limit,
            "type": "auto",
            "contents": {
                "text": {"maxCharacters": MAX_TEXT_CHARS},
                "highlights": {"maxCharacters": MAX_HIGHLIGHTS_CHARS},
            },
            **self._filters,
        }
        found = self._reply(_Reply, "search", json=request).results
        return results(map(_result, self._items(found, _Item)), limit)

    def _refuse(self, answer: HttpResponse) -> NoReturn:
        if answer.status == 401 or failure_of(answer, _Failure).tag == "INVALID_API_KEY":
            raise self._key_refused(_DASHBOARD)
        if answer.status == 402:
            raise EngineUnavailable(
                f"{self.who} has no credits left for this key; add some at {_DASHBOARD}, or use another engine"
            )
        super()._refuse(answer)


def _result(item: _Item) -> SearchResult | None:
    return result(item.title, item.url, _body(item), date=item.published_date, authors=item.author)


def _body(item: _Item) -> str:
    """Return the text of a page, and the highlights that are not in it."""
    text = clean(item.text, MAX_TEXT_CHARS)
    begins = one_line(text)
    passages = [clean(each, MAX_HIGHLIGHTS_CHARS) for each in item.highlights or []]
    return joined((text, *(each for each in passages if one_line(each) not in begins)))


def _filter_fields(filters: Filters) -> Mapping[str, str]:
    """Return the years as fields of a request: pages after the first time and before the last one are found.

    A page of which only the year is known has its first moment as its date, so the first time is a moment earlier.
    """
    fields = {"startPublishedDate": f"{filters.since - 1}-12-31T23:59:59.999Z"} if filters.since else {}
    return fields | ({"endPublishedDate": f"{filters.until}-12-31T23:59:59.999Z"} if filters.until else {})


def from_settings(argument: str, settings: Settings) -> Exa:
    """Return the engine with the filters in `argument` and the key of the settings."""
    filters = filters_of("exa", argument, ("years",))
    return Exa(api_key=settings.exa_api_key, filters=filters, timeout=settings.search_timeout)
