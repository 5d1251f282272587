"""The library: every passage that was read, found by words and by meaning, and judged like a fresh one."""

import time
from collections.abc import Callable, Iterator
from math import inf
from typing import Self, get_args

from msgspec import Struct

from harness.core.chunking import passages
from harness.core.entries import Entry, Outline, TableStats
from harness.core.freshness import DAY, HOUR, is_expired
from harness.core.keys import canonical_url, digest_of, normalise
from harness.core.tables import LIBRARY, PAGES, SEARCHES
from harness.core.text import clean
from harness.errors import InvalidInput, ReaderError
from harness.library.held_passages import (
    MAX_DOCUMENT_CHARS,
    HeldPassage,
    ReadDocument,
    SourceKind,
    documents_in,
    passage_key,
    passage_of,
)
from harness.library.library_engine import LibraryEngine
from harness.library.library_index import LibraryIndex
from harness.library.library_search import Condition, FoundPassage, LibrarySearch, in_language
from harness.ports import Embedder, LanguageDetector, Progress, Reader, Store, silent
from harness.settings import Settings

__all__ = ["FoundPassage", "HeldPassage", "Library", "LibraryPolicy", "ReadDocument", "in_language"]

MAX_PASSAGES = 100
READ_FIRST = 20
"""Passages that the reader orders in a search: up to half a second."""
MIB = 2**20


class LibraryPolicy(Struct, frozen=True, kw_only=True):
    """Lifetimes (seconds) and size of a library. `ttl` keeps a passage longer than the answer it came with; passages
    about the present expire with that answer, and for questions about the present those older than `volatile_ttl` do
    not count. `max_mb` limits the size in MiB. Without `writes`, nothing is added.
    """

    ttl: float = 7 * DAY
    volatile_ttl: float = HOUR
    max_mb: float = 2_000
    writes: bool = True

    @classmethod
    def of(cls, settings: Settings, *, writes: bool) -> Self:
        """Return the policy that settings make."""
        return cls(
            ttl=settings.library_ttl,
            volatile_ttl=settings.volatile_ttl,
            max_mb=settings.library_max_mb,
            writes=writes,
        )


class Library:
    """Passages of one tenant, in rows that outlive the cached answers they came with. `rarity` is higher for a rarer
    word. `detector` finds the language of passages; without one, they have the language that their page declares.

    Caching an answer indexes nothing: `update` adds the passages of all answers cached since, by any process.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        tenant: str = "default",
        policy: LibraryPolicy = LibraryPolicy(),  # noqa: B008 - immutable
        reader: Reader | None = None,
        rarity: Callable[[str], int] = len,
        clock: Callable[[], float] = time.time,
        detector: LanguageDetector | None = None,
    ) -> None:
        self._store = store
        self._tenant = tenant
        self._clock = clock
        self._reader = reader
        self.policy = policy
        self.rarity = rarity
        self.index = LibraryIndex(
            store,
            embedder,
            tenant=tenant,
            ttl=policy.ttl,
            max_bytes=int(policy.max_mb * MIB),
            writes=policy.writes,
            clock=clock,
            detector=detector,
        )
        self._search = LibrarySearch(
            store, embedder, tenant=tenant, volatile_ttl=policy.volatile_ttl, reader=reader, rarity=rarity, clock=clock
        )

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
        newest = [(row.key, row.created_at) for row in self._store.listings.recent(LIBRARY, self._tenant, 1)]
        expired, total = self._store.listings.expiring(LIBRARY, self._tenant, [self._clock(), inf])
        version = digest_of([total - expired, newest])
        return LibraryEngine(lambda query, k: self._search.search(query, k, read=0), version)

    @property
    def least_relevance(self) -> float | None:
        """The relevance (0..1) from which on a passage answers; `None` without a reader."""
        if self._reader is None:
            return None
        try:
            return self._reader.calibration.answers
        except ReaderError:
            return None

    def has_read(self, url: str, text: str, before: float) -> bool:
        """Return whether every passage of a text, or the whole page at its URL, was read before a time (seconds since
        the epoch) and is still held.

        Raises:
            StoreError: the store cannot be read.
        """
        now, rows = self._clock(), self._store.rows

        def is_held(row: Entry | None) -> bool:
            return row is not None and row.created_at < before and not is_expired(row.expires_at, now, row.created_at)

        keys = [passage_key(each.text) for each in passages(clean(text, MAX_DOCUMENT_CHARS))]
        if keys and all(is_held(rows.get(LIBRARY, self._tenant, key)) for key in keys):
            return True
        page = {"url": canonical_url(url), "source": "page"}
        return any(map(is_held, self._store.listings.find(LIBRARY, self._tenant, page)))

    def stats(self) -> TableStats:
        """Count the passages; `unembedded` are found by their words only."""
        return self._store.listings.stats(LIBRARY, self._tenant, self._clock(), self.index.embedder.id)

    def passages_of(self, url: str) -> list[HeldPassage]:
        """Return the passages of a URL, the documents one after another, each in order."""
        rows = self._store.listings.find(LIBRARY, self._tenant, {"url": canonical_url(url)})
        held = [each for each in map(passage_of, rows) if each is not None]
        return sorted(held, key=lambda each: (each.source, each.found_by, each.position))

    def passage(self, key: str) -> HeldPassage | None:
        """Return a passage by its key; `None` if there is none, or it has expired."""
        row = self._store.rows.get(LIBRARY, self._tenant, key)
        return None if row is None or is_expired(row.expires_at, self._clock(), row.created_at) else passage_of(row)

    def newest(self, limit: int, offset: int = 0) -> list[Outline]:
        """Return up to `limit` rows after the first `offset`, the last read first, after adding the passages of all
        answers cached since the last search, without their vectors. Expired rows count.
        """
        self.index.update(seconds=0)
        return self._store.listings.timeline(LIBRARY, self._tenant, limit=limit, offset=offset)

    def passages(self) -> Iterator[HeldPassage]:
        """Yield every passage, the oldest first."""
        for row in self._store.listings.scan(LIBRARY, self._tenant):
            if (held := passage_of(row)) is not None:
                yield held

    def touch(self, keys: list[str]) -> None:
        """Record that passages were used: the least recently used go first when space is short."""
        if self.policy.writes:
            now = self._clock()
            for key in keys:
                self._store.rows.touch(LIBRARY, self._tenant, key, now)

    def forget(self, url: str) -> tuple[int, int]:
        """Delete the passages of a URL, and the cached pages and searches that contain them; return how many
        of each. Text that another source has, too, goes with them; knowledge stays (see `Knowledge.delete`).

        Raises:
            StoreError: the store cannot be written.
        """
        address = canonical_url(url)
        passages = sum(
            self._store.rows.replace(LIBRARY, self._tenant, (), instead_of={"url": address, "source": source})
            for source in get_args(SourceKind)
            if source != "knowledge"
        )
        answers = 0
        for table in (SEARCHES, PAGES):
            keys = [
                row.key
                for row in self._store.listings.scan(table, self._tenant)
                if any(document.url == address for document in documents_in(table, row))
            ]
            answers += self._store.rows.delete(table, self._tenant, keys)
        return passages, answers
