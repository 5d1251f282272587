"""`/search` as SearXNG answers it, for every tool that can be pointed at an instance of SearXNG.

https://docs.searxng.org/dev/search_api.html
"""

import operator
from typing import Annotated, Any, Literal
from urllib.parse import urlencode, urlparse

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, Field

from harness.cache import MAX_RESULTS
from harness.core.keys import MAX_QUERY_CHARS
from harness.core.text import clean
from harness.errors import AccessDenied, InvalidInput
from harness.server.api.responses import example
from harness.server.dependencies import FAILURES, Mine
from harness.server.search_api.one_search import NOTHING, Found, Searched, search
from harness.server.search_api.search_options import Wishes

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
    """A search, as clients of SearXNG ask for it. Further parameters, which many of them send, are passed over."""

    model_config = example(q="best practices for rag pipelines", format="json", language="en", pageno=1)

    q: str = Field("", max_length=MAX_QUERY_CHARS, description="What to search for, in words.")
    format: str = Field("", max_length=50, description="`json`, and nothing else; a browser without it sees a page.")
    pageno: int = Field(1, ge=1, description="The page, of as many results as the setting `max_results` says.")
    language: str = Field("", max_length=50, description="A code as `de` or `pt-BR`; `all` and `auto` are no choice.")
    time_range: Literal["", "None", "day", "week", "month", "year"] = Field("", description="Only of the last ….")
    categories: str = Field("", max_length=MAX_NAMES, description="`general`, and nothing else.")
    engines: str = Field("", max_length=MAX_NAMES, description="Names of engines that are set up here, by commas.")
    safesearch: Literal["", "0", "1", "2"] = Field("", description="0 off, 1 moderate, 2 strict.")


class SearxngResult(BaseModel):
    """One result; its texts are data from elsewhere."""

    model_config = example(**_RESULT)

    url: str
    title: str
    content: str = Field(description="A short text of it.")
    engine: str = Field(description="The first engine that found it.")
    engines: list[str] = Field(description="The engines that found it.")
    positions: list[int] = Field(description="Its rank in each of them, from 1.")
    score: float = Field(description="1 divided by its rank here.", gt=0, le=1)
    category: Literal["general"] = "general"
    template: Literal["default.html"] = "default.html"
    parsed_url: list[str] = Field(
        description="Scheme, host, path, parameters, query, fragment.", min_length=6, max_length=6
    )
    publishedDate: None = None  # noqa: N815 - SearXNG's own name


class SearxngReply(BaseModel):
    """A page of results. What a search here does not bring (answers, suggestions, …) is empty."""

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
    number_of_results: int = Field(description="Those of this page and of the pages before it.", ge=0)
    results: list[SearxngResult]
    answers: list[str] = Field(default=[], max_length=0)
    corrections: list[str] = Field(default=[], max_length=0)
    infoboxes: list[str] = Field(default=[], max_length=0)
    suggestions: list[str] = Field(default=[], max_length=0)
    unresponsive_engines: list[tuple[str, str]] = Field(
        description="Engines that failed where others answered, and why; if all fail, the search does."
    )
    ranked_by_words: list[str] = Field(
        default=[],
        exclude_if=operator.not_,
        description="Not SearXNG's: corpora ranked by words alone: not every passage has a vector (yet).",
    )


def no_json(request: Request) -> None:
    """Refuse a search in JSON, whose fields would be passed over.

    Raises:
        InvalidInput: the body is JSON.
    """
    if "json" in request.headers.get("content-type", ""):
        raise InvalidInput("a search is sent as form fields here, not as JSON; JSON is taken at /tavily/search")


router = APIRouter(
    tags=["search for other tools"],
    responses={**FAILURES, 303: {"description": "A browser, which does not ask for JSON, is led to a page."}},
)


@router.get("/search", response_model=SearxngReply)
def searxng_search(
    request: Request, asked: Annotated[SearxngQuery, Query()], app: Mine
) -> SearxngReply | RedirectResponse:
    """Search as in SearXNG, through the cache: a search that anybody of the tenant has made costs nothing."""
    return _answer(request, asked, app)


@router.post("/search", response_model=SearxngReply, dependencies=[Depends(no_json)])
def searxng_search_by_form(
    request: Request,
    asked: Annotated[SearxngQuery, Query()],
    sent: Annotated[SearxngQuery, Form()],
    app: Mine,
) -> SearxngReply | RedirectResponse:
    """Search as in SearXNG, with the fields of a form; a field that it lacks is taken from the query string."""
    fields = {name: getattr(sent, name) for name in sent.model_fields_set}
    return _answer(request, asked.model_copy(update=fields), app)


def _answer(request: Request, asked: SearxngQuery, app: Mine) -> SearxngReply | RedirectResponse:
    if not asked.format and "text/html" in request.headers.get("accept", ""):
        return RedirectResponse(f"/?{urlencode({'q': asked.q})}" if asked.q else "/", 303)
    if asked.format != "json":
        raise AccessDenied(f"the format {asked.format or 'html'} is not served here; ask with format=json")
    if other := next((name for name in _names(asked.categories) if name != "general"), None):
        raise InvalidInput(f"there is no category {other[:50]!r} here; leave categories out, or ask for general")
    size = app.settings.max_results
    begin = (asked.pageno - 1) * size
    wanted = min(begin + size, MAX_RESULTS)
    if begin >= wanted:
        return _reply(asked.q, NOTHING, 0)
    return _reply(asked.q, search(app, asked.q, _wishes(asked), wanted), begin)


def _wishes(asked: SearxngQuery) -> Wishes:
    return Wishes(
        language=asked.language,
        time_range="" if asked.time_range == "None" else asked.time_range,
        safety=int(asked.safesearch) if asked.safesearch else None,
        engines=_names(asked.engines),
    )


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in listed.split(",") if name.strip())


def _reply(query: str, searched: Searched, begin: int) -> SearxngReply:
    page = enumerate(searched.found[begin:], start=begin + 1)
    return SearxngReply(
        query=clean(query, MAX_QUERY_CHARS),
        number_of_results=len(searched.found),
        results=[_result(found, rank) for rank, found in page],
        unresponsive_engines=list(searched.failed),
        ranked_by_words=list(searched.by_words),
    )


def _result(found: Found, rank: int) -> SearxngResult:
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
    """Return the parts of an address; of what is none, empty ones."""
    try:
        return list(urlparse(url))
    except ValueError:
        return [""] * 6
