"""SearXNG, a self-hosted metasearch engine, through its JSON API.

https://docs.searxng.org/dev/search_api.html
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from harness.core.keys import MAX_QUERY_CHARS, canonical_url
from harness.core.locales import ANY
from harness.core.text import clean, shorten
from harness.errors import EngineUnavailable
from harness.ports import SearchResult
from harness.settings import Settings
from harness.sources.engines.result_fields import result, title_from, web_result
from harness.sources.engines.result_lists import results_of_pages
from harness.sources.http.request import HttpResponse, ask, base_address, check_status, login_of, web_address

DEFAULTS: Mapping[str, Any] = {"language": "auto", "time_range": None}
MAX_PAGES = 5


class _Result(Struct):
    """Fields of a result that are read; `published` is a date and a time, where the instance's engine knows it."""

    url: str | None = None
    title: str | None = None
    content: str | None = None
    author: Any = None
    published: Any = field(default=None, name="publishedDate")


class _Page(Struct):
    """Fields of a response that are read; `unresponsive_engines` are pairs of name and reason. Answers and infoboxes
    have other forms in each version, and for each of its engines.
    """

    results: list[_Result]
    answers: Any = None
    infoboxes: Any = None
    unresponsive_engines: list[tuple[str, str]] = []


class Searxng:
    """Search through the SearXNG instance at `url`, which must have the format `json` enabled. The answers and the
    infoboxes (the summary of a Wikipedia article) that it shows with its results are the first ones, if they name
    their source.

    `url` may contain a user and a password (basic authentication); `options` has it without them, and the values that
    differ from `DEFAULTS`. `language` is a code such as `de` or `pt-BR`, `auto` or `all`. `timeout` is in seconds per
    page; at most `MAX_PAGES` pages are requested. The instance may have any address, including this machine.

    Raises:
        InvalidInput: `url` is not an http(s) URL.
    """

    name = "searxng"

    def __init__(
        self,
        url: str,
        *,
        language: str = DEFAULTS["language"],
        time_range: Literal["day", "week", "month", "year"] | None = DEFAULTS["time_range"],
        timeout: float = 10.0,
    ) -> None:
        self._url = base_address(url, "the URL of a SearXNG instance")
        self._login = login_of(url)
        self._timeout = timeout
        chosen = {"language": language, "time_range": time_range}
        different = {name: value for name, value in chosen.items() if value != DEFAULTS[name]}
        self.options: Mapping[str, Any] = {"url": self._url} | different
        self._parameters = {
            "format": "json",
            "language": language,
            "safesearch": "1",  # moderate
            "categories": "general",
        } | ({"time_range": time_range} if time_range else {})

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`. If a later page fails, the results until then are returned."""
        pages = (self._page(query, number) for number in range(1, MAX_PAGES + 1))
        return results_of_pages(pages, max_results, same=canonical_url)

    def _page(self, query: str, number: int) -> list[SearchResult]:
        """Return the results on one page, from 1.

        Raises:
            RateLimited, EngineUnavailable: no page, or one without results whose engines failed.
        """
        who = f"the SearXNG instance {self._url}"
        params = {"q": clean(query, MAX_QUERY_CHARS), "pageno": str(number), **self._parameters}
        answer = ask(who, f"{self._url}/search", params=params, login=self._login, timeout=self._timeout)
        if answer.status == 403:
            raise EngineUnavailable(
                f"{who} answered HTTP 403: most likely the format JSON is not enabled; "
                "add json to search.formats in its settings.yml (formats: [html, json])"
            )
        check_status(who, answer)
        page = _decoded(who, answer)
        found = [each for each in _results(page) if each]
        if not found and page.unresponsive_engines:
            raise _all_failed(page)
        return found


def _results(page: _Page) -> Iterator[SearchResult | None]:
    """Yield what a page shows: answers, infoboxes and results; `None` for what has no source."""
    titles = {each.url: each.title for each in page.results}
    for answer in _objects(page.answers):
        yield _shown(titles.get(_text(answer.get("url"))), answer.get("url"), answer.get("answer"))
    for box in _objects(page.infoboxes):
        yield _shown(box.get("infobox"), box.get("id"), box.get("content"))
    for each in page.results:
        yield web_result(each.title, each.url, each.content, date=_text(each.published), authors=_text(each.author))


def _shown(title: Any, address: Any, text: Any) -> SearchResult | None:
    """Return an answer or an infobox as a result, `None` without a text or a source."""
    body, page = _text(text).strip(), web_address(_text(address))
    return result(_text(title) or title_from(page), page, body) if body and page else None


def _objects(values: Any) -> list[dict[str, Any]]:
    """Return the objects in a list; nothing for another value."""
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def _text(value: Any) -> str:
    """Return a field that engines fill as they like, if it is a text."""
    return value if isinstance(value, str) else ""


def _decoded(who: str, answer: HttpResponse) -> _Page:
    try:
        return msgspec.json.decode(answer.body, type=_Page)
    except (ValueError, RecursionError) as error:
        is_html = answer.body[:500].lstrip()[:1] == b"<"
        what = "HTML instead of JSON; is that the URL of SearXNG itself?" if is_html else "something other than results"
        raise EngineUnavailable(f"{who} answered with {what}") from error


def _all_failed(page: _Page) -> EngineUnavailable:
    """Return the error that lists the failed engines of the instance and their reasons."""
    reasons = ", ".join(f"{clean(name, 50)} ({clean(why, 100)})" for name, why in page.unresponsive_engines[:20])
    return EngineUnavailable(
        f"SearXNG found nothing because its engines failed: {shorten(reasons, 300)}; try again later, or enable others"
    )


def from_settings(address: str, settings: Settings) -> Searxng:
    """Return the engine at `address`, else at that of the settings."""
    requested = "auto" if settings.language == ANY else settings.language
    return Searxng(
        address or settings.searxng_url or "",
        language=requested if settings.searxng_language == "auto" else settings.searxng_language,
        time_range=settings.searxng_time_range,
        timeout=settings.search_timeout,
    )
