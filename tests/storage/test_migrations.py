"""Old files are adopted, not lost; newer and foreign ones are refused, and left unchanged.

The files lie in `tests/data/`, made by `tests/data/make.py`, which describes each one.
"""

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import orjson
import pytest

from harness.cache import Cache
from harness.core.entries import Hit, Miss, Stale
from harness.errors import MigrationError, StoreError
from harness.storage.sqlite import migrations
from harness.storage.sqlite.migrations import MIGRATIONS, RECORD, SqliteMigration
from harness.storage.sqlite.store import SqliteStore
from harness.storage.sqlite.table_schema import create_statements
from harness.storage.tables import (
    ABBREVIATIONS,
    AUDITED,
    AUDITS,
    BESIDE,
    BY_ORIGIN,
    INDEXES,
    ORIGINS,
    RUNS,
    SEARCH,
    TABLES,
    USES,
)
from tests.data import make
from tests.fakes import FakeClock
from tests.storage import children
from tests.storage.entries import RESEARCH, SEARCHES, TENANT, an_audit, an_entry

BESIDE_TABLES = (ABBREVIATIONS, INDEXES, USES, AUDITS, ORIGINS)
OLD_FILES = sorted(make.FILES)
WITH_RESEARCHES = [name for name in OLD_FILES if name not in {"empty", "only-search"}]
WITH_SEARCHES = [name for name in OLD_FILES if name != "empty"]
FRESH_SEARCHES = [search for search in make.SEARCHES if search.expires_at > make.CREATED]
FRESH_RESEARCHES = [research for research in make.RESEARCHES if research.expires_at > make.CREATED]

# Files that no user is known to have, but that are a cache of this program.
ODD_TABLES = {
    "without a row id": "CREATE TABLE search_cache (key TEXT PRIMARY KEY, query TEXT, results TEXT) WITHOUT ROWID;",
    "no primary key": "CREATE TABLE search_cache (key TEXT, query TEXT, results TEXT);",
    "other case": "CREATE TABLE Search_Cache (Key TEXT PRIMARY KEY, Query TEXT, Results TEXT);",
    "no types": "CREATE TABLE search_cache (key PRIMARY KEY, query, results);",
    "a generated column": """CREATE TABLE search_cache (key TEXT PRIMARY KEY, query TEXT, results TEXT,
        words INTEGER GENERATED ALWAYS AS (length(query)) VIRTUAL);""",
}
ODD_COMPANIONS = {
    "a view": "CREATE VIEW queries AS SELECT query FROM search_cache;",
    "a trigger": """CREATE TABLE seen (key TEXT);
        CREATE TRIGGER note AFTER INSERT ON search_cache BEGIN INSERT INTO seen VALUES (new.key); END;""",
    "a foreign key": "CREATE TABLE notes (key TEXT REFERENCES search_cache (key)); INSERT INTO notes VALUES ('k');",
    "a table search_cache_old": "CREATE TABLE search_cache_old (body TEXT);",
    "an index with a quote in its name": 'CREATE INDEX "a""b" ON search_cache (query);',
}
PLAIN = """
    CREATE TABLE search_cache (key TEXT PRIMARY KEY, query TEXT, results TEXT);
    CREATE TABLE research_cache (key TEXT PRIMARY KEY, task TEXT, task_type TEXT, context TEXT);
    INSERT INTO search_cache VALUES ('k', 'q', '[{"title": "t"}]');
    INSERT INTO research_cache VALUES ('k', 't', 'y', 'c');
"""


# Kept data -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OLD_FILES)
def test_every_row_is_kept(path: Path, name: str) -> None:
    """A migrated file holds as many rows as the old one, expired rows too."""
    before = _counts(_old_file(name, path))
    SqliteStore(path).close()
    assert _counts(path) == dict.fromkeys(TABLES, 0) | before


@pytest.mark.parametrize("name", WITH_SEARCHES)
def test_old_searches_are_answered(path: Path, name: str) -> None:
    """Every search that was fresh in the old file is a hit, with the very results that were stored."""
    cache = _cache(_old_file(name, path))
    for search in FRESH_SEARCHES:
        outcome = cache.searches.find(search.query)
        assert isinstance(outcome, Hit)
        assert (outcome.query, outcome.value) == (search.query, search.results)


