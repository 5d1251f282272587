"""Rows of PostgreSQL: read, write, delete."""

from collections.abc import Mapping, Sequence
from functools import cache
from math import inf
from typing import Any

from harness.core.entries import Entry
from harness.storage.postgres.dialect import POSTGRES_TABLES, USERS, PostgresTable, escaped, plain
from harness.storage.postgres.row_codec import ROW_CODECS
from harness.storage.postgres.statements import PostgresStatements
from harness.storage.tables import ABBREVIATIONS, TOKENS, TOOLS

SWEEP_BATCH = 1_000
"""Rows that one write deletes at most, so that no lock is held for long."""
_USER_COLUMNS = {TOOLS.name: "created_by", TOKENS.name: "user_id"}
"""Own columns that refer to a user."""


class PostgresRows:
    """The port `Rows` on PostgreSQL."""

    def __init__(self, statements: PostgresStatements) -> None:
        self._statements = statements

    def get(self, table: str, tenant: str, key: str) -> Entry | None:
        """See `Rows.get`."""
        declared = POSTGRES_TABLES[table]
        bound = (escaped(tenant), escaped(key))
        row = self._statements.connections.run(tenant, lambda connection: connection.fetch(declared.select, bound))
        return None if row is None else ROW_CODECS[table].found(tenant, key, row)

    def get_whole(self, table: str, tenant: str, key: str) -> Entry | None:
        """See `Rows.get_whole`."""
        declared = POSTGRES_TABLES[table]
        rows = self._statements.fetch_all(tenant, f"{declared.select_whole} WHERE {declared.one}", key)
        return ROW_CODECS[table].whole(rows[0]) if rows else None

    def put(self, table: str, tenant: str, entry: Entry, *, sweep_before: float | None = None) -> None:
        """See `Rows.put`."""
        declared = POSTGRES_TABLES[table]

        def write(connection: Any) -> None:
            if sweep_before is not None:
                connection.execute(_sweep(declared), (escaped(tenant), sweep_before, SWEEP_BATCH))
            _write_row(connection, declared, tenant, entry)

        self._statements.write(tenant, write)

    def swap(self, table: str, tenant: str, entry: Entry, *, expecting: Mapping[str, Any] | None) -> bool:
        """See `Rows.swap`. If the connection breaks during the commit, the outcome is unknown: `StoreBusy`."""
        declared = POSTGRES_TABLES[table]
        condition, expected = declared.mine, tuple(map(plain, (expecting or {}).values()))
        if expecting is not None:
            condition = declared.where(expecting)
        key = f"{declared.column('key')} = ${len(expected) + 2}"
        sql = f"{declared.select_whole} WHERE {condition} AND {key} FOR UPDATE"
        bound = (escaped(tenant), *expected, escaped(entry.key))

        def write(connection: Any) -> bool:
            _name_user(connection, declared, tenant, entry)
            values = ROW_CODECS[table].values(tenant, entry)
            if expecting is None and connection.execute(declared.insert_new, values).rowcount == 1:
                _teach(connection, declared, tenant, entry)
                return True
            # a damaged row counts as none
            rows = connection.execute(sql, bound, binary=True).fetchall()
            if bool(ROW_CODECS[table].entries(rows)) != (expecting is not None):
                return False
            _write_row(connection, declared, tenant, entry)
            return True

        return self._statements.write(tenant, write, again=False)

    def replace(self, table: str, tenant: str, entries: Sequence[Entry], *, instead_of: Mapping[str, Any]) -> int:
        """See `Rows.replace`."""
        declared = POSTGRES_TABLES[table]
        sql = f"DELETE FROM {declared.name} WHERE {declared.where(instead_of)}"
        bound = (escaped(tenant), *map(plain, instead_of.values()))

        def write(connection: Any) -> int:
            # of two who replace the same rows at once, the second one waits, and replaces the rows of the first
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", (repr((table, *bound)),))
            gone: int = connection.execute(sql, bound).rowcount
            for entry in entries:
                _write_row(connection, declared, tenant, entry)
            return gone

        return self._statements.write(tenant, write)

    def touch(self, table: str, tenant: str, key: str, now: float) -> None:
        """See `Rows.touch`."""
        declared = POSTGRES_TABLES[table]
        sql = f"UPDATE {declared.name} SET last_used_at = {declared.moment('$3')} WHERE {declared.one}"
        self._statements.change(tenant, sql, (key, now))

    def delete(self, table: str, tenant: str, keys: Sequence[str], *, expired_at: float | None = None) -> int:
        """See `Rows.delete`."""
        declared = POSTGRES_TABLES[table]
        sql = f"DELETE FROM {declared.name} WHERE {declared.mine} AND {declared.column('key')} = ANY ($2::text[])"
        bound: tuple[Any, ...] = ([*keys],)
        if expired_at is not None:
            sql, bound = f"{sql} AND expires_at <= {declared.moment('$3')}", (*bound, expired_at)
        return self._statements.change(tenant, sql, bound) if keys else 0

    def sweep(self, table: str, tenant: str, before: float, *, created_after: float = inf) -> int:
        """See `Rows.sweep`."""
        sql, deleted = _sweep(POSTGRES_TABLES[table], early=created_after < inf), 0
        bound = (before, SWEEP_BATCH, created_after) if created_after < inf else (before, SWEEP_BATCH)
        while batch := self._statements.change(tenant, sql, bound):
            deleted += batch
        return deleted

    def evict(self, table: str, tenant: str, scope: tuple[str, ...], keep: int) -> int:
        """See `Rows.evict`."""
        declared = POSTGRES_TABLES[table]
        mine = declared.equal("tenant", *declared.scope)
        used = f"SELECT seq FROM {declared.name} WHERE {mine} ORDER BY last_used_at DESC, seq DESC"
        sql = f"DELETE FROM {declared.name} WHERE {mine} AND seq IN ({used} OFFSET ${len(scope) + 2})"
        return self._statements.change(tenant, sql, (*scope, max(0, keep)))


