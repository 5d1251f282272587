"""Brave Search, through its Web Search API.

https://api-dashboard.search.brave.com/api-reference/web/search/get
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn

from msgspec import Struct

from harness.core.keys import MAX_QUERY_CHARS
from harness.core.locales import country_of, specific, tongue_of
from harness.core.text import clean
from harness.errors import EngineUnavailable
from harness.ports import SearchResult
from harness.settings import Settings
from harness.sources.engines.json_api import ApiEngine, failure_of, shown
from harness.sources.engines.result_fields import joined, plain, result
from harness.sources.engines.result_lists import results_of_pages
from harness.sources.http.request import HttpResponse

BASE_URL = "https://api.search.brave.com/res/v1"
MAX_RESULTS = 60

_DASHBOARD = "https://api-dashboard.search.brave.com"
_PER_PAGE = 20
_MAX_CHARS, _MAX_WORDS = 400, 50
"""Limits of a query."""
_LANGUAGES = frozenset(
    """
    ar bg bn ca cs da de en en-gb es et eu fi fr gl gu he hi hr hu is it jp kn ko lt lv ml mr ms nb nl pa pl pt-br
    pt-pt ro ru sk sl sr sv ta te th tr uk vi zh-hans zh-hant
    """.split()
)
"""Values of `search_lang`; others are refused."""
_CODES = {
    "ja": "jp", "no": "nb", "pt": "pt-pt", "zh": "zh-hans", "zh-cn": "zh-hans", "zh-hk": "zh-hant", "zh-tw": "zh-hant",
}  # fmt: skip
"""Values that are not the language's code."""
_COUNTRIES = frozenset(
    """
    AR AT AU BE BR CA CH CL CN DE DK ES FI FR GB HK ID IN IT JP KR MX MY NL NO NZ PH PL PT RU SA SE TR TW US ZA
    """.split()
)
"""Values of `country`, besides `ALL`."""


class _Profile(Struct):
    name: str | None = None


class _Item(Struct):
    """Fields of a result that are read. Its texts are HTML; `page_age` is a date and a time."""

    title: str | None = None
    url: str | None = None
    description: str | None = None
    extra_snippets: list[str | None] | None = None
    page_age: str | None = None
    profile: _Profile | None = None


class _Query(Struct):
    more_results_available: bool | None = None


class _Web(Struct):
    results: list[Any] | None = None


class _Reply(Struct):
    """Response: without results it may lack `web`."""

    type: str | None = None
    query: _Query | None = None
    web: _Web | None = None


class _Error(Struct):
    code: str | None = None
    detail: str | None = None


class _Failure(Struct):
    """Response to a refused request; the API's documentation has both forms."""

    error: _Error | None = None
    errors: list[_Error] | None = None


class Brave(ApiEngine):
    """Search the web, most relevant first; at most `MAX_RESULTS`, from pages of 20. A result's body is its description
    and up to five more excerpts of the page, with empty lines between them.

    `language` is a code such as `de` or `pt-BR`; pages in it and of its country come first. `timeout` is in seconds,
    for each page. If a plan allows one request a second, `sleep` waits between two pages.

    Raises:
        InvalidInput: no key or one of another form, or `base_url` is not an http(s) URL.
    """

    name, who, where = "brave", "Brave Search", "the URL of Brave Search"
    key_setting, key_page = "brave_api_key", _DASHBOARD

    def __init__(
        self,
        *,
        api_key: str | None,
        language: str = "",
        timeout: float = 10.0,
        base_url: str = BASE_URL,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._locale = _locale(language)
        super().__init__(base_url, BASE_URL, timeout, self._locale, api_key)
        # Brave Search refuses every other Accept (HTTP 422), also lists that have this type in them.
        self._headers = {"X-Subscription-Token": self._key, "Accept": "application/json"}
        self._sleep = sleep

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`. If a later page fails, the results until then are returned.

        Raises:
            InvalidInput: Brave Search refuses the key.
        """
        # Operators (quotation marks, site:) keep the meaning that they have in a search box.
        words = clean(query, MAX_QUERY_CHARS).split()[:_MAX_WORDS]
        text = " ".join(words)[:_MAX_CHARS].strip()
        if not text:
            return []
        limit = min(max_results, MAX_RESULTS)
        return results_of_pages(self._pages(text, limit), limit)

    def _pages(self, text: str, limit: int) -> Iterator[Iterable[SearchResult | None]]:
        """Yield the results of each page, until Brave Search has no more."""
        pause = False
        for first in range(0, limit, _PER_PAGE):
            if pause:
                self._sleep(1.0)
            parameters = {
                "q": text,
                "count": str(min(limit, _PER_PAGE)),
                "offset": str(first // _PER_PAGE),  # in pages
                "extra_snippets": "true",
                "result_filter": "query,web",
                **self._locale,
            }
            answer = self._accepted("web/search", params=parameters)
            reply = self._decoded(answer, _Reply)
            if reply.web is None and reply.type != "search":
                raise self._another_reply()
            yield map(_result, self._items(reply.web.results if reply.web else None, _Item))
            if reply.query is not None and reply.query.more_results_available is False:
                return
            pause = _second_is_used(answer)

    def _refuse(self, answer: HttpResponse) -> NoReturn:
        failure = failure_of(answer, _Failure)
        error = failure.error or next(iter(failure.errors or []), _Error())
        code = error.code or ""
        if answer.status == 401 or code.startswith("SUBSCRIPTION_"):
            raise self._key_refused(_DASHBOARD)
        if answer.status == 402 or code == "QUOTA_LIMITED":
            raise EngineUnavailable(
                f"{self.who} has no requests left for this key; raise its limit at {_DASHBOARD}, or use another engine"
            )
        self._fail(answer, shown(error.detail, self._key))


def _locale(language: str) -> dict[str, str]:
    """Return the parameters for a language: its code, if Brave Search knows it, and its country."""
    if not language:
        return {}
    lowered, tongue, country = language.lower(), tongue_of(language), country_of(language)
    codes = (_CODES.get(lowered, lowered), _CODES.get(tongue, tongue))
    code = next((each for each in codes if each in _LANGUAGES), "")
    return ({"search_lang": code} if code else {}) | {"country": country if country in _COUNTRIES else "ALL"}


def _result(item: _Item) -> SearchResult | None:
    body = joined(plain(text) for text in (item.description, *(item.extra_snippets or [])))
    profile = item.profile or _Profile()
    return result(plain(item.title), item.url, body, date=item.page_age, site=plain(profile.name))


def _second_is_used(answer: HttpResponse) -> bool:
    """Return whether no request is left in this second: the header has the numbers for a second and for a month."""
    return answer.headers.get("x-ratelimit-remaining", "").partition(",")[0].strip() == "0"


def from_settings(_argument: str, settings: Settings) -> Brave:
    """Return the engine with the key and the language of the settings."""
    return Brave(api_key=settings.brave_api_key, language=specific(settings.language), timeout=settings.search_timeout)
