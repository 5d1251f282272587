"""Concurrent calls with progress: searches of engines, pages of a reader."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

from harness.ports import Progress

T = TypeVar("T")

WAIT_AT_ONCE = 1.0
"""Longest single wait, in seconds."""


def run_all(calls: Sequence[Callable[[], T]], *, concurrency: int, progress: Progress, what: str) -> list[T]:
    """Run `calls` in threads; return their results in order, and count them with `progress`.

    The first error in this order is raised; then waiting calls are cancelled and running ones abandoned. A single call
    runs in this thread, unless it is the main one, which a Ctrl-C interrupts.
    """
    if len(calls) == 1 and threading.current_thread() is not threading.main_thread():
        progress(what, 0, 1)
        result = calls[0]()
        progress(what, 1, 1)
        return [result]
    pool = ThreadPoolExecutor(concurrency, thread_name_prefix="call")
    try:
        futures = [pool.submit(call) for call in calls]
        results = []
        for done, future in enumerate(futures):
            progress(what, done, len(calls))
            results.append(awaited(future))
        progress(what, len(calls), len(calls))
        return results
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # on Ctrl-C, do not wait for a time-out


def awaited(future: "Future[T]") -> T:
    """Return the result of `future`, in short waits: a long wait could swallow a Ctrl-C that arrives as it begins."""
    while not wait([future], WAIT_AT_ONCE).done:
        pass
    return future.result()
