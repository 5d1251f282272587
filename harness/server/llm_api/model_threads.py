"""Threads of model calls: limited in number, and not ended by a client that leaves."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from harness.cache.async_flight import in_a_thread
from harness.errors import TooManyRequests

T = TypeVar("T")

MOST = 128
MOST_OF_TENANT = 64
"""Model calls at the same time: of the server, and of one tenant."""


class ModelThreads:
    """Threads of model calls. A call may take minutes, so it has its own thread and no place in a pool that other
    requests need. It ends by itself, and its answer is stored, whether or not its client still waits.
    """

    def __init__(self, most: int = MOST, most_of_tenant: int = MOST_OF_TENANT) -> None:
        self._most = most
        self._most_of_tenant = most_of_tenant
        self._lock = threading.Lock()
        self._running = Counter[str]()
        self._tasks = set[asyncio.Task[object]]()

    def start(self, tenant: str, work: Callable[[], T]) -> "asyncio.Task[T]":
        """Run `work` in a new thread; return the task that awaits its result.

        Raises:
            TooManyRequests: too many calls are running.
        """
        with self._lock:
            if self._running.total() >= self._most or self._running[tenant] >= self._most_of_tenant:
                raise TooManyRequests("too many model calls are running; try again in a moment", 1.0)
            self._running[tenant] += 1

        def counted() -> T:
            try:
                return work()
            finally:
                with self._lock:
                    self._running[tenant] -= 1
                    self._running += Counter()  # drops tenants without calls

        task = asyncio.create_task(in_a_thread(lambda _: counted()))
        self._tasks.add(task)  # the loop holds tasks only weakly
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: "asyncio.Task[object]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # asyncio warns about an exception that no task reads
