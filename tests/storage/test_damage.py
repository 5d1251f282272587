"""Damage is reported, kept aside and replaced; a deleted file is made again; a failed write raises an error."""

import logging
import os
import random
import re
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.cache import Cache, ResearchContext
from harness.core.entries import Hit, Miss
from harness.errors import StoreError
from harness.storage.sqlite.connections import SqliteConnections
from harness.storage.sqlite.store import SqliteStore
from tests.storage.embedded import EMBEDDER, ask, vector_of
from tests.storage.entries import NOW, RESEARCH, SEARCHES, TENANT, an_entry
from tests.storage.scenarios import play

pytestmark = pytest.mark.slow

ROWS = 200
PAGE = 4_096

Log = pytest.LogCaptureFixture


@pytest.fixture
def filled(path: Path) -> Path:
    """Make a database with `ROWS` searches (`k0`, `k1`, …) that is not open."""
    store = SqliteStore(path)
    for number in range(ROWS):
        store.rows.put(SEARCHES, TENANT, an_entry(f"k{number}", payload=b"x" * 500))
    store.close()
    return path


# A file that is no database ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [b"a short note", b"My notes, which are no database.\n" * 500, random.Random(1).randbytes(20_000), b"\0" * PAGE],
    ids=["a short text", "text", "noise", "zeros"],
)
def test_a_file_that_is_no_database_is_kept_aside(path: Path, content: bytes, caplog: Log) -> None:
    """It is moved to a dated name with every byte, a warning says where to, and an empty store takes its place."""
    path.write_bytes(content)
    store = SqliteStore(path)
    assert _only_aside(path).read_bytes() == content
    _assert_reported(path, caplog)
    _assert_works(store, path)


def test_an_empty_file_is_a_new_store(path: Path, caplog: Log) -> None:
    """A file without content, as `touch` makes it, is neither reported nor kept."""
    path.touch()
    store = SqliteStore(path)
    assert not _asides(path)
    assert not caplog.records
    _assert_works(store, path)


def test_each_damaged_file_is_kept(path: Path) -> None:
    """A second damage within the same second does not overwrite the file kept from the first."""
    for content in (b"first" * 1_000, b"second" * 1_000, b"third" * 1_000):
        path.write_bytes(content)
        SqliteStore(path).close()
    assert {aside.read_bytes()[:5] for aside in _asides(path)} == {b"first", b"secon", b"third"}


def test_a_folder_in_the_place_of_the_file_is_an_error(path: Path) -> None:
    """A folder of that name is left alone, with what is in it; the error names it and says what to do."""
    path.mkdir()
    (path / "mine.txt").write_text("mine")
    with pytest.raises(StoreError, match=re.escape(str(path)) + ".*--data-dir"):
        SqliteStore(path)
    assert (path / "mine.txt").read_text() == "mine"
    assert not _asides(path)


# A damaged database --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [100, PAGE, 3 * PAGE, 3 * PAGE + 17], ids=str)
def test_a_file_that_was_cut_off_is_kept_aside(filled: Path, kept: int, caplog: Log) -> None:
    """A truncated database is detected, wherever it was cut, and replaced."""
    cut = filled.read_bytes()[:kept]
    filled.write_bytes(cut)
    store = SqliteStore(filled)
    store.rows.get(SEARCHES, TENANT, "k0")
    assert _only_aside(filled).read_bytes() == cut
    _assert_reported(filled, caplog)
    _assert_works(store, filled)


@pytest.mark.parametrize(("name", "kept"), [("search_cache", False), ("sqlite_autoindex_search_cache_1", True)])
def test_damage_may_show_at_a_look_up(filled: Path, name: str, kept: bool, caplog: Log) -> None:
    """If opening works and reading fails, the damage is reported, and the file kept. The look-up finds the row if it
    can be read without the damaged index, else nothing.
    """
    _noise(filled, _root_page(filled, name))
    damaged = filled.read_bytes()
    store = SqliteStore(filled)
    assert not _asides(filled)
    assert (store.rows.get(SEARCHES, TENANT, "k7") is not None) == kept
    assert _only_aside(filled).read_bytes() == damaged
    _assert_reported(filled, caplog)
    _assert_works(store, filled)


