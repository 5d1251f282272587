"""A damaged file is replaced by one with the rows that can still be read."""

import sqlite3
from pathlib import Path

import pytest

from harness.core.tables import LIBRARY
from harness.storage.sqlite import salvage as salvaging
from harness.storage.sqlite.migrations import RECORD
from harness.storage.sqlite.salvage import salvage
from harness.storage.sqlite.store import SqliteStore
from tests.storage.entries import RESEARCH, SEARCHES, TENANT, an_entry
from tests.storage.words import found, passage, put

pytestmark = pytest.mark.slow

ROWS = 120
PAGE = 4_096


@pytest.fixture
def filled(path: Path) -> Path:
    """Make a database with `ROWS` searches of about 600 bytes, of two tenants, and a few other rows."""
    store = SqliteStore(path)
    for number in range(ROWS):
        store.rows.put(SEARCHES, TENANT, an_entry(f"k{number}", text=f"text of k{number} {'x' * 500}", payload=b"[]"))
    store.rows.put(SEARCHES, "bob", an_entry("k1", payload=b"[]"))
    store.rows.put(RESEARCH, TENANT, an_entry("r", RESEARCH))
    put(store, passage("p", "tea and coffee"))
    store.rows.put(SEARCHES, TENANT, an_entry("last"))
    store.rows.delete(SEARCHES, TENANT, ["last"])
    store.close()
    return path


def pages_of(path: Path, content: bytes) -> list[int]:
    """Return the numbers (0 is the first) of the pages that hold these bytes."""
    held = path.read_bytes()
    return [at // PAGE for at in range(0, len(held), PAGE) if content in held[at : at + PAGE]]


def overwrite(path: Path, page: int) -> None:
    """Fill a page with bytes that are none of a database."""
    with path.open("r+b") as file:
        file.seek(page * PAGE)
        file.write(b"\xa5" * PAGE)


def kept(store: SqliteStore) -> list[str]:
    """Return the keys of the searches that are there."""
    return [entry.key for entry in store.listings.scan(SEARCHES, TENANT)]


def test_all_rows_but_those_of_a_damaged_page_are_kept(filled: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Keep those of every table and tenant. The new file is sound, and gives no number twice; the damaged one stays."""
    (page, *_) = pages_of(filled, b"text of k50 ")
    overwrite(filled, page)
    damaged = filled.read_bytes()
    store = SqliteStore(filled)
    assert store.admin.verify(repair=True) != []
    keys = kept(store)
    assert ROWS - 10 < len(keys) < ROWS
    assert {"k0", "k119"} <= set(keys)
    assert "k50" not in keys
    assert store.rows.get(SEARCHES, "bob", "k1") is not None
    assert store.rows.get(RESEARCH, TENANT, "r") is not None
    assert found(store, "tea") == ["p"]
    assert store.admin.verify(repair=False) == []
    store.rows.put(SEARCHES, TENANT, an_entry("new"))
    store.close()
    with sqlite3.connect(filled) as connection:
        (number,) = connection.execute("SELECT seq FROM search_cache WHERE key = 'new'").fetchone()
    assert number == ROWS + 3
    (aside,) = [each for each in filled.parent.iterdir() if ".damaged-" in each.name]
    assert aside.read_bytes() == damaged
    assert f"with the {len(keys) + 3} rows that can be read" in caplog.text


def test_a_damaged_record_of_migrations_loses_no_row(filled: Path) -> None:
    """The record is written again."""
    with sqlite3.connect(filled) as connection:
        connection.execute(f"UPDATE {RECORD} SET name = '8019-audits' WHERE name = '0019-audits'")
    connection.close()
    store = SqliteStore(filled)
    assert len(kept(store)) == ROWS
    store.close()


def test_a_changed_row_is_not_served(filled: Path) -> None:
    """Rows that can be read may have changed: their checksums tell, as in any file."""
    (page, *_) = pages_of(filled, b"text of k70 ")
    overwrite(filled, page)
    content = filled.read_bytes()
    assert content.count(b"text of k30 ") == 1
    filled.write_bytes(content.replace(b"text of k30 ", b"text of k31 "))
    new = filled.with_name("new.db")
    assert salvage(filled, new) > ROWS - 10
    store = SqliteStore(new)
    assert store.rows.get(SEARCHES, TENANT, "k29") is not None
    assert store.rows.get(SEARCHES, TENANT, "k30") is None
    store.close()


def test_numbers_far_apart_take_no_time(filled: Path) -> None:
    """Rows are found whatever their numbers are."""
    with sqlite3.connect(filled) as connection:
        connection.execute(f"UPDATE search_cache SET seq = {2**62} WHERE key = 'k3'")
        connection.execute("UPDATE search_cache SET seq = 40000000 WHERE key = 'k4'")
    connection.close()
    new = filled.with_name("new.db")
    assert salvage(filled, new) == ROWS + 3
    assert not new.with_name("new.db.part").exists()


@pytest.mark.parametrize("last", ["9223372036854775807", "'many'", "-1"])
def test_a_damaged_last_number_leaves_numbers_for_new_rows(filled: Path, last: str) -> None:
    """It is not taken over."""
    with sqlite3.connect(filled) as connection:
        connection.execute(f"UPDATE sqlite_sequence SET seq = {last} WHERE name = 'search_cache'")
    connection.close()
    new = filled.with_name("new.db")
    assert salvage(filled, new) == ROWS + 3
    store = SqliteStore(new)
    store.rows.put(SEARCHES, TENANT, an_entry("new"))
    assert store.rows.get(SEARCHES, TENANT, "new") is not None
    store.close()


def test_a_table_that_cannot_be_read_is_given_up(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a number of failures; the others are kept."""
    with sqlite3.connect(filled) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'search_cache'").fetchone()
    connection.close()
    overwrite(filled, page - 1)
    monkeypatch.setattr(salvaging, "MAX_FAILURES", 20)
    new = filled.with_name("new.db")
    assert salvage(filled, new) == 2
    store = SqliteStore(new)
    assert kept(store) == []
    assert store.rows.get(RESEARCH, TENANT, "r") is not None
    assert store.listings.stats(LIBRARY, TENANT, 0).total == 1
    store.close()


@pytest.mark.parametrize("content", [b"", b"no database", b"\0" * PAGE, b"SQLite format 3\0" + b"\xa5" * 9_000])
def test_nothing_is_kept_of_what_is_no_database(path: Path, content: bytes) -> None:
    """No file is made then, nor where a table has other columns: another program's, or an older one's."""
    path.write_bytes(content)
    new = path.with_name("new.db")
    assert salvage(path, new) == 0
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE search_cache (key, text)")
        connection.execute("INSERT INTO search_cache VALUES ('k', 't')")
    connection.close()
    assert salvage(path, new) == 0
    assert sorted(each.name for each in path.parent.iterdir()) == [path.name]
