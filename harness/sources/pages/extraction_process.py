"""Extraction in a child process, which is killed when a page takes too long and may crash without harm.

The first page starts the process. It handles one page at a time and ends with the `Worker`. Its memory is bounded
(where the system can do that), so a page that expands too much cannot be read.
"""

import os
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Timer
from typing import IO

from msgspec import MsgspecError, Struct, msgpack

from harness.core.pages import Page
from harness.errors import PageError
from harness.sources.pages.extraction import extract

MAX_SECONDS = 15.0
"""Time limit for one page; a friendly page within the limits of `extraction` takes at most a third of it."""

MAX_MEMORY = 2 * 2**30
_START_SECONDS = 60.0
"""Time limit for starting Python and importing the parsers, on a very busy machine."""

_ORPHAN_SECONDS = 120
"""Time limit for one page when the parent process, which would kill this one, has died."""

_BOOT = "import sys; sys.path[:] = {path!r}; from harness.sources.pages.extraction_process import serve; serve()"

_BROKEN = (OSError, EOFError, MsgspecError)


class _Task(Struct, frozen=True):
    body: bytes
    content_type: str


class _Answer(Struct, frozen=True):
    """A page, or why its text cannot be extracted."""

    page: Page | None = None
    refusal: str = ""


class Worker:
    """Extracts pages one at a time, from any thread; `seconds` is the time limit for one page."""

    def __init__(self, seconds: float = MAX_SECONDS) -> None:
        self._seconds = seconds
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._end: weakref.finalize[..., Worker] | None = None
        self._ready = False

    def extract(self, body: bytes, content_type: str) -> Page:
        """See `harness.sources.pages.extraction.extract`.

        Raises:
            PageError: no text can be extracted, not in time, or not without a crash.
        """
        with self._lock:
            process = self._started()
            self._wait_for(process)
            end = time.monotonic() + self._seconds
            try:
                with _killed_after(self._seconds, process):
                    _send(process.stdin, msgpack.encode(_Task(body, content_type)))
                    answer = msgpack.decode(_receive(process.stdout), type=_Answer)
            except _BROKEN as error:
                self._stop()
                late = time.monotonic() >= end
                why = f"took longer than {self._seconds:g} s to extract" if late else "made the parser crash"
                raise PageError(f"its text {why}; read another page on this") from error
        if answer.page is None:
            raise PageError(answer.refusal)
        return answer.page

    def start(self) -> None:
        """Start the process if there is none, without waiting: it gets ready while a page is fetched."""
        with self._lock:
            self._started()

    def close(self) -> None:
        """End the process. The next page starts a new one."""
        with self._lock:
            self._stop()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._stop()
            command = [sys.executable, "-c", _BOOT.format(path=sys.path)]
            self._process = subprocess.Popen(  # noqa: S603 - our own Python, our own code
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            self._end = weakref.finalize(self, _ended, self._process)
            self._ready = False
        return self._process

    def _wait_for(self, process: subprocess.Popen[bytes]) -> None:
        """Wait until the process has imported its parsers; this does not count as a page's time."""
        if self._ready:
            return
        try:
            with _killed_after(_START_SECONDS, process):
                _receive(process.stdout)
        except _BROKEN as error:
            self._stop()
            raise PageError("the process that extracts text does not start; run `harness doctor`") from error
        self._ready = True

    def _stop(self) -> None:
        if self._end is not None:
            self._end()
        self._process = self._end = None


def _ended(process: subprocess.Popen[bytes]) -> None:
    process.kill()  # it has no state to lose
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):  # half a page was still on its way
                pipe.close()


@contextmanager
def _killed_after(seconds: float, process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Kill the process if the block takes longer, so that reading from it ends."""
    timer = Timer(seconds, process.kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _send(pipe: IO[bytes] | None, message: bytes) -> None:
    assert pipe is not None  # noqa: S101 - for the type checker
    pipe.write(len(message).to_bytes(8) + message)
    pipe.flush()


def _receive(pipe: IO[bytes] | None) -> bytes:
    assert pipe is not None  # noqa: S101 - for the type checker
    head = pipe.read(8)
    message = pipe.read(int.from_bytes(head))
    if len(head) < 8 or len(message) < int.from_bytes(head):
        raise EOFError("the other process has ended")
    return message


def serve() -> None:
    """Run the process: read pages from standard input and answer on standard output until the input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of libraries must not mix with the answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent process
    _bound_memory()
    import pypdf
    import trafilatura

    del pypdf, trafilatura  # imported early so that the first page does not wait for it
    _send(answers, b"")
    while True:
        try:
            task = msgpack.decode(_receive(sys.stdin.buffer), type=_Task)
        except EOFError:
            return
        _alarm(_ORPHAN_SECONDS)
        answer = _answer(task)
        _alarm(0)
        _send(answers, msgpack.encode(answer))


def _answer(task: _Task) -> _Answer:
    try:
        return _Answer(extract(task.body, task.content_type))
    except PageError as error:
        return _Answer(refusal=str(error))
    except MemoryError:
        return _Answer(refusal="extracting its text takes too much memory; read another page on this")


def _alarm(seconds: int) -> None:
    """Make the system end this process after `seconds`; 0 cancels."""
    if sys.platform != "win32":
        signal.alarm(seconds)


def _bound_memory() -> None:
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
