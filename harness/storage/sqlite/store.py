"""The `Store` on SQLite: one file, any number of threads and processes."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from itertools import accumulate
from math import inf
from pathlib import Path
from typing import Any

from msgspec import structs

from harness.core.entries import Entry, Neighbour, Outline, TableStats
from harness.core.freshness import NEVER, fresh_sql, latest_creation
from harness.core.origins import EVERY
from harness.errors import StoreError
from harness.ports import NOTHING, Vectors
from harness.storage import checks
from harness.storage.audits import SqliteAudits, delete_audits
from harness.storage.checksums import checked, checksums, embedding_checksum, report, row_checksum
from harness.storage.sqlite.connections import Connections, Durability, Handle
from harness.storage.sqlite.tails import Scope, is_unit
from harness.storage.sqlite.vectors import TAIL_LIMIT, VectorSearch
from harness.storage.tables import (
    ABBREVIATIONS,
    FORGET_EMBEDDING,
    FRESH,
    ORIGINS,
    OWN_START,
    TABLES,
    TOKENS,
    TOOLS,
    USES,
    Table,
)

BUSY_SECONDS = 30.0
SCAN_BATCH = 500
_MAX_BOUND = 500
SWEEP_BATCH = 1_000
"""Rows that one write deletes at the most, so that no writer holds the lock for long."""


class SqliteStore(SqliteAudits):
    """Cache tables in the SQLite file at `path`, made or brought up to date on opening.

    What `put` acknowledged survives `kill -9` of any process. A power cut may take the last writes where `durability`
    is "normal", and none where it is "full"; the file stays consistent. One connection a thread; a forked child opens
    its own. A file that is damaged, or no database, is moved aside under a dated name, reported by a warning, and
    replaced.

    Raises:
        StoreError: if the file cannot be opened (`MigrationError`, `StoreBusy` where that is the reason).
    """

    def __init__(
        self,
        path: Path,
        *,
        busy_seconds: float = BUSY_SECONDS,
        tail_limit: int = TAIL_LIMIT,
        durability: Durability = "normal",
    ) -> None:
        self.path = path
        self._connections = Connections(path, busy_seconds, durability=durability)
        self._connections.handle()
        self.vectors = VectorSearch(self._connections, path.with_name(f"{path.name}.chroma"), tail_limit=tail_limit)

    def get(self, table: str, tenant: str, key: str) -> Entry | None:
        """See `Store.get`."""
        declared = TABLES[table]
        try:
            handle = self._connections.local.handle
            handle.busy = True
            try:
                row = handle.execute(declared.select, (tenant, key)).fetchone()
            finally:
                handle.busy = False
        except (AttributeError, sqlite3.Error):  # the long road: opens, tells errors apart, replaces a damaged file
            row = self._connections.run(partial(_fetch, declared.select, (tenant, key)))
        if row is None:
            return None
        own = row[OWN_START:]
        stored = row[OWN_START - 1]
        if stored is None:
            entry = self.whole(table, tenant, key)  # looks at more than is read here
            return entry and structs.replace(entry, own=entry.own[: declared.decisive], embedding=None, embedder=None)
        if stored != row_checksum(declared, tenant, key, row[0], row[1], row[2], row[3], own):
            report(declared, key, stored)
            return None
        own = tuple(map(_text, own[: declared.decisive])) if declared.decides_by_text else own[: declared.decisive]
        return Entry(key, _text(row[0]), row[1], row[2], row[3], row[4], own)

    def put(self, table: str, tenant: str, entry: Entry, *, sweep_before: float | None = None) -> None:
        """See `Store.put`."""
        declared = TABLES[table]
        values = row_values(declared, tenant, entry)

        def write(connection: sqlite3.Connection) -> None:
            if sweep_before is not None:
                _sweep_batch(connection, table, tenant, sweep_before)
            _write_row(connection, declared, values, entry.teaches)

        self._connections.write(write)

    def swap(self, table: str, tenant: str, entry: Entry, *, expecting: Mapping[str, Any] | None) -> bool:
        """See `Store.swap`."""
        declared = TABLES[table]
        values = row_values(declared, tenant, entry)
        sql, bound = f"{declared.select_whole} WHERE tenant = ? AND key = ?", (tenant, entry.key)
        if expecting is not None:
            sql, bound = f"{sql} AND {declared.where(expecting)}", (*bound, tenant, *expecting.values())

        def write(connection: sqlite3.Connection) -> bool:
            present = _entries(declared, connection.execute(sql, bound).fetchall())  # a damaged row counts as none
            if bool(present) == (expecting is not None):
                _write_row(connection, declared, values, entry.teaches)
                return True
            return False

        return self._connections.write(write)

    def replace(self, table: str, tenant: str, entries: Sequence[Entry], *, instead_of: Mapping[str, Any]) -> int:
        """See `Store.replace`."""
        declared = TABLES[table]
        delete = f"DELETE FROM {declared.name} WHERE {declared.where(instead_of)}"
        written = [(row_values(declared, tenant, entry), entry.teaches) for entry in entries]

        def write(connection: sqlite3.Connection) -> int:
            gone = connection.execute(delete, (tenant, *instead_of.values())).rowcount
            for values, teaches in written:
                _write_row(connection, declared, values, teaches)
            return gone

        return self._connections.write(write)

    def whole(self, table: str, tenant: str, key: str) -> Entry | None:
        """See `Store.whole`."""
        declared = TABLES[table]
        rows = self._all(f"{declared.select_whole} WHERE tenant = ? AND key = ?", (tenant, key))
        # in a damaged file an index may lead to another row
        found = _entries(declared, [row for row in rows if (_text(row[0]), _text(row[1])) == (tenant, key)])
        return found[0] if found else None

    def rows(self, table: str, tenant: str, where: Mapping[str, Any]) -> list[Entry]:
        """See `Store.rows`."""
        declared = TABLES[table]
        sql = f"{declared.select_whole} WHERE {declared.where(where)} ORDER BY seq"
        return _entries(declared, self._all(sql, (tenant, *where.values())))

    def recent(self, table: str, tenant: str, limit: int, *, where: Mapping[str, Any] = NOTHING) -> list[Entry]:
        """See `Store.recent`."""
        declared = TABLES[table]
        condition = declared.where(where) if where else "tenant = ?"
        sql = f"{declared.select_whole} WHERE {condition} ORDER BY seq DESC LIMIT ?"
        return _entries(declared, self._all(sql, (tenant, *where.values(), max(0, limit))))

    def outlines(
        self, table: str, tenant: str, where: Mapping[str, Any], *, after: int = 0, limit: int
    ) -> list[Outline]:
        """See `Store.outlines`."""
        declared = TABLES[table]
        sql = f"{declared.select_outline} WHERE {declared.where(where)} AND seq > ? ORDER BY seq DESC LIMIT ?"
        return [_outline(row) for row in self._all(sql, (tenant, *where.values(), after, max(0, limit)))]

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
        condition, bound = "", tuple(origins)
        if {*origins} != {*EVERY}:
            mark = f"SELECT origin FROM {ORIGINS} WHERE tenant = {table}.tenant AND source = '{table}'"
            condition = f"AND coalesce(({mark} AND key = {table}.key), 'user') IN ({_marks(bound)})"
        else:
            bound = ()
        order = "ORDER BY created_at DESC, seq DESC LIMIT ? OFFSET ?"
        sql = f"{TABLES[table].select_outline} WHERE tenant = ? AND created_at >= ? {condition} {order}"
        return [_outline(row) for row in self._all(sql, (tenant, since, *bound, max(0, limit), max(0, offset)))]

    def scopes(self, table: str, tenant: str, embedder: str) -> list[tuple[str, ...]]:
        """See `Store.scopes`; by hops from one to the next along an index, instead of reading all of it."""
        names = (*TABLES[table].scope, "embedder")
        columns = ", ".join(names)
        sql = (
            f"SELECT {columns} FROM {TABLES[table].name} WHERE tenant = ? AND ({columns}) >= ({_marks(names)}) "
            f"ORDER BY {columns} LIMIT 1"
        )

        def hop(handle: Handle) -> list[tuple[Any, ...]]:
            found: dict[tuple[Any, ...], None] = {}
            least = ("",) * len(names)
            with handle.connection as connection:  # all hops see one moment
                connection.execute("BEGIN")
                while row := connection.execute(sql, (tenant, *least)).fetchone():
                    place = tuple(map(_text, row))
                    if place in found:  # what is no text, in a damaged row, may come before what it is read as
                        break
                    found[place] = None
                    *scope, of = place
                    least = (*scope, "" if of is None else f"{of}\0")  # no text is between one and itself with a NUL
            return list(found)

        return [tuple(scope) for *scope, of in self._connections.run(hop) if of == embedder]

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
        """See `Store.nearest`. Each similarity is computed from the row, whatever the index said."""
        found: dict[int, tuple[float, str]] = {}

        def take(seqs: Sequence[int]) -> int:
            checked = self._checked(Scope(table, tenant, scope, embedder), seqs, vector, now)
            found.update((seq, near) for seq, near in checked.items() if near[0] >= at_least)
            return len(checked)  # less similar rows count: behind them there is nothing more similar to look for

        self.vectors.nearest(Scope(table, tenant, scope, embedder), vector, k, take, now=now, at_least=at_least)
        nearest = sorted(found, key=lambda seq: (-found[seq][0], found[seq][1]))[:k]
        declared = TABLES[table]
        entries: dict[int, Entry | None] = {}
        for start in range(0, len(nearest), _MAX_BOUND):
            part = tuple(nearest[start : start + _MAX_BOUND])
            rows = self._all(f"{declared.select_numbered} WHERE seq IN ({_marks(part)})", part)
            entries.update((row[0], _whole(declared, row[1:])) for row in rows)
        return [
            Neighbour(entry, found[seq][0])
            for seq in nearest
            if (entry := entries.get(seq)) is not None and entry.embedding is not None
        ]

    def _checked(self, scope: Scope, seqs: Sequence[int], vector: Vectors, now: float) -> dict[int, tuple[float, str]]:
        """Return similarity and key of those of the rows that are there, in this scope, whole and not expired."""
        import numpy as np

        found: dict[int, tuple[float, str]] = {}
        for start in range(0, len(seqs), _MAX_BOUND):
            part = seqs[start : start + _MAX_BOUND]
            # the signs keep SQLite from walking the whole index of a scope or of expiry times instead
            others = scope.condition.replace(" AND ", " AND +")
            condition = f"seq IN ({_marks(part)}) AND +{others} AND +{FRESH}"
            sql = f"SELECT seq, key, embedding FROM {scope.table} WHERE {condition}"
            for seq, key, held in self._all(sql, (*part, *scope.bound, now, latest_creation(now))):
                if is_unit(held, len(vector)):
                    similarity = float(np.frombuffer(held, np.float32) @ vector)
                    found[seq] = (min(1.0, max(0.0, similarity)), _text(key))
        return found

    def scan(self, table: str, tenant: str) -> Iterator[Entry]:
        """See `Store.scan`; in batches, so that a large table never stands in memory."""
        declared = TABLES[table]
        since = 0
        sql = f"{declared.select_numbered} WHERE tenant = ? AND seq > ? ORDER BY seq LIMIT {SCAN_BATCH}"
        while rows := self._all(sql, (tenant, since)):
            yield from _entries(declared, [row[1:] for row in rows])
            since = rows[-1][0]

    def unembedded(self, table: str, tenant: str, embedder: str, limit: int) -> list[tuple[str, str]]:
        """See `Store.unembedded`."""
        declared = TABLES[table]
        # by this index, or the search for what is rarely there would read every row
        source = f"{table} INDEXED BY {table}_scope"
        sql = f"SELECT key, {declared.text} FROM {source} WHERE tenant = ? AND embedder IS NOT ? LIMIT ?"
        return [(_text(key), _text(text)) for key, text in self._all(sql, (tenant, embedder, limit))]

    def embed(self, table: str, tenant: str, key: str, embedding: bytes, embedder: str) -> None:
        """See `Store.embed`. The row is written anew, so that every process notices."""
        declared = TABLES[table]

        def write(connection: sqlite3.Connection) -> None:
            row = connection.execute(f"{declared.select_whole} WHERE tenant = ? AND key = ?", (tenant, key)).fetchone()
            if row:
                # the row's own checksum stays: were it computed again, it would hide damage
                sums = (row[-2], embedding_checksum(embedding, embedder))
                connection.execute(declared.upsert, (*map(_text, row[:-4]), embedding, embedder, *sums))

        self._connections.write(write)

    def delete(self, table: str, tenant: str, keys: Sequence[str], *, expired_at: float | None = None) -> int:
        """See `Store.delete`."""
        sql = f"DELETE FROM {TABLES[table].name} WHERE tenant = ? AND key = ?"
        values: list[tuple[Any, ...]] = [(tenant, key) for key in keys]
        if expired_at is not None:
            sql, values = f"{sql} AND expires_at <= ?", [(*each, expired_at) for each in values]
        return self._connections.write(lambda connection: connection.executemany(sql, values).rowcount) if values else 0

    def meanings(self, tenant: str, shorts: Sequence[str]) -> list[tuple[str, str]]:
        """See `Store.meanings`."""
        sql = f"SELECT written, meaning FROM {ABBREVIATIONS} WHERE tenant = ? AND short IN ({_marks(shorts)})"
        return [
            (_text(short), _text(long)) for short, long in self._all(sql, (tenant, *(s.casefold() for s in shorts)))
        ]

    def count(self, tenant: str, day: str, times: Mapping[str, int], *, origin: str = "user") -> None:
        """See `Store.count`."""
        sql = (
            f"INSERT INTO {USES} VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (tenant, day, origin, what) DO UPDATE SET times = times + excluded.times"
        )
        values = [(tenant, day, origin, what, number) for what, number in times.items()]
        self._connections.write(lambda connection: connection.executemany(sql, values))

    def counted(self, tenant: str, origins: Sequence[str] = EVERY) -> dict[str, dict[str, int]]:
        """See `Store.counted`."""
        condition = f"tenant = ? AND origin IN ({_marks(origins)})"
        sql = f"SELECT day, what, sum(times) FROM {USES} WHERE {condition} GROUP BY day, what ORDER BY day, what"
        days: dict[str, dict[str, int]] = {}
        for day, what, times in self._all(sql, (tenant, *origins)):
            days.setdefault(_text(day), {})[_text(what)] = times
        return days

    def mark(self, table: str, tenant: str, key: str, origin: str) -> None:
        """See `Store.mark`."""
        row: tuple[str, ...] = (tenant, TABLES[table].name, key)
        sql = f"DELETE FROM {ORIGINS} WHERE tenant = ? AND source = ? AND key = ?"
        if origin != "user":
            sql, row = f"INSERT OR REPLACE INTO {ORIGINS} VALUES (?, ?, ?, ?)", (*row, origin)
        self._connections.write(lambda connection: connection.execute(sql, row))

    def origins(self, table: str, tenant: str, keys: Sequence[str]) -> dict[str, str]:
        """See `Store.origins`."""
        found: dict[str, str] = {}
        for start in range(0, len(keys), _MAX_BOUND):
            part = keys[start : start + _MAX_BOUND]
            sql = f"SELECT key, origin FROM {ORIGINS} WHERE tenant = ? AND source = ? AND key IN ({_marks(part)})"
            found.update((_text(key), _text(origin)) for key, origin in self._all(sql, (tenant, table, *part)))
        return found

    @contextmanager
    def turn(self, name: str, wait: float) -> Iterator[bool]:
        """See `Store.turn`: a lock on a file, which the system lets go of when the process dies."""
        from filelock import FileLock, Timeout

        folder = self.path.with_name(f"{self.path.name}.turns")
        try:
            folder.mkdir(exist_ok=True)
            file = folder / f"{sha256(name.encode()).hexdigest()[:32]}.lock"
            lock = FileLock(file, timeout=max(0.0, wait), poll_interval=0.02)
            lock.acquire()
        except Timeout:
            yield False
            return
        except OSError as error:
            raise StoreError(f"cannot lock {folder} ({error}); check its permissions and the disk") from error
        try:
            yield True
        finally:
            Path(lock.lock_file).unlink(missing_ok=True)  # whoever waits on it looks the answer up before computing
            lock.release()

    def touch(self, table: str, tenant: str, key: str, now: float) -> None:
        """See `Store.touch`."""
        sql = f"UPDATE {TABLES[table].name} SET last_used_at = ? WHERE tenant = ? AND key = ?"
        self._connections.write(lambda connection: connection.execute(sql, (now, tenant, key)))

    def sweep(self, table: str, tenant: str, before: float) -> int:
        """See `Store.sweep`."""
        deleted = 0
        while batch := self._connections.write(lambda connection: _sweep_batch(connection, table, tenant, before)):
            deleted += batch
        return deleted

    def evict(self, table: str, tenant: str, scope: tuple[str, ...], keep: int) -> int:
        """See `Store.evict`."""
        declared = TABLES[table]
        sql = f"DELETE FROM {declared.name} WHERE seq IN ({declared.least_used})"
        values = (tenant, *scope, max(0, keep))
        return self._connections.write(lambda connection: connection.execute(sql, values).rowcount)

    def clear(self, table: str, tenant: str) -> int:
        """See `Store.clear`. The disk space of what was deleted is given back to the file system."""
        deleted = self._connections.clear(TABLES[table].name, tenant)
        if not self._connections.run(partial(_fetch, f"SELECT 1 FROM {TABLES[table].name} LIMIT 1", ())):
            self.vectors.forget(table)
        self._connections.shrink()
        return deleted

    def tenants(self) -> list[str]:
        """See `Store.tenants`."""
        names = {name for table in TABLES for (name,) in self._all(_distinct_tenants(table), ())}
        return sorted(map(_text, names))

    def forget(self, tenant: str, user: str | None = None) -> int:
        """See `Store.forget`."""
        if user is not None:
            return self._connections.write(partial(_forget_user, tenant, user))
        gone = sum(self.clear(table, tenant) for table in TABLES)
        return gone + self._connections.write(partial(_forget_beside, tenant))

    def stats(self, table: str, tenant: str, now: float, embedder: str = "") -> TableStats:
        """See `Store.stats`."""
        indexed, tail = self.vectors.counts(table, tenant)
        fresh, bound = fresh_sql("?1", "?2", str(NEVER)), (now, latest_creation(now), tenant)
        sql = (
            f"SELECT count(*) FILTER (WHERE {fresh}), count(*) FILTER (WHERE NOT ({fresh})), count(*), "
            f"min(created_at), max(created_at) FROM {TABLES[table].name} WHERE tenant = ?3"
        )
        unembedded = f"SELECT count(*) FROM {TABLES[table].name} WHERE tenant = ?3 AND {fresh} AND embedder IS NOT ?4"
        live, expired, total, oldest, newest = self._connections.run(partial(_fetch, sql, bound))
        missing = self._connections.run(partial(_fetch, unembedded, (*bound, embedder)))[0] if embedder else 0
        return TableStats(table, live, expired, total, oldest, newest, indexed, tail, missing)

    def expiring(self, table: str, tenant: str, moments: Sequence[float]) -> list[int]:
        """See `Store.expiring`; each row is counted once, between two moments."""
        if not moments:
            return []
        ordered = sorted(moments)
        spans = ", ".join("(?, ?)" for _ in ordered)
        sql = (
            f"WITH span (since, upto) AS (VALUES {spans}) SELECT (SELECT count(*) FROM {TABLES[table].name} "
            "WHERE tenant = ? AND expires_at > since AND expires_at <= upto) FROM span ORDER BY upto"
        )
        bounds = [bound for span in zip((-inf, *ordered), ordered, strict=False) for bound in span]
        counts = accumulate(count for (count,) in self._all(sql, (*bounds, tenant)))
        reached = dict(zip(ordered, counts, strict=True))
        return [reached[moment] for moment in moments]

    def verify(self, *, repair: bool) -> list[str]:
        """See `Store.verify`."""
        problems = checks.file_problems(self._connections.database)
        if problems:  # nothing else can be relied on, and looking on would replace the file
            if repair:
                self._connections.mend()
            return problems
        for table in TABLES.values():
            unusable = checks.unusable_rows(table, self._all)
            problems += [f"{table.name}: row {seq}: {reason}" for seq, reason in unusable]
            damaged = checks.damaged_embeddings(table, self._all)
            problems += [f"{table.name}: row {seq}: its embedding is damaged" for seq in damaged]
            if repair:
                delete = f"DELETE FROM {table.name} WHERE seq = ?"
                forget = f"UPDATE {table.name} SET {FORGET_EMBEDDING} WHERE seq = ?"
                self._execute_many(delete, [(seq,) for seq, _ in unusable])
                self._execute_many(forget, [(seq,) for seq in damaged])
        problems += self._unusable_audits(repair=repair)
        lost = self.vectors.lost()
        if lost and repair:
            self.vectors.rebuild()
        return problems + [f"the vector index has lost {name}" for name in lost]

    def unchecked(self) -> int:
        """See `Store.unchecked`."""
        return sum(self._all(f"SELECT count(*) FROM {table} WHERE checksum IS NULL", ())[0][0] for table in TABLES)

    def reindex(self) -> int:
        """See `Store.reindex`; scopes small enough to be scanned are left out of it."""
        return sum(self.vectors.rebuild().values())

    def size(self) -> int:
        """See `Store.size`; the write-ahead log counts."""
        files = (self.path, self.path.with_name(f"{self.path.name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def close(self) -> None:
        """See `Store.close`: what another thread is doing is finished first. A later call opens again."""
        self.vectors.close()
        self._connections.reopen()

    def _execute_many(self, sql: str, values: list[tuple[Any, ...]]) -> None:
        if values:
            self._connections.write(lambda connection: connection.executemany(sql, values))

    def _all(self, sql: str, values: tuple[Any, ...]) -> list[Any]:
        return self._connections.run(lambda handle: handle.connection.execute(sql, values).fetchall())


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))


def row_values(table: Table, tenant: str, entry: Entry) -> tuple[Any, ...]:
    """Return what the entry's row holds, in the order of `Table.stored`."""
    return (
        *(tenant, entry.key, entry.text, entry.payload.decode()),
        *entry.own,
        *(entry.created_at, entry.expires_at, entry.last_used_at, entry.embedding, entry.embedder),
        *checksums(table, tenant, entry),
    )


