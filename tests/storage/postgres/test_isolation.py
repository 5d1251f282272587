"""Row-level security applies to every user that works as the store does, whatever the statement."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg import Connection, Cursor, RawCursor

from harness.core.tables import LIBRARY
from harness.errors import MigrationError, StoreError
from harness.storage.postgres.schema import TENANT_COLUMNS, step_down
from harness.storage.postgres.store import PostgresStore
from tests.storage.entries import SEARCHES, an_entry
from tests.storage.postgres.places import ORDINARY, a_database, address, filled, make_user, run
from tests.storage.postgres.servers import Server
from tests.storage.words import found, passage, put

READ = "SELECT DISTINCT tenant FROM search_cache ORDER BY 1"


@pytest.fixture(scope="module", params=["superuser", "owner"])
def database(request: pytest.FixtureRequest, server: Server) -> Iterator[str]:
    """Return the address of an empty database: of a superuser, whom PostgreSQL exempts, and of an ordinary owner."""
    owner = "postgres" if request.param == "superuser" else ORDINARY
    with a_database(server, f"isolated_{request.param}", owner=owner) as url:
        yield url


@pytest.fixture
def held(database: str) -> Iterator[PostgresStore]:
    """Return a store with rows of two tenants."""
    store = PostgresStore(database, busy_seconds=10)
    for tenant in store.admin.tenants():
        store.admin.forget(tenant)
    filled(store, "acme")
    filled(store, "other")
    yield store
    store.close()


@pytest.fixture
def session(database: str, held: PostgresStore) -> Iterator["psycopg.Connection[tuple[object, ...]]"]:
    """Return a session that works as the store's do, and has named no tenant."""
    with psycopg.connect(database, autocommit=True) as connection:
        if connection.info.user == "postgres":
            connection.execute("SET ROLE harness_access")
        yield connection


def name(session: "psycopg.Connection[tuple[object, ...]]", tenant: str) -> None:
    """Name a tenant as the store does."""
    session.execute("SELECT set_config('harness.tenant', %s, false)", (tenant,))


def first_column(session: "psycopg.Connection[tuple[object, ...]]", sql: str) -> list[object]:
    """Return the first column of the rows of a statement without parameters."""
    return [row[0] for row in session.execute(sql)]


@pytest.mark.parametrize("table", TENANT_COLUMNS)
def test_a_session_without_a_tenant_sees_nothing(session: "psycopg.Connection[tuple[object, ...]]", table: str) -> None:
    """No row of any table, neither before a tenant was named nor after its name was removed."""
    assert first_column(session, f"SELECT count(*) FROM {table}") == [0]
    name(session, "acme")
    session.execute("RESET harness.tenant")
    assert first_column(session, f"SELECT count(*) FROM {table}") == [0]


def test_a_session_sees_the_tenant_that_it_names(session: "psycopg.Connection[tuple[object, ...]]") -> None:
    """In every table that tenant's rows only, without any condition in the statement."""
    for tenant in ("acme", "other"):
        name(session, tenant)
        for table, column in TENANT_COLUMNS.items():
            assert set(first_column(session, f"SELECT {column} FROM {table}")) <= {tenant}
        assert first_column(session, READ) == [tenant]


def test_a_session_changes_rows_of_its_tenant_only(
    session: "psycopg.Connection[tuple[object, ...]]", held: PostgresStore
) -> None:
    """UPDATE and DELETE without conditions leave the others' rows."""
    name(session, "acme")
    for table in TENANT_COLUMNS:
        if table not in ('"Tenant"', '"User"'):
            session.execute(f"DELETE FROM {table}")
    session.execute("UPDATE search_cache SET query = 'changed'")
    assert held.listings.stats(SEARCHES, "acme", 0).total == 0
    for table in (SEARCHES, "tool_cache", "access_tokens"):
        assert held.listings.stats(table, "other", 0).total == len(list(held.listings.scan(table, "other"))) > 0
    other = held.rows.get(SEARCHES, "other", "k")
    assert other is not None
    assert other.text != "changed"
    assert held.usage.by_day("other") == {"2026-01-01": {"exact": 2}}
    assert (held.audits.count("acme"), held.audits.count("other")) == ((0, 0), (0, 1))
    assert held.nearest.meanings("other", ["WHO"])


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO \"User\" (tenant_id, id) VALUES ('other', 'eve')",
        "INSERT INTO \"Tenant\" (id) VALUES ('third')",
        "INSERT INTO harness_uses VALUES ('other', '2026-01-02', 'exact', 1)",
        "UPDATE search_cache SET tenant = 'other'",
        "UPDATE harness_uses SET tenant = 'other', day = '2026-01-03'",
    ],
)
def test_rows_for_another_tenant_are_refused(session: "psycopg.Connection[tuple[object, ...]]", sql: str) -> None:
    """Neither new rows nor existing ones may go there."""
    name(session, "acme")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
        session.execute(sql)


