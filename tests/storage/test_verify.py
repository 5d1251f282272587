"""`verify`: each kind of damage is reported, `repair` fixes it, and a sound file has no problems."""

import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cache import Cache
from harness.core.entries import Hit
from harness.storage.sqlite.store import SqliteStore
from harness.storage.tables import AUDITS
from tests.storage.embedded import embedded, keys_near, vector_of
from tests.storage.entries import NOW, RESEARCH, SEARCHES, TENANT, an_audit, an_entry

PAGE = 4_096
UNANSWERED = "unanswered_searches"
EVIDENCE = "research_evidence"
RUNS = "research_runs"

UNUSABLE = {
    "a payload that is no JSON": "results = 'no json'",
    "a payload that is no UTF-8": "results = CAST(x'5b22ff225d' AS TEXT)",
    "a payload that was cut short": "results = substr(results, 1, 5)",
    "a number for a payload": "results = 5",
    "a creation in words": "created_at = 'then'",
    "an expiry in words": "expires_at = 'some day'",
    "an expiry of bytes": "expires_at = x'00'",
    "a use in words": "last_used_at = 'now'",
    "a number of results in words": "max_results = 'many'",
}
"""Damage to a row, as SQL, so that no look-up can use it."""

FORGETTABLE = {
    "cut short": "embedding = substr(embedding, 1, 20)",
    "too long": "embedding = CAST(embedding || embedding AS BLOB)",
    "empty": "embedding = x''",
    "of no one": "embedder = NULL",
    "a text": "embedding = 'text'",
    "a number": "embedding = 5",
    "not a number": "embedding = CAST(x'0000c07f' || substr(embedding, 5) AS BLOB)",
    "infinite": "embedding = CAST(x'0000807f' || substr(embedding, 5) AS BLOB)",
    "far too large": "embedding = CAST(x'0000fa7e' || substr(embedding, 5) AS BLOB)",
    "zeros": "embedding = zeroblob(length(embedding))",
}
"""Damage to an embedding, as SQL: the row is sound without it."""

DAMAGED_AUDITS = {
    "of other queries": "query_a = 'x'",
    "of no query": "query_b = ''",
    "a query that is no text": "query_b = x'ff'",
    "a key of another kind": "key_b = x'00ff'",
    "more than all in common": "overlap = 1.5",
    "a share in words": "similarity = 'much'",
    "a probability below none": "probability = -0.5",
    "neither agreed nor not": "agreed = 7",
    "a time in words": "created_at = 'then'",
    "a time that never comes": "created_at = 1e300",
}
"""Damage to the row of an audit, as SQL."""


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    """Open a store with five sound rows, `k0`, `k1`, …, each of which teaches something."""
    store = SqliteStore(path)
    for number in range(5):
        store.rows.put(SEARCHES, TENANT, embedded(f"k{number}", teaches=(("RAG", f"meaning {number}"),)))
    yield store
    store.close()


def test_a_used_cache_is_sound(path: Path) -> None:
    """Rows of any kind that the cache itself has written have no problems."""
    cache = Cache(SqliteStore(path))
    cache.searches.answer("a query", lambda _query, _count: [{"title": "t", "href": "h", "body": "b"}])
    cache.searches.answer("nothing there", lambda _query, _count: [])
    with pytest.raises(RuntimeError):
        cache.searches.answer("an error", _failing)
    for repair in (False, True, False):
        assert cache.store.admin.verify(repair=repair) == []
    assert isinstance(cache.searches.find("a query"), Hit)


def test_a_number_is_sound_evidence(store: SqliteStore) -> None:
    """The library stores up to which row it has read, and a research its year."""
    store.rows.put(EVIDENCE, TENANT, an_entry("k", own=("year",), payload=b"2026"))
    assert store.admin.verify(repair=False) == []


def _failing(_query: str, _count: int) -> list[dict[str, str]]:
    raise RuntimeError("the engine is gone")


def test_every_table_is_checked(store: SqliteStore) -> None:
    """A problem names the table and the row."""
    store.rows.put(RESEARCH, TENANT, an_entry("k", RESEARCH))
    store.rows.put(UNANSWERED, TENANT, an_entry("k", own=("ddgs", "{}"), payload=b"{}"))
    store.rows.put(RUNS, TENANT, an_entry("k", own=("ddgs",), payload=b"{}"))
    tables = (SEARCHES, RESEARCH, UNANSWERED, RUNS)
    for table in tables:
        _damage(store, "created_at = 'then'", table, "k" if table != SEARCHES else "k2")
    problems = store.admin.verify(repair=False)
    assert len(problems) == 4
    for table in tables:
        assert any(table in problem for problem in problems)


