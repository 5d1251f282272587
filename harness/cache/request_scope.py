"""Scope of one agent request: within it, results are handed out once."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from harness.storage.forks import free_in_child

MAX_SEEN = 10_000
"""Keys that one request remembers; the oldest are forgotten first."""


class Seen:
    """Keys handed out in one request, each of a tenant. Safe for threads and tasks."""

    def __init__(self) -> None:
        self._lock = free_in_child(threading.Lock())
        self._keys: dict[tuple[str, str], None] = {}

    def first(self, tenant: str, key: str) -> bool:
        """Record that a key is handed out; return whether it is for the first time, even among simultaneous calls."""
        with self._lock:
            if (tenant, key) in self._keys:
                return False
            self._keys[tenant, key] = None
            if len(self._keys) > MAX_SEEN:
                del self._keys[next(iter(self._keys))]
            return True

    def __len__(self) -> int:
        return len(self._keys)


_seen: ContextVar[Seen | None] = ContextVar("harness_seen", default=None)


@contextmanager
def request_scope(seen: Seen | None = None) -> Iterator[Seen]:
    """Open the scope of one request: `research_cache` hands out every key once in it.

    Tasks that begin within it share it, and so do `asyncio.to_thread` and threads that run in a copy of the context;
    other threads begin without one. To continue the same request later, or in another thread, pass the yielded `Seen`.
    Without a scope, keys are handed out every time.
    """
    mine = Seen() if seen is None else seen
    token = _seen.set(mine)
    try:
        yield mine
    finally:
        _seen.reset(token)


def is_first(tenant: str, key: str) -> bool:
    """Record that a key is handed out; return whether it is for the first time in this request. Without one, it is."""
    seen = _seen.get()
    return seen is None or seen.first(tenant, key)
