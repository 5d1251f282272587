"""Looking after a cache: what it holds, why it answers as it does, what may go, what must be mended."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from harness.cache.results import taught_by
from harness.cache.searches import DEFAULT_MAX_RESULTS, Searches
from harness.cache.semantic import Candidate
from harness.cache.tables import (
    ANSWERS,
    COMPLETIONS,
    EVIDENCE,
    KNOWLEDGE,
    KNOWLEDGE_HISTORY,
    MADE,
    MOVED,
    PAGES,
    QUERIES,
    RESEARCH,
    RUNS,
    SEARCHES,
    TABLES,
    TOOLS,
    UNANSWERED,
)
from harness.core.entries import Entry, Hit, Miss, Stale
from harness.core.freshness import is_expired, is_volatile
from harness.core.keys import DEFAULT_ENGINE, canonical_json, in_words, normalise, search_key
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
"""What belongs to each kind of entry; the records of runs are cleared by their name only."""


class Explanation(Struct, frozen=True):
    """Why a search is answered as it is. `expanded` is the query with its abbreviations written out; `threshold` is
    the score from which on the rule accepts; `candidates` are empty when the very query is cached, or look-ups by
    meaning are off.
    """

    query: str
    key: str
    exact: Hit[Any] | Stale[Any] | Miss
    expanded: str
    volatile: bool
    threshold: float
    candidates: tuple[Candidate, ...]

    @property
    def answer(self) -> Candidate | None:
        """The candidate that answers, if one does."""
        return next((candidate for candidate in self.candidates if not candidate.refusal), None)

    def shown(self, now: float) -> dict[str, Any]:
        """Return what programs are shown, JSON-able; `now` is in seconds since the epoch."""
        hit = self.exact if isinstance(self.exact, Hit) else None
        answer = None if hit else self.answer
        return {
            "query": self.query,
            "key": self.key,
            "exact": type(self.exact).__name__.lower(),
            "read_as": self.expanded,
            "volatile": self.volatile,
            "threshold": self.threshold,
            "candidates": [
                {
                    "query": each.entry.text,
                    "similarity": round(each.decision.similarity, 4),
                    "required": each.decision.required,
                    "probability": each.decision.probability,
                    "age_seconds": round(now - each.entry.created_at, 3),
                    "guards": {verdict.guard: verdict.reason or "passed" for verdict in each.decision.verdicts},
                    "objections": [verdict.guard for verdict in each.decision.objections],
                    "refused": each.refusal or None,
                }
                for each in self.candidates
            ],
            "decision": hit.found if hit else "semantic" if answer else "miss",
            "answered_by": answer.entry.text if answer else None,
        }


class Maintenance(Searches):
    """What maintenance asks of a cache."""

    def explain(
        self,
        query: str,
        *,
        max_results: int = DEFAULT_MAX_RESULTS,
        engine: str = DEFAULT_ENGINE,
        options: Mapping[str, Any] | None = None,
    ) -> Explanation:
        """Look `query` up as a search would, and tell every candidate with its verdicts; nothing is changed.

        Raises:
            InvalidInput: an unusable query.
            StoreError: the store cannot be read.
        """
        import time

        key = search_key(query, engine, options)
        exact = self._peek(key, max_results)
        year = time.gmtime(self.now).tm_year
        if self.semantics is None or isinstance(exact, Hit):
            return Explanation(query, key, exact, query, is_volatile(query, year), 0.0, ())
        meanings = self.semantics.meanings(query)
        judged = tuple(  # before the rule is asked for: a verifier that fails here changes it
            self.semantics.candidates_for(
                SEARCHES,
                (engine, canonical_json(options or {})),
                query,
                self.now,
                volatile_ttl=self.policy.volatile_ttl,
                unfit=lambda entry: self._unfit(entry, max_results),
            )
        )
        return Explanation(
            query,
            key,
            exact,
            meanings.expand(query) if meanings else query,
            is_volatile(query, year),
            self.semantics.rule.threshold,
            judged,
        )

    def _peek(self, key: str, wanted: int) -> Hit[Any] | Stale[Any] | Miss:
        entry = self._store.rows.get(SEARCHES, self._tenant, key)
        empty = self._believed_empty(key)
        if (entry is None or is_expired(entry.expires_at, self.now, entry.created_at)) and empty is not None:
            return Hit([], "no results", empty.text, 1.0, max(0.0, self.now - empty.created_at))
        if entry is None:
            return Miss("unknown")
        results = self._results(entry, wanted)
        if isinstance(results, Miss):
            return results
        age = max(0.0, self.now - entry.created_at)
        if is_expired(entry.expires_at, self.now, entry.created_at):
            return Stale(results, entry.text, age, max(0.0, self.now - entry.expires_at))
        return Hit(results, "exact", entry.text, 1.0, age)

    def select(
        self,
        tables: Sequence[str] = TABLES,
        *,
        older_than: float | None = None,
        query: str | None = None,
        only: Callable[[Entry], bool] = lambda _: True,
    ) -> dict[str, list[Entry]]:
        """Return the entries of `tables` that are older than so many seconds, or about this very query (in any case and
        spacing, of any engine), and of which `only` is true.

        Raises:
            InvalidInput: an unusable query.
            StoreError: the store cannot be read.
        """
        wanted = normalise(query) if query is not None else None

        def fits(entry: Entry) -> bool:
            old = older_than is None or self.now - entry.created_at > older_than
            return old and (wanted is None or " ".join(entry.text.lower().split()) == wanted) and only(entry)

        return {
            table: [_slim(entry) for entry in self._store.listings.scan(table, self._tenant) if fits(entry)]
            for table in tables
        }

    def delete(self, selected: Mapping[str, Sequence[Entry]]) -> dict[str, int]:
        """Delete what was selected; return how many rows of each table there still were."""
        return {
            table: self._store.rows.delete(table, self._tenant, [entry.key for entry in entries])
            for table, entries in selected.items()
        }

    def reembed(self, progress: Progress) -> int:
        """Embed every row that has no vector of the present embedder; return how many.

        Raises:
            InvalidInput: look-ups by meaning are off.
            EmbeddingError: the embedder failed.
            StoreError: the store cannot be written.
        """
        if self.semantics is None:
            raise InvalidInput("look-ups by meaning are off; set `semantic: true` first")
        embedder = self.semantics.embedder.id
        tools = self.unembedded_tools()
        total = len(tools) + sum(
            self._store.listings.stats(table, self._tenant, 0.0, embedder).unembedded for table in TABLES
        )
        done = 0
        for table in TABLES:
            while done < total and (embedded := self.semantics.embed_missing(table, BATCH)):
                done += embedded
                progress("embedding", done, max(done, total))
        for start in range(0, len(tools), BATCH):
            self.semantics.embed_rows(TOOLS, tools[start : start + BATCH])
            done += len(tools[start : start + BATCH])
            progress("embedding", done, max(done, total))
        return done

    def unembedded_tools(self) -> list[tuple[str, str]]:
        """Return key and query of the tools' rows that are to be found by meaning, and have no vector of the present
        embedder; none where look-ups by meaning are off.
        """
        if self.semantics is None:
            return []
        embedder, total = self.semantics.embedder.id, self._store.listings.stats(TOOLS, self._tenant, 0.0).total
        missing = self._store.nearest.unembedded(TOOLS, self._tenant, embedder, total)
        return [(key, query) for key, query in missing if in_words(query)]

    def entries(self, tables: Sequence[str]) -> Iterator[tuple[str, Entry]]:
        """Yield every row of `tables`, whole."""
        for table in tables:
            for entry in self._store.listings.scan(table, self._tenant):
                yield table, entry

    def restore(self, table: str, entry: Entry) -> bool:
        """Put an imported entry as it is, unless a newer one is there; return whether it was. Of documents that are
        known, the higher version is the newer one, and one that was read at an address stays the only one of it.

        Raises:
            InvalidInput: it belongs to no table that moves: access is given, never imported.
            StoreError: the store cannot take it.
        """
        if table not in MOVED:
            raise InvalidInput(f"entries of {table} are not imported")
        from harness.core.abbreviations import find_abbreviations

        if self._is_superseded(table, entry):
            return False
        teaches = tuple(find_abbreviations(taught_by(table, entry.payload)))
        self._store.rows.put(table, self._tenant, replace(entry, teaches=teaches))
        return True

    def _is_superseded(self, table: str, entry: Entry) -> bool:
        held = self._store.rows.get(table, self._tenant, entry.key)
        if table == KNOWLEDGE:
            url_key, version = entry.own.url_key, entry.own.version
            others = self._store.listings.find(KNOWLEDGE, self._tenant, {"url_key": url_key}) if url_key else ()
            return any(other.key != entry.key for other in others) or (held is not None and held.own.version >= version)
        if table == KNOWLEDGE_HISTORY and self._store.rows.get(KNOWLEDGE, self._tenant, entry.own.document_id) is None:
            return True  # of a document that was not added
        return held is not None and held.created_at >= entry.created_at


def _slim(entry: Entry) -> Entry:
    """Leave out what takes memory."""
    return Entry(entry.key, entry.text, b"", entry.created_at, entry.expires_at, entry.last_used_at, entry.own)
