"""Look-ups by meaning in `SqliteStore`: immediate and exact, despite changes to the index, processes and rows."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from math import inf, nan
from pathlib import Path

import numpy as np
import pytest

from harness.storage.sqlite.scopes import BATCH, FIRST_ROOM, Tail
from harness.storage.sqlite.store import SqliteStore
from harness.storage.sqlite.vectors import FULL_TAILS
from harness.storage.tables import TABLES
from tests.storage.embedded import ask, brute_force, embedded, fill, keys_near, near, vector_of
from tests.storage.entries import NOW, SEARCHES, TENANT, an_entry
from tests.storage.scenarios import play
from tests.storage.vector_scenes import LIMIT, MODULE, assert_exact, opened, play_at_once, settle

pytestmark = pytest.mark.slow

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

BACK_AND_FORTH = 4 * LIMIT


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    """Open an empty store with a short tail."""
    store = opened(path)
    yield store
    store.close()


@pytest.fixture
def indexed(store: SqliteStore) -> SqliteStore:
    """Open a store with 200 rows, `k0`, `k1`, …, most of which are in the index."""
    fill(store, _keys(200))
    settle(store)
    assert store.listings.stats(SEARCHES, TENANT, NOW).indexed > 200 - LIMIT
    return store


def _keys(count: int) -> list[str]:
    return [f"k{number}" for number in range(count)]


# At once -------------------------------------------------------------------------------------------------------------


def test_a_row_just_put_by_another_process_is_near(store: SqliteStore, path: Path) -> None:
    """A process that has looked before finds a row that another one has just stored."""
    assert ask(store, vector_of("one")) == []
    play("put", path, "one", "two", module=MODULE)
    assert keys_near(store, vector_of("one"), 1) == ["one"]
    play("put", path, "three", module=MODULE)
    assert keys_near(store, vector_of("three"), 1) == ["three"]


def test_a_row_just_put_by_another_store_is_near_beyond_the_tail(store: SqliteStore, path: Path) -> None:
    """Two stores that put in turn always find each other's rows, while these go to the index."""
    other = opened(path)
    for number in range(BACK_AND_FORTH):
        writer, reader = (store, other) if number % 2 else (other, store)
        writer.rows.put(SEARCHES, TENANT, embedded(f"k{number}"))
        assert keys_near(reader, vector_of(f"k{number}"), 1) == [f"k{number}"]
    other.close()


@pytest.mark.parametrize("processes", [2, 4])
def test_processes_put_and_ask_at_once(path: Path, processes: int) -> None:
    """Each always finds its own rows, and in the end every process finds all of them."""
    count = 400 // processes
    play_at_once(processes, "put_and_ask", path, str(count))
    store = opened(path)
    assert_exact(store, [f"{name}-{number}" for name in range(processes) for number in range(count)], 10)
    assert store.admin.verify(repair=False) == []
    store.close()


# The index -----------------------------------------------------------------------------------------------------------


def test_beyond_the_limit_the_tail_goes_to_the_index(store: SqliteStore) -> None:
    """Up to the limit there is no index; beyond it, the vectors go there, and a row counts once."""
    fill(store, _keys(LIMIT))
    settle(store)
    assert (store.listings.stats(SEARCHES, TENANT, NOW).indexed, store.listings.stats(SEARCHES, TENANT, NOW).tail) == (
        0,
        LIMIT,
    )
    store.rows.put(SEARCHES, TENANT, embedded("more"))
    settle(store)
    assert (store.listings.stats(SEARCHES, TENANT, NOW).indexed, store.listings.stats(SEARCHES, TENANT, NOW).tail) == (
        LIMIT + 1,
        0,
    )


