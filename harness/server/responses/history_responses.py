"""History entries. Times are ISO 8601, UTC; texts are data from the web and from agents."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from harness.errors import NotFound
from harness.research.history import MAX_OFFSET, HistoryPage, as_json
from harness.server.responses.response_schema import example

_ITEM = {
    "source": "search",
    "id": "9f86d081884c7d65",
    "title": "best practices for rag pipelines",
    "snippet": "Chunk by structure, keep titles, …",
    "timestamp": "2026-11-22T10:15:00Z",
    "similarity": 0.914,
    "url": "https://example.org/rag",
    "expired": False,
    "count": 1,
    "ids": ["9f86d081884c7d65"],
    "found": True,
}


class HistoryItem(BaseModel):
    """One search, research or document."""

    model_config = example(**_ITEM)

    source: Literal["search", "research", "knowledge"]
    id: str = Field(description="Unique within its source.")
    title: str
    snippet: str
    timestamp: str = Field(description="When it was stored.")
    similarity: float = Field(description="To the query, 0 to 1, three decimals; 1.0 without a query.")
    url: str | None = Field(description="URL of its first result, or of its source.")
    expired: bool = Field(description="Whether it is too old to answer from the cache.")
    count: int = Field(description="Number of runs of this research: same question, same engines; otherwise 1.")
    ids: list[str] = Field(description="Ids of these runs, newest first, at most 100; otherwise its own id.")
    found: bool = Field(description="Whether the search has results, the research a report.")


class HistoryResponse(BaseModel):
    """A page of the history."""

    model_config = example(items=[_ITEM], next_offset=20)

    items: list[HistoryItem]
    next_offset: int | None = Field(description="Offset of the next page; null on the last page.")


def history_response(page: HistoryPage, limit: int, offset: int) -> HistoryResponse:
    """Return a page of the history that was requested with this limit and offset."""
    following = offset + limit
    return HistoryResponse(
        items=[HistoryItem.model_validate(as_json(each)) for each in page.items],
        next_offset=following if page.more and following <= MAX_OFFSET else None,
    )


class EntryResponse(BaseModel):
    """One complete entry of the history."""

    model_config = example(
        source="search",
        id="9f86d081884c7d65",
        title="best practices for rag pipelines",
        created_at="2026-11-22T10:15:00Z",
        expires_at="2026-11-23T10:15:00Z",
        expired=False,
        about={"engine": "ddgs", "options": "{}", "max_results": 10},
        data=[{"title": "RAG", "href": "https://example.org/rag", "body": "Chunk by structure."}],
    )

    source: Literal["search", "research", "knowledge"]
    id: str
    title: str
    created_at: str
    expires_at: str
    expired: bool
    about: dict[str, Any] = Field(description="Its origin: engine, options, requested results, …")
    data: Any = Field(description="The stored data.")


class DeleteResponse(BaseModel):
    """Number of deleted entries."""

    model_config = example(deleted=1)

    deleted: int


def deleted_response(deleted: int, kind: str) -> DeleteResponse:
    """Return the response to a deletion.

    Raises:
        NotFound: nothing was deleted, because there is no such entry of this `kind`.
    """
    if not deleted:
        raise NotFound(f"there is no such {kind}; it may have been deleted")
    return DeleteResponse(deleted=deleted)


class RefreshResponse(BaseModel):
    """Result of searching again."""

    model_config = example(id="9f86d081884c7d65", results=10, live_calls=1)

    id: str
    results: int
    live_calls: int
