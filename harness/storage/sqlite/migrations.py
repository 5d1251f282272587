"""Bringing any database that ever held these tables to the declared schema.

A migration names a table and says, as SQL expressions, what the columns hold that an older file lacks. Applying one
rebuilds the table in its declared shape. All that a file lacks is applied, with its record, in one transaction. An
empty database gets the declared schema at once, and the record of all migrations.
"""

import re
import sqlite3
import time
from collections.abc import Sequence

from msgspec import Struct

from harness.core import tables
from harness.errors import MigrationError
from harness.storage.sqlite.table_schema import CHECKSUM_COLUMNS, create_statements, index_statements
from harness.storage.tables import AUDITED, BESIDE, BY_ORIGIN, ORIGINS, RUNS, SEARCH, TABLES, USES, Table

RECORD = "harness_migrations"

_MAKE_RECORD = f"CREATE TABLE IF NOT EXISTS {RECORD} (name TEXT PRIMARY KEY, applied_at REAL NOT NULL)"
_NAME = re.compile("[0-9]{4}-[a-z0-9-]+")
_NUMBER = 4
"""Digits that a migration's name begins with."""
_CREATED = "coalesce({created_at}, :now)"
_TTL = 86_400
_COUNT = "iif(json_valid({results}), json_array_length({results}), 0)"


class SqliteMigration(Struct, frozen=True):
    """One named step: `needs` are the columns that a table must have to be adopted at all, `fill` gives the value of
    every other column. In `fill`, `{column}` is the old column, or NULL where the old table lacks it. Without
    `fill`, no older program had such a table: an existing one belongs to another program, and stays under another name.
    """

    name: str
    table: Table | None = None
    needs: tuple[str, ...] = ()
    fill: dict[str, str] = {}
    beside: tuple[str, ...] = ()
    """Statements for the tables and triggers that belong to it."""
    reindexed: tuple[Table, ...] = ()
    """Tables whose indexes become those that are declared now."""
    added: tuple[tuple[Table, tuple[str, ...]], ...] = ()
    """Tables that get these columns where they lack them: NULL in old rows."""


_COMMON_FILL = {
    "tenant": "coalesce({tenant}, 'default')",
    "created_at": _CREATED,
    "expires_at": f"coalesce({{expires_at}}, {_CREATED} + {_TTL})",  # a NULL would never expire
    "last_used_at": f"coalesce({{last_used_at}}, {_CREATED})",
    "embedding": "{embedding}",
    "embedder": "{embedder}",
}

_SEARCH_NEEDS = ("key", "query", "results")
_SEARCH_FILL = _COMMON_FILL | {
    # What wrote the files without these columns asked DuckDuckGo, for 10 results unless told otherwise.
    "engine": "coalesce({engine}, 'ddgs')",
    "options": "coalesce({options}, '{{}}')",
    "max_results": f"coalesce({{max_results}}, max(10, {_COUNT}))",
}
_RESEARCH_NEEDS = ("key", "task", "task_type", "context")
_RESEARCH_FILL = _COMMON_FILL | {
    "search_rounds": "coalesce({search_rounds}, '[]')",
    "novelty_scores": "coalesce({novelty_scores}, '[]')",
    "fingerprint": "coalesce({fingerprint}, '')",
}

_RECORD = "iif(json_valid(record), record, '{}')"
_USES_BY_DAY = (
    f"CREATE TABLE {USES} (tenant TEXT NOT NULL, day TEXT NOT NULL, what TEXT NOT NULL, times INTEGER NOT NULL, "
    "PRIMARY KEY (tenant, day, what)) WITHOUT ROWID"
)
_BY_ORIGIN = (
    f"ALTER TABLE {USES} RENAME TO {USES}_old",
    *BY_ORIGIN,
    f"INSERT INTO {USES} SELECT tenant, day, 'user', what, times FROM {USES}_old",
    f"DROP TABLE {USES}_old",
    # older records do not say who they were made for; repeats of evaluations name themselves, those of experiments
    # have numbers from 500 on
    f"INSERT INTO {ORIGINS} SELECT tenant, '{RUNS.name}', key, "
    f"iif(CAST(substr(json_extract({_RECORD}, '$.epoch'), 8) AS INTEGER) < 500, 'evaluation', 'experiment') "
    f"FROM {RUNS.name} WHERE json_extract({_RECORD}, '$.epoch') LIKE 'repeat %'",
    # what a run has searched itself, was stored for it
    f"INSERT OR IGNORE INTO {ORIGINS} SELECT tenant, '{SEARCH.name}', json_extract(used.value, '$.served'), 'run' "
    f"FROM {RUNS.name}, json_each({_RECORD}, '$.uses') AS used WHERE json_extract(used.value, '$.how') = 'live' "
    f"AND json_extract(used.value, '$.table') = '{SEARCH.name}'",
)
"""Count uses by origin; note the origin of older rows where it is known."""

