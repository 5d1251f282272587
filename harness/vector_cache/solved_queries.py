"""Solved queries and their payloads."""

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
from harness.vector_cache import vector_cache_checks as checks
from harness.vector_cache.vector_rows import VectorRows, loaded

log = logging.getLogger(__name__)


class QueryHit(Struct, frozen=True):
    """A stored answer to a query with the same meaning: its payload, its query, the similarity of both (0..1), and the
    age of the answer in seconds.
    """

    payload: Any
    query: str
    similarity: float
    age: float


class SolvedQueries:
    """Layer of solved queries; see `VectorCache`."""

    threshold: float
    ttl: float
    max_queries: int
    _rows: VectorRows

    def put_query(self, query: str, payload: Any, *, ttl: float | None = None) -> None:
        """Store the payload that solves `query`, for `ttl` seconds (that of the cache if `None`).

        It replaces a query that differs only in case and spacing. The same transaction deletes expired queries, up to a
        bounded number; then the least recently used of this space beyond `max_queries` are deleted. Chunks stay.

        Raises:
            InvalidInput: an empty or unusable query, a payload that is not JSON, or an unusable `ttl`.
            EmbeddingError: embedding failed.
            StoreError: the store cannot be written.
        """
        rows, lifetime = self._rows, checked_ttl(self.ttl if ttl is None else ttl)
        text = checks.query(query)
        encoded = checks.as_json({"payload": payload}, "payload")  # a database keeps objects, whatever the payload is
        vector = rows.embedder.embed([text])[0]
        now = rows.clock()
        entry = rows.entry(
            rows.key(normalise(text)), text, encoded, now, now + lifetime, QueryColumns(rows.space), vector
        )
        rows.store.rows.put(QUERIES, rows.tenant, entry, sweep_before=now)
        rows.store.rows.evict(QUERIES, rows.tenant, (rows.space,), self.max_queries)

    def get_query(
        self,
        query: str,
        *,
        candidates: int = 3,
        accept: Callable[[str, float], bool] = lambda _query, _similarity: True,
        same_only: bool = False,
    ) -> QueryHit | None:
        """Return the nearest valid answer among the `candidates` nearest queries, or `None`.

        Candidates are tried in order of similarity. One below the threshold ends the search, an expired one is deleted,
        and one that `accept` (called with its query and similarity) rejects is skipped. The first valid one is
        returned and its use recorded. The identical query comes first and is always accepted; finding it needs no
        vector. With `same_only`, no other query is searched.

        Raises:
            InvalidInput: an empty or unusable query, or `candidates` below 1.
            EmbeddingError: embedding failed.
            StoreError: the store cannot be used (`StoreCorrupt`: the row of the answer is damaged).
        """
        checks.at_least(candidates, 1, "candidates")
        rows, text = self._rows, checks.query(query)
        same = rows.key(normalise(text))
        for near in self._candidates(text, same, 0 if same_only else candidates):
            entry, now = near.entry, rows.clock()
            if is_expired(entry.expires_at, now, entry.created_at):  # unless it has just been renewed
                _try_to(partial(rows.store.rows.delete, QUERIES, rows.tenant, [entry.key], expired_at=now))
            elif entry.key == same or accept(entry.text, near.similarity):
                payload = loaded(entry, "payload")["payload"]
                _try_to(partial(rows.store.rows.touch, QUERIES, rows.tenant, entry.key, now))
                return QueryHit(payload, entry.text, near.similarity, max(0.0, now - entry.created_at))
        return None

    def _candidates(self, query: str, key: str, count: int) -> Iterator[Neighbour]:
        """Yield the query of this key, if stored, then the nearest others; each is read only when needed."""
        rows = self._rows
        same = rows.store.rows.get(QUERIES, rows.tenant, key)
        others = rows.store.listings.stats(QUERIES, rows.tenant, rows.clock()).total - (same is not None)
        if same is not None:
            yield Neighbour(same, 1.0)
        if count and others:  # without rows to compare, no vector is needed
            near = rows.nearest(QUERIES, rows.embedder.embed([query])[0], count, self.threshold)
            yield from [each for each in near if each.entry.key != key][: count - (same is not None)]


def _try_to(write: Callable[[], object]) -> None:
    """Write something that only helps later lookups: a read-only, full or busy store still answers."""
    try:
        write()
    except StoreError as error:
        log.debug("not recorded: %s", error)
