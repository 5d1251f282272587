"""`/tavily/search` and `/tavily/extract` compatible with Tavily, for clients with a configurable base URL.

https://docs.tavily.com/documentation/api-reference/endpoint/search
"""

import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fastapi import APIRouter, Request
from msgspec import Struct
from pydantic import BaseModel

from harness.app import App
from harness.core.keys import MAX_QUERY_CHARS, host_in
from harness.core.text import clean, one_line, shorten
from harness.errors import AccessDenied, HarnessError, InvalidInput, NotFound, OfflineMiss, PageError
from harness.server.error_payload import ErrorResponse
from harness.server.route_dependencies import ERROR_RESPONSES, RequestApp
from harness.server.search_api.one_search import MAX_REASON, MAX_TITLE, MAX_URL, NOTHING, RankedResult, search
from harness.server.search_api.search_options import STRICT, SearchOptions
from harness.server.search_api.tavily_messages import (
    DEFAULT_RESULTS,
    MAX_PAGE,
    MAX_RESULTS,
    Detail,
    TavilyExtract,
    TavilyFailure,
    TavilyPage,
    TavilyPages,
    TavilyResponse,
    TavilyResult,
    TavilySearch,
    TavilyUnread,
    TavilyUsage,
)

PREFIX = "/tavily"

_RANGES = {"d": "day", "w": "week", "m": "month", "y": "year"}
_OFF: tuple[Any, ...] = (None, False, "")

