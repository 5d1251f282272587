"""Documents of the knowledge, and the results of writes and lookups."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from harness.core.entries import Entry
from harness.core.text import shorten
from harness.errors import StoreCorrupt

Outcome: TypeAlias = Literal["created", "updated", "duplicate", "version_conflict"]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Moment: TypeAlias = Annotated[float, Meta(ge=0, lt=1e11)]
"""A time before the year 5138; a later one, in a damaged row, cannot be formatted."""


class KnowledgeDocument(Struct, frozen=True, kw_only=True):
    """A document. Times are seconds since the epoch: `updated_at` is the last refresh, from which the age counts; from
    `expires_at` on it is stale. `confidence` is 0..1; `version` starts at 1 and grows with every update. `agent` (the
    writer) and `source_url` (the source) may be empty.
    """

    id: str
    title: str
    content: str
    agent: str = ""
    tags: tuple[str, ...] = ()
    confidence: Share
    source_url: str = ""
    created_at: Moment
    updated_at: Moment
    expires_at: Moment
    version: int

    def as_dict(self) -> dict[str, Any]:
        """Return the document for programs: JSON-able, times in ISO 8601 UTC, `None` for empty fields."""
        fields = msgspec.to_builtins(self)
        times = {name: moment(fields[name]) for name in ("created_at", "updated_at", "expires_at")}
        return {**fields, **times, "agent": self.agent or None, "source_url": self.source_url or None}


class LookupResult(Struct, frozen=True, kw_only=True):
    """Result of a lookup. On a hit, `document` answers; `found` says how it was found, `similarity` (0..1) how similar
    its title is to the query (1 by URL). `stale_exists`: an expired or too old document would answer; `stale_id` names
    it for a refresh. A hit may have a stale document, too.
    """

    hit: bool
    document: KnowledgeDocument | None = None
    stale_exists: bool = False
    stale_id: str | None = None
    found: Literal["url", "meaning"] | None = None
    similarity: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the result for programs: JSON-able, times in ISO 8601 UTC."""
        similarity = None if self.similarity is None else round(self.similarity, 4)
        document = None if self.document is None else self.document.as_dict()
        return {**msgspec.structs.asdict(self), "document": document, "similarity": similarity}


class WriteResult(Struct, frozen=True, kw_only=True):
    """Result of a write.

    `created` and `updated`: `document` is the stored version. `duplicate`: another document, `id`, has the same URL;
    update that one. `version_conflict`: the document is at `version`, not at the expected one. The last two change
    nothing.
    """

    outcome: Outcome
    id: str
    version: int
    document: KnowledgeDocument | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the result for programs: JSON-able, times in ISO 8601 UTC."""
        document = None if self.document is None else self.document.as_dict()
        return {**msgspec.structs.asdict(self), "document": document}


def decode(entry: Entry) -> KnowledgeDocument:
    """Return the document in a row.

    Raises:
        StoreCorrupt: the row is damaged.
    """
    try:
        return msgspec.json.decode(entry.payload, type=KnowledgeDocument)
    except (msgspec.MsgspecError, ValueError, TypeError) as error:
        title = shorten(str(entry.text), 60)
        raise StoreCorrupt(
            f"the document {entry.key!r:.60} ({title!r}) is damaged; delete it, or run `harness cache verify --repair`"
        ) from error


def moment(seconds: float) -> str:
    """Return a time in ISO 8601, UTC, to the second: `2026-11-22T10:15:00Z`."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
