"""Rows of one SQLite file by their words: an index in another file (FTS5, BM25), which is a copy."""

import logging
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from harness.core.search_words import FORM, indexed_texts
from harness.storage.forks import section
from harness.storage.sqlite.damaged_files import beside, primary
from harness.storage.sqlite.database import Database
from harness.storage.sqlite.entries import marks, shown
from harness.storage.tables import TABLES

log = logging.getLogger(__name__)

BUSY_SECONDS = 30.0
BATCH = 2_000
"""Rows that one transaction adds to the index."""
OVER_FETCH = 2
"""Factor on the rows asked of the index: some have been replaced, expired or deleted since."""
SLACK = 1_000
"""Replaced and deleted rows that the index always may hold; with more, it is rebuilt when they are the majority."""
TITLE_WEIGHT = 2.0
"""Weight of the words of the first column; those of the others have weight 1."""

_DAMAGE = (sqlite3.Error, UnicodeDecodeError, TypeError, ValueError)
"""Errors of an index with damaged bytes; `sqlite3` raises the last three for damaged texts and numbers."""
_UNCHECKED = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_BUSY}
_UNQUOTABLE = {ord('"'): " ", 0: " "}
_INDEXED = "CREATE TABLE IF NOT EXISTS indexed (name TEXT PRIMARY KEY, upto INTEGER, newest TEXT, rows INTEGER)"
TOKENIZER = "porter unicode61 remove_diacritics 2 categories 'L* M* N* Co'"
"""The default but for marks (M*), which are parts of words: without vowel signs, a Hindi word is a row of letters."""


