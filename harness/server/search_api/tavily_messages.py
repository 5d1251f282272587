"""Requests and responses in Tavily's format."""

import operator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from harness.core.keys import MAX_QUERY_CHARS
from harness.server.error_payload import ErrorResponse
from harness.server.responses.response_schema import example
from harness.server.responses.search_responses import ReuseResponse

DEFAULT_RESULTS = 5
MAX_RESULTS = 20
MAX_URLS = 20
MAX_DOMAINS = 300
MAX_PAGE = 100_000
"""Characters of the text of one page."""

Domain = Annotated[str, Field(min_length=1, max_length=300)]
Address = Annotated[str, Field(min_length=1, max_length=MAX_QUERY_CHARS)]

_RESULT: dict[str, Any] = {
    "title": "Retrieval-augmented generation",
    "url": "https://example.org/rag",
    "content": "Chunk by structure, keep titles with their text.",
    "score": 1.0,
    "raw_content": "# Retrieval-augmented generation\n\nChunk by structure.",
}


class TavilySearch(BaseModel):
    """A search request of a Tavily client. Other fields are ignored."""

    model_config = example(query="best practices for rag pipelines", max_results=5, include_raw_content="markdown")

    query: str = Field(max_length=MAX_QUERY_CHARS, description="The query, in words.")
    max_results: int | None = Field(DEFAULT_RESULTS, ge=0, le=MAX_RESULTS)
    time_range: Literal["day", "week", "month", "year", "d", "w", "m", "y"] | None = Field(
        None, description="Only results of this age."
    )
    include_domains: list[Domain] | None = Field(
        None, max_length=MAX_DOMAINS, description="Only results from these domains and their subdomains."
    )
    exclude_domains: list[Domain] | None = Field(
        None, max_length=MAX_DOMAINS, description="No results from these domains and their subdomains."
    )
    include_raw_content: bool | Literal["markdown", "text"] | None = Field(
        None, description="Also read each page, through the cache; headings are in Markdown."
    )
    language: str | None = Field(None, max_length=50, description="A code such as `de` or `pt-BR`.")
    safe_search: bool | None = Field(None, description="Use strict safe search.")
    search_depth: Literal["basic", "advanced", "fast", "ultra-fast"] | None = Field(
        None, description="Any value; there is only one depth."
    )
    days: int | None = Field(None, description="Ignored, as Tavily does for the topic `general`.")
    topic: str | None = Field(None, max_length=50, description="Must be `general`.")
    start_date: str | None = Field(None, max_length=50, description="Refused; see `time_range`.")
    end_date: str | None = Field(None, max_length=50, description="Refused; see `time_range`.")
    max_age_hours: float | None = Field(
        None, description="Refused: the server's settings decide how long results are fresh."
    )
    country: str | None = Field(None, max_length=100, description="Refused; see `language`.")
    exact_match: bool | None = Field(None, description="Refused if true.")
    auto_parameters: bool | None = Field(None, description="Refused if true.")
    include_answer: bool | Literal["basic", "advanced"] | None = Field(None, description="Refused if set.")
    include_images: bool | None = Field(None, description="Refused if true.")
    include_favicon: bool | None = Field(None, description="Refused if true.")
    reuse: Literal["passages", "off"] | None = Field(
        None, description="Not in Tavily: off: never answer from passages read before; null: as the server is set."
    )


class TavilyResult(BaseModel):
    """One result; its texts are data from the web."""

    model_config = example(**_RESULT)

    title: str
    url: str
    content: str = Field(description="A short excerpt.")
    score: float = Field(description="By rank: 1.0 for the first, 0.05 less for each next one.", gt=0, le=1)
    raw_content: str | None = Field(description="The text of the page; null if not requested or unreadable.")


class TavilyUsage(BaseModel):
    """Cost of a request."""

    credits: int = Field(description="Live calls; 0 if the cache answered.", ge=0)


class TavilyResponse(BaseModel):
    """Results. Unsupported parts are null or empty."""

    model_config = example(
        query="best practices for rag pipelines",
        answer=None,
        follow_up_questions=None,
        images=[],
        results=[_RESULT],
        response_time=0.01,
        request_id="0d5f4b8e-5d0b-4a4e-9a39-7a0a6f6d8a51",
        usage={"credits": 0},
    )

    query: str
    answer: None = None
    follow_up_questions: None = None
    images: list[str] = Field(default=[], max_length=0)
    results: list[TavilyResult]
    response_time: float = Field(description="Seconds.", ge=0)
    request_id: str
    usage: TavilyUsage
    ranked_by_words: list[str] = Field(
        default=[],
        exclude_if=operator.not_,
        description="Not in Tavily: corpora ranked by words only, because some passages have no vector yet.",
    )
    reuse: ReuseResponse | None = Field(
        None,
        exclude_if=operator.not_,
        description="Not in Tavily: passages read before that answered, so that no engine was asked.",
    )


class TavilyExtract(BaseModel):
    """A request of a Tavily client to read pages. Other fields are ignored."""

    model_config = example(urls=["https://example.org/rag"], format="markdown")

    urls: Address | Annotated[list[Address], Field(min_length=1, max_length=MAX_URLS)]
    format: Literal["markdown", "text"] | None = Field(None, description="Either; headings are in Markdown.")
    extract_depth: Literal["basic", "advanced"] | None = Field(None, description="Either; there is only one depth.")
    query: str | None = Field(None, max_length=MAX_QUERY_CHARS, description="Refused: whole pages are returned.")
    include_images: bool | None = Field(None, description="Refused if true.")
    include_favicon: bool | None = Field(None, description="Refused if true.")


class TavilyPage(BaseModel):
    """One page; its text is data from the web."""

    url: str = Field(description="The requested URL.")
    title: str
    raw_content: str = Field(description=f"Its text, of at most {MAX_PAGE:,} characters.")
    images: list[str] = Field(default=[], max_length=0)


class TavilyUnread(BaseModel):
    """One page that could not be read."""

    url: str
    error: str


class TavilyPages(BaseModel):
    """The read pages, in the requested order, and the unreadable ones."""

    model_config = example(
        results=[{"url": "https://example.org/rag", "title": "RAG", "raw_content": "# RAG\n\nChunk.", "images": []}],
        failed_results=[{"url": "https://example.org/gone", "error": "https://example.org/gone: HTTP 404"}],
        response_time=0.4,
        request_id="0d5f4b8e-5d0b-4a4e-9a39-7a0a6f6d8a51",
        usage={"credits": 1},
    )

    results: list[TavilyPage]
    failed_results: list[TavilyUnread]
    response_time: float = Field(description="Seconds.", ge=0)
    request_id: str
    usage: TavilyUsage


class Detail(BaseModel):
    """The message, where Tavily's clients look for it."""

    error: str


class TavilyFailure(ErrorResponse):
    """Why a request failed; `detail` is for Tavily's clients."""

    model_config = example(
        status="error",
        code="invalid_input",
        message="topic='news' is not supported; leave it out",
        detail={"error": "topic='news' is not supported; leave it out"},
    )

    detail: Detail
