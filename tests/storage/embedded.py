"""Entries with vectors: each key always has the same vector, so any process can compute the nearest ones."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness.core.entries import Entry
from harness.ports import Store
from harness.storage.sqlite.entries import row_values
from harness.storage.sqlite.store import SqliteStore
from harness.storage.tables import TABLES
from tests.storage.entries import NOW, RESEARCH, SEARCHES, TENANT, an_entry

Vectors: TypeAlias = NDArray[np.float32]

DIMENSION = 32
EMBEDDER = f"fake-{DIMENSION}"
SCOPES = {SEARCHES: ("ddgs", '{"region":"us-en"}'), RESEARCH: ("comparison", "planner-1")}
"""The scopes that the entries of `an_entry` belong to."""


def vector_of(key: str, dimension: int = DIMENSION) -> Vectors:
    """Return the unit vector of a key: of two different keys, about at right angles."""
    rng = np.random.default_rng(int.from_bytes(sha256(key.encode()).digest()[:8], "big"))
    vector = rng.standard_normal(dimension).astype(np.float32)
    return vector / np.linalg.norm(vector)


def near(vector: Vectors, share: float, key: str = "noise") -> Vectors:
    """Return a unit vector near `vector`, turned towards that of `key` by `share`."""
    turned = vector + share * vector_of(key, len(vector))
    return (turned / np.linalg.norm(turned)).astype(np.float32)


def embedded(key: str, table: str = SEARCHES, vector: Vectors | None = None, **changes: Any) -> Entry:
    """Return an entry with a vector (its key's own if none is given)."""
    held = vector_of(key) if vector is None else vector
    return an_entry(key, table, **({"embedding": held.tobytes(), "embedder": EMBEDDER} | changes))


def ask(store: Store, vector: Vectors, k: int = 3, table: str = SEARCHES, **changes: Any) -> list[tuple[str, float]]:
    """Return the nearest keys with their similarities; `changes` replace the usual scope."""
    asked: dict[str, Any] = {"tenant": TENANT, "scope": SCOPES[table], "embedder": EMBEDDER, "now": NOW} | changes
    tenant, scope = asked.pop("tenant"), asked.pop("scope")
    return [
        (each.entry.key, each.similarity) for each in store.nearest.search(table, tenant, scope, vector, k=k, **asked)
    ]


def keys_near(store: Store, vector: Vectors, k: int = 3, table: str = SEARCHES, **changes: Any) -> list[str]:
    """Return the keys that are nearest."""
    return [key for key, _ in ask(store, vector, k, table, **changes)]


def brute_force(keys: Sequence[str], vector: Vectors, k: int = 3) -> list[str]:
    """Return which of the keys, each with its own vector, are nearest."""
    similarities = np.stack([vector_of(key) for key in keys]) @ vector
    return [keys[place] for place in np.lexsort((keys, -similarities))[:k]]


def fill(store: SqliteStore, keys: Iterable[str], **changes: Any) -> None:
    """Put many embedded rows in one transaction, with the effect of single puts."""
    rows = [row_values(TABLES[SEARCHES], TENANT, embedded(key, **changes)) for key in keys]
    store._connections.write(lambda connection: connection.executemany(TABLES[SEARCHES].upsert, rows))
