"""What both layers of a vector cache stand on: one tenant's space in a store."""

import time
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import orjson

from harness.core.entries import Entry, Neighbour
from harness.core.freshness import HOUR, checked_ttl
from harness.core.keys import canonical_json
from harness.errors import StoreCorrupt
from harness.ports import Embedder, Store, Vectors
from harness.vector_cache.checks import at_least, name, share

_ROUNDING = 1e-6
"""In float32 a vector's similarity to itself may come out as 0.9999999."""
_ALL_TIMES = float("-inf")
"""Asked for the rows that are not expired at this time, a store brings expired ones too."""


class Space:
    """The rows of one tenant and space, by vector and by key."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        space: str = "default",
        tenant: str = "default",
        threshold: float = 0.85,
        chunk_threshold: float | None = None,
        ttl: float = 48 * HOUR,
        max_queries: int = 200,
        chunk_tokens: tuple[int, int] = (200, 350),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.threshold = share(threshold, "threshold")
        self.chunk_threshold = self.threshold if chunk_threshold is None else share(chunk_threshold, "chunk_threshold")
        self.ttl = checked_ttl(ttl)
        self.max_queries = at_least(max_queries, 1, "max_queries")
        self.chunk_tokens = (at_least(chunk_tokens[0], 1, "chunk_tokens"), chunk_tokens[1])
        self._space = name(space, "a space needs a name")
        self._tenant = name(tenant, "a tenant needs a name")
        self._store = store
        self._embedder = embedder
        self._clock = clock

    def _nearest(self, table: str, vector: Vectors, k: int, least: float) -> list[Neighbour]:
        """Return the rows of this space that are near enough, expired or not."""
        return self._store.nearest.search(
            table,
            self._tenant,
            (self._space,),
            vector,
            embedder=self._embedder.id,
            k=k,
            now=_ALL_TIMES,
            at_least=max(0.0, least - _ROUNDING),
        )

    def _entry(
        self, key: str, text: str, payload: bytes, now: float, until: float, own: tuple[Any, ...], vector: Vectors
    ) -> Entry:
        return Entry(key, text, payload, now, until, now, own, vector.tobytes(), self._embedder.id)

    def _of(self, document: str) -> dict[str, Any]:
        """Return what tells the rows of a document, if this is an id."""
        return {"space": self._space, "document": name(document, "a document needs an id")}

    def _key(self, *parts: str) -> str:
        """Return the key of what `parts` name in this space; no two lists of parts share one."""
        return sha256(canonical_json([self._space, *parts]).encode()).hexdigest()


def loaded(entry: Entry, *needed: str) -> dict[str, Any]:
    """Return the JSON object that a row holds.

    Raises:
        StoreCorrupt: it is none, or not with the names that are `needed`.
    """
    try:
        held = orjson.loads(entry.payload)
    except ValueError:
        held = None
    if not isinstance(held, dict) or not held.keys() >= {*needed}:
        raise StoreCorrupt(f"what is kept for {entry.text[:60]!r} is damaged; run `harness cache verify --repair`")
    return held
