"""Processes for work that hangs, dies or uses up memory: an error, and the next work succeeds."""

import logging
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path

import pytest
from harness_evals.isolation import IsolatedExecutor, ProcessDied


class Unreadable(Exception):
    """An error that can be pickled but not unpickled."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


def hang() -> None:
    """Run for ever."""
    time.sleep(600)


def die() -> None:
    """End the process without a message."""
    os._exit(3)


def kill() -> None:
    """Kill this process."""
    os.kill(os.getpid(), signal.SIGKILL)


def eat() -> int:
    """Use up all memory."""
    held = []
    while True:
        held.append(bytearray(2**26))


def fail() -> None:
    """Raise an error."""
    raise KeyError("lost")


def leave() -> None:
    """Ask Python to exit."""
    sys.exit("bye")


def unreadable() -> None:
    """Raise an error that cannot be unpickled."""
    raise Unreadable("a", "b")


def unpicklable() -> object:
    """Return a value that cannot be pickled."""
    return lambda: None


@pytest.fixture(scope="module")
def executor() -> Iterator[IsolatedExecutor]:
    """One process, with 5 s for each piece of work: a busy machine may take long to start one."""
    with IsolatedExecutor(1, seconds=5, memory=2**29) as running:
        yield running


@pytest.mark.slow
@pytest.mark.parametrize(
    ("work", "error", "says"),
    [
        (hang, TimeoutError, "it took longer than 5 s and was killed"),
        (die, ProcessDied, "ended with status 3"),
        (kill, ProcessDied, "was killed by signal 9"),
        (eat, MemoryError, None),
        (fail, KeyError, "lost"),
        (leave, SystemExit, "bye"),
        (unreadable, TypeError, "two"),
        (unpicklable, RuntimeError, "lambda"),
        (lambda: 1, Exception, "lambda"),
    ],
)
def test_a_failure_is_raised_and_the_next_work_succeeds(
    executor: IsolatedExecutor, work: object, error: type[BaseException], says: str | None
) -> None:
    """The future raises the reason; no call blocks."""
    with pytest.raises(error, match=says):
        executor.submit(work).result(20)  # type: ignore[arg-type]
    for _ in range(3):
        try:
            assert executor.submit(divmod, 7, 2).result(20) == (3, 1)
            return
        except TimeoutError:  # a new process may be slow to start on a busy machine
            continue
    pytest.fail("no work goes well any more")


def test_one_process_does_one_piece_of_work_after_the_other() -> None:
    """It is reused, because loading models is slow; it is not this process."""
    with IsolatedExecutor(1) as executor:
        found = {executor.submit(os.getpid).result(20) for _ in range(3)}
    assert len(found) == 1
    assert os.getpid() not in found


def test_shutdown_without_waiting_kills_running_work() -> None:
    """And waiting work is cancelled."""
    executor = IsolatedExecutor(1)
    running, waiting = executor.submit(hang), executor.submit(hang)
    began = time.monotonic()
    while not running.running():
        time.sleep(0.01)
    executor.shutdown(wait=False, cancel_futures=True)
    assert time.monotonic() - began < 15
    assert running.exception() is not None
    with pytest.raises(CancelledError):
        waiting.result()
    with pytest.raises(RuntimeError, match="shut down"):
        executor.submit(os.getpid)


LEADER = """
import os, sys, time
from harness_evals.isolation import IsolatedExecutor
from tests.evals.test_isolation import hang
if __name__ == "__main__":
    executor = IsolatedExecutor(1)
    try:
        print(executor.submit(os.getpid).result(), flush=True)
        time.sleep(600)
    except KeyboardInterrupt:
        executor.shutdown(wait=False, cancel_futures=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_the_processes_end_with_their_parent(how: signal.Signals, tmp_path: Path) -> None:
    """Without tracebacks, by Ctrl-C (which the whole group receives) and by a kill."""
    script = tmp_path / "leader.py"
    script.write_text(LEADER)
    with subprocess.Popen(
        [sys.executable, script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    ) as leader:
        assert leader.stdout is not None
        leader.stdout.readline()
        if how is signal.SIGINT:
            os.killpg(leader.pid, how)
        else:
            leader.kill()
        assert leader.communicate(timeout=20)[1] == b""  # it ends when no process holds it


def warn() -> str:
    """Write log lines and a warning."""
    logging.getLogger("worker").warning("skipped %s", "a file")
    logging.getLogger("worker").debug("not shown")
    warnings.warn("old", stacklevel=1)
    return "done"


def test_log_lines_reach_this_process(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    """They are logged here, and not written over this process's terminal output."""
    with IsolatedExecutor(1, seconds=60) as executor:
        assert executor.submit(warn).result() == "done"
    assert ("worker", logging.WARNING, "skipped a file") in caplog.record_tuples
    assert [name for name, *_ in caplog.record_tuples] == ["worker", "py.warnings"]
    assert capfd.readouterr().err == ""


def chatter() -> None:
    """Log for ever."""
    while True:
        logging.getLogger("harness").warning("still at it")
        time.sleep(0.05)


@pytest.mark.slow
def test_log_lines_do_not_extend_the_time() -> None:
    """Work that logs and does not end is killed at the same time as silent work."""
    with IsolatedExecutor(1, seconds=2) as executor, pytest.raises(TimeoutError, match="longer than 2 s"):
        executor.submit(chatter).result(timeout=30)
