"""SQL of the cache tables: statements, and the target of the migrations. `harness.core.tables` declares them."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache, partial
from typing import Any, get_type_hints

from harness.core import tables
from harness.core.freshness import NEVER, fresh_sql
from harness.core.tables import TableColumns
from harness.errors import InvalidInput

COMMON_BEFORE = ("seq INTEGER PRIMARY KEY AUTOINCREMENT", "tenant TEXT NOT NULL", "key TEXT NOT NULL")
"""`seq` grows with every row written and is never given twice: what is newer than one has seen has a higher one."""
COMMON_AFTER = (
    "created_at REAL NOT NULL",
    "expires_at REAL NOT NULL",
    "last_used_at REAL NOT NULL",
    "embedding BLOB",
    "embedder TEXT",
)
CHECKSUMS = ("checksum", "embedding_checksum")
"""The last columns of every table; NULL: not known, not checked. See `harness.storage.checksums`."""
FRESH = fresh_sql("?", "?", str(NEVER))
FORGET_EMBEDDING = "embedding = NULL, embedder = NULL, embedding_checksum = NULL"
_TYPES = {int: "INTEGER NOT NULL", str: "TEXT NOT NULL", str | None: "TEXT"}
MAX_BOUND = 500
"""Keys or numbers of rows that one statement binds at most."""
OWN_START = 6
"""Number of columns that `select` returns before the table's own."""
OWN_REMEMBERED = 32
"""Different values of own columns that a process remembers, for each table."""


class Table:
    """SQL of a cache table: here as SQLite has it, in a subclass as PostgreSQL has it. `own` declares its own columns
    (`"engine TEXT NOT NULL"`); the checksum covers the first `covered` of them: those that may be NULL come last, and
    are updated in place. `added` declares those that older databases get. `name` is that of the table in the database.
    """

    never = str(NEVER)
    """The expression for `NEVER`, as `expires_at` can be compared with it."""

    def __init__(self, declared: TableColumns) -> None:
        self.name = self.logical = declared.name
        self.text = declared.text
        self.payload = declared.payload
        self.scope = declared.scope
        self.indexes = declared.indexes
        self.words = declared.words
        self.own = tuple(f"{name} {_TYPES[kind]}" for name, kind in get_type_hints(declared.own).items())
        self.own_names = declared.own_names
        self.added = tuple(column for column in self.own if column.split()[0] in declared.added)
        self.covered = sum("NOT NULL" in column for column in self.own)
        # not `_make`, which takes 0.1 µs longer on the path of every hit
        self.make_own: Callable[[Iterable[Any]], Any] = partial(tuple.__new__, declared.own)
        """Makes the tuple of own columns of their values."""
        self.decode_own: Callable[[tuple[Any, ...]], Any] = lru_cache(OWN_REMEMBERED)(self._decode_own)
        """Makes the tuple of own columns of what SQLite returns. Most rows have the values of another row (the same
        engine and options), and every hit waits for this: 0.1 µs for known values, 0.5 µs for others.
        """

    def _decode_own(self, values: tuple[Any, ...]) -> Any:
        return self.make_own([each.decode(errors="replace") if type(each) is bytes else each for each in values])

    @property
    def every_index(self) -> Mapping[str, tuple[str, ...]]:
        """The columns of each index, by its name. Every one begins with the tenant."""
        return {
            # covers what `stats` asks, so that a count never reads the rows
            "expires_at": ("tenant", "expires_at", "created_at"),
            # ends, as every index does in SQLite, with seq: the newest rows of one scope are one range of it
            "scope": ("tenant", *self.scope, "embedder"),
            "newest": ("tenant", "seq"),
            **self.indexes,
        }

    @property
    def language(self) -> str:
        """The expression for the language of a row's texts; "" where it is not known."""
        return "coalesce(language, '')" if "language" in self.own_names else "''"

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column's name but `seq` and the checksums, in the order of the schema."""
        return ("tenant", "key", self.text, self.payload, *self.own_names, *(c.split()[0] for c in COMMON_AFTER))

    @property
    def stored(self) -> tuple[str, ...]:
        """The columns that a row is written and read with: `columns`, then the checksums."""
        return (*self.columns, *CHECKSUMS)

    def column(self, name: str) -> str:
        """Return what a column is called in the database."""
        return name

    def bound(self, number: int) -> str:
        """Return the placeholder of the bound value with this number; the first one is 1."""
        return f"?{number}"

    def moment(self, seconds: str) -> str:
        """Return an expression for seconds since the epoch as one that a column of times can be compared with."""
        return seconds

    def fresh(self, first: int) -> str:
        """Return the condition for rows that are not expired at a time; binds, from `first` on, that time and its
        `latest_creation`.
        """
        return fresh_sql(self.moment(self.bound(first)), self.moment(self.bound(first + 1)), self.never)

    def read(self, name: str) -> str:
        """Return the expression that reads a column."""
        return self.column(name)

    def _fields(self, *names: str) -> str:
        return ", ".join(map(self.read, names))

    def equal(self, *names: str) -> str:
        """Return the condition for rows with certain values in these columns, bound from the first on."""
        return " AND ".join(f"{self.column(name)} = {self.bound(at)}" for at, name in enumerate(names, start=1))

    @cached_property
    def mine(self) -> str:
        """The condition for a tenant's rows; binds the tenant."""
        return self.equal("tenant")

    @cached_property
    def one(self) -> str:
        """The condition for one row; binds tenant and key."""
        return self.equal("tenant", "key")

    @cached_property
    def in_scope(self) -> str:
        """The condition for the rows of one scope; binds tenant, the scope's values, embedder."""
        return self.equal("tenant", *self.scope, "embedder")

    def where(self, names: Iterable[str]) -> str:
        """Return the condition for a tenant's rows with certain values in these own columns; binds tenant and values.

        Raises:
            InvalidInput: there is no such column, or none is named, which would mean every row.
        """
        names = tuple(names)
        if not names or not set(names) <= set(self.own_names):
            wrong = ", ".join(map(repr, sorted(set(names) - set(self.own_names)))) or "no column"
            known = ", ".join(self.own_names)
            raise InvalidInput(f"rows of {self.logical} are selected by {known}, not by {wrong:.100}")
        return self.equal("tenant", *names)

    @cached_property
    def select(self) -> str:
        """Read one row by (tenant, key): the fields of `Entry` after its key, in order, checksum, own columns."""
        fields = (self.text, self.payload, "created_at", "expires_at", "last_used_at", CHECKSUMS[0])
        return f"SELECT {self._fields(*fields, *self.own_names)} FROM {self.name} WHERE {self.one}"

    @cached_property
    def select_whole(self) -> str:
        """Read every column in the order of `stored`, for a condition to follow."""
        return f"SELECT {self._fields(*self.stored)} FROM {self.name}"

    @cached_property
    def select_numbered(self) -> str:
        """Read `seq`, then every column in the order of `stored`, for a condition to follow."""
        return f"SELECT seq, {self._fields(*self.stored)} FROM {self.name}"

    @cached_property
    def select_outline(self) -> str:
        """Read the fields of `Outline`, the own columns one by one, for a condition to follow."""
        fields = ("seq", "key", self.text, "created_at", "expires_at", *self.own_names)
        return f"SELECT {self._fields(*fields)} FROM {self.name}"

    @cached_property
    def upsert(self) -> str:
        """Insert or replace one row, under a new `seq`; values are bound in the order of `stored`."""
        values = ", ".join("?" * len(self.stored))
        return f"INSERT OR REPLACE INTO {self.name} ({', '.join(self.stored)}) VALUES ({values})"


