"""Writing rows of PostgreSQL with what belongs to them: users and abbreviations."""

from typing import Any

from harness.core.entries import Entry
from harness.storage.postgres.dialect import USERS, PostgresTable, escaped
from harness.storage.postgres.row_codec import ROW_CODECS
from harness.storage.tables import ABBREVIATIONS, TOKENS, TOOLS

_USER_COLUMNS = {TOOLS.name: "created_by", TOKENS.name: "user_id"}
"""Own columns that refer to a user."""


def plain(value: Any) -> Any:
    """Return a value as it is bound: text is escaped."""
    return escaped(value) if isinstance(value, str) else value


def write_row(connection: Any, table: PostgresTable, tenant: str, entry: Entry) -> None:
    """Insert or replace one row, with what it teaches."""
    name_user(connection, table, tenant, entry)
    connection.execute(table.upsert, ROW_CODECS[table.declared.name].values(tenant, entry))
    connection.execute(
        f"DELETE FROM {ABBREVIATIONS} WHERE tenant = $1 AND source = $2 AND key = $3",
        (escaped(tenant), table.declared.name, escaped(entry.key)),
    )
    teach(connection, table, tenant, entry)


def teach(connection: Any, table: PostgresTable, tenant: str, entry: Entry) -> None:
    """Store the abbreviations that the row defines."""
    sql = (
        f"INSERT INTO {ABBREVIATIONS} (tenant, source, key, short, written, meaning) VALUES ($1, $2, $3, $4, $5, $6) "
        "ON CONFLICT DO NOTHING"
    )
    place = (escaped(tenant), table.declared.name, escaped(entry.key))
    for short, long in entry.teaches:
        connection.execute(sql, (*place, escaped(short.casefold()), escaped(short), escaped(long)))


def name_user(connection: Any, table: PostgresTable, tenant: str, entry: Entry) -> None:
    """Make the user known whom the row refers to."""
    named = dict(zip(table.declared.own_names, entry.own, strict=True))
    if (user := named.get(_USER_COLUMNS.get(table.declared.name, ""))) is not None:
        sql = f"INSERT INTO {USERS} (tenant_id, id) VALUES ($1, $2) ON CONFLICT DO NOTHING"
        connection.execute(sql, (escaped(tenant), escaped(user)))
