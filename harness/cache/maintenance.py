"""Maintenance of a cache: statistics, deletion, vectors, export and import."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from harness.cache.context import CachePart
from harness.cache.search_results import taught_text_of_row
from harness.core.entries import Entry, TableStats
from harness.core.freshness import latest_creation
from harness.core.keys import in_words, normalise
from harness.core.tables import (
    ANSWERS,
    BY_MEANING,
    BY_ORIGIN,
    COMPLETIONS,
    EVERY_TABLE,
    EVIDENCE,
    KNOWLEDGE,
    KNOWLEDGE_HISTORY,
    MADE,
    MOVED,
    PAGES,
    QUERIES,
    READ,
    RESEARCH,
    RUNS,
    SEARCHES,
    TOOLS,
    UNANSWERED,
    library_mark,
)
from harness.errors import InvalidInput
from harness.ports import Progress

BATCH = 64
KINDS = {
    "search": (SEARCHES, UNANSWERED),
    "research": (RESEARCH, EVIDENCE, QUERIES),
    "pages": (PAGES,),
    "completions": (COMPLETIONS,),
    "tools": (TOOLS,),
    "runs": (RUNS,),
    "all": (*ANSWERS, *MADE, UNANSWERED),
}
"""The tables of each kind of entry. `all` leaves out the records of runs: only `runs` clears them."""


class Maintenance(CachePart):
    """Maintenance of the rows of one tenant."""

    def stats(self) -> list[TableStats]:
        """Count the rows of each table."""
        now, semantics = self._context.clock(), self._context.semantics
        embedder = semantics.embedder.id if semantics else ""
        semantic = [self._store.listings.stats(table, self._tenant, now, embedder) for table in BY_MEANING]
        exact = [self._store.listings.stats(table, self._tenant, now) for table in ANSWERS if table not in BY_MEANING]
        # these tables need no vectors, except for tool queries in words
        missing = {TOOLS: len(self._unembedded_tools())}
        return [*semantic, *(replace(each, unembedded=missing.get(each.table, 0)) for each in exact)]

    def size(self) -> int:
        """Return the size of the database on disk, in bytes."""
        return self._store.admin.size()

    def clear(self) -> dict[str, int]:
        """Delete everything except the records of runs and audits, the library and vectors of agents, too; return how
        many rows of each table.
        """
        return {table: self._store.admin.clear(table, self._tenant) for table in (*ANSWERS, *MADE, UNANSWERED)}

    def sweep(self) -> dict[str, int]:
        """Delete all expired rows; return how many of each table."""
        now = self._context.clock()
        deleted = {
            table: self._store.rows.sweep(table, self._tenant, now, created_after=latest_creation(now))
            for table in EVERY_TABLE
        }
        return {table: deleted[table] for table in ANSWERS}

    def select(
        self,
        tables: Sequence[str] = BY_MEANING,
        *,
        older_than: float | None = None,
        query: str | None = None,
        only: Callable[[Entry], bool] = lambda _: True,
    ) -> dict[str, list[Entry]]:
        """Return the entries of `tables` that are older than so many seconds, or about exactly this query (in any case
        and spacing, of any engine), and for which `only` returns true.

        Raises:
            InvalidInput: an unusable query.
            StoreError: the store cannot be read.
        """
        wanted = normalise(query) if query is not None else None
        now = self._context.clock()

        def fits(entry: Entry) -> bool:
            old = older_than is None or now - entry.created_at > older_than
            return old and (wanted is None or " ".join(entry.text.lower().split()) == wanted) and only(entry)

        return {
            table: [_without_payload(entry) for entry in self._store.listings.scan(table, self._tenant) if fits(entry)]
            for table in tables
        }

    def delete(self, selected: Mapping[str, Sequence[Entry]]) -> dict[str, int]:
        """Delete selected entries; return how many rows of each table there still were."""
        return {
            table: self._store.rows.delete(table, self._tenant, [entry.key for entry in entries])
            for table, entries in selected.items()
        }

    def reembed(self, progress: Progress) -> int:
        """Embed every row without a vector of the present embedder; return how many.

        Raises:
            InvalidInput: lookups by meaning are off.
            EmbeddingError: the embedder failed.
            StoreError: the store cannot be written.
        """
        semantics = self._context.semantics
        if semantics is None:
            raise InvalidInput("lookups by meaning are off; set `semantic: true` first")
        embedder = semantics.embedder.id
        tools = self._unembedded_tools()
        total = len(tools) + sum(
            self._store.listings.stats(table, self._tenant, 0.0, embedder).unembedded for table in BY_MEANING
        )
        done = 0
        for table in BY_MEANING:
            while done < total and (embedded := semantics.embed_missing(table, BATCH)):
                done += embedded
                progress("embedding", done, max(done, total))
        for start in range(0, len(tools), BATCH):
            semantics.embed_rows(TOOLS, tools[start : start + BATCH])
            done += len(tools[start : start + BATCH])
            progress("embedding", done, max(done, total))
        return done

    def _unembedded_tools(self) -> list[tuple[str, str]]:
        """Return key and query of tool rows that may answer by meaning, and have no vector of the present embedder;
        none if lookups by meaning are off.
        """
        if (semantics := self._context.semantics) is None:
            return []
        embedder, total = semantics.embedder.id, self._store.listings.stats(TOOLS, self._tenant, 0.0).total
        missing = self._store.nearest.unembedded(TOOLS, self._tenant, embedder, total)
        return [(key, query) for key, query in missing if in_words(query)]

    def entries(self, tables: Sequence[str]) -> Iterator[tuple[str, Entry]]:
        """Yield every row of `tables`, with all its columns, but how far the library was filled: that is true of this
        database only.
        """
        for table in tables:
            for entry in self._store.listings.scan(table, self._tenant):
                if not is_mark(table, entry.key):
                    yield table, entry

    def origins(self, table: str) -> dict[str, str]:
        """Return for whom the rows of a table were made, by key; the user's rows are left out."""
        if table not in BY_ORIGIN:
            return {}
        rows = self._store.listings.stats(table, self._tenant, 0.0).total
        keys = [row.key for row in self._store.listings.outlines(table, self._tenant, limit=rows)]
        return self._store.usage.origins(table, self._tenant, keys)

    def restore(self, table: str, entry: Entry, origin: str = "") -> bool:
        """Store an imported entry as it is, with its `origin`, unless a newer one is here; return whether it was
        stored. Of knowledge, the higher version is the newer one, and each web address has one document.

        Raises:
            InvalidInput: entries of this table are not imported: access is granted, never imported.
            StoreError: the store cannot take it.
        """
        if table not in MOVED or is_mark(table, entry.key):
            raise InvalidInput(f"entries of {table} are not imported")
        from harness.core.abbreviations import find_abbreviations

        if self._is_superseded(table, entry):
            return False
        teaches = tuple(find_abbreviations(taught_text_of_row(table, entry.payload)))
        self._store.rows.put(table, self._tenant, replace(entry, teaches=teaches))
        if origin and table in BY_ORIGIN:
            self._store.usage.mark_origin(table, self._tenant, entry.key, origin)
        return True

    def _is_superseded(self, table: str, entry: Entry) -> bool:
        present = self._store.rows.get(table, self._tenant, entry.key)
        if table == KNOWLEDGE:
            url_key, version = entry.own.url_key, entry.own.version
            others = self._store.listings.find(KNOWLEDGE, self._tenant, {"url_key": url_key}) if url_key else ()
            newer = present is not None and present.own.version >= version
            return newer or any(other.key != entry.key for other in others)
        if table == KNOWLEDGE_HISTORY and self._store.rows.get(KNOWLEDGE, self._tenant, entry.own.document_id) is None:
            return True  # its document was not added
        return present is not None and present.created_at >= entry.created_at


def is_mark(table: str, key: str) -> bool:
    """Return whether a row only says how far the library was filled."""
    return table == EVIDENCE and key in map(library_mark, READ)


def _without_payload(entry: Entry) -> Entry:
    """Return an entry without what takes memory."""
    return Entry(entry.key, entry.text, b"", entry.created_at, entry.expires_at, entry.last_used_at, entry.own)
