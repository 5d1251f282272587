"""The index of a corpus: its passages by words (SQLite FTS5, BM25) and by meaning, kept up to date part by part."""

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from harness.core.chunking import passages
from harness.core.text import content_words, words
from harness.errors import EngineUnavailable
from harness.ports import Progress, SearchResult, Vectors
from harness.settings.code_digest import source_digest
from harness.sources.corpus import vectors
from harness.sources.corpus.database import SCHEMA_VERSION, IndexDatabase
from harness.sources.corpus.documents import Document, PartUnavailable, Source
from harness.sources.corpus.ranking import Match, Ranked, by_words, by_words_and_meaning

MAX_TERMS = 64

LEAST_MATCHES = 1_000
"""Passages with words of the question that a search by words and meaning weighs, best first."""

# bm25() is negative, best first; a heading's word weighs twice a text's
_MATCHES = """
SELECT passages.id, passages.document, best.score
FROM (
    SELECT rowid, -bm25(words, 2.0, 2.0, 1.0) AS score FROM words
    WHERE words MATCH ? ORDER BY score DESC, rowid LIMIT ?
) AS best JOIN passages ON passages.id = best.rowid ORDER BY best.score DESC, passages.id
"""


class Meaning(Struct, frozen=True):
    """What a question means: its unit vector, shape (dimension,), by the embedder of this id."""

    embedder: str
    vector: Vectors


class CorpusIndex:
    """The index in the file at `path`; one of another version of the program is emptied.

    It is only a copy. When a method raises `StoreCorrupt`, `make_anew`.

    Raises:
        StoreError: if the file cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self.database = IndexDatabase(path)
        self._vectors = vectors.VectorReader()

    def make_anew(self, source: Source, progress: Progress) -> None:
        """Replace a damaged index by a new one, at once: whoever searches meanwhile finds the damage or all of it.

        Raises:
            StoreError: the index cannot be written.
        """
        with self.database.made_anew() as database:
            _update(database, source, progress)

    def update(self, source: Source, progress: Progress) -> None:
        """Index what changed since the last time, part by part; an interrupted update goes on where it stopped.

        Raises:
            StoreError: the index cannot be written.
        """
        _update(self.database, source, progress)

    def version(self) -> str:
        """Return a digest of all indexed text: equal texts, equal version. Empty when there is none."""
        with self.database.connected() as connection:
            return _version(connection)

    def search(
        self, query: str, max_results: int, *, version: str, meaning: Meaning | None = None
    ) -> list[SearchResult]:
        """Return the best documents, each with its passages that match best, in their order; by words alone, or by
        words and `meaning`.

        Raises:
            EngineUnavailable: the index is no longer, or not yet, at `version`, or no longer has every vector: another
                process is at work on it. What it returned would be cached as the answer of something else.
        """
        expression = _match_expression(query)
        if not expression:
            return []
        with self.database.connected() as connection:
            connection.execute("BEGIN")  # version, vectors and rows are of one moment
            if _version(connection) != version:
                raise EngineUnavailable("the corpus changed while it was searched; run the same again")
            if meaning is None:
                ranked = by_words(_matches(connection, expression, max_results), max_results)
            else:
                matches = _matches(connection, expression, max_results, LEAST_MATCHES)
                ranked = by_words_and_meaning(matches, self._near(connection, meaning), max_results)
            return [_result(connection, each) for each in ranked]

    def _near(self, connection: sqlite3.Connection, meaning: Meaning) -> vectors.Near:
        count: int = connection.execute("SELECT count(*) FROM passages").fetchone()[0]
        state = tuple(made for (made,) in connection.execute("SELECT made FROM parts ORDER BY part"))
        batches = self._vectors.batches(connection, meaning.embedder, len(meaning.vector), state=state, count=count)
        near = vectors.nearness(batches, meaning.vector)
        if len(near.passages) < count:
            raise EngineUnavailable("the vectors of the corpus were lost while it was searched; run the same again")
        return near


def _update(database: IndexDatabase, source: Source, progress: Progress) -> None:
    current = source.parts()
    what = f"indexing {source.label}"
    with database.connected() as connection:
        known = dict(connection.execute("SELECT part, state FROM parts"))
        gone = known.keys() - current.keys()
        for part in gone:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                _forget(connection, part)
        changed = [part for part in current if known.get(part) != current[part]]
        for done, part in enumerate(changed):
            progress(what, done, len(changed))
            with suppress(PartUnavailable), connection:
                connection.execute("BEGIN IMMEDIATE")
                if _is_at(connection, part, current[part]):
                    continue  # another thread or process was faster
                _forget(connection, part)
                digest = _add(connection, part, _counted(source.read(part), progress, what, done, len(changed)))
                connection.execute("INSERT INTO parts VALUES (?, ?, ?, randomblob(8))", (part, current[part], digest))
        if changed or gone:
            vectors.forget_orphans(connection)
        if changed:
            progress(what, len(changed), len(changed))


def _matches(connection: sqlite3.Connection, expression: str, max_results: int, least: int = 0) -> list[Match]:
    """Return passages that match, best first: `least` or more, of `max_results` documents if there are so many."""
    limit = max(max_results * 20, least)
    rows = connection.execute(_MATCHES, (expression, limit)).fetchall()
    while len(rows) == limit and len({row[1] for row in rows}) < max_results:  # a few documents hold them all
        limit *= 10
        rows = connection.execute(_MATCHES, (expression, limit)).fetchall()
    return [Match(*row) for row in rows]


def _result(connection: sqlite3.Connection, ranked: Ranked) -> SearchResult:
    title, href = connection.execute("SELECT title, href FROM documents WHERE id = ?", (ranked.document,)).fetchone()
    bodies = []
    for passage in ranked.passages:
        section, text = connection.execute("SELECT section, text FROM passages WHERE id = ?", (passage,)).fetchone()
        bodies.append(f"{section}\n\n{text}" if section and section != title else text)
    return SearchResult(title=title, href=href, body="\n\n".join(bodies))


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
            key = vectors.key_of(vectors.embedded_text(document.title, passage.section, passage.text))
            connection.execute(
                "INSERT INTO passages (document, title, section, text, digest) VALUES (?, ?, ?, ?, ?)",
                (row, document.title, passage.section, passage.text, key),
            )
        for field in (document.href, document.title, document.text):
            digest.update(field.encode() + b"\0")
    return digest.hexdigest() if any_text else ""


def _is_at(connection: sqlite3.Connection, part: str, state: str) -> bool:
    found = connection.execute("SELECT 1 FROM parts WHERE part = ? AND state = ?", (part, state)).fetchone()
    return found is not None


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
    """Return a digest of the texts, of how they are divided and of the code that ranks them: results are cached under
    it.
    """
    digests = sorted(digest for (digest,) in connection.execute("SELECT digest FROM parts") if digest)
    if not digests:
        return ""
    ranking = source_digest("harness.sources.corpus.ranking")
    return sha256(f"{SCHEMA_VERSION} {ranking} {' '.join(digests)}".encode()).hexdigest()[:16]
