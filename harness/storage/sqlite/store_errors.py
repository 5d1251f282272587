"""Errors of SQLite as errors of the store."""

import shutil
import sqlite3
from pathlib import Path

from harness.errors import StoreBusy, StoreCorrupt, StoreError
from harness.storage.sqlite.damaged_files import primary

LEAST_SPACE = 65_536
"""Bytes that a log and its index need on the disk: with less, SQLite cannot even open a file to be read."""
_FULL = "the disk is full"


def has_no_space(path: Path) -> bool:
    """Return whether the disk has too little space for the log of the database at `path`."""
    return shutil.disk_usage(path.parent).free < LEAST_SPACE


def store_error(error: sqlite3.Error | OSError, path: Path, busy_seconds: float) -> StoreError:
    """Return the error for a SQLite or system error: what failed, and what the user can do."""
    code = primary(error)
    match sqlite3.SQLITE_FULL if code == sqlite3.SQLITE_READONLY and has_no_space(path) else code:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusy(f"another process held {path} for over {busy_seconds:g} s; try again")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return StoreCorrupt(f"{path} is damaged ({error}); move it away and try again")
        case sqlite3.SQLITE_FULL:
            return StoreError(f"{_FULL}: nothing more fits into {path}; free space or choose another --data-dir")
        case sqlite3.SQLITE_READONLY:
            return StoreError(
                f"the database {path} is read-only ({error}); "
                "check its permissions and those of its folder, or choose another --data-dir"
            )
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return StoreError(f"cannot write {path} ({error}); check its permissions or choose another --data-dir")
    return StoreError(f"cannot use {path} ({error}); check the disk and permissions or choose another --data-dir")


def is_full(error: StoreError) -> bool:
    """Return whether the disk is full."""
    return str(error).startswith(_FULL)
