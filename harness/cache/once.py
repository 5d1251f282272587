"""Compute once: of all threads and processes that ask the same at the same time, one computes, and all get it."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Generic, TypeVar

from harness.ports import Store

T = TypeVar("T")


class Once(Generic[T]):
    """Single flight among the threads of this process and, by the store's turns, among processes."""

    def __init__(self, store: Store, wait: float) -> None:
        self._store = store
        self._wait = wait
        self._lock = threading.Lock()
        self._flights: dict[tuple[int, str], Future[T]] = {}

    def run(self, name: str, found: Callable[[], T | None], compute: Callable[[], T]) -> tuple[T, bool]:
        """Return the value of `name`, and whether this very call computed it.

        One thread of each process waits for its turn among the processes; it asks `found()` before it computes,
        because another process may have done so meanwhile. An exception of `compute` (or `found`) reaches the threads
        that wait, once. If the thread that computes is interrupted, or its process dies, another takes over.
        """
        while True:
            mine: Future[T] = Future()
            place = (os.getpid(), name)  # a forked child must not wait for a thread that only its parent has
            with self._lock:
                flight = self._flights.setdefault(place, mine)
            if flight is mine:
                return self._lead(place, mine, found, compute)
            try:
                return flight.result(), False
            except CancelledError:
                continue

    def _lead(
        self, place: tuple[int, str], flight: "Future[T]", found: Callable[[], T | None], compute: Callable[[], T]
    ) -> tuple[T, bool]:
        try:
            with self._store.turn(place[1], self._wait):
                value = found()
                computed = value is None
                if value is None:
                    value = compute()
        except Exception as error:
            flight.set_exception(error)
            raise
        except BaseException:
            flight.cancel()
            raise
        finally:
            with self._lock:
                del self._flights[place]
        flight.set_result(value)
        return value, computed
