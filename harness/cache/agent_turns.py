"""One request of an agent: what it has been given in it is not given again."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from harness.storage.forks import free_in_child

MAX_SEEN = 10_000
"""Keys that one request remembers; the first are forgotten for more."""


class Seen:
    """The keys that one request has been given, each of a tenant. Safe for any number of threads and tasks."""

    def __init__(self) -> None:
        self._lock = free_in_child(threading.Lock())
        self._keys: dict[tuple[str, str], None] = {}

    def first(self, tenant: str, key: str) -> bool:
        """Note that the key is given; return whether it is for the first time. Of all who ask at once, one is first."""
        place = (tenant, key)
        with self._lock:
            if place in self._keys:
                return False
            self._keys[place] = None
            if len(self._keys) > MAX_SEEN:
                del self._keys[next(iter(self._keys))]
            return True

    def __len__(self) -> int:
        return len(self._keys)


_seen: ContextVar[Seen | None] = ContextVar("harness_seen", default=None)


@contextmanager
def request_scope(seen: Seen | None = None) -> Iterator[Seen]:
    """Make what runs within one request: `research_cache` hands every key out once in it.

    Tasks that begin within share it, and so do `asyncio.to_thread` and threads that run in a copy of the context; other
    threads begin without one. Pass what was yielded, or a `Seen` of one's own, to go on with the same request later or
    in another thread. Without a scope nothing is held back.
    """
    mine = Seen() if seen is None else seen
    token = _seen.set(mine)
    try:
        yield mine
    finally:
        _seen.reset(token)


def is_first(tenant: str, key: str) -> bool:
    """Note that a key is handed out; say whether it is for the first time in this request, if there is one."""
    seen = _seen.get()
    return seen is None or seen.first(tenant, key)
