"""The index of words of a SQLite file: a copy of the current rows, for all processes and tenants."""

import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.core.search_words import FORM
from harness.core.tables import LIBRARY
from harness.storage.sqlite import words
from harness.storage.sqlite.store import SqliteStore
from tests.storage.entries import TENANT
from tests.storage.indexed_words import (
    ANIMALS,
    ROWS,
    every,
    fill,
    overwrite,
    rare_words,
    raw,
    still_there,
    text_of,
)
from tests.storage.scenarios import play
from tests.storage.words import found, passage, put


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    """Open an empty store."""
    store = SqliteStore(path, busy_seconds=1.0)
    yield store
    store.close()


# --- rows of another moment


def test_a_restored_backup_gives_its_own_rows(store: SqliteStore, path: Path, index: Path) -> None:
    """The index is newer than the backup, and rows with the same numbers had other words."""
    put(store, *(passage(f"old {number}", "alpha") for number in range(5)))
    assert len(found(store, "alpha")) == 5
    store.close()
    shutil.copyfile(path, path.with_name("backup"))
    put(store, *(passage(f"lost {number}", "beta") for number in range(5)))
    assert len(found(store, "beta")) == 5
    store.close()
    overwrite(path, path.with_name("backup").read_bytes())
    assert found(store, "beta") == []
    assert every(store, "alpha") == [f"old {number}" for number in range(5)]
    put(store, *(passage(f"new {number}", "gamma") for number in range(7)))
    assert found(store, "beta") == []
    assert every(store, "gamma") == [f"new {number}" for number in range(7)]


def test_a_restored_backup_with_few_new_rows_gives_them(store: SqliteStore, path: Path) -> None:
    """Fewer than were lost: the last row of the index is not there yet."""
    put(store, passage("old", "alpha"))
    store.close()
    shutil.copyfile(path, path.with_name("backup"))
    put(store, *(passage(f"lost {number}", "beta") for number in range(5)))
    assert len(found(store, "beta")) == 5
    store.close()
    overwrite(path, path.with_name("backup").read_bytes())
    put(store, passage("new", "gamma"))
    assert found(store, "beta") == []
    assert found(store, "gamma") == ["new"]


def test_a_backup_that_was_written_to_gives_its_own_rows(store: SqliteStore, path: Path) -> None:
    """The rows written before the first search are as many as the index has, so their numbers are the same."""
    put(store, *(passage(f"old {number}", "alpha") for number in range(5)))
    assert len(found(store, "alpha")) == 5
    store.close()
    shutil.copyfile(path, path.with_name("backup"))
    put(store, *(passage(f"lost {number}", "beta") for number in range(5)))
    assert len(found(store, "beta")) == 5
    store.close()
    overwrite(path, path.with_name("backup").read_bytes())
    put(store, *(passage(f"new {number}", "gamma") for number in range(5)))
    assert found(store, "beta") == []
    assert every(store, "gamma") == [f"new {number}" for number in range(5)]


def test_a_new_database_with_an_old_index(store: SqliteStore, path: Path) -> None:
    """Only the database was deleted: no old row is found."""
    fill(store)
    store.close()
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    assert found(store, "zebra") == []
    put(store, passage("new", "a zebra"))
    assert found(store, "zebra") == ["new"]


def test_rows_of_another_process_are_found_at_once(store: SqliteStore, path: Path) -> None:
    """Written, replaced and deleted by another connection, before and after the first search."""
    other = SqliteStore(path)
    put(other, passage("a", "a zebra"))
    assert found(store, "zebra") == ["a"]
    put(other, passage("b", "one more zebra"), passage("a", "a lion"))
    assert found(store, "zebra") == ["b"]
    assert found(store, "lion") == ["a"]
    put(store, passage("c", "a zebra of mine"))
    assert every(other, "zebra") == ["b", "c"]
    other.rows.delete(LIBRARY, TENANT, ["b"])
    assert found(store, "zebra") == ["c"]
    other.close()


@pytest.mark.slow
def test_a_separate_process_and_this_one_share_the_index(store: SqliteStore, path: Path, index: Path) -> None:
    """Rows of the other process are added, and the file stays the same."""
    fill(store, 10)
    inode = index.stat().st_ino
    play("put_and_find", path, "theirs", module="tests.storage.word_scenes")
    assert found(store, "theirs") == ["theirs"]
    assert index.stat().st_ino == inode


