"""Shared by every command: exit codes, one-line errors, and logs on standard error."""

import logging
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from enum import IntEnum
from typing import NoReturn

from harness.cli.terminal.streams import guarded_streams
from harness.core.text import one_line
from harness.errors import AccessDenied, HarnessError, InvalidInput, OfflineMiss, SearchError, StoreError

LOGGERS = ("harness", "harness_evals")
"""Loggers whose messages the program shows."""


class ExitCode(IntEnum):
    """Exit code of a command."""

    OK = 0
    NOTHING_FOUND = 1
    USAGE = 2
    SEARCH_FAILED = 3
    STORE_FAILED = 4
    FAILED = 5
    OFFLINE_MISS = 6
    ACCESS_DENIED = 7
    CONTRADICTED = 8
    INTERRUPTED = 130


EXIT_CODES = (
    "Exit codes: 0 done, 1 nothing found, 2 wrong usage or input, 3 the search failed, 4 the database failed, "
    "5 another failure, 6 offline and not in the cache, 7 not allowed with this token, 8 contradicted, "
    "130 interrupted."
)


def exit_code(error: HarnessError) -> ExitCode:
    """Return the exit code for `error`."""
    codes = {
        InvalidInput: ExitCode.USAGE,
        SearchError: ExitCode.SEARCH_FAILED,
        StoreError: ExitCode.STORE_FAILED,
        OfflineMiss: ExitCode.OFFLINE_MISS,
        AccessDenied: ExitCode.ACCESS_DENIED,
    }
    return next((code for kind, code in codes.items() if isinstance(error, kind)), ExitCode.FAILED)


def run(command: Callable[[], object]) -> NoReturn:
    """Run a command-line program to its end: an error is one line on standard error, with a traceback only for
    `--debug`, and Ctrl-C exits at once with 130. Acknowledged writes of the cache are never lost.
    """
    with guarded_streams():
        _leave(_ended(command))


def _ended(command: Callable[[], object]) -> int:
    """Run a command, report what went wrong, and return its exit code."""
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
    except OSError as error:  # its own files raise HarnessError; this is standard output
        code = ExitCode.FAILED
        _report(f"cannot write the output ({error.strerror}); check where it goes")
    except Exception as error:  # noqa: BLE001 - the last place where a bug can become a sentence
        code = ExitCode.FAILED
        _report(f"{type(error).__name__}: {error} (a bug in harness; run again with --debug for the details)")
    return code


def _report(message: str) -> None:
    if "--debug" in sys.argv:
        traceback.print_exc()
    _say(f"error: {one_line(message)}")


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")  # one write: threads that log at the same time must not mix their lines


def _leave(code: int) -> NoReturn:
    try:
        sys.stdout.flush()
    except OSError:  # the reader has gone, or the disk is full: the rest cannot be written
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if code == ExitCode.INTERRUPTED:  # from here or from typer
        with _quiet_logs():
            _say("interrupted; cached entries stay")
            sys.stderr.flush()
            os._exit(code)  # sys.exit would wait for searches in other threads until their time-out
    sys.exit(code)


@contextmanager
def _quiet_logs() -> Iterator[None]:
    """Let other threads log nothing until the end of the block, so that the last line is the last."""
    with ExitStack() as locks:
        for name in ("", *LOGGERS):
            for handler in logging.getLogger(name).handlers:
                handler.acquire()
                locks.callback(handler.release)
        yield


class _Lines(logging.Handler):
    """Log handler that writes `level: message` to standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line, and the traceback below it, if any."""
        _say(f"{record.levelname.lower()}: {one_line(record.getMessage())}")
        if record.exc_info:
            _say(logging.Formatter().formatException(record.exc_info))


def configure_logging(level: str) -> None:
    """Show the program's log messages of at least `level` (`debug`, `info`, `warning`, `error`) on standard error. A
    later call replaces an earlier one.
    """
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.setLevel(level.upper())
        logger.handlers = [_Lines()]
        logger.propagate = False
    root = logging.getLogger()
    root.handlers = [each for each in root.handlers if not isinstance(each, _Lines | logging.NullHandler)]
    root.addHandler(_Lines() if level == "debug" else logging.NullHandler())  # messages of libraries are for --debug
