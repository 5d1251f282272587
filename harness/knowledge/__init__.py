"""What a team and its agents know: documents with confidence, tags, a source and an expiry, looked up by URL, then by
meaning.
"""

from collections.abc import Sequence
from heapq import nlargest

from harness.core.tables import KNOWLEDGE
from harness.core.tables import KNOWLEDGE_HISTORY as HISTORY
from harness.knowledge import checks
from harness.knowledge.documents import Document, Lookup, Written
from harness.knowledge.lookups import Lookups
from harness.knowledge.rows import FLOOR, TTL_HOURS, readable
from harness.knowledge.writing import DEFAULT_CONFIDENCE, Writing

__all__ = [
    "DEFAULT_CONFIDENCE",
    "FLOOR",
    "HISTORY",
    "KNOWLEDGE",
    "TTL_HOURS",
    "Document",
    "Knowledge",
    "Lookup",
    "Written",
]


class Knowledge(Lookups, Writing):
    """What is known to one tenant, in one store. Nothing is kept in the object: threads and processes may share the
    store, and no tenant sees, counts or changes what another knows.

    `ttl_hours` is the lifetime of a document of which nobody says; an expired one is stale, and stays until it is
    refreshed or deleted. `floor` is the least similarity (0..1) of a title to a query that it answers, and what that
    means depends on the embedder; `words` returns correctly written words in small letters, by which typing errors are
    told. `clock` returns seconds since the epoch.

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

    def list(
        self, limit: int = 20, *, tags: Sequence[str] | None = None, agent: str | None = None
    ) -> Sequence[Document]:
        """Return up to `limit` (1..1000) documents, expired or not, the one that was updated last first: those with all
        the `tags`, written by this `agent`, if any are given. Damaged ones are passed over, with a warning.

        Raises:
            InvalidInput: an unusable limit, tag or agent.
            StoreError: the store cannot be read.
        """
        most = checks.limit(limit, checks.MAX_LISTED)
        wanted = {tag.casefold() for tag in checks.tags(tags or ())}
        author = None if agent is None else checks.agent(agent).casefold()
        found = (
            (document.updated_at, place, document)
            for place, document in enumerate(readable(self._store.listings.scan(KNOWLEDGE, self._tenant)))
            if wanted <= {tag.casefold() for tag in document.tags}
            and (author is None or document.agent.casefold() == author)
        )
        return [document for *_, document in nlargest(most, found)]  # of all the contents only so many stand in memory
