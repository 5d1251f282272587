"""Worker threads for the synchronous services: limited in number, with progress, stopped when the caller leaves."""

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
"""Sends the number of finished steps and the current step to a client."""

REPORT_EVERY = 0.2
"""Least seconds between two progress reports."""


class WorkerThreads:
    """Limits of threads for three kinds of work, so that long work does not delay short work: `lookups` only use the
    database, `fetches` may call a search engine or a web site.
    """

    def __init__(self, *, lookups: int = 16, fetches: int = 8, researches: int = 4) -> None:
        self.lookups = CapacityLimiter(lookups)
        self.fetches = CapacityLimiter(fetches)
        self._researches = CapacityLimiter(researches)

    async def research(self, work: Callable[[Progress], T], report: Report) -> T:
        """Run long work with progress reports. When the caller is cancelled, the work stops at its next step, and the
        caller returns then.
        """
        steps, failure = _Steps(), None
        async with anyio.create_task_group() as group:
            group.start_soon(steps.report_to, report)
            try:
                result = await run_sync(partial(work, steps), limiter=self._researches)
            except (HarnessError, Stopped) as error:  # a task group would wrap it
                failure = error
            group.cancel_scope.cancel()
        if failure is not None:
            await checkpoint()  # a cancelled caller ends as cancelled, not with `Stopped`
            raise failure
        return result


class _Steps:
    """A `Progress` that any thread writes and the event loop reads. It raises `Stopped` to end the work."""

    def __init__(self) -> None:
        self._latest = ("started", 0, 0)
        self._stopped = False

    def __call__(self, what: str, done: int, total: int) -> None:
        """See `Progress`."""
        if self._stopped:
            raise Stopped
        self._latest = (what, done, total)

    async def report_to(self, report: Report) -> None:
        """Report each new step until the caller is cancelled."""
        reported, number = None, 0
        try:
            while True:
                if (latest := self._latest) != reported:
                    what, done, total = reported = latest
                    await report(number, f"{what} {done}/{total}" if total else what)
                    number += 1
                await anyio.sleep(REPORT_EVERY)
        finally:
            self._stopped = True
