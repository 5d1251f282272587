"""Whether a SQLite file and its rows are sound."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any

import orjson

from harness.storage.checksums import embedding_checksum, row_checksum
from harness.storage.sqlite.entries import shown
from harness.storage.sqlite.scopes import is_unit
from harness.storage.tables import Table

Fetch = Callable[[str, tuple[Any, ...]], list[Any]]


CHANGED = "it has changed since it was stored (wrong checksum)"
_KINDS: dict[str, Any] = {"results": list, "evidence": (list, dict, int), "result_data": object}
"""JSON types of payloads other than objects."""


def file_problems(database: str) -> list[str]:
    """Return the problems that SQLite finds in the file of a URI, over a separate connection; change nothing."""
    try:
        with closing(sqlite3.connect(database, timeout=30, uri=True)) as connection:
            found = [shown(row[0]) for row in connection.execute("PRAGMA integrity_check(20)")]
    except sqlite3.DatabaseError as error:
        found = [str(error)]
    return [] if found == ["ok"] else [f"the file: {problem}" for problem in found]


def unusable_rows(table: Table, fetch: Fetch) -> list[tuple[int, str]]:
    """Return seq and reason of the rows that no look-up can use."""
    rows = _every_row(fetch, f"{table.select_numbered} WHERE seq > ? ORDER BY seq LIMIT 500")
    return [(seq, reason) for seq, *row in rows if (reason := _unusable(table, row))]


def damaged_embeddings(table: Table, fetch: Fetch) -> list[int]:
    """Return the seq of rows whose embedding has changed since it was stored, or is no unit vector of the length that
    is usual for their embedder.
    """
    usual: dict[Any, int] = {}
    for embedder, length, _ in fetch(
        f"SELECT embedder, length(embedding), count(*) FROM {table.name} WHERE embedding IS NOT NULL "
        "GROUP BY 1, 2 ORDER BY 3 DESC",
        (),
    ):
        usual.setdefault(embedder, length)
    condition = "embedding IS NOT NULL AND seq > ? ORDER BY seq LIMIT 500"
    sql = f"SELECT seq, embedder, embedding, embedding_checksum FROM {table.name} WHERE {condition}"
    return [
        seq
        for seq, embedder, held, stored in _every_row(fetch, sql)
        if embedder is None
        or not is_unit(held, (usual[embedder] or 0) // 4)
        or stored not in {None, embedding_checksum(held, shown(embedder))}
    ]


def _every_row(fetch: Fetch, sql: str) -> Iterator[Any]:
    """Yield the rows of a query for a batch of those after a number, which comes first in each row."""
    since = 0
    while rows := fetch(sql, (since,)):
        yield from rows
        since = rows[-1][0]


def _unusable(table: Table, row: Sequence[Any]) -> str:
    """Say why a whole row cannot be used, "" when it can."""
    tenant, key, text, payload, *own = row[:-7]
    times, stored = row[-7:-4], row[-2]
    if not isinstance(payload, bytes):
        return f"its {table.payload} are not text"
    if not all(isinstance(moment, float) for moment in times):
        return "its times are no numbers"
    for column, value in zip(table.own, own, strict=True):
        if not isinstance(value, int if "INTEGER" in column else bytes) and (value is not None or "NOT NULL" in column):
            return f"its {column.split()[0]} cannot be used"
    known = row_checksum(table, shown(tenant), shown(key), text, payload, times[0], times[1], tuple(own))
    if stored is not None and stored != known:
        return CHANGED
    return payload_problem(table, payload)


def payload_problem(table: Table, payload: bytes) -> str:
    """Say why a row's payload cannot be used, "" when it can."""
    try:
        payload.decode()
        # a context is the one payload that may be any text
        if table.payload != "context" and not isinstance(orjson.loads(payload), _KINDS.get(table.payload, dict)):
            return f"its {table.payload} are of another kind"
    except ValueError:
        return f"its {table.payload} cannot be read"
    return ""
