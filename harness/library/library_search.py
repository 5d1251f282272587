"""Search of the library: by words and by meaning, fused by rank, the first ones in the order of their relevance."""

import logging
import time
from collections.abc import Callable, Sequence

from msgspec import Struct

from harness.core.entries import Entry
from harness.core.freshness import is_volatile
from harness.core.rank_fusion import reciprocal_rank_fusion
from harness.core.tables import LIBRARY
from harness.core.text import content_words, words
from harness.errors import EmbeddingError, ReaderError
from harness.library.held_passages import HeldPassage, passage_of
from harness.library.relevance import relevance
from harness.ports import Embedder, Progress, Reader, Store, Vectors, silent

log = logging.getLogger(__name__)

CANDIDATES = 50
"""Passages that words and meaning each propose."""
MAX_TERMS = 32
"""Words of a query that are searched."""
MAX_READ_CHARS = 1_200
"""Characters of a passage, with its title, that are read."""

Condition = Callable[[HeldPassage], bool]


class FoundPassage(Struct, frozen=True, kw_only=True):
    """A passage that a query found. `by_words` and `by_meaning` are its ranks (1 is best), `None` if it was not among
    the first there. `relevance` is how likely (0..1) it answers the query, `None` if it was not read.
    """

    passage: HeldPassage
    by_words: int | None
    by_meaning: int | None
    similarity: float | None
    relevance: float | None = None


class LibrarySearch:
    """Search of one tenant's passages. Passages found for a question about the present count only if they are younger
    than `volatile_ttl` seconds. Without a `reader`, passages keep the order of their ranks.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        tenant: str,
        volatile_ttl: float,
        reader: Reader | None,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._tenant = tenant
        self._volatile_ttl = volatile_ttl
        self._reader = reader
        self._clock = clock

    def search(
        self,
        query: str,
        k: int,
        *,
        read: int,
        max_age: float | None = None,
        only: Condition = lambda _: True,
        progress: Progress = silent,
    ) -> list[FoundPassage]:
        """Return up to `k` passages, best first. The reader orders the first `read` of them. `max_age` (seconds) and
        `only` leave others out.

        Raises:
            StoreError: the store cannot be read.
        """
        found = self._candidates(query, max_age, only)
        first = self._read(query, found[:read], progress) if read else []
        return [*first, *found[len(first) :]][:k]

    def _candidates(self, query: str, max_age: float | None, only: Condition) -> list[FoundPassage]:
        now = self._clock()
        oldest = now - max_age if max_age is not None else float("-inf")
        if is_volatile(query, time.gmtime(now).tm_year):
            oldest = max(oldest, now - self._volatile_ttl)

        def usable(rows: Sequence[Entry]) -> dict[str, HeldPassage]:
            read = (passage_of(row) for row in rows)
            return {each.key: each for each in read if each is not None and each.fetched_at >= oldest and only(each)}

        terms = list(dict.fromkeys(content_words(query) or words(query)))[:MAX_TERMS]
        worded = usable(self._store.nearest.by_words(LIBRARY, self._tenant, terms, k=CANDIDATES, now=now))
        vector = self._vector(query)
        near = (
            self._store.nearest.search(
                LIBRARY, self._tenant, (), vector, embedder=self._embedder.id, k=CANDIDATES, now=now
            )
            if vector is not None
            else []
        )
        similar = usable([each.entry for each in near])
        similarities = {each.entry.key: each.similarity for each in near}
        fused = reciprocal_rank_fusion([list(worded), list(similar)])
        by_words, by_meaning = ({key: rank for rank, key in enumerate(found, start=1)} for found in (worded, similar))
        return [
            FoundPassage(
                passage=worded.get(key) or similar[key],
                by_words=by_words.get(key),
                by_meaning=by_meaning.get(key),
                similarity=similarities.get(key),
            )
            for key in fused
        ]

    def _vector(self, query: str) -> "Vectors | None":
        try:
            vector: Vectors = self._embedder.embed([query])[0]
        except EmbeddingError as error:
            log.warning("the library is searched by words only: %s", error)
            return None
        return vector

    def _read(self, query: str, found: list[FoundPassage], progress: Progress) -> list[FoundPassage]:
        """Return these passages with their relevance, ordered by it and by the ranks before, fused."""
        if self._reader is None or not found:
            return found
        texts = [each.passage.shown[:MAX_READ_CHARS] for each in found]
        try:
            likely = relevance(query, texts, self._reader, self._embedder, progress)
        except (ReaderError, EmbeddingError) as error:
            log.warning("passages of the library are not read: %s", error)
            return found
        by_relevance = sorted(range(len(found)), key=lambda place: -likely[place])
        order = reciprocal_rank_fusion([by_relevance, range(len(found))])
        return [
            FoundPassage(
                passage=found[place].passage,
                by_words=found[place].by_words,
                by_meaning=found[place].by_meaning,
                similarity=found[place].similarity,
                relevance=round(likely[place], 4),
            )
            for place in order
        ]
