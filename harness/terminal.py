"""What every command shares: exit codes, one-line errors, logs and progress on standard error."""

import logging
import os
import sys
import traceback
from collections.abc import Callable
from enum import IntEnum
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Self

from harness.errors import AccessDenied, HarnessError, InvalidInput, OfflineMiss, SearchError, StoreError

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID


class ExitCode(IntEnum):
    """How a command ends."""

    OK = 0
    NOTHING_FOUND = 1
    USAGE = 2
    SEARCH_FAILED = 3
    STORE_FAILED = 4
    FAILED = 5
    OFFLINE_MISS = 6
    ACCESS_DENIED = 7
    INTERRUPTED = 130


EXIT_CODES = (
    "Exit codes: 0 done, 1 nothing found, 2 wrong usage or input, 3 the search failed, 4 the database failed, "
    "5 another failure, 6 offline and not in the cache, 7 not allowed with this token, 130 interrupted."
)


def exit_code(error: HarnessError) -> ExitCode:
    """Return the exit code that tells of `error`."""
    match error:
        case InvalidInput():
            return ExitCode.USAGE
        case SearchError():
            return ExitCode.SEARCH_FAILED
        case StoreError():
            return ExitCode.STORE_FAILED
        case OfflineMiss():
            return ExitCode.OFFLINE_MISS
        case AccessDenied():
            return ExitCode.ACCESS_DENIED
    return ExitCode.FAILED


def run(command: Callable[[], object]) -> NoReturn:
    """Run a command-line program to its end: an error is one line on standard error, with a traceback only for
    `--debug`, and Ctrl-C ends at once with 130. What the cache has acknowledged is kept in every case.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a character still shows the rest
    try:
        command()
        code: int = ExitCode.OK
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else ExitCode.FAILED if ending.code else ExitCode.OK
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
    except HarnessError as error:
        code = exit_code(error)
        _report(str(error))
    except BrokenPipeError:
        code = ExitCode.FAILED
    except OSError as error:  # files of the harness's own have errors of their own; this is standard output
        code = ExitCode.FAILED
        _report(f"cannot write the output ({error.strerror}); check where it goes")
    except Exception as error:  # noqa: BLE001 - the last place where a bug can become a sentence
        code = ExitCode.FAILED
        _report(f"{type(error).__name__}: {error} (a bug in harness; run again with --debug for the details)")
    if code == ExitCode.INTERRUPTED:  # from here, or from typer
        _say("interrupted; what is cached stays cached")
    _leave(code)


def _report(message: str) -> None:
    if "--debug" in sys.argv:
        traceback.print_exc()
    _say(f"error: {' '.join(message.split())}")


def _say(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201 - standard error as it is now, a progress bar's if there is one


def _leave(code: int) -> NoReturn:
    try:
        sys.stdout.flush()
    except OSError:  # the reader has gone, or the disk is full: what is left has nowhere to go
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if code == ExitCode.INTERRUPTED:
        sys.stderr.flush()
        os._exit(code)  # sys.exit would wait for searches in other threads until their time-out
    sys.exit(code)


class _Lines(logging.Handler):
    """Writes `level: message` to whatever standard error is now, so that a progress bar is not torn."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        _say(f"{record.levelname.lower()}: {self.format(record)}")


def configure_logging(level: str) -> None:
    """Show the program's own log lines from `level` on (`debug`, `info`, `warning`, `error`) on standard error, in
    place of what an earlier call has asked for.
    """
    for name in ("harness", "harness_evals"):
        logger = logging.getLogger(name)
        logger.setLevel(level.upper())
        logger.handlers = [_Lines()]
        logger.propagate = False
    root = logging.getLogger()
    root.handlers = [each for each in root.handlers if not isinstance(each, _Lines | logging.NullHandler)]
    root.addHandler(_Lines() if level == "debug" else logging.NullHandler())  # what libraries log is for --debug


class ProgressBars:
    """The `Progress` of a terminal: bars on standard error that vanish when done; nothing at all when it is piped."""

    def __init__(self) -> None:
        self._bars: Bars | None = None
        self._task: TaskID | None = None
        self.visible = sys.stderr.isatty()

    def __call__(self, what: str, done: int, total: int) -> None:
        """See `Progress`."""
        if not self.visible:
            return
        if self._bars is None:
            self._bars = _new_bars()
            self._bars.start()
        if self._task is None:
            self._task = self._bars.add_task(what)
        self._bars.update(self._task, description=what, completed=done, total=total)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Take the bars away."""
        if self._bars is not None:
            self._bars.stop()
            self._bars = self._task = None


def _new_bars() -> "Bars":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
