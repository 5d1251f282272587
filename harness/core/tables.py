"""Cache tables: their names and columns, declared once for services and both databases.

Every table has the columns tenant, key, created_at, expires_at, last_used_at, embedding and embedder. The others are
declared here: text, payload, and the own columns, which are the fields of a tuple.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from msgspec import Struct

SEARCHES = "search_cache"
RESEARCH = "research_cache"
UNANSWERED = "unanswered_searches"
"""Searches without results, and recent failures: never stored as results."""
RUNS = "research_runs"
QUERIES = "agent_queries"
CHUNKS = "agent_chunks"
"""Solved questions and document chunks of agents, in a `VectorCache`."""
PAGES = "web_pages"
COMPLETIONS = "completions"
EVIDENCE = "research_evidence"
"""Values computed here from answers. A missing one is computed again, so it is not an answer of a run."""
TOOLS = "tool_cache"
"""Results of agents' tools."""
KNOWLEDGE = "knowledge"
KNOWLEDGE_HISTORY = "knowledge_history"
"""Documents and their earlier versions. They are not cache entries: nothing clears or sweeps them."""
LIBRARY = "library_passages"
"""Passages of everything that was read. They may outlive the answers that brought them."""
TOKENS = "access_tokens"
MEMORY = "memory"

BY_MEANING = (SEARCHES, RESEARCH)
"""Tables whose rows all answer by meaning, too. (Of `TOOLS`, only queries in words do.)"""
ANSWERS = (*BY_MEANING, PAGES, COMPLETIONS, TOOLS)
"""Tables that answer instead of a live call."""
MADE = (EVIDENCE, QUERIES, CHUNKS, LIBRARY)
"""Tables computed from answers, and deleted with them."""
EVERY_TABLE = (*ANSWERS, *MADE, UNANSWERED, RUNS)
"""All tables of the cache."""
BY_ORIGIN = (SEARCHES, RESEARCH, RUNS)
"""Tables whose rows have an origin."""
MOVED = (*EVERY_TABLE, KNOWLEDGE, KNOWLEDGE_HISTORY)
"""Tables that an export contains: all except access tokens and memories."""


READ = (SEARCHES, PAGES, KNOWLEDGE)
"""Tables whose rows bring passages to the library."""


def library_mark(table: str) -> str:
    """Return the key, among `EVIDENCE`, of the row that says up to which time the library has read a table."""
    return f"{LIBRARY} {table}"


class SearchColumns(NamedTuple):
    """Own columns of a search; `options` is JSON."""

    max_results: int
    engine: str
    options: str


class ResearchColumns(NamedTuple):
    """Own columns of a research; rounds and scores are JSON."""

    search_rounds: str
    novelty_scores: str
    task_type: str
    fingerprint: str


class UnansweredColumns(NamedTuple):
    """Own columns of a search without an answer; `options` is JSON."""

    engine: str
    options: str


class RunColumns(NamedTuple):
    """Own columns of a recorded run."""

    engine: str


class QueryColumns(NamedTuple):
    """Own columns of an agent's query."""

    space: str


class ChunkColumns(NamedTuple):
    """Own columns of a chunk of an agent's document."""

    space: str
    document: str
    chunk_index: int
    section: str


class PageColumns(NamedTuple):
    """Own columns of a web page."""

    reader: str


class CompletionColumns(NamedTuple):
    """Own columns of a model's answer."""

    model: str


class EvidenceColumns(NamedTuple):
    """Own columns of computed evidence."""

    ranking: str


class ToolColumns(NamedTuple):
    """Own columns of a tool's result; `query_params` is JSON."""

    cache_type: str
    query_params: str
    result_count: int
    created_by: str | None


class KnowledgeColumns(NamedTuple):
    """Own columns of a document."""

    url_key: str
    version: int


class KnowledgeHistoryColumns(NamedTuple):
    """Own columns of an earlier version of a document."""

    document_id: str
    version: int


class LibraryColumns(NamedTuple):
    """Own columns of a passage: the digest of its document, the document's URL and title, what kind of source it is,
    the engine or reader that brought it, and its language ("" if that is not certain; `None` in older rows).
    """

    document: str
    url: str
    title: str
    source: str
    engine: str
    language: str | None = None


class TokenColumns(NamedTuple):
    """Own columns of an access token."""

    user_id: str
    role: str


class MemoryColumns(NamedTuple):
    """Own columns of something remembered from a conversation."""

    collection: str
    kind: str
    thread_id: str
    session_id: str
    continuation: int
    position: int


class TableColumns(Struct, frozen=True):
    """Columns of a cache table.

    `text` names the column of the query, `payload` that of the answer. `own` holds the columns that only this table
    has: first those that may not be NULL. Rows are compared by meaning only where the `scope` columns are equal.
    `indexes` are further ones: the columns of each, the tenant first. `words` are the columns that are found by their
    words, the weightiest first. `added` are own columns, the last ones, that older databases get: they may be NULL.
    """

    name: str
    text: str
    payload: str
    own: Any
    scope: tuple[str, ...] = ()
    indexes: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    words: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    @property
    def own_names(self) -> tuple[str, ...]:
        """Names of the own columns, in order."""
        names: tuple[str, ...] = self.own._fields
        return names


_BY_TIME = {"created_at": ("tenant", "created_at")}
# Eviction reads this index and not the rows, whose payloads may be large.
_BY_USE = {"last_used_at": ("tenant", "space", "last_used_at")}
_TABLES = (
    TableColumns(SEARCHES, "query", "results", SearchColumns, ("engine", "options"), _BY_TIME),
    TableColumns(RESEARCH, "task", "context", ResearchColumns, ("task_type", "fingerprint"), _BY_TIME),
    TableColumns(UNANSWERED, "query", "reason", UnansweredColumns, ("engine", "options")),
    TableColumns(RUNS, "question", "record", RunColumns, ("engine",), _BY_TIME),
    TableColumns(QUERIES, "query", "payload", QueryColumns, ("space",), _BY_USE),
    TableColumns(
        CHUNKS,
        "text",
        "metadata",
        ChunkColumns,
        ("space",),
        {"document": ("tenant", "space", "document", "chunk_index")},
    ),
    TableColumns(PAGES, "url", "page", PageColumns, ("reader",)),
    TableColumns(COMPLETIONS, "prompt", "completion", CompletionColumns, ("model",)),
    TableColumns(EVIDENCE, "question", "evidence", EvidenceColumns, ("ranking",)),
    TableColumns(
        TOOLS,
        "query",
        "result_data",
        ToolColumns,
        ("cache_type",),
        {"cache_type": ("tenant", "cache_type", "seq"), "created_by": ("tenant", "created_by")},
    ),
    TableColumns(KNOWLEDGE, "title", "document", KnowledgeColumns, (), {"url_key": ("tenant", "url_key"), **_BY_TIME}),
    TableColumns(KNOWLEDGE_HISTORY, "title", "document", KnowledgeHistoryColumns, ("document_id",)),
    TableColumns(
        LIBRARY,
        "text",
        "details",
        LibraryColumns,
        indexes={name: ("tenant", name) for name in ("document", "url", "last_used_at")},
        words=("title", "text"),
        added=("language",),
    ),
    TableColumns(TOKENS, "name", "token", TokenColumns, ("user_id",)),
    TableColumns(
        MEMORY,
        "text",
        "remembered",
        MemoryColumns,
        ("collection",),
        {"thread_id": ("tenant", "collection", "thread_id", "seq")},
    ),
)
COLUMNS: Mapping[str, TableColumns] = MappingProxyType({table.name: table for table in _TABLES})
"""Every cache table by name."""
