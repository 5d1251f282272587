"""History of searches, researches and documents: found by meaning, or listed by time."""

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from heapq import nsmallest
from itertools import islice
from typing import Any, Literal, TypeAlias

import orjson
from msgspec import Struct
from msgspec.structs import asdict, replace

from harness.core.durations import seconds_in
from harness.core.entries import Entry, Neighbour
from harness.core.freshness import is_expired
from harness.core.origins import origins_of
from harness.core.tables import COLUMNS, KNOWLEDGE, RESEARCH, RUNS, SEARCHES
from harness.core.text import clean, one_line, shorten
from harness.errors import (
    AccessDenied,
    EmbeddingError,
    IndexUnavailable,
    InvalidInput,
    NotFound,
    SearchBackendError,
    StoreError,
)
from harness.ports import Embedder, Store, Vectors
from harness.research.history_excerpts import excerpt_of
from harness.research.repeated_runs import MAX_RUNS, Repeats, repeats_in

log = logging.getLogger(__name__)

Source: TypeAlias = Literal["search", "research", "knowledge"]

TABLES_OF: Mapping[Source, tuple[str, ...]] = {
    "search": (SEARCHES,),
    "research": (RUNS, RESEARCH),
    "knowledge": (KNOWLEDGE,),
}
"""The tables of each source; a research has the record of its run and, if stored, the gathered context."""
SOURCES: tuple[Source, ...] = tuple(TABLES_OF)

FLOOR = 0.2
"""Matches below this similarity are hidden: for all-MiniLM-L6-v2 they have no common subject."""
MAX_LIMIT = 100
MAX_OFFSET = 10_000
LEAST_NEAR = 50
"""Fewest rows requested: of 100,000 rows, an index then finds 94 % of the 10 nearest instead of 83 %."""
MAX_NEAR = 1_000
"""Most similar rows that can be paged through."""
MAX_TITLE = 300
MAX_SNIPPET = 300
MAX_URL = 2_000
MAX_EXAMINED = 1_000
"""Rows that are read to find those with or without results."""
EMBED_AT_ONCE = 64
MAX_IDS = 100
EVER = 0.0
"""With this as the present time, a store returns expired rows too."""


class HistoryEntry(Struct, frozen=True):
    """One past search, research or document. `id` is unique within its `source`; `timestamp` is when it was stored, in
    seconds since the epoch; `similarity` (0..1) is to the query, 1.0 without one. `url` is the address of its first
    result or of its source, empty if it has none. A repeated research (same question, same engines) is one entry:
    `count` is the number of runs, `ids` lists up to `MAX_IDS` of them, newest first. `found` is false for a search
    without results, and for a research without a report. The texts come from outside: data, bounded, never markup.
    """

    source: Source
    id: str
    title: str
    snippet: str
    timestamp: float
    similarity: float
    url: str
    expired: bool
    count: int = 1
    ids: tuple[str, ...] = ()
    found: bool = True


class HistoryPage(Struct, frozen=True):
    """One page of entries, and whether more follow."""

    items: list[HistoryEntry]
    more: bool


class StoredEntry(Struct, frozen=True):
    """One stored row: its table, the row, and the table's own columns by name."""

    table: str
    entry: Entry
    about: dict[str, Any]

    @property
    def data(self) -> Any:
        """The payload: decoded JSON, or text if it is not JSON."""
        try:
            return orjson.loads(self.entry.payload)
        except ValueError:
            return self.entry.payload.decode(errors="replace")


class _Found(Struct, frozen=True):
    """A row to show, before its payload is read. `place` is its position in its table's timeline."""

    source: Source
    table: str
    key: str
    created_at: float
    similarity: float
    place: int = 0
    entry: Entry | None = None
    runs: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[float, float, str, int, str]:
        """Sort key: most similar first, then newest, then a fixed order."""
        return -self.similarity, -self.created_at, self.table, self.place, self.key


class _Wanted(Struct, frozen=True):
    """Limits of a page, and the number of entries up to its end."""

    tables: tuple[tuple[Source, str], ...]
    since: float
    count: int
    origins: tuple[str, ...]


