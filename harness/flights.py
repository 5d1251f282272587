"""One execution for all tasks that await the same; and synchronous work whose asynchronous part runs on the loop."""

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Coroutine, Hashable
from contextvars import copy_context
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class _Flight:
    """What is being awaited, and by how many."""

    def __init__(self, task: "asyncio.Task[Any]") -> None:
        self.task = task
        self.waiting = 0


class Flights(Generic[K]):
    """Single flight among the tasks of each event loop."""

    def __init__(self) -> None:
        self._flights: dict[tuple[asyncio.AbstractEventLoop, K], _Flight] = {}

    async def run(self, key: K, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return what `work()` returns, or raise what it raises, to all tasks of this loop that await `key` now.

        It goes on while one of them waits; when the last is cancelled, it is cancelled, too.
        """
        place = (asyncio.get_running_loop(), key)
        flight = self._flights.get(place)
        if flight is None:
            flight = self._flights[place] = _Flight(asyncio.create_task(work()))
        flight.waiting += 1
        try:
            result: T = await asyncio.shield(flight.task)
            return result
        finally:
            flight.waiting -= 1
            if flight.task.done() or not flight.waiting:
                flight.task.cancel()
                if self._flights.get(place) is flight:
                    del self._flights[place]


async def on_this_loop(work: Callable[[Callable[[], T]], T], begin: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run `work(compute)` in a thread of its own, where `compute()` runs the coroutine of `begin()` on this loop and
    waits for it. When this is cancelled, so is the coroutine.

    Not in a pool of threads: those who wait there could take all the places that the coroutines need.
    """
    loop = asyncio.get_running_loop()
    bridge = _Bridge(loop, begin)
    ended: concurrent.futures.Future[T] = concurrent.futures.Future()
    ended.set_running_or_notify_cancel()  # from now on nobody but the thread ends it

    def run() -> None:
        try:
            result = work(bridge.compute)
        except BaseException as error:  # noqa: BLE001 - it is raised where it is awaited
            ended.set_exception(error)
        else:
            ended.set_result(result)

    threading.Thread(target=copy_context().run, args=(run,), name="harness tool", daemon=True).start()
    try:
        return await asyncio.wrap_future(ended)
    finally:
        bridge.give_up()


class _Bridge(Generic[T]):
    """From a thread to the loop: runs a coroutine there, unless nobody waits for it any more."""

    def __init__(self, loop: asyncio.AbstractEventLoop, begin: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._loop = loop
        self._begin = begin
        self._lock = threading.Lock()
        self._given_up = False
        self._running: concurrent.futures.Future[T] | None = None

    def compute(self) -> T:
        """Run the coroutine on the loop, and wait for it; to be called in another thread than the loop's."""
        with self._lock:
            if self._given_up:
                raise asyncio.CancelledError
            self._running = asyncio.run_coroutine_threadsafe(self._begin(), self._loop)
        try:
            return self._running.result()
        except concurrent.futures.CancelledError:
            raise asyncio.CancelledError from None  # as a BaseException: another caller takes over

    def give_up(self) -> None:
        """Cancel the coroutine, if it still runs; it is not begun any more."""
        with self._lock:
            self._given_up = True
        if self._running is not None:
            self._running.cancel()
