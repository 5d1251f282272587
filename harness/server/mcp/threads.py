"""The synchronous services, run in threads: bounded in number, told of, and stopped when nobody waits any longer."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

import anyio
from anyio import CapacityLimiter
from anyio.lowlevel import checkpoint
from anyio.to_thread import run_sync

from harness.errors import HarnessError
from harness.ports import Progress, Stopped

T = TypeVar("T")
Report = Callable[[float, str], Awaitable[None]]
"""Tells a client how many steps are done, and which is being done."""

TELL_EVERY = 0.2
"""Seconds between two reports of progress at the least."""


class Threads:
    """Three kinds of work, each with so many threads at most, so that a long one does not hold up a short one."""

    def __init__(self, *, lookups: int = 16, fetches: int = 8, researches: int = 4) -> None:
        self._lookups = CapacityLimiter(lookups)
        self._fetches = CapacityLimiter(fetches)
        self._researches = CapacityLimiter(researches)

    async def look_up(self, work: Callable[[], T]) -> T:
        """Do what asks the database alone."""
        return await run_sync(work, limiter=self._lookups)

    async def fetch(self, work: Callable[[], T]) -> T:
        """Do what may ask a search engine or a web site."""
        return await run_sync(work, limiter=self._fetches)

    async def research(self, work: Callable[[Progress], T], report: Report) -> T:
        """Do long work that tells its progress. When the caller is cancelled, it stops at its next step, and the
        caller returns then.
        """
        steps, failure = _Steps(), None
        async with anyio.create_task_group() as group:
            group.start_soon(steps.tell, report)
            try:
                done = await run_sync(partial(work, steps), limiter=self._researches)
            except (HarnessError, Stopped) as error:  # a task group would wrap it
                failure = error
            group.cancel_scope.cancel()
        if failure is not None:
            await checkpoint()  # who was cancelled ends so, and not with what the work was stopped by
            raise failure
        return done


class _Steps:
    """A `Progress` that is written in any thread and read by the event loop. It raises `Stopped` to end the work."""

    def __init__(self) -> None:
        self._latest = ("begun", 0, 0)
        self._stopped = False

    def __call__(self, what: str, done: int, total: int) -> None:
        """See `Progress`."""
        if self._stopped:
            raise Stopped
        self._latest = (what, done, total)

    async def tell(self, report: Report) -> None:
        """Report every new step until cancelled: then nobody waits."""
        told, number = None, 0
        try:
            while True:
                if (latest := self._latest) != told:
                    what, done, total = told = latest
                    await report(number, f"{what} {done}/{total}" if total else what)
                    number += 1
                await anyio.sleep(TELL_EVERY)
        finally:
            self._stopped = True
