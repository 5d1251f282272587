"""Migrating a database to the declared schema: once, by one process of all, wholly or not at all."""

import threading
import time

import pytest

from harness.errors import MigrationError
from harness.storage.postgres import schema
from harness.storage.postgres.schema import MIGRATIONS, RECORD
from harness.storage.postgres.store import PostgresStore
from tests.storage.entries import NOW, SEARCHES, TENANT, an_audit, an_entry
from tests.storage.postgres.places import ORDINARY, a_database, filled, made, run
from tests.storage.postgres.players import play
from tests.storage.postgres.servers import Server

EVERYTHING = """
    SELECT 'table', relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'S')
    UNION SELECT 'function', proname::text FROM pg_proc WHERE proname LIKE 'harness%'
    ORDER BY 1, 2
"""


def failing(at: int) -> tuple[schema.PostgresMigration, ...]:
    """Return the migrations, of which one has a statement in the middle that fails."""
    broken = MIGRATIONS[at]
    half = len(broken.statements) // 2
    statements = (*broken.statements[:half], "SELECT 1/0", *broken.statements[half:])
    return (*MIGRATIONS[:at], schema.PostgresMigration(broken.name, statements), *MIGRATIONS[at + 1 :])


@pytest.mark.slow
@pytest.mark.parametrize("owner", ["postgres", ORDINARY])
def test_eight_processes_open_an_empty_database_at_once(server: Server, owner: str) -> None:
    """One makes the tables (and the role), the others wait for it; all of them put their rows."""
    with a_database(server, "at_once", owner=owner) as url:
        play("open_together", url, 8)
        store = PostgresStore(url)
        assert store.listings.stats(SEARCHES, TENANT, NOW).total == 8
        store.close()
        applied = run(url, f"SELECT name FROM {RECORD} ORDER BY name")
        assert applied == [(migration.name,) for migration in MIGRATIONS]


def test_a_database_of_a_newer_program_is_left_alone(server: Server) -> None:
    """The error names the unknown migration, and what to do."""
    with a_database(server, "newer") as url:
        made(url)
        run(url, f"INSERT INTO {RECORD} VALUES ('9999-from-the-future', 0)")
        with pytest.raises(MigrationError, match=r"9999-from-the-future.*upgrade"):
            PostgresStore(url)


@pytest.mark.parametrize("name", ['"Tenant"', "search_cache", '"Research_Cache"', "harness_uses", RECORD])
def test_another_programs_table_is_left_alone(server: Server, name: str) -> None:
    """A table of one of our names is reported, and nothing is changed: no other table is made."""
    with a_database(server, "taken", extension=False) as url:
        run(url, f"CREATE TABLE {name} (anything INT)", f"INSERT INTO {name} VALUES (7)")
        before = run(url, EVERYTHING)
        with pytest.raises(MigrationError, match=name.strip('"')):
            PostgresStore(url)
        assert run(url, EVERYTHING) == before
        assert run(url, f"SELECT * FROM {name}") == [(7,)]


OTHERS = (
    'CREATE TABLE "Tenant" (id UUID PRIMARY KEY, name TEXT NOT NULL)',
    'CREATE TABLE "User" (id UUID PRIMARY KEY, email TEXT NOT NULL, tenant_id UUID REFERENCES "Tenant" (id))',
    'CREATE TABLE "Research_Cache" (id UUID PRIMARY KEY, tenant_id UUID REFERENCES "Tenant" (id), cache_key TEXT)',
    "INSERT INTO \"Tenant\" VALUES ('00000000-0000-0000-0000-000000000001', 'Acme')",
    "INSERT INTO \"Research_Cache\" VALUES ('00000000-0000-0000-0000-000000000002', "
    "'00000000-0000-0000-0000-000000000001', 'k')",
)
"""The tables of a web application, with rows."""
SHAPES = """
    SELECT table_name::text, column_name::text, data_type::text FROM information_schema.columns
    WHERE table_schema = 'public' UNION SELECT tablename, policyname, roles::text FROM pg_policies
    WHERE schemaname = 'public' ORDER BY 1, 2
"""


