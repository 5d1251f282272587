"""Processes for work that may hang, die, or use up memory, without harm to this process or later work."""

import logging
import multiprocessing
import queue
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, NamedTuple

TASK_SECONDS = 600.0
MEMORY_BYTES = 8 * 2**30


class LogLine(NamedTuple):
    """A log line of another process, for this process's log."""

    logger: str
    level: int
    message: str


class ProcessDied(RuntimeError):
    """Error: the process ended before it answered."""


class IsolatedExecutor(Executor):
    """Executor with `workers` processes, each managed by a thread of this process. Work that takes longer than
    `seconds` is killed, and its future raises `TimeoutError` (never, if `None`); a process that uses more than `memory`
    bytes of address space gets `MemoryError`s; one that dies raises `ProcessDied`. Killed and dead processes are
    replaced.
    """

    def __init__(self, workers: int, *, seconds: float | None = TASK_SECONDS, memory: int = MEMORY_BYTES) -> None:
        self._seconds = seconds
        self._memory = memory
        self._waiting: queue.SimpleQueue[tuple[Future[Any], Any] | None] = queue.SimpleQueue()
        self._children: set[SpawnProcess] = set()
        self._starting = threading.Lock()
        self._closed = self._killed = False
        self._threads = [threading.Thread(target=self._lead, daemon=True) for _ in range(workers)]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """See `concurrent.futures.Executor.submit`; `fn`, its arguments and its result must be picklable."""
        if self._closed:
            raise RuntimeError("the executor was shut down")
        future: Future[Any] = Future()
        self._waiting.put((future, (fn, args, kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """See `concurrent.futures.Executor.shutdown`. Running work is finished only with `wait`, else killed."""
        self._closed = True
        if cancel_futures:
            with suppress(queue.Empty):
                while item := self._waiting.get_nowait():
                    item[0].cancel()
        for _ in self._threads:
            self._waiting.put(None)
        if not wait:
            with self._starting:
                self._killed = True
                for child in self._children:
                    child.kill()
        for thread in self._threads:
            thread.join()

    def _lead(self) -> None:
        """Pass work to a process until there is no more."""
        child: tuple[SpawnProcess, Connection] | None = None
        while (item := self._waiting.get()) is not None:
            future, work = item
            if not future.set_running_or_notify_cancel():
                continue
            try:
                child = child or self._started()
                done, value = self._answer(*child, work)
            except Exception as error:  # noqa: BLE001 - any error goes to the future
                if child is not None:
                    self._ended(*child)
                child = None
                future.set_exception(error)
                continue
            if done:
                future.set_result(value)
            else:
                future.set_exception(value)
        if child is not None:
            self._ended(*child)

    def _answer(self, child: SpawnProcess, pipe: Connection, work: Any) -> tuple[bool, Any]:
        """Send work to the process; return whether it succeeded, and its result or exception."""
        try:
            pipe.send(work)
            end = None if self._seconds is None else time.monotonic() + self._seconds
            while pipe.poll(None if end is None else max(0.0, end - time.monotonic())):
                answer: Any = pipe.recv()
                if not isinstance(answer, LogLine):
                    return answer[0], answer[1]
                logging.getLogger(answer.logger).log(answer.level, "%s", answer.message)
        except (EOFError, OSError) as error:
            child.join(5)
            code = child.exitcode
            how = f"was killed by signal {-code}" if code is not None and code < 0 else f"ended with status {code}"
            raise ProcessDied(f"its process {how}") from error
        raise TimeoutError(f"it took longer than {self._seconds:g} s and was killed")

    def _started(self) -> tuple[SpawnProcess, Connection]:
        mine, theirs = multiprocessing.Pipe()
        # spawn: a fork would inherit locks that other threads of this process hold
        child = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs, self._memory), daemon=True)
        with self._starting, theirs:
            if self._killed:
                raise RuntimeError("the executor was shut down")
            child.start()
            self._children.add(child)
        return child, mine

    def _ended(self, child: SpawnProcess, pipe: Connection) -> None:
        pipe.close()
        child.kill()
        child.join()
        with self._starting:
            self._children.discard(child)


def _serve(pipe: Connection, memory: int) -> None:
    """Run the work from the pipe until its other end closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the leading process
    _bound_memory(memory)
    sending = threading.Lock()
    logging.getLogger().addHandler(_Sent(pipe, sending))
    logging.captureWarnings(True)  # both would write over the leading process's terminal output
    while True:
        try:
            fn, args, kwargs = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer = (True, fn(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001 - any error is sent; the next work may succeed
            answer = (False, error)
        try:
            with sending:
                pipe.send(answer)
        except OSError:
            return
        except Exception as error:  # noqa: BLE001 - pickling can fail with any error
            with sending:
                pipe.send((False, RuntimeError(f"{type(error).__name__}: {error}: {answer[1]!r:.500}")))


class _Sent(logging.Handler):
    """Handler that sends log lines through the pipe."""

    def __init__(self, pipe: Connection, sending: threading.Lock) -> None:
        super().__init__()
        self._pipe = pipe
        self._sending = sending

    def emit(self, record: logging.LogRecord) -> None:
        """Send one line, unless the other end is closed."""
        with suppress(OSError), self._sending:
            self._pipe.send(LogLine(record.name, record.levelno, record.getMessage()))


def _bound_memory(memory: int) -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    bound = memory if most == resource.RLIM_INFINITY else min(memory, most)
    resource.setrlimit(resource.RLIMIT_AS, (bound, most))
