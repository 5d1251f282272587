"""Bringing a PostgreSQL database to the declared schema: named migrations, each applied with its record in one
transaction, by one process at a time.

Every table has row-level security as a second check: a connection sees the rows of the tenant that it has
named in `harness.tenant`, and none while it has named none. Superusers, whom PostgreSQL exempts, work as the role
`harness_access`, which is not.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from msgspec import Struct

from harness.core.tables import LIBRARY
from harness.errors import MigrationError, StoreCorrupt
from harness.storage.postgres import word_search
from harness.storage.postgres.dialect import POSTGRES_TABLES, TENANTS, USERS
from harness.storage.postgres.table_schema import (
    CHECKSUM_COLUMNS,
    added_statements,
    create_statements,
    index_statement,
    own_column,
)
from harness.storage.sqlite.migrations import unknown_names
from harness.storage.tables import ABBREVIATIONS, AUDITS, ORIGIN_SOURCES, ORIGINS, USES

ROLE = "harness_access"
RECORD = "harness_migrations"
OWN_SCHEMA = "options=-csearch_path%3Dharness,public"
"""In the address of a database, this makes the tables in the schema `harness`; `public` is where pgvector is."""
_BATCH = 1_000
"""Rows that a migration reads at once."""
_FUNCTION = f"{word_search.FUNCTION}({word_search.ARGUMENTS})"
_LOCK = 0x6861726E657373
"""Number of the advisory lock for migrations: "harness" in ASCII."""

_BESIDE_COLUMNS = {TENANTS: "id", USERS: "tenant_id", ABBREVIATIONS: "tenant", USES: "tenant"}
TENANT_COLUMNS = {
    **_BESIDE_COLUMNS,
    AUDITS: "tenant",
    ORIGINS: "tenant",
    **{table.name: table.column("tenant") for table in POSTGRES_TABLES.values()},
}
"""The tables under row-level security, and which column names the tenant."""

_TENANT = f'tenant TEXT COLLATE "C" NOT NULL REFERENCES {TENANTS} (id) ON DELETE CASCADE'
_BESIDE = (
    f'CREATE TABLE {TENANTS} (id TEXT COLLATE "C" PRIMARY KEY, created_at TIMESTAMPTZ NOT NULL DEFAULT now())',
    f'CREATE TABLE {USERS} (tenant_id TEXT COLLATE "C" NOT NULL REFERENCES {TENANTS} (id) ON DELETE CASCADE, '
    'id TEXT COLLATE "C" NOT NULL, created_at TIMESTAMPTZ NOT NULL DEFAULT now(), PRIMARY KEY (tenant_id, id))',
    f"CREATE TABLE {ABBREVIATIONS} ({_TENANT}, "
    'short TEXT COLLATE "C" NOT NULL, source TEXT COLLATE "C" NOT NULL, key TEXT COLLATE "C" NOT NULL, '
    "meaning TEXT NOT NULL, written TEXT NOT NULL, PRIMARY KEY (tenant, short, source, key, meaning))",
    f"CREATE INDEX {ABBREVIATIONS}_source ON {ABBREVIATIONS} (tenant, source, key)",
    f"CREATE TABLE {USES} ({_TENANT}, "
    "day TEXT NOT NULL, what TEXT NOT NULL, times BIGINT NOT NULL, PRIMARY KEY (tenant, day, what))",
)

_AUDITED = (
    f"CREATE TABLE {AUDITS} ({_TENANT}, "
    'key_a TEXT COLLATE "C" NOT NULL, key_b TEXT COLLATE "C" NOT NULL, query_a TEXT NOT NULL, query_b TEXT NOT NULL, '
    "overlap DOUBLE PRECISION NOT NULL, similarity DOUBLE PRECISION NOT NULL, probability DOUBLE PRECISION, "
    "agreed BOOLEAN NOT NULL, created_at DOUBLE PRECISION NOT NULL, PRIMARY KEY (tenant, key_a, key_b))",
    f"CREATE INDEX {AUDITS}_key_b ON {AUDITS} (tenant, key_b, agreed)",
)


_ORIGINS = (
    f"ALTER TABLE {USES} ADD COLUMN origin TEXT NOT NULL DEFAULT 'user'",
    f"ALTER TABLE {USES} DROP CONSTRAINT {USES}_pkey, ADD PRIMARY KEY (tenant, day, origin, what)",
    f"CREATE TABLE {ORIGINS} ({_TENANT}, "
    'source TEXT COLLATE "C" NOT NULL, key TEXT COLLATE "C" NOT NULL, origin TEXT NOT NULL, '
    "PRIMARY KEY (tenant, source, key))",
)


def _guarded(name: str, column: str) -> tuple[str, ...]:
    """Put a table under row-level security."""
    return (
        f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY",  # the owner, too
        f"CREATE POLICY harness_tenant ON {name} USING ({column} = current_setting('harness.tenant', true))",
    )


def _made(logical: str) -> tuple[str, ...]:
    """Make a cache table; what a row of it teaches goes with the row."""
    table, function = POSTGRES_TABLES[logical], f"harness_forget_{logical}"
    return (
        *create_statements(table),
        _forgetting(logical, ABBREVIATIONS),
        f"CREATE TRIGGER {function} AFTER DELETE ON {table.name} FOR EACH ROW EXECUTE FUNCTION {function}()",
        *_guarded(table.name, table.column("tenant")),
    )


def _forgetting(logical: str, *beside: str) -> str:
    """Make the function that deletes the rows that belong to a deleted row."""
    table = POSTGRES_TABLES[logical]
    row = f"tenant = OLD.{table.column('tenant')} AND source = '{logical}' AND key = OLD.{table.column('key')}"
    deletions = " ".join(f"DELETE FROM {name} WHERE {row};" for name in beside)
    return (
        f"CREATE OR REPLACE FUNCTION harness_forget_{logical}() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN {deletions} RETURN NULL; END $$"
    )


def _indexed(logical: str) -> tuple[str, ...]:
    """Make the index by the time of creation, which a database made today has from the first migration."""
    table = POSTGRES_TABLES[logical]
    name = "created_at"
    return f'DROP INDEX IF EXISTS "{table.bare_name}_{name}"', index_statement(table, name, ("tenant", name))


_LISTING = (
    f"CREATE POLICY harness_listing ON {TENANTS} FOR SELECT USING (current_setting('harness.listing', true) = 'on')"
)
"""Only administration lists the tenants."""


_BEFORE = (
    "CREATE EXTENSION IF NOT EXISTS vector",
    f"CREATE TABLE IF NOT EXISTS {RECORD} (name TEXT PRIMARY KEY, applied_at FLOAT8 NOT NULL)",
)


class PostgresMigration(Struct, frozen=True):
    """One named step: statements, and then a change of rows that SQL cannot make."""

    name: str
    statements: tuple[str, ...]
    change: Callable[[Any], None] | None = None


def _write_words(connection: Any) -> None:
    """Write the words of all passages again that the index holds in another form than they have.

    Row-level security is off meanwhile: no other process sees the table before the transaction ends.
    """
    table = POSTGRES_TABLES[LIBRARY]
    texts = ", ".join(table.words)
    connection.execute(f"ALTER TABLE {table.name} NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY")
    select = f"SELECT seq, {table.language}, {texts} FROM {table.name} WHERE seq > $1 ORDER BY seq LIMIT $2"
    update = f"UPDATE {table.name} SET words = {table.word_vector(2)} WHERE seq = $1"
    last = 0
    while rows := connection.execute(select, (last, _BATCH), binary=True).fetchall():
        for seq, language, *held in rows:
            plain = [(text or b"").decode() for text in held]
            words = word_search.texts_for_words((language or b"").decode(), plain)
            if words != plain:
                connection.execute(update, (seq, *words))
        last = rows[-1][0]
    connection.execute(f"ALTER TABLE {table.name} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")


_FIRST = (
    *("search_cache", "research_cache", "unanswered_searches", "research_runs", "agent_queries", "agent_chunks"),
    *("web_pages", "completions", "research_evidence", "tool_cache", "knowledge", "knowledge_history"),
    "access_tokens",
)
_BY_TIME = ("search_cache", "research_cache", "research_runs", "knowledge")
MIGRATIONS = (
    PostgresMigration(
        "0001-tables",
        (
            *_BESIDE,
            *(each for name, column in _BESIDE_COLUMNS.items() for each in _guarded(name, column)),
            _LISTING,
            *(each for logical in _FIRST for each in _made(logical)),
        ),
    ),
    PostgresMigration("0002-memory", _made("memory")),
    PostgresMigration(
        "0003-indexes-by-time", tuple(statement for logical in _BY_TIME for statement in _indexed(logical))
    ),
    PostgresMigration("0004-audits", (*_AUDITED, *_guarded(AUDITS, "tenant"))),
    PostgresMigration(
        "0005-checksums",
        tuple(
            statement
            for logical, table in POSTGRES_TABLES.items()
            if logical != LIBRARY
            for statement in added_statements(table, CHECKSUM_COLUMNS)
        ),
    ),
    PostgresMigration(
        "0006-origins",
        (
            *_ORIGINS,
            *_guarded(ORIGINS, "tenant"),
            *(_forgetting(table.name, ABBREVIATIONS, ORIGINS) for table in ORIGIN_SOURCES),
        ),
    ),
    PostgresMigration("0007-library-passages", _made(LIBRARY)),
    PostgresMigration(
        "0008-languages", added_statements(POSTGRES_TABLES[LIBRARY], map(own_column, POSTGRES_TABLES[LIBRARY].added))
    ),
    PostgresMigration(
        "0009-words-of-any-language",
        (f"ALTER TABLE {LIBRARY} ALTER COLUMN words DROP EXPRESSION IF EXISTS",),
        _write_words,
    ),
    PostgresMigration("0010-beginnings-of-turkish-words", (), _write_words),
    PostgresMigration("0011-words-through-the-index", (), word_search.make_function),
    PostgresMigration("0012-words-without-accents", (), _write_words),
)


def is_current(connection: Any) -> bool:
    """Say whether every migration is applied. `connection` is one of psycopg's, in autocommit mode.

    Raises:
        MigrationError: a newer program has changed the database, or the record is not ours.
        StoreCorrupt: the record is damaged.
    """
    import psycopg

    if connection.execute("SELECT to_regclass($1::text)", (RECORD,)).fetchone()[0] is None:
        return False
    try:
        applied = {name.decode() for (name,) in connection.execute(f"SELECT name::text FROM {RECORD}", binary=True)}
    except psycopg.ProgrammingError as error:
        raise MigrationError(
            f"the table {RECORD} cannot be read ({error.diag.message_primary}); name another database, or its owner, "
            "in the setting store"
        ) from error
    known = [migration.name for migration in MIGRATIONS]
    newer, damaged = unknown_names(applied, known)
    if damaged:
        raise StoreCorrupt(
            f"the table {RECORD} is damaged (it holds {damaged[0]!r:.80}); restore it from a backup, or name another "
            "database in the setting store"
        )
    if newer:
        raise MigrationError(
            f"the database was changed by a newer harness (it knows {', '.join(newer)}); upgrade with "
            "`pip install -U research-harness`, or name another database in the setting store"
        )
    return applied == set(known)


def migrate(connection: Any) -> None:
    """Apply what is missing; others who do the same at once wait until this connection is closed.

    Raises:
        MigrationError: the server lacks pgvector, the database is not in UTF-8, the user lacks a right, or a table of
            that name belongs to another program.
    """
    import psycopg

    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise MigrationError(f"the database is in {encoding}, not able to hold any text; make one with ENCODING 'UTF8'")
    connection.execute("SELECT pg_advisory_lock($1)", (_LOCK,))  # until the connection is closed
    try:
        if is_current(connection):
            return
        _check_names(connection)
        for migration in MIGRATIONS:
            with connection.transaction():
                for statement in _BEFORE:
                    connection.execute(statement)
                if connection.execute(f"SELECT 1 FROM {RECORD} WHERE name = $1", (migration.name,)).fetchone():
                    continue
                for statement in migration.statements:
                    connection.execute(statement)
                if migration.change is not None:
                    migration.change(connection)
                connection.execute(f"INSERT INTO {RECORD} VALUES ($1, $2)", (migration.name, time.time()))
    except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile) as error:
        raise MigrationError("the server has no pgvector; install the extension `vector` on it") from error
    except psycopg.ProgrammingError as error:  # a right is missing, or something else has a table's name
        raise MigrationError(
            f"the database cannot be prepared ({error.diag.message_primary}); name another database, or another user, "
            "in the setting store"
        ) from error


def _check_names(connection: Any) -> None:
    """Check, where no migration was applied yet, that the schema has no table of these names: it would be of another
    program, and the harness never changes what others own.

    Raises:
        MigrationError: it has; the message names the tables, and how to make the harness's own next to them.
    """
    if connection.execute("SELECT to_regclass($1::text)", (RECORD,)).fetchone()[0] is not None:
        return
    taken = connection.execute(
        "SELECT quote_ident(relname) FROM pg_class WHERE relnamespace = current_schema()::regnamespace "
        "AND quote_ident(relname) = ANY ($1::text[]) ORDER BY 1",
        (list(TENANT_COLUMNS),),
    ).fetchall()
    if taken:
        names = ", ".join(name for (name,) in taken)
        raise MigrationError(
            f"another program has the tables {names} there, and they are left as they are; name another database in "
            f"the setting store, or keep the harness's tables in another schema: run `CREATE SCHEMA harness`, and put "
            f"{OWN_SCHEMA} after the ? of the address"
        )


def step_down(connection: Any) -> None:
    """Let a connection that row-level security does not bind work as a role that it does bind.

    Raises:
        MigrationError: there is no such role, and it may not be made.
        psycopg.OperationalError: the server has gone meanwhile, or a lock was waited for too long.
    """
    import psycopg

    exempt = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
    if not connection.execute(exempt).fetchone()[0]:
        return
    try:
        if not _role_may(connection):
            _make_role(connection)
        connection.execute(f"SET ROLE {ROLE}")
    except (psycopg.ProgrammingError, psycopg.DataError) as error:  # a right is missing, or the role is
        raise MigrationError(
            f"this user is exempt from row-level security, and cannot work as {ROLE} ({error.diag.message_primary}); "
            "connect as an ordinary user that owns the tables"
        ) from error


def _role_may(connection: Any) -> bool:
    """Say whether the role is there, and may use the tables and the function."""
    may = (
        "SELECT to_regrole($1) IS NOT NULL AND has_function_privilege(to_regrole($1), $3, 'EXECUTE') "
        "AND bool_and(has_table_privilege(to_regrole($1), name, 'INSERT')) FROM unnest($2::text[]) AS name"
    )
    return bool(connection.execute(may, (ROLE, list(TENANT_COLUMNS), _FUNCTION)).fetchone()[0])


def _make_role(connection: Any) -> None:
    import psycopg

    with suppress(psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):  # roles are of the whole server
        connection.execute(f"CREATE ROLE {ROLE} NOLOGIN")
    tables = ", ".join(TENANT_COLUMNS)
    connection.execute("SELECT pg_advisory_lock($1)", (_LOCK,))  # two grants at once fail
    try:
        connection.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {tables} TO {ROLE}")
        connection.execute(f"GRANT SELECT ON {RECORD} TO {ROLE}")
        connection.execute(f"GRANT EXECUTE ON FUNCTION {_FUNCTION} TO {ROLE}")
        schema = connection.execute("SELECT quote_ident(current_schema())").fetchone()[0]
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {ROLE}")
    finally:
        connection.execute("SELECT pg_advisory_unlock($1)", (_LOCK,))