MIGRATIONS = (
    SqliteMigration("0001-search-cache", SEARCH, _SEARCH_NEEDS, _SEARCH_FILL),
    SqliteMigration("0002-research-cache", TABLES[tables.RESEARCH], _RESEARCH_NEEDS, _RESEARCH_FILL),
    # seq, so that semantic lookups find newer rows
    SqliteMigration("0003-search-cache-seq", SEARCH, _SEARCH_NEEDS, _SEARCH_FILL, (*BESIDE, _USES_BY_DAY)),
    SqliteMigration("0004-research-cache-seq", TABLES[tables.RESEARCH], _RESEARCH_NEEDS, _RESEARCH_FILL),
    SqliteMigration("0005-unanswered-searches", TABLES[tables.UNANSWERED]),
    SqliteMigration("0006-research-runs", RUNS),
    SqliteMigration("0007-agent-queries", TABLES[tables.QUERIES]),
    SqliteMigration("0008-agent-chunks", TABLES[tables.CHUNKS]),
    SqliteMigration("0009-web-pages", TABLES[tables.PAGES]),
    SqliteMigration("0010-completions", TABLES[tables.COMPLETIONS]),
    SqliteMigration("0011-research-evidence", TABLES[tables.EVIDENCE]),
    SqliteMigration(
        "0012-indexes-by-tenant",
        reindexed=(
            *(SEARCH, TABLES[tables.RESEARCH], TABLES[tables.UNANSWERED], RUNS, TABLES[tables.QUERIES]),
            *(TABLES[tables.CHUNKS], TABLES[tables.PAGES], TABLES[tables.COMPLETIONS], TABLES[tables.EVIDENCE]),
        ),
    ),
    SqliteMigration("0013-tool-cache", TABLES[tables.TOOLS]),
    SqliteMigration("0014-knowledge", TABLES[tables.KNOWLEDGE]),
    SqliteMigration("0015-knowledge-history", TABLES[tables.KNOWLEDGE_HISTORY]),
    SqliteMigration("0016-access-tokens", TABLES[tables.TOKENS]),
    SqliteMigration("0017-memory", TABLES[tables.MEMORY]),
    SqliteMigration(
        "0018-indexes-by-time", reindexed=(SEARCH, TABLES[tables.RESEARCH], RUNS, TABLES[tables.KNOWLEDGE])
    ),
    SqliteMigration("0019-audits", beside=AUDITED),
    SqliteMigration(
        "0020-checksums",
        # old rows have none: computing them would write the whole file again
        added=tuple((each, CHECKSUM_COLUMNS) for each in TABLES.values() if each.name != tables.LIBRARY),
    ),
    SqliteMigration("0021-origins", beside=_BY_ORIGIN),
    SqliteMigration("0022-library-passages", TABLES[tables.LIBRARY]),
    # the checksums of old rows stay valid
    SqliteMigration("0023-languages", added=((TABLES[tables.LIBRARY], TABLES[tables.LIBRARY].added),)),
)

_DECLARED = (*(each for table in TABLES.values() for each in create_statements(table)), *BESIDE, *AUDITED, *BY_ORIGIN)
"""Statements that make all tables, indexes and triggers: what the migrations lead to."""


def is_current(connection: sqlite3.Connection) -> bool:
    """Say whether every migration is applied.

    Raises:
        MigrationError: if a newer program wrote this file.
        sqlite3.DatabaseError: if the file is no database, or a damaged one.
    """
    if not _columns(connection, RECORD):
        return False
    names = connection.execute(f"SELECT CAST(name AS BLOB) FROM {RECORD}")
    applied = {(name or b"").decode(errors="replace") for (name,) in names}
    known = [migration.name for migration in MIGRATIONS]
    newer, damaged = unknown_names(applied, known)
    if damaged:
        raise _corrupt(f"its record of migrations holds {damaged[0]!r:.80}")
    if newer:
        raise MigrationError(
            f"the database was written by a newer harness (it knows {', '.join(newer)}); "
            "upgrade with `pip install -U research-harness`, or choose another --data-dir"
        )
    return applied == set(known)


