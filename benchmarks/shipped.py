"""This project's rule and cache, put together as the workbench does at its defaults."""

import time
from collections.abc import Callable
from functools import cache

from harness.cache import Cache, Semantics
from harness.cache.semantic import MAX_DISTANCE
from harness.core.abbreviations import Meanings
from harness.core.equivalence import SHIPPED, Decision, decide
from harness.embedders.minilm import vocabulary
from harness.ports import Embedder, Store

_words = cache(vocabulary)


def decision(a: str, b: str, similarity: float, meanings: Meanings | None = None) -> Decision:
    """Decide by the shipped rule; `meanings` are the abbreviations that cached texts would have taught."""
    return decide(a, b, similarity, rule=SHIPPED, known=_words(), meanings=meanings)


def served(decided: Decision) -> bool:
    """Say whether the cache serves what was so decided: it must also be near enough."""
    return decided.accepted and near_enough(decided.similarity)


def near_enough(similarity: float) -> bool:
    """Say whether two queries are within the distance beyond which the cache serves nothing, whatever the rule says."""
    return 1.0 - similarity <= MAX_DISTANCE


def open_cache(store: Store, embedder: Embedder | None, clock: Callable[[], float] = time.time) -> Cache:
    """Return a cache on `store`; without an embedder, one of exact hits alone."""
    semantics = None if embedder is None else Semantics(store, embedder, rule=lambda: SHIPPED, words=vocabulary)
    return Cache(store, semantics=semantics, clock=clock)