@pytest.mark.parametrize(
    "use",
    [
        lambda store: store.rows.put(SEARCHES, TENANT, an_entry("k7")),
        lambda store: store.rows.put(SEARCHES, TENANT, an_entry("new"), sweep_before=NOW + 9_999),
        lambda store: store.rows.touch(SEARCHES, TENANT, "k7", NOW),
        lambda store: store.rows.sweep(SEARCHES, TENANT, NOW + 9_999),
        lambda store: store.admin.clear(SEARCHES, TENANT),
        lambda store: store.listings.stats(SEARCHES, TENANT, NOW),
        lambda store: list(store.listings.scan(SEARCHES, TENANT)),
        lambda store: ask(store, vector_of("k7")),
        lambda store: store.nearest.embed(SEARCHES, TENANT, "k7", vector_of("k7").tobytes(), EMBEDDER),
        lambda store: store.rows.delete(SEARCHES, TENANT, ["k7"]),
        lambda store: store.nearest.unembedded(SEARCHES, TENANT, EMBEDDER, 10),
    ],
    ids="put, put and sweep, touch, sweep, clear, stats, scan, nearest, embed, delete, unembedded".split(", "),
)
def test_every_method_survives_damage(filled: Path, use: Callable[[SqliteStore], object]) -> None:
    """Any method that finds the damage does its work on the store that replaces the damaged one."""
    for name in ("search_cache", "sqlite_autoindex_search_cache_1", "search_cache_expires_at", "search_cache_scope"):
        _noise(filled, _root_page(filled, name))
    damaged = filled.read_bytes()
    store = SqliteStore(filled)
    use(store)
    assert _only_aside(filled).read_bytes() == damaged
    _assert_works(store, filled)


@pytest.mark.parametrize("seed", range(12))
def test_noise_in_the_middle_never_stops_the_store(filled: Path, seed: int) -> None:
    """Wherever the noise is, look-ups answer or miss, none raises, and the store takes rows again."""
    rng = random.Random(seed)
    content = bytearray(filled.read_bytes())
    for _ in range(rng.randrange(1, 8)):
        start = rng.randrange(PAGE, len(content))
        noise = rng.randbytes(rng.choice([1, 64, PAGE]))
        content[start : start + len(noise)] = noise
    filled.write_bytes(content[: filled.stat().st_size])
    store = SqliteStore(filled)
    for number in range(ROWS):
        store.rows.get(SEARCHES, TENANT, f"k{number}")
    _assert_works(store, filled)


@pytest.mark.parametrize("seed", range(12))
def test_noise_in_the_header_never_stops_the_store(filled: Path, seed: int, caplog: Log) -> None:
    """Wherever the noise in the file's header begins, the file opens as it is, or is kept aside and replaced."""
    rng = random.Random(seed)
    start = rng.randrange(100)
    content = filled.read_bytes()
    damaged = content[:start] + rng.randbytes(100 - start) + content[100:]
    filled.write_bytes(damaged)
    store = SqliteStore(filled)
    for aside in _asides(filled):
        assert aside.read_bytes() == damaged
        _assert_reported(filled, caplog)
    _assert_works(store, filled)


@pytest.mark.parametrize("what", [b"stored title", b"The query"], ids=["answer", "query"])
def test_a_damaged_text_does_not_stop_its_query(path: Path, what: bytes) -> None:
    """If bytes of a row are not text any more, its query is searched again if needed, then answered."""
    cache = Cache(SqliteStore(path))
    cache.searches.answer("The query", lambda _query, _count: [{"title": "stored title"}])
    cache.store.close()
    _break_text(path, what)
    cache.searches.answer("The query", lambda _query, _count: [{"title": "found again"}])
    assert isinstance(cache.searches.find("The query"), Hit)