class History(Struct, frozen=True):
    """One tenant's history. Every lookup reads the rows themselves, so deleted entries are never found."""

    store: Store
    embedder: Embedder
    tenant: str
    clock: Callable[[], float]

    def page(
        self,
        query: str = "",
        *,
        since: float = 0.0,
        source: str = "all",
        limit: int = 20,
        offset: int = 0,
        origin: str = "own",
        found: bool | None = None,
    ) -> HistoryPage:
        """Return up to `limit` (1..100) entries after the first `offset`, stored at or after `since` (seconds since the
        epoch), of one `source` or all. With a query: by meaning, most similar first; without: newest first. Expired
        entries are included and marked. From page to page each entry appears once, as long as none is stored or
        deleted. `origin` filters by who caused them (see `origins_of`); the default is users and agents. `found` leaves
        only entries with (or without) results, among the first `MAX_EXAMINED` of each kind.

        Raises:
            InvalidInput: an unknown source or origin, or a number out of range.
            SearchBackendError: lookups by meaning are not available.
            StoreError: the store cannot be read.
        """
        tables = _tables(source)
        if not (1 <= limit <= MAX_LIMIT and 0 <= offset <= MAX_OFFSET and 0 <= since < float("inf")):
            raise InvalidInput(
                f"limit must be from 1 to {MAX_LIMIT}, offset from 0 to {MAX_OFFSET:,}, since a time; not "
                f"{limit}, {offset}, {since}"
            )
        query = one_line(clean(query, 10_000))
        count = offset + limit + 1
        wanted = _Wanted(tables, since, count if found is None else MAX_EXAMINED, origins_of(origin))
        repeats = Repeats()
        if ("research", RUNS) in tables:
            repeats = repeats_in(self.store, self.tenant, since=since, origins=wanted.origins)
        rows = self._near(query, wanted, repeats) if query else self._newest(wanted, repeats)
        chosen = nsmallest(wanted.count, rows, key=lambda each: each.order)
        if found is None:
            items = [entry for entry in map(self._entry, chosen[offset:][:limit]) if entry is not None]
            return HistoryPage(items, more=len(chosen) > offset + limit)
        fitting = (entry for entry in map(self._entry, chosen) if entry is not None and entry.found is found)
        items = list(islice(fitting, offset, count))
        return HistoryPage(items[:limit], more=len(items) > limit)

    def entry(self, source: str, key: str) -> StoredEntry:
        """Return one entry in full.

        Raises:
            InvalidInput: an unknown source.
            NotFound: there is no such entry (any more).
            StoreError: the store cannot be read.
        """
        for _, table in _tables(source):
            if (entry := self.store.rows.get_whole(table, self.tenant, key)) is not None:
                return StoredEntry(table, entry, dict(zip(COLUMNS[table].own_names, entry.own, strict=True)))
        raise NotFound(f"there is no {source} {clean(key, 80)!r}, or it was deleted")

    def _newest(self, wanted: _Wanted, repeats: Repeats) -> Iterator[_Found]:
        for source, table in wanted.tables:
            limit = MAX_RUNS if source == "research" else wanted.count
            newest = self.store.listings.timeline(
                table, self.tenant, since=wanted.since, limit=limit, origins=wanted.origins
            )
            for place, outline in enumerate(newest):
                if not repeats.hides(table, outline.key, outline.text):
                    runs = repeats.of(table, outline.key)
                    yield _Found(source, table, outline.key, outline.created_at, 1.0, place, runs=runs)

    def _near(self, query: str, wanted: _Wanted, repeats: Repeats) -> Iterator[_Found]:
        try:
            vector = self.embedder.embed([query])[0]
            for source, table in wanted.tables:
                self._embed_some(table)
                for scope in self.store.nearest.scopes(table, self.tenant, self.embedder.id):
                    for near in self._near_in(table, scope, vector, wanted, repeats):
                        entry, similarity = near.entry, shown(near.similarity)
                        runs = repeats.of(table, entry.key)
                        yield _Found(source, table, entry.key, entry.created_at, similarity, entry=entry, runs=runs)
        except (EmbeddingError, IndexUnavailable) as error:
            raise SearchBackendError(f"lookup by meaning is not available: {error}") from error

    def _near_in(
        self, table: str, scope: tuple[str, ...], vector: Vectors, wanted: _Wanted, repeats: Repeats
    ) -> list[Neighbour]:
        """Return `wanted.count` rows, if the `MAX_NEAR` most similar ones contain that many, and all rows that are
        displayed with the same similarity as the last of them: of equals, the newest come first, which a store does not
        sort by.
        """
        count, requested = wanted.count, min(max(wanted.count + 1, LEAST_NEAR), MAX_NEAR)
        while True:
            found = self.store.nearest.search(
                table, self.tenant, scope, vector, embedder=self.embedder.id, k=requested, now=EVER, at_least=FLOOR
            )
            fitting = self._fitting(table, found, wanted, repeats)
            enough = len(fitting) >= count and shown(found[-1].similarity) < shown(fitting[count - 1].similarity)
            if enough or len(found) < requested or requested == MAX_NEAR:
                return fitting
            requested = min(4 * requested, MAX_NEAR)

    def _fitting(self, table: str, found: list[Neighbour], wanted: _Wanted, repeats: Repeats) -> list[Neighbour]:
        """Leave out older rows, rows of other origins, and earlier runs of the same research."""
        keys = [near.entry.key for near in found]
        made_for, among = self.store.usage.origins(table, self.tenant, keys), {*keys}
        return [
            near
            for near in found
            if near.entry.created_at >= wanted.since
            and made_for.get(near.entry.key, "user") in wanted.origins
            and not repeats.hides(table, near.entry.key, near.entry.text, among)
        ]

    def _embed_some(self, table: str) -> None:
        """Embed some rows without a vector of this embedder: records of runs, and rows written with another one."""
        missing = self.store.nearest.unembedded(table, self.tenant, self.embedder.id, EMBED_AT_ONCE)
        vectors = self.embedder.embed([text for _, text in missing]) if missing else ()
        try:
            for (key, text), vector in zip(missing, vectors, strict=True):
                if table == KNOWLEDGE:
                    self._embed_title(key, text, vector)
                else:
                    self.store.nearest.embed(table, self.tenant, key, vector.tobytes(), self.embedder.id)
        except (StoreError, AccessDenied) as error:  # a read-only or busy store can still answer
            log.debug("rows of %s without a vector stay so: %s", table, error)

    def _embed_title(self, key: str, title: str, vector: Vectors) -> None:
        """Store the vector of a document's title, unless the document changes at this moment."""
        row = self.store.rows.get(KNOWLEDGE, self.tenant, key)
        if row is not None and row.text == title:
            embedded = replace(row, embedding=vector.tobytes(), embedder=self.embedder.id)
            self.store.rows.swap(KNOWLEDGE, self.tenant, embedded, expecting={"version": row.own.version})

    def _entry(self, found: _Found) -> HistoryEntry | None:
        """Return the entry of a row; `None` if it was deleted meanwhile."""
        entry = found.entry or self.store.rows.get(found.table, self.tenant, found.key)
        if entry is None:
            return None
        excerpt = excerpt_of(found.table, entry.payload)
        return HistoryEntry(
            source=found.source,
            id=entry.key,
            title=shorten(clean(entry.text, 2 * MAX_TITLE), MAX_TITLE),
            snippet=shorten(clean(excerpt.snippet, 2 * MAX_SNIPPET), MAX_SNIPPET),
            timestamp=entry.created_at,
            similarity=found.similarity,
            url=one_line(clean(excerpt.url, MAX_URL)),
            expired=is_expired(entry.expires_at, self.clock(), entry.created_at),
            count=max(1, len(found.runs)),
            ids=found.runs[:MAX_IDS] or (entry.key,),
            found=excerpt.found,
        )


