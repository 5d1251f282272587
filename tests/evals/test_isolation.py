"""Work in processes that hang, die or take all memory: it is told, and the next work goes well."""

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
    """An error that can be pickled, and not be made again."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


def hang() -> None:
    """Take for ever."""
    time.sleep(600)


def die() -> None:
    """End the process without a word."""
    os._exit(3)


def kill() -> None:
    """Be killed."""
    os.kill(os.getpid(), signal.SIGKILL)


def eat() -> int:
    """Take all memory."""
    held = []
    while True:
        held.append(bytearray(2**26))


def fail() -> None:
    """Raise an error."""
    raise KeyError("lost")


def leave() -> None:
    """Ask Python to end."""
    sys.exit("bye")


def unreadable() -> None:
    """Raise what cannot be made again from a pickle."""
    raise Unreadable("a", "b")


def unpicklable() -> object:
    """Return what cannot be pickled."""
    return lambda: None


@pytest.fixture(scope="module")
def executor() -> Iterator[IsolatedExecutor]:
    """One process, with 1.5 s for each piece of work."""
    with IsolatedExecutor(1, seconds=1.5, memory=2**29) as running:
        yield running


@pytest.mark.slow
@pytest.mark.parametrize(
    ("work", "error", "says"),
    [
        (hang, TimeoutError, "it took longer than 1.5 s and was killed"),
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
def test_whatever_happens_is_told_and_the_next_work_goes_well(
    executor: IsolatedExecutor, work: object, error: type[BaseException], says: str | None
) -> None:
    """The future raises the reason; nobody waits for ever."""
    with pytest.raises(error, match=says):
        executor.submit(work).result(20)  # type: ignore[arg-type]
    for _ in range(3):
        try:
            assert executor.submit(divmod, 7, 2).result(20) == (3, 1)
            return
        except TimeoutError:  # a new process had no time to start on a busy machine
            continue
    pytest.fail("no work goes well any more")


def test_one_process_does_one_piece_of_work_after_the_other() -> None:
    """It is kept, for loading models takes long; the processes are others than this."""
    with IsolatedExecutor(1) as executor:
        found = {executor.submit(os.getpid).result(20) for _ in range(3)}
    assert len(found) == 1
    assert os.getpid() not in found


def test_leaving_without_waiting_kills_what_is_under_way() -> None:
    """And what has not begun is given up."""
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
def test_the_processes_end_with_the_one_that_leads_them(how: signal.Signals, tmp_path: Path) -> None:
    """Without a traceback of theirs, by Ctrl-C (which the whole group gets) as by a kill."""
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
        assert leader.communicate(timeout=20)[1] == b""  # it comes to its end when no process holds it any more


def warn() -> str:
    """Write log lines and a warning."""
    logging.getLogger("worker").warning("skipped %s", "a file")
    logging.getLogger("worker").debug("not shown")
    warnings.warn("old", stacklevel=1)
    return "done"


def test_log_lines_come_to_this_process(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    """They are logged here, and never written over what this process shows on the terminal."""
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


def test_log_lines_do_not_extend_the_time() -> None:
    """What logs and does not end is killed as late as what is silent."""
    with IsolatedExecutor(1, seconds=2) as executor, pytest.raises(TimeoutError, match="longer than 2 s"):
        executor.submit(chatter).result(timeout=30)
