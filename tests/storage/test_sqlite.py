"""`SqliteStore`: the contract, and the properties of a file."""

import re
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from math import nan
from pathlib import Path
from typing import Any, Literal

import pytest
from filelock import FileLock

from harness.app import App
from harness.errors import StoreBusy, StoreError
from harness.settings import Settings
from harness.storage.sqlite.rows import SWEEP_BATCH
from harness.storage.sqlite.store import SqliteStore
from harness.storage.tables import TABLES
from tests.storage.contract import StoreContract
from tests.storage.embedded import EMBEDDER, fill
from tests.storage.entries import NOW, RESEARCH, SEARCHES, TENANT, an_entry


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    """Open an empty store."""
    store = SqliteStore(path, busy_seconds=0.1)
    yield store
    store.close()


class TestSqliteStore(StoreContract):
    """The contract, on `SqliteStore`."""

    @pytest.fixture
    def store(self, path: Path) -> Iterator[SqliteStore]:
        """Open an empty store in a file."""
        store = SqliteStore(path)
        yield store
        store.close()


def test_missing_folders_are_made(tmp_path: Path) -> None:
    """The first use of a data directory needs no preparation."""
    path = tmp_path / "not" / "yet" / "harness.db"
    SqliteStore(path).close()
    assert path.is_file()


def test_rows_outlive_the_store(store: SqliteStore, path: Path) -> None:
    """A stored row is found by the next store on the file."""
    store.rows.put(SEARCHES, TENANT, an_entry("k"))
    store.close()
    again = SqliteStore(path)
    assert again.rows.get(SEARCHES, TENANT, "k") is not None
    again.close()


def test_stores_on_one_file_see_each_other_at_once(store: SqliteStore, path: Path) -> None:
    """Two stores on one file need not be reopened to share rows."""
    other = SqliteStore(path)
    store.rows.put(SEARCHES, TENANT, an_entry("from one"))
    other.rows.put(SEARCHES, TENANT, an_entry("from the other"))
    assert other.rows.get(SEARCHES, TENANT, "from one") is not None
    assert store.rows.get(SEARCHES, TENANT, "from the other") is not None
    other.close()


@pytest.mark.parametrize("table", [SEARCHES, RESEARCH])
def test_every_column_is_kept(store: SqliteStore, path: Path, table: str) -> None:
    """Columns that a look-up does not read, as the embedding and the other own columns, are stored, too."""
    entry = an_entry("k", table, embedding=b"\x01\x02\x03\x04", embedder="minilm")
    store.rows.put(table, "ann", entry)
    declared = TABLES[table]
    with _reading(path) as connection:
        row = connection.execute(f"SELECT {', '.join(declared.columns)} FROM {table}").fetchone()
    times = (entry.created_at, entry.expires_at, entry.last_used_at)
    assert row == ("ann", "k", entry.text, entry.payload.decode(), *entry.own, *times, b"\x01\x02\x03\x04", "minilm")


