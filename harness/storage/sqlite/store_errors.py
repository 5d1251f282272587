"""Errors of SQLite as errors of the store."""

import sqlite3
from pathlib import Path

from harness.errors import StoreBusy, StoreCorrupt, StoreError
from harness.storage.sqlite.damaged_files import primary


def store_error(error: sqlite3.Error | OSError, path: Path, busy_seconds: float) -> StoreError:
    """Return the error for a SQLite or system error: what failed, and what the user can do."""
    match primary(error):
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusy(f"another process held {path} for over {busy_seconds:g} s; try again")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return StoreCorrupt(f"{path} is damaged ({error}); move it away and try again")
        case sqlite3.SQLITE_FULL:
            return StoreError(
                f"the disk is full: nothing more fits into {path}; free space or choose another --data-dir"
            )
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
    return error.__cause__ is not None and primary(error.__cause__) == sqlite3.SQLITE_FULL
