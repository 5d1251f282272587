"""Search of the library: by words and by meaning, fused by rank, the first ones in the order of their relevance."""

import logging
import time
from collections.abc import Callable, Iterable
from math import inf

from msgspec import Struct
from msgspec.structs import replace

from harness.core.entries import Entry
from harness.core.foreign_text import foreign_language
from harness.core.freshness import is_volatile
from harness.core.languages import checked_language
from harness.core.multilingual_vectors import understands
from harness.core.question_language import question_language
from harness.core.rank_fusion import reciprocal_rank_fusion
from harness.core.search_words import search_terms
from harness.core.tables import KNOWLEDGE, LIBRARY
from harness.core.text import one_line
from harness.errors import EmbeddingError, ReaderError
from harness.library.held_passages import HeldPassage, passage_of
from harness.library.library_index import LibraryPolicy
from harness.library.relevance import fused_with_ranks, improves_order, relevance
from harness.ports import Embedder, Progress, Reader, Store, Vectors, silent

log = logging.getLogger(__name__)

CANDIDATES = 50
"""Passages that words and meaning each propose, at least."""
MAX_CANDIDATES = 3_200
"""Passages that each proposes at most where conditions leave many of them out."""
MAX_TERMS = 4
"""Words of a query that are searched, the rarest ones: frequent words match many passages, and say little."""
MAX_FOREIGN_TERMS = 16
"""The same for a query in another language than English, where it is not known which words are rare, and a word may be
several n-grams. On XQuAD, 4 of them find 0.57 of the Chinese paragraphs first, 12 find 0.89, 16 as many as all.
"""
MAX_READ_CHARS = 1_200
"""Characters of a passage, with its title, that are read."""

Condition = Callable[[HeldPassage], bool]


def in_language(tag: str) -> Condition:
    """Return the condition for passages in the language of a tag (`de`, `de-AT`), for any passage with "".

    Raises:
        InvalidInput: an invalid tag or an unknown language.
    """
    language = checked_language(tag) if tag else ""
    return lambda passage: language in {"", passage.language}


class FoundPassage(Struct, frozen=True, kw_only=True):
    """A passage that a query found. `by_words` and `by_meaning` are its ranks (1 is best), `None` if it was not among
    the first there. `relevance` is how likely (0..1) it answers the query, `None` if it was not read.
    """

    passage: HeldPassage
    by_words: int | None
    by_meaning: int | None
    similarity: float | None
    relevance: float | None = None


class LibrarySearch(Struct, frozen=True):
    """Search of one tenant's passages. Passages found for a question about the present count only if they are younger
    than `volatile_ttl` seconds. Without a `reader`, passages keep the order of their ranks. `rarity` is higher for a
    rarer word.
    """

    store: Store
    embedder: Embedder
    tenant: str
    policy: LibraryPolicy
    clock: Callable[[], float]
    reader: Reader | None
    rarity: Callable[[str], int]

    def search(
        self,
        query: str,
        k: int,
        *,
        read: int,
        max_age: float | None = None,
        only: Condition = lambda _: True,
        about: str = "",
        progress: Progress = silent,
    ) -> list[FoundPassage]:
        """Return up to `k` passages, best first. See `Library.search`.

        Raises:
            StoreError: the store cannot be read.
        """
        now = self.clock()
        year = time.gmtime(now).tm_year
        if is_volatile(query, year) or is_volatile(about, year):
            max_age = min(self.policy.volatile_ttl, inf if max_age is None else max_age)
        found = self._candidates(query, max(k, read), -inf if max_age is None else now - max_age, now, only)
        first = self._read(query, found[:read], progress) if read else []
        return [*first, *found[len(first) :]][:k]

    def _candidates(self, query: str, k: int, oldest: float, now: float, only: Condition) -> list[FoundPassage]:
        similarities: dict[str, float] = {}

        def usable(rows: Iterable[Entry]) -> dict[str, HeldPassage]:
            read = (passage_of(row) for row in rows)
            return {
                each.key: each
                for each in read
                if each is not None and each.fetched_at >= oldest and only(each) and self._is_known(each)
            }

        def by_words(most: int) -> list[Entry]:
            return self.store.nearest.by_words(LIBRARY, self.tenant, terms, k=most, now=now)

        def by_meaning(most: int) -> list[Entry]:
            if vector is None:
                return []
            near = self.store.nearest.search(
                LIBRARY, self.tenant, (), vector, embedder=self.embedder.id, k=most, now=now
            )
            similarities.update((each.entry.key, each.similarity) for each in near)
            return [each.entry for each in near]

        most_terms = MAX_TERMS if question_language(query) in {"en", ""} else MAX_FOREIGN_TERMS
        terms = sorted(search_terms(query), key=self.rarity, reverse=True)[:most_terms]
        vector = self._vector(query)
        worded, similar = (_enough(find, usable, k) for find in (by_words, by_meaning))
        word_ranks, meaning_ranks = (
            {key: rank for rank, key in enumerate(found, start=1)} for found in (worded, similar)
        )
        return [
            FoundPassage(
                passage=worded.get(key) or similar[key],
                by_words=word_ranks.get(key),
                by_meaning=meaning_ranks.get(key),
                similarity=similarities.get(key),
            )
            for key in reciprocal_rank_fusion([list(worded), list(similar)])
        ]

    def _is_known(self, passage: HeldPassage) -> bool:
        """Return whether a passage of knowledge still has its document."""
        at = passage.knowledge
        return not at or self.store.rows.get(KNOWLEDGE, self.tenant, at) is not None

    def _vector(self, query: str) -> "Vectors | None":
        if not understands(self.embedder.id, foreign_language(query)):
            return None
        try:
            vector: Vectors = self.embedder.embed([query])[0]
        except EmbeddingError as error:
            log.warning("the library is searched by words only: %s", error)
            return None
        return vector

    def _read(self, query: str, found: list[FoundPassage], progress: Progress) -> list[FoundPassage]:
        """Return these passages with their relevance, ordered by it and the ranks before (see `improves_order`)."""
        if self.reader is None or not found:
            return found
        texts = [one_line(each.passage.in_context)[:MAX_READ_CHARS] for each in found]
        try:
            likely = relevance(query, texts, self.reader, self.embedder, progress)
        except (ReaderError, EmbeddingError) as error:
            log.warning("passages of the library are not read: %s", error)
            return found
        order = fused_with_ranks(likely) if improves_order(query) else range(len(found))
        return [replace(found[place], relevance=round(likely[place], 4)) for place in order]


def _enough(
    find: Callable[[int], list[Entry]], usable: Callable[[Iterable[Entry]], dict[str, HeldPassage]], wanted: int
) -> dict[str, HeldPassage]:
    """Return the usable ones of the passages that `find` proposes; let it propose more while too few are usable."""
    most = max(CANDIDATES, wanted)
    while True:
        rows = find(most)
        found = usable(rows)
        if len(found) >= wanted or len(rows) < most or most >= MAX_CANDIDATES:
            return found
        most *= 4
