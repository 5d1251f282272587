"""`/tavily/search` and `/tavily/extract` as Tavily answers them, for every tool whose Tavily client takes an address.

https://docs.tavily.com/documentation/api-reference/endpoint/search
"""

import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from msgspec import Struct
from pydantic import BaseModel

from harness.app import App
from harness.core.keys import MAX_QUERY_CHARS
from harness.core.pages import Page
from harness.core.text import clean, one_line, shorten
from harness.errors import HarnessError, InvalidInput, NotFound, OfflineMiss, PageError
from harness.server.dependencies import FAILURES, Mine
from harness.server.error_payload import Envelope
from harness.server.search_api.one_search import MAX_ADDRESS, MAX_REASON, MAX_TITLE, NOTHING, Found, search
from harness.server.search_api.search_options import Wishes
from harness.server.search_api.tavily_messages import (
    DEFAULT_RESULTS,
    MAX_PAGE,
    MAX_RESULTS,
    TavilyExtract,
    TavilyFailure,
    TavilyPage,
    TavilyPages,
    TavilyReply,
    TavilyResult,
    TavilySearch,
    TavilyUnread,
    Usage,
)

PREFIX = "/tavily"

_RANGES = {"d": "day", "w": "week", "m": "month", "y": "year"}
_OFF: tuple[Any, ...] = (None, False, "")

_NOT_SEARCHED: Mapping[str, tuple[Any, ...]] = {
    "topic": (None, "", "general"),
    "start_date": _OFF,
    "end_date": _OFF,
    "max_age_hours": (None,),
    "country": _OFF,
    "exact_match": _OFF,
    "auto_parameters": _OFF,
    "include_answer": _OFF,
    "include_images": _OFF,
    "include_favicon": _OFF,
}
"""What a search here cannot do, each with the values that do not ask for it."""
_NOT_EXTRACTED: Mapping[str, tuple[Any, ...]] = {"query": _OFF, "include_images": _OFF, "include_favicon": _OFF}
_NOT_SERVED: Mapping[str, str] = {
    "crawl": "pages are read one by one: send their addresses to /tavily/extract",
    "map": "the pages of a site are not listed: find them with /tavily/search and include_domains",
    "research": "ask with POST /api/researches, or with `harness research`",
    "feedback": "feedback is not collected",
    "usage": "the live calls of a request are in its own answer, in usage.credits",
}
"""Tavily's other endpoints, each with what to do instead."""
_OTHERWISE = "only POST /tavily/search and POST /tavily/extract are served here"

router = APIRouter(
    prefix=PREFIX,
    tags=["search for other tools"],
    responses={status: {**told, "model": TavilyFailure} for status, told in FAILURES.items()},
)


@router.post("/search")
def tavily_search(asked: TavilySearch, app: Mine) -> TavilyReply:
    """Search as in Tavily, through the cache: a search that anybody of the tenant has made costs nothing."""
    began = time.monotonic()
    _refuse(asked, _NOT_SEARCHED)
    wanted = DEFAULT_RESULTS if asked.max_results is None else asked.max_results
    size = max(wanted, app.settings.max_results)  # as many as others ask for, so that one entry serves all
    searched = search(app, asked.query, _wishes(asked), size) if wanted else NOTHING
    found = [each for each in searched.found if _wanted(each, asked)][:wanted]
    pages = _read([each.url for each in found], app) if asked.include_raw_content else [None] * len(found)
    return TavilyReply(
        query=clean(asked.query, MAX_QUERY_CHARS),
        results=[_result(each, rank, page) for rank, (each, page) in enumerate(zip(found, pages, strict=True))],
        response_time=_since(began),
        request_id=str(uuid.uuid4()),
        usage=Usage(credits=searched.live_calls + sum(page.live for page in pages if page)),
        ranked_by_words=list(searched.by_words),
    )


