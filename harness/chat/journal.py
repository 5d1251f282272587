"""Journal of memories that could not be stored: a file of JSON lines next to the database."""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from harness.chat.exchanges import DocumentChunk, Exchange, Remembered
from harness.errors import HarnessError, InvalidInput, StoreError
from harness.storage.files import replacing

log = logging.getLogger(__name__)

MAX_BYTES = 16 * 2**20
"""Largest size of the journal: about ten thousand exchanges."""
LOCK_SECONDS = 10.0


class Journalled(Struct, frozen=True):
    """A line of the journal: a memory that could not be stored, with its tenant and collection."""

    tenant: str
    collection: str
    remembered: Exchange | DocumentChunk


class Journal:
    """Journal at `path`, at most 16 MiB, readable only by its owner, created by the first write. Lines survive a crash
    and a power cut. Any number of processes may use it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def exists(self) -> bool:
        """Whether any memory waits."""
        return self.path.exists()

    def append(self, tenant: str, collection: str, remembered: Remembered) -> None:
        """Add a line.

        Raises:
            StoreError: the journal cannot be written, or is full.
        """
        line = msgspec.json.encode(Journalled(tenant, collection, remembered)) + b"\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._locked():
                if self.exists and self.path.stat().st_size + len(line) > MAX_BYTES:
                    raise StoreError(
                        f"the journal {self.path} is full; fix the store and start again, or move the file away"
                    )
                _append(self.path, line)
        except OSError as error:
            raise StoreError(f"cannot write the journal {self.path} ({error.strerror}); check the disk") from error

    def replay(self, tenant: str, collection: str, save: Callable[[Remembered], None]) -> int:
        """Call `save` for every line of this tenant and collection, in order; return the number of saved lines. Lines
        that fail, and those of other tenants or collections, stay. Damaged lines move to a file next to the journal
        whose name ends in `.damaged`.

        Raises:
            StoreError: the journal cannot be read or written.
            HarnessError: `save` failed; saved lines are no longer in the journal.
        """
        if not self.exists:
            return 0
        try:
            with self._locked():
                return self._replay(tenant, collection, save)
        except OSError as error:
            raise StoreError(f"cannot read the journal {self.path} ({error.strerror}); check it") from error

    def _replay(self, tenant: str, collection: str, save: Callable[[Remembered], None]) -> int:
        lines = _lines(self.path)
        waiting, damaged = list[bytes](), list[bytes]()
        saved = 0
        failure: HarnessError | None = None
        for line in lines:
            try:
                entry = msgspec.json.decode(line, type=Journalled)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                damaged.append(line)
                continue
            if failure is not None or (entry.tenant, entry.collection) != (tenant, collection):
                waiting.append(line)
                continue
            try:
                save(entry.remembered)
                saved += 1
            except InvalidInput:
                damaged.append(line)
            except HarnessError as error:  # later lines would fail, too
                failure = error
                waiting.append(line)
        if damaged:
            aside = self.path.with_name(f"{self.path.name}.damaged")
            _append(aside, b"\n".join(damaged) + b"\n")
            log.warning("%d damaged lines of the journal were moved to %s; check them", len(damaged), aside)
        if len(waiting) < len(lines):
            _rewrite(self.path, waiting)
        if failure is not None:
            raise failure
        return saved

    @contextmanager
    def _locked(self) -> Iterator[None]:
        from filelock import FileLock, Timeout

        try:
            with FileLock(self.path.with_name(f"{self.path.name}.lock"), timeout=LOCK_SECONDS, mode=0o600):
                yield
        except Timeout:
            raise StoreError(f"another process holds the journal {self.path}; try again") from None


def _lines(path: Path) -> list[bytes]:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:  # another process has just replayed it
        return []
    return [line for line in data.split(b"\n") if line.strip()]


def _append(path: Path, data: bytes) -> None:
    """Append `data`. A line that a crash cut off is ended first, so that only that line is damaged."""
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        size = os.fstat(file).st_size
        if size and os.pread(file, 1, size - 1) != b"\n":
            data = b"\n" + data
        while data:
            data = data[os.write(file, data) :]
        os.fsync(file)
    finally:
        os.close(file)


def _rewrite(path: Path, lines: list[bytes]) -> None:
    """Replace the journal by `lines`, atomically; remove it if there are none."""
    if not lines:
        path.unlink()
        return
    with replacing(path, private=True) as new:
        new.write(b"\n".join(lines) + b"\n")
