"""What knowledge is made of, and what writing or looking it up comes to."""

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
"""Of five thousand years: what is beyond, in a damaged row, is no time that could be shown."""


class KnowledgeDocument(Struct, frozen=True, kw_only=True):
    """One thing that is known. Times are seconds since the epoch: `updated_at` is the last refresh, from which age
    counts; at `expires_at` it is stale. `confidence` is 0..1, `version` begins with 1 and grows with every update.
    `agent` (who wrote it) and `source_url` (where it was read) are empty where nobody said.
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

    def shown(self) -> dict[str, Any]:
        """Return what programs are shown: JSON-able, with times in ISO 8601 UTC, and `None` for what nobody said."""
        told = msgspec.to_builtins(self)
        times = {name: moment(told[name]) for name in ("created_at", "updated_at", "expires_at")}
        return {**told, **times, "agent": self.agent or None, "source_url": self.source_url or None}


class LookupResult(Struct, frozen=True, kw_only=True):
    """What a look-up came to. On a hit `document` answers; `found` says by what, `similarity` (0..1) how near its title
    is to the query (1 by URL). `stale_exists`: there is a document that would answer, had it not expired or grown too
    old, and `stale_id` names it, for whoever refreshes it; a hit may have one beside it.
    """

    hit: bool
    document: KnowledgeDocument | None = None
    stale_exists: bool = False
    stale_id: str | None = None
    found: Literal["url", "meaning"] | None = None
    similarity: float | None = None

    def shown(self) -> dict[str, Any]:
        """Return what programs are shown: JSON-able, with times in ISO 8601 UTC."""
        similarity = None if self.similarity is None else round(self.similarity, 4)
        document = None if self.document is None else self.document.shown()
        return {**msgspec.structs.asdict(self), "document": document, "similarity": similarity}


class WriteResult(Struct, frozen=True, kw_only=True):
    """What a write came to.

    `created` and `updated`: `document` is what is kept now. `duplicate`: another document, `id`, has the same URL;
    update that one. `version_conflict`: the document is at `version` by now, and not at the one that was expected.
    In both of these cases nothing was changed.
    """

    outcome: Outcome
    id: str
    version: int
    document: KnowledgeDocument | None = None

    def shown(self) -> dict[str, Any]:
        """Return what programs are shown: JSON-able, with times in ISO 8601 UTC."""
        document = None if self.document is None else self.document.shown()
        return {**msgspec.structs.asdict(self), "document": document}


def encode(document: KnowledgeDocument) -> bytes:
    """Return a document as it is kept."""
    return msgspec.json.encode(document)


def decode(entry: Entry) -> KnowledgeDocument:
    """Return the document that a row keeps.

    Raises:
        StoreCorrupt: it keeps none.
    """
    try:
        return msgspec.json.decode(entry.payload, type=KnowledgeDocument)
    except (msgspec.MsgspecError, ValueError, TypeError) as error:
        told = shorten(str(entry.text), 60)
        raise StoreCorrupt(
            f"the document {entry.key!r:.60} ({told!r}) is damaged; delete it, or run `harness cache verify --repair`"
        ) from error


def moment(seconds: float) -> str:
    """Return a time as ISO 8601 in UTC, to the second: `2026-11-22T10:15:00Z`."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
