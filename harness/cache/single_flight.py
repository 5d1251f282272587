"""Compute once: of all threads and processes that ask the same at the same time, one computes, and all get it."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack
from typing import Generic, TypeVar

from harness.errors import StoreError
from harness.ports import Store
from harness.storage.forks import begins_anew

log = logging.getLogger(__name__)
T = TypeVar("T")


class Once(Generic[T]):
    """Single flight among the threads of this process and, by the store's turns, among processes."""

    def __init__(self, store: Store, wait: float) -> None:
        self._store = store
        self._wait = wait
        self._said = False
        self.begin_anew()
        begins_anew(self)

    def begin_anew(self) -> None:
        """See `Forked`: a child must not wait for a thread that only its parent has."""
        self._lock = threading.Lock()
        self._flights: dict[str, Future[T]] = {}

    def run(self, name: str, found: Callable[[], T | None], compute: Callable[[], T]) -> tuple[T, bool]:
        """Return the value of `name`, and whether this very call computed it.

        One thread of each process waits for its turn among the processes; it asks `found()` before it computes,
        because another process may have done so meanwhile. An exception of `compute` (or `found`) reaches the threads
        that wait, once. If the thread that computes is interrupted, or its process dies, another takes over.
        """
        while True:
            mine: Future[T] = Future()
            with self._lock:
                flight = self._flights.setdefault(name, mine)
            if flight is mine:
                return self._lead(name, mine, found, compute)
            try:
                return flight.result(), False
            except CancelledError:
                continue

    def _lead(
        self, name: str, flight: "Future[T]", found: Callable[[], T | None], compute: Callable[[], T]
    ) -> tuple[T, bool]:
        try:
            with ExitStack() as stack:
                self._take_turn(name, stack)
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
                self._flights.pop(name, None)
        flight.set_result(value)
        return value, computed

    def _take_turn(self, name: str, stack: ExitStack) -> None:
        """Wait for the turn among processes. Where none can be had, two may compute: better than none."""
        try:
            stack.enter_context(self._store.locks.hold(name, self._wait))
        except StoreError as error:
            if not self._said:
                self._said = True
                log.warning("processes that ask the same do not wait for each other: %s", error)
