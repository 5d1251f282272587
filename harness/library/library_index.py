"""Filling of the library: passages of what the cache and the knowledge base hold, and of documents that are added."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

import orjson
from msgspec import Struct
from msgspec.structs import replace

from harness.core.chunking import embedded_text
from harness.core.entries import Entry, Outline
from harness.core.freshness import DAY, HOUR, NEVER
from harness.core.tables import EVIDENCE, LIBRARY, READ, EvidenceColumns, library_mark
from harness.errors import EmbeddingError
from harness.library.held_passages import ReadDocument, documents_in, rows_of
from harness.ports import Embedder, LanguageDetector, Progress, Store, silent

log = logging.getLogger(__name__)

SLACK = 100
"""Rows before the last known one that are looked at again: of several writers, one may write a lower number later."""
EMBED_SECONDS = 1.0
"""Time that an update spends on vectors. The passages left are found by their words until a later update."""
EMBED_AT_ONCE = 8
MAX_LISTED = 1_000_000
"""Rows that one update reads at most, the newest ones."""
MARK_AFTER = 100
"""Rows after which an update notes how far it has come."""
SAMPLE = 100
"""Newest passages that give the mean size."""
CHECK_SIZE_AFTER = 500
"""Passages added between two checks of the size."""
MIB = 2**20
LOCK_SECONDS = 1.0
"""Seconds to wait for another process that fills the library of the same tenant."""


class LibraryPolicy(Struct, frozen=True, kw_only=True):
    """Lifetimes (seconds) and size of a library. `ttl` keeps a passage longer than the answer it came with; passages
    about the present expire with that answer, and for questions about the present those older than `volatile_ttl` do
    not count. `max_mb` limits the size in MiB: the least recently used are deleted. Without `writes`, nothing is added.
    """

    ttl: float = 7 * DAY
    volatile_ttl: float = HOUR
    max_mb: float = 2_000
    writes: bool = True


@dataclass(eq=False, repr=False)
class LibraryIndex:
    """Passages of one tenant. `detector` finds their language."""

    store: Store
    embedder: Embedder
    tenant: str
    policy: LibraryPolicy
    clock: Callable[[], float]
    detector: LanguageDetector | None

    def __post_init__(self) -> None:
        self._seen: set[tuple[str, int]] = set()
        self._embedded = False
        self._added = CHECK_SIZE_AFTER  # the size is checked at the first addition

    def update(self, progress: Progress = silent, *, seconds: float = EMBED_SECONDS) -> int:
        """Add the passages of all that the cache and the knowledge base got since the last update, by any process;
        return how many. Up to `seconds` are spent on their vectors.

        An interrupted update continues where it stopped. If another process is updating, wait for it for a moment.

        Raises:
            StoreError: the store cannot be used.
        """
        if not self.policy.writes:
            return 0
        # without the lock, after the wait, both do the same work: adding a passage twice changes nothing
        with self.store.locks.hold(f"{self.tenant} library", LOCK_SECONDS):
            until = time.monotonic() + seconds
            added = sum(self._update(table, progress, until) for table in READ)
            self._embed_missing(until)
            return added

    def add(self, document: ReadDocument, *, seconds: float = EMBED_SECONDS) -> int:
        """Replace the passages of a document by those of its present text; return how many were added. A text that
        two documents have belongs to the one that was added first, and goes when that one is replaced without it.

        Raises:
            StoreError: the store cannot be written.
        """
        return self._add(document, time.monotonic() + seconds)

    def embed(self, progress: Progress = silent) -> int:
        """Embed every passage without a vector of the present embedder; return how many.

        Raises:
            EmbeddingError: the embedder failed.
            StoreError: the store cannot be written.
        """
        total = self.store.listings.stats(LIBRARY, self.tenant, self.clock(), self.embedder.id).unembedded
        done = 0
        while found := self.store.nearest.unembedded(LIBRARY, self.tenant, self.embedder.id, EMBED_AT_ONCE):
            self._embed_rows(found)
            done += len(found)
            progress("embedding passages", done, max(done, total))
        return done

    def _update(self, table: str, progress: Progress, until: float) -> int:
        rows, reached = self._new_rows(table)
        added = 0
        for done, row in enumerate(rows, start=1):
            progress("indexing passages", done - 1, len(rows))
            entry = self.store.rows.get(table, self.tenant, row.key)
            if entry is not None:
                added += sum(self._add(document, until) for document in documents_in(table, entry))
            self._seen.add((table, row.number))
            if row.number > reached and (done % MARK_AFTER == 0 or done == len(rows)):
                self._mark(table, row.number)
        if rows:
            progress("indexing passages", len(rows), len(rows))
        return added

    def _new_rows(self, table: str) -> tuple[list[Outline], int]:
        """Return the rows written since the last update, the oldest first, and the number that it reached."""
        reached = self._marked(table)
        newest = self.store.listings.outlines(table, self.tenant, limit=1)
        if not newest:
            return [], 0
        if newest[0].number < reached:  # a backup was restored, or rows were deleted
            reached = 0
        found = self.store.listings.outlines(table, self.tenant, after=max(0, reached - SLACK), limit=MAX_LISTED)
        return [each for each in reversed(found) if (table, each.number) not in self._seen], reached

    def _add(self, document: ReadDocument, until: float) -> int:
        now, fetched = self.clock(), document.fetched_at
        kept_until = document.expires_at if document.volatile else max(document.expires_at, fetched + self.policy.ttl)
        if kept_until <= now:
            return 0
        held = {row.key: row for row in self.store.listings.find(LIBRARY, self.tenant, {"document": document.id})}
        if held and all(row.created_at >= fetched for row in held.values()):
            return 0
        if any(row.expires_at >= NEVER for row in held.values()):  # a document that a user added stays
            kept_until = NEVER
        cut = rows_of(document, min(kept_until, NEVER), self.detector)
        fresh = (self._renewed(row, held.get(row.key), now) for row in cut)
        rows = self._with_vectors([row for row in fresh if row is not None], until)
        self.store.rows.replace(LIBRARY, self.tenant, rows, instead_of={"document": document.id})
        self._embedded = self._embedded and all(row.embedder == self.embedder.id for row in rows)
        self._added += len(rows)
        if rows and self._added >= CHECK_SIZE_AFTER:
            self._added = 0
            self.evict()
        return len(rows)

    def _renewed(self, row: Entry, held: Entry | None, now: float) -> Entry | None:
        """Return a row to write, with the vector that its text already has; `None` if the same text, of another
        document, is held for about as long or longer.
        """
        known = held or self.store.rows.get_whole(LIBRARY, self.tenant, row.key)
        if known is None:
            return row
        if held is None and known.expires_at > now and known.expires_at > row.expires_at - HOUR:
            return None
        return replace(row, embedding=known.embedding, embedder=known.embedder)

    def _with_vectors(self, rows: Sequence[Entry], until: float) -> list[Entry]:
        """Return the rows with vectors, as far as time allows."""
        made = list(rows)
        missing = [place for place, row in enumerate(made) if row.embedder != self.embedder.id]
        for start in range(0, len(missing), EMBED_AT_ONCE):
            if time.monotonic() >= until:
                break
            places = missing[start : start + EMBED_AT_ONCE]
            try:
                vectors = self.embedder.embed([_embedded(made[place]) for place in places])
            except EmbeddingError as error:
                log.debug("passages are found by their words only: %s", error)
                break
            for place, vector in zip(places, vectors, strict=True):
                made[place] = replace(made[place], embedding=vector.tobytes(), embedder=self.embedder.id)
        return made

    def _embed_missing(self, until: float) -> None:
        while not self._embedded and time.monotonic() < until:
            found = self.store.nearest.unembedded(LIBRARY, self.tenant, self.embedder.id, EMBED_AT_ONCE)
            if not found:
                self._embedded = True  # until this object adds passages without a vector
                return
            try:
                self._embed_rows(found)
            except EmbeddingError as error:
                log.debug("passages are found by their words only: %s", error)
                return

    def _embed_rows(self, found: Sequence[tuple[str, str]]) -> None:
        keys = [key for key, _ in found]
        rows = [row for key in keys if (row := self.store.rows.get(LIBRARY, self.tenant, key)) is not None]
        vectors = self.embedder.embed(list(map(_embedded, rows))) if rows else ()
        for row, vector in zip(rows, vectors, strict=True):
            self.store.nearest.embed(LIBRARY, self.tenant, row.key, vector.tobytes(), self.embedder.id)
        gone = set(keys) - {row.key for row in rows}
        self.store.rows.delete(LIBRARY, self.tenant, list(gone))  # damaged rows, which would come back for ever

    def evict(self) -> int:
        """Delete the least recently used passages until the others are within the limit of size; return how many.

        Raises:
            StoreError: the store cannot be written.
        """
        sample = self.store.listings.recent(LIBRARY, self.tenant, SAMPLE)
        if not sample:
            return 0
        max_bytes = int(self.policy.max_mb * MIB)
        keep = int(max_bytes / (sum(map(stored_bytes, sample)) / len(sample)))
        if self.store.listings.expiring(LIBRARY, self.tenant, [inf])[0] <= keep:  # counts all
            return 0
        return self.store.rows.evict(LIBRARY, self.tenant, (), keep)

    def _marked(self, table: str) -> int:
        """Return the number of the newest row of a table that was read."""
        row = self.store.rows.get(EVIDENCE, self.tenant, library_mark(table))
        try:
            number = 0 if row is None else orjson.loads(row.payload)
        except ValueError:
            return 0
        return number if type(number) is int and number > 0 else 0

    def _mark(self, table: str, number: int) -> None:
        now, own = self.clock(), EvidenceColumns(LIBRARY)
        text = "number of the newest row that the library has read"
        mark = Entry(library_mark(table), text, orjson.dumps(number), now, NEVER, now, own)
        self.store.rows.put(EVIDENCE, self.tenant, mark)


def stored_bytes(row: Entry) -> int:
    """Return about how many bytes of disk a passage takes: text (also as words), vector, and the row around them."""
    return 2 * len(row.text.encode(errors="replace")) + len(row.payload) + len(row.embedding or b"") + 500


def _embedded(row: Entry) -> str:
    try:
        section = str(orjson.loads(row.payload).get("section", ""))
    except (ValueError, AttributeError):
        section = ""
    return embedded_text(row.own.title, section, row.text)
