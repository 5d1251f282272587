"""View of the memories for a retrieval strategy, without the hidden ones."""

from collections.abc import Mapping, Sequence

from harness.chat.memory_rows import MemoryRows
from harness.chat.strategies import MemoryCandidate
from harness.core.entries import Entry
from harness.core.tables import MEMORY
from harness.ports import Vectors


class View:
    """A `Searchable`: one collection as it is at `now`, without the ids in `hidden`."""

    def __init__(self, rows: MemoryRows, *, now: float, hidden: frozenset[str]) -> None:
        self._rows = rows
        self._now = now
        self._hidden = hidden

    def nearest(self, vector: Vectors, k: int, *, at_least: float = 0.0) -> Sequence[MemoryCandidate]:
        """See `Searchable.nearest`."""
        near = self._rows.store.nearest.search(
            MEMORY,
            self._rows.tenant,
            (self._rows.collection,),
            vector,
            embedder=self._rows.embedder.id,
            k=k + len(self._hidden),
            now=self._now,
            at_least=at_least,
        )
        candidates = (MemoryCandidate(each.entry.key, each.entry.created_at, each.similarity) for each in near)
        return [each for each in candidates if each.key not in self._hidden][:k]

    def with_words(self, words: Mapping[str, float], k: int) -> Sequence[MemoryCandidate]:
        """See `Searchable.with_words`."""
        candidates = self._rows.words.search(words, k + len(self._hidden))
        return [each for each in candidates if each.key not in self._hidden][:k]

    def before(self, key: str) -> str | None:
        """See `Searchable.before`."""
        return self._rows.words.before(key)

    def similarity(self, entry: Entry, vector: Vectors) -> float:
        """Return the cosine (0..1) of a row's embedding to `vector`; 0 without an embedding of this embedder."""
        import numpy as np

        names = ("collection", "kind", "thread_id", "session_id", "continuation", "position")
        where = dict(zip(names, entry.own, strict=True))
        for row in self._rows.store.listings.find(MEMORY, self._rows.tenant, where):
            if row.key == entry.key and row.embedder == self._rows.embedder.id and row.embedding:
                stored = np.frombuffer(row.embedding, np.float32)
                return min(1.0, max(0.0, float(stored @ vector))) if len(stored) == len(vector) else 0.0
        return 0.0