@router.post("/extract")
def tavily_extract(asked: TavilyExtract, app: Mine) -> TavilyPages:
    """Read pages as in Tavily, through the cache; of one that cannot be read the reason is told."""
    began = time.monotonic()
    _refuse(asked, _NOT_EXTRACTED)
    urls = [asked.urls] if isinstance(asked.urls, str) else asked.urls
    pages = _read(urls, app)
    return TavilyPages(
        results=[
            TavilyPage(url=clean(each.url, MAX_ADDRESS), title=each.title, raw_content=each.text)
            for each in pages
            if not each.error
        ],
        failed_results=[
            TavilyUnread(url=clean(each.url, MAX_ADDRESS), error=each.error) for each in pages if each.error
        ],
        response_time=_since(began),
        request_id=str(uuid.uuid4()),
        usage=Usage(credits=sum(each.live for each in pages)),
    )


def not_found(request: Request) -> HarnessError:
    """Return why nothing is served at an address below `/tavily/`.

    An endpoint of Tavily is an unusable request, not a missing address: Tavily's clients show the message of that one.
    """
    name = request.url.path.removeprefix(f"{PREFIX}/").partition("/")[0]
    if name in _NOT_SERVED:
        return InvalidInput(f"Tavily's {name} is not served here; {_NOT_SERVED[name]}")
    return NotFound(f"there is nothing here; {_OTHERWISE}")


def serves(request: Request) -> bool:
    """Say whether a request is one of a client of Tavily."""
    return request.url.path.startswith(f"{PREFIX}/")


def failure(told: Envelope) -> dict[str, Any]:
    """Return an envelope with its message where Tavily's clients look for it, too: in `detail.error`."""
    return {**told, "detail": {"error": told["message"]}}


class _Read(Struct, frozen=True):
    """What came of reading one page; `error` is empty where it was read."""

    url: str
    title: str
    text: str
    live: bool
    error: str = ""


def _refuse(asked: BaseModel, not_done: Mapping[str, tuple[Any, ...]]) -> None:
    for name, harmless in not_done.items():
        if (value := getattr(asked, name)) not in harmless:
            raise InvalidInput(f"{name} cannot be {str(value)[:50]!r} here: that is not done; leave it out")


def _wishes(asked: TavilySearch) -> Wishes:
    given = asked.time_range or ""
    return Wishes(
        language=asked.language or "",
        time_range=_RANGES.get(given, given),
        safety=2 if asked.safe_search else None,
    )


def _wanted(found: Found, asked: TavilySearch) -> bool:
    host = _host(found.url)
    included = not asked.include_domains or _below(host, asked.include_domains)
    return included and not _below(host, asked.exclude_domains or ())


def _below(host: str, domains: Collection[str]) -> bool:
    """Say whether a host is one of the domains, which may be written as addresses, or below one."""
    known = {_host(domain if "//" in domain else f"//{domain}").removeprefix("*.") for domain in domains} - {""}
    return any(host == domain or host.endswith(f".{domain}") for domain in known)


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _read(urls: Sequence[str], app: App) -> list[_Read]:
    """Read pages at once, through the cache; one that cannot be read ends nothing.

    Raises:
        StoreError: the cache cannot be read.
    """

    def read(url: str) -> _Read:
        try:
            answer = app.cache.page(url, app.sources.reader, ttl=app.settings.page_ttl)
        except (PageError, OfflineMiss, InvalidInput) as error:
            return _unread(url, error)
        return _as_read(url, answer.value, answer.how == "live")

    with ThreadPoolExecutor(app.settings.concurrency, thread_name_prefix="read") as pool:
        return list(pool.map(read, urls))


def _as_read(url: str, page: Page, live: bool) -> _Read:
    return _Read(url, one_line(clean(page.title, MAX_TITLE)), clean(page.text, MAX_PAGE), live)


def _unread(url: str, error: HarnessError) -> _Read:
    return _Read(url, "", "", live=False, error=shorten(clean(error, 2 * MAX_REASON), MAX_REASON))


def _result(found: Found, before: int, page: _Read | None) -> TavilyResult:
    return TavilyResult(
        title=found.title,
        url=found.url,
        content=found.text,
        score=round(1 - before / MAX_RESULTS, 4),
        raw_content=page.text if page and not page.error else None,
    )


def _since(began: float) -> float:
    return round(time.monotonic() - began, 3)
