"""Statements that create the cache tables of a SQLite file."""

from harness.storage.tables import ABBREVIATIONS, CHECKSUMS, COMMON_AFTER, COMMON_BEFORE, Table

CHECKSUM_COLUMNS = tuple(f"{name} INTEGER" for name in CHECKSUMS)


def create_statements(table: Table) -> tuple[str, ...]:
    """Return the statements that create a table, its indexes and its trigger. The unique key begins with the tenant."""
    asked = (f"{table.text} TEXT NOT NULL", f"{table.payload} TEXT NOT NULL")
    first = (column for column in table.own if column not in table.added)
    # in one line, as ALTER TABLE leaves it
    last = ", ".join((COMMON_AFTER[-1], *CHECKSUM_COLUMNS, *table.added))
    body = ",\n    ".join((*COMMON_BEFORE, *asked, *first, *COMMON_AFTER[:-1], last, "UNIQUE (tenant, key)"))
    return (
        f"CREATE TABLE {table.name} (\n    {body}\n)",
        *index_statements(table),
        f"CREATE TRIGGER {table.name}_forget AFTER DELETE ON {table.name} BEGIN DELETE FROM {ABBREVIATIONS} "
        f"WHERE tenant = OLD.tenant AND source = '{table.name}' AND key = OLD.key; END",
    )


def index_statements(table: Table) -> tuple[str, ...]:
    """Return the statements that create the table's indexes."""
    return tuple(
        f"CREATE INDEX {table.name}_{index} ON {table.name} ({', '.join(columns)})"
        for index, columns in table.every_index.items()
    )