@pytest.mark.parametrize("what", [b"gathered text", b"The task", b"round one"], ids=["context", "task", "rounds"])
def test_a_damaged_text_does_not_stop_its_research(path: Path, what: bytes) -> None:
    """A research whose bytes are not text any more does not raise, and can be put again."""
    cache = Cache(SqliteStore(path))
    research = ResearchContext("gathered text", ["round one"], [1.0])
    cache.researches.put("The task", "overview", research)
    cache.store.close()
    _break_text(path, what)
    cache.researches.find("The task", "overview")
    cache.researches.put("The task", "overview", research)
    found = cache.researches.find("The task", "overview")
    assert isinstance(found, Hit)
    assert found.value == research


def test_an_index_that_names_no_row_is_made_anew(filled: Path) -> None:
    """A key whose index entry has no row is found without the index, and can be put again."""
    content = filled.read_bytes()
    entry = f"{TENANT}k150".encode()
    rows_id, no_rows_id = (number.to_bytes(2, "big") for number in (151, 32_767))
    assert content.count(entry + rows_id) == 1
    filled.write_bytes(content.replace(entry + rows_id, entry + no_rows_id))
    store = SqliteStore(filled)
    assert store.rows.get(SEARCHES, TENANT, "k150") is not None
    store.rows.put(SEARCHES, TENANT, an_entry("k150"))
    assert _found_anew(filled, "k150")


def test_the_log_of_a_damaged_file_is_kept_with_it(filled: Path, tmp_path: Path) -> None:
    """Rows that a killed process left in the log of a file that is then damaged can still be recovered."""
    store = SqliteStore(filled)
    store.rows.put(RESEARCH, TENANT, an_entry("k", RESEARCH, payload=b"only in the log"))
    killed = tmp_path / "killed" / "harness.db"
    killed.parent.mkdir()
    for suffix in ("", "-wal"):  # as they lie there when the process is killed now
        killed.with_name(killed.name + suffix).write_bytes(filled.with_name(filled.name + suffix).read_bytes())
    store.close()
    killed.write_bytes(random.Random(2).randbytes(PAGE) + killed.read_bytes()[PAGE:])
    _assert_works(SqliteStore(killed), killed)
    kept = b"".join(aside.read_bytes() for aside in killed.parent.glob("harness.db.damaged-*"))
    assert b"only in the log" in kept


# Damage and loss while the store is open -----------------------------------------------------------------------------


def test_damage_that_appears_while_open_is_a_miss(filled: Path, caplog: Log) -> None:
    """A file that is damaged under an open store is reported, kept aside and replaced at the next look-up."""
    store = SqliteStore(filled)
    _noise(filled, _root_page(filled, "search_cache"))
    damaged = filled.read_bytes()
    assert store.rows.get(SEARCHES, TENANT, "k7") is None
    assert _only_aside(filled).read_bytes() == damaged
    _assert_reported(filled, caplog)
    _assert_works(store, filled)


def test_every_open_store_changes_to_the_new_file(filled: Path) -> None:
    """After one store has replaced a damaged file, another open store uses the same new one."""
    one, other = SqliteStore(filled), SqliteStore(filled)
    for name in ("search_cache", "sqlite_autoindex_search_cache_1"):
        _noise(filled, _root_page(filled, name))
    one.rows.put(SEARCHES, TENANT, an_entry("from one"))
    other.rows.put(SEARCHES, TENANT, an_entry("from the other"))
    assert len(_asides(filled)) == 1
    for key in ("from one", "from the other"):
        assert one.rows.get(SEARCHES, TENANT, key) is not None
        assert _found_anew(filled, key)


@pytest.mark.parametrize("how", ["deleted", "deleted with its log", "moved away", "deleted with its folder"])
def test_the_next_put_recreates_a_deleted_file(path: Path, how: str, tmp_path: Path) -> None:
    """Deleting or moving the file of an open store loses its rows, but no later put."""
    path = tmp_path / "folder" / "harness.db"
    store = SqliteStore(path)
    store.rows.put(SEARCHES, TENANT, an_entry("before"))
    _remove(path, how)
    store.rows.put(SEARCHES, TENANT, an_entry("after"))
    assert store.rows.get(SEARCHES, TENANT, "after") is not None
    assert _found_anew(path, "after")
    store.close()
    assert _found_anew(path, "after")


