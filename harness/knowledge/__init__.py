"""Documents of a team and its agents, with confidence, tags, source and expiry; found by URL, then by meaning."""

import time
from collections.abc import Callable, Container, Sequence
from heapq import nlargest
from typing import Unpack

from harness.core.tables import KNOWLEDGE, KNOWLEDGE_HISTORY
from harness.knowledge import knowledge_checks as checks
from harness.knowledge.knowledge_documents import KnowledgeDocument, LookupResult, WriteResult, decode
from harness.knowledge.knowledge_lookup import Criteria, KnowledgeLookup
from harness.knowledge.knowledge_rows import KnowledgeRows, readable
from harness.knowledge.knowledge_search import ranked
from harness.knowledge.knowledge_writing import DEFAULT_CONFIDENCE, KnowledgeWriter, WriteOptions
from harness.ports import Embedder, Store

__all__ = [
    "DEFAULT_CONFIDENCE",
    "FLOOR",
    "TTL_HOURS",
    "Knowledge",
    "KnowledgeDocument",
    "LookupResult",
    "WriteResult",
]

TTL_HOURS = 720.0
FLOOR = 0.6


class Knowledge:
    """Documents of one tenant in one store. All state is in the store: threads and processes may share it, and no
    tenant sees, counts or changes another tenant's documents.

    `ttl_hours` is the default lifetime of a document; an expired one is stale, and stays until it is refreshed or
    deleted. `floor` is the minimum similarity (0..1) between the query and the title of a document that answers; its
    meaning depends on the embedder. `words` returns correctly spelled words in lower case, which help to detect typing
    errors. `clock` returns seconds since the epoch.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from harness.models.local.embedder import MiniLM
    >>> from harness.storage.sqlite.store import SqliteStore
    >>> folder = TemporaryDirectory()
    >>> store = SqliteStore(Path(folder.name) / "team.db")
    >>> knowledge = Knowledge(store, MiniLM())
    >>> written = knowledge.write("GitHub REST API rate limits", "5,000 requests an hour.", confidence=0.9)
    >>> written.outcome, written.version
    ('created', 1)
    >>> knowledge.lookup("what is the rate limit of the github rest api").document.content
    '5,000 requests an hour.'
    >>> knowledge.lookup("what is the rate limit of the gitlab rest api").hit
    False
    >>> knowledge.write(id=written.id, content="15,000 for Enterprise Cloud.").outcome
    'updated'
    >>> [document.version for document in knowledge.history(written.id)]
    [2, 1]
    >>> store.close()
    >>> folder.cleanup()

    Raises:
        InvalidInput: an unusable lifetime or floor, or a tenant without a name.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        tenant: str = "default",
        ttl_hours: float = TTL_HOURS,
        floor: float = FLOOR,
        words: Callable[[], Container[str]] = frozenset,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._rows = KnowledgeRows(store, embedder, tenant, clock)
        self.ttl = checks.hours(ttl_hours, "ttl_hours")
        self.floor = checks.share(floor, "floor")
        self._lookup = KnowledgeLookup(self._rows, self.floor, words)
        self._writer = KnowledgeWriter(self._rows, self.ttl)

    def lookup(
        self,
        query: str,
        source_url: str | None = None,
        max_age_hours: float | None = None,
        min_confidence: float = 0.5,
        limit: int = 3,
        tags: Sequence[str] | None = None,
    ) -> LookupResult:
        """Return the document that answers `query`.

        First the document read at `source_url`, in any spelling of the URL. If there is none, or it fails a filter, the
        `limit` (1..100) nearest documents by meaning that pass the guards and have all the `tags` are candidates; the
        one with the highest confidence answers, then the most similar, then the newest. An answer has at least
        `min_confidence` (0..1), is not expired, and was updated at most `max_age_hours` ago. A document that is only
        expired or too old is stale and named for a refresh: the URL's document first, else the most similar one. One
        below the confidence is neither. Damaged documents are skipped with a warning.

        Writes nothing, except vectors for a few titles that have none.

        Raises:
            InvalidInput: an unusable query, URL or tag, or a number out of range.
            SearchBackendError: the lookup by meaning failed.
            StoreError: the store cannot be read.
        """
        query = checks.query(query)
        url_key = checks.url_key(checks.source_url(source_url or ""))
        criteria = Criteria(
            None if max_age_hours is None else checks.hours(max_age_hours, "max_age_hours"),
            checks.share(min_confidence, "min_confidence"),
            frozenset(tag.casefold() for tag in checks.tags(tags or ())),
            checks.limit(limit),
        )
        return self._lookup.lookup(query, url_key, criteria)

    def search(self, query: str) -> Sequence[tuple[str, float | None]]:
        """Return the ids of all documents about `query`, expired or not, the best first: up to 200 whose title or
        content has more than half of its words, and up to 200 whose title is similar. Each comes with the similarity of
        its title (0..1); `None` where only words were found. Reads every document.

        Raises:
            InvalidInput: an unusable query.
            SearchBackendError: the search by meaning failed.
            StoreError: the store cannot be read.
        """
        return ranked(self._rows, checks.query(query))

    def get(self, document_id: str) -> KnowledgeDocument | None:
        """Return a document, expired or not; `None` if this tenant has none with that id.

        Raises:
            StoreError: the store cannot be read (`StoreCorrupt`: the document is damaged).
        """
        row = self._rows.row(document_id)
        return None if row is None else decode(row)

    def list(
        self, limit: int = 20, *, tags: Sequence[str] | None = None, agent: str | None = None
    ) -> Sequence[KnowledgeDocument]:
        """Return up to `limit` (1..1000) documents, expired or not, last updated first; only those with all the `tags`
        and written by `agent`, if given. Damaged ones are skipped with a warning.

        Raises:
            InvalidInput: an unusable limit, tag or agent.
            StoreError: the store cannot be read.
        """
        most = checks.limit(limit, checks.MAX_LISTED)
        wanted = {tag.casefold() for tag in checks.tags(tags or ())}
        author = None if agent is None else checks.agent(agent).casefold()
        found = (
            (document.updated_at, place, document)
            for place, document in enumerate(readable(self._rows.store.listings.scan(KNOWLEDGE, self._rows.tenant)))
            if wanted <= {tag.casefold() for tag in document.tags}
            and (author is None or document.agent.casefold() == author)
        )
        return [document for *_, document in nlargest(most, found)]  # keeps at most `most` contents in memory

    def write(
        self, title: str | None = None, content: str | None = None, **options: Unpack[WriteOptions]
    ) -> WriteResult:
        """Store a document: a new one without `id`, else the next version of that one.

        Options: `agent`, `tags`, `confidence`, `source_url`, `id`, `version`, and the lifetime as `ttl_hours` or by its
        end, `expires_at` (seconds since the epoch, or ISO 8601). `None` means not given: an update leaves the value as
        it is and restarts the lifetime, so that a refresh without changes makes a document fresh. A new document
        without a lifetime gets the default one. With `version`, only that version is updated. The last 100 versions are
        kept. If several writers create one URL at once, one creates the document and the others get its id.

        Bounds: a title of 1 to 500 characters, a content of 1 to 200,000, 20 tags of 50, an agent of 200, a URL of
        10,000; `confidence` from 0 to 1 (0.5 for a new document by default). If embedding fails, the document is stored
        with a warning and embedded later.

        Raises:
            InvalidInput: a bound, an unknown `id`, or a new document without title or content.
            StoreError: the store cannot be written (`StoreCorrupt`: the document to update is damaged).
        """
        return self._writer.write(title, content, options)

    def delete(self, document_id: str) -> bool:
        """Delete a document with its history; return whether this tenant had it.

        Raises:
            StoreError: the store cannot be written.
        """
        return self._writer.delete(document_id)

    def history(self, document_id: str) -> Sequence[KnowledgeDocument]:
        """Return a document's versions, the present one first; none if this tenant has no document with that id. At
        most the last 100 are kept; damaged ones are skipped with a warning.

        Raises:
            StoreError: the store cannot be read.
        """
        row = self._rows.row(document_id)
        if row is None:
            return []
        before = self._rows.store.listings.find(KNOWLEDGE_HISTORY, self._rows.tenant, {"document_id": row.key})
        below = [document for document in readable(before) if document.version < row.own.version]
        return [*readable([row]), *sorted(below, key=lambda document: -document.version)]
