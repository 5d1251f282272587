"""Locks between processes: files next to the database."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from harness.errors import StoreError


class FileLocks:
    """The port `Locks` with one locked file per name in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def hold(self, name: str, wait: float) -> Iterator[bool]:
        """See `Locks.hold`: a lock on a file, which the system frees when the process dies."""
        from filelock import FileLock, Timeout

        folder = self._folder
        try:
            folder.mkdir(exist_ok=True)
            file = folder / f"{sha256(name.encode()).hexdigest()[:32]}.lock"
            lock = FileLock(file, timeout=max(0.0, wait), poll_interval=0.02)
            lock.acquire()
        except Timeout:
            yield False
            return
        except OSError as error:
            raise StoreError(f"cannot lock {folder} ({error}); check its permissions and the disk") from error
        try:
            yield True
        finally:
            Path(lock.lock_file).unlink(missing_ok=True)  # a waiter looks the answer up before computing
            lock.release()
