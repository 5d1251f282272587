"""Log of an evaluation: JSON Lines, append-only."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Self

import msgspec
from msgspec import Struct, field

from harness.errors import InvalidInput, StoreBusy, StoreError
from harness_evals.outcome import Outcome

FORMAT = 1
SUFFIX = ".jsonl"
MAX_LINE_BYTES = 16 * 2**20
FIRST_WEIGHTS = {
    "nugget_vital": 0.35,
    "nugget_all": 0.15,
    "retrieval_recall": 0.15,
    "citation_recall": 0.10,
    "citation_precision": 0.10,
    "structure": 0.10,
    "length": 0.05,
}
"""Weights of the first scorers; the first evaluations have none in their headers."""


class Header(Struct, frozen=True, tag="header", tag_field="line"):
    """Settings of an evaluation: its id, start (seconds since the epoch), the tasks with a digest of each, the runs per
    task, the settings that affect results, versions, the weights of the scorers, the objective ("": quality alone).
    """

    id: str
    began: float
    tasks: dict[str, str]
    repeats: int
    settings: dict[str, Any]
    versions: dict[str, str]
    weights: dict[str, float] = field(default_factory=FIRST_WEIGHTS.copy)
    objective: str = ""
    format: int = FORMAT


class Entry(Struct, frozen=True, tag="outcome", tag_field="line"):
    """One run of a task, and its scores with the weights of that time; none if it failed."""

    outcome: Outcome
    scores: Mapping[str, float] | None = None
    total: float | None = None


class Log(Struct, frozen=True):
    """A log as read."""

    path: Path
    header: Header
    entries: tuple[Entry, ...]

    @property
    def outcomes(self) -> list[Outcome]:
        """The outcomes of the runs, in the order in which they ended."""
        return [entry.outcome for entry in self.entries]

    @property
    def is_finished(self) -> bool:
        """Whether every run of every task is there, failed or not."""
        there = {(outcome.task, outcome.repeat) for outcome in self.outcomes}
        return len(there) >= len(self.header.tasks) * self.header.repeats


class LogWriter:
    """Writer of the log at `path`; each line is on disk when `write` returns. An incomplete last line of a killed
    writer is cut off. Close it, or use it as a context manager.

    Raises:
        StoreBusy: another program is writing it.
        StoreError: it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = path.open("ab+")
            try:
                self._lock()
                self._cut_torn_line()
            except (OSError, StoreBusy):
                self.close()
                raise
        except OSError as error:
            raise self._unwritable(error) from error

    def write(self, line: Struct) -> None:
        """Append one line.

        Raises:
            StoreError: it cannot be written.
        """
        try:
            self._file.write(msgspec.json.encode(line) + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._unwritable(error) from error

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError):  # closing retries a failed write, which `write` has already reported
            self._file.close()

    def _lock(self) -> None:
        """Keep other programs from writing until the file is closed."""
        try:
            import fcntl
        except ImportError:  # not on Windows
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StoreBusy(f"another program is writing {self.path}; wait until it ends, or stop it") from error

    def _cut_torn_line(self) -> None:
        size = self._file.seek(0, os.SEEK_END)
        start = max(0, size - MAX_LINE_BYTES)
        self._file.seek(start)
        tail = self._file.read(size - start)
        if tail and not tail.endswith(b"\n"):
            self._file.truncate(start + tail.rfind(b"\n") + 1)

    def _unwritable(self, error: OSError) -> StoreError:
        return StoreError(f"cannot write the log {self.path} ({error.strerror or error}); free space or choose another")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def read_log(path: Path) -> Log:
    """Read a log; an incomplete last line, left by a killed writer, is ignored.

    Raises:
        InvalidInput: there is none, or a line is not a log line; the message has file and line.
    """
    lines = read_lines(path, Header | Entry)
    try:
        header = next(lines)
    except StopIteration:
        raise InvalidInput(f"{path} is empty, not the log of an evaluation") from None
    if not isinstance(header, Header):
        raise InvalidInput(f"{path}, line 1: a log begins with a header")
    entries = []
    for number, line in enumerate(lines, start=2):
        if isinstance(line, Header):
            raise InvalidInput(f"{path}, line {number}: a second header; two logs were written into one file")
        entries.append(line)
    return Log(path, header, tuple(entries))


def logs_in(folder: Path) -> list[Path]:
    """Return the logs in a folder, newest first."""
    return sorted(folder.glob(f"*{SUFFIX}"), reverse=True) if folder.is_dir() else []


def read_lines(path: Path, kind: Any) -> Iterator[Any]:
    """Yield the lines of a log, each as one of `kind` (a union of tagged structs); an incomplete last one is ignored.

    Raises:
        InvalidInput: it cannot be read, or a line is none of these; the message has file and line.
    """
    decoder = msgspec.json.Decoder(kind)
    try:
        with path.open("rb") as file:
            number = 0
            while content := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                if not content.endswith(b"\n") and len(content) <= MAX_LINE_BYTES:
                    return
                try:
                    yield decoder.decode(content)
                except (msgspec.MsgspecError, ValueError, RecursionError) as error:
                    raise InvalidInput(f"{path}, line {number}: not a log line ({error})") from None
    except OSError as error:
        raise InvalidInput(f"cannot read the log {path}: {error.strerror or error}") from error
