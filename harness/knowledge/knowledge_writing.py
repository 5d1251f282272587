"""Writing of documents: each is created once, updated by version, and keeps its history."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypedDict
from uuid import uuid4

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from harness.core.entries import Entry
from harness.core.tables import KNOWLEDGE, KNOWLEDGE_HISTORY, KnowledgeHistoryColumns
from harness.errors import InvalidInput, StoreBusy
from harness.knowledge import knowledge_checks as checks
from harness.knowledge.knowledge_documents import KnowledgeDocument, WriteResult, decode
from harness.knowledge.knowledge_rows import KnowledgeRows

log = logging.getLogger(__name__)

DEFAULT_CONFIDENCE = 0.5
"""Confidence of a document without one: just enough for a lookup with the default minimum."""
KEPT_VERSIONS = 100
TURN_SECONDS = 30.0
MAX_TRIES = 100


class Change(Struct, frozen=True):
    """Checked arguments of a write; `lifetime` (seconds) is `None` if none is given."""

    fields: dict[str, Any]
    lifetime: float | None
    now: float

    @property
    def url_key(self) -> str:
        """The key of the given URL, "" without one."""
        return checks.url_key(self.fields.get("source_url", ""))


class WriteOptions(TypedDict, total=False):
    """Optional arguments of `Knowledge.write`; `None` is the same as a missing one."""

    agent: str | None
    tags: Sequence[str] | None
    confidence: float | None
    source_url: str | None
    id: str | None
    version: int | None
    ttl_hours: float | None
    expires_at: float | str | None


_FIELD_CHECKS: Mapping[str, Callable[[Any], Any]] = {
    "title": checks.title,
    "content": checks.content,
    "agent": checks.agent,
    "tags": checks.tags,
    "confidence": partial(checks.share, what="confidence"),
    "source_url": checks.source_url,
}


class KnowledgeWriter:
    """Writing and deleting documents, with their history."""

    def __init__(self, rows: KnowledgeRows, ttl: float) -> None:
        self._rows = rows
        self._ttl = ttl

    def write(self, title: str | None, content: str | None, options: WriteOptions) -> WriteResult:
        """See `Knowledge.write`."""
        if unknown := options.keys() - WriteOptions.__annotations__:
            raise TypeError(f"write() got an unexpected keyword argument {min(unknown)!r}")
        change = self._checked({"title": title, "content": content, **options})
        id, version = options.get("id"), options.get("version")  # noqa: A001 - the argument's name
        if version is not None:
            checks.version(version)
        if id is None and (version is not None or not {"title", "content"} <= change.fields.keys()):
            raise InvalidInput("a new document needs a title and a content; to update one, give its id")
        with self._alone(change.url_key):
            written = self._create(change) if id is None else self._update(id, change, version)
        log.info("%s %s, version %d", written.outcome, written.id, written.version)
        self._rows.embed_some()
        return written

    def delete(self, document_id: str) -> bool:
        """See `Knowledge.delete`."""
        row = self._rows.row(document_id)
        if row is None:
            return False
        deleted = self._rows.store.rows.delete(KNOWLEDGE, self._rows.tenant, [row.key])
        self._forget_history(row.key)
        return deleted > 0

    def _checked(self, given: Mapping[str, Any]) -> Change:
        now = self._rows.clock()
        fields = {name: check(given[name]) for name, check in _FIELD_CHECKS.items() if given.get(name) is not None}
        ttl_hours, expires_at = given.get("ttl_hours"), given.get("expires_at")
        if ttl_hours is not None and expires_at is not None:
            raise InvalidInput("ttl_hours and expires_at mean the same; give one of them")
        lifetime = None if ttl_hours is None else checks.hours(ttl_hours, "ttl_hours")
        if expires_at is not None:
            lifetime = checks.expiry(expires_at, now) - now
        return Change(fields, lifetime, now)

    @contextmanager
    def _alone(self, url_key: str) -> Iterator[None]:
        """Hold the lock for writing a document with this URL."""
        if not url_key:
            yield
            return
        with self._rows.store.locks.hold(f"{self._rows.tenant} knowledge {url_key}", TURN_SECONDS) as got:
            if not got:
                raise StoreBusy(f"another process has been writing this URL for {TURN_SECONDS:.0f} seconds; try again")
            yield

    def _create(self, change: Change) -> WriteResult:
        if other := self._first(change.url_key):
            return _duplicate(other)
        document = KnowledgeDocument(
            id=uuid4().hex,
            created_at=change.now,
            updated_at=change.now,
            expires_at=change.now + (self._ttl if change.lifetime is None else change.lifetime),
            version=1,
            **{"confidence": DEFAULT_CONFIDENCE, **change.fields},
        )
        self._rows.store.rows.put(KNOWLEDGE, self._rows.tenant, self._rows.entry(document))
        if (first := self._first(change.url_key)) and first.key != document.id:
            # a writer that waited for a removed lock file may hold it together with another: the first document stays
            self._rows.store.rows.delete(KNOWLEDGE, self._rows.tenant, [document.id])
            return _duplicate(first)
        return WriteResult(outcome="created", id=document.id, version=1, document=document)

    def _update(self, document_id: str, change: Change, expected: int | None) -> WriteResult:
        for attempt in range(MAX_TRIES):
            row = self._rows.row(document_id)
            if row is None:
                if attempt:  # deleted meanwhile: delete the history written since, too
                    self._forget_history(document_id)
                raise InvalidInput(f"no document has the id {document_id!r:.80}; leave the id out to create one")
            present = decode(row)
            if expected is not None and expected != present.version:
                return WriteResult(outcome="version_conflict", id=row.key, version=present.version)
            if change.url_key not in {"", row.own.url_key} and (other := self._first(change.url_key, row.key)):
                return _duplicate(other)
            if document := self._put_next(present, change):
                return WriteResult(outcome="updated", id=row.key, version=document.version, document=document)
        raise StoreBusy(f"document {document_id} is being updated constantly; try again")

    def _put_next(self, present: KnowledgeDocument, change: Change) -> KnowledgeDocument | None:
        """Store the next version, unless another writer has; put the present one into the history first."""
        lifetime = present.expires_at - present.updated_at if change.lifetime is None else change.lifetime
        document = replace(
            present,
            **change.fields,
            updated_at=change.now,
            expires_at=change.now + lifetime,
            version=present.version + 1,
        )
        previous = Entry(
            f"{present.id}@{present.version}",
            present.title,
            msgspec.json.encode(present),
            present.created_at,
            present.expires_at,
            present.updated_at,
            KnowledgeHistoryColumns(present.id, present.version),
        )
        self._rows.store.rows.put(KNOWLEDGE_HISTORY, self._rows.tenant, previous)
        if not self._rows.store.rows.swap(
            KNOWLEDGE, self._rows.tenant, self._rows.entry(document), expecting={"version": present.version}
        ):
            return None
        if document.version > KEPT_VERSIONS:
            self._rows.store.rows.evict(KNOWLEDGE_HISTORY, self._rows.tenant, (present.id,), KEPT_VERSIONS - 1)
        return document

    def _first(self, url_key: str, but: str = "") -> Entry | None:
        """Return the first row written with this URL, other than the one with the key `but`."""
        rows = self._rows.rows_of(url_key) if url_key else []
        return next((row for row in rows if row.key != but), None)

    def _forget_history(self, document_id: str) -> None:
        self._rows.store.rows.replace(KNOWLEDGE_HISTORY, self._rows.tenant, [], instead_of={"document_id": document_id})


def _duplicate(other: Entry) -> WriteResult:
    return WriteResult(outcome="duplicate", id=other.key, version=other.own.version)
