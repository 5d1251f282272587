"""Test doubles of the cache tests: words as vectors, and engines with fixed results."""

import hashlib
import re
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from msgspec import structs

from harness.cache import Cache, Semantics
from harness.core.equivalence import rule_for
from harness.errors import EmbeddingError

WORD = re.compile(r"\w+")
DEADLINE = 60
LITTLE = {"a", "the", "for", "of", "on", "in"}


class WordsEmbedder:
    """An embedder with one fixed direction for each word; a text is the sum of its words, in any order."""

    id = "words"
    dimension = 64

    def __init__(self) -> None:
        self.calls = 0

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """See `Embedder.embed`."""
        self.calls += 1
        return np.array([_sum_of(text) for text in texts], np.float32).reshape(len(texts), self.dimension)


def _sum_of(text: str) -> np.ndarray:
    total = np.zeros(WordsEmbedder.dimension, np.float32)
    for word in WORD.findall(text.lower()):
        if word not in LITTLE:
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
            total += np.random.default_rng(seed).standard_normal(WordsEmbedder.dimension).astype(np.float32)
    return total / (np.linalg.norm(total) or 1.0)


class BrokenEmbedder(WordsEmbedder):
    """An embedder whose model is missing. Calls at the same time fail together."""

    def __init__(self, at_once: int = 1) -> None:
        super().__init__()
        self._together = threading.Barrier(at_once)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """See `Embedder.embed`."""
        self.calls += 1
        with suppress(threading.BrokenBarrierError):  # a single thread does not wait for others
            self._together.wait(1)
        raise EmbeddingError("the model is missing; reinstall research-harness")


class Engine:
    """A search function that counts its calls, and returns or raises `found`."""

    def __init__(self, found: Any = None) -> None:
        self.found = results("about it") if found is None else found
        self.calls: list[str] = []

    def __call__(self, query: str, max_results: int) -> Any:
        """Answer one search."""
        self.calls.append(query)
        if isinstance(self.found, BaseException):
            raise self.found
        return self.found


def results(*bodies: str) -> list[dict[str, Any]]:
    """Return a result for each of the texts."""
    return [{"title": "t", "href": f"https://example.org/{n}", "body": body} for n, body in enumerate(bodies)]


def semantics(store: Any, embedder: Any = None, **rest: Any) -> Semantics:
    """Return lookups by meaning with `WordsEmbedder` and the shipped rule."""
    rule = rest.pop("rule", lambda _: rule_for(0.01))
    return Semantics(store, embedder or WordsEmbedder(), rule=rule, **rest)


def semantic_cache(store: Any, *, embedder: Any = None, **rest: Any) -> Cache:
    """Return a cache that answers by meaning."""
    return Cache(store, semantics=semantics(store, embedder), **rest)


def bare(outcome: Any) -> Any:
    """Return an outcome without key, expiry, origin and payload of the row."""
    blank = {"key": "", "expires_at": 0.0, "origin": None, "payload": b""}
    return structs.replace(outcome, **{name: value for name, value in blank.items() if hasattr(outcome, name)})


def wait_until_all_wait(cache: Cache, count: int) -> None:
    """Wait until all but one of `count` threads wait for the flight of that one."""
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        flights = list(cache._context.flights._flights.values())
        if flights and len(flights[0]._condition._waiters) == count - 1:
            return
        time.sleep(0.005)
    raise AssertionError("they never waited")