@pytest.mark.parametrize("owner", ["postgres", ORDINARY])
def test_tables_of_another_program_are_refused_or_kept(server: Server, owner: str) -> None:
    """The message says how: all tables of the harness are in another schema, and theirs are unchanged."""
    with a_database(server, "of_another_program", owner=owner) as url:
        run(url, *OTHERS)
        before = run(url, SHAPES)
        with pytest.raises(MigrationError) as refused:
            PostgresStore(url)
        assert '"Research_Cache", "Tenant", "User"' in str(refused.value)
        assert f"`CREATE SCHEMA harness`, and put {schema.OWN_SCHEMA} after the ?" in str(refused.value)
        assert run(url, SHAPES) == before

        run(url, "CREATE SCHEMA harness")
        store = PostgresStore(f"{url}&{schema.OWN_SCHEMA}", busy_seconds=10)
        filled(store, TENANT)
        assert store.listings.stats(SEARCHES, TENANT, NOW).total == 1
        assert store.listings.stats("tool_cache", TENANT, NOW).total == 2
        store.close()
        assert run(url, SHAPES) == before
        assert run(url, 'SELECT name FROM "Tenant"') == [("Acme",)]
        assert run(url, 'SELECT cache_key FROM "Research_Cache"') == [("k",)]
        own = {str(name) for (name,) in run(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'harness'")}
        assert own >= {"Tenant", "User", "Research_Cache", "search_cache", RECORD}


@pytest.mark.parametrize("at", range(len(MIGRATIONS)))
def test_a_migration_that_fails_leaves_nothing_and_is_done_later(
    server: Server, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """All of it or nothing, together with its record; the next opening continues from there."""
    with a_database(server, "half_way") as url:
        with monkeypatch.context() as patched:
            patched.setattr(schema, "MIGRATIONS", failing(at))
            with pytest.raises(Exception, match="division by zero"):
                PostgresStore(url)
        done = run(url, f"SELECT name FROM {RECORD}") if at else []
        assert done == [(migration.name,) for migration in MIGRATIONS[:at]]
        if at == 0:
            assert run(url, EVERYTHING) == []
        made(url)
        assert len(run(url, f"SELECT name FROM {RECORD}")) == len(MIGRATIONS)


def test_a_database_without_indexes_by_time_gets_them(server: Server) -> None:
    """A database of an older program: they are as in a new database, and every row is there."""
    by_time = "SELECT indexdef FROM pg_indexes WHERE indexdef LIKE '%(tenant, created_at)' ORDER BY 1"
    with a_database(server, "without_indexes") as url:
        store = PostgresStore(url, busy_seconds=10)
        store.rows.put(SEARCHES, TENANT, an_entry("k"))
        store.close()
        fresh = run(url, by_time)
        assert len(fresh) == 4
        for name in ("search_cache", "research_cache", "research_runs", "knowledge"):
            run(url, f"DROP INDEX {name}_created_at")
        run(url, f"DELETE FROM {RECORD} WHERE name = '0003-indexes-by-time'")
        assert run(url, by_time) == []
        store = PostgresStore(url, busy_seconds=10)
        assert [each.key for each in store.listings.timeline(SEARCHES, TENANT, limit=9)] == ["k"]
        store.close()
        assert run(url, by_time) == fresh


def test_a_database_without_audits_gets_their_table(server: Server) -> None:
    """One of an older program, whose role has no right to it yet: its own tenants' audits are kept."""
    with a_database(server, "without_audits") as url:
        made(url)
        run(url, "DROP TABLE harness_audits", f"DELETE FROM {RECORD} WHERE name = '0004-audits'")
        store = PostgresStore(url, busy_seconds=10)
        store.audits.put(TENANT, an_audit("a", "b"))
        assert (store.audits.count(TENANT), store.audits.count("another")) == ((0, 1), (0, 0))
        store.close()


@pytest.mark.slow
def test_a_process_killed_in_a_migration_leaves_nothing(server: Server) -> None:
    """The server undoes its work as soon as it notices; the next process makes it all."""
    with a_database(server, "killed") as url:
        play("die_in_a_migration", url, status=-9)
        assert run(url, EVERYTHING) == []
        run(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)'")
        made(url)
        assert len(run(url, f"SELECT name FROM {RECORD}")) == len(MIGRATIONS)


def test_a_server_without_pgvector_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install, and nothing is left."""
    monkeypatch.setattr(
        schema, "_BEFORE", ("CREATE EXTENSION IF NOT EXISTS vectors_of_another_name", schema._BEFORE[1])
    )
    with a_database(server, "no_vectors", extension=False) as url:
        with pytest.raises(MigrationError, match="no pgvector; install"):
            PostgresStore(url)
        assert run(url, EVERYTHING) == []


def test_an_owner_without_the_extension_gets_its_name(server: Server) -> None:
    """An ordinary user may not install an extension that is not trusted."""
    with (
        a_database(server, "not_mine_to_extend", owner=ORDINARY, extension=False) as url,
        pytest.raises(MigrationError, match="permission denied to create extension"),
    ):
        PostgresStore(url)


def test_an_ordinary_owner_needs_no_more_than_the_database(server: Server) -> None:
    """Once an administrator has installed the extension, one command does the rest, and no role is made."""
    with a_database(server, "ordinary", owner=ORDINARY) as url:
        store = PostgresStore(url, busy_seconds=10)
        store.rows.put(SEARCHES, TENANT, an_entry("k"))
        assert store.rows.get(SEARCHES, TENANT, "k") is not None
        assert store.admin.verify(repair=False) == []
        store.close()


def test_opening_again_takes_no_lock(server: Server, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long migration does not stop other processes from opening a database that is up to date."""
    made(url)
    holding, done = threading.Event(), threading.Event()

    def hold() -> None:
        import psycopg

        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("SELECT pg_advisory_lock(%s)", (schema._LOCK,))
            holding.set()
            done.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    assert holding.wait(30)
    began = time.monotonic()
    try:
        made(url)
    finally:
        done.set()
        holder.join()
    assert time.monotonic() - began < 5
