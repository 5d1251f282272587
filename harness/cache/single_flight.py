"""Single flight: of all threads and processes that ask the same at the same time, one computes for all."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack
from contextvars import ContextVar
from typing import Generic, TypeVar

from harness.errors import StoreError
from harness.ports import Store
from harness.storage.forks import reset_in_child

log = logging.getLogger(__name__)
T = TypeVar("T")

_led: ContextVar[frozenset[tuple[int, str]]] = ContextVar("led", default=frozenset())
"""Flights that this context computes: a function that asks the same again must not wait for itself."""


class SingleFlight(Generic[T]):
    """Single flight among the threads of this process and, by locks of the store, among processes.

    `wait` is how long (seconds) to wait for another process.
    """

    def __init__(self, store: Store, wait: float) -> None:
        self._store = store
        self._wait = wait
        self._warned = False
        self.reset()
        reset_in_child(self)

    def reset(self) -> None:
        """See `Resettable`: a child must not wait for a thread that only its parent has."""
        self._lock = threading.Lock()
        self._flights: dict[str, Future[T]] = {}

    def run(self, name: str, find: Callable[[], T | None], compute: Callable[[], T]) -> tuple[T, bool]:
        """Return the value of `name`, and whether this call computed it.

        One thread of each process takes the store's lock; it calls `find()` before `compute()`, because another process
        may have stored the value meanwhile. An exception of `compute` (or `find`) is raised in all threads that wait,
        once. If the computing thread is interrupted, or its process dies, another takes over. If `compute` asks the
        same again, that inner call computes by itself.
        """
        if (id(self), name) in _led.get():
            value = find()
            return (compute(), True) if value is None else (value, False)
        while True:
            mine: Future[T] = Future()
            with self._lock:
                flight = self._flights.setdefault(name, mine)
            if flight is mine:
                return self._lead(name, mine, find, compute)
            try:
                return flight.result(), False
            except CancelledError:
                continue

    def _lead(
        self, name: str, flight: "Future[T]", find: Callable[[], T | None], compute: Callable[[], T]
    ) -> tuple[T, bool]:
        led = _led.set(_led.get() | {(id(self), name)})
        try:
            with ExitStack() as stack:
                self._take_lock(name, stack)
                value = find()
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
            _led.reset(led)
            with self._lock:
                self._flights.pop(name, None)
        flight.set_result(value)
        return value, computed

    def _take_lock(self, name: str, stack: ExitStack) -> None:
        """Wait for the lock among processes. If the store has none, two processes may compute the same."""
        try:
            stack.enter_context(self._store.locks.hold(name, self._wait))
        except StoreError as error:
            if not self._warned:
                self._warned = True
                log.warning("processes that ask the same do not wait for each other: %s", error)