def _write_row(
    connection: sqlite3.Connection, table: Table, values: tuple[Any, ...], teaches: tuple[tuple[str, str], ...]
) -> None:
    """Insert or replace one row, with what it teaches."""
    tenant, key = values[:2]
    connection.execute(table.upsert, values)
    connection.execute(
        f"DELETE FROM {ABBREVIATIONS} WHERE tenant = ? AND source = ? AND key = ?", (tenant, table.name, key)
    )
    connection.executemany(
        f"INSERT OR IGNORE INTO {ABBREVIATIONS} (tenant, short, written, meaning, source, key) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        [(tenant, short.casefold(), short, long, table.name, key) for short, long in teaches],
    )


def _fetch(sql: str, values: tuple[Any, ...], handle: Handle) -> Any:
    return handle.connection.execute(sql, values).fetchone()


def _outline(row: tuple[Any, ...]) -> Outline:
    """Make an outline of what `Table.select_outline` reads."""
    number, key, text, created_at, expires_at, *own = row
    return Outline(number, _text(key), _text(text), created_at, expires_at, tuple(map(_text, own)))


def _whole(table: Table, row: tuple[Any, ...]) -> Entry | None:
    """Make an entry of a row with every column, in the order of `Table.stored`; `None` if the row is damaged."""
    tenant, key, text, *own = map(_text, (*row[:3], *row[4:-7]))
    created_at, expires_at, last_used_at, embedding, embedder, *stored = row[-7:]
    vector = embedding if type(embedding) is bytes else None
    entry = Entry(key, text, row[3], created_at, expires_at, last_used_at, tuple(own), vector, _text(embedder))
    return checked(table, tenant, entry, *stored)


