"""`/search` compatible with SearXNG, for tools that can use a SearXNG instance.

https://docs.searxng.org/dev/search_api.html
"""

import operator
from typing import Annotated, Any, Literal
from urllib.parse import urlencode, urlparse

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from harness.cache import MAX_RESULTS
from harness.core.keys import MAX_QUERY_CHARS
from harness.core.text import clean
from harness.errors import AccessDenied, InvalidInput
from harness.server.pages.templates import linked, page
from harness.server.responses.response_schema import example
from harness.server.responses.search_responses import ReuseResponse
from harness.server.route_dependencies import ERROR_RESPONSES, RequestApp
from harness.server.search_api.one_search import NOTHING, RankedResult, SearchOutcome, search
from harness.server.search_api.search_options import SearchOptions

MAX_NAMES = 500
"""Characters of a list of engines or categories."""

_RESULT: dict[str, Any] = {
    "url": "https://example.org/rag",
    "title": "Retrieval-augmented generation",
    "content": "Chunk by structure, keep titles with their text.",
    "engine": "ddgs",
    "engines": ["ddgs"],
    "positions": [1],
    "score": 1.0,
    "category": "general",
    "template": "default.html",
    "parsed_url": ["https", "example.org", "/rag", "", "", ""],
    "publishedDate": None,
}


class SearxngQuery(BaseModel):
    """A search request of a SearXNG client. Other parameters, which many clients send, are ignored."""

    model_config = example(q="best practices for rag pipelines", format="json", language="en", pageno=1)

    q: str = Field("", max_length=MAX_QUERY_CHARS, description="The query, in words.")
    format: str = Field("", max_length=50, description="`json`, or `html` (the default), a page as SearXNG's.")
    pageno: int = Field(1, ge=1, description="Page number; a page has `max_results` results (a setting).")
    language: str = Field(
        "", max_length=50, description="A code such as `de` or `pt-BR`; `all` or `auto`: the default."
    )
    time_range: Literal["", "None", "day", "week", "month", "year"] = Field("", description="Only results of this age.")
    categories: str = Field("", max_length=MAX_NAMES, description="Must be `general`.")
    engines: str = Field("", max_length=MAX_NAMES, description="Names of engines set up here, separated by commas.")
    safesearch: Literal["", "0", "1", "2"] = Field("", description="0 off, 1 moderate, 2 strict.")
    reuse: Literal["", "passages", "off"] = Field(
        "", description="Not in SearXNG: off: never answer from passages read before; empty: as the server is set."
    )


class SearxngResult(BaseModel):
    """One result; its texts are data from the web."""

    model_config = example(**_RESULT)

    url: str
    title: str
    content: str = Field(description="A short excerpt.")
    engine: str = Field(description="The first engine that found it.")
    engines: list[str] = Field(description="The engines that found it.")
    positions: list[int] = Field(description="Its rank in each engine, from 1.")
    score: float = Field(description="1 divided by its rank in this list.", gt=0, le=1)
    category: Literal["general"] = "general"
    template: Literal["default.html"] = "default.html"
    parsed_url: list[str] = Field(
        description="Scheme, host, path, parameters, query, fragment.", min_length=6, max_length=6
    )
    publishedDate: None = None  # noqa: N815 - SearXNG's own name


class SearxngResponse(BaseModel):
    """A page of results. Unsupported parts (answers, suggestions, …) are empty."""

    model_config = example(
        query="best practices for rag pipelines",
        number_of_results=1,
        results=[_RESULT],
        answers=[],
        corrections=[],
        infoboxes=[],
        suggestions=[],
        unresponsive_engines=[["pubmed", "PubMed answered HTTP 503; try again later"]],
    )

    query: str
    number_of_results: int = Field(description="Results on this page and the pages before it.", ge=0)
    results: list[SearxngResult]
    answers: list[str] = Field(default=[], max_length=0)
    corrections: list[str] = Field(default=[], max_length=0)
    infoboxes: list[str] = Field(default=[], max_length=0)
    suggestions: list[str] = Field(default=[], max_length=0)
    unresponsive_engines: list[tuple[str, str]] = Field(
        description="Engines that failed while others answered, and why; if all fail, the search fails."
    )
    ranked_by_words: list[str] = Field(
        default=[],
        exclude_if=operator.not_,
        description="Not in SearXNG: corpora ranked by words only, because some passages have no vector yet.",
    )
    reuse: ReuseResponse | None = Field(
        None,
        exclude_if=operator.not_,
        description="Not in SearXNG: passages read before that answered, so that no engine was asked.",
    )


def no_json(request: Request) -> None:
    """Refuse a search in JSON, whose fields would be ignored.

    Raises:
        InvalidInput: the body is JSON.
    """
    if "json" in request.headers.get("content-type", ""):
        raise InvalidInput("send the search as form fields, not as JSON; /tavily/search accepts JSON")


