"""Google's web search, through serper.dev.

https://serper.dev. It has no public reference; https://serper.dev/playground shows the requests.
"""

from collections.abc import Sequence
from typing import Any, NoReturn

import msgspec
from msgspec import Struct

from harness.core.locales import country_of, specific, tongue_of
from harness.core.text import clean, one_line
from harness.errors import EngineUnavailable
from harness.ports import SearchResult
from harness.settings import Settings
from harness.sources.engines.json_api import ApiEngine
from harness.sources.engines.result_fields import joined, result, web_result
from harness.sources.engines.result_lists import results_of_pages
from harness.sources.http.request import HttpResponse

BASE_URL = "https://google.serper.dev"
MAX_RESULTS = 50

_PER_PAGE = 10
_MAX_QUERY_CHARS = 2_048
"""Limit of Google."""
_CODES = {
    "fil": "tl", "he": "iw", "pt-BR": "pt-br", "pt-PT": "pt-pt", "zh": "zh-cn", "zh-CN": "zh-cn", "zh-HK": "zh-tw",
    "zh-Hans": "zh-cn", "zh-Hant": "zh-tw", "zh-TW": "zh-tw",
}  # fmt: skip
"""Google's codes of languages that are not the language's own."""


class _Item(Struct):
    """Fields of a result, or of the answer box, that are read. `date` is as Jan 5, 2024, or as 3 days ago."""

    title: str | None = None
    link: str | None = None
    snippet: str | None = None
    answer: str | None = None
    date: str | None = None


class _Reply(Struct, rename="camel"):
    """Response: without results `organic` may be missing."""

    search_parameters: dict[str, Any] | None = None
    answer_box: Any = None
    organic: list[Any] | None = None


class Serper(ApiEngine):
    """Search Google, most relevant first; at most `MAX_RESULTS`, from pages of 10. Each page costs one credit. The
    answer that Google shows above its results is the first result, if it names its source.

    `language` is a code such as `de` or `pt-BR`: the language of Google's pages and the country to search from.
    `timeout` is in seconds, for each page.

    Raises:
        InvalidInput: no key or one of another form, or `base_url` is not an http(s) URL.
    """

    name, who, where = "serper", "serper.dev", "the URL of serper.dev"
    key_setting, key_page = "serper_api_key", "https://serper.dev"

    def __init__(
        self, *, api_key: str | None, language: str = "", timeout: float = 10.0, base_url: str = BASE_URL
    ) -> None:
        code = _CODES.get(language) or tongue_of(language)
        values = {"hl": code, "gl": country_of(language).lower()} if language else {}
        self._locale = {name: value for name, value in values.items() if value}
        super().__init__(base_url, BASE_URL, timeout, self._locale, api_key)
        self._headers = {"X-API-KEY": self._key}

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`. If a later page fails, the results until then are returned.

        Raises:
            InvalidInput: serper.dev refuses the key.
        """
        # Operators (quotation marks, site:) keep the meaning that they have in Google's search box.
        text = one_line(clean(query, _MAX_QUERY_CHARS))
        if not text:
            return []
        limit = min(max_results, MAX_RESULTS)
        return results_of_pages(
            (self._page(text, first // _PER_PAGE + 1) for first in range(0, limit, _PER_PAGE)), limit
        )

    def _page(self, text: str, number: int) -> list[SearchResult | None]:
        """Return the results on one page, from 1.

        Raises:
            RateLimited, InvalidInput, EngineUnavailable: no response, another response, or serper.dev refuses.
        """
        # No `num`: Google has pages of 10 only, and free accounts are refused a larger one.
        reply = self._reply(_Reply, "search", json={"q": text, "page": number, **self._locale})
        if reply.organic is None and reply.search_parameters is None:
            raise self._another_reply()
        return [_answer(reply.answer_box), *map(_result, self._items(reply.organic, _Item))]

    def _refuse(self, answer: HttpResponse) -> NoReturn:
        said = self._message(answer)  # there is no code
        if answer.status == 401 or (answer.status == 403 and "unauthorized" in said.lower()):
            raise self._key_refused("https://serper.dev/api-keys")
        if answer.status == 402 or "credits" in said.lower():
            raise EngineUnavailable(f"{self.who} has no credits left for this key; buy some, or use another engine")
        if "free accounts" in said.lower():
            raise EngineUnavailable(
                f"{self.who} could not search: {said}; leave out operators like quotation marks and site:, "
                "or buy credits"
            )
        self._fail(answer, said)


def _result(item: _Item) -> SearchResult | None:
    return web_result(item.title, item.link, item.snippet, date=item.date)


def _answer(box: Any) -> SearchResult | None:
    """Return the answer box as a result, `None` without a text or a source."""
    try:
        item = msgspec.convert(box, _Item)
    except msgspec.ValidationError:
        return None
    body = joined((item.answer, item.snippet))
    return result(item.title, item.link, body, date=item.date) if body else None


def from_settings(_argument: str, settings: Settings) -> Serper:
    """Return the engine with the key and the language of the settings."""
    return Serper(
        api_key=settings.serper_api_key, language=specific(settings.language), timeout=settings.search_timeout
    )
