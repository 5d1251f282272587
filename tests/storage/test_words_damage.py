"""Damage to the index of words: it is rebuilt, the database is not touched, and no wrong row is found."""

import random
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.core.tables import LIBRARY
from harness.storage.sqlite import words
from harness.storage.sqlite.store import SqliteStore
from tests.storage.entries import TENANT
from tests.storage.indexed_words import (
    ANIMALS,
    ROWS,
    assert_right,
    database,
    every,
    fill,
    overwrite,
    text_of,
)
from tests.storage.scenarios import play
from tests.storage.words import found, passage, put

PAGE = 4_096


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    """Open an empty store."""
    store = SqliteStore(path, busy_seconds=1.0)
    yield store
    store.close()


def _noise(index: Path) -> None:
    rng, content = random.Random(7), bytearray(index.read_bytes())
    for page in rng.sample(range(1, len(content) // PAGE), k=len(content) // PAGE // 2):
        content[page * PAGE : (page + 1) * PAGE] = rng.randbytes(PAGE)
    overwrite(index, bytes(content))


def _broken_link(index: Path) -> None:
    index.unlink()
    index.symlink_to("/nowhere/words")


def _other_database(index: Path) -> None:
    index.unlink()
    with sqlite3.connect(index) as connection:
        connection.execute("CREATE TABLE indexed (x)")
    connection.close()


def _table_dropped(index: Path) -> None:
    with sqlite3.connect(index) as connection:
        (name,) = connection.execute("SELECT name FROM indexed").fetchone()
        connection.execute(f"DROP TABLE {name}")
    connection.close()


def _damaged_schema(index: Path) -> None:
    content = index.read_bytes()
    assert content.count(b"CREATE TABLE indexed") == 1
    overwrite(index, content.replace(b"CREATE TABLE indexed", b"CREATE \xa0ABLE indexed"))


DAMAGES: dict[str, Callable[[Path], None]] = {
    "garbage": lambda index: overwrite(index, random.Random(1).randbytes(50_000)),
    "text": lambda index: overwrite(index, b"not a database"),
    "empty": lambda index: overwrite(index, b""),
    "one byte": lambda index: overwrite(index, b"S"),
    "header only": lambda index: overwrite(index, index.read_bytes()[:100]),
    "truncated to half": lambda index: overwrite(index, index.read_bytes()[: index.stat().st_size // 2]),
    "pages of noise": _noise,
    "zeros": lambda index: overwrite(index, bytes(index.stat().st_size)),
    "deleted": lambda index: index.unlink(),
    "of another program": _other_database,
    "without its table": _table_dropped,
    "with a damaged schema": _damaged_schema,
    "a broken link": _broken_link,
}


@pytest.mark.slow
@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_index_is_rebuilt(store: SqliteStore, path: Path, index: Path, how: str) -> None:
    """The same search finds everything again, and later rows too; the database is not touched."""
    fill(store)
    before = database(path)
    DAMAGES[how](index)
    assert_right(store)
    assert database(path) == before
    put(store, passage(f"{ROWS}", text_of(ROWS)))
    assert_right(store, ROWS + 1)
    assert not list(path.parent.glob("*.damaged-*"))


@pytest.mark.parametrize("value", ["upto = 'x'", "upto = NULL", "upto = x'ff'", "rows = NULL"])
def test_an_index_with_a_damaged_value_is_rebuilt(store: SqliteStore, index: Path, value: str) -> None:
    """Later rows are found although the index does not say how far it has come."""
    fill(store)
    with sqlite3.connect(index) as connection:
        connection.execute(f"UPDATE indexed SET {value}")
    connection.close()
    put(store, passage("new", "an elephant"))
    assert found(store, "elephant") == ["new"]


@pytest.mark.parametrize("how", ["garbage", "truncated to half", "with a damaged schema", "cut in its last page"])
def test_verify_reports_a_damaged_index(store: SqliteStore, index: Path, how: str) -> None:
    """A repair removes the index, and the next search rebuilds it."""
    fill(store)
    assert store.admin.verify(repair=True) == []
    if how in DAMAGES:
        DAMAGES[how](index)
    else:  # a search does not notice it
        overwrite(index, index.read_bytes()[:-1_000])
    for repair in (False, True):
        (problem,) = store.admin.verify(repair=repair)
        assert problem.startswith("the index of words is damaged: ")
    assert_right(store)
    assert store.admin.verify(repair=False) == []


def test_clearing_removes_an_index_with_a_damaged_schema(store: SqliteStore, index: Path) -> None:
    """No word of the cleared rows may stay in it."""
    fill(store)
    _damaged_schema(index)
    assert store.admin.clear(LIBRARY, TENANT) == ROWS
    assert not index.exists()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_flipped_bits_never_give_a_wrong_row(path: Path, index: Path, seed: int) -> None:
    """Results of a damaged index are checked against the rows: no error, and no wrong or expired row."""
    store = SqliteStore(path)
    fill(store, 60)
    put(store, passage("gone", "a zebra", expires_at=1.0))
    found(store, "zebra")
    store.close()
    rng, content = random.Random(seed), bytearray(index.read_bytes())
    for _ in range(200):
        content[rng.randrange(100, len(content))] ^= 1 << rng.randrange(8)
    overwrite(index, bytes(content))
    held = {f"{number}" for number in range(60)}
    for term in (*ANIMALS, "number7", "saw"):
        assert set(every(store, term)) <= held
    store.close()


def test_an_index_that_names_other_rows_reveals_nothing(store: SqliteStore, index: Path) -> None:
    """Rows of another tenant and expired ones are not found, although the index says that they have the word."""
    put(store, passage("own", "a zebra"), passage("expired", "a lion", expires_at=1.0))
    put(store, passage("theirs", "a lion"), tenant="other")
    assert found(store, "zebra") == ["own"]
    with sqlite3.connect(index) as connection:
        (name,) = connection.execute("SELECT name FROM indexed").fetchone()
        connection.execute(f"INSERT INTO {name} (rowid, title, text) VALUES (3, '', 'zebra'), (2, '', 'zebra')")
    connection.close()
    assert found(store, "zebra") == ["own"]


@pytest.mark.slow
def test_an_index_that_is_only_readable_is_replaced() -> None:
    """The folder is writable, so a search replaces the index and finds later rows."""
    play("read_only_index", module="tests.storage.word_scenes")


def test_a_folder_in_place_of_the_index_is_no_obstacle(
    store: SqliteStore, index: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A folder cannot be replaced: a search by words warns and finds nothing."""
    put(store, passage("a", "a zebra"))
    index.mkdir()
    assert found(store, "zebra") == []
    assert "the index of words cannot be written" in caplog.text


@pytest.mark.slow
def test_a_read_only_folder_is_no_obstacle() -> None:
    """A search by words raises no error, although it cannot write an index."""
    play("read_only_folder", module="tests.storage.word_scenes")


def test_an_index_that_is_locked_is_left_alone(
    store: SqliteStore, index: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A lock of another program gives a warning and no result, but no rebuild. Afterwards all rows are found."""
    monkeypatch.setattr(words, "BUSY_SECONDS", 0.1)
    fill(store)
    put(store, passage("new", "a giraffe"))
    inode = index.stat().st_ino
    other = sqlite3.connect(index, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert found(store, "giraffe") == []
    assert "locked" in caplog.text
    other.execute("ROLLBACK")
    other.close()
    assert found(store, "giraffe") == ["new"]
    assert index.stat().st_ino == inode


def test_without_words_nothing_is_opened(store: SqliteStore, index: Path) -> None:
    """No index is made for an empty list or for words without letters."""
    put(store, passage("a", "a zebra"))
    assert found(store) == found(store, "", '"', "\0") == []
    assert not index.exists()
