"""Brave Search, through its Web Search API.

https://api-dashboard.search.brave.com/api-reference/web/search/get
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct

from harness.core.keys import MAX_QUERY_CHARS
from harness.core.text import clean, one_line, shorten
from harness.errors import EngineUnavailable, InvalidInput, RateLimited, SearchError
from harness.ports import SearchResult
from harness.settings import Settings
from harness.sources.engines.json_api import decoded, plain, result, results
from harness.sources.http.request import HttpResponse, ask, base_address, check_status

BASE_URL = "https://api.search.brave.com/res/v1"
MAX_RESULTS = 60

_WHO = "Brave Search"
_DASHBOARD = "https://api-dashboard.search.brave.com"
_PER_PAGE = 20
_MAX_CHARS, _MAX_WORDS = 400, 50
"""Limits of a query."""
_KEY = re.compile(r"[!-~]{1,200}")


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


class Brave:
    """Search the web, most relevant first; at most `MAX_RESULTS`, from pages of 20. A result's body is its description
    and up to five more excerpts of the page, with empty lines between them.

    `timeout` is in seconds, for each page. If a plan allows one request a second, `sleep` waits between two pages.

    Raises:
        InvalidInput: no key or one of another form, or `base_url` is not an http(s) URL.
    """

    name = "brave"

    def __init__(
        self,
        *,
        api_key: str | None,
        timeout: float = 10.0,
        base_url: str = BASE_URL,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._url = base_address(base_url, "the URL of Brave Search")
        self._key = (api_key or "").strip()
        if not self._key:
            raise InvalidInput(f"the engine brave needs a key; get one at {_DASHBOARD} and set brave_api_key")
        if not _KEY.fullmatch(self._key):
            raise InvalidInput("brave_api_key has characters that no key has; copy the key again")
        self._timeout = timeout
        self._sleep = sleep
        self.options: Mapping[str, Any] = {} if self._url == BASE_URL else {"base_url": self._url}

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
        found: list[SearchResult] = []
        pause = False
        for first in range(0, limit, _PER_PAGE):
            if pause:
                self._sleep(1.0)
            try:
                answer = self._ask(text, count=min(limit, _PER_PAGE), offset=first // _PER_PAGE)
                reply = decoded(_WHO, answer, _Reply)
                page = _items(reply)
            except SearchError:
                if not found:
                    raise
                break
            before = len(found)
            found = results([*found, *map(_result, page)], limit)
            more = reply.query is None or reply.query.more_results_available is not False
            if not more or len(found) in {before, limit}:
                break
            pause = _second_is_used(answer)
        return found

    def _ask(self, text: str, *, count: int, offset: int) -> HttpResponse:
        """Return the response to the request for one page; `offset` is in pages.

        Raises:
            RateLimited, InvalidInput, EngineUnavailable: no response, or Brave Search refuses.
        """
        parameters = {
            "q": text,
            "count": str(count),
            "offset": str(offset),
            "extra_snippets": "true",
            "result_filter": "query,web",
        }
        # Brave Search refuses every other Accept (HTTP 422), also lists that have this type in them.
        headers = {"X-Subscription-Token": self._key, "Accept": "application/json"}
        answer = ask(_WHO, f"{self._url}/web/search", params=parameters, headers=headers, timeout=self._timeout)
        if answer.status != 200:
            self._refuse(answer)
        return answer

    def _refuse(self, answer: HttpResponse) -> None:
        """Raise the error that a response with another status than 200 means."""
        failure = _failure(answer.body)
        code, said = failure.code or "", self._shown(failure.detail)
        if answer.status == 401 or code.startswith("SUBSCRIPTION_"):
            raise InvalidInput(f"{_WHO} refuses the key; check brave_api_key against {_DASHBOARD}")
        if answer.status == 402 or code == "QUOTA_LIMITED":
            raise EngineUnavailable(
                f"{_WHO} has no requests left for this key; raise its limit at {_DASHBOARD}, or use another engine"
            )
        if answer.status == 429:
            raise RateLimited(f"{_WHO} asks for fewer requests (HTTP 429); wait a minute")
        if said:
            raise EngineUnavailable(f"{_WHO} could not search: {said}; try again later")
        check_status(_WHO, answer)

    def _shown(self, text: str | None) -> str:
        """Return a message of the service, shortened and without the key."""
        return shorten(one_line(clean((text or "").replace(self._key, "…"), 2_000)), 200).rstrip(".")


def _items(reply: _Reply) -> list[_Item]:
    """Return the results of a page; those of another form are left out.

    Raises:
        EngineUnavailable: all of them are of another form, or the reply is.
    """
    if reply.web is None and reply.type != "search":
        raise EngineUnavailable(f"{_WHO} answered with something else than results; try again later")
    values = (reply.web.results if reply.web else None) or []
    items: list[_Item] = []
    for value in values:
        with suppress(msgspec.ValidationError):
            items.append(msgspec.convert(value, _Item))
    if values and not items:
        raise EngineUnavailable(f"{_WHO} answered with something else than results; try again later")
    return items


def _result(item: _Item) -> SearchResult | None:
    excerpts = [plain(text) for text in (item.description, *(item.extra_snippets or []))]
    body = "\n\n".join(dict.fromkeys(filter(None, excerpts)))
    profile = item.profile or _Profile()
    return result(plain(item.title), item.url, body, date=item.page_age, site=plain(profile.name))


def _failure(body: bytes) -> _Error:
    """Return the error in a response, an empty one if there is none."""
    try:
        failure = msgspec.json.decode(body, type=_Failure)
    except (ValueError, RecursionError):
        return _Error()
    return failure.error or next(iter(failure.errors or []), _Error())


def _second_is_used(answer: HttpResponse) -> bool:
    """Return whether no request is left in this second: the header has the numbers for a second and for a month."""
    return answer.headers.get("x-ratelimit-remaining", "").partition(",")[0].strip() == "0"


def from_settings(_argument: str, settings: Settings) -> Brave:
    """Return the engine with the key of the settings."""
    return Brave(api_key=settings.brave_api_key, timeout=settings.search_timeout)
