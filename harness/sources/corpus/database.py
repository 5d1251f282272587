"""SQLite file of a corpus index: schema, connections, and SQLite's errors as our errors."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path

from harness.core.search_words import FORM, indexed_text, text_language
from harness.errors import StoreBusy, StoreCorrupt, StoreError

SCHEMA_VERSION = 3
"""Increase it when the schema or the division into passages changes: older indexes are then rebuilt, with the vectors
of texts that stay the same.
"""
FILE_VERSION = SCHEMA_VERSION + 100 * FORM
"""The version in the file. It also changes with the form of words, which is not part of the keys of English corpora."""

BUSY_SECONDS = 60.0

# SQLITE_ERROR: the file has other tables, or none
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR})

# `made` changes each time a part is indexed and its passages are renumbered
# `pages` says where pages of a PDF begin in the text, as JSON
# vectors are keyed by the embedded text, not by passage: a file that is touched or moved keeps them
_SCHEMA = (
    "CREATE TABLE parts (part TEXT PRIMARY KEY, state TEXT NOT NULL, digest TEXT NOT NULL, made BLOB NOT NULL)",
    "CREATE TABLE documents (id INTEGER PRIMARY KEY, part TEXT NOT NULL, title TEXT NOT NULL, href TEXT NOT NULL)",
    "CREATE INDEX documents_part ON documents (part)",
    "CREATE TABLE passages (id INTEGER PRIMARY KEY, document INTEGER NOT NULL, title TEXT NOT NULL, "
    "section TEXT NOT NULL, text TEXT NOT NULL, digest BLOB NOT NULL, pages TEXT NOT NULL)",
    "CREATE INDEX passages_document ON passages (document)",
    "CREATE INDEX passages_digest ON passages (digest, document)",
    "CREATE TABLE IF NOT EXISTS vectors (embedder TEXT NOT NULL, digest BLOB NOT NULL, vector BLOB NOT NULL, "
    "PRIMARY KEY (embedder, digest)) WITHOUT ROWID",
    "CREATE VIRTUAL TABLE words USING fts5 (title, section, text, content = '', "
    """tokenize = "porter unicode61 remove_diacritics 2 categories 'L* M* N* Co'")""",
    "CREATE TRIGGER passages_insert AFTER INSERT ON passages BEGIN INSERT INTO words (rowid, title, section, text) "
    "VALUES (new.id, indexed(new.title, new.text), indexed(new.section, new.text), indexed(new.text, new.text)); END",
    "CREATE TRIGGER passages_delete AFTER DELETE ON passages BEGIN INSERT INTO words (words, rowid, title, section, "
    "text) VALUES ('delete', old.id, indexed(old.title, old.text), indexed(old.section, old.text), "
    "indexed(old.text, old.text)); END",
)


class IndexDatabase:
    """Database file at `path` with the tables of a corpus index; one of another version is emptied, except for vectors.

    Raises:
        StoreError: the file cannot be created.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._translating():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._prepare()

    @contextmanager
    def connected(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection; the caller handles transactions.

        Raises:
            StoreBusy: another process held the lock for longer than `BUSY_SECONDS`.
            StoreCorrupt: the file is damaged.
            StoreError: SQLite refused for another reason.
        """
        with self._translating(), self._opened() as connection:
            yield connection

    @contextmanager
    def rebuilt(self) -> Iterator["IndexDatabase"]:
        """Yield an empty database to fill, which then replaces this one; on an exception, nothing changes.

        It is filled under another name. Under the same name, a process that still reads the damaged file would take
        the new journal for its own after a crash, and roll the new data back.
        """
        fresh = IndexDatabase(self.path.with_name(f"{self.path.name}.{os.getpid()}.new"))
        try:
            yield fresh
            with self._translating():
                self._journal.unlink(missing_ok=True)
                fresh.path.replace(self.path)
        finally:
            fresh._remove()

    def _prepare(self) -> None:
        try:
            with self._opened() as connection:
                ready = _file_version(connection) == FILE_VERSION
        except sqlite3.DatabaseError as error:
            if _primary(error) not in _DAMAGED:
                raise
            self._remove()
            ready = False
        if not ready:
            with self._opened() as connection:
                _create(connection)

    def _remove(self) -> None:
        self.path.unlink(missing_ok=True)
        self._journal.unlink(missing_ok=True)

    @property
    def _journal(self) -> Path:
        return self.path.with_name(f"{self.path.name}-journal")

    def _opened(self) -> "closing[sqlite3.Connection]":
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            connection.create_function("indexed", 2, indexed, deterministic=True)
            connection.execute("PRAGMA synchronous = OFF")  # a copy: rebuilt if a power cut damages it
        except sqlite3.DatabaseError:
            connection.close()
            raise
        return closing(connection)

    @contextmanager
    def _translating(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            if _primary(error) == sqlite3.SQLITE_BUSY:
                raise StoreBusy(f"another process is writing {self.path}; try again in a minute") from error
            if _primary(error) in _DAMAGED:
                raise StoreCorrupt(f"the index {self.path} is damaged ({error}); delete that file") from error
            raise StoreError(f"cannot use the index {self.path} ({error}); free space or delete that file") from error
        except OSError as error:
            raise StoreError(
                f"cannot create the index {self.path} ({error.strerror}); choose another --data-dir"
            ) from error


@lru_cache(maxsize=4)  # the index of words asks for the same text again, after a title and a heading
def indexed(part: str, passage: str) -> str:
    """Return a part of a passage, as its title, as the index of words holds it: by the language of the passage."""
    return indexed_text(part, text_language(passage))


def _create(connection: sqlite3.Connection) -> None:
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        if _file_version(connection) == FILE_VERSION:
            return  # another process was faster
        for table in ("words", "passages", "documents", "parts"):
            connection.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in _SCHEMA:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {FILE_VERSION}")


def _file_version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _primary(error: sqlite3.Error) -> int:
    """Return the primary result code of SQLite's error."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