def unknown_names(applied: set[str], known: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the names of migrations that are not `known`: those that a newer program has applied, and damaged ones.

    A newer program has higher numbers, and other words than the migrations that are known and missing.
    """
    missing = {name[_NUMBER:] for name in set(known) - applied}
    newer: list[str] = []
    damaged: list[str] = []
    for name in sorted(applied - set(known)):
        is_name = _NAME.fullmatch(name) is not None and name[:_NUMBER] > known[-1][:_NUMBER]
        (newer if is_name and name[_NUMBER:] not in missing else damaged).append(name)
    return newer, damaged


def migrate(connection: sqlite3.Connection) -> None:
    """Apply what is missing, with its record, in one transaction; safe when others do the same at once.

    Raises:
        MigrationError: if a table lacks what cannot be made up, or a newer program wrote this file.
    """
    is_current(connection)
    connection.execute("PRAGMA legacy_alter_table = ON")  # a view on an old table need not know of the renaming
    with connection:  # commits, or rolls back; one transaction for each would wait for the disk as many times
        connection.execute("BEGIN IMMEDIATE")
        is_empty = connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None
        connection.execute(_MAKE_RECORD)
        for statement in _DECLARED if is_empty else ():
            connection.execute(statement)
        applied = {name for (name,) in connection.execute(f"SELECT name FROM {RECORD}")}
        for migration in MIGRATIONS:
            if migration.name not in applied:
                if not is_empty:
                    _apply(connection, migration)
                connection.execute(f"INSERT INTO {RECORD} VALUES (?, ?)", (migration.name, time.time()))


def _apply(connection: sqlite3.Connection, migration: SqliteMigration) -> None:
    for statement in migration.beside:
        connection.execute(statement)
    if migration.table is not None:
        _rebuild(connection, migration, migration.table)
    for table in migration.reindexed:
        _reindex(connection, table)
    for table, columns in migration.added:
        held = _columns(connection, table.name)
        for column in columns:
            if column.split()[0] not in held:
                connection.execute(f"ALTER TABLE {table.name} ADD COLUMN {column}")


def _rebuild(connection: sqlite3.Connection, migration: SqliteMigration, table: Table) -> None:
    old = _columns(connection, table.name)
    if old and (missing := [column for column in migration.needs if column not in old]):
        raise MigrationError(
            f"the table {table.name} has no column {', '.join(missing)}, so it is not a cache of this program; "
            "choose another file with --db or --data-dir"
        )
    # A column that is not ours may be a user's work: then the old table stays, under another name.
    foreign = not migration.fill or bool(old.keys() - {"seq", *table.stored})
    aside = _free_name(connection, f"{table.name}_{'kept' if foreign else 'old'}")
    if old:
        connection.execute(f"ALTER TABLE {table.name} RENAME TO {aside}")
        for kind in ("index", "trigger"):
            _drop(connection, aside, kind)
    for statement in create_statements(table):
        connection.execute(statement)
    if old and migration.fill:
        values = ", ".join(_value(column, migration, table, old) for column in table.columns)
        written = _value("created_at", migration, table, old)
        connection.execute(
            f"INSERT OR REPLACE INTO {table.name} ({', '.join(table.columns)}) "
            # should two rows have one key, the newer one stays
            f"SELECT {values} FROM {aside} WHERE key IS NOT NULL ORDER BY {written}",
            {"now": time.time()},
        )
        if not foreign:
            connection.execute(f"DROP TABLE {aside}")


def _reindex(connection: sqlite3.Connection, table: Table) -> None:
    """Drop the indexes that are not declared, and make the declared ones that are not there: each reads all rows."""
    _drop(connection, table.name, "index", but=index_statements(table))
    for statement in index_statements(table):
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE sql = ?", (statement,)).fetchone():
            connection.execute(statement)


def _drop(connection: sqlite3.Connection, table: str, kind: str, *, but: tuple[str, ...] = ()) -> None:
    """Drop a table's indexes or triggers, but for those that a constraint or one of these statements has made."""
    condition = f"type = ? AND tbl_name = ? AND sql IS NOT NULL AND sql NOT IN ({', '.join('?' * len(but))})"
    found = connection.execute(f"SELECT name FROM sqlite_master WHERE {condition}", (kind, table, *but)).fetchall()
    for (name,) in found:
        connection.execute(f'DROP {kind} "{name.replace(chr(34), chr(34) * 2)}"')


def _value(column: str, migration: SqliteMigration, table: Table, old: dict[str, str]) -> str:
    """Return the SQL expression for one column of the rebuilt table."""
    known = {name: _seconds(name) if name.endswith("_at") else name for name in old}
    names = {name: known.get(name, "NULL") for name in table.columns}
    if column in migration.needs:
        return f"coalesce(CAST({column} AS TEXT), '')"
    return migration.fill[column].format(**names)


def _seconds(column: str) -> str:
    """Read a time that may have been kept as a number, a number in text, or ISO 8601; anything else is NULL."""
    return (
        f"CASE typeof({column}) WHEN 'real' THEN {column} WHEN 'integer' THEN {column} "
        f"WHEN 'text' THEN iif(CAST({column} AS REAL) > 1e8, CAST({column} AS REAL), "
        f"(julianday({column}) - 2440587.5) * 86400.0) END"
    )


def _columns(connection: sqlite3.Connection, table: str) -> dict[str, str]:
    """Return the columns of a table with their declared types; none when there is no such table."""
    try:
        return {row[1].lower(): row[2] for row in connection.execute(f"PRAGMA table_info({table})")}
    except UnicodeDecodeError as error:  # of the schema, or of what SQLite says of it
        raise _corrupt("its schema is no text") from error


def _corrupt(reason: str) -> sqlite3.DatabaseError:
    damaged = sqlite3.DatabaseError(reason)
    damaged.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return damaged


def _free_name(connection: sqlite3.Connection, name: str) -> str:
    while _columns(connection, name):
        name += "_"
    return name
