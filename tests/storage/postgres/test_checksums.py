"""A row of PostgreSQL that does not match its checksum is a miss, which `verify` finds."""

import pytest
from msgspec.structs import replace

from harness.core.tables import LIBRARY
from harness.errors import StoreCorrupt
from harness.storage.postgres.dialect import POSTGRES_TABLES
from harness.storage.postgres.schema import RECORD
from harness.storage.postgres.store import PostgresStore
from tests.storage.embedded import embedded, keys_near, vector_of
from tests.storage.entries import NOW, SEARCHES, TENANT, a_tool_entry
from tests.storage.postgres.servers import Server


@pytest.mark.parametrize(
    "change",
    [
        """results = '["payload of k9"]'""",
        "query = 'text of k9'",
        "expires_at = expires_at + 86400",
        "created_at = created_at + 1",
        "max_results = 99",
        "engine = 'other'",
        "checksum = checksum + 1",
    ],
)
def test_a_changed_row_is_a_miss(store: PostgresStore, server: Server, change: str) -> None:
    """It is not served in any way, is found by `verify`, and is replaced by the next put."""
    for key in ("k0", "k1"):
        store.rows.put(SEARCHES, TENANT, embedded(key))
    server.execute(f"UPDATE {SEARCHES} SET {change} WHERE key = 'k1'")
    assert store.rows.get(SEARCHES, TENANT, "k1") is None
    assert store.rows.get_whole(SEARCHES, TENANT, "k1") is None
    assert [each.key for each in store.listings.scan(SEARCHES, TENANT)] == ["k0"]
    assert "k1" not in keys_near(store, vector_of("k1"), 3)
    (problem,) = store.admin.verify(repair=False)
    assert "row k1: " in problem
    assert store.rows.swap(SEARCHES, TENANT, embedded("k1"), expecting=None)
    assert store.rows.get(SEARCHES, TENANT, "k1") is not None
    assert store.admin.verify(repair=False) == []


def test_a_changed_embedding_leaves_the_answer(store: PostgresStore, server: Server) -> None:
    """The row answers to its own words, and is near nothing; `repair` forgets the embedding."""
    for key in ("k0", "k1"):
        store.rows.put(SEARCHES, TENANT, embedded(key))
    server.execute(
        f"UPDATE {SEARCHES} SET embedding = (SELECT embedding FROM {SEARCHES} WHERE key = 'k0') WHERE key = 'k1'"
    )
    assert store.rows.get(SEARCHES, TENANT, "k1") is not None
    assert keys_near(store, vector_of("k0"), 3) == ["k0"]
    (problem,) = store.admin.verify(repair=True)
    assert "embedding" in problem
    assert store.admin.verify(repair=False) == []


def test_damaged_escapes_are_repaired(store: PostgresStore, server: Server) -> None:
    """A key that no store wrote, of a row or an audit, is deleted by its bytes; a key with an escape is sound."""
    for key in ("good \x1b", "bad"):
        store.rows.put(SEARCHES, TENANT, replace(embedded(key), payload=b"[]"))
    server.execute(f"UPDATE {SEARCHES} SET key = E'bad \\x1bX' WHERE key = 'bad'")
    server.execute(
        "INSERT INTO harness_audits (tenant, key_a, key_b, query_a, query_b, overlap, similarity, agreed, created_at) "
        f"VALUES ('{TENANT}', E'\\x1bX', 'k', 'a', 'b', 0.5, 0.5, true, 1)"
    )
    assert len(store.admin.verify(repair=True)) == 2
    assert store.admin.verify(repair=True) == []
    assert [each.key for each in store.listings.scan(SEARCHES, TENANT)] == ["good \x1b"]


@pytest.mark.parametrize("fraction", [0.0000005, 0.1234565, 0.7, 0.9999999])
def test_a_row_of_a_tool_is_sound_as_it_was_put(store: PostgresStore, fraction: float) -> None:
    """JSONB changes the spelling of numbers, and a time is kept in microseconds: neither is damage."""
    payload = b'[{"a":-0.0,"b":1e16,"c":12345678901234567,"d":"-0.0"}]'
    put = replace(a_tool_entry("t", created_by="ann"), payload=payload, created_at=NOW + fraction)
    store.rows.put("tool_cache", TENANT, put)
    assert store.rows.get("tool_cache", TENANT, "t") is not None
    store.admin.forget(TENANT, "ann")
    assert store.rows.get("tool_cache", TENANT, "t") is not None
    assert store.admin.verify(repair=False) == []


def test_a_row_of_another_program_is_not_checked(store: PostgresStore, server: Server) -> None:
    """A program that knows no checksums leaves NULL there: the row is served, and counted as unchecked."""
    store.rows.put(SEARCHES, TENANT, embedded("k"))
    assert store.admin.unchecked() == 0
    server.execute(f"UPDATE {SEARCHES} SET query = 'another', checksum = NULL")
    entry = store.rows.get(SEARCHES, TENANT, "k")
    assert entry is not None
    assert (entry.text, store.admin.unchecked()) == ("another", 1)


def test_a_database_without_checksums_gets_their_columns(url: str, server: Server) -> None:
    """Every row of the program before them is there, and is counted as unchecked."""
    store = PostgresStore(url)
    store.rows.put(SEARCHES, TENANT, embedded("k"))
    store.close()
    for name in POSTGRES_TABLES.keys() - {LIBRARY}:  # which came later
        table = POSTGRES_TABLES[name]
        server.execute(f"ALTER TABLE {table.name} DROP COLUMN checksum, DROP COLUMN embedding_checksum")
    server.execute(f"DELETE FROM {RECORD} WHERE name = '0005-checksums'")
    store = PostgresStore(url)
    assert [each.key for each in store.listings.scan(SEARCHES, TENANT)] == ["k"]
    assert store.admin.unchecked() == 1
    store.close()


def test_a_damaged_record_is_no_newer_program(url: str, server: Server) -> None:
    """The error says that the record is damaged."""
    PostgresStore(url).close()
    server.execute(f"UPDATE {RECORD} SET name = '8004-audits' WHERE name = '0004-audits'")
    try:
        with pytest.raises(StoreCorrupt, match="damaged"):
            PostgresStore(url)
    finally:  # the server is shared, and emptying it keeps the record
        server.execute(f"UPDATE {RECORD} SET name = '0004-audits' WHERE name = '8004-audits'")
