"""Single flight for asyncio tasks, and threads that await something on the event loop."""

import asyncio
import concurrent.futures
import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from contextvars import ContextVar, copy_context
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

_led: ContextVar[frozenset[Hashable]] = ContextVar("led", default=frozenset())
"""Flights that this task works for: what it asks again must not wait for itself."""


class _Flight:
    """A running task, and the number of tasks that wait for it."""

    def __init__(self, task: "asyncio.Task[Any]") -> None:
        self.task = task
        self.waiting = 0


class Flights(Generic[K]):
    """Single flight among the tasks of each event loop."""

    def __init__(self) -> None:
        self._flights: dict[tuple[asyncio.AbstractEventLoop, K], _Flight] = {}

    async def run(
        self,
        key: K,
        work: Callable[[], Coroutine[Any, Any, T]],
        *,
        copy: Callable[[T], T] = lambda result: result,
        goes_on: bool = False,
    ) -> T:
        """Return what `work()` returns, or raise what it raises, to all tasks of this loop that await `key` now.

        The task that began the work gets the result, the others a `copy` of it. When the last waiting task is
        cancelled, the work is cancelled, too, unless it `goes_on`: then it ends by itself, or with the loop. An inner
        call of the work for the same `key` works by itself.
        """
        place = (asyncio.get_running_loop(), key)
        if (id(self), place) in _led.get():
            return await work()
        flight = self._flights.get(place)
        mine = flight is None
        if flight is None:
            flight = self._flights[place] = _Flight(asyncio.create_task(self._lead(place, work)))
            flight.task.add_done_callback(lambda task: self._done(place, task))
        flight.waiting += 1
        try:
            result: T = await asyncio.shield(flight.task)
            return result if mine else copy(result)
        finally:
            flight.waiting -= 1
            if not flight.waiting and not goes_on and not flight.task.done():
                flight.task.cancel()
                self._forget(place, flight.task)

    async def _lead(self, place: tuple[asyncio.AbstractEventLoop, K], work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        _led.set(_led.get() | {(id(self), place)})  # of this task alone
        return await work()

    def _done(self, place: tuple[asyncio.AbstractEventLoop, K], task: "asyncio.Task[Any]") -> None:
        self._forget(place, task)
        if not task.cancelled():
            task.exception()  # asyncio warns about an exception that no task reads

    def _forget(self, place: tuple[asyncio.AbstractEventLoop, K], task: "asyncio.Task[Any]") -> None:
        if (flight := self._flights.get(place)) is not None and flight.task is task:
            del self._flights[place]


async def in_a_thread(work: Callable[["Await"], T], *, daemon: bool = True) -> T:
    """Run `work(wait)` in a new thread, where `wait(awaitable)` awaits something on this loop and returns its result.
    When this is cancelled, the awaited task is, too; the thread continues, and if it is not a `daemon`, Python waits
    for it before it exits.

    A thread pool would not do: waiting threads could take all the places that the coroutines need.
    """
    bridge = _Bridge(asyncio.get_running_loop())
    ended: concurrent.futures.Future[T] = concurrent.futures.Future()
    ended.set_running_or_notify_cancel()  # from now on only the thread ends it

    def run() -> None:
        try:
            result = work(bridge.wait)
        except BaseException as error:  # noqa: BLE001 - it is raised where it is awaited
            ended.set_exception(error)
        else:
            ended.set_result(result)

    threading.Thread(target=copy_context().run, args=(run,), name="harness call", daemon=daemon).start()
    try:
        return await asyncio.wrap_future(ended)
    finally:
        bridge.give_up()


Await = Callable[[Awaitable[Any]], Any]


class _Bridge:
    """Bridge from a thread to the loop: awaits something there, until it is given up."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._lock = threading.Lock()
        self._given_up = False
        self._running: concurrent.futures.Future[Any] | None = None

    def wait(self, awaitable: Awaitable[Any]) -> Any:
        """Await on the loop, and return the result; call it in another thread than the loop's."""
        awaiting = _awaited(awaitable)
        with self._lock:
            if self._given_up:
                awaiting.close()
                if inspect.iscoroutine(awaitable):
                    awaitable.close()
                raise asyncio.CancelledError
            self._running = asyncio.run_coroutine_threadsafe(awaiting, self._loop)
        try:
            return self._running.result()
        except concurrent.futures.CancelledError:
            raise asyncio.CancelledError from None  # as a BaseException: another caller takes over

    def give_up(self) -> None:
        """Cancel the awaited task, if it still runs, and refuse others."""
        with self._lock:
            self._given_up = True
        if self._running is not None:
            self._running.cancel()


async def _awaited(awaitable: Awaitable[T]) -> T:
    return await awaitable
