"""What a strategy sees of the memory: one collection of one tenant, without what is not to be found."""

from collections.abc import Mapping, Sequence

from harness.chat.strategies import Found
from harness.chat.word_index import WordIndex
from harness.core.entries import Entry
from harness.core.tables import MEMORY
from harness.ports import Store, Vectors


class View:
    """A `Searchable`: the collection `collection` of `tenant` as it is at `now`, but for what is `hidden`."""

    def __init__(
        self,
        store: Store,
        words: WordIndex,
        *,
        tenant: str,
        collection: str,
        embedder: str,
        now: float,
        hidden: frozenset[str],
    ) -> None:
        self._store = store
        self._words = words
        self._tenant = tenant
        self._collection = collection
        self._embedder = embedder
        self._now = now
        self._hidden = hidden

    def nearest(self, vector: Vectors, k: int, *, at_least: float = 0.0) -> Sequence[Found]:
        """See `Searchable.nearest`."""
        near = self._store.nearest.search(
            MEMORY,
            self._tenant,
            (self._collection,),
            vector,
            embedder=self._embedder,
            k=k + len(self._hidden),
            now=self._now,
            at_least=at_least,
        )
        found = (Found(each.entry.key, each.entry.created_at, each.similarity) for each in near)
        return [each for each in found if each.key not in self._hidden][:k]

    def with_words(self, words: Mapping[str, float], k: int) -> Sequence[Found]:
        """See `Searchable.with_words`."""
        worded = self._words.search(words, k + len(self._hidden))
        found = (Found(each.key, each.created_at, None, each.score) for each in worded)
        return [each for each in found if each.key not in self._hidden][:k]

    def before(self, key: str) -> str | None:
        """See `Searchable.before`."""
        return self._words.before(key)

    def similarity(self, entry: Entry, vector: Vectors) -> float:
        """Return the cosine (0..1) of a row's embedding to `vector`; 0 without one of this embedder."""
        import numpy as np

        where = entry.own._asdict()
        for row in self._store.listings.find(MEMORY, self._tenant, where):
            if row.key == entry.key and row.embedder == self._embedder and row.embedding:
                held = np.frombuffer(row.embedding, np.float32)
                return min(1.0, max(0.0, float(held @ vector))) if len(held) == len(vector) else 0.0
        return 0.0