@pytest.mark.parametrize("name", WITH_RESEARCHES)
def test_old_researches_are_answered(path: Path, name: str) -> None:
    """Every research that was fresh in the old file is a hit, with the context that was stored."""
    cache = _cache(_old_file(name, path))
    for research in FRESH_RESEARCHES:
        outcome = cache.researches.find(research.task, research.task_type)
        assert isinstance(outcome, Hit)
        assert (outcome.query, outcome.value.context) == (research.task, research.context)


@pytest.mark.parametrize("name", ["full", "indexes", "times", "iso-times", "text-times", "wal"])
def test_old_expiries_are_kept(path: Path, name: str) -> None:
    """Rows that were expired in the old file are stale, not hits, in each format of their times."""
    cache = _cache(_old_file(name, path))
    assert isinstance(cache.searches.find("gone by then"), Stale)
    assert isinstance(cache.researches.find("gone by then", "overview"), Stale)


@pytest.mark.parametrize("name", ["full", "times", "iso-times", "text-times"])
def test_old_times_are_kept(path: Path, name: str) -> None:
    """Creation and expiry are the same times after the migration, in each old format."""
    SqliteStore(_old_file(name, path)).close()
    expected = {(search.query, make.CREATED, search.expires_at) for search in make.SEARCHES}
    found = _query(path, "SELECT query, round(created_at, 2), round(expires_at, 2) FROM search_cache")
    assert set(found) == expected


def test_old_rounds_and_scores_are_kept(path: Path) -> None:
    """Search rounds and novelty scores come back as the lists they were."""
    cache = _cache(_old_file("full", path))
    for research in FRESH_RESEARCHES:
        outcome = cache.researches.find(research.task, research.task_type)
        assert isinstance(outcome, Hit)
        assert (outcome.value.search_rounds, outcome.value.novelty_scores) == (research.rounds, research.novelty)


def test_a_number_of_rounds_is_kept(path: Path) -> None:
    """If the rounds were stored as their number, the number comes back."""
    cache = _cache(_old_file("rounds-counted", path))
    for research in FRESH_RESEARCHES:
        outcome = cache.researches.find(research.task, research.task_type)
        assert isinstance(outcome, Hit)
        assert outcome.value.search_rounds == len(research.rounds)


def test_an_old_row_answers_a_search_for_the_default_number(path: Path) -> None:
    """A search of today, with default options, finds what an old program stored; nothing is searched again."""
    cache = _cache(_old_file("bare", path))
    answer = cache.searches.answer(make.SEARCHES[0].query, _must_not_be_called)
    assert answer.value == make.SEARCHES[0].results


def test_an_old_row_answers_for_as_many_results_as_it_has(path: Path) -> None:
    """An old row with 12 results answers a search for 12, and is a miss for 13."""
    cache = _cache(_old_file("bare", path))
    assert isinstance(cache.searches.find("twelve results", max_results=12), Hit)
    assert isinstance(cache.searches.find("twelve results", max_results=13), Miss)


def test_values_of_foreign_columns_are_kept(path: Path) -> None:
    """A column that is not ours may be someone's work: the old tables stay, under another name."""
    before = {table: children.rows(_old_file("extra-column", path), table) for table in (SEARCHES, RESEARCH)}
    SqliteStore(path).close()
    assert {table: children.rows(path, f"{table}_kept") for table in (SEARCHES, RESEARCH)} == before


def test_foreign_tables_are_left_alone(path: Path) -> None:
    """A table that is not ours is unchanged."""
    before = _query(_old_file("other-table", path), "SELECT * FROM notes"), children.schema(path, "notes")
    SqliteStore(path).close()
    assert (_query(path, "SELECT * FROM notes"), children.schema(path, "notes")) == before


def test_a_row_of_the_first_schema_keeps_every_column(path: Path) -> None:
    """Rows of the schema before `seq` keep tenant, options, times, embedding and embedder."""
    columns = {table: ", ".join(TABLES[table].columns) for table in (SEARCHES, RESEARCH)}
    sql = "SELECT {} FROM {} ORDER BY tenant, key"
    _old_file("without-seq", path)
    before = [_query(path, sql.format(names, table)) for table, names in columns.items()]
    SqliteStore(path).close()
    assert [_query(path, sql.format(names, table)) for table, names in columns.items()] == before
    assert any(row[-1] for row in before[0])


