"""A full-text index of a corpus: SQLite FTS5, ranked by BM25, kept up to date part by part."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from harness.core.chunking import passages
from harness.core.text import content_words, words
from harness.engines.corpus_files import Document, PartUnavailable, Source
from harness.errors import EngineUnavailable, StoreBusy, StoreCorrupt, StoreError
from harness.ports import Progress, SearchResult

SCHEMA_VERSION = 1
"""Raise it when the schema or the way of cutting passages changes: older indexes are then made anew."""

PASSAGES_PER_RESULT = 3
MAX_TERMS = 64
BUSY_SECONDS = 60.0

# SQLITE_ERROR is a statement that the schema does not know: somebody else's tables, or none
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR})

_SCHEMA = (
    "CREATE TABLE parts (part TEXT PRIMARY KEY, state TEXT NOT NULL, digest TEXT NOT NULL)",
    "CREATE TABLE documents (id INTEGER PRIMARY KEY, part TEXT NOT NULL, title TEXT NOT NULL, href TEXT NOT NULL)",
    "CREATE INDEX documents_part ON documents (part)",
    "CREATE TABLE passages (id INTEGER PRIMARY KEY, document INTEGER NOT NULL, title TEXT NOT NULL, "
    "section TEXT NOT NULL, text TEXT NOT NULL)",
    "CREATE INDEX passages_document ON passages (document)",
    "CREATE VIRTUAL TABLE words USING fts5 (title, section, text, content = 'passages', content_rowid = 'id', "
    "tokenize = 'porter unicode61 remove_diacritics 2')",
    "CREATE TRIGGER passages_insert AFTER INSERT ON passages BEGIN INSERT INTO words (rowid, title, section, text) "
    "VALUES (new.id, new.title, new.section, new.text); END",
    "CREATE TRIGGER passages_delete AFTER DELETE ON passages BEGIN INSERT INTO words (words, rowid, title, section, "
    "text) VALUES ('delete', old.id, old.title, old.section, old.text); END",
)

# bm25() is negative, best first; a heading's word weighs twice a text's
_SEARCH = """
SELECT documents.id, documents.title, documents.href, passages.id, passages.section, passages.text
FROM words JOIN passages ON passages.id = words.rowid JOIN documents ON documents.id = passages.document
WHERE words MATCH ? ORDER BY bm25(words, 2.0, 2.0, 1.0), passages.id LIMIT ?
"""


class CorpusIndex:
    """The index in the file at `path`; one of another version of the program is emptied.

    It is only a copy. When a method raises `StoreCorrupt`, `discard` it and `update` again.

    Raises:
        StoreError: if the file cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._translating():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._prepare()

    def discard(self) -> None:
        """Delete the index and begin an empty one."""
        with self._translating():
            self._remove()
            self._prepare()

    def update(self, source: Source, progress: Progress) -> None:
        """Index what changed since the last time, part by part; an interrupted update goes on where it stopped.

        Raises:
            StoreError: the index cannot be written.
        """
        current = source.parts()
        what = f"indexing {source.label}"
        with self._translating(), self._connected() as connection:
            known = dict(connection.execute("SELECT part, state FROM parts"))
            for part in known.keys() - current.keys():
                with connection:
                    connection.execute("BEGIN IMMEDIATE")
                    _forget(connection, part)
            changed = [part for part in current if known.get(part) != current[part]]
            for done, part in enumerate(changed):
                progress(what, done, len(changed))
                with suppress(PartUnavailable), connection:
                    connection.execute("BEGIN IMMEDIATE")
                    _forget(connection, part)
                    digest = _add(connection, part, _counted(source.read(part), progress, what, done, len(changed)))
                    connection.execute("INSERT INTO parts VALUES (?, ?, ?)", (part, current[part], digest))
            if changed:
                progress(what, len(changed), len(changed))

    def version(self) -> str:
        """Return a digest of all indexed text: equal texts, equal version. Empty when there is none."""
        with self._translating(), self._connected() as connection:
            return _version(connection)

    def search(self, query: str, max_results: int, *, version: str) -> list[SearchResult]:
        """Return the best documents by their best passage, each with its passages that match best, in their order.

        Raises:
            EngineUnavailable: the index is no longer, or not yet, at `version`: another process is at work on it. What
                it returned would be cached as the answer of a text that it does not come from.
        """
        expression = _match_expression(query)
        if not expression:
            return []
        with self._translating(), self._connected() as connection:
            connection.execute("BEGIN")  # version and rows are of one moment
            if _version(connection) != version:
                raise EngineUnavailable("the corpus changed while it was searched; run the same again")
            limit = max_results * 20
            rows = connection.execute(_SEARCH, (expression, limit)).fetchall()
            while len(rows) == limit and len({row[0] for row in rows}) < max_results:  # a few documents hold them all
                limit *= 10
                rows = connection.execute(_SEARCH, (expression, limit)).fetchall()
        chosen: dict[int, tuple[str, str, dict[int, str]]] = {}
        for document, title, href, passage, section, text in rows:
            if document not in chosen and len(chosen) == max_results:
                continue
            held = chosen.setdefault(document, (title, href, {}))[2]
            if len(held) < PASSAGES_PER_RESULT:
                held[passage] = f"{section}\n\n{text}" if section and section != title else text
        return [
            SearchResult(title=title, href=href, body="\n\n".join(held[passage] for passage in sorted(held)))
            for title, href, held in chosen.values()
        ]

    def _prepare(self) -> None:
        try:
            with self._connected() as connection:
                ready = _schema_version(connection) == SCHEMA_VERSION
        except sqlite3.DatabaseError as error:
            if _primary(error) not in _DAMAGED:
                raise
            self._remove()
            ready = False
        if not ready:
            with self._connected() as connection:
                _create(connection)

    def _remove(self) -> None:
        for suffix in ("", "-journal"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def _connected(self) -> "closing[sqlite3.Connection]":
        connection = sqlite3.connect(self._path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            connection.execute("PRAGMA synchronous = OFF")  # a copy: what a power cut damages is made anew
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
                raise StoreBusy(f"another process is writing {self._path}; try again in a minute") from error
            if _primary(error) in _DAMAGED:
                raise StoreCorrupt(f"the index {self._path} is damaged ({error}); remove that file") from error
            raise StoreError(f"cannot use the index {self._path} ({error}); free space or remove that file") from error
        except OSError as error:
            raise StoreError(
                f"cannot make the index {self._path} ({error.strerror}); choose another --data-dir"
            ) from error


def _create(connection: sqlite3.Connection) -> None:
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        if _schema_version(connection) == SCHEMA_VERSION:
            return  # another process was faster
        for table in ("words", "passages", "documents", "parts"):
            connection.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in _SCHEMA:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _add(connection: sqlite3.Connection, part: str, documents: Iterator[Document]) -> str:
    """Index the documents of a part; return a digest of their text, empty when there is none."""
    digest = sha256()
    any_text = False
    for document in documents:
        row = connection.execute(
            "INSERT INTO documents (part, title, href) VALUES (?, ?, ?)", (part, document.title, document.href)
        ).lastrowid
        for passage in passages(document.text):
            any_text = True
            connection.execute(
                "INSERT INTO passages (document, title, section, text) VALUES (?, ?, ?, ?)",
                (row, document.title, passage.section, passage.text),
            )
        for field in (document.href, document.title, document.text):
            digest.update(field.encode() + b"\0")
    return digest.hexdigest() if any_text else ""


def _forget(connection: sqlite3.Connection, part: str) -> None:
    connection.execute("DELETE FROM passages WHERE document IN (SELECT id FROM documents WHERE part = ?)", (part,))
    connection.execute("DELETE FROM documents WHERE part = ?", (part,))
    connection.execute("DELETE FROM parts WHERE part = ?", (part,))


def _match_expression(query: str) -> str:
    """Make an FTS5 expression of plain quoted words, any of which may match: no operator of a query gets through."""
    terms = content_words(query) or words(query)
    return " OR ".join(f'"{term}"' for term in dict.fromkeys(terms[:MAX_TERMS]))


def _counted(documents: Iterator[Document], progress: Progress, what: str, done: int, total: int) -> Iterator[Document]:
    """Pass documents on, telling their number where a part holds many."""
    for number, document in enumerate(documents, start=1):
        if number % 250 == 0:
            progress(f"{what}, {number:,} documents", done, total)
        yield document


def _version(connection: sqlite3.Connection) -> str:
    digests = sorted(digest for (digest,) in connection.execute("SELECT digest FROM parts") if digest)
    return sha256(f"{SCHEMA_VERSION} {' '.join(digests)}".encode()).hexdigest()[:16] if digests else ""


def _schema_version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _primary(error: sqlite3.Error) -> int:
    """Return the primary result code of SQLite's error."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