def _entries(table: Table, rows: Sequence[tuple[Any, ...]]) -> list[Entry]:
    """Make entries of whole rows, leaving out the damaged ones."""
    return [entry for row in rows if (entry := _whole(table, row)) is not None]


def _text(value: Any) -> Any:
    """Make text of what came back as bytes; what is no UTF-8, in a damaged row, shows as replacement characters."""
    return value.decode(errors="replace") if type(value) is bytes else value


def _sweep_batch(connection: sqlite3.Connection, table: str, tenant: str, before: float) -> int:
    name = TABLES[table].name
    expired = f"SELECT rowid FROM {name} WHERE tenant = ? AND expires_at <= ? LIMIT {SWEEP_BATCH}"
    return connection.execute(f"DELETE FROM {name} WHERE rowid IN ({expired})", (tenant, before)).rowcount


def _forget_beside(tenant: str, connection: sqlite3.Connection) -> int:
    for table in (USES, ORIGINS):
        connection.execute(f"DELETE FROM {table} WHERE tenant = ?", (tenant,))
    return delete_audits(tenant, connection)


def _forget_user(tenant: str, user: str, connection: sqlite3.Connection) -> int:
    connection.execute(f"UPDATE {TOOLS.name} SET created_by = NULL WHERE tenant = ? AND created_by = ?", (tenant, user))
    return connection.execute(f"DELETE FROM {TOKENS.name} WHERE tenant = ? AND user_id = ?", (tenant, user)).rowcount


def _distinct_tenants(table: str) -> str:
    """Hop from one tenant to the next along an index, instead of reading all of it."""
    name = TABLES[table].name
    return (
        f"WITH RECURSIVE held (tenant) AS (SELECT min(tenant) FROM {name} UNION ALL "
        f"SELECT (SELECT min(tenant) FROM {name} WHERE tenant > held.tenant) FROM held WHERE held.tenant IS NOT NULL) "
        "SELECT tenant FROM held WHERE tenant IS NOT NULL"
    )
