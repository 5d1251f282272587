"""The shapes of what Tavily's clients send, and of what they are answered."""

import operator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from harness.core.keys import MAX_QUERY_CHARS
from harness.server.api.responses import example
from harness.server.dependencies import Failure

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
    """A search, as clients of Tavily ask for it. Fields that are not described are passed over."""

    model_config = example(query="best practices for rag pipelines", max_results=5, include_raw_content="markdown")

    query: str = Field(max_length=MAX_QUERY_CHARS, description="What to search for, in words.")
    max_results: int | None = Field(DEFAULT_RESULTS, ge=0, le=MAX_RESULTS)
    time_range: Literal["day", "week", "month", "year", "d", "w", "m", "y"] | None = Field(
        None, description="Only of the last …."
    )
    include_domains: list[Domain] | None = Field(
        None, max_length=MAX_DOMAINS, description="Only results of these hosts and those below them, of what was found."
    )
    exclude_domains: list[Domain] | None = Field(
        None, max_length=MAX_DOMAINS, description="No results of these hosts and those below them."
    )
    include_raw_content: bool | Literal["markdown", "text"] | None = Field(
        None, description="Whether every page is read as well, through the cache; its headings are as in Markdown."
    )
    language: str | None = Field(None, max_length=50, description="A code as `de` or `pt-BR`.")
    safe_search: bool | None = Field(None, description="Whether the engine's strict safe search is wished.")
    search_depth: Literal["basic", "advanced", "fast", "ultra-fast"] | None = Field(
        None, description="Any; there is one depth here."
    )
    days: int | None = Field(None, description="Passed over, as Tavily does for the topic `general`.")
    topic: str | None = Field(None, max_length=50, description="`general`, and nothing else.")
    start_date: str | None = Field(None, max_length=50, description="Refused; see `time_range`.")
    end_date: str | None = Field(None, max_length=50, description="Refused; see `time_range`.")
    max_age_hours: float | None = Field(None, description="Refused: how long results are kept is set here.")
    country: str | None = Field(None, max_length=100, description="Refused; see `language`.")
    exact_match: bool | None = Field(None, description="Refused if true.")
    auto_parameters: bool | None = Field(None, description="Refused if true.")
    include_answer: bool | Literal["basic", "advanced"] | None = Field(None, description="Refused if asked for.")
    include_images: bool | None = Field(None, description="Refused if true.")
    include_favicon: bool | None = Field(None, description="Refused if true.")


class TavilyResult(BaseModel):
    """One result; its texts are data from elsewhere."""

    model_config = example(**_RESULT)

    title: str
    url: str
    content: str = Field(description="A short text of it.")
    score: float = Field(description="By its rank: 1.0 for the first, 0.05 less for each after it.", gt=0, le=1)
    raw_content: str | None = Field(description="The text of the page; none if not asked for, or it cannot be read.")


class Usage(BaseModel):
    """What a request has cost."""

    credits: int = Field(description="Live calls; 0 where the cache has answered.", ge=0)


class TavilyReply(BaseModel):
    """Results. What a search here does not bring is null or empty."""

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
    usage: Usage
    ranked_by_words: list[str] = Field(
        default=[],
        exclude_if=operator.not_,
        description="Not Tavily's: corpora ranked by words alone: not every passage has a vector (yet).",
    )


class TavilyExtract(BaseModel):
    """Pages to read, as clients of Tavily ask for them. Fields that are not described are passed over."""

    model_config = example(urls=["https://example.org/rag"], format="markdown")

    urls: Address | Annotated[list[Address], Field(min_length=1, max_length=MAX_URLS)]
    format: Literal["markdown", "text"] | None = Field(None, description="Either: headings are as in Markdown.")
    extract_depth: Literal["basic", "advanced"] | None = Field(None, description="Either; there is one depth here.")
    query: str | None = Field(None, max_length=MAX_QUERY_CHARS, description="Refused: pages are returned whole.")
    include_images: bool | None = Field(None, description="Refused if true.")
    include_favicon: bool | None = Field(None, description="Refused if true.")


class TavilyPage(BaseModel):
    """One page that was read; its text is data from elsewhere."""

    url: str = Field(description="As it was asked for.")
    title: str
    raw_content: str = Field(description=f"Its text, of at most {MAX_PAGE:,} characters.")
    images: list[str] = Field(default=[], max_length=0)


class TavilyUnread(BaseModel):
    """One page that could not be read."""

    url: str
    error: str


class TavilyPages(BaseModel):
    """Pages, in the order in which they were asked for; and those that could not be read."""

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
    usage: Usage


class Detail(BaseModel):
    """Where Tavily's clients look for the message."""

    error: str


class TavilyFailure(Failure):
    """Why a request was not served, also in the place where Tavily's clients look for it."""

    model_config = example(
        status="error",
        code="invalid_input",
        message="topic cannot be 'news' here: that is not done; leave it out",
        detail={"error": "topic cannot be 'news' here: that is not done; leave it out"},
    )

    detail: Detail
