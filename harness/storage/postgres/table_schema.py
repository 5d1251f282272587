"""Statements that create the cache tables of PostgreSQL."""

from collections.abc import Iterable

from harness.storage.postgres.dialect import JSON_COLUMNS, TENANTS, TIMES, USERS, PostgresTable
from harness.storage.tables import CHECKSUMS, TOKENS

CHECKSUM_COLUMNS = tuple(f"{name} BIGINT" for name in CHECKSUMS)
_TYPES = {"INTEGER": "BIGINT", "TEXT": 'TEXT COLLATE "C"'}


def create_statements(table: PostgresTable) -> tuple[str, ...]:
    """Return the statements that create the table and its indexes. Every key begins with the tenant, as Citus needs to
    shard by tenant.
    """
    tenant, key = table.column("tenant"), table.column("key")
    times = "TIMESTAMPTZ NOT NULL" if table.is_tools else "DOUBLE PRECISION NOT NULL"
    body = (
        *(("id UUID NOT NULL DEFAULT gen_random_uuid()",) if table.is_tools else ()),
        "seq BIGINT GENERATED ALWAYS AS IDENTITY",
        f'{tenant} TEXT COLLATE "C" NOT NULL REFERENCES {TENANTS} (id) ON DELETE CASCADE',
        f'{key} TEXT COLLATE "C" NOT NULL',
        f"{table.text} TEXT NOT NULL{_default(table, table.text)}",
        f"{table.payload} {'JSONB' if table.payload in JSON_COLUMNS else 'TEXT'} NOT NULL",
        *map(own_column, table.own),
        *(f"{name} {times}{_default(table, name)}" for name in TIMES),
        *(("words tsvector",) if table.words else ()),
        "embedding vector",
        'embedder TEXT COLLATE "C"',
        *CHECKSUM_COLUMNS,
        *_constraints(table, tenant, key),
    )
    indexes = {name: tuple(map(table.column, columns)) for name, columns in table.every_index.items()}
    if table.is_tools:  # the agreed table has three indexes, and they serve every query
        del indexes["newest"], indexes["scope"]
    return (
        f"CREATE TABLE {table.name} ({', '.join(body)})",
        # in the row itself, where it fits: fetched from elsewhere, comparing 1,000 of them takes five times as long
        f"ALTER TABLE {table.name} ALTER COLUMN embedding SET STORAGE MAIN",
        *(index_statement(table, name, columns) for name, columns in indexes.items()),
        *((f"CREATE INDEX {table.name}_words ON {table.name} USING gin (words)",) if table.words else ()),
    )


def added_statements(table: PostgresTable, columns: Iterable[str]) -> tuple[str, ...]:
    """Return the statements that add columns which older tables lack; a database made today may have them from the
    first migration.
    """
    return tuple(f"ALTER TABLE {table.name} ADD COLUMN IF NOT EXISTS {column}" for column in columns)


def index_statement(table: PostgresTable, name: str, columns: tuple[str, ...]) -> str:
    """Return the statement that creates an index of these columns."""
    return f'CREATE INDEX "{table.bare_name}_{name}" ON {table.name} ({", ".join(columns)})'


def _default(table: PostgresTable, name: str) -> str:
    """Return the default of a column that other programs leave out."""
    defaults = {table.text: " DEFAULT ''", "created_at": " DEFAULT now()", "last_used_at": " DEFAULT now()"}
    return defaults.get(name, "") if table.is_tools else ""


def own_column(declaration: str) -> str:
    """Return the declaration of an own column in PostgreSQL's types."""
    name, kind, *rest = declaration.split()
    return " ".join((name, "JSONB" if name in JSON_COLUMNS else _TYPES[kind], *rest))


def _constraints(table: PostgresTable, tenant: str, key: str) -> tuple[str, ...]:
    if table.is_tools:
        user = f"FOREIGN KEY ({tenant}, created_by) REFERENCES {USERS} (tenant_id, id)"
        return (
            f"PRIMARY KEY ({tenant}, id)",
            f"UNIQUE ({tenant}, {key})",
            f"{user} ON DELETE SET NULL (created_by)",
        )
    primary = f"PRIMARY KEY ({tenant}, {key})"
    if table.logical == TOKENS.name:
        user = f"FOREIGN KEY ({tenant}, user_id) REFERENCES {USERS} (tenant_id, id)"
        return (primary, f"{user} ON DELETE CASCADE")
    return (primary,)
