"""Make the old database files of this folder: `python tests/data/make.py`.

The caches were kept in two tables before the harness adopted them, and each file holds them as one program left them:

    search_cache(key TEXT PRIMARY KEY, query TEXT, results TEXT, …)
    research_cache(key TEXT PRIMARY KEY, task TEXT, task_type TEXT, context TEXT, …)

where … is any of `created_at`, `expires_at` and, for researches, `search_rounds` and `novelty_scores`; `FILES` tells
what is special about each file. The rows are the same everywhere, as far as a file has columns for them: times lie
around `CREATED`, and the last search and the last research expired before it. Nothing here uses the harness: this
is how other programs wrote, and its own first migrations. The same SQLite writes the same bytes, so making the files
again changes nothing.
"""

import hashlib
import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent

CREATED = 1_700_000_000.0
"""When every row was written: 2023-11-14 22:13:20 UTC."""
LIFETIME = 86_400.0

_TIMES = ("created_at REAL", "expires_at REAL")
_BOTH = ("search_rounds TEXT", "novelty_scores TEXT")


_FIRST_TWO_MIGRATIONS = f"""
ALTER TABLE search_cache RENAME TO search_cache_old;
CREATE TABLE search_cache (
    tenant TEXT NOT NULL,
    key TEXT NOT NULL,
    query TEXT NOT NULL,
    results TEXT NOT NULL,
    max_results INTEGER NOT NULL,
    engine TEXT NOT NULL,
    options TEXT NOT NULL,
    created_at REAL NOT NULL,
    expires_at REAL NOT NULL,
    last_used_at REAL NOT NULL,
    embedding BLOB,
    embedder TEXT,
    PRIMARY KEY (tenant, key)
);
CREATE INDEX search_cache_expires_at ON search_cache (expires_at, created_at);
INSERT INTO search_cache SELECT 'default', key, query, results, max(10, json_array_length(results)), 'ddgs', '{{}}',
    created_at, expires_at, created_at + rowid, NULL, NULL FROM search_cache_old ORDER BY rowid;
INSERT INTO search_cache SELECT 'other', key, query, '[]', 20, 'pubmed', '{{"lang":"de"}}',
    created_at - rowid, expires_at, created_at, x'0000803f00000000', 'two dimensions' FROM search_cache_old;
DROP TABLE search_cache_old;
ALTER TABLE research_cache RENAME TO research_cache_old;
CREATE TABLE research_cache (
    tenant TEXT NOT NULL,
    key TEXT NOT NULL,
    task TEXT NOT NULL,
    context TEXT NOT NULL,
    search_rounds TEXT NOT NULL,
    novelty_scores TEXT NOT NULL,
    task_type TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    created_at REAL NOT NULL,
    expires_at REAL NOT NULL,
    last_used_at REAL NOT NULL,
    embedding BLOB,
    embedder TEXT,
    PRIMARY KEY (tenant, key)
);
CREATE INDEX research_cache_expires_at ON research_cache (expires_at, created_at);
INSERT INTO research_cache SELECT 'default', key, task, context, search_rounds, novelty_scores, task_type, '',
    created_at, expires_at, created_at, NULL, NULL FROM research_cache_old ORDER BY rowid;
DROP TABLE research_cache_old;
CREATE TABLE harness_migrations (name TEXT PRIMARY KEY, applied_at REAL NOT NULL);
INSERT INTO harness_migrations VALUES ('0001-search-cache', {CREATED}), ('0002-research-cache', {CREATED});
PRAGMA journal_mode = WAL;
"""


class Search(NamedTuple):
    """A cached search."""

    query: str
    results: list[dict[str, str]]
    expires_at: float


class Research(NamedTuple):
    """A cached research; `rounds` is what its program kept about them."""

    task: str
    task_type: str
    context: str
    rounds: Any
    novelty: list[float]
    expires_at: float


def _results(count: int, about: str) -> list[dict[str, str]]:
    return [
        {"title": f"{about} {n}", "href": f"https://example.org/{n}", "body": f"What {about} is, part {n}."}
        for n in range(1, count + 1)
    ]


SEARCHES = (
    Search("Best  practices for RAG pipelines", _results(3, "RAG"), CREATED + LIFETIME),
    Search("Zürich 検索 👩‍🔬", _results(1, "Zürich"), CREATED + LIFETIME),
    Search("twelve results", _results(12, "Dozen"), CREATED + LIFETIME),
    Search("gone by then", _results(2, "Gone"), CREATED - 1.0),
)
RESEARCHES = (
    Research(
        "Compare SQLite and PostgreSQL",
        "comparison",
        "# Context\n\nBoth.",
        [["a", "b"], ["c"]],
        [1.0, 0.5],
        CREATED + LIFETIME,
    ),
    Research("What is novelty?", "Explanation", "Ünïcode context", [["d"]], [1.0], CREATED + LIFETIME),
    Research("gone by then", "overview", "Gone.", [["e"]], [0.25], CREATED - 1.0),
)


class File(NamedTuple):
    """An old file: the columns that its tables have beyond the first ones, what else was done to it, and in words."""

    about: str
    search: tuple[str, ...]
    research: tuple[str, ...]
    then: str = ""