def _write_row(connection: Any, table: PostgresTable, tenant: str, entry: Entry) -> None:
    """Insert or replace one row, with what it teaches."""
    _name_user(connection, table, tenant, entry)
    connection.execute(table.upsert, ROW_CODECS[table.logical].values(tenant, entry))
    connection.execute(
        f"DELETE FROM {ABBREVIATIONS} WHERE tenant = $1 AND source = $2 AND key = $3",
        (escaped(tenant), table.logical, escaped(entry.key)),
    )
    _teach(connection, table, tenant, entry)


def _teach(connection: Any, table: PostgresTable, tenant: str, entry: Entry) -> None:
    """Store the abbreviations that the row defines."""
    sql = (
        f"INSERT INTO {ABBREVIATIONS} (tenant, source, key, short, written, meaning) VALUES ($1, $2, $3, $4, $5, $6) "
        "ON CONFLICT DO NOTHING"
    )
    place = (escaped(tenant), table.logical, escaped(entry.key))
    for short, long in entry.teaches:
        connection.execute(sql, (*place, escaped(short.casefold()), escaped(short), escaped(long)))


def _name_user(connection: Any, table: PostgresTable, tenant: str, entry: Entry) -> None:
    """Make the user known whom the row refers to."""
    named = dict(zip(table.own_names, entry.own, strict=True))
    if (user := named.get(_USER_COLUMNS.get(table.logical, ""))) is not None:
        sql = f"INSERT INTO {USERS} (tenant_id, id) VALUES ($1, $2) ON CONFLICT DO NOTHING"
        connection.execute(sql, (escaped(tenant), escaped(user)))


@cache
def _sweep(table: PostgresTable, *, early: bool = False) -> str:
    """Return the statement that deletes up to `$3` rows of a tenant that expired at or before `$2`, or, if they are
    swept `early`, were created after `$4`; rows that others work on are left.
    """
    gone = f"expires_at <= {table.moment('$2')}"
    if early:  # an OR reads every row, so it is left out where it changes nothing
        gone = f"({gone} OR (created_at > {table.moment('$4')} AND expires_at < {table.never}))"
    expired = f"SELECT ctid FROM {table.name} WHERE {table.mine} AND {gone} LIMIT $3 FOR UPDATE SKIP LOCKED"
    return f"DELETE FROM {table.name} WHERE {table.mine} AND ctid = ANY (ARRAY({expired}))"
