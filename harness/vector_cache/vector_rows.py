"""Rows of one tenant and space in a store, as both layers of a vector cache use them."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import orjson

from harness.core.entries import Entry, Neighbour
from harness.core.keys import canonical_json
from harness.errors import StoreCorrupt
from harness.ports import Embedder, Store, Vectors
from harness.vector_cache.vector_cache_checks import name

_ROUNDING = 1e-6
"""In float32 a vector's similarity to itself may be 0.9999999."""
_ALL_TIMES = float("-inf")
"""With this time as now, a store returns expired rows, too."""


class VectorRows:
    """Rows of one tenant and space, by vector and by key."""

    def __init__(self, store: Store, embedder: Embedder, tenant: str, space: str, clock: Callable[[], float]) -> None:
        self.store = store
        self.embedder = embedder
        self.tenant = tenant
        self.space = space
        self.clock = clock

    def nearest(self, table: str, vector: Vectors, k: int, least: float) -> list[Neighbour]:
        """Return the `k` nearest rows of this space with a similarity of `least` or more, expired or not."""
        return self.store.nearest(
            table,
            self.tenant,
            (self.space,),
            vector,
            embedder=self.embedder.id,
            k=k,
            now=_ALL_TIMES,
            at_least=max(0.0, least - _ROUNDING),
        )

    def entry(
        self, key: str, text: str, payload: bytes, now: float, until: float, own: tuple[Any, ...], vector: Vectors
    ) -> Entry:
        """Return a row with this vector."""
        return Entry(key, text, payload, now, until, now, own, vector.tobytes(), self.embedder.id)

    def of_document(self, document: str) -> dict[str, Any]:
        """Return the column values that select a document's rows.

        Raises:
            InvalidInput: `document` is not an id.
        """
        return {"space": self.space, "document": name(document, "a document needs an id")}

    def key(self, *parts: str) -> str:
        """Return the key of `parts` in this space; two lists of parts never share one."""
        return sha256(canonical_json([self.space, *parts]).encode()).hexdigest()


def loaded(entry: Entry, *needed: str) -> dict[str, Any]:
    """Return the JSON object in a row.

    Raises:
        StoreCorrupt: it is not an object, or lacks a `needed` name.
    """
    try:
        value = orjson.loads(entry.payload)
    except ValueError:
        value = None
    if not isinstance(value, dict) or not value.keys() >= {*needed}:
        raise StoreCorrupt(f"the row of {entry.text[:60]!r} is damaged; run `harness cache verify --repair`")
    return value