ABBREVIATIONS = "harness_abbreviations"
INDEXES = "harness_vector_indexes"
USES = "harness_uses"
AUDITS = "harness_audits"
ORIGINS = "harness_origins"

TABLES = {name: Table(declared) for name, declared in tables.COLUMNS.items()}
SEARCH = TABLES[tables.SEARCHES]
RESEARCH = TABLES[tables.RESEARCH]
RUNS = TABLES[tables.RUNS]
TOOLS = TABLES[tables.TOOLS]
TOKENS = TABLES[tables.TOKENS]

BESIDE = (
    # what cached texts teach; goes with the row that taught it, by that table's trigger
    # (the key's columns first, in its order: of others SQLite 3.40's integrity check finds NULLs that are not there)
    f"CREATE TABLE {ABBREVIATIONS} (tenant TEXT NOT NULL, short TEXT NOT NULL, source TEXT NOT NULL, "
    "key TEXT NOT NULL, meaning TEXT NOT NULL, written TEXT NOT NULL, "
    "PRIMARY KEY (tenant, short, source, key, meaning)) WITHOUT ROWID",
    f"CREATE INDEX {ABBREVIATIONS}_source ON {ABBREVIATIONS} (tenant, source, key)",
    # how far each collection of the vector index reaches, and which generation of it is meant
    f"CREATE TABLE {INDEXES} (name TEXT PRIMARY KEY, generation TEXT NOT NULL, upto INTEGER NOT NULL)",
)
AUDITED = (
    f"CREATE TABLE {AUDITS} (tenant TEXT NOT NULL, key_a TEXT NOT NULL, key_b TEXT NOT NULL, query_a TEXT NOT NULL, "
    "query_b TEXT NOT NULL, overlap REAL NOT NULL, similarity REAL NOT NULL, probability REAL, "
    "agreed INTEGER NOT NULL, created_at REAL NOT NULL, PRIMARY KEY (tenant, key_a, key_b)) WITHOUT ROWID",
    f"CREATE INDEX {AUDITS}_key_b ON {AUDITS} (tenant, key_b, agreed)",
)
"""The tables that are no cache tables; what audits found came later."""
ORIGIN_SOURCES = (SEARCH, RESEARCH, RUNS)
"""The tables whose rows have an origin."""
BY_ORIGIN = (
    f"CREATE TABLE {USES} (tenant TEXT NOT NULL, day TEXT NOT NULL, origin TEXT NOT NULL, what TEXT NOT NULL, "
    "times INTEGER NOT NULL, PRIMARY KEY (tenant, day, origin, what)) WITHOUT ROWID",
    f"CREATE TABLE {ORIGINS} (tenant TEXT NOT NULL, source TEXT NOT NULL, key TEXT NOT NULL, origin TEXT NOT NULL, "
    "PRIMARY KEY (tenant, source, key)) WITHOUT ROWID",
    *(
        f"CREATE TRIGGER {table.name}_forget_origin AFTER DELETE ON {table.name} BEGIN DELETE FROM {ORIGINS} "
        f"WHERE tenant = OLD.tenant AND source = '{table.name}' AND key = OLD.key; END"
        for table in ORIGIN_SOURCES
    ),
)
"""Tables of uses, counted by day and origin, and of rows whose origin is not the user."""