@pytest.mark.parametrize("name", WITH_SEARCHES)
def test_old_rows_are_numbered_in_the_order_of_their_creation(path: Path, name: str) -> None:
    """`seq` begins at 1 and follows `created_at`, and the next row gets a higher one."""
    store = SqliteStore(_old_file(name, path))
    numbered = _query(path, "SELECT seq, created_at FROM search_cache ORDER BY seq")
    assert [seq for seq, _ in numbered] == list(range(1, len(numbered) + 1))
    assert [created for _, created in numbered] == sorted(created for _, created in numbered)
    store.rows.put(SEARCHES, TENANT, an_entry("new"))
    store.close()
    assert _query(path, "SELECT seq FROM search_cache WHERE key = 'new'") == [(len(numbered) + 1,)]


@pytest.mark.parametrize("sql", ODD_TABLES.values(), ids=ODD_TABLES)
def test_a_table_with_other_declarations_is_adopted(path: Path, sql: str) -> None:
    """However the three columns were declared, the rows are kept."""
    _make(path, sql + """INSERT INTO search_cache (key, query, results) VALUES ('k', 'q', '[{"title": "t"}]');""")
    store = SqliteStore(path)
    found = store.rows.get(SEARCHES, "default", "k")
    store.close()
    assert found is not None
    assert (found.text, found.payload) == ("q", b'[{"title": "t"}]')


@pytest.mark.parametrize("sql", ODD_COMPANIONS.values(), ids=ODD_COMPANIONS)
def test_a_file_with_more_in_it_is_adopted(path: Path, sql: str) -> None:
    """Whatever else the file contains, it opens and its rows are kept."""
    _make(path, PLAIN + sql)
    store = SqliteStore(path)
    found = [store.rows.get(table, "default", "k") for table in (SEARCHES, RESEARCH)]
    store.close()
    assert [entry and entry.text for entry in found] == ["q", "t"]


# What is filled in ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OLD_FILES)
@pytest.mark.parametrize("table", [SEARCHES, RESEARCH])
def test_nothing_is_left_without_an_expiry(path: Path, name: str, table: str) -> None:
    """Every migrated row has its times, as numbers: a NULL would never expire, and a text always come last."""
    SqliteStore(_old_file(name, path)).close()
    types = "typeof(created_at) || typeof(expires_at) || typeof(last_used_at)"
    assert set(_query(path, f"SELECT {types} FROM {table}")) <= {("realrealreal",)}


def test_a_missing_expiry_is_a_day_after_creation(path: Path) -> None:
    """Rows with a creation but a NULL or no column for the expiry expire a day after their creation."""
    for name in ("created", "null-times"):
        SqliteStore(_old_file(name, path)).close()
        for table in (SEARCHES, RESEARCH):
            assert set(_query(path, f"SELECT expires_at - created_at FROM {table}")) == {(86_400.0,)}
        path.unlink()