@pytest.mark.parametrize("damage", UNUSABLE.values(), ids=UNUSABLE)
def test_a_row_that_no_look_up_can_use_is_reported_and_deleted(store: SqliteStore, damage: str) -> None:
    """In one line; `repair` deletes it with its meanings, and the others stay."""
    _damage(store, damage)
    (problem,) = store.admin.verify(repair=False)
    assert "\n" not in problem
    assert SEARCHES in problem
    assert store.listings.stats(SEARCHES, TENANT, NOW).total == 5
    assert store.admin.verify(repair=True) == [problem]
    assert store.admin.verify(repair=False) == []
    assert [entry.key for entry in store.listings.scan(SEARCHES, TENANT)] == ["k0", "k1", "k3", "k4"]
    assert ("RAG", "meaning 2") not in store.nearest.meanings(TENANT, ["RAG"])
    assert len(store.nearest.meanings(TENANT, ["RAG"])) == 4


@pytest.mark.parametrize("damage", FORGETTABLE.values(), ids=FORGETTABLE)
def test_a_damaged_embedding_is_reported_and_deleted(store: SqliteStore, damage: str) -> None:
    """The row stays, with its meanings, and needs a new embedding; the others keep theirs."""
    _damage(store, damage)
    (problem,) = store.admin.verify(repair=False)
    assert "embedding" in problem
    assert store.admin.verify(repair=True) == [problem]
    assert store.admin.verify(repair=False) == []
    kept = {entry.key: (entry.embedding, entry.embedder) for entry in store.listings.scan(SEARCHES, TENANT)}
    assert kept.pop("k2") == (None, None)
    assert len(kept) == 4
    assert len(store.nearest.meanings(TENANT, ["RAG"])) == 5
    assert keys_near(store, vector_of("k3"), 1) == ["k3"]
    assert store.nearest.unembedded(SEARCHES, TENANT, "fake-32", 10) == [("k2", "text of k2")]


@pytest.mark.parametrize("damage", DAMAGED_AUDITS.values(), ids=DAMAGED_AUDITS)
def test_a_damaged_audit_is_reported_and_deleted(store: SqliteStore, damage: str) -> None:
    """It is never read meanwhile, and the others stay."""
    first, second, third = an_audit("a", "b"), an_audit("c", "d", at=1.0), an_audit("e", "f", at=2.0)
    for audit in (first, second, third):
        store.audits.put(TENANT, audit)
    sql = f"UPDATE {AUDITS} SET {damage} WHERE query_a IN ('c', 'd')"
    assert store._connections.write(lambda connection: connection.execute(sql).rowcount) == 1
    (problem,) = store.admin.verify(repair=False)
    assert "\n" not in problem
    assert AUDITS in problem
    assert store.audits.all(TENANT) == [first, third]
    assert store.admin.verify(repair=True) == [problem]
    assert store.admin.verify(repair=False) == []
    assert store.audits.all(TENANT) == [first, third]
    assert store.audits.count(TENANT) == (0, 2)


def test_several_problems_are_reported_at_once(store: SqliteStore) -> None:
    """Each has its line, and one repair fixes all."""
    _damage(store, "results = 'no json'", key="k0")
    _damage(store, "expires_at = 'some day'", key="k1")
    _damage(store, "embedding = x'00'", key="k2")
    assert len(store.admin.verify(repair=False)) == 3
    assert len(store.admin.verify(repair=True)) == 3
    assert store.admin.verify(repair=False) == []
    assert [entry.key for entry in store.listings.scan(SEARCHES, TENANT)] == ["k2", "k3", "k4"]


def test_a_context_may_be_any_text(store: SqliteStore) -> None:
    """The payload of a research need not be JSON."""
    store.rows.put(RESEARCH, TENANT, an_entry("k", RESEARCH, payload=b"# Any text\n"))
    assert store.admin.verify(repair=True) == []
    assert store.rows.get(RESEARCH, TENANT, "k") is not None


@pytest.mark.parametrize(
    "name", ["search_cache", "sqlite_autoindex_search_cache_1", "search_cache_scope", "search_cache_expires_at"]
)
@pytest.mark.slow
def test_a_damaged_file_is_reported_and_left_alone(path: Path, name: str) -> None:
    """Whichever page is damaged, `verify` reports it, and without `repair` does not move the file."""
    store = SqliteStore(path)
    for number in range(200):
        store.rows.put(SEARCHES, TENANT, embedded(f"k{number}", payload=b'["' + b"x" * 500 + b'"]'))
    store.close()
    _noise(path, name)
    before = path.read_bytes()
    assert store.admin.verify(repair=False)
    store.close()
    assert path.read_bytes() == before
    assert store.admin.verify(repair=True)
    assert store.admin.verify(repair=False) == []
    store.rows.put(SEARCHES, TENANT, embedded("after"))
    assert keys_near(store, vector_of("after"), 1) == ["after"]
    store.close()


def _damage(store: SqliteStore, change: str, table: str = SEARCHES, key: str = "k2") -> None:
    sql = f"UPDATE {table} SET {change} WHERE key = ?"
    assert store._connections.write(lambda connection: connection.execute(sql, (key,)).rowcount) == 1


def _noise(path: Path, name: str) -> None:
    """Overwrite the root page of a table or an index."""
    connection = sqlite3.connect(path)
    (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()
    connection.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(random.Random(page).randbytes(PAGE))
