"""Rows of SQLite as entries, and entries as rows."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from harness.core.entries import Entry, Outline
from harness.storage.checksums import checked, checksums
from harness.storage.tables import ABBREVIATIONS, Table


def marks(values: Sequence[Any]) -> str:
    """Return a placeholder for each value."""
    return ", ".join("?" * len(values))


def row_values(table: Table, tenant: str, entry: Entry) -> tuple[Any, ...]:
    """Return what the entry's row holds, in the order of `Table.stored`."""
    return (
        *(tenant, entry.key, entry.text, entry.payload.decode()),
        *entry.own,
        *(entry.created_at, entry.expires_at, entry.last_used_at, entry.embedding, entry.embedder),
        *checksums(table, tenant, entry),
    )


def write_row(connection: sqlite3.Connection, table: Table, tenant: str, entry: Entry) -> None:
    """Insert or replace one row, with what it teaches."""
    place = (tenant, table.name, entry.key)
    connection.execute(table.upsert, row_values(table, tenant, entry))
    connection.execute(f"DELETE FROM {ABBREVIATIONS} WHERE tenant = ? AND source = ? AND key = ?", place)
    connection.executemany(
        f"INSERT OR IGNORE INTO {ABBREVIATIONS} (tenant, source, key, short, written, meaning) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        [(*place, short.casefold(), short, long) for short, long in entry.teaches],
    )


def outline_of(table: Table, row: tuple[Any, ...]) -> Outline:
    """Make an outline of what `Table.select_outline` reads."""
    number, key, text, created_at, expires_at, *own = row
    return Outline(number, as_text(key), as_text(text), created_at, expires_at, table.make_own(map(as_text, own)))


def entry_of(table: Table, row: tuple[Any, ...]) -> Entry | None:
    """Make an entry of a row with every column, in the order of `Table.stored`; `None` if the row is damaged."""
    tenant, key, text, *own = map(as_text, (*row[:3], *row[4:-7]))
    created_at, expires_at, last_used_at, embedding, embedder, *stored = row[-7:]
    vector = embedding if type(embedding) is bytes else None
    entry = Entry(
        key, text, row[3], created_at, expires_at, last_used_at, table.make_own(own), vector, as_text(embedder)
    )
    return checked(table, tenant, entry, *stored)


def entries_of(table: Table, rows: Sequence[tuple[Any, ...]]) -> list[Entry]:
    """Make entries of whole rows, leaving out the damaged ones."""
    return [entry for row in rows if (entry := entry_of(table, row)) is not None]


def as_text(value: Any) -> Any:
    """Make text of what came back as bytes; what is no UTF-8, in a damaged row, shows as replacement characters."""
    return value.decode(errors="replace") if type(value) is bytes else value


def shown(value: Any) -> str:
    """Return a value of any kind, as a damaged row may hold, as text."""
    return str(as_text(value))
