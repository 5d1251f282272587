"""Atomic replacement of files."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` atomically when the block ends, with the permissions of the old one. If the
    block fails, or the disk is full, the old file stays. `private`: only its owner can read it. A symbolic link stays
    one, and a device or a pipe is written to.

    Raises:
        OSError: it cannot be written next to `path`, or not replace it.
    """
    path = Path(os.path.realpath(path))
    old = path.stat() if path.exists() else None
    if path.is_relative_to("/dev") or (old and not stat.S_ISREG(old.st_mode)):
        with path.open("wb") as device:
            yield device
        return
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(part, flags, 0o600 if private else 0o666), "wb") as file:
            if old and not private and hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