FILES = {
    "bare": File("neither times nor rounds nor scores", (), ()),
    "created": File("only created_at", _TIMES[:1], _TIMES[:1]),
    "times": File("created_at and expires_at", _TIMES, _TIMES),
    "no-times": File("rounds and scores without any time", (), _BOTH),
    "no-rounds": File("all but search_rounds", _TIMES, (*_TIMES, _BOTH[1])),
    "no-scores": File("all but novelty_scores", _TIMES, (*_TIMES, _BOTH[0])),
    "full": File("every historical column", _TIMES, (*_BOTH, *_TIMES)),
    "rounds-counted": File("search_rounds as a number", _TIMES, ("search_rounds INTEGER", _BOTH[1], *_TIMES)),
    "null-times": File(
        "NULL in expires_at, and in the first row of each table in created_at, rounds and scores, too",
        _TIMES,
        (*_BOTH, *_TIMES),
        """
        UPDATE search_cache SET expires_at = NULL;
        UPDATE research_cache SET expires_at = NULL;
        UPDATE search_cache SET created_at = NULL WHERE rowid = 1;
        UPDATE research_cache SET created_at = NULL, search_rounds = NULL, novelty_scores = NULL WHERE rowid = 1;
        """,
    ),
    "iso-times": File(
        "times as ISO 8601 text in UTC",
        ("created_at TEXT", "expires_at TEXT"),
        (*_BOTH, *("created_at TIMESTAMP", "expires_at TIMESTAMP")),
    ),
    "text-times": File("times as numbers in text", ("created_at TEXT", "expires_at TEXT"), (*_BOTH, *_TIMES)),
    "extra-column": File(
        "a column that is not ours in each table",
        (*_TIMES, "notes TEXT"),
        ("stars INTEGER", *_BOTH, *_TIMES),
        "UPDATE search_cache SET notes = 'keep ' || rowid; UPDATE research_cache SET stars = rowid;",
    ),
    "indexes": File(
        "indexes with the names that ours have",
        _TIMES,
        (*_BOTH, *_TIMES),
        """
        CREATE INDEX search_cache_expires_at ON search_cache (expires_at);
        CREATE INDEX research_cache_expires_at ON research_cache (created_at);
        CREATE UNIQUE INDEX idx_query ON search_cache (query);
        """,
    ),
    "other-table": File(
        "a table that is not ours",
        _TIMES,
        (*_BOTH, *_TIMES),
        "CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT); INSERT INTO notes (body) VALUES ('mine'), ('too');",
    ),
    "wal": File("left in WAL mode", _TIMES, (*_BOTH, *_TIMES), "PRAGMA journal_mode = WAL;"),
    "only-search": File("no research_cache", _TIMES, (), "DROP TABLE research_cache;"),
    "empty": File(
        "both tables, no rows", _TIMES, (*_BOTH, *_TIMES), "DELETE FROM search_cache; DELETE FROM research_cache;"
    ),
    "without-seq": File(
        "what the first two migrations made, with rows of a second tenant and with embeddings",
        _TIMES,
        (*_BOTH, *_TIMES),
        _FIRST_TWO_MIGRATIONS,
    ),
}


def make(name: str, path: Path) -> None:
    """Write the old file `name` to `path`, which must not exist."""
    file = FILES[name]
    connection = sqlite3.connect(path)
    base = ("key TEXT PRIMARY KEY", "query TEXT", "results TEXT")
    _fill(connection, "search_cache", (*base, *file.search), [_search_row(name, row) for row in SEARCHES])
    base = ("key TEXT PRIMARY KEY", "task TEXT", "task_type TEXT", "context TEXT")
    _fill(connection, "research_cache", (*base, *file.research), [_research_row(name, row) for row in RESEARCHES])
    connection.executescript(file.then)
    connection.execute("VACUUM")
    connection.close()


def _fill(connection: sqlite3.Connection, table: str, columns: tuple[str, ...], rows: list[dict[str, Any]]) -> None:
    names = [column.split()[0] for column in columns]
    connection.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
    for row in rows:
        values = [row.get(name) for name in names]
        connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", values)
    connection.commit()


def _search_row(file: str, row: Search) -> dict[str, Any]:
    asked = {"key": _digest(row.query), "query": row.query, "results": json.dumps(row.results)}
    return asked | _times(file, row.expires_at)


def _research_row(file: str, row: Research) -> dict[str, Any]:
    gathered = {
        "key": _digest(row.task, row.task_type),
        "task": row.task,
        "task_type": row.task_type,
        "context": row.context,
        "search_rounds": len(row.rounds) if file == "rounds-counted" else json.dumps(row.rounds),
        "novelty_scores": json.dumps(row.novelty),
    }
    return gathered | _times(file, row.expires_at)


def _times(file: str, expires_at: float) -> dict[str, Any]:
    times = {"created_at": CREATED, "expires_at": expires_at}
    if file == "iso-times":
        return {name: datetime.fromtimestamp(at, UTC).isoformat() for name, at in times.items()}
    if file == "text-times":
        return {name: str(at) for name, at in times.items()}
    return times


def _digest(text: str, task_type: str | None = None) -> str:
    """Return the key that the programs used: SHA-256 of the normalised text, with the type of a task after a bar."""
    normalised = " ".join(text.lower().split())
    if task_type is not None:
        normalised += f"|{task_type.lower()}"
    return hashlib.sha256(normalised.encode()).hexdigest()


if __name__ == "__main__":
    for each in FILES:
        place = FOLDER / f"{each}.db"
        place.unlink(missing_ok=True)
        make(each, place)
