"""Solved queries and their payloads."""

import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from msgspec import Struct

from harness.core.entries import Neighbour
from harness.core.freshness import checked_ttl, is_expired
from harness.core.keys import normalise
from harness.errors import StoreError
from harness.vector_cache import vector_cache_checks as checks
from harness.vector_cache.vector_rows import VectorRows, loaded

log = logging.getLogger(__name__)

QUERIES = "agent_queries"


def accept_any(_query: str, _similarity: float) -> bool:
    """Accept every candidate."""
    return True


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

    def __init__(self, rows: VectorRows) -> None:
        self._rows = rows

    def put(self, query: str, payload: Any, ttl: float, max_queries: int) -> None:
        """See `VectorCache.put_query`."""
        rows, lifetime = self._rows, checked_ttl(ttl)
        text = checks.query(query)
        encoded = checks.as_json({"payload": payload}, "payload")  # a database keeps objects, whatever the payload is
        vector = rows.embedder.embed([text])[0]
        now = rows.clock()
        entry = rows.entry(rows.key(normalise(text)), text, encoded, now, now + lifetime, (rows.space,), vector)
        rows.store.put(QUERIES, rows.tenant, entry, sweep_before=now)
        rows.store.evict(QUERIES, rows.tenant, (rows.space,), max_queries)

    def get(
        self, query: str, candidates: int, accept: Callable[[str, float], bool], threshold: float
    ) -> QueryHit | None:
        """See `VectorCache.get_query`; with 0 `candidates`, only the identical query answers."""
        rows, text = self._rows, checks.query(query)
        same = rows.key(normalise(text))
        for near in self._candidates(text, same, candidates, threshold):
            entry, now = near.entry, rows.clock()
            if is_expired(entry.expires_at, now, entry.created_at):  # unless it has just been renewed
                _try_to(partial(rows.store.delete, QUERIES, rows.tenant, [entry.key], expired_at=now))
            elif entry.key == same or accept(entry.text, near.similarity):
                payload = loaded(entry, "payload")["payload"]
                _try_to(partial(rows.store.touch, QUERIES, rows.tenant, entry.key, now))
                return QueryHit(payload, entry.text, near.similarity, max(0.0, now - entry.created_at))
        return None

    def _candidates(self, query: str, key: str, count: int, threshold: float) -> Iterator[Neighbour]:
        """Yield the query of this key, if stored, then the nearest others; each is read only when needed."""
        rows = self._rows
        same = rows.store.get(QUERIES, rows.tenant, key)
        others = rows.store.stats(QUERIES, rows.tenant, rows.clock()).total - (same is not None)
        if same is not None:
            yield Neighbour(same, 1.0)
        if count and others:  # without rows to compare, no vector is needed
            near = rows.nearest(QUERIES, rows.embedder.embed([query])[0], count, threshold)
            yield from [each for each in near if each.entry.key != key][: count - (same is not None)]


def _try_to(write: Callable[[], object]) -> None:
    """Write something that only helps later lookups: a read-only, full or busy store still answers."""
    try:
        write()
    except StoreError as error:
        log.debug("not recorded: %s", error)
