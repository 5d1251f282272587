"""Index of a corpus: its passages by words (SQLite FTS5, BM25) and by meaning, updated part by part."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import orjson
from msgspec import Struct

from harness.core.chunking import embedded_text, passages
from harness.core.multilingual_vectors import SCALE
from harness.core.page_numbers import PageStarts, checked_starts, joined_starts, shifted_starts, starts_in
from harness.core.search_words import FORM, search_terms
from harness.errors import EngineUnavailable
from harness.ports import Progress, SearchResult, Vectors
from harness.settings.code_digest import source_digest
from harness.sources.corpus import passage_vectors
from harness.sources.corpus.database import SCHEMA_VERSION, IndexDatabase, indexed
from harness.sources.corpus.local_documents import CorpusDocument, CorpusSource, PartUnavailable
from harness.sources.corpus.passage_ranking import (
    PassageMatch,
    RankedDocument,
    by_words,
    by_words_and_meaning,
    weighing,
)

MAX_TERMS = 64

LEAST_MATCHES = 1_000
"""Passages with words of the question that a search by words and meaning ranks at least."""

# bm25() is negative, best first; words of a heading count twice
_MATCHES = """
SELECT passages.id, passages.document, best.score
FROM (
    SELECT rowid, -bm25(words, 2.0, 2.0, 1.0) AS score FROM words
    WHERE words MATCH ? ORDER BY score DESC, rowid LIMIT ?
) AS best JOIN passages ON passages.id = best.rowid ORDER BY best.score DESC, passages.id
"""


class Meaning(Struct, frozen=True):
    """Unit vector of a question, shape (dimension,), the id of its embedder, and the question's language as a primary
    tag, "" for English. `across` makes its vector for passages in other languages, if `vector` is not for them.
    """

    embedder: str
    vector: Vectors
    language: str = ""
    across: Callable[[], Vectors] | None = None


class CorpusIndex:
    """Index in the file at `path`; one with another schema version is emptied, except for vectors.

    It is only a copy: if a method raises `StoreCorrupt`, call `rebuild`.

    Raises:
        StoreError: the file cannot be created.
    """

    def __init__(self, path: Path) -> None:
        self.database = IndexDatabase(path)
        self._vectors = passage_vectors.VectorReader()

    def rebuild(self, source: CorpusSource, progress: Progress) -> None:
        """Replace a damaged index by a new one, atomically: a search sees either the damaged or the full index.

        Raises:
            StoreError: the index cannot be written.
        """
        with self.database.rebuilt() as database:
            _update(database, source, progress)

    def update(self, source: CorpusSource, progress: Progress) -> None:
        """Index the parts that changed since the last update; an interrupted update continues where it stopped.

        Raises:
            StoreError: the index cannot be written.
        """
        _update(self.database, source, progress)

    def version(self) -> str:
        """Return a digest of all indexed text, which is equal for equal texts; empty without text."""
        with self.database.connected() as connection:
            return _version(connection)

    def search(
        self, query: str, max_results: int, *, version: str, meaning: Meaning | None = None
    ) -> list[SearchResult]:
        """Return the best documents, best first, each with its best passages in text order; by words, or by words and
        `meaning`.

        Raises:
            EngineUnavailable: the index is not at `version`, or lacks vectors, because another process is changing it.
                Its results would be cached under the wrong key.
        """
        expression = " OR ".join(f'"{term}"' for term in search_terms(query)[:MAX_TERMS])  # quoted: no operators
        if not expression:
            return []
        with self.database.connected() as connection:
            connection.execute("BEGIN")  # one snapshot of version, vectors and rows
            if _version(connection) != version:
                raise EngineUnavailable("the corpus changed during the search; try again")
            if meaning is None:
                ranked = by_words(_matches(connection, expression, max_results), max_results)
            else:
                matches = _matches(connection, expression, max_results, LEAST_MATCHES)
                weighs = weighing(meaning.embedder, meaning.language)
                ranked = by_words_and_meaning(matches, self._near(connection, meaning), max_results, weighs)
            return [_result(connection, each) for each in ranked]

    def _near(self, connection: sqlite3.Connection, meaning: Meaning) -> passage_vectors.Near:
        count: int = connection.execute("SELECT count(*) FROM passages").fetchone()[0]
        state = tuple(made for (made,) in connection.execute("SELECT made FROM parts ORDER BY part"))
        batches = self._vectors.batches(connection, meaning.embedder, len(meaning.vector), state=state, count=count)
        near = passage_vectors.nearness(batches, meaning.vector)
        if len(near.passages) < count:
            raise EngineUnavailable("the vectors of the corpus were lost during the search; try again")
        if meaning.across is None or near.cosines.all():  # no passage is in another language
            return near
        far = passage_vectors.nearness(batches, meaning.across())
        return near._replace(cosines=near.cosines + SCALE * far.cosines)


def _update(database: IndexDatabase, source: CorpusSource, progress: Progress) -> None:
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
                state = connection.execute("SELECT state FROM parts WHERE part = ?", (part,)).fetchone()
                if state == (current[part],):
                    continue  # another thread or process was faster
                _forget(connection, part)
                digest = _add(connection, part, _counted(source.read(part), progress, what, done, len(changed)))
                connection.execute("INSERT INTO parts VALUES (?, ?, ?, randomblob(8))", (part, current[part], digest))
        if changed or gone:
            passage_vectors.forget_orphans(connection)
        if changed:
            progress(what, len(changed), len(changed))


def _matches(connection: sqlite3.Connection, expression: str, max_results: int, least: int = 0) -> list[PassageMatch]:
    """Return matching passages, best first: at least `least`, from `max_results` documents, if there are enough."""
    limit = max(max_results * 20, least)
    rows = connection.execute(_MATCHES, (expression, limit)).fetchall()
    while len(rows) == limit and len({row[1] for row in rows}) < max_results:  # they come from too few documents
        limit *= 10
        rows = connection.execute(_MATCHES, (expression, limit)).fetchall()
    return [PassageMatch(*row) for row in rows]


def _result(connection: sqlite3.Connection, ranked: RankedDocument) -> SearchResult:
    title, href = connection.execute("SELECT title, href FROM documents WHERE id = ?", (ranked.document,)).fetchone()
    bodies, starts = list[str](), list[PageStarts]()
    for passage in ranked.passages:
        sql = "SELECT section, text, pages FROM passages WHERE id = ?"
        section, text, pages = connection.execute(sql, (passage,)).fetchone()
        before = f"## {section}\n\n" if section and section != title else ""
        bodies.append(before + text)
        starts.append(shifted_starts(checked_starts(orjson.loads(pages)), len(before)))
    result = SearchResult(title=title, href=href, body="\n\n".join(bodies))
    if paged := joined_starts(bodies, starts, between=2):
        result["page_starts"] = paged
    return result


def _add(connection: sqlite3.Connection, part: str, documents: Iterator[CorpusDocument]) -> str:
    """Index the documents of a part; return a digest of their text, empty without text. It changes with the form of
    words if they have one: if a text is not English.
    """
    digest = sha256()
    any_text = any_form = False
    for document in documents:
        row = connection.execute(
            "INSERT INTO documents (part, title, href) VALUES (?, ?, ?)", (part, document.title, document.href)
        ).lastrowid
        cut = passages(document.text)
        starts = starts_in((passage.text for passage in cut), document.text, document.page_starts)
        for passage, paged in zip(cut, starts, strict=True):
            any_text = True
            any_form |= indexed(passage.text, passage.text) != passage.text
            key = passage_vectors.key_of(embedded_text(document.title, passage.section, passage.text))
            connection.execute(
                "INSERT INTO passages (document, title, section, text, digest, pages) VALUES (?, ?, ?, ?, ?, ?)",
                (row, document.title, passage.section, passage.text, key, orjson.dumps(paged).decode()),
            )
        for field in (document.href, document.title, document.text, *map(str, document.page_starts)):
            digest.update(field.encode() + b"\0")
    if any_form:
        digest.update(f"words {FORM}".encode())
    return digest.hexdigest() if any_text else ""


def _forget(connection: sqlite3.Connection, part: str) -> None:
    connection.execute("DELETE FROM passages WHERE document IN (SELECT id FROM documents WHERE part = ?)", (part,))
    connection.execute("DELETE FROM documents WHERE part = ?", (part,))
    connection.execute("DELETE FROM parts WHERE part = ?", (part,))


def _counted(
    documents: Iterator[CorpusDocument], progress: Progress, what: str, done: int, total: int
) -> Iterator[CorpusDocument]:
    """Yield the documents; report their number every 250."""
    for number, document in enumerate(documents, start=1):
        if number % 250 == 0:
            progress(f"{what}, {number:,} documents", done, total)
        yield document


def _version(connection: sqlite3.Connection) -> str:
    """Return a digest of the texts, their division into passages and the ranking code; it is part of cache keys."""
    digests = sorted(digest for (digest,) in connection.execute("SELECT digest FROM parts") if digest)
    if not digests:
        return ""
    ranking = source_digest("harness.sources.corpus.passage_ranking")
    return sha256(f"{SCHEMA_VERSION} {ranking} {' '.join(digests)}".encode()).hexdigest()[:16]
