"""Work in threads: progress, limits, cancellation."""

import threading
import time

import anyio
import pytest
from anyio.to_thread import run_sync

from harness.errors import SearchError
from harness.ports import Progress, Stopped
from harness.server.mcp.worker_threads import WorkerThreads

pytestmark = pytest.mark.anyio


async def silent(_step: float, _what: str) -> None:
    """Report nothing."""


def for_ever(progress: Progress, ended: threading.Event) -> None:
    """Work until stopped."""
    try:
        while True:
            progress("working", 1, 2)
            time.sleep(0.01)
    except Stopped:
        ended.set()
        raise


async def test_cancelled_work_ends_at_its_next_step() -> None:
    """The caller ends as cancelled."""
    ended = threading.Event()
    with anyio.move_on_after(0.1) as scope:
        await WorkerThreads().research(lambda progress: for_ever(progress, ended), silent)
    assert scope.cancelled_caught
    assert ended.is_set()


@pytest.mark.slow
async def test_steps_are_reported_in_order() -> None:
    """Each report has a growing number and a text; each step is reported at most once."""
    reports: list[tuple[float, str]] = []

    async def note(step: float, what: str) -> None:
        reports.append((step, what))

    def work(progress: Progress) -> str:
        for done in range(3):
            progress("searching", done, 2)
            time.sleep(0.3)
        return "done"

    assert await WorkerThreads().research(work, note) == "done"
    assert [step for step, _ in reports] == list(range(len(reports)))
    assert reports[-1][1] == "searching 2/2"


async def test_errors_are_raised_unchanged() -> None:
    """Not wrapped in a group."""

    def work(progress: Progress) -> None:
        raise SearchError("no")

    with pytest.raises(SearchError, match="no"):
        await WorkerThreads().research(work, silent)


async def test_a_failing_report_ends_the_work() -> None:
    """The client is gone."""
    ended = threading.Event()

    async def broken(_step: float, _what: str) -> None:
        raise ConnectionError

    with pytest.raises(BaseExceptionGroup):
        await WorkerThreads().research(lambda progress: for_ever(progress, ended), broken)
    assert ended.is_set()


async def test_long_work_does_not_delay_short_work() -> None:
    """A lookup is answered while all research threads are busy."""
    threads, ended = WorkerThreads(researches=1), threading.Event()
    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(threads.research, lambda progress: for_ever(progress, ended), silent)
        await anyio.sleep(0.05)
        with anyio.fail_after(1):
            assert await run_sync(lambda: 42, limiter=threads.lookups) == 42
            assert await run_sync(lambda: 43, limiter=threads.fetches) == 43
        group.cancel_scope.cancel()
