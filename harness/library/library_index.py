"""Filling of the library: passages of what the cache and the knowledge base hold, and of documents that are added."""

import logging
import time
from collections.abc import Callable, Sequence

import orjson
from msgspec.structs import replace

from harness.core.entries import Entry, Outline
from harness.core.freshness import HOUR, NEVER
from harness.core.tables import EVIDENCE, LIBRARY, READ, EvidenceColumns, library_mark
from harness.errors import EmbeddingError
from harness.library.held_passages import ReadDocument, documents_in, embedded_text, rows_of
from harness.ports import Embedder, Progress, Store, silent

log = logging.getLogger(__name__)

SLACK = 300.0
"""Seconds before the last known row that are looked at again: clocks differ, and a row may be written late."""
EMBED_SECONDS = 1.0
"""Time that an update spends on vectors. The passages left are found by their words until a later update."""
EMBED_AT_ONCE = 8
LISTED = 500
"""Rows that are listed at a time."""
SAMPLE = 100
"""Newest passages whose mean size stands for all."""
CHECK_SIZE_AFTER = 500
"""Passages added between two checks of the size."""
LOCK_SECONDS = 10.0
"""Seconds to wait for another process that fills the library of the same tenant."""


class LibraryIndex:
    """Passages of one tenant. `ttl` (seconds) keeps a passage longer than the answer it came with; `max_bytes` limits
    their size: the least recently used are deleted. Without `writes`, nothing is added.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        tenant: str,
        ttl: float,
        max_bytes: int,
        writes: bool,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self.embedder = embedder
        self._tenant = tenant
        self._ttl = ttl
        self._max_bytes = max_bytes
        self._writes = writes
        self._clock = clock
        self._seen: set[tuple[str, str, float]] = set()
        self._added = 0

    def update(self, progress: Progress = silent, *, seconds: float = EMBED_SECONDS) -> int:
        """Add the passages of all that the cache and the knowledge base got since the last update, by any process;
        return how many. Up to `seconds` are spent on their vectors.

        An interrupted update continues where it stopped. If another process is updating, wait for it for a moment.

        Raises:
            StoreError: the store cannot be used.
        """
        if not self._writes:
            return 0
        with self._store.locks.hold(f"{self._tenant} library", LOCK_SECONDS):
            until = time.monotonic() + seconds
            added = sum(self._update(table, progress, until) for table in READ)
            self._embed_missing(until)
            return added

    def add(self, document: ReadDocument, *, seconds: float = EMBED_SECONDS) -> int:
        """Add a document instead of what is held of it; return how many passages were added.

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
        total = self._store.listings.stats(LIBRARY, self._tenant, self._clock(), self.embedder.id).unembedded
        done = 0
        while found := self._store.nearest.unembedded(LIBRARY, self._tenant, self.embedder.id, EMBED_AT_ONCE):
            self._embed_rows(found)
            done += len(found)
            progress("embedding passages", done, max(done, total))
        return done

    def _update(self, table: str, progress: Progress, until: float) -> int:
        reached = self._reached(table)
        rows = [
            each
            for each in self._rows_since(table, reached - SLACK)
            if (table, each.key, each.created_at) not in self._seen
        ]
        added = 0
        for done, row in enumerate(reversed(rows)):  # the oldest first
            progress("indexing what was read", done, len(rows))
            entry = self._store.rows.get(table, self._tenant, row.key)
            if entry is not None and entry.created_at + self._ttl > self._clock():
                added += sum(self._add(document, until) for document in documents_in(table, entry))
            self._seen.add((table, row.key, row.created_at))
            if row.created_at > reached and (done % LISTED == LISTED - 1 or done == len(rows) - 1):
                self._reach(table, row.created_at)
        if rows:
            progress("indexing what was read", len(rows), len(rows))
        return added

    def _rows_since(self, table: str, since: float) -> list[Outline]:
        """Return the rows created since then, the newest first, without what they hold."""
        found: list[Outline] = []
        while batch := self._store.listings.timeline(table, self._tenant, since=since, limit=LISTED, offset=len(found)):
            found += batch
            if len(batch) < LISTED:
                break
        return found

    def _add(self, document: ReadDocument, until: float) -> int:
        now, fetched = self._clock(), document.fetched_at
        kept_until = document.expires_at if document.volatile else max(document.expires_at, fetched + self._ttl)
        if kept_until <= now:
            return 0
        held = {row.key: row for row in self._store.listings.find(LIBRARY, self._tenant, {"document": document.id})}
        if held and all(row.created_at >= fetched for row in held.values()):
            return 0
        fresh = (self._renewed(row, held.get(row.key)) for row in rows_of(document, min(kept_until, NEVER)))
        rows = [row for row in fresh if row is not None]
        rows = self._with_vectors(rows, until)
        self._store.rows.replace(LIBRARY, self._tenant, rows, instead_of={"document": document.id})
        self._added += len(rows)
        if self._added >= CHECK_SIZE_AFTER:
            self._added = 0
            self.evict()
        return len(rows)

    def _renewed(self, row: Entry, held: Entry | None) -> Entry | None:
        """Return a row to write, with the vector that its text already has; `None` if the text is held from a later or
        about the same moment, and for as long.
        """
        known = held or self._store.rows.get_whole(LIBRARY, self._tenant, row.key)
        if known is None:
            return row
        if held is None and (
            known.created_at > row.created_at
            or (row.created_at - known.created_at < HOUR and row.expires_at - known.expires_at < HOUR)
        ):
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
        while time.monotonic() < until:
            found = self._store.nearest.unembedded(LIBRARY, self._tenant, self.embedder.id, EMBED_AT_ONCE)
            if not found:
                return
            try:
                self._embed_rows(found)
            except EmbeddingError as error:
                log.debug("passages are found by their words only: %s", error)
                return

    def _embed_rows(self, found: Sequence[tuple[str, str]]) -> None:
        keys = [key for key, _ in found]
        rows = [row for key in keys if (row := self._store.rows.get(LIBRARY, self._tenant, key)) is not None]
        vectors = self.embedder.embed(list(map(_embedded, rows))) if rows else ()
        for row, vector in zip(rows, vectors, strict=True):
            self._store.nearest.embed(LIBRARY, self._tenant, row.key, vector.tobytes(), self.embedder.id)
        gone = set(keys) - {row.key for row in rows}
        self._store.rows.delete(LIBRARY, self._tenant, list(gone))  # damaged rows, which would come back for ever

    def evict(self) -> int:
        """Delete the least recently used passages until the others are within the limit of size; return how many.

        Raises:
            StoreError: the store cannot be written.
        """
        sample = self._store.listings.recent(LIBRARY, self._tenant, SAMPLE)
        if not sample:
            return 0
        keep = int(self._max_bytes / (sum(map(stored_bytes, sample)) / len(sample)))
        if self._store.listings.stats(LIBRARY, self._tenant, self._clock()).total <= keep:
            return 0
        return self._store.rows.evict(LIBRARY, self._tenant, (), keep)

    def _reached(self, table: str) -> float:
        """Return the creation time of the newest row that was read, in seconds since the epoch."""
        row = self._store.rows.get(EVIDENCE, self._tenant, library_mark(table))
        try:
            return 0.0 if row is None else float(orjson.loads(row.payload))
        except (ValueError, TypeError):
            return 0.0

    def _reach(self, table: str, moment: float) -> None:
        now = self._clock()
        moment = min(moment, now)  # a clock may have been set back
        mark = Entry(
            library_mark(table),
            "the library was filled up to here",
            orjson.dumps(moment),
            now,
            NEVER,
            now,
            EvidenceColumns(LIBRARY),
        )
        self._store.rows.put(EVIDENCE, self._tenant, mark)


def stored_bytes(row: Entry) -> int:
    """Return about how many bytes of disk a passage takes: text (also as words), vector, and the row around them."""
    return 2 * len(row.text.encode(errors="replace")) + len(row.payload) + len(row.embedding or b"") + 500


def _embedded(row: Entry) -> str:
    try:
        section = str(orjson.loads(row.payload).get("section", ""))
    except (ValueError, AttributeError):
        section = ""
    return embedded_text(row.own.title, section, row.text)
