"""The column for the language of passages: older files and snapshots get it, and keep their rows as they are."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from harness.core.entries import Entry
from harness.core.tables import LIBRARY, LibraryColumns
from harness.errors import InvalidInput
from harness.storage.snapshots import entry_of, line_of, read_snapshot, write_snapshot
from harness.storage.sqlite.migrations import RECORD
from harness.storage.sqlite.store import SqliteStore
from tests.storage import children
from tests.storage.entries import NOW, TENANT

OLDER = f"ALTER TABLE {LIBRARY} DROP COLUMN language; DELETE FROM {RECORD} WHERE name = '0023-languages';"
"""Makes a file what an older program has written."""


def passage(key: str, *language: str | None) -> Entry:
    """Return a passage."""
    own = LibraryColumns("d", "https://a.example", "Pools", "page", "web", *language)
    return Entry(key, f"text of {key}", b"{}", NOW, NOW + 3_600, NOW, own)


def test_a_passage_keeps_its_language(path: Path) -> None:
    """A tag, an uncertain one and an unknown one are three values."""
    store = SqliteStore(path)
    put = [passage("a", "de"), passage("b", ""), passage("c", None)]
    store.rows.replace(LIBRARY, TENANT, put, instead_of={"document": "d"})
    assert [each.own.language for each in store.listings.scan(LIBRARY, TENANT)] == ["de", "", None]
    assert [each.key for each in store.listings.find(LIBRARY, TENANT, {"language": "de"})] == ["a"]
    store.close()


def test_an_older_file_gets_the_column_and_keeps_its_rows(path: Path) -> None:
    """The schema is that of a new file, letter by letter; checksums of old rows still hold."""
    store = SqliteStore(path)
    store.rows.put(LIBRARY, TENANT, passage("a", "de"))
    store.close()
    fresh = children.schema(path, LIBRARY)
    connection = sqlite3.connect(path)
    connection.executescript(OLDER)
    checksum = connection.execute(f"SELECT checksum FROM {LIBRARY}").fetchone()[0]
    connection.close()
    assert checksum is not None
    assert children.schema(path, LIBRARY) != fresh
    store = SqliteStore(path)
    assert list(store.listings.scan(LIBRARY, TENANT)) == [passage("a", None)]
    assert store.admin.verify(repair=False) == []
    store.rows.put(LIBRARY, TENANT, passage("b", "fr"))
    assert store.rows.get(LIBRARY, TENANT, "b") == passage("b", "fr")
    store.close()
    assert children.schema(path, LIBRARY) == fresh


def test_a_snapshot_of_an_older_program_is_read(path: Path) -> None:
    """Its passages have no language; a passage of today keeps its own."""
    old, new = line_of(LIBRARY, passage("old")), line_of(LIBRARY, passage("new", "de"))
    old.own.pop()
    write_snapshot(path, [old, new])
    assert [entry_of(line) for line in read_snapshot(path)[1]] == [passage("old", None), passage("new", "de")]


@pytest.mark.parametrize(
    "own",
    [
        ["d", "https://a.example", "Pools", "page"],
        ["d", "https://a.example", "Pools", "page", "web", "de", "fr"],
        ["d", "https://a.example", "Pools", "page", "web", 7],
    ],
    ids=["too few", "too many", "a number"],
)
def test_wrong_columns_in_a_snapshot_are_refused(path: Path, own: list[Any]) -> None:
    """Only the added column may be missing."""
    line = line_of(LIBRARY, passage("a"))
    line.own[:] = own
    write_snapshot(path, [line])
    with pytest.raises(InvalidInput, match="cannot be used"):
        read_snapshot(path)
