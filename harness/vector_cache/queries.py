"""The query cache: what was asked and solved."""

import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from msgspec import Struct

from harness.core.entries import Neighbour
from harness.core.freshness import checked_ttl, is_expired
from harness.core.keys import normalise
from harness.core.tables import QUERIES, QueryColumns
from harness.errors import StoreError
from harness.vector_cache import checks
from harness.vector_cache.collection import Space, loaded

log = logging.getLogger(__name__)


def _any(_query: str, _similarity: float) -> bool:
    return True


class QueryHit(Struct, frozen=True):
    """What was stored for a query that means about the same: the payload, that query, their similarity (0..1), and the
    age of the answer in seconds.
    """

    payload: Any
    query: str
    similarity: float
    age: float


class Queries(Space):
    """What was asked and solved."""

    def put_query(self, query: str, payload: Any, *, ttl: float | None = None) -> None:
        """Keep what solves `query`, for `ttl` seconds (that of the cache if `None`).

        A query that is the same but for case and spacing is replaced. Expired queries go in the same transaction (in
        bounded number), and then the least recently used of this space beyond `max_queries`; chunks are not touched.

        Raises:
            InvalidInput: an empty or unusable query, a payload that is not JSON, or a `ttl` that is no lifetime.
            EmbeddingError: no vector could be made.
            StoreError: the store cannot be written.
        """
        lifetime = self.ttl if ttl is None else checked_ttl(ttl)
        text = checks.query(query)
        encoded = checks.as_json({"payload": payload}, "payload")  # a database keeps objects, whatever the payload is
        vector = self._embedder.embed([text])[0]
        now = self._clock()
        entry = self._entry(
            self._key(normalise(text)), text, encoded, now, now + lifetime, QueryColumns(self._space), vector
        )
        self._store.rows.put(QUERIES, self._tenant, entry, sweep_before=now)
        self._store.rows.evict(QUERIES, self._tenant, (self._space,), self.max_queries)

    def get_query(
        self,
        query: str,
        *,
        candidates: int = 3,
        accept: Callable[[str, float], bool] = _any,
        same_only: bool = False,
    ) -> QueryHit | None:
        """Return the nearest valid answer among the `candidates` nearest queries, or `None`.

        They are tried in falling similarity: one below the threshold ends the search, an expired one is deleted, one
        that `accept` (of that query and its similarity) does not take is passed over, and the first valid one is
        returned and its use noted. The very same query is the most similar one, and always taken; it is found without a
        vector, and with `same_only` no other one is looked for.

        Raises:
            InvalidInput: an empty or unusable query, or `candidates` below 1.
            EmbeddingError: no vector could be made.
            StoreError: the store cannot be used (`StoreCorrupt`: the row that answers is damaged).
        """
        candidates = checks.at_least(candidates, 1, "candidates")
        text = checks.query(query)
        same = self._key(normalise(text))
        for near in self._candidates(text, same, 0 if same_only else candidates):
            entry, now = near.entry, self._clock()
            if is_expired(entry.expires_at, now, entry.created_at):  # unless it has just been renewed
                self._note(partial(self._store.rows.delete, QUERIES, self._tenant, [entry.key], expired_at=now))
            elif entry.key == same or accept(entry.text, near.similarity):
                payload = loaded(entry, "payload")["payload"]
                self._note(partial(self._store.rows.touch, QUERIES, self._tenant, entry.key, now))
                return QueryHit(payload, entry.text, near.similarity, max(0.0, now - entry.created_at))
        return None

    def _note(self, write: Callable[[], object]) -> None:
        """Write what only helps later look-ups: a read-only, full or busy store still answers."""
        try:
            write()
        except StoreError as error:
            log.debug("not noted: %s", error)

    def _candidates(self, query: str, key: str, count: int) -> Iterator[Neighbour]:
        """Yield the query of this key, if it is there, and then the nearest others, each when it is asked for."""
        same = self._store.rows.get(QUERIES, self._tenant, key)
        others = self._store.listings.stats(QUERIES, self._tenant, self._clock()).total - (same is not None)
        if same is not None:
            yield Neighbour(same, 1.0)
        if count and others:  # where there is nothing to compare with, no vector is needed
            near = self._nearest(QUERIES, self._embedder.embed([query])[0], count, self.threshold)
            yield from [each for each in near if each.entry.key != key][: count - (same is not None)]
