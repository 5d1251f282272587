"""Rows of a damaged SQLite file that can still be read, in a new file."""

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from math import inf
from pathlib import Path
from typing import Any

from harness.storage.sqlite.damaged_files import beside, is_sound
from harness.storage.sqlite.migrations import RECORD, migrate
from harness.storage.tables import TABLES

log = logging.getLogger(__name__)

BLOCK = 1_000
"""Row numbers that are read at once; where that fails, halves of them are, down to single rows."""
MAX_FAILURES = 50_000
"""Reads of a table that may fail before the rest of it is given up: about a second."""
MAX_NUMBER = 2**62
"""A last number beyond this is a damaged one: it would leave no number for new rows."""
_UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError)


def salvage(damaged: Path, new: Path) -> int:
    """Write the rows that can be read to `new`, where no file is yet; return how many they are. Without any, or if
    `new` cannot be written, there is no file then. Rows whose content has changed are among them, too: their checksums
    tell. The damaged file stays as it is.
    """
    part, log_file = beside(new, ".part"), beside(damaged, "-wal")
    part.unlink(missing_ok=True)
    # without a log, nothing is written next to the file
    how = "mode=ro" if log_file.exists() and log_file.stat().st_size else "immutable=1"
    try:
        with (
            closing(sqlite3.connect(f"{damaged.absolute().as_uri()}?{how}", uri=True)) as old,
            closing(sqlite3.connect(part)) as made,
        ):
            found = _copy(old, made)
            made.commit()
        if found and is_sound(part):
            part.rename(new)
            return found
    except (*_UNREADABLE, OSError) as error:
        log.debug("no row of %s can be carried over: %s", damaged, error)
    part.unlink(missing_ok=True)
    return 0


def _copy(old: sqlite3.Connection, made: sqlite3.Connection) -> int:
    """Copy the rows of tables with today's columns; the record of migrations, which may be damaged, is a new one."""
    migrate(made)
    found, numbers = 0, _numbers(old)
    for (name,) in made.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        columns = _columns(made, name)
        if name == RECORD or name.startswith("sqlite_") or set(columns) != set(_columns(old, name)):
            continue
        listed, values = ", ".join(columns), ", ".join("?" * len(columns))
        for row in _Reader(old, name, listed, numbers.get(name, inf)).rows():
            added = made.execute(f'INSERT OR IGNORE INTO "{name}" ({listed}) VALUES ({values})', row).rowcount
            found += added if name in TABLES else 0
        if name in numbers:  # none is given twice, not even that of a row that was lost
            made.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (numbers[name], name))
    return found


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [f'"{name}"' for _, name, *_ in connection.execute(f'PRAGMA table_info("{table}")')]


def _numbers(old: sqlite3.Connection) -> dict[str, int]:
    """Return the last number given to a row of each table, as far as it can be read and is not absurd."""
    try:
        held = old.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
        return {name: last for name, last in held if isinstance(last, int) and 0 < last < MAX_NUMBER}
    except _UNREADABLE:
        return {}


class _Reader:
    """Reads what can be read of one table, whose last row has the number `last` if that is known."""

    def __init__(self, old: sqlite3.Connection, table: str, columns: str, last: float) -> None:
        self._old = old
        self._numbered = f'FROM "{table}" WHERE rowid'
        self._columns = columns
        self._last = last
        self._failures = 0

    def rows(self) -> Iterator[Any]:
        """Yield the rows in the order of their numbers."""
        first: int | None = 0
        while first is not None and self._failures <= MAX_FAILURES:
            yield from self._between(first, first + BLOCK - 1)
            first = self._next(first + BLOCK)

    def _next(self, number: int) -> int | None:
        """Return the number of the first row from `number` on, and `number` itself where that cannot be read."""
        try:
            sql = f"SELECT rowid {self._numbered} >= ? ORDER BY rowid LIMIT 1"
            found = self._old.execute(sql, (number,)).fetchone()
            return found[0] if found else None
        except _UNREADABLE:
            self._failures += 1
            return number if number <= self._last else None

    def _between(self, first: int, last: int) -> Iterator[Any]:
        if self._failures > MAX_FAILURES:
            return
        try:
            sql = f"SELECT {self._columns} {self._numbered} BETWEEN ? AND ?"
            yield from self._old.execute(sql, (first, last)).fetchall()
        except _UNREADABLE:
            self._failures += 1
            if first < last:
                middle = (first + last) // 2
                yield from self._between(first, middle)
                yield from self._between(middle + 1, last)