def test_answers_are_exact_while_rows_go_to_the_index(store: SqliteStore) -> None:
    """The nearest row is always found, whether in the tail or in the index."""
    held = _keys(6 * LIMIT)
    for number, key in enumerate(held):
        store.rows.put(SEARCHES, TENANT, embedded(key))
        for each in (key, held[number // 2]):
            assert keys_near(store, near(vector_of(each), 0.3), 1) == [each], f"{each} of {number + 1} is not found"


def test_answers_are_exact_when_rows_are_in_the_index(indexed: SqliteStore) -> None:
    """The nearest rows and similarities equal those of a comparison with all rows."""
    assert_exact(indexed, _keys(200), 4)
    asked = near(vector_of("k7"), 0.4)
    found = ask(indexed, asked, 3)
    assert [key for key, _ in found] == brute_force(_keys(200), asked)
    assert [similarity for _, similarity in found] == pytest.approx([float(vector_of(key) @ asked) for key, _ in found])


def test_many_rows_without_an_index_are_all_near(path: Path) -> None:
    """A process with more rows than its tail holds finds the oldest and the newest, from the first call."""
    keys = _keys(2 * BATCH + 500)
    writer = SqliteStore(path)
    fill(writer, keys)
    writer.close()
    store = opened(path)
    for key in (keys[-1], keys[0], keys[BATCH], keys[2 * BATCH + 1]):
        assert keys_near(store, vector_of(key), 1) == [key]
    store.close()


def test_the_tail_takes_bounded_memory(path: Path) -> None:
    """At most about twice the limit of rows is in memory, however many are not indexed."""
    keys = _keys(2 * BATCH + 500)
    writer = SqliteStore(path)
    fill(writer, keys)
    writer.close()
    store = opened(path)
    for _ in range(3):
        ask(store, vector_of("any"))
        assert sum(len(tail.seqs) for tail in store.vectors._tails.values()) <= 2 * LIMIT + BATCH
    settle(store)
    ask(store, vector_of("any"))
    assert sum(len(tail.seqs) for tail in store.vectors._tails.values()) <= 2 * LIMIT
    store.close()


def _fill_scopes(store: SqliteStore, count: int, rows: int) -> list[tuple[str, str]]:
    """Put `rows` rows into each of `count` scopes; return these."""
    scopes = [(f"engine {number}", "{}") for number in range(count)]
    for engine, options in scopes:
        fill(store, [f"{engine} {row}" for row in range(rows)], own=(10, engine, options))
    return scopes


def _held(store: SqliteStore) -> list[tuple[str, ...]]:
    """Return the scopes whose tails are in memory."""
    return [scope.values for scope in store.vectors._tails]


def test_many_small_scopes_are_in_memory(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeated look-ups in twenty of them load each once."""
    store = SqliteStore(path)
    scopes, loads = _fill_scopes(store, 20, 3), []
    add = Tail.add
    monkeypatch.setattr(Tail, "add", lambda tail, rows: (loads.append(len(rows)), add(tail, rows)))
    for _ in range(3):
        for scope in scopes:
            assert keys_near(store, vector_of(f"{scope[0]} 1"), 1, scope=scope) == [f"{scope[0]} 1"]
    assert loads == [3] * 20
    store.close()


def test_the_scopes_used_last_are_in_memory(store: SqliteStore) -> None:
    """As many as fit; one that was dropped is loaded again, and finds its rows."""
    scopes = _fill_scopes(store, 6, LIMIT)
    room = FULL_TAILS * LIMIT // max(LIMIT, FIRST_ROOM)
    assert 1 < room < 6
    for scope in scopes:
        ask(store, vector_of("any"), scope=scope)
    assert _held(store) == scopes[-room:]
    assert keys_near(store, vector_of("engine 0 7"), 1, scope=scopes[0]) == ["engine 0 7"]
    ask(store, vector_of("any"), scope=scopes[-1])
    assert _held(store) == [*scopes[-room:-1][1:], scopes[0], scopes[-1]]


def test_scopes_without_rows_are_not_kept_for_ever(store: SqliteStore) -> None:
    """Look-ups in empty scopes take bounded memory, too."""
    for number in range(50):
        assert ask(store, vector_of("any"), scope=(f"unknown {number}", "{}")) == []
    assert len(_held(store)) < 10


def test_the_tail_in_use_is_never_dropped(path: Path) -> None:
    """However large it is: it finds its rows, and the others make room for it."""
    writer = SqliteStore(path)
    fill(writer, _keys(BATCH))
    scopes = _fill_scopes(writer, 2, 3)
    writer.close()
    store = opened(path)
    for scope in scopes:
        ask(store, vector_of("any"), scope=scope)
    assert keys_near(store, vector_of("k7"), 1) == ["k7"]
    assert _held(store) == [("ddgs", '{"region":"us-en"}')]
    assert BATCH > FULL_TAILS * LIMIT
    store.close()


@pytest.mark.parametrize(
    "own", [(10, "pubmed", '{"region":"us-en"}'), (10, "ddgs", "{}")], ids=["another engine", "other options"]
)
def test_a_row_that_moves_out_of_an_indexed_scope_is_near_there_only(
    indexed: SqliteStore, own: tuple[int, str, str]
) -> None:
    """The index still has it in the old scope; the row decides."""
    indexed.rows.put(SEARCHES, TENANT, embedded("k7", own=own))
    assert "k7" not in keys_near(indexed, vector_of("k7"), 3)
    assert keys_near(indexed, vector_of("k7"), 3, scope=own[1:]) == ["k7"]


def test_deleted_rows_do_not_hide_those_in_the_index(store: SqliteStore) -> None:
    """If the nearest hundred of the index were deleted, the next nearest is found."""
    for number in range(100):
        store.rows.put(SEARCHES, TENANT, embedded(f"gone {number}", vector=near(vector_of("asked"), 0.1, str(number))))
    fill(store, _keys(20))
    settle(store)
    store.rows.delete(SEARCHES, TENANT, [f"gone {number}" for number in range(100)])
    assert keys_near(store, vector_of("asked"), 1) == brute_force(_keys(20), vector_of("asked"), 1)


def test_expired_rows_do_not_hide_fresh_ones_in_the_index(store: SqliteStore) -> None:
    """The fresh row is found even if many expired rows of the index are nearer."""
    for number in range(100):
        vector = near(vector_of("asked"), 0.1, str(number))
        store.rows.put(SEARCHES, TENANT, embedded(f"expired {number}", vector=vector, expires_at=NOW))
    fill(store, _keys(20))
    settle(store)
    assert keys_near(store, vector_of("asked"), 1) == brute_force(_keys(20), vector_of("asked"), 1)


def test_a_vector_in_the_index_that_was_replaced_counts_no_longer(indexed: SqliteStore) -> None:
    """A row is compared by its present vector, before and after that goes to the index."""
    indexed.rows.put(SEARCHES, TENANT, embedded("k7", vector=vector_of("elsewhere")))
    for _ in range(2):
        assert keys_near(indexed, vector_of("elsewhere"), 1) == ["k7"]
        assert ask(indexed, vector_of("k7"), 1)[0][1] < 0.9
        fill(indexed, [f"more {number}" for number in range(LIMIT + 1)])
        settle(indexed)


def test_a_cleared_table_keeps_no_vector(indexed: SqliteStore, path: Path) -> None:
    """After `clear` nothing is near, the index takes no space, and new rows are found."""
    assert indexed.admin.clear(SEARCHES, TENANT) == 200
    assert ask(indexed, vector_of("k7")) == []
    folder = path.with_name(f"{path.name}.chroma")
    assert sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) < 50_000
    assert indexed.admin.verify(repair=False) == []
    indexed.rows.put(SEARCHES, TENANT, embedded("k7"))
    assert keys_near(indexed, vector_of("k7")) == ["k7"]


def test_a_row_that_is_in_the_tail_and_in_the_index_comes_once(store: SqliteStore, path: Path) -> None:
    """Another process may have indexed what this one still holds; few rows are left alive, so all are looked at."""
    fill(store, _keys(LIMIT + 10))
    settle(store)
    asked = vector_of("asked")
    late = [f"late {number}" for number in range(20)]
    for key in [*(f"tail {number}" for number in range(20)), *late]:
        expires_at = NOW + 9 if key in late else NOW + 1
        store.rows.put(SEARCHES, TENANT, embedded(key, vector=near(asked, 0.5, key), expires_at=expires_at))
    ask(store, asked)
    other = opened(path)
    for _ in range(LIMIT - 20):
        other.rows.put(SEARCHES, TENANT, embedded("again", vector=asked, expires_at=NOW + 9))
        ask(other, asked)
    other.close()
    store.rows.delete(SEARCHES, TENANT, _keys(LIMIT + 10))
    assert sorted(keys_near(store, asked, 30, now=NOW + 2)) == sorted([*late, "again"])


def test_reindexing_rebuilds_the_index(indexed: SqliteStore, path: Path) -> None:
    """It returns the number of vectors in the index, which has none of deleted rows any more."""
    indexed.rows.delete(SEARCHES, TENANT, _keys(20))
    assert indexed.admin.reindex() == 180
    assert (
        indexed.listings.stats(SEARCHES, TENANT, NOW).indexed,
        indexed.listings.stats(SEARCHES, TENANT, NOW).tail,
    ) == (180, 0)
    assert_exact(indexed, _keys(200)[20:], 20)


def test_each_scope_has_its_own_index(store: SqliteStore) -> None:
    """Two tenants and two embedders beyond the limit: each finds its own rows only."""
    fill(store, _keys(2 * LIMIT))
    for number in range(2 * LIMIT):
        store.rows.put(SEARCHES, "ann", embedded(f"k{number}"))
        another = embedded(f"other {number}", vector=vector_of(f"k{number}"), embedder="another")
        store.rows.put(SEARCHES, TENANT, another)
    for asked in ({}, {"tenant": "ann"}, {"embedder": "another"}):
        for _ in range(2):
            ask(store, vector_of("any"), **asked)
            store.close()
    assert (
        store.listings.stats(SEARCHES, TENANT, NOW).indexed,
        store.listings.stats(SEARCHES, "ann", NOW).indexed,
    ) == (
        4 * LIMIT,
        2 * LIMIT,
    )
    assert keys_near(store, vector_of("k7"), 1) == ["k7"]
    assert keys_near(store, vector_of("k7"), 1, embedder="another") == ["other 7"]
    store.rows.delete(SEARCHES, "ann", ["k7"])
    assert "k7" not in keys_near(store, vector_of("k7"), tenant="ann")
    assert keys_near(store, vector_of("k7"), 1) == ["k7"]


def test_the_newest_rows_of_a_scope_are_found_by_index(path: Path) -> None:
    """Loading the tail reads one range of an index, whose rows come in order, and not the table."""
    SqliteStore(path).close()
    connection = sqlite3.connect(path)
    plans = {}
    for table in TABLES.values():
        sql = f"SELECT seq FROM {table.name} WHERE {table.in_scope} AND seq > 5 ORDER BY seq"
        marks = ("x",) * (2 + len(table.scope))
        plans[table.name] = " / ".join(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", marks))
    connection.close()
    for name, plan in plans.items():
        assert f"USING COVERING INDEX {name}_scope" in plan
        assert "rowid>?" in plan
        assert "TEMP B-TREE" not in plan


# Loss and damage of the index ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["deleted", "noise", "cut short", "emptied", "a file"])
def test_a_damaged_index_gives_no_wrong_answer_and_is_rebuilt(path: Path, how: str) -> None:
    """In use and before opening: answers stay exact, nothing crashes, and no embedder is called."""
    play("damage_the_index", path, how, module=MODULE)


def test_verify_reports_a_lost_index_and_repairs_it(indexed: SqliteStore, path: Path) -> None:
    """`verify` reports the problem; after `repair` it reports nothing."""
    indexed.close()
    shutil.rmtree(path.with_name(f"{path.name}.chroma"))
    assert "index" in "".join(indexed.admin.verify(repair=False))
    assert "index" in "".join(indexed.admin.verify(repair=True))
    assert indexed.admin.verify(repair=False) == []
    assert indexed.listings.stats(SEARCHES, TENANT, NOW).indexed == 200
    assert_exact(indexed, _keys(200), 20)


def test_verify_reports_noise_in_the_index(indexed: SqliteStore, path: Path) -> None:
    """Changed files of the index are a problem, too."""
    indexed.close()
    for file in path.with_name(f"{path.name}.chroma").rglob("*.bin"):
        file.write_bytes(os.urandom(file.stat().st_size))
    assert "index" in "".join(indexed.admin.verify(repair=False))
    assert "index" in "".join(indexed.admin.verify(repair=True))
    assert indexed.admin.verify(repair=False) == []


def test_a_lost_index_of_a_cleared_table_is_no_problem(indexed: SqliteStore, path: Path) -> None:
    """With no rows to index, no problem is reported, before and after a look-up."""
    indexed.admin.clear(SEARCHES, TENANT)
    indexed.close()
    shutil.rmtree(path.with_name(f"{path.name}.chroma"), ignore_errors=True)
    settle(indexed)
    assert indexed.admin.verify(repair=False) == []


def test_without_chroma_everything_is_found(path: Path) -> None:
    """If it cannot be imported, rows are found beyond any limit, with one warning."""
    play("without_chroma", path, module=MODULE)


def test_a_process_without_chroma_leaves_the_index_of_others(indexed: SqliteStore, path: Path) -> None:
    """It finds rows that others have indexed, and does not remove their index."""
    indexed.close()
    before = {file: file.read_bytes() for file in path.with_name(f"{path.name}.chroma").rglob("manifest.json")}
    assert before
    play("without_chroma", path, module=MODULE)
    assert {file: file.read_bytes() for file in before if file.exists()} == before


def test_a_small_cache_never_imports_chroma(path: Path) -> None:
    """A fresh process finds a row among a thousand without it."""
    store = SqliteStore(path)
    fill(store, _keys(1_000))
    store.close()
    play("answer_without_importing_chroma", path, module=MODULE)


# Other changes under a running process -------------------------------------------------------------------------------


def test_a_file_that_another_store_has_cleared_holds_nothing(indexed: SqliteStore, path: Path) -> None:
    """Rows that one process clears are not near for another; rows put afterwards are."""
    ask(indexed, vector_of("k7"))
    other = opened(path)
    other.admin.clear(SEARCHES, TENANT)
    assert ask(indexed, vector_of("k7")) == []
    other.rows.put(SEARCHES, TENANT, embedded("new"))
    assert keys_near(indexed, vector_of("new")) == ["new"]
    other.close()


def test_another_file_in_the_place_of_the_old_one(indexed: SqliteStore, path: Path, tmp_path: Path) -> None:
    """The next put makes the rows of the new file found, and none of the old one."""
    ask(indexed, vector_of("k7"))
    other = SqliteStore(tmp_path / "other" / "harness.db")
    fill(other, [f"other {number}" for number in range(3 * LIMIT)])
    other.close()
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    shutil.copyfile(other.path, path)
    indexed.rows.put(SEARCHES, TENANT, embedded("new"))
    for _ in range(2):
        assert_exact(indexed, [*(f"other {number}" for number in range(3 * LIMIT)), "new"], 20)
        settle(indexed)


@pytest.mark.parametrize("rows", [10, 200], ids=["in the tail", "in the index"])
def test_a_backup_that_is_restored_in_place(store: SqliteStore, path: Path, tmp_path: Path, rows: int) -> None:
    """Rows put after the backup are gone; rows put after it was restored are found by every process."""
    fill(store, _keys(rows))
    settle(store)
    _copy_database(path, tmp_path / "backup.db")
    fill(store, [f"lost {number}" for number in range(30)])
    assert keys_near(store, vector_of("lost 7"), 1) == ["lost 7"]
    _copy_database(tmp_path / "backup.db", path)
    other = opened(path)
    later = [f"later {number}" for number in range(40)]
    fill(other, later)
    other.close()
    assert_exact(store, [*_keys(rows), *later], 5)


def test_a_copied_database_needs_no_index(indexed: SqliteStore, path: Path, tmp_path: Path) -> None:
    """A copy without the folder of the index finds everything, and later makes its own."""
    _copy_database(path, tmp_path / "copy" / "harness.db")
    copy = opened(tmp_path / "copy" / "harness.db")
    for _ in range(2):
        assert_exact(copy, _keys(200), 20)
        settle(copy)
    assert copy.admin.verify(repair=False) == []
    assert copy.listings.stats(SEARCHES, TENANT, NOW).indexed == 200
    copy.close()


def _copy_database(source: Path, target: Path) -> None:
    target.parent.mkdir(exist_ok=True)
    old, new = sqlite3.connect(source), sqlite3.connect(target)
    old.backup(new)
    old.close()
    new.close()


@forks
def test_forked_children_find_near_rows(path: Path) -> None:
    """A child of a process with an open index asks and puts, as does the parent; both find every row."""
    play("fork_with_an_index", path, module=MODULE)


@forks
def test_a_parent_may_fork_while_its_threads_ask(path: Path) -> None:
    """A child that is forked in the middle of a look-up is not locked out by it."""
    play("fork_while_threads_ask", path, module=MODULE)


# Damaged rows --------------------------------------------------------------------------------------------------------


DAMAGED: dict[str, object] = {
    "cut to one number": b"\0\0\0\1",
    "cut to two": b"\0\0\0\1" * 2,
    "no whole numbers": b"abc",
    "empty": b"",
    "too long": vector_of("k").tobytes() * 2,
    "a number": 5,
    "a text": "text",
    "no number": np.full(32, nan, np.float32).tobytes(),
    "infinite": (np.sign(vector_of("k")) * np.float32(inf)).tobytes(),
    "far too large": (vector_of("k") * np.float32(1e20)).tobytes(),
}

each_damage = pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED)


@each_damage
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_row_with_a_damaged_vector_is_not_near(store: SqliteStore, when: str, damage: object) -> None:
    """It is left out, whether read with others or alone, and the others are still found."""
    if when == "before":
        _put_damaged(store, damage)
    fill(store, [*_keys(5), "good"])
    assert keys_near(store, vector_of("good"), 1) == ["good"]
    if when == "after":
        _put_damaged(store, damage)
    store.rows.put(SEARCHES, TENANT, embedded("last"))
    assert keys_near(store, vector_of("good"), 1) == ["good"]
    assert keys_near(store, vector_of("last"), 1) == ["last"]
    assert [similarity for key, similarity in ask(store, vector_of("damaged"), 100) if key == "damaged"] in ([], [0.0])


@each_damage
def test_a_damaged_vector_does_not_stop_the_index(store: SqliteStore, damage: object) -> None:
    """Rows around it go to the index, and are found with it and after its loss."""
    fill(store, _keys(LIMIT))
    _put_damaged(store, damage)
    fill(store, _keys(2 * LIMIT)[LIMIT:])
    settle(store)
    assert store.listings.stats(SEARCHES, TENANT, NOW).indexed >= 2 * LIMIT
    assert_exact(store, _keys(2 * LIMIT), 10)
    shutil.rmtree(store.vectors._folder)
    assert_exact(store, _keys(2 * LIMIT), 10)


def _put_damaged(store: SqliteStore, embedding: object) -> None:
    store.rows.put(SEARCHES, TENANT, embedded("damaged"))
    sql = "UPDATE search_cache SET embedding = ? WHERE key = 'damaged'"
    store._connections.write(lambda connection: connection.execute(sql, (embedding,)))


# Turns ---------------------------------------------------------------------------------------------------------------


@forks
def test_eight_processes_take_turns(path: Path) -> None:
    """Eight processes count under the lock only; no count is lost."""
    play("count_in_turns", path, module=MODULE)


@forks
def test_a_lock_is_free_when_its_holder_is_killed(path: Path) -> None:
    """Waiting processes continue within two seconds of `kill -9`."""
    play("die_with_the_turn", path, module=MODULE)


def test_locks_leave_few_files(store: SqliteStore, path: Path) -> None:
    """A thousand names leave fewer than a thousand files, and do not affect rows."""
    for number in range(1_000):
        with store.locks.hold(f"name {number}", 0) as mine:
            assert mine
    left = [file for file in path.parent.rglob("*") if file.is_file()]
    assert len(left) < 100
    store.rows.put(SEARCHES, TENANT, an_entry("k"))
    assert store.rows.get(SEARCHES, TENANT, "k") is not None
