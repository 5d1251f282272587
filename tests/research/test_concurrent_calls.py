"""Waiting for concurrent calls."""

import threading
from concurrent.futures import Future

import pytest

from harness.research import concurrent_calls
from harness.research.concurrent_calls import awaited


def test_a_late_result_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    """After any number of waits."""
    monkeypatch.setattr(concurrent_calls, "WAIT_AT_ONCE", 0.02)
    future: Future[int] = Future()
    timer = threading.Timer(0.1, future.set_result, [7])
    timer.start()
    assert awaited(future) == awaited(future) == 7
    timer.join()


def test_a_failure_is_raised_as_it_is() -> None:
    """Also a time-out of the work itself."""
    future: Future[int] = Future()
    future.set_exception(TimeoutError("of the work"))
    with pytest.raises(TimeoutError, match="of the work"):
        awaited(future)
