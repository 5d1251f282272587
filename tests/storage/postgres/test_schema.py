"""Schema for other programs on the same database: names, columns, keys, cascades."""

import pytest

from harness.storage.postgres.schema import TENANT_COLUMNS
from harness.storage.postgres.store import PostgresStore
from tests.storage.entries import SEARCHES, an_entry
from tests.storage.postgres.places import a_database, filled, run
from tests.storage.postgres.servers import Server

COLUMNS = {
    "Research_Cache": {
        "id": "uuid",
        "tenant_id": "text",
        "cache_key": "text",
        "cache_type": "text",
        "query_params": "jsonb",
        "result_data": "jsonb",
        "result_count": "bigint",
        "created_by": "text",
        "created_at": "timestamp with time zone",
        "expires_at": "timestamp with time zone",
    },
    "Tenant": {"id": "text", "created_at": "timestamp with time zone"},
    "User": {"tenant_id": "text", "id": "text", "created_at": "timestamp with time zone"},
}


@pytest.mark.parametrize("table", COLUMNS)
def test_the_agreed_columns_are_there(store: PostgresStore, server: Server, table: str) -> None:
    """With their types, whatever other columns there are."""
    sql = "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = %s"
    assert COLUMNS[table].items() <= dict(server.execute(sql, table)).items()


def test_required_columns_of_a_tool_row_are_not_null(store: PostgresStore, server: Server) -> None:
    """Only the creator may be unknown (of the agreed columns)."""
    sql = "SELECT column_name FROM information_schema.columns WHERE table_name = %s AND is_nullable = 'YES'"
    nullable = {name for (name,) in server.execute(sql, "Research_Cache")}
    assert nullable & set(COLUMNS["Research_Cache"]) == {"created_by"}


def test_the_tool_table_has_its_unique_key_and_three_indexes(store: PostgresStore, server: Server) -> None:
    """One key (tenant_id, cache_key); indexes by kind, by user, by expiry: each begins with the tenant."""
    rows = server.execute("SELECT indexdef FROM pg_indexes WHERE tablename = 'Research_Cache'")
    definitions = [definition for (definition,) in rows]
    unique = [each for each in definitions if "UNIQUE" in each]
    assert any("(tenant_id, cache_key)" in each for each in unique)
    further = sorted(each[each.index("(") :] for each in definitions if "UNIQUE" not in each)
    assert further == ["(tenant_id, cache_type, seq)", "(tenant_id, created_by)", "(tenant_id, expires_at, created_at)"]


def test_every_key_begins_with_the_tenant(store: PostgresStore, server: Server) -> None:
    """Citus shards by the tenant only where every primary key, unique key and index begins with it; an index of words
    cannot.
    """
    sql = """
        SELECT table_class.relname, index_class.relname, attname
        FROM pg_index
        JOIN pg_class AS table_class ON table_class.oid = indrelid
        JOIN pg_class AS index_class ON index_class.oid = indexrelid
        JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
        WHERE table_class.relnamespace = 'public'::regnamespace AND table_class.relname <> 'harness_migrations'
    """
    rows = server.execute(sql)
    tenant_of = {table.strip('"'): column for table, column in TENANT_COLUMNS.items()}
    assert {table for table, _, _ in rows} == set(tenant_of)
    others = [row for row in rows if row[2] != tenant_of[row[0]]]
    assert others == [("library_passages", "library_passages_words", "words")]


def test_every_reference_holds_the_tenant(store: PostgresStore, server: Server) -> None:
    """No row refers to another tenant's: the tenant is part of every foreign key."""
    sql = """
        SELECT conrelid::regclass::text, (SELECT array_agg(attname::text) FROM pg_attribute
            WHERE attrelid = conrelid AND attnum = ANY (conkey))
        FROM pg_constraint WHERE contype = 'f'
    """
    rows = server.execute(sql)
    assert len(rows) >= len(TENANT_COLUMNS) - 1
    assert [table for table, columns in rows if TENANT_COLUMNS[table] not in columns] == []


def test_every_table_has_forced_row_level_security(store: PostgresStore, server: Server) -> None:
    """Also for the owner; only the record of migrations is open to all."""
    sql = """
        SELECT oid::regclass::text FROM pg_class
        WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND NOT (relrowsecurity AND relforcerowsecurity)
    """
    assert server.execute(sql) == [("harness_migrations",)]


def numbers(server: Server, tenant: str) -> dict[str, int]:
    """Return how many rows each table has of a tenant, read without the store."""
    return {
        name: int(server.execute(f"SELECT count(*) FROM {name} WHERE {column} = %s", tenant)[0][0])
        for name, column in TENANT_COLUMNS.items()
    }


def test_a_tenant_deleted_by_plain_sql_leaves_nothing(store: PostgresStore, server: Server) -> None:
    """No row in any table, and all of the others'; the store then takes new rows of it."""
    filled(store, "acme")
    filled(store, "other")
    before = numbers(server, "other")
    server.execute("""DELETE FROM "Tenant" WHERE id = 'acme'""")
    assert set(numbers(server, "acme").values()) == {0}
    assert numbers(server, "other") == before
    assert store.rows.get(SEARCHES, "acme", "k") is None
    filled(store, "acme")
    assert numbers(server, "acme") == before


def test_a_user_deleted_by_plain_sql_leaves_the_work(store: PostgresStore, server: Server) -> None:
    """The user's tool rows have no user, the tokens are deleted, and other users keep theirs."""
    filled(store, "acme")
    server.execute("""DELETE FROM "User" WHERE tenant_id = 'acme' AND id = 'ann'""")
    made_by = server.execute("""SELECT cache_key, created_by FROM "Research_Cache" ORDER BY cache_key""")
    assert made_by == [("t", None), ("u", "ben")]
    assert [token.key for token in store.listings.scan("access_tokens", "acme")] == ["ben"]


def test_a_row_deleted_by_plain_sql_loses_its_meanings(store: PostgresStore, server: Server) -> None:
    """The trigger deletes them, for any user."""
    filled(store, "acme")
    server.execute("DELETE FROM search_cache")
    assert store.nearest.meanings("acme", ["WHO"]) == []


def test_one_command_makes_everything_in_an_empty_database(server: Server) -> None:
    """Opening a store is enough; the extension comes with it."""
    with a_database(server, "from_nothing", extension=False) as url:
        store = PostgresStore(url, busy_seconds=10)
        store.rows.put(SEARCHES, "acme", an_entry("k"))
        store.close()
        assert run(url, "SELECT extname FROM pg_extension WHERE extname = 'vector'") == [("vector",)]


def test_rows_of_other_programs_are_read(store: PostgresStore, server: Server) -> None:
    """A tool row that was inserted with the agreed columns alone is an entry like any other."""
    server.execute("""INSERT INTO "Tenant" (id) VALUES ('acme')""")
    server.execute(
        """INSERT INTO "Research_Cache"
        (tenant_id, cache_key, cache_type, query_params, result_data, result_count, created_at, expires_at)
        VALUES ('acme', 'k', 'job_search', '{"b": 1, "a": 2}', '[1, 2]', 2, to_timestamp(1000), to_timestamp(2000))"""
    )
    entry = store.rows.get("tool_cache", "acme", "k")
    assert entry is not None
    assert (entry.text, entry.payload, entry.created_at, entry.expires_at) == ("", b"[1,2]", 1000.0, 2000.0)
    assert entry.own == ("job_search", '{"a":2,"b":1}', 2, None)