class WordSearch:
    """Finds rows by words, for any number of threads and processes on one file. Each tenant has a separate index, so
    that no other tenant's rows weigh words.

    A search first adds the rows written since, by any process. What the index says is never trusted: callers read the
    rows. If it is lost or damaged, it is rebuilt from them. `path` is its file; without one, every search builds an
    index in memory.
    """

    def __init__(self, connections: Database, path: Path | None) -> None:
        self._connections = connections
        self._path = path

    def matches(self, table: str, tenant: str, terms: Sequence[str], k: int) -> Iterator[list[int]]:
        """Yield the seqs of rows with any of these words in batches, best first: about `k`, then more."""
        quoted = (term.translate(_UNQUOTABLE).strip() for term in terms)
        expression = " OR ".join(f'"{term}"' for term in quoted if term)
        if not expression or k < 1:
            return
        offset, limit = 0, OVER_FETCH * k
        while True:
            seqs = self._searched(table, tenant, expression, offset, limit)
            if seqs:
                yield seqs
            if len(seqs) < limit:
                return
            offset, limit = offset + limit, 4 * limit

    def forget(self, table: str, tenant: str) -> None:
        """Drop a tenant's index: all of its rows have gone, and no word of them may stay in the file."""
        if self._path is None or not self._path.exists():
            return
        try:
            with self._opened() as index:
                name = _name(table, tenant)
                _run(index, f"DROP TABLE IF EXISTS {name}")
                _run(index, "DELETE FROM indexed WHERE name = ?", (name,))
                _run(index, "PRAGMA wal_checkpoint(TRUNCATE)")
        except _DAMAGE as error:
            log.debug("the index of words is removed: %s", error)
            self.repair()

    def damage(self) -> str:
        """Return why the index is unusable, "" if it is sound, there is none, or it is locked or only readable.
        `repair` removes it.
        """
        if self._path is None or not self._path.exists():
            return ""
        try:
            with self._opened() as index:
                found = [str(each) for (each,) in _run(index, "PRAGMA quick_check(1)") if each != "ok"]
                for (name,) in _run(index, "SELECT name FROM indexed"):
                    _run(index, f"INSERT INTO {_checked(name)} ({_checked(name)}) VALUES ('integrity-check')")
        except _DAMAGE as error:
            return "" if primary(error) in _UNCHECKED else str(error)
        return "; ".join(found)

    def _searched(self, table: str, tenant: str, expression: str, offset: int, limit: int) -> list[int]:
        """Search, after a rebuild if the index is damaged; find nothing if it is locked, or cannot be written."""
        try:
            return self._search(table, tenant, expression, offset, limit)
        except _DAMAGE as error:
            if primary(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                log.warning("the index of words is locked; rows are found by meaning only")
                return []
            log.info("the index of words is rebuilt: %s", error)
        try:
            self.repair()
            return self._search(table, tenant, expression, offset, limit)
        except (*_DAMAGE, OSError) as error:
            log.warning("rows are found by meaning only: the index of words cannot be written (%s)", error)
            return []

    def _search(self, table: str, tenant: str, expression: str, offset: int, limit: int) -> list[int]:
        name, weights = _name(table, tenant), ", ".join(("1.0",) * (len(TABLES[table].words) - 1))
        with self._opened() as index:
            self._update(index, table, tenant, name)
            if not self._reach(index, name)[0]:  # there are no rows
                return []
            sql = (
                f"SELECT rowid FROM {name} WHERE {name} MATCH ? AND rank MATCH 'bm25({TITLE_WEIGHT}, {weights})' "
                "ORDER BY rank LIMIT ? OFFSET ?"
            )
            return [seq for (seq,) in _run(index, sql, (expression, limit, offset))]

    def _update(self, index: sqlite3.Connection, table: str, tenant: str, name: str) -> None:
        """Add the rows written since the last search, or all of them if the index is of another file's content."""
        upto, newest, rows = self._reach(index, name)
        last = self._connections.fetch_one(
            f"SELECT seq FROM {table} WHERE tenant = ? ORDER BY seq DESC LIMIT 1", (tenant,)
        )
        continues = not upto or self._continues(table, upto, newest)
        if continues and (last is None or last[0] <= upto):
            return
        if not continues or (rows > SLACK and rows > 2 * self._count(table, tenant)):
            with _transaction(index):
                _run(index, f"DROP TABLE IF EXISTS {name}")
                _run(index, "DELETE FROM indexed WHERE name = ?", (name,))
        while self._add(index, table, tenant, name):
            pass

    def _add(self, index: sqlite3.Connection, table: str, tenant: str, name: str) -> bool:
        """Add a batch of rows; return whether there may be more."""
        columns = TABLES[table].words
        with _transaction(index):
            _run(
                index,
                f"CREATE VIRTUAL TABLE IF NOT EXISTS {name} USING fts5 ({', '.join(columns)}, content = '', "
                f'tokenize = "{TOKENIZER}")',
            )
            upto, _, held = self._reach(index, name)  # another process may have been faster
            sql = (
                f"SELECT seq, key, created_at, {TABLES[table].language}, {', '.join(columns)} FROM {table} "
                f"WHERE tenant = ? AND seq > ? ORDER BY seq LIMIT {BATCH}"
            )
            found = self._connections.fetch_all(sql, (tenant, upto))
            if not found:
                return False
            insert = f"INSERT INTO {name} (rowid, {', '.join(columns)}) VALUES ({marks(('rowid', *columns))})"
            with section():
                index.executemany(
                    insert, [(row[0], *indexed_texts(shown(row[3]), map(shown, row[4:]))) for row in found]
                )
            reached = (name, found[-1][0], _identity(*found[-1][1:3]), held + len(found))
            _run(index, "INSERT OR REPLACE INTO indexed VALUES (?, ?, ?, ?)", reached)
        return len(found) == BATCH

    def _reach(self, index: sqlite3.Connection, name: str) -> tuple[int, str, int]:
        """Return the last row's seq and identity, and how many rows were added."""
        rows = _run(index, "SELECT upto, newest, rows FROM indexed WHERE name = ?", (name,))
        return rows[0] if rows else (0, "", 0)

    def _continues(self, table: str, upto: int, newest: str) -> bool:
        """Return whether the rows are those that the index was made of, and newer ones: not those of a backup."""
        row = self._connections.fetch_one(f"SELECT key, created_at FROM {table} WHERE seq = ?", (upto,))
        if row is not None:
            return _identity(*row) == newest
        given = self._connections.fetch_one("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,))
        return given is not None and int(given[0]) >= upto

    def _count(self, table: str, tenant: str) -> int:
        count: int = self._connections.fetch_one(f"SELECT count(*) FROM {table} WHERE tenant = ?", (tenant,))[0]
        return count

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        place = ":memory:" if self._path is None else self._path
        with closing(sqlite3.connect(place, timeout=BUSY_SECONDS, isolation_level=None)) as index:
            _run(index, "PRAGMA synchronous = OFF")  # a copy: rebuilt if a power cut damages it
            _run(index, "PRAGMA secure_delete = ON")  # no word of a deleted row may stay
            if self._path is not None:
                _run(index, "PRAGMA journal_mode = WAL")
            _run(index, _INDEXED)
            if not _has_form(index):
                _empty(index)
            yield index

    def repair(self) -> None:
        """Remove the index; the next search builds it again."""
        if self._path is not None:
            for suffix in ("", "-wal", "-shm", "-journal"):
                beside(self._path, suffix).unlink(missing_ok=True)


def _has_form(index: sqlite3.Connection) -> bool:
    return bool(_run(index, "PRAGMA user_version")[0][0] == FORM)


def _empty(index: sqlite3.Connection) -> None:
    """Drop all indexes: they hold words in another form; none if another process was faster, and fills them again."""
    with _transaction(index):
        if _has_form(index):
            return
        for (name,) in _run(index, "SELECT name FROM indexed"):
            _run(index, f"DROP TABLE IF EXISTS {_checked(name)}")
        _run(index, "DELETE FROM indexed")
        _run(index, f"PRAGMA user_version = {FORM}")


@contextmanager
def _transaction(index: sqlite3.Connection) -> Iterator[None]:
    _run(index, "BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        _run(index, "ROLLBACK")
        raise
    _run(index, "COMMIT")


def _run(index: sqlite3.Connection, sql: str, values: tuple[Any, ...] = ()) -> list[Any]:
    """Run a statement that no fork may interrupt; return its rows."""
    with section():
        return index.execute(sql, values).fetchall()


def _checked(name: object) -> str:
    """Return the name of an index.

    Raises:
        ValueError: it is none, in a damaged file.
    """
    if not isinstance(name, str) or not re.fullmatch("[a-z_]+_[0-9a-f]{16}", name):
        raise ValueError("the list of indexes is damaged")
    return name


def _name(table: str, tenant: str) -> str:
    return f"{table}_{sha256(tenant.encode(errors='replace')).hexdigest()[:16]}"


def _identity(key: Any, created_at: Any) -> str:
    return f"{shown(key)} {created_at}"