def test_the_list_of_tenants_may_be_read_and_not_changed(session: "psycopg.Connection[tuple[object, ...]]") -> None:
    """A session that lists all names has no right to delete them."""
    session.execute("SET harness.listing = 'on'")
    assert first_column(session, 'SELECT id FROM "Tenant" ORDER BY id') == ["acme", "other"]
    session.execute('DELETE FROM "Tenant"')
    session.execute("UPDATE \"Tenant\" SET created_at = 'epoch'")
    assert first_column(session, "SELECT count(*) FROM \"Tenant\" WHERE created_at > 'epoch'") == [2]
    assert first_column(session, "SELECT count(*) FROM search_cache") == [0]


def test_a_statement_without_conditions_returns_nothing_of_others(held: PostgresStore) -> None:
    """Connections change tenants, and each call sees one of them; no call sees the previous one's."""

    def read(connection: psycopg.Connection[tuple[object, ...]]) -> list[object]:
        return [row[0] for row in connection.execute(READ, binary=True)]

    for _ in range(3):
        for tenant in ("acme", "other"):
            assert held._connections.run(tenant, read) == [tenant.encode()]
        assert held._connections.run(None, read) == []
    assert held._connections.run("", read) == []


def test_no_tenant_is_left_named_after_an_error(held: PostgresStore) -> None:
    """The next call on the connection names its own."""

    def fail(connection: psycopg.Connection[tuple[object, ...]]) -> None:
        connection.execute("SELECT set_config('harness.tenant', 'other', false)")
        connection.execute("SELECT 1/0")

    for _ in range(3):
        with pytest.raises(StoreError):
            held._connections.run("acme", fail)
        assert held._connections.run("acme", lambda each: [row[0] for row in each.execute(READ, binary=True)]) == [
            b"acme"
        ]


@pytest.mark.slow
def test_threads_of_many_tenants_never_see_each_other(database: str) -> None:
    """24 threads, 16 connections: raw statements return rows of the thread's tenant only."""
    store = PostgresStore(database, busy_seconds=10)
    wrong: list[object] = []

    def use(number: int) -> None:
        tenant = f"tenant {number}"
        for turn in range(60):
            store.rows.put(SEARCHES, tenant, an_entry(str(turn)))
            seen = store._connections.run(tenant, lambda each: [row[0] for row in each.execute(READ, binary=True)])
            if seen != [tenant.encode()]:
                wrong.append((tenant, seen))

    in_threads(24, use)
    store.close()
    assert wrong == []


