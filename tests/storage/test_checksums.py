"""One changed bit in what a row serves makes the row a miss, which is reported, and which `verify` finds."""

import logging
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.cache import Cache
from harness.core.entries import Hit, Miss
from harness.core.tables import LIBRARY
from harness.storage.sqlite.migrations import RECORD
from harness.storage.sqlite.store import SqliteStore
from harness.storage.tables import TABLES
from tests.storage.embedded import embedded, keys_near, vector_of
from tests.storage.entries import NOW, SEARCHES, TENANT, a_tool_entry, an_entry

Log = pytest.LogCaptureFixture
PAYLOAD = b"stored title number one"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    """Open a store with three rows, `k0` to `k2`, that are found by meaning."""
    store = SqliteStore(path)
    for number in range(3):
        store.rows.put(SEARCHES, TENANT, embedded(f"k{number}"))
    yield store
    store.close()


def _flip(path: Path, content: bytes, bit: int) -> None:
    """Flip one bit of bytes that occur once in the database file."""
    data = bytearray(path.read_bytes())
    assert data.count(content) == 1
    data[data.index(content) + bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


def _set(store: SqliteStore, change: str, key: str = "k1") -> None:
    sql = f"UPDATE {SEARCHES} SET {change} WHERE key = ?"
    assert store._connections.write(lambda connection: connection.execute(sql, (key,)).rowcount) == 1


@pytest.mark.parametrize("bit", range(0, 8 * len(PAYLOAD), 7))
def test_a_flipped_bit_in_an_answer_is_a_miss(path: Path, bit: int, caplog: Log) -> None:
    """The damaged answer is not served; one warning names the table and the row; `verify` finds it."""
    cache = Cache(SqliteStore(path))
    cache.searches.answer("The query", lambda _query, _count: [{"title": PAYLOAD.decode()}])
    cache.store.close()
    _flip(path, PAYLOAD, bit)
    for _ in range(2):
        assert isinstance(cache.searches.find("The query"), Miss)
    warnings = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 1
    assert "search_cache: row " in warnings[0]
    assert "cache verify" in warnings[0]
    (problem,) = cache.store.admin.verify(repair=False)
    assert "search_cache: row 1: " in problem
    assert len(list(sqlite3.connect(path).execute("SELECT 1 FROM search_cache"))) == 1


def test_the_next_search_replaces_a_damaged_answer(path: Path) -> None:
    """It is searched again, and answered from then on; the file is sound again."""
    cache = Cache(SqliteStore(path))
    cache.searches.answer("The query", lambda _query, _count: [{"title": PAYLOAD.decode()}])
    cache.store.close()
    _flip(path, PAYLOAD, 3)
    again = cache.searches.answer("The query", lambda _query, _count: [{"title": "found again"}])
    assert again.value == [{"title": "found again"}]
    assert isinstance(cache.searches.find("The query"), Hit)
    assert cache.store.admin.verify(repair=False) == []


CHANGES = {
    "a payload": """results = '["payload of k9"]'""",
    "a query": "query = 'text of k9'",
    "a later expiry": "expires_at = expires_at + 86400",
    "another creation": "created_at = created_at + 1",
    "a number of results": "max_results = 99",
    "an engine": "engine = 'other'",
    "options": "options = '{}'",
    "its checksum": "checksum = checksum + 1",
}
READS: dict[str, Callable[[SqliteStore], bool]] = {
    "get": lambda store: store.rows.get(SEARCHES, TENANT, "k1") is not None,
    "whole": lambda store: store.rows.get_whole(SEARCHES, TENANT, "k1") is not None,
    "scan": lambda store: "k1" in [each.key for each in store.listings.scan(SEARCHES, TENANT)],
    "recent": lambda store: "k1" in [each.key for each in store.listings.recent(SEARCHES, TENANT, 9)],
    "rows": lambda store: "k1" in [each.key for each in store.listings.find(SEARCHES, TENANT, {"max_results": 10})],
    "nearest": lambda store: "k1" in keys_near(store, vector_of("k1"), 3),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_has_changed_no_read_returns_the_row(
    store: SqliteStore, change: str, read: Callable[[SqliteStore], bool]
) -> None:
    """Each column that decides on an answer is covered, in every way to read a row; the other rows are there."""
    assert read(store)
    _set(store, change)
    assert not read(store)
    assert {"k0", "k2"} <= {each.key for each in store.listings.scan(SEARCHES, TENANT)}


def test_a_row_under_the_key_or_tenant_of_another_is_a_miss(store: SqliteStore) -> None:
    """Tenant and key are covered."""
    _set(store, "key = 'k9'", "k0")
    _set(store, "tenant = 'other'", "k2")
    assert store.rows.get(SEARCHES, TENANT, "k9") is None
    assert store.rows.get(SEARCHES, "other", "k2") is None


def test_a_damaged_embedding_leaves_the_answer(store: SqliteStore) -> None:
    """The row answers to its own words, and is not near anything; `repair` forgets the embedding."""
    _set(store, "embedding = CAST(x'00' || substr(embedding, 2) AS BLOB)")
    assert store.rows.get(SEARCHES, TENANT, "k1") is not None
    assert "k1" not in keys_near(store, vector_of("k1"), 3)
    (problem,) = store.admin.verify(repair=True)
    assert "its embedding is damaged" in problem
    assert store.admin.verify(repair=False) == []
    assert store.nearest.unembedded(SEARCHES, TENANT, "fake-32", 9) == [("k1", "text of k1")]


def test_embedding_a_damaged_row_does_not_hide_the_damage(store: SqliteStore) -> None:
    """The checksum of the row stays as it was stored."""
    _set(store, "query = 'text of k9'")
    store.nearest.embed(SEARCHES, TENANT, "k1", vector_of("k9").tobytes(), "fake-32")
    assert store.rows.get(SEARCHES, TENANT, "k1") is None
    assert keys_near(store, vector_of("k9"), 1) != ["k1"]


def test_a_damaged_row_can_be_put_where_there_is_none(store: SqliteStore) -> None:
    """A put on the condition that there is no row succeeds."""
    _set(store, "query = 'text of k9'")
    assert not store.rows.swap(SEARCHES, TENANT, embedded("k0"), expecting=None)
    assert not store.rows.swap(SEARCHES, TENANT, embedded("k1"), expecting={"max_results": 10})
    assert store.rows.swap(SEARCHES, TENANT, embedded("k1"), expecting=None)
    assert store.rows.get(SEARCHES, TENANT, "k1") is not None


def test_what_is_updated_in_place_is_no_damage(store: SqliteStore) -> None:
    """A noted use, a new embedding, and a user who is forgotten leave rows sound."""
    store.rows.touch(SEARCHES, TENANT, "k0", NOW + 9)
    store.nearest.embed(SEARCHES, TENANT, "k1", vector_of("k9").tobytes(), "fake-32")
    store.rows.put("tool_cache", TENANT, a_tool_entry("t", created_by="ann"))
    store.admin.forget(TENANT, "ann")
    assert store.rows.get("tool_cache", TENANT, "t") is not None
    assert keys_near(store, vector_of("k9"), 1) == ["k1"]
    assert store.admin.verify(repair=False) == []


def test_a_row_of_another_program_is_not_checked(store: SqliteStore) -> None:
    """A program that knows no checksums leaves NULL there: the row is served, and counted as unchecked."""
    assert store.admin.unchecked() == 0
    _set(store, "checksum = NULL, embedding_checksum = NULL, query = 'text of k9'")
    entry = store.rows.get(SEARCHES, TENANT, "k1")
    assert entry is not None
    assert entry.text == "text of k9"
    assert (store.admin.verify(repair=False), store.admin.unchecked()) == ([], 1)
    store.rows.put(SEARCHES, TENANT, embedded("k1"))
    assert store.admin.unchecked() == 0


def test_a_file_without_checksums_gets_their_columns(path: Path) -> None:
    """Every row of the program before them is there, is served, and is counted as unchecked."""
    store = SqliteStore(path)
    put = [an_entry(f"k{number}") for number in range(3)]
    for entry in put:
        store.rows.put(SEARCHES, TENANT, entry)
    store.close()
    schema = _schema(path)
    with sqlite3.connect(path) as connection:
        for table in TABLES.keys() - {LIBRARY}:  # which came later
            connection.execute(f"ALTER TABLE {table} DROP COLUMN checksum")
            connection.execute(f"ALTER TABLE {table} DROP COLUMN embedding_checksum")
        connection.execute(f"DELETE FROM {RECORD} WHERE name = '0020-checksums'")
    connection.close()
    store = SqliteStore(path)
    assert list(store.listings.scan(SEARCHES, TENANT)) == put
    assert (store.admin.verify(repair=False), store.admin.unchecked()) == ([], 3)
    store.close()
    assert _schema(path) == schema


def _schema(path: Path) -> list[tuple[str, ...]]:
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
    connection.close()
    return found


# The record of migrations --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "damage",
    ["'8019-audits'", "'0019-audius'", "'0019-audit' || char(1)", "CAST(x'303031392d6175ff697473' AS TEXT)", "19"],
)
@pytest.mark.slow
def test_a_damaged_record_is_damage_and_no_newer_program(path: Path, damage: str, caplog: Log) -> None:
    """A name that no migration has because a bit of it changed: the file is kept aside, as any damaged file is."""
    SqliteStore(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE {RECORD} SET name = {damage} WHERE name = '0019-audits'")
    connection.close()
    damaged = path.read_bytes()
    store = SqliteStore(path)
    store.rows.put(SEARCHES, TENANT, an_entry("k"))
    store.close()
    (aside,) = [each for each in path.parent.iterdir() if ".damaged-" in each.name and "-wal" not in each.name]
    assert aside.read_bytes() == damaged
    assert "newer" not in caplog.text
    assert "is damaged" in caplog.text