router = APIRouter(
    tags=["search for other tools"],
    responses={
        **ERROR_RESPONSES,
        200: {
            "description": "A page of results, in the format that was asked for.",
            "content": {"text/html": {"schema": {"type": "string", "examples": ["<!doctype html>"]}}},
        },
    },
)


@router.get("/search", response_model=SearxngResponse)
def searxng_search(
    request: Request, query: Annotated[SearxngQuery, Query()], app: RequestApp
) -> SearxngResponse | HTMLResponse:
    """Search as in SearXNG, through the cache: a search that the tenant made before costs nothing."""
    return _response(request, query, app)


@router.post("/search", response_model=SearxngResponse, dependencies=[Depends(no_json)])
def searxng_search_by_form(
    request: Request,
    query: Annotated[SearxngQuery, Query()],
    sent: Annotated[SearxngQuery, Form()],
    app: RequestApp,
) -> SearxngResponse | HTMLResponse:
    """Search as in SearXNG, with form fields; missing fields are taken from the query string."""
    fields = {name: getattr(sent, name) for name in sent.model_fields_set}
    return _response(request, query.model_copy(update=fields), app)


def _response(request: Request, query: SearxngQuery, app: RequestApp) -> SearxngResponse | HTMLResponse:
    if query.format == "json":
        return _search(query, app)
    if query.format not in {"", "html"}:
        raise AccessDenied(f"the format {query.format} is not supported; use format=json or format=html")
    found = _search(query, app) if query.q.strip() else None
    local = [each.url for each in found.results if not linked(each.url)] if found else []
    held = {url for url in local if app.library.passages_of(url)}  # files of a corpus: their text is a page here
    earlier, more = _around(query, found, app.settings.max_results)
    q = clean(query.q, MAX_QUERY_CHARS)
    return page(request, "search.html", q=q, found=found, held=held, earlier=earlier, more=more)


def _around(query: SearxngQuery, found: SearxngResponse | None, size: int) -> tuple[str, str]:
    """Return the links to the pages before and after one with up to `size` results, "" if there is none: no page
    follows one that is not full, and before one far beyond the last is the last one. The results of the engines follow
    passages that were read before.
    """
    last, asked = -(-MAX_RESULTS // size), query.model_dump(exclude_defaults=True)

    def link(number: int, **more: str) -> str:
        return f"/search?{urlencode({**asked, **more, 'pageno': number})}"

    earlier = link(min(query.pageno - 1, last)) if query.pageno > 1 else ""
    if found is not None and found.reuse is not None:
        return earlier, link(1, reuse="off")
    shown = len(found.results) if found else 0
    return earlier, link(query.pageno + 1) if shown == size and query.pageno * size < MAX_RESULTS else ""


def _search(query: SearxngQuery, app: RequestApp) -> SearxngResponse:
    if other := next((name for name in _names(query.categories) if name != "general"), None):
        raise InvalidInput(f"no such category: {other[:50]!r}; leave categories out, or use general")
    size = app.settings.max_results
    begin = (query.pageno - 1) * size
    wanted = min(begin + size, MAX_RESULTS)
    if begin >= wanted:
        return _page(query.q, NOTHING, 0)
    return _page(query.q, search(app, query.q, _options(query), wanted), begin)


def _options(query: SearxngQuery) -> SearchOptions:
    return SearchOptions(
        language=query.language,
        time_range="" if query.time_range == "None" else query.time_range,
        safety=int(query.safesearch) if query.safesearch else None,
        engines=_names(query.engines),
        reuse=query.reuse,
        more=query.pageno > 1,
    )


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in listed.split(",") if name.strip())


def _page(query: str, outcome: SearchOutcome, begin: int) -> SearxngResponse:
    page = enumerate(outcome.found[begin:], start=begin + 1)
    return SearxngResponse(
        query=clean(query, MAX_QUERY_CHARS),
        number_of_results=len(outcome.found),
        results=[_result(found, rank) for rank, found in page],
        unresponsive_engines=list(outcome.failed),
        ranked_by_words=list(outcome.by_words),
        reuse=outcome.reuse,
    )


def _result(found: RankedResult, rank: int) -> SearxngResult:
    return SearxngResult(
        url=found.url,
        title=found.title,
        content=found.text,
        engine=found.engines[0],
        engines=list(found.engines),
        positions=list(found.ranks),
        score=round(1 / rank, 4),
        parsed_url=_six_parts(found.url),
    )


def _six_parts(url: str) -> list[str]:
    """Return the six parts of a URL; empty ones if it is not valid."""
    try:
        return list(urlparse(url))
    except ValueError:
        return [""] * 6