def test_a_moved_file_keeps_its_rows(path: Path) -> None:
    """Rows in a file that was closed and moved away (so without a log) are still in it."""
    store = SqliteStore(path)
    store.rows.put(SEARCHES, TENANT, an_entry("before"))
    store.close()
    store.rows.get(SEARCHES, TENANT, "before")
    moved = path.rename(path.with_name("moved.db"))
    store.rows.put(SEARCHES, TENANT, an_entry("after"))
    store.close()
    assert _found_anew(moved, "before")
    assert not _found_anew(moved, "after")


@pytest.mark.parametrize("how", ["deleted", "deleted with its log", "moved away"])
def test_another_process_may_still_have_the_deleted_file(path: Path, how: str) -> None:
    """A put succeeds and is found, although another process has not noticed yet that the file is gone."""
    path = path.parent / "folder" / "harness.db"
    holder = SqliteStore(path)
    holder.rows.put(SEARCHES, TENANT, an_entry("before"))
    _remove(path, how)
    play("put", path, "after")
    assert _found_anew(path, "after")
    holder.rows.put(SEARCHES, TENANT, an_entry("later"))
    for key in ("after", "later"):
        assert _found_anew(path, key)


@pytest.mark.parametrize("how", ["deleted", "deleted with its log", "moved away", "damaged"])
def test_threads_survive_the_loss_of_the_file(filled: Path, how: str) -> None:
    """If the file is deleted or damaged while eight threads use it, no call fails, and no later put is lost."""
    play("lose_the_file_under_threads", filled, how)


# What cannot be written ----------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="a folder that even root cannot write: /proc")
def test_a_place_that_cannot_be_written_is_an_error() -> None:
    """The error names the place and what to do."""
    with pytest.raises(StoreError, match=r"/proc/harness.*choose another --data-dir"):
        SqliteStore(Path("/proc/harness/harness.db"))


def test_a_file_in_the_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    """A file where the data directory should be is left alone; the error names the path and what to do."""
    (tmp_path / "data").write_text("mine")
    with pytest.raises(StoreError, match=r"harness\.db.*choose another --data-dir"):
        SqliteStore(tmp_path / "data" / "harness.db")
    assert (tmp_path / "data").read_text() == "mine"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_folder_that_may_only_be_read_is_an_error() -> None:
    """Without the right to write, the error says what to do, and the file stays as it is."""
    play("write_without_the_right_to")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("kind", ["closed", "with a log", "of an older program"])
def test_a_folder_that_may_only_be_read_can_be_read(kind: str) -> None:
    """Without the right to write, reading commands work; those that write say that the database is read-only."""
    play("read_without_the_right_to_write", kind)


def test_a_full_disk_is_an_error_that_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A put that no longer fits is refused by name; what was acknowledged before is there, here and after reopening."""
    store = _on_a_small_disk(path, monkeypatch)
    stored = _fill(store)
    assert stored
    assert all(store.rows.get(SEARCHES, TENANT, key) for key in stored)
    store.close()
    assert all(_found_anew(path, key) for key in stored)


@pytest.mark.skipif(sys.platform != "linux", reason="a small file system is mounted as Linux does")
@pytest.mark.parametrize(("size", "payload"), [("3m", "500"), ("12m", "5000"), ("30m", "50000")])
def test_the_cache_is_cleared_on_a_full_disk(size: str, payload: str) -> None:
    """Although deleting needs space that is not there: the other rows are written to a new file in its place."""
    play("clear_on_a_full_disk", size, payload)


def test_a_full_disk_leaves_the_old_row(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replacement that does not fit leaves the row that it was to replace."""
    store = _on_a_small_disk(path, monkeypatch)
    store.rows.put(SEARCHES, TENANT, an_entry("k", payload=b"small"))
    with pytest.raises(StoreError, match="disk is full"):
        store.rows.put(SEARCHES, TENANT, an_entry("k", payload=b"x" * 2**20))
    kept = store.rows.get(SEARCHES, TENANT, "k")
    assert kept is not None
    assert kept.payload == b"small"


