"""The files of one SQLite database: which they are, whether they are sound, and how to rebuild them on a full disk."""

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing, suppress
from pathlib import Path

from harness.core.tables import SEARCHES
from harness.errors import MigrationError, StoreError
from harness.storage.files import replacing
from harness.storage.sqlite.migrations import is_current

DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
"""Result codes of SQLite for a damaged file."""


def beside(path: Path, suffix: str) -> Path:
    """Return the path of a file that belongs to the one at `path`."""
    return path.with_name(path.name + suffix)


def primary(error: BaseException) -> int:
    """Return the primary result code of SQLite's error, 0 for another kind of error."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def identity(path: Path) -> tuple[int, int]:
    """Return device and inode of the file at `path`, zeros when there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - Path.stat costs twice as much, on every write
    except FileNotFoundError:
        return (0, 0)
    return (found.st_dev, found.st_ino)


def holds_a_cache(path: Path) -> bool:
    """Return whether the file is a SQLite database with the tables of this program; change nothing. Never raises."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (SEARCHES,)).fetchone() is not None
    except sqlite3.Error:
        return False


def is_of_unknown_version(path: Path) -> bool:
    """Say whether the header asks for a version of the file format that does not exist: such a file may be read only.

    See https://sqlite.org/fileformat2.html#file_format_version_numbers
    """
    with path.open("rb") as file:
        header = file.read(20)
    return len(header) == 20 and header[18] not in {1, 2}


def is_sound(path: Path) -> bool:
    """Say whether SQLite finds the file and its record of migrations whole."""
    if is_of_unknown_version(path):
        return False
    try:
        with closing(sqlite3.connect(path, timeout=30)) as connection:
            if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
                return False
            with suppress(MigrationError):  # a newer program's file is sound
                is_current(connection)
            return True
    except UnicodeDecodeError:  # what the error says of a damaged schema is no text
        return False
    except sqlite3.DatabaseError as error:
        if primary(error) in DAMAGED | {sqlite3.SQLITE_ERROR}:
            return False
        raise


def copied(path: Path) -> Path:
    """Copy a database with its log to a new temporary folder; return its path."""
    copy = Path(tempfile.mkdtemp(prefix="harness-")) / "copy.db"
    for suffix in ("", "-wal"):
        if (part := beside(path, suffix)).exists():
            shutil.copyfile(part, beside(copy, suffix))
    return copy


def remove_copy(copy: Path, process: int) -> None:
    """Remove a copy with its folder, in the process that made it: its forked children end before it does."""
    if os.getpid() == process:
        shutil.rmtree(copy.parent, ignore_errors=True)


def without(database: str, table: str, tenant: str) -> tuple[bytes, int]:
    """Return the database at a URI without the tenant's rows of `table`, as the bytes of a file, and how many rows
    those were. It is made in memory, and nothing is written.
    """
    with closing(sqlite3.connect("file::memory:", isolation_level=None, uri=True)) as rest:
        rest.execute("ATTACH ? AS old", (database,))
        made = rest.execute("SELECT type, name, sql FROM old.sqlite_master WHERE sql IS NOT NULL").fetchall()
        tables = [(name, sql) for kind, name, sql in made if kind == "table" and not name.startswith("sqlite_")]
        for name, sql in tables:
            rest.execute(sql)
            kept = " WHERE tenant != ?" if name == table else ""
            rest.execute(f'INSERT INTO main."{name}" SELECT * FROM old."{name}"{kept}', (tenant,) if kept else ())
        # numbers are never given twice, not even those of the last rows
        rest.execute("DELETE FROM main.sqlite_sequence")
        rest.execute("INSERT INTO main.sqlite_sequence SELECT * FROM old.sqlite_sequence")
        for kind, _, sql in made:
            if kind != "table":
                rest.execute(sql)
        (gone,) = rest.execute(f"SELECT count(*) FROM old.{table} WHERE tenant = ?", (tenant,)).fetchone()
        rest.execute("DETACH old")
        return rest.serialize(), gone


def replace_database(path: Path, content: bytes) -> None:
    """Write `content` in place of the database and its log, which are deleted first: there is no other space.

    Meanwhile a copy in the folder for temporary files keeps the content from being lost.

    Raises:
        StoreError: there is no space for the copy, so that nothing was done, or none for the new file.
    """
    try:
        with tempfile.NamedTemporaryFile(prefix="harness-", suffix=".db", delete=False) as safe:
            safe.write(content)
            safe.flush()
            os.fsync(safe.fileno())
    except OSError as error:
        Path(safe.name).unlink(missing_ok=True)
        raise StoreError(
            f"the disk is full, and {len(content):,} bytes are needed to delete anything from {path}; "
            "free them, or let TMPDIR name a folder on another disk"
        ) from error
    try:
        for suffix in ("-wal", ""):  # who still has them open would keep their space
            if (part := beside(path, suffix)).exists():
                os.truncate(part, 0)
        for suffix in ("-wal", "-shm", ""):
            beside(path, suffix).unlink(missing_ok=True)
        with replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise StoreError(f"cannot write {path} ({error}); what it held is in {safe.name}; move it there") from error
    Path(safe.name).unlink()