def test_rewritten_rows_do_not_fill_the_index(store: SqliteStore, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index is rebuilt once most of its rows are gone. Results stay the same."""
    monkeypatch.setattr(words, "SLACK", 20)
    for version in range(20):
        put(store, *(passage(f"{number}", f"zebra number {number} of version{version}") for number in range(10)))
        assert len(found(store, "zebra")) == 10
        assert every(store, "version0") == ([] if version else sorted(map(str, range(10))))
    with sqlite3.connect(index) as connection:
        (rows,) = connection.execute("SELECT rows FROM indexed").fetchone()
    connection.close()
    assert 10 <= rows <= 40


def test_many_rows_are_indexed_in_batches(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """No row is missed at the end of a batch."""
    monkeypatch.setattr(words, "BATCH", 10)
    for count in (9, 10, 11, 20, 35):
        store.admin.clear(LIBRARY, TENANT)
        put(store, *(passage(f"{number}", text_of(number)) for number in range(count)))
        assert every(store, *ANIMALS) == sorted(f"{number}" for number in range(count))


# --- cleared rows


def test_words_of_cleared_rows_leave_the_file(store: SqliteStore, index: Path) -> None:
    """Words of rows that were replaced or deleted earlier go too; another tenant's stay."""
    rare = rare_words(400)
    for number in range(0, 400, 10):
        put(store, passage(f"{number}", " ".join(rare[number : number + 10])))
        found(store, "x")
    put(store, *(passage(f"{number}", "replaced") for number in range(0, 100, 10)))
    store.rows.delete(LIBRARY, TENANT, ["200", "210"])
    put(store, passage("theirs", "xylophonequartet"), tenant="other")
    found(store, "replaced")
    found(store, "x", tenant="other")
    assert len(still_there(index, rare)) > 300
    store.admin.clear(LIBRARY, TENANT)
    assert still_there(index, rare) == []
    assert b"replaced" not in raw(index)
    assert found(store, "xylophonequartet", tenant="other") == ["theirs"]
    assert found(store, "replaced") == found(store, rare[0]) == []


def test_words_of_cleared_rows_leave_the_file_of_any_sqlite(
    store: SqliteStore, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite's own default keeps deleted content in the file. Debian's build overwrites it."""
    connect = sqlite3.connect

    def with_default(place: Any, *arguments: Any, **named: Any) -> sqlite3.Connection:
        made: sqlite3.Connection = connect(place, *arguments, **named)
        if str(place).endswith(".words"):
            made.execute("PRAGMA secure_delete = OFF")
        return made

    monkeypatch.setattr(sqlite3, "connect", with_default)
    rare = rare_words(3_000)
    for number in range(0, 3_000, 10):
        put(store, passage(f"{number}", " ".join(rare[number : number + 10])))
        found(store, "x")  # each search adds a segment; FTS5 merges segments, and frees the merged ones
    store.admin.clear(LIBRARY, TENANT)
    assert still_there(index, rare) == []


def test_words_of_a_forgotten_tenant_leave_the_file(store: SqliteStore, index: Path) -> None:
    """`forget` deletes them as `clear` does."""
    (word,) = rare_words(1)
    put(store, passage("a", word))
    assert found(store, word) == ["a"]
    store.admin.forget(TENANT)
    assert still_there(index, [word]) == []


def test_clearing_needs_no_sound_index(store: SqliteStore, path: Path, index: Path) -> None:
    """A damaged index is removed with all its words."""
    fill(store)
    overwrite(index, b"zebra" * 10_000)
    assert store.admin.clear(LIBRARY, TENANT) == ROWS
    assert b"zebra" not in raw(index)
    assert found(store, "zebra") == []


# --- tenants and threads


def test_many_tenants_share_the_file(store: SqliteStore) -> None:
    """Every tenant finds its own rows; clearing one leaves the others."""
    tenants = [f"team-{number}" for number in range(40)]
    for number, tenant in enumerate(tenants):
        put(store, passage(f"{number}", f"a zebra of team{number}"), passage("same", "a lion"), tenant=tenant)
    for number, tenant in enumerate(tenants):
        assert found(store, "zebra", tenant=tenant) == [f"{number}"]
        assert found(store, "lion", tenant=tenant) == ["same"]
        assert found(store, f"team{(number + 1) % 40}", tenant=tenant) == []
    for tenant in tenants[::2]:
        store.admin.clear(LIBRARY, tenant)
    assert [len(found(store, "zebra", tenant=tenant)) for tenant in tenants] == [0, 1] * 20


def test_rows_of_other_tenants_weigh_no_words(store: SqliteStore) -> None:
    """A word that is rare here counts for much, however common it is elsewhere."""
    put(store, passage("common", "a lion and a lion"), passage("rare", "a lion and one zebra"))
    put(store, *(passage(f"lion {number}", "a lion") for number in range(20)))
    alone = found(store, "zebra", "lion")
    assert alone[0] == "rare"
    put(store, *(passage(f"{number}", "zebra zebra") for number in range(200)), tenant="other")
    found(store, "zebra", tenant="other")
    assert found(store, "zebra", "lion") == alone


def test_threads_search_while_one_writes(store: SqliteStore) -> None:
    """No search fails or misses rows, and a writer finds its rows at once."""
    fill(store, 30)
    ended = threading.Event()
    failed: list[str] = []
    searches = [0, 0]

    def search(place: int) -> None:
        while not ended.is_set():
            try:
                keys = found(store, "zebra", "written", k=1_000)
            except Exception as error:  # noqa: BLE001 - reported below
                failed.append(repr(error))
                return
            searches[place] += 1
            if not {f"{number}" for number in range(0, 30, 3)} <= set(keys):
                failed.append(f"rows are missing: {keys}")

    threads = [threading.Thread(target=search, args=(place,)) for place in range(2)]
    for thread in threads:
        thread.start()
    for number in range(100):
        put(store, passage(f"w{number}", f"written{number} and written"))
        if found(store, f"written{number}") != [f"w{number}"]:
            failed.append(f"written {number} is not found")
    ended.set()
    for thread in threads:
        thread.join()
    assert failed == []
    assert min(searches) > 0
    assert len(every(store, "written")) == 100


@pytest.mark.slow
def test_threads_search_while_the_index_is_lost(store: SqliteStore, index: Path) -> None:
    """Searches find all rows or, for a moment, none; afterwards all."""
    fill(store, 60)
    wanted = {f"{number}" for number in range(0, 60, 3)}
    ended = threading.Event()
    failed: list[str] = []

    def search() -> None:
        while not ended.is_set():
            try:
                keys = set(found(store, "zebra", k=1_000))
            except Exception as error:  # noqa: BLE001 - reported below
                failed.append(repr(error))
                return
            if not keys <= wanted:
                failed.append(f"{keys}")

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(15):
        for suffix in ("", "-wal", "-shm"):
            index.with_name(index.name + suffix).unlink(missing_ok=True)
        threading.Event().wait(0.02)
    ended.set()
    for thread in threads:
        thread.join()
    assert failed == []
    assert set(every(store, "zebra")) == wanted


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_searches(store: SqliteStore, path: Path) -> None:
    """A child uses the index of its parent, and the parent finds the rows of the child."""
    play("fork_and_find", path, module="tests.storage.word_scenes")
    assert found(store, "child") == ["child"]


# --- words in another form


def test_an_index_of_words_in_another_form_is_made_again(store: SqliteStore, path: Path, index: Path) -> None:
    """One of an older program: once, and no word of it stays; the database does not change."""
    put(store, passage("zh", "他喝绿茶。"), passage("en", "They drink tea."))
    assert found(store, "tea") == ["en"]
    store.close()
    before = path.read_bytes()
    with closing(sqlite3.connect(index)) as older:
        ((name,),) = older.execute("SELECT name FROM indexed").fetchall()
        older.execute(f"DROP TABLE {name}")
        older.execute(f"CREATE VIRTUAL TABLE {name} USING fts5 (title, text, content = '', tokenize = 'porter')")
        older.execute(f"INSERT INTO {name} (rowid, text) VALUES (1, '他喝绿茶。'), (2, 'They drink tea zebra.')")
        older.execute("PRAGMA user_version = 0")
        older.commit()
    store = SqliteStore(path, busy_seconds=1.0)
    assert found(store, "绿茶") == ["zh"]
    assert found(store, "tea") == ["en"]
    assert found(store, "zebra") == []
    with closing(sqlite3.connect(index)) as now:
        assert now.execute("PRAGMA user_version").fetchone() == (FORM,)
        changes = now.execute("SELECT * FROM indexed").fetchall()
    assert found(store, "喝绿") == ["zh"]
    with closing(sqlite3.connect(index)) as now:
        assert now.execute("SELECT * FROM indexed").fetchall() == changes
    store.close()
    assert path.read_bytes() == before


def test_an_index_that_another_process_has_emptied_and_filled_stays(store: SqliteStore, index: Path) -> None:
    """Two programs open an index of an older form at once: the second one waited to empty it, too."""
    put(store, passage("zh", "喝绿茶。"))
    assert found(store, "绿茶") == ["zh"]
    with closing(sqlite3.connect(index, isolation_level=None)) as second:
        words._empty(second)
        assert second.execute("SELECT count(*) FROM indexed").fetchone() == (1,)