def as_json(entry: HistoryEntry) -> dict[str, Any]:
    """Return an entry for programs: JSON-able, the time in ISO 8601 UTC, `None` if it has no URL."""
    moment = datetime.fromtimestamp(entry.timestamp, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {**asdict(entry), "timestamp": moment, "url": entry.url or None}


def shown(similarity: float) -> float:
    """Return a similarity as displayed, with three decimals."""
    return round(similarity, 3)


_UNIX_TIME = re.compile(r"[0-9]{9,11}(\.[0-9]{1,9})?", re.ASCII)
"""A time from March 1973 on. `20261122` is read as an ISO 8601 date instead."""


def since_of(text: str, now: float) -> float:
    """Parse a start time: a date or time in ISO 8601 (UTC unless it names a zone), a Unix time in seconds (`1795342500`
    or `1795342500.5`), or an age such as `7d`; empty means any time. `now` and the result are seconds since the epoch.

    Raises:
        InvalidInput: it is none of these.
    """
    if not text.strip():
        return 0.0
    if _UNIX_TIME.fullmatch(text.strip()):
        return float(text)
    with suppress(ValueError):
        moment = datetime.fromisoformat(text.strip()[:64])
        return max(0.0, (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    with suppress(InvalidInput):
        if age := seconds_in(text):
            return max(0.0, now - age)
    shortened = clean(text, 40)
    raise InvalidInput(
        f"since is a date like 2026-11-22, a time in ISO 8601 or Unix seconds, or an age like 7d, not {shortened!r}"
    )


def _tables(source: str) -> tuple[tuple[Source, str], ...]:
    """Return the tables of one source, or of `all`, each with its source."""
    found = tuple((each, table) for each in SOURCES if source in {each, "all"} for table in TABLES_OF[each])
    if not found:
        raise InvalidInput(f"no such source: {clean(source, 50)!r}; choose {', '.join(SOURCES)} or all")
    return found
