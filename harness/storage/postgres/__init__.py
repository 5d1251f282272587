"""The `Store` on PostgreSQL with pgvector: one database for a team."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import accumulate
from math import inf
from typing import Any

from harness.core.entries import Entry, Neighbour, Outline, TableStats
from harness.core.origins import EVERY
from harness.ports import NOTHING, Vectors
from harness.storage import checks
from harness.storage.checksums import embedding_checksum
from harness.storage.postgres.audits import PostgresAudits
from harness.storage.postgres.connections import Connections, checked_url
from harness.storage.postgres.dialect import (
    POSTGRES_TABLES,
    TENANTS,
    USERS,
    PostgresTable,
    escaped,
    text_of,
    vector_text,
)
from harness.storage.postgres.locks import Turns
from harness.storage.postgres.schema import TENANT_COLUMNS
from harness.storage.postgres.vectors import INDEX_FROM, VectorSearch
from harness.storage.tables import ABBREVIATIONS, AUDITS, FORGET_EMBEDDING, ORIGINS, USES

__all__ = ["BUSY_SECONDS", "PostgresStore"]

BUSY_SECONDS = 30.0
SCAN_BATCH = 500
_TABLES = tuple(POSTGRES_TABLES.values())
SWEEP_BATCH = 1_000
"""Rows that one write deletes at the most, so that no lock is held for long."""


class PostgresStore(PostgresAudits):
    """Cache tables in the PostgreSQL database behind `url` (15 or newer, with the extension pgvector), made or brought
    up to date on opening.

    What `put` acknowledged is committed. Threads take connections from a pool; a forked child opens its own. When the
    server restarts, or cannot be reached, callers wait for up to `busy_seconds`, then get `StoreBusy`. Row-level
    security is a second lock behind the conditions of every statement. Sessions hold state (the tenant, locks), so a
    pooler in front of the server must pool sessions, not transactions.

    Raises:
        InvalidInput: `url` is no address of a database.
        StoreError: the database cannot be opened (`MigrationError`, `StoreBusy` where that is the reason).
    """

    def __init__(self, url: str, *, busy_seconds: float = BUSY_SECONDS, index_from: int = INDEX_FROM) -> None:
        self._connections = Connections(checked_url(url), busy_seconds)
        self._turns = Turns(self._connections)
        self.vectors = VectorSearch(self._connections, index_from=index_from)

    def get(self, table: str, tenant: str, key: str) -> Entry | None:
        """See `Store.get`."""
        declared = POSTGRES_TABLES[table]
        bound = (escaped(tenant), escaped(key))
        row = self._connections.run(tenant, lambda connection: connection.fetch(declared.select, bound))
        return None if row is None else declared.found(tenant, key, row)

    def put(self, table: str, tenant: str, entry: Entry, *, sweep_before: float | None = None) -> None:
        """See `Store.put`."""
        declared = POSTGRES_TABLES[table]

        def write(connection: Any) -> None:
            if sweep_before is not None:
                connection.execute(declared.sweep, (escaped(tenant), sweep_before, SWEEP_BATCH))
            _write_row(connection, declared, tenant, entry)

        self._write(tenant, write)

    def swap(self, table: str, tenant: str, entry: Entry, *, expecting: Mapping[str, Any] | None) -> bool:
        """See `Store.swap`. If the connection breaks at the very end, nobody knows whether it was put: `StoreBusy`."""
        declared = POSTGRES_TABLES[table]
        condition, expected = declared.mine, tuple(map(_plain, (expecting or {}).values()))
        if expecting is not None:
            condition = declared.where(expecting)
        key = f"{declared.column('key')} = ${len(expected) + 2}"
        sql = f"{declared.select_whole} WHERE {condition} AND {key} FOR UPDATE"
        bound = (escaped(tenant), *expected, escaped(entry.key))

        def write(connection: Any) -> bool:
            _name_user(connection, declared, tenant, entry)
            values = declared.values(tenant, entry)
            if expecting is None and connection.execute(declared.insert_new, values).rowcount == 1:
                _teach(connection, declared, tenant, entry)
                return True
            # a damaged row counts as none
            rows = connection.execute(sql, bound, binary=True).fetchall()
            if bool(declared.entries(tenant, rows)) != (expecting is not None):
                return False
            _write_row(connection, declared, tenant, entry)
            return True

        return self._write(tenant, write, again=False)

    def replace(self, table: str, tenant: str, entries: Sequence[Entry], *, instead_of: Mapping[str, Any]) -> int:
        """See `Store.replace`."""
        declared = POSTGRES_TABLES[table]
        sql = f"DELETE FROM {declared.name} WHERE {declared.where(instead_of)}"
        bound = (escaped(tenant), *map(_plain, instead_of.values()))

        def write(connection: Any) -> int:
            # of two who replace the same rows at once, the second one waits, and replaces the rows of the first
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", (repr((table, *bound)),))
            gone: int = connection.execute(sql, bound).rowcount
            for entry in entries:
                _write_row(connection, declared, tenant, entry)
            return gone

        return self._write(tenant, write)

    def whole(self, table: str, tenant: str, key: str) -> Entry | None:
        """See `Store.whole`."""
        declared = POSTGRES_TABLES[table]
        rows = self._all(tenant, f"{declared.select_whole} WHERE {declared.mine} AND key = $2", escaped(key))
        return declared.whole(tenant, rows[0]) if rows else None

    def rows(self, table: str, tenant: str, where: Mapping[str, Any]) -> list[Entry]:
        """See `Store.rows`."""
        declared = POSTGRES_TABLES[table]
        sql = f"{declared.select_whole} WHERE {declared.where(where)} ORDER BY seq"
        return declared.entries(tenant, self._all(tenant, sql, *map(_plain, where.values())))

    def recent(self, table: str, tenant: str, limit: int, *, where: Mapping[str, Any] = NOTHING) -> list[Entry]:
        """See `Store.recent`."""
        declared = POSTGRES_TABLES[table]
        condition = declared.where(where) if where else declared.mine
        sql = f"{declared.select_whole} WHERE {condition} ORDER BY seq DESC LIMIT ${len(where) + 2}"
        return declared.entries(tenant, self._all(tenant, sql, *map(_plain, where.values()), max(0, limit)))

    def outlines(
        self, table: str, tenant: str, where: Mapping[str, Any], *, after: int = 0, limit: int
    ) -> list[Outline]:
        """See `Store.outlines`."""
        declared = POSTGRES_TABLES[table]
        condition = f"{declared.where(where)} AND seq > ${len(where) + 2}"
        sql = f"{declared.select_outline} WHERE {condition} ORDER BY seq DESC LIMIT ${len(where) + 3}"
        rows = self._all(tenant, sql, *map(_plain, where.values()), after, max(0, limit))
        return [declared.outline(row) for row in rows]

    def timeline(
        self,
        table: str,
        tenant: str,
        *,
        since: float = 0.0,
        limit: int,
        offset: int = 0,
        origins: Sequence[str] = EVERY,
    ) -> list[Outline]:
        """See `Store.timeline`."""
        declared = POSTGRES_TABLES[table]
        key = f"{declared.name}.{declared.column('key')}"
        mark = f"SELECT origin FROM {ORIGINS} AS marked WHERE marked.tenant = $1 AND source = '{table}'"
        condition = f"AND coalesce(({mark} AND marked.key = {key}), 'user') = ANY ($5::text[])"
        order = "ORDER BY created_at DESC, seq DESC LIMIT $3 OFFSET $4"
        sql = f"{declared.select_outline} WHERE {declared.mine} AND created_at >= {declared.moment(2)} {condition}"
        bound = (since, max(0, limit), max(0, offset), list(origins))
        return [declared.outline(row) for row in self._all(tenant, f"{sql} {order}", *bound)]

    def scopes(self, table: str, tenant: str, embedder: str) -> list[tuple[str, ...]]:
        """See `Store.scopes`."""
        declared = POSTGRES_TABLES[table]
        columns = ", ".join((*declared.declared.scope, "embedder"))
        condition = f"{declared.mine} AND embedder = $2"
        sql = f"SELECT DISTINCT {columns} FROM {declared.name} WHERE {condition} ORDER BY {columns}"
        return [tuple(map(text_of, scope)) for *scope, _ in self._all(tenant, sql, embedder)]

    def nearest(
        self,
        table: str,
        tenant: str,
        scope: tuple[str, ...],
        vector: Vectors,
        *,
        embedder: str,
        k: int,
        now: float,
        at_least: float = 0.0,
    ) -> list[Neighbour]:
        """See `Store.nearest`."""
        return self.vectors.nearest(table, tenant, scope, vector, embedder=embedder, k=k, now=now, at_least=at_least)

    def scan(self, table: str, tenant: str) -> Iterator[Entry]:
        """See `Store.scan`; in batches, so that a large table never stands in memory."""
        yield from POSTGRES_TABLES[table].entries(tenant, self._whole_rows(table, tenant))

    def _whole_rows(self, table: str, tenant: str) -> Iterator[tuple[Any, ...]]:
        """Yield every row of the tenant as `select_whole` reads it, the oldest first."""
        declared = POSTGRES_TABLES[table]
        whole = declared.select_whole.replace("SELECT ", "SELECT seq, ", 1)
        sql = f"{whole} WHERE {declared.mine} AND seq > $2 ORDER BY seq LIMIT {SCAN_BATCH}"
        since = 0
        while rows := self._all(tenant, sql, since):
            yield from (row[1:] for row in rows)
            since = rows[-1][0]

    def unembedded(self, table: str, tenant: str, embedder: str, limit: int) -> list[tuple[str, str]]:
        """See `Store.unembedded`."""
        declared = POSTGRES_TABLES[table]
        columns = f"{declared.column('key')}, {declared.declared.text}"
        condition = f"{declared.mine} AND embedder IS DISTINCT FROM $2"
        rows = self._all(tenant, f"SELECT {columns} FROM {declared.name} WHERE {condition} LIMIT $3", embedder, limit)
        return [(text_of(key), text_of(text)) for key, text in rows]

    def embed(self, table: str, tenant: str, key: str, embedding: bytes, embedder: str) -> None:
        """See `Store.embed`."""
        declared = POSTGRES_TABLES[table]
        changes = "embedding = $3::text::vector, embedder = $4, embedding_checksum = $5, seq = DEFAULT"
        sql = f"UPDATE {declared.name} SET {changes}"
        vector = vector_text(embedding)
        checksum = embedding_checksum(embedding if vector else None, embedder)
        bound = (escaped(tenant), escaped(key), vector, embedder, checksum)
        self._write(tenant, lambda connection: connection.execute(f"{sql} WHERE {declared.one}", bound))

    def touch(self, table: str, tenant: str, key: str, now: float) -> None:
        """See `Store.touch`."""
        declared = POSTGRES_TABLES[table]
        sql = f"UPDATE {declared.name} SET last_used_at = {declared.moment(3)} WHERE {declared.one}"
        self._write(tenant, lambda connection: connection.execute(sql, (escaped(tenant), escaped(key), now)))

    def sweep(self, table: str, tenant: str, before: float) -> int:
        """See `Store.sweep`."""
        declared = POSTGRES_TABLES[table]
        bound = (escaped(tenant), before, SWEEP_BATCH)
        deleted = 0
        while batch := self._write(tenant, lambda connection: int(connection.execute(declared.sweep, bound).rowcount)):
            deleted += batch
        return deleted

    def delete(self, table: str, tenant: str, keys: Sequence[str], *, expired_at: float | None = None) -> int:
        """See `Store.delete`."""
        declared = POSTGRES_TABLES[table]
        sql = f"DELETE FROM {declared.name} WHERE {declared.mine} AND {declared.column('key')} = ANY ($2::text[])"
        bound: tuple[Any, ...] = (escaped(tenant), [escaped(key) for key in keys])
        if expired_at is not None:
            sql, bound = f"{sql} AND expires_at <= {declared.moment(3)}", (*bound, expired_at)
        return self._write(tenant, lambda connection: int(connection.execute(sql, bound).rowcount)) if keys else 0

    def evict(self, table: str, tenant: str, scope: tuple[str, ...], keep: int) -> int:
        """See `Store.evict`."""
        bound = (escaped(tenant), *map(escaped, scope), max(0, keep))
        sql = POSTGRES_TABLES[table].evict
        return self._write(tenant, lambda connection: int(connection.execute(sql, bound).rowcount))

    def clear(self, table: str, tenant: str) -> int:
        """See `Store.clear`."""
        declared = POSTGRES_TABLES[table]
        sql = f"DELETE FROM {declared.name} WHERE {declared.mine}"
        return self._write(tenant, lambda connection: int(connection.execute(sql, (escaped(tenant),)).rowcount))

    def meanings(self, tenant: str, shorts: Sequence[str]) -> list[tuple[str, str]]:
        """See `Store.meanings`."""
        sql = f"SELECT written, meaning FROM {ABBREVIATIONS} WHERE tenant = $1 AND short = ANY ($2::text[])"
        rows = self._all(tenant, sql, [escaped(short.casefold()) for short in shorts]) if shorts else []
        return [(text_of(short), text_of(long)) for short, long in rows]

    def count(self, tenant: str, day: str, times: Mapping[str, int], *, origin: str = "user") -> None:
        """See `Store.count`."""
        sql = (
            f"INSERT INTO {USES} (tenant, day, what, times, origin) VALUES ($1, $2, $3, $4, $5) "
            f"ON CONFLICT (tenant, day, origin, what) DO UPDATE SET times = {USES}.times + excluded.times"
        )
        # in one order, so that two who count at once do not wait for each other
        bound = [(escaped(tenant), day, escaped(what), times[what], origin) for what in sorted(times)]

        def write(connection: Any) -> None:
            for values in bound:
                connection.execute(sql, values)

        self._write(tenant, write, again=False)

    def counted(self, tenant: str, origins: Sequence[str] = EVERY) -> dict[str, dict[str, int]]:
        """See `Store.counted`."""
        condition = "tenant = $1 AND origin = ANY ($2::text[])"
        sums = f"SELECT day, what, sum(times)::bigint FROM {USES} WHERE {condition} GROUP BY day, what"
        days: dict[str, dict[str, int]] = {}
        for day, what, times in self._all(tenant, f"{sums} ORDER BY day, what", list(origins)):
            days.setdefault(text_of(day), {})[text_of(what)] = times
        return days

    def mark(self, table: str, tenant: str, key: str, origin: str) -> None:
        """See `Store.mark`."""
        row: tuple[str, ...] = (escaped(tenant), table, escaped(key))
        sql = f"DELETE FROM {ORIGINS} WHERE tenant = $1 AND source = $2 AND key = $3"
        if origin != "user":
            sql = (
                f"INSERT INTO {ORIGINS} VALUES ($1, $2, $3, $4) "
                "ON CONFLICT (tenant, source, key) DO UPDATE SET origin = excluded.origin"
            )
            row = (*row, origin)
        self._write(tenant, lambda connection: connection.execute(sql, row))

    def origins(self, table: str, tenant: str, keys: Sequence[str]) -> dict[str, str]:
        """See `Store.origins`."""
        condition = "tenant = $1 AND source = $2 AND key = ANY ($3::text[])"
        sql = f"SELECT key, origin FROM {ORIGINS} WHERE {condition}"
        rows = self._all(tenant, sql, table, [escaped(key) for key in keys]) if keys else []
        return {text_of(key): text_of(origin) for key, origin in rows}

    def turn(self, name: str, wait: float) -> AbstractContextManager[bool]:
        """See `Store.turn`: an advisory lock, which the server frees when the process dies."""
        return self._turns.turn(name, wait)

    def tenants(self) -> list[str]:
        """See `Store.tenants`."""
        return [name for name in self._named() if self._has_rows(name)]

    def _named(self) -> list[str]:
        """Return every tenant that has ever written, in the order of their names."""

        def listed(connection: Any) -> list[Any]:
            with connection.transaction():
                connection.execute("SELECT set_config('harness.listing', 'on', true)")
                found: list[Any] = connection.execute(f"SELECT id FROM {TENANTS}", binary=True).fetchall()
                return found

        return sorted(text_of(name) for (name,) in self._connections.run(None, listed))

    def _has_rows(self, tenant: str) -> bool:
        held = (f"EXISTS (SELECT FROM {each.name} WHERE {each.mine})" for each in POSTGRES_TABLES.values())
        return bool(self._all(tenant, f"SELECT {' OR '.join(held)}")[0][0])

    def forget(self, tenant: str, user: str | None = None) -> int:
        """See `Store.forget`; the cascades of the tables do it."""
        if user is not None:
            count = "SELECT count(*) FROM access_tokens WHERE tenant = $1 AND user_id = $2"
            delete = f"DELETE FROM {USERS} WHERE tenant_id = $1 AND id = $2"
            bound: tuple[str, ...] = (escaped(tenant), escaped(user))
        else:
            numbers = (f"(SELECT count(*) FROM {each.name} WHERE {each.mine})" for each in POSTGRES_TABLES.values())
            count = f"SELECT {' + '.join(numbers)} + (SELECT count(*) FROM {AUDITS} WHERE tenant = $1)"
            delete = f"DELETE FROM {TENANTS} WHERE id = $1"
            bound = (escaped(tenant),)

        def write(connection: Any) -> int:
            gone: int = connection.execute(count, bound).fetchone()[0]
            connection.execute(delete, bound)
            return gone

        gone = self._write(tenant, write)
        if user is None:
            self._connections.forget(tenant)
            self.vectors.forget(tenant)
        return gone

    def stats(self, table: str, tenant: str, now: float, embedder: str = "") -> TableStats:
        """See `Store.stats`."""
        declared = POSTGRES_TABLES[table]
        indexed, tail = self.vectors.counts(table, tenant)
        fresh = declared.fresh(2)
        created = "extract(epoch FROM {}(created_at))::float8" if declared.is_tools else "{}(created_at)"
        sql = (
            f"SELECT count(*) FILTER (WHERE {fresh}), count(*) FILTER (WHERE NOT ({fresh})), "
            f"count(*), {created.format('min')}, {created.format('max')}, "
            f"count(*) FILTER (WHERE {fresh} AND embedder IS DISTINCT FROM $3) "
            f"FROM {declared.name} WHERE {declared.mine}"
        )
        live, expired, total, oldest, newest, missing = self._all(tenant, sql, now, embedder)[0]
        return TableStats(
            table, live, expired, total, oldest, newest, indexed, tail, unembedded=missing if embedder else 0
        )

    def expiring(self, table: str, tenant: str, moments: Sequence[float]) -> list[int]:
        """See `Store.expiring`; each row is counted once, between two moments."""
        if not moments:
            return []
        declared = POSTGRES_TABLES[table]
        since, upto = ("to_timestamp(since)", "to_timestamp(upto)") if declared.is_tools else ("since", "upto")
        within = f"{declared.mine} AND expires_at > {since} AND expires_at <= {upto}"
        counted = f"SELECT count(*) FROM {declared.name} WHERE {within}"
        sql = f"SELECT ({counted}) FROM unnest($2::float8[], $3::float8[]) AS span (since, upto) ORDER BY upto"
        ordered = sorted(moments)
        counts = accumulate(count for (count,) in self._all(tenant, sql, [-inf, *ordered[:-1]], ordered))
        reached = dict(zip(ordered, counts, strict=True))
        return [reached[moment] for moment in moments]

    def verify(self, *, repair: bool) -> list[str]:
        """See `Store.verify`. The schema keeps most damage out; what is left are payloads and vectors."""
        problems = [
            line
            for tenant in self.tenants()
            for name in POSTGRES_TABLES
            for line in self._unusable_rows(name, tenant, repair=repair)
        ]
        problems += [line for name in self._named() for line in self._unusable_audits(name, repair=repair)]
        lost, orphaned = self.vectors.lost(), self.vectors.orphaned(self.tenants())
        if repair:
            self.vectors.drop(lost + orphaned)
        problems += [f"the vector index {name} was never finished" for name in lost]
        return problems + [f"the vector index {name} is nobody's any longer" for name in orphaned]

    def _unusable_rows(self, name: str, tenant: str, *, repair: bool) -> Iterator[str]:
        """Yield a line for each damaged row of the tenant; with `repair`, it is deleted, or its embedding forgotten."""
        declared = POSTGRES_TABLES[name]
        for row in self._whole_rows(name, tenant):
            key, entry = text_of(row[0]), declared.whole(tenant, row)
            reason = checks.CHANGED if entry is None else checks.payload_problem(declared.declared, entry.payload)
            if reason:
                if repair:
                    self.delete(name, tenant, [key])
            elif entry is not None and entry.embedding is None and row[-1] is not None:
                reason = "its embedding is damaged"
                if repair:
                    sql = f"UPDATE {declared.name} SET {FORGET_EMBEDDING} WHERE {declared.one}"
                    self._write(tenant, partial(_execute, sql, (escaped(tenant), escaped(key))))
            if reason:
                yield f"{name}: {tenant}: row {key}: {reason}"

    def unchecked(self) -> int:
        """See `Store.unchecked`."""
        counts = (f"(SELECT count(*) FROM {t.name} WHERE {t.mine} AND checksum IS NULL)" for t in _TABLES)
        sql = f"SELECT {' + '.join(counts)}"
        return sum(int(self._all(tenant, sql)[0][0]) for tenant in self.tenants())

    def reindex(self) -> int:
        """See `Store.reindex`; scopes small enough to be compared row by row have no index."""
        return self.vectors.rebuild(self.tenants())

    def size(self) -> int:
        """See `Store.size`: tables with their indexes."""
        sizes = " + ".join(f"pg_total_relation_size('{name}')" for name in TENANT_COLUMNS)
        return int(self._connections.run(None, lambda connection: connection.execute(f"SELECT {sizes}").fetchone()[0]))

    def close(self) -> None:
        """See `Store.close`. A later call opens again."""
        self._turns.close()
        self._connections.close()


def _execute(sql: str, bound: tuple[Any, ...], connection: Any) -> None:
    connection.execute(sql, bound)


def _plain(value: Any) -> Any:
    return escaped(value) if isinstance(value, str) else value


def _write_row(connection: Any, table: PostgresTable, tenant: str, entry: Entry) -> None:
    """Insert or replace one row, with what it teaches."""
    _name_user(connection, table, tenant, entry)
    connection.execute(table.upsert, table.values(tenant, entry))
    connection.execute(
        f"DELETE FROM {ABBREVIATIONS} WHERE tenant = $1 AND source = $2 AND key = $3",
        (escaped(tenant), table.declared.name, escaped(entry.key)),
    )
    _teach(connection, table, tenant, entry)


def _teach(connection: Any, table: PostgresTable, tenant: str, entry: Entry) -> None:
    sql = (
        f"INSERT INTO {ABBREVIATIONS} (tenant, source, key, short, written, meaning) VALUES ($1, $2, $3, $4, $5, $6) "
        "ON CONFLICT DO NOTHING"
    )
    place = (escaped(tenant), table.declared.name, escaped(entry.key))
    for short, long in entry.teaches:
        connection.execute(sql, (*place, escaped(short.casefold()), escaped(short), escaped(long)))


def _name_user(connection: Any, table: PostgresTable, tenant: str, entry: Entry) -> None:
    """Make the user known whom the row refers to."""
    at = table.user_column
    if at is not None and entry.own[at] is not None:
        sql = f"INSERT INTO {USERS} (tenant_id, id) VALUES ($1, $2) ON CONFLICT DO NOTHING"
        connection.execute(sql, (escaped(tenant), escaped(entry.own[at])))
