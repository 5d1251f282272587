"""Writing: what is new is created once, what is known is updated, and nothing that was known is lost."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace

from harness.core.entries import Entry
from harness.core.tables import KNOWLEDGE, KnowledgeHistoryColumns
from harness.core.tables import KNOWLEDGE_HISTORY as HISTORY
from harness.errors import InvalidInput, StoreBusy
from harness.knowledge import checks
from harness.knowledge.documents import Document, Written, decode, encode
from harness.knowledge.rows import Shelf, readable

log = logging.getLogger(__name__)

DEFAULT_CONFIDENCE = 0.5
"""Of a document of which nobody said how sure it is: enough for a look-up that does not say either, and no more."""
KEPT_VERSIONS = 100
TURN_SECONDS = 30.0
MAX_TRIES = 100


class Change(Struct, frozen=True):
    """What a write gives, checked; `lifetime` (seconds) is `None` where none is given."""

    fields: dict[str, Any]
    lifetime: float | None
    now: float

    @property
    def url_key(self) -> str:
        """The key of the address that is given, if any is."""
        return checks.url_key(self.fields.get("source_url", ""))


class Writing(Shelf):
    """What is kept, and what it was before."""

    def write(
        self,
        title: str | None = None,
        content: str | None = None,
        *,
        agent: str | None = None,
        tags: Sequence[str] | None = None,
        confidence: float | None = None,
        source_url: str | None = None,
        id: str | None = None,  # noqa: A002 - the name that callers know
        version: int | None = None,
        ttl_hours: float | None = None,
        expires_at: float | str | None = None,
    ) -> Written:
        """Keep a document: a new one without `id`, else the next version of that one.

        What is `None` was not given: an update leaves it as it was, and counts the document's lifetime anew from now,
        so that a refresh makes it fresh even if nothing else changes. A lifetime is given as `ttl_hours`, or by its end
        (`expires_at`: seconds since the epoch, or ISO 8601); a new document without one lives as long as documents of
        this knowledge do. With `version`, only that version is updated. The last 100 versions are kept. Of all who
        write one URL at once, one creates the document, and the others are told its id.

        Bounds: a title of 1 to 500 characters, a content of 1 to 200,000, 20 tags of 50, an agent of 200, a URL of
        10,000, `confidence` from 0 to 1 (0.5 of a new document where nobody says). If no vector can be made, that is
        a warning, and the document is kept and gets one later.

        Raises:
            InvalidInput: one of these bounds, an `id` that is not known, or a new document without title or content.
            StoreError: the store cannot be written (`StoreCorrupt`: the document to update is damaged).
        """
        change = self._checked(
            {
                "title": (title, checks.title),
                "content": (content, checks.content),
                "agent": (agent, checks.agent),
                "tags": (tags, checks.tags),
                "confidence": (confidence, lambda given: checks.share(given, "confidence")),
                "source_url": (source_url, checks.source_url),
            },
            ttl_hours,
            expires_at,
        )
        if version is not None:
            checks.version(version)
        if id is None and (version is not None or not {"title", "content"} <= change.fields.keys()):
            raise InvalidInput("a new document needs a title and a content; name the one to update by its id")
        with self._alone(change.url_key):
            written = self._create(change) if id is None else self._update(id, change, version)
        log.info("%s %s, version %d", written.outcome, written.id, written.version)
        self._embed_some()
        return written

    def delete(self, document_id: str) -> bool:
        """Delete a document with its history; return whether this tenant had it.

        Raises:
            StoreError: the store cannot be written.
        """
        row = self._row(document_id)
        if row is None:
            return False
        gone = self._store.rows.delete(KNOWLEDGE, self._tenant, [row.key])
        self._forget_history(row.key)
        return gone > 0

    def history(self, document_id: str) -> list[Document]:
        """Return a document's versions, the present one first; none if this tenant has none of that id. At most the
        last 100 are kept, and damaged ones are passed over, with a warning.

        Raises:
            StoreError: the store cannot be read.
        """
        row = self._row(document_id)
        if row is None:
            return []
        before = self._store.listings.find(HISTORY, self._tenant, {"document_id": row.key})
        below = [document for document in readable(before) if document.version < row.own.version]
        return [*readable([row]), *sorted(below, key=lambda document: -document.version)]

    def _checked(
        self, given: dict[str, tuple[Any, Any]], ttl_hours: float | None, expires_at: float | str | None
    ) -> Change:
        now = self._clock()
        fields = {name: check(value) for name, (value, check) in given.items() if value is not None}
        if ttl_hours is not None and expires_at is not None:
            raise InvalidInput("ttl_hours and expires_at say the same; give one of them")
        lifetime = None if ttl_hours is None else checks.hours(ttl_hours, "ttl_hours")
        if expires_at is not None:
            lifetime = checks.expiry(expires_at, now) - now
        return Change(fields, lifetime, now)

    @contextmanager
    def _alone(self, url_key: str) -> Iterator[None]:
        """Be the only one who gives a document this address."""
        if not url_key:
            yield
            return
        with self._store.locks.hold(f"{self._tenant} knowledge {url_key}", TURN_SECONDS) as got:
            if not got:
                raise StoreBusy(f"somebody else has been writing this URL for {TURN_SECONDS:.0f} seconds; try again")
            yield

    def _create(self, change: Change) -> Written:
        if other := self._first(change.url_key):
            return _duplicate(other)
        document = Document(
            id=uuid4().hex,
            created_at=change.now,
            updated_at=change.now,
            expires_at=change.now + (self.ttl if change.lifetime is None else change.lifetime),
            version=1,
            **{"confidence": DEFAULT_CONFIDENCE, **change.fields},
        )
        self._store.rows.put(KNOWLEDGE, self._tenant, self._entry(document))
        if (first := self._first(change.url_key)) and first.key != document.id:
            # whoever has waited for a lock file that was removed may hold it beside another one: the first stays
            self._store.rows.delete(KNOWLEDGE, self._tenant, [document.id])
            return _duplicate(first)
        return Written(outcome="created", id=document.id, version=1, document=document)

    def _update(self, document_id: str, change: Change, expected: int | None) -> Written:
        for attempt in range(MAX_TRIES):
            row = self._row(document_id)
            if row is None:
                if attempt:  # deleted just now: what was put into its history then goes with it
                    self._forget_history(document_id)
                raise InvalidInput(f"there is no document {document_id!r:.80}; leave the id out to create one")
            present = decode(row)
            if expected is not None and expected != present.version:
                return Written(outcome="version_conflict", id=row.key, version=present.version)
            if change.url_key not in {"", row.own.url_key} and (other := self._first(change.url_key, row.key)):
                return _duplicate(other)
            if document := self._put_next(present, change):
                return Written(outcome="updated", id=row.key, version=document.version, document=document)
        raise StoreBusy(f"document {document_id} is being updated all the time; try again")

    def _put_next(self, present: Document, change: Change) -> Document | None:
        """Put the next version, unless somebody else has; the present one is in the history before it is replaced."""
        lifetime = present.expires_at - present.updated_at if change.lifetime is None else change.lifetime
        document = replace(
            present,
            **change.fields,
            updated_at=change.now,
            expires_at=change.now + lifetime,
            version=present.version + 1,
        )
        kept = Entry(
            f"{present.id}@{present.version}",
            present.title,
            encode(present),
            present.created_at,
            present.expires_at,
            present.updated_at,
            KnowledgeHistoryColumns(present.id, present.version),
        )
        self._store.rows.put(HISTORY, self._tenant, kept)
        if not self._store.rows.swap(
            KNOWLEDGE, self._tenant, self._entry(document), expecting={"version": present.version}
        ):
            return None
        if document.version > KEPT_VERSIONS:
            self._store.rows.evict(HISTORY, self._tenant, (present.id,), KEPT_VERSIONS - 1)
        return document

    def _first(self, url_key: str, but: str = "") -> Entry | None:
        """Return the row that was written first of those that have this address, but for one of this key."""
        rows = self._rows_of(url_key) if url_key else []
        return next((row for row in rows if row.key != but), None)

    def _forget_history(self, document_id: str) -> None:
        self._store.rows.replace(HISTORY, self._tenant, [], instead_of={"document_id": document_id})


def _duplicate(other: Entry) -> Written:
    return Written(outcome="duplicate", id=other.key, version=other.own.version)