def test_a_row_without_any_time_counts_as_made_now(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If an old file has no times, its rows expire a day after their adoption."""
    monkeypatch.setattr("harness.storage.sqlite.migrations.time.time", lambda: 1_800_000_000.0)
    SqliteStore(_old_file("bare", path)).close()
    times = set(_query(path, f"SELECT created_at, expires_at, last_used_at FROM {SEARCHES}"))
    assert times == {(1_800_000_000.0, 1_800_086_400.0, 1_800_000_000.0)}


@pytest.mark.parametrize(
    ("name", "rounds", "scores"),
    [("bare", "[]", "[]"), ("no-rounds", "[]", "[1.0]"), ("no-scores", '[["d"]]', "[]")],
)
def test_missing_rounds_and_scores_are_empty(path: Path, name: str, rounds: str, scores: str) -> None:
    """A research that was kept without its rounds or scores has none; what it has is kept."""
    SqliteStore(_old_file(name, path)).close()
    sql = "SELECT search_rounds, novelty_scores FROM research_cache WHERE task = 'What is novelty?'"
    assert _query(path, sql) == [(rounds, scores)]


def test_null_rounds_and_scores_are_empty(path: Path) -> None:
    """A NULL is read as no rounds and no scores, not as an error."""
    outcome = _cache(_old_file("null-times", path)).researches.find("Compare SQLite and PostgreSQL", "comparison")
    assert isinstance(outcome, Hit)
    assert (outcome.value.search_rounds, outcome.value.novelty_scores) == ([], [])


# One schema ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OLD_FILES)
def test_a_migrated_schema_is_the_fresh_schema(path: Path, tmp_path: Path, name: str) -> None:
    """Tables and indexes of a migrated file are, letter by letter, those of a new one."""
    tables = (*TABLES, *BESIDE_TABLES, RECORD)
    SqliteStore(_old_file(name, path)).close()
    SqliteStore(tmp_path / "fresh.db").close()
    assert children.schema(path, *tables) == children.schema(tmp_path / "fresh.db", *tables)


def test_a_file_with_other_tables_gets_the_fresh_schema(path: Path, tmp_path: Path) -> None:
    """A file that another program made takes every step of the migrations; a new file takes none."""
    _make(path, "CREATE TABLE mine (key TEXT);")
    SqliteStore(path).close()
    SqliteStore(tmp_path / "fresh.db").close()
    tables = (*TABLES, *BESIDE_TABLES, RECORD)
    assert children.schema(path, *tables) == children.schema(tmp_path / "fresh.db", *tables)
    assert _query(path, "SELECT count(*) FROM mine") == [(0,)]


def test_the_fresh_schema_is_the_declared_one(path: Path) -> None:
    """A new file has the declared tables, indexes and triggers, and the record of its migrations only."""
    SqliteStore(path).close()
    declared = {statement for table in TABLES.values() for statement in create_statements(table)}
    declared |= {*BESIDE, *AUDITED, *BY_ORIGIN}
    ours = f"sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND name != '{RECORD}'"
    made = _query(path, f"SELECT sql FROM sqlite_master WHERE {ours}")
    assert {sql for (sql,) in made} == declared


def test_a_file_without_origins_keeps_its_counts_and_marks_runs(path: Path) -> None:
    """Counts are the user's; records of repeats, and live searches of runs, get their origins."""
    store = SqliteStore(path)
    searched = {"table": SEARCHES, "asked": "q", "served": "q", "how": "live"}
    records = {
        "mine": {"epoch": "", "uses": [searched, {**searched, "served": "other", "how": "exact"}]},
        "repeat": {"epoch": "repeat 3"},
        "trial": {"epoch": "repeat 2001"},
    }
    for key, record in records.items():
        store.rows.put(RUNS.name, TENANT, an_entry(key, payload=orjson.dumps(record), own=("ddgs",)))
    store.rows.put(RUNS.name, TENANT, an_entry("damaged", payload=b"{", own=("ddgs",)))
    for key in ("q", "other"):
        store.rows.put(SEARCHES, TENANT, an_entry(key))
    store.close()
    triggers = "".join(f"DROP TRIGGER {table}_forget_origin;" for table in (SEARCHES, RESEARCH, RUNS.name))
    _make(path, f"{triggers} DROP TABLE {USES}; DROP TABLE {ORIGINS}; {migrations._USES_BY_DAY};")
    _make(path, f"INSERT INTO {USES} VALUES ('{TENANT}', '2026-01-01', 'exact', 7)")
    _make(path, f"DELETE FROM {RECORD} WHERE name = '0021-origins'")
    store = SqliteStore(path)
    assert store.usage.by_day(TENANT, ["user"]) == store.usage.by_day(TENANT) == {"2026-01-01": {"exact": 7}}
    assert store.usage.origins(RUNS.name, TENANT, list(records)) == {"repeat": "evaluation", "trial": "experiment"}
    assert store.usage.origins(SEARCH.name, TENANT, ["q", "other"]) == {"q": "run"}
    store.close()


def test_a_file_without_indexes_by_time_gets_them(path: Path) -> None:
    """A file of an older program: they are made, the other indexes are unchanged, and every row is there."""
    store = SqliteStore(path)
    put = [an_entry(key, created_at=moment) for key, moment in (("b", 2.0), ("a", 1.0), ("c", 3.0))]
    for entry in put:
        store.rows.put(SEARCHES, TENANT, entry)
    store.close()
    fresh = children.schema(path, *TABLES)
    indexes = [f"{table.name}_created_at" for table in TABLES.values() if "created_at" in table.indexes]
    assert len(indexes) == 4
    _make(path, "".join(f"DROP INDEX {name};" for name in indexes))
    _make(path, f"DELETE FROM {RECORD} WHERE name = '0018-indexes-by-time'")
    pages = f"SELECT name, rootpage FROM sqlite_master WHERE name NOT IN ({', '.join(map(repr, indexes))}) ORDER BY 1"
    before = _query(path, pages)
    store = SqliteStore(path)
    assert [each.key for each in store.listings.timeline(SEARCHES, TENANT, limit=9)] == ["c", "b", "a"]
    assert list(store.listings.scan(SEARCHES, TENANT)) == put
    store.close()
    assert children.schema(path, *TABLES) == fresh
    assert _query(path, pages) == before


def test_a_file_without_audits_gets_their_table(path: Path) -> None:
    """A file of an older program: the table is as in a new file, and every row is there."""
    store = SqliteStore(path)
    store.rows.put(SEARCHES, TENANT, an_entry("k"))
    store.close()
    fresh = children.schema(path, *TABLES, AUDITS)
    _make(path, f"DROP TABLE {AUDITS}; DELETE FROM {RECORD} WHERE name = '0019-audits'")
    store = SqliteStore(path)
    store.audits.put(TENANT, an_audit("a", "b"))
    assert store.audits.count(TENANT) == (0, 1)
    assert [each.key for each in store.listings.scan(SEARCHES, TENANT)] == ["k"]
    store.close()
    assert children.schema(path, *TABLES, AUDITS) == fresh


def test_an_index_that_is_not_declared_is_dropped(path: Path) -> None:
    """An index that differs from the declared one is made again, an extra one is dropped."""
    SqliteStore(path).close()
    fresh = children.schema(path, *TABLES)
    _make(path, f"DROP INDEX {SEARCHES}_created_at; CREATE INDEX {SEARCHES}_created_at ON {SEARCHES} (created_at);")
    _make(path, f'CREATE INDEX "a""b" ON {SEARCHES} (query)')
    _make(path, f"DELETE FROM {RECORD} WHERE name = '0018-indexes-by-time'")
    SqliteStore(path).close()
    assert children.schema(path, *TABLES) == fresh


def test_each_migration_is_recorded_by_name(path: Path) -> None:
    """The file says which migrations it has been through."""
    SqliteStore(_old_file("full", path)).close()
    assert _query(path, f"SELECT name FROM {RECORD} ORDER BY name") == [(step.name,) for step in MIGRATIONS]


def test_a_current_file_is_not_migrated_again(path: Path) -> None:
    """Opening a file that is up to date changes not one byte of it."""
    SqliteStore(_old_file("full", path)).close()
    before = path.read_bytes()
    SqliteStore(path).close()
    assert path.read_bytes() == before


def test_the_old_files_are_those_their_script_makes(tmp_path: Path) -> None:
    """The files next to `tests/data/make.py` are its output."""
    for name in OLD_FILES:
        make.make(name, tmp_path / name)
        assert _dump(tmp_path / name) == _dump(_old_file(name, tmp_path / "old"))
        (tmp_path / "old").unlink()


# Several at once -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_processes_may_open_an_old_file_at_once(tmp_path: Path) -> None:
    """Both succeed, whichever comes first, and both find every row."""
    pool = children.start(2)
    for name in OLD_FILES:
        path = _old_file(name, tmp_path / f"{name}.db")
        expected = _counts(path)
        found = pool.map(children.open_together, [str(path)] * 2, chunksize=1)
        assert found == [(expected.get(SEARCHES, 0), expected.get(RESEARCH, 0))] * 2
    pool.close()
    pool.join()


# What is refused -----------------------------------------------------------------------------------------------------


def test_a_newer_file_is_refused_unchanged(path: Path) -> None:
    """A file with a migration unknown to this program is left alone, byte for byte, and the error says so."""
    SqliteStore(_old_file("full", path)).close()
    _make(path, f"INSERT INTO {RECORD} VALUES ('9999-from-the-future', 0)")
    before = path.read_bytes()
    with pytest.raises(MigrationError, match=r"newer harness.*9999-from-the-future.*upgrade"):
        SqliteStore(path)
    assert path.read_bytes() == before


def test_a_newer_file_that_lacks_our_migrations_is_refused_unchanged(path: Path) -> None:
    """A newer program may have replaced our migrations: that file is not migrated, either."""
    _make(path, f"CREATE TABLE {RECORD} (name TEXT, applied_at REAL); INSERT INTO {RECORD} VALUES ('0100-squashed', 0)")
    before = path.read_bytes()
    with pytest.raises(MigrationError, match="newer harness"):
        SqliteStore(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("table", [SEARCHES, RESEARCH])
def test_a_foreign_table_of_our_name_is_refused_unchanged(path: Path, table: str) -> None:
    """A table without the columns of a cache is not ours: the error names the missing ones."""
    _make(path, f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, key TEXT); INSERT INTO {table} VALUES (1, 'mine');")
    before = children.schema(path, table), children.rows(path, table)
    with pytest.raises(MigrationError, match=f"{table} has no column .*--data-dir"):
        SqliteStore(path)
    assert (children.schema(path, table), children.rows(path, table)) == before


@pytest.mark.parametrize(
    "step",
    [step for step, migration in enumerate(MIGRATIONS) if migration.table],
    ids=lambda step: MIGRATIONS[step].name,
)
def test_a_migration_that_fails_leaves_its_table_unchanged(
    path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """A failure in the middle of a migration undoes all of it: schema, rows, indexes, and no record of it."""
    migration = MIGRATIONS[step]
    assert migration.table is not None
    before = _table(_file_before(step, path), migration.table.name)
    _let_fail(migration, monkeypatch)
    with pytest.raises(StoreError):
        SqliteStore(path)
    assert _table(path, migration.table.name) == before
    recorded = _query(path, f"SELECT 1 FROM sqlite_master WHERE name = '{RECORD}'")
    assert not recorded or (migration.name,) not in _query(path, f"SELECT name FROM {RECORD}")


@pytest.mark.slow
@pytest.mark.parametrize("step", range(len(MIGRATIONS)), ids=[step.name for step in MIGRATIONS])
def test_a_failed_migration_is_done_by_the_next_opening(path: Path, step: int) -> None:
    """The next opening completes the migration, and every row is there."""
    before = _counts(_file_before(step, path))
    with pytest.MonkeyPatch.context() as monkeypatch:
        _let_fail(MIGRATIONS[step], monkeypatch)
        with pytest.raises(StoreError):
            SqliteStore(path)
    SqliteStore(path).close()
    assert _counts(path) == dict.fromkeys(TABLES, 0) | before
    assert set(before.values()) - {0}


# ---------------------------------------------------------------------------------------------------------------------


def _old_file(name: str, path: Path) -> Path:
    """Copy an old file to `path`."""
    shutil.copyfile(make.FOLDER / f"{name}.db", path)
    return path


def _file_before(step: int, path: Path) -> Path:
    """Copy an old file in which neither this migration nor a later one has been applied yet."""
    return _old_file("indexes" if step < 2 else "without-seq", path)


def _let_fail(migration: SqliteMigration, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the migration fail when all but its record is done."""
    apply = migrations._apply

    def failing(connection: sqlite3.Connection, step: SqliteMigration) -> None:
        apply(connection, step)
        if step.name == migration.name:
            connection.execute("SELECT no_such_function()")

    monkeypatch.setattr(migrations, "_apply", failing)


def _table(path: Path, table: str) -> tuple[object, object]:
    """Return the schema and the rows of a table; no rows when there is no such table."""
    schema = children.schema(path, table)
    return schema, children.rows(path, table) if schema else []


def _cache(path: Path) -> Cache:
    """Open a cache an hour after the old files were written; that is when they are migrated, too."""
    clock = FakeClock(make.CREATED + 3_600)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("harness.storage.sqlite.migrations.time.time", clock)
        return Cache(SqliteStore(path), clock=clock)


def _must_not_be_called(query: str, max_results: int) -> list[dict[str, Any]]:
    raise AssertionError(query)


def _make(path: Path, script: str) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()


def _query(path: Path, sql: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(path)
    found = connection.execute(sql).fetchall()
    connection.close()
    return found


def _counts(path: Path) -> dict[str, int]:
    """Count the rows of each of our tables that is there."""
    found = _query(path, "SELECT name FROM sqlite_master WHERE type = 'table'")
    return {table: _query(path, f"SELECT count(*) FROM {table}")[0][0] for (table,) in found if table in TABLES}


def _dump(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    lines = list(connection.iterdump())
    connection.close()
    return lines
