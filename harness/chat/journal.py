"""What could not be saved, until it can: a file beside the database, a line of JSON for each."""

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
"""What the journal holds at the most: some ten thousand exchanges."""
LOCK_SECONDS = 10.0


class Journalled(Struct, frozen=True):
    """One line: what could not be saved, and whose it is."""

    tenant: str
    collection: str
    remembered: Exchange | DocumentChunk


class Journal:
    """The journal at `path`, of at most 16 MiB, readable by its owner alone; made when first written. Lines survive
    the death of the process and a power cut. Any number of processes may use it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def exists(self) -> bool:
        """Whether anything waits."""
        return self.path.exists()

    def append(self, tenant: str, collection: str, remembered: Remembered) -> None:
        """Add a line.

        Raises:
            StoreError: it cannot be written, or is full.
        """
        line = msgspec.json.encode(Journalled(tenant, collection, remembered)) + b"\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._locked():
                if self.exists and self.path.stat().st_size + len(line) > MAX_BYTES:
                    raise StoreError(
                        f"the journal {self.path} is full; mend the store and start again, or move it away"
                    )
                _append(self.path, line)
        except OSError as error:
            raise StoreError(f"cannot write the journal {self.path} ({error.strerror}); check the disk") from error

    def replay(self, tenant: str, collection: str, save: Callable[[Remembered], None]) -> int:
        """Have every line of this tenant and collection saved, in order; return how many were. Those that cannot be,
        and what is somebody else's, stay. A damaged line is set aside in a file beside it, whose name ends in
        `.damaged`.

        Raises:
            StoreError: the journal cannot be read or written.
            HarnessError: what `save` raised; what was saved before is in the journal no more.
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
        kept, damaged = list[bytes](), list[bytes]()
        saved = 0
        failure: HarnessError | None = None
        for line in lines:
            try:
                held = msgspec.json.decode(line, type=Journalled)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                damaged.append(line)
                continue
            if failure is not None or (held.tenant, held.collection) != (tenant, collection):
                kept.append(line)
                continue
            try:
                save(held.remembered)
                saved += 1
            except InvalidInput:
                damaged.append(line)
            except HarnessError as error:  # the next one would fail, too
                failure = error
                kept.append(line)
        if damaged:
            aside = self.path.with_name(f"{self.path.name}.damaged")
            _append(aside, b"\n".join(damaged) + b"\n")
            log.warning("%d damaged lines of the journal were set aside in %s; look at them", len(damaged), aside)
        if len(kept) < len(lines):
            _rewrite(self.path, kept)
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
    """Add `data`; a line that a crash has left without its end is ended first, so that it spoils only itself."""
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
    """Put `lines` in the place of the journal, at once; none: remove it."""
    if not lines:
        path.unlink()
        return
    with replacing(path, private=True) as new:
        new.write(b"\n".join(lines) + b"\n")