def test_a_store_works_on_when_the_disk_has_space_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After rows have been deleted, the same store takes new ones."""
    store = _on_a_small_disk(path, monkeypatch)
    _fill(store)
    store.admin.clear(SEARCHES, TENANT)
    store.rows.put(SEARCHES, TENANT, an_entry("after"))
    assert _found_anew(path, "after")


def test_a_search_is_answered_on_a_full_disk(path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Log) -> None:
    """Results that cannot be cached are returned all the same, and an error is logged that names the reason."""
    cache = Cache(_on_a_small_disk(path, monkeypatch))
    results: list[dict[str, Any]] = [{"title": "x" * 2**20}]
    answer = cache.searches.answer("query", lambda _query, _count: results)
    assert answer.value == results
    assert isinstance(cache.searches.find("query"), Miss)
    assert ["disk is full" in record.message for record in caplog.records if record.levelno == logging.ERROR] == [True]


# ---------------------------------------------------------------------------------------------------------------------


def _asides(path: Path) -> list[Path]:
    """Return the files that were moved aside, without their logs."""
    pattern = re.compile(re.escape(path.name) + r"\.damaged-\d{8}-\d{6}(-again)*")
    return sorted(file for file in path.parent.iterdir() if pattern.fullmatch(file.name))


def _only_aside(path: Path) -> Path:
    (aside,) = _asides(path)
    return aside


def _assert_reported(path: Path, caplog: Log) -> None:
    """A single warning names the file and where it went."""
    (warning,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert f"{path} is damaged" in warning.message
    assert str(_only_aside(path)) in warning.message


def _assert_works(store: SqliteStore, path: Path) -> None:
    """Check that the store, and one that is opened after it, store and return a row."""
    store.rows.put(SEARCHES, TENANT, an_entry("after the damage"))
    assert store.rows.get(SEARCHES, TENANT, "after the damage") is not None
    store.close()
    assert _found_anew(path, "after the damage")


def _found_anew(path: Path, key: str) -> bool:
    store = SqliteStore(path)
    found = store.rows.get(SEARCHES, TENANT, key)
    store.close()
    return found is not None


def _root_page(path: Path, name: str) -> int:
    connection = sqlite3.connect(path)
    (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()
    connection.close()
    return int(page)


def _noise(path: Path, page: int) -> None:
    """Overwrite a page of the database."""
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(random.Random(page).randbytes(PAGE))


def _break_text(path: Path, text: bytes) -> None:
    """Overwrite the end of a text in the database by bytes that are not UTF-8; the structure of the file stays."""
    content = path.read_bytes()
    assert content.count(text) == 1
    path.write_bytes(content.replace(text, text[:-2] + b"\xff\xfe"))


def _remove(path: Path, how: str) -> None:
    if how == "moved away":
        path.rename(path.with_name("moved.db"))
        return
    path.unlink()
    if how != "deleted":
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink()
    if how == "deleted with its folder":
        path.with_name(f"{path.name}.lock").unlink()
        path.parent.rmdir()


def _on_a_small_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> SqliteStore:
    """Open a store whose file can grow to 120 pages: SQLite then reports a full disk."""
    connect = SqliteConnections._connect

    def limited(self: SqliteConnections) -> sqlite3.Connection:
        connection = connect(self)
        connection.execute("PRAGMA max_page_count = 120")
        return connection

    monkeypatch.setattr(SqliteConnections, "_connect", limited)
    return SqliteStore(path)


def _fill(store: SqliteStore) -> list[str]:
    """Put rows until the disk is full; return the keys of those that were acknowledged."""
    stored: list[str] = []
    with pytest.raises(StoreError, match="disk is full"):  # noqa: PT012 - which of them fails is not known
        for number in range(1_000):
            store.rows.put(SEARCHES, TENANT, an_entry(f"k{number}", payload=b"x" * 5_000))
            stored.append(f"k{number}")
    return stored