def in_threads(count: int, use: Callable[[int], None]) -> None:
    """Run the same work in `count` threads, and wait for them."""
    threads = [threading.Thread(target=use, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


CALL = "SELECT harness_library_matches(ARRAY['''tea'''], 0, 1e12, 50)"


@pytest.fixture
def words(held: PostgresStore) -> PostgresStore:
    """Return the store with a passage of each of two tenants, found by the same word."""
    put(held, passage("mine", "tea of acme"), tenant="acme")
    put(held, passage("theirs", "tea of other"), tenant="other")
    return held


def test_the_function_for_words_finds_the_named_tenant_only(
    words: PostgresStore, session: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    """It runs with the rights of the owner, whom row-level security may not bind, and names the tenant itself."""
    assert (found(words, "tea", tenant="acme"), found(words, "tea", tenant="other")) == (["mine"], ["theirs"])
    assert first_column(session, CALL) == []
    for tenant, key in (("acme", "mine"), ("other", "theirs"), ("", None), ("ACME", None)):
        name(session, tenant)
        assert first_column(session, CALL) == ([key] if key else [])
    session.execute("RESET harness.tenant")
    assert first_column(session, CALL) == []


def test_the_function_for_words_reads_no_other_table(
    words: PostgresStore, session: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    """A session's own table or function of the same name is not used: it would run with the rights of the owner."""
    session.execute(f"CREATE TEMP TABLE {LIBRARY} (tenant text, key text, words tsvector, expires_at float8)")
    session.execute(f"INSERT INTO pg_temp.{LIBRARY} VALUES ('acme', 'planted', 'tea', 'infinity')")
    session.execute(
        "CREATE FUNCTION pg_temp.ts_rank_cd(tsvector, tsquery) RETURNS real LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE 'planted'; END $$"
    )
    name(session, "acme")
    assert first_column(session, CALL) == ["mine"]


def test_the_function_for_words_is_for_those_who_may_read_the_table(
    server: Server, database: str, words: PostgresStore
) -> None:
    """Another user of the database, who may not read passages, cannot ask which ones have a word."""
    make_user(server, "stranger")
    folder = psycopg.conninfo.conninfo_to_dict(database)
    url = address(server, str(folder["dbname"]), "stranger")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        run(url, "SET harness.tenant = 'acme'", CALL)


def test_a_tenant_may_have_any_name(held: PostgresStore) -> None:
    """Also an empty one, or one that looks like SQL: a session without a tenant sees none of its rows."""
    for tenant in ("", " ", "\x1b", "\0", "'; DROP TABLE search_cache; --", "ACME", "acme "):
        held.rows.put(SEARCHES, tenant, an_entry("mine", text=tenant))
        assert [entry.text for entry in held.listings.scan(SEARCHES, tenant)] == [tenant]
    assert held._connections.run(None, lambda each: each.execute(READ).fetchall()) == []
    assert [entry.key for entry in held.listings.scan(SEARCHES, "acme")] == ["k"]


class Ending:
    """A connection whose session ends after the first statement."""

    def __init__(self, connection: Connection[Any], server: Server) -> None:
        self._connection, self._server = connection, server

    def execute(self, *given: Any) -> Cursor[Any]:
        """Execute a statement."""
        found = self._connection.execute(*given)
        self._server.execute("SELECT pg_terminate_backend(%s)", self._connection.info.backend_pid)
        return found


def test_a_session_that_ends_while_a_role_is_taken_is_no_refusal(server: Server) -> None:
    """A lost connection is tried again; only a missing right is reported as one."""
    with (
        a_database(server, "of_postgres", owner="postgres") as url,
        psycopg.connect(url, autocommit=True, cursor_factory=RawCursor) as connection,
        pytest.raises(psycopg.OperationalError),
    ):
        step_down(Ending(connection, server))


def test_an_exempt_user_who_cannot_change_role_is_refused(server: Server) -> None:
    """At once, with what to do: the store needs row-level security."""
    make_user(server, "exempt", "LOGIN BYPASSRLS")
    with (
        a_database(server, "of_exempt", owner="exempt") as url,
        pytest.raises(MigrationError, match="connect as an ordinary user"),
    ):
        PostgresStore(url, busy_seconds=30)


def test_a_user_without_rights_is_refused(server: Server) -> None:
    """A user who may not create tables gets the error at once."""
    make_user(server, "stranger")
    with a_database(server, "of_somebody_else"):
        url = address(server, "of_somebody_else", "stranger")
        with pytest.raises(MigrationError, match="permission denied"):
            PostgresStore(url, busy_seconds=30)


def test_a_user_may_be_granted_the_tables(server: Server) -> None:
    """With the rights the store needs, tables of another owner work, under row-level security."""
    make_user(server, "lodger")
    with a_database(server, "lent", owner=ORDINARY) as url:
        PostgresStore(url, busy_seconds=10).close()
        run(url, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO lodger")
        store = PostgresStore(address(server, "lent", "lodger"), busy_seconds=10)
        store.rows.put(SEARCHES, "acme", an_entry("k"))
        assert store.rows.get(SEARCHES, "acme", "k") is not None
        assert store._connections.run("other", lambda each: each.execute(READ).fetchall()) == []
        store.close()