_UNSUPPORTED_IN_SEARCH: Mapping[str, tuple[Any, ...]] = {
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
"""Unsupported options of a search, each with the values that do not request it."""
_UNSUPPORTED_IN_EXTRACT: Mapping[str, tuple[Any, ...]] = {
    "query": _OFF,
    "include_images": _OFF,
    "include_favicon": _OFF,
}
_OTHER_ENDPOINTS: Mapping[str, str] = {
    "crawl": "pages are read one by one: send their URLs to /tavily/extract",
    "map": "the pages of a site are not listed: find them with /tavily/search and include_domains",
    "research": "use POST /api/researches, or `harness research`",
    "feedback": "feedback is not collected",
    "usage": "each response has its live calls in usage.credits",
}
"""Tavily's other endpoints, each with an alternative."""
_SUPPORTED = "only POST /tavily/search and POST /tavily/extract are supported"

router = APIRouter(
    prefix=PREFIX,
    tags=["search for other tools"],
    responses={status: {**error, "model": TavilyFailure} for status, error in ERROR_RESPONSES.items()},
)


@router.post("/search")
def tavily_search(request: TavilySearch, app: RequestApp) -> TavilyResponse:
    """Search as in Tavily, through the cache: a search that the tenant made before costs nothing."""
    began = time.monotonic()
    _refuse(request, _UNSUPPORTED_IN_SEARCH)
    wanted = DEFAULT_RESULTS if request.max_results is None else request.max_results
    size = max(wanted, app.settings.max_results)  # at least the default, so that one cache entry serves all clients
    outcome = search(app, request.query, _options(request), size) if wanted else NOTHING
    found = [each for each in outcome.found if _wanted(each, request)][:wanted]
    pages = _read([each.url for each in found], app) if request.include_raw_content else [None] * len(found)
    return TavilyResponse(
        query=clean(request.query, MAX_QUERY_CHARS),
        results=[_result(each, rank, page) for rank, (each, page) in enumerate(zip(found, pages, strict=True))],
        response_time=_since(began),
        request_id=str(uuid.uuid4()),
        usage=TavilyUsage(credits=outcome.live_calls + sum(page.live for page in pages if page)),
        ranked_by_words=list(outcome.by_words),
        reuse=outcome.reuse,
    )


@router.post("/extract")
def tavily_extract(request: TavilyExtract, app: RequestApp) -> TavilyPages:
    """Read pages as in Tavily, through the cache; unreadable pages are listed with the reason."""
    began = time.monotonic()
    _refuse(request, _UNSUPPORTED_IN_EXTRACT)
    urls = [request.urls] if isinstance(request.urls, str) else request.urls
    pages = _read(urls, app)
    return TavilyPages(
        results=[
            TavilyPage(url=clean(each.url, MAX_URL), title=each.title, raw_content=each.text)
            for each in pages
            if not each.error
        ],
        failed_results=[TavilyUnread(url=clean(each.url, MAX_URL), error=each.error) for each in pages if each.error],
        response_time=_since(began),
        request_id=str(uuid.uuid4()),
        usage=TavilyUsage(credits=sum(each.live for each in pages)),
    )


def not_found(request: Request) -> HarnessError:
    """Return the error for an unsupported path below `/tavily/`.

    For an endpoint of Tavily this is an invalid request, not a missing page: Tavily's clients show only the message of
    the former.
    """
    name = request.url.path.removeprefix(f"{PREFIX}/").partition("/")[0]
    if name in _OTHER_ENDPOINTS:
        return InvalidInput(f"Tavily's {name} is not supported; {_OTHER_ENDPOINTS[name]}")
    return NotFound(f"page not found; {_SUPPORTED}")


def serves(request: Request) -> bool:
    """Return whether a request comes from a Tavily client."""
    return request.url.path.startswith(f"{PREFIX}/")


def failure(error: ErrorResponse) -> TavilyFailure:
    """Return an error with the message also in `detail.error`, where Tavily's clients look for it."""
    return TavilyFailure(**error.model_dump(), detail=Detail(error=error.message))


class _Read(Struct, frozen=True):
    """One read page; `error` is empty on success."""

    url: str
    title: str
    text: str
    live: bool
    error: str = ""


def _refuse(request: BaseModel, unsupported: Mapping[str, tuple[Any, ...]]) -> None:
    for name, harmless in unsupported.items():
        if (value := getattr(request, name)) not in harmless:
            raise InvalidInput(f"{name}={str(value)[:50]!r} is not supported; leave it out")


def _options(request: TavilySearch) -> SearchOptions:
    given = request.time_range or ""
    return SearchOptions(
        language=request.language or "",
        time_range=_RANGES.get(given, given),
        safety=STRICT if request.safe_search else None,
        reuse=request.reuse or "",
        more=bool(request.include_domains or request.exclude_domains),
    )


def _wanted(found: RankedResult, request: TavilySearch) -> bool:
    host = host_in(found.url)
    included = not request.include_domains or _below(host, request.include_domains)
    return included and not _below(host, request.exclude_domains or ())


def _below(host: str, domains: Collection[str]) -> bool:
    """Return whether a host is one of the domains, or below one; domains may be written as URLs."""
    known = {host_in(domain if "//" in domain else f"//{domain}").removeprefix("*.") for domain in domains} - {""}
    return any(host == domain or host.endswith(f".{domain}") for domain in known)


def _read(urls: Sequence[str], app: App) -> list[_Read]:
    """Read pages in parallel, through the cache; an unreadable page does not stop the others.

    Raises:
        StoreError: the cache cannot be read.
    """

    def read(url: str) -> _Read:
        try:
            answer = app.cache.pages.answer(url, app.sources.reader, ttl=app.settings.page_ttl)
        except (PageError, OfflineMiss, AccessDenied, InvalidInput) as error:
            return _Read(url, "", "", live=False, error=shorten(clean(error, 2 * MAX_REASON), MAX_REASON))
        title = one_line(clean(answer.value.title, MAX_TITLE))
        return _Read(url, title, clean(answer.value.text, MAX_PAGE), answer.how == "live")

    with ThreadPoolExecutor(app.settings.concurrency, thread_name_prefix="read") as pool:
        return list(pool.map(read, urls))


def _result(found: RankedResult, before: int, page: _Read | None) -> TavilyResult:
    return TavilyResult(
        title=found.title,
        url=found.url,
        content=found.text,
        score=round(1 - before / MAX_RESULTS, 4),
        raw_content=page.text if page and not page.error else None,
    )


def _since(began: float) -> float:
    return round(time.monotonic() - began, 3)