def test_the_write_ahead_log_is_on(store: SqliteStore, path: Path) -> None:
    """The file is in WAL mode for every program, so readers and a writer do not wait for each other."""
    with _reading(path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize(("durability", "synchronous"), [("normal", 1), ("full", 2)])
def test_every_connection_synchronises_as_declared(
    path: Path, durability: Literal["normal", "full"], synchronous: int
) -> None:
    """SQLite's setting holds for a connection only, so each one sets it."""
    store = SqliteStore(path, durability=durability)
    assert _connection(store).execute("PRAGMA synchronous").fetchone() == (synchronous,)
    store.close()
    assert _connection(store).execute("PRAGMA synchronous").fetchone() == (synchronous,)
    store.close()


def test_the_setting_reaches_the_connections(tmp_path: Path) -> None:
    """`durability: full` waits for the disk at every commit."""
    with App(Settings(data_dir=tmp_path, durability="full")) as app:
        assert _connection(app.databases.store).execute("PRAGMA synchronous").fetchone() == (2,)


def test_size_counts_the_write_ahead_log(store: SqliteStore, path: Path) -> None:
    """Data not yet in the main file takes space, too."""
    store.rows.put(SEARCHES, TENANT, an_entry("k", payload=b"x" * 1_000_000))
    assert path.stat().st_size < 1_000_000 < store.admin.size()


def test_clear_gives_the_disk_space_back(store: SqliteStore, path: Path) -> None:
    """After `clear`, neither the file nor its log keeps the space of what was deleted."""
    for number in range(500):
        store.rows.put(SEARCHES, TENANT, an_entry(str(number), payload=b"x" * 4_000))
    store.admin.clear(SEARCHES, TENANT)
    assert store.admin.size() < 500_000


def test_a_put_sweeps_a_bounded_number(store: SqliteStore) -> None:
    """One put holds the lock for at most one batch of expired rows; later puts delete the rest."""
    for number in range(SWEEP_BATCH + 5):
        store.rows.put(SEARCHES, TENANT, an_entry(str(number), expires_at=NOW))
    store.rows.put(SEARCHES, TENANT, an_entry("first"), sweep_before=NOW)
    assert store.listings.stats(SEARCHES, TENANT, NOW).expired == 5
    store.rows.put(SEARCHES, TENANT, an_entry("second"), sweep_before=NOW)
    assert store.listings.stats(SEARCHES, TENANT, NOW).expired == 0


def test_a_refused_put_changes_nothing(store: SqliteStore) -> None:
    """If the row is refused, its sweep is undone, and the old row of the key stays."""
    store.rows.put(SEARCHES, TENANT, an_entry("expired", expires_at=NOW))
    store.rows.put(SEARCHES, TENANT, an_entry("k", payload=b"before"))
    with pytest.raises(StoreError):
        store.rows.put(SEARCHES, TENANT, an_entry("k", expires_at=nan), sweep_before=NOW)
    kept = store.rows.get(SEARCHES, TENANT, "k")
    assert kept is not None
    assert kept.payload == b"before"
    assert store.rows.get(SEARCHES, TENANT, "expired") is not None


@pytest.mark.parametrize("table", [SEARCHES, RESEARCH])
def test_a_look_up_searches_the_primary_key(store: SqliteStore, path: Path, table: str) -> None:
    """A look-up is a search of the index of (tenant, key), never a scan, so a large cache is as fast as a small one."""
    plan = _plan(path, TABLES[table].select, ("t", "k"))
    assert plan == f"SEARCH {table} USING INDEX sqlite_autoindex_{table}_1 (tenant=? AND key=?)"


@pytest.mark.parametrize("table", [SEARCHES, RESEARCH])
def test_expired_rows_are_found_by_index(store: SqliteStore, path: Path, table: str) -> None:
    """Sweeping reads the index of `expires_at`, not the rows, so a write in a large cache stays cheap."""
    plan = _plan(path, f"SELECT rowid FROM {table} WHERE tenant = ? AND expires_at <= ?", (TENANT, NOW))
    assert f"USING COVERING INDEX {table}_expires_at (tenant=? AND expires_at<?)" in plan


@pytest.mark.parametrize("table", [SEARCHES, RESEARCH, "research_runs", "knowledge"])
@pytest.mark.parametrize("since", [0.0, NOW])
def test_a_timeline_is_read_from_an_index(store: SqliteStore, path: Path, table: str, since: float) -> None:
    """Only the rows of the page are read, in the index's order: nothing is sorted, however many rows there are."""
    (sql,) = _selects(store, lambda: store.listings.timeline(table, TENANT, since=since, limit=9, offset=9))
    plan = f"SEARCH {table} USING INDEX {table}_created_at (tenant=? AND created_at>?)"
    assert _plan(path, sql, ()) == plan
    assert not {TABLES[table].payload, "embedding"} & set(re.findall(r"\w+", sql))


@pytest.mark.parametrize("table", TABLES)
def test_scopes_are_read_from_an_index(store: SqliteStore, path: Path, table: str) -> None:
    """Each hop is one search of it; no row is read, and nothing is sorted."""
    (sql,) = _selects(store, lambda: store.nearest.scopes(table, TENANT, EMBEDDER))
    columns = (*TABLES[table].scope, "embedder")
    beyond = f"({','.join(columns)})>({','.join('?' * len(columns))})" if len(columns) > 1 else "embedder>?"
    plan = f"SEARCH {table} USING COVERING INDEX {table}_scope (tenant=? AND {beyond})"
    assert _plan(path, sql, ()) == plan


def test_scopes_of_many_rows_take_few_hops(store: SqliteStore) -> None:
    """As many as there are scopes, whatever the number of rows in each."""
    for scope in ("a", "b", "c"):
        fill(store, [f"{scope}{number}" for number in range(300)], own=(10, scope, "{}"))
    assert len(_selects(store, lambda: store.nearest.scopes(SEARCHES, TENANT, EMBEDDER))) == 4


@pytest.mark.parametrize("damage", [b"\xff\xff", "\ufffe", b"\xc3\x28", 5], ids=ascii)
def test_scopes_are_listed_if_one_is_no_text(store: SqliteStore, damage: object) -> None:
    """Scopes before it are listed, and the listing ends."""
    for key in ("a", "b", "c"):
        fill(store, [key], own=(10, key, "{}"))
    sql, values = "UPDATE search_cache SET engine = ? WHERE key = ?", [(damage, "b"), (b"\xff\xfe", "c")]
    store._connections.write(lambda connection: connection.executemany(sql, values))
    sql = "UPDATE search_cache SET engine = CAST(engine AS TEXT) WHERE key = 'c'"
    store._connections.write(lambda connection: connection.execute(sql))
    assert ("a", "{}") in store.nearest.scopes(SEARCHES, TENANT, EMBEDDER)


def test_expiries_are_counted_in_an_index(store: SqliteStore, path: Path) -> None:
    """One range of it for each moment; no row is read."""
    (sql,) = _selects(store, lambda: store.listings.expiring(SEARCHES, TENANT, [NOW, NOW + 1]))
    plan = _plan(path, sql.replace("-Inf", "-9e999"), ())
    assert f"{SEARCHES} USING COVERING INDEX {SEARCHES}_expires_at (tenant=? AND expires_at>? AND expires_at<?)" in plan
    assert f"SCAN {SEARCHES}" not in plan


def test_a_lock_that_is_not_freed_in_time_is_store_busy(store: SqliteStore, path: Path) -> None:
    """A write that cannot get the lock reports that another process has it, and stores nothing."""
    with _writing(path), pytest.raises(StoreBusy, match="another process"):
        store.rows.put(SEARCHES, TENANT, an_entry("k"))
    assert store.rows.get(SEARCHES, TENANT, "k") is None


def test_a_store_works_on_after_store_busy(store: SqliteStore, path: Path) -> None:
    """As soon as the lock is free, the next write succeeds."""
    with _writing(path), pytest.raises(StoreBusy):
        store.rows.put(SEARCHES, TENANT, an_entry("k"))
    store.rows.put(SEARCHES, TENANT, an_entry("k"))
    assert store.rows.get(SEARCHES, TENANT, "k") is not None


def test_look_ups_do_not_wait_for_a_writer(store: SqliteStore, path: Path) -> None:
    """While another process writes, a look-up answers with the committed rows."""
    store.rows.put(SEARCHES, TENANT, an_entry("k"))
    with _writing(path):
        assert store.rows.get(SEARCHES, TENANT, "k") is not None
        assert store.listings.stats(SEARCHES, TENANT, NOW).total == 1


def test_opening_waits_no_longer_than_its_timeout(path: Path) -> None:
    """If another process prepares a file for too long, the error is `StoreBusy`; it does not hang."""
    with FileLock(f"{path}.lock"), pytest.raises(StoreBusy, match="preparing"):
        SqliteStore(path, busy_seconds=0.1)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the open files from /proc")
def test_a_closed_store_holds_no_file(store: SqliteStore, path: Path) -> None:
    """After `close` the process has neither the database nor its log open."""
    store.rows.put(SEARCHES, TENANT, an_entry("k"))
    assert _open_files(path)
    store.close()
    assert not _open_files(path)


@contextmanager
def _another_connection(path: Path, begin: str) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute(begin)
        yield connection
    finally:
        connection.close()


def _reading(path: Path) -> AbstractContextManager[sqlite3.Connection]:
    """Read the file directly, without the store's code."""
    return _another_connection(path, "BEGIN")


def _writing(path: Path) -> AbstractContextManager[sqlite3.Connection]:
    """Hold the write lock, as another process does while it writes."""
    return _another_connection(path, "BEGIN IMMEDIATE")


def _connection(store: SqliteStore) -> sqlite3.Connection:
    return store._connections.handle().connection


def _selects(store: SqliteStore, call: Callable[[], object]) -> list[str]:
    """Return the queries that a call runs, with the values that each binds."""
    told: list[str] = []
    _connection(store).set_trace_callback(told.append)
    call()
    _connection(store).set_trace_callback(None)
    return [sql for sql in told if sql not in {"BEGIN", "COMMIT"}]


def _plan(path: Path, sql: str, values: tuple[object, ...]) -> str:
    with _reading(path) as connection:
        return " / ".join(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", values))


def _open_files(path: Path) -> list[str]:
    """Return the database's files that this process has open (the lock file is none of them)."""
    found = []
    for link in Path("/proc/self/fd").iterdir():
        try:
            name = str(link.readlink())
        except FileNotFoundError:  # the listing's own
            continue
        if name.startswith(str(path)) and not name.endswith(".lock"):
            found.append(name)
    return found


def test_a_put_finds_expired_rows_by_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would read every row otherwise, so that storing takes longer the more is stored."""
    path, connect, run = tmp_path / "cache.db", sqlite3.connect, list[str]()

    def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.set_trace_callback(run.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", traced)
    with closing(SqliteStore(path)) as store:
        store.rows.put(SEARCHES, TENANT, an_entry("a"), sweep_before=NOW)
    (sweep,) = (sql for sql in run if sql.startswith(f"DELETE FROM {SEARCHES} WHERE rowid"))
    with closing(connect(path)) as connection:
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sweep}")]
    assert any(f"SEARCH {SEARCHES} USING COVERING INDEX" in step and "expires_at<" in step for step in plan), plan
