"""The library: every passage that was read, found by words and by meaning, and judged like a fresh one."""

import time
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from math import inf
from typing import get_args

from harness.core.chunking import passages
from harness.core.entries import Entry, Outline, TableStats
from harness.core.freshness import is_expired
from harness.core.keys import canonical_url, digest_of, normalise
from harness.core.tables import LIBRARY, PAGES, SEARCHES
from harness.core.text import clean
from harness.errors import InvalidInput, ReaderError
from harness.library.held_passages import (
    MAX_DOCUMENT_CHARS,
    HeldPassage,
    ReadDocument,
    SourceKind,
    addresses_of,
    documents_in,
    passage_key,
    passage_of,
)
from harness.library.library_engine import LibraryEngine
from harness.library.library_index import LibraryIndex, LibraryPolicy
from harness.library.library_search import Condition, FoundPassage, LibrarySearch, in_language
from harness.ports import Embedder, LanguageDetector, Progress, Reader, Store, silent

__all__ = ["FoundPassage", "HeldPassage", "Library", "LibraryPolicy", "ReadDocument", "in_language"]

MAX_PASSAGES = 100
READ_FIRST = 20
"""Passages that the reader orders in a search: up to half a second."""


@dataclass(eq=False, repr=False)
class Library:
    """Passages of one tenant, in rows that outlive the cached answers they came with. `rarity` is higher for a rarer
    word. `detector` finds the language of passages; without one, they have the language that their page declares.

    Caching an answer indexes nothing: `update` adds the passages of all answers cached since, by any process.
    """

    store: Store
    embedder: Embedder
    _: KW_ONLY
    tenant: str = "default"
    policy: LibraryPolicy = field(default_factory=LibraryPolicy)
    reader: Reader | None = None
    rarity: Callable[[str], int] = len
    clock: Callable[[], float] = time.time
    detector: LanguageDetector | None = None

    def __post_init__(self) -> None:
        shared = (self.store, self.embedder, self.tenant, self.policy, self.clock)
        self.index = LibraryIndex(*shared, self.detector)
        self._search = LibrarySearch(*shared, self.reader, self.rarity)

    def search(
        self,
        query: str,
        k: int = 10,
        *,
        read: int = READ_FIRST,
        max_age: float | None = None,
        only: Condition = lambda _: True,
        about: str = "",
        progress: Progress = silent,
    ) -> list[FoundPassage]:
        """Return up to `k` passages, best first, after adding those of all answers cached since the last search. The
        reader orders the first `read` of them. `max_age` (seconds) and `only` leave others out. `about` is the question
        that the query is asked for: passages for one about the present are young.

        Raises:
            InvalidInput: an unusable query or `k`.
            StoreError: the store cannot be used.
        """
        normalise(query)
        if not 1 <= k <= MAX_PASSAGES:
            raise InvalidInput(f"a search of the library returns 1 to {MAX_PASSAGES} passages, not {k}")
        self.index.update(progress)
        return self._search.search(query, k, read=read, max_age=max_age, only=only, about=about, progress=progress)

    def engine(self) -> LibraryEngine:
        """Return a search engine over the passages that are held now.

        Raises:
            StoreError: the store cannot be used.
        """
        self.index.update()
        newest = [(row.key, row.created_at) for row in self.store.listings.recent(LIBRARY, self.tenant, 1)]
        expired, total = self.store.listings.expiring(LIBRARY, self.tenant, [self.clock(), inf])
        version = digest_of([total - expired, newest])
        return LibraryEngine(lambda query, k: self._search.search(query, k, read=0), version)

    @property
    def least_relevance(self) -> float | None:
        """The relevance (0..1) from which on a passage answers; `None` without a reader."""
        if self.reader is None:
            return None
        try:
            return self.reader.calibration.answers
        except ReaderError:
            return None

    def has_read(self, url: str, text: str, before: float) -> bool:
        """Return whether every passage of a text, or the whole page at its URL, was read before a time (seconds since
        the epoch) and is still held.

        Raises:
            StoreError: the store cannot be read.
        """
        now, rows = self.clock(), self.store.rows

        def is_held(row: Entry | None) -> bool:
            return row is not None and row.created_at < before and not is_expired(row.expires_at, now, row.created_at)

        keys = [passage_key(each.text) for each in passages(clean(text, MAX_DOCUMENT_CHARS))]
        if keys and all(is_held(rows.get(LIBRARY, self.tenant, key)) for key in keys):
            return True
        page = {"url": canonical_url(url), "source": "page"}
        return any(map(is_held, self.store.listings.find(LIBRARY, self.tenant, page)))

    def stats(self) -> TableStats:
        """Count the passages; `unembedded` are found by their words only."""
        return self.store.listings.stats(LIBRARY, self.tenant, self.clock(), self.index.embedder.id)

    def passages_of(self, url: str) -> list[HeldPassage]:
        """Return the passages of a URL, the documents one after another, each in order."""
        rows = self.store.listings.find(LIBRARY, self.tenant, {"url": canonical_url(url)})
        held = [each for each in map(passage_of, rows) if each is not None]
        return sorted(held, key=lambda each: (each.source, each.found_by, each.position))

    def passage(self, key: str) -> HeldPassage | None:
        """Return a passage by its key; `None` if there is none, or it has expired."""
        row = self.store.rows.get(LIBRARY, self.tenant, key)
        return None if row is None or is_expired(row.expires_at, self.clock(), row.created_at) else passage_of(row)

    def newest(self, limit: int, offset: int = 0) -> list[Outline]:
        """Return up to `limit` rows after the first `offset`, the last read first, after adding the passages of all
        answers cached since the last search, without their vectors. Expired rows count.
        """
        self.index.update(seconds=0)
        return self.store.listings.timeline(LIBRARY, self.tenant, limit=limit, offset=offset)

    def passages(self) -> Iterator[HeldPassage]:
        """Yield every passage, the oldest first."""
        for row in self.store.listings.scan(LIBRARY, self.tenant):
            if (held := passage_of(row)) is not None:
                yield held

    def touch(self, keys: list[str]) -> None:
        """Record that passages were used: the least recently used go first when space is short."""
        if self.policy.writes:
            now = self.clock()
            for key in keys:
                self.store.rows.touch(LIBRARY, self.tenant, key, now)

    def forget(self, url: str) -> tuple[int, int]:
        """Delete the passages of a URL, and the cached pages and searches that contain them; return how many
        of each. Those of an address that leads to it, or that it leads to, are deleted, too. Text that another source
        has goes with them; knowledge stays (see `Knowledge.delete`).

        Raises:
            StoreError: the store cannot be written.
        """
        pages = [(row.key, addresses_of(row)) for row in self.store.listings.scan(PAGES, self.tenant)]
        address = canonical_url(url)
        found = [each for each in pages if address in each[1]]
        addresses = {address}.union(*(each for _, each in found))
        passages = sum(
            self.store.rows.replace(LIBRARY, self.tenant, (), instead_of={"url": each, "source": source})
            for each in sorted({url, *addresses})  # passages of earlier versions may have the URL as it was given
            for source in get_args(SourceKind)
            if source != "knowledge"
        )
        searches = [
            row.key
            for row in self.store.listings.scan(SEARCHES, self.tenant)
            if any(document.url in addresses for document in documents_in(SEARCHES, row))
        ]
        answers = self.store.rows.delete(SEARCHES, self.tenant, searches)
        return passages, answers + self.store.rows.delete(PAGES, self.tenant, [key for key, _ in found])
