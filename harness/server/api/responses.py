"""The shapes of what the API answers, as its description tells them. Times are ISO 8601, UTC; texts are data."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from harness.errors import NotFound


def example(**values: Any) -> ConfigDict:
    """Make the configuration of a model that shows one example. What is `None` in it is left out of the description,
    so a field that must be there is given a value.
    """
    return ConfigDict(json_schema_extra={"examples": [values]})


_PAST = {
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
}


class PastReply(BaseModel):
    """One thing of the past."""

    model_config = example(**_PAST)

    source: Literal["search", "research", "knowledge"]
    id: str = Field(description="Names it among those of its source.")
    title: str
    snippet: str
    timestamp: str = Field(description="When it was stored.")
    similarity: float = Field(description="To the query, 0 to 1, three decimals; 1.0 where none was given.")
    url: str | None = Field(description="The address of its first result, or of its source.")
    expired: bool = Field(description="Whether it is too old to answer from the cache.")
    count: int = Field(description="How many runs of this research there are: the same question and engines; else 1.")
    ids: list[str] = Field(description="The ids of up to 100 of these runs, the newest first; else the id alone.")


class HistoryReply(BaseModel):
    """A page of the history."""

    model_config = example(items=[_PAST], next_offset=20)

    items: list[PastReply]
    next_offset: int | None = Field(description="Where the next page begins; none on the last one.")


class EntryReply(BaseModel):
    """One thing of the past, whole."""

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
    about: dict[str, Any] = Field(description="Where it came from: engine, options, results asked for, …")
    data: Any = Field(description="What is kept, as it was stored.")


class Done(BaseModel):
    """How many entries were deleted."""

    model_config = example(deleted=1)

    deleted: int


def done(deleted: int, what: str) -> Done:
    """Report a deletion.

    Raises:
        NotFound: nothing was deleted, because there is no such `what`.
    """
    if not deleted:
        raise NotFound(f"there is no such {what}, or not any more")
    return Done(deleted=deleted)


class Refreshed(BaseModel):
    """A search that was asked anew."""

    model_config = example(id="9f86d081884c7d65", results=10, live_calls=1)

    id: str
    results: int
    live_calls: int


class TableReply(BaseModel):
    """What one table of the cache holds."""

    table: str
    live: int
    expired: int
    total: int
    oldest: str | None
    newest: str | None
    indexed: int = Field(description="Vectors in the index.")
    tail: int = Field(description="Vectors that only the rows hold so far.")
    unembedded: int = Field(description="Live rows that answer to their very words only.")


class Expiring(BaseModel):
    """How many entries expire within a time from now, and not before the line above."""

    within: str
    entries: int


class StatsReply(BaseModel):
    """What the cache holds, and how often it has answered."""

    model_config = example(
        database="/home/ada/.local/share/harness/harness.db",
        size_bytes=1_204_224,
        tables=[],
        hits={"exact": 41, "semantic": 3, "stale": 0, "no results": 1},
        misses=12,
        live_calls_saved=45,
        days={"2026-11-22": {"exact": 41, "live": 12}},
        expiring=[{"within": "1 hour", "entries": 3}],
    )

    database: str | None = Field(description="None for who has a token: it is all tenants'.")
    size_bytes: int | None
    tables: list[TableReply]
    hits: dict[str, int]
    misses: int
    live_calls_saved: int
    days: dict[str, dict[str, int]] = Field(description="By day, how often searches were answered, by how.")
    expiring: list[Expiring] = Field(description="When live entries expire.")


class CandidateReply(BaseModel):
    """A cached search that may answer, and what each guard says of it."""

    query: str
    similarity: float
    required: float = Field(description="The similarity that is required where no verifier has read the pair.")
    probability: float | None = Field(description="How sure the verifier is that both have the same answer, 0 to 1.")
    age_seconds: float
    guards: dict[str, str] = Field(description="`passed`, or why it objects.")
    objections: list[str] = Field(description="The guards whose objection decided.")
    refused: str | None


class ExplainReply(BaseModel):
    """Why a search is answered as it is."""

    model_config = example(
        query="rag best practices",
        key="9f86d081884c7d65",
        exact="miss",
        read_as="retrieval augmented generation best practices",
        volatile=False,
        threshold=0.02,
        candidates=[],
        decision="semantic",
        answered_by="best practices for retrieval augmented generation",
    )

    query: str
    key: str
    exact: Literal["hit", "stale", "miss"]
    read_as: str
    volatile: bool
    threshold: float
    candidates: list[CandidateReply]
    decision: Literal["exact", "no results", "semantic", "miss"]
    answered_by: str | None


class ToClear(BaseModel):
    """Which entries are to be deleted."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"kind": "search", "older_than_hours": 48, "dry_run": True}]}
    )

    kind: Literal["search", "research", "pages", "completions", "tools", "runs", "all"]
    older_than_hours: float | None = Field(
        None, ge=0, le=876_000, description="Only those stored longer ago than this."
    )
    dry_run: bool = Field(False, description="Only tell how many would go.")


class Cleared(BaseModel):
    """What was deleted, by table."""

    model_config = example(selected=3, deleted={"search_cache": 3})

    selected: int
    deleted: dict[str, int]


_DOCUMENT = {
    "id": "2b7e151628aed2a6",
    "title": "Retries in our gateway",
    "content": "Three, with jitter.",
    "agent": "ada",
    "tags": ["gateway"],
    "confidence": 0.9,
    "source_url": "https://example.org/gateway",
    "created_at": "2026-11-22T10:15:00Z",
    "updated_at": "2026-11-22T10:15:00Z",
    "expires_at": "2026-12-22T10:15:00Z",
    "version": 1,
}


class DocumentReply(BaseModel):
    """One thing that is known."""

    model_config = example(**_DOCUMENT)

    id: str
    title: str
    content: str
    agent: str | None
    tags: list[str]
    confidence: float
    source_url: str | None
    created_at: str
    updated_at: str
    expires_at: str
    version: int


class KnowledgeReply(BaseModel):
    """Documents, the one that was updated last first."""

    model_config = example(items=[])

    items: list[DocumentReply]


class VersionsReply(BaseModel):
    """A document as it is, and as it was before, the newest first."""

    model_config = example(document=_DOCUMENT, earlier=[])

    document: DocumentReply
    earlier: list[DocumentReply]
