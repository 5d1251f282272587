"""Whether a SQLite file and its rows are sound."""

import sqlite3
from collections.abc import Callable
from typing import Any

import orjson

from harness.stores.tables import Table

Fetch = Callable[[str, tuple[Any, ...]], list[Any]]


def file_problems(fetch: Fetch) -> list[str]:
    """Tell what SQLite finds wrong with the file."""
    try:
        found = [_text(row[0]) for row in fetch("PRAGMA integrity_check(20)", ())]
    except sqlite3.DatabaseError as error:
        found = [str(error)]
    return [] if found == ["ok"] else [f"the file: {problem}" for problem in found]


def unusable_rows(table: Table, fetch: Fetch) -> list[tuple[int, str]]:
    """Return seq and reason of the rows that no look-up can use."""
    found = []
    since = 0
    sql = f"SELECT seq, {table.payload}, created_at, expires_at FROM {table.name} WHERE seq > ? ORDER BY seq LIMIT 500"
    while rows := fetch(sql, (since,)):
        for seq, payload, created_at, expires_at in rows:
            if reason := _unusable(table, payload, created_at, expires_at):
                found.append((seq, reason))
        since = rows[-1][0]
    return found


def damaged_embeddings(table: Table, fetch: Fetch) -> list[int]:
    """Return the seq of rows whose embedding is no vector of their embedder's usual length."""
    lengths = fetch(
        f"SELECT embedder, length(embedding), count(*) FROM {table.name} WHERE embedding IS NOT NULL "
        "GROUP BY 1, 2 ORDER BY 3 DESC",
        (),
    )
    usual: dict[Any, int] = {}
    for embedder, length, _ in lengths:
        usual.setdefault(embedder, length)
    wrong = [(embedder, length) for embedder, length, _ in lengths if length != usual[embedder] or length % 4]
    return [
        seq
        for embedder, length in wrong
        for (seq,) in fetch(
            f"SELECT seq FROM {table.name} WHERE embedder IS ? AND length(embedding) = ?", (_text(embedder), length)
        )
    ]


def _unusable(table: Table, payload: Any, created_at: Any, expires_at: Any) -> str:
    if not isinstance(payload, bytes):
        return f"its {table.payload} are not text"
    if not isinstance(created_at, float) or not isinstance(expires_at, float):
        return "its times are no numbers"
    try:
        payload.decode()
        if table.payload != "context":  # the one payload that may be any text
            orjson.loads(payload)
    except ValueError:
        return f"its {table.payload} cannot be read"
    return ""


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
