"""The cache tables, declared once: SQL and the target of the migrations both come from here."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType

from harness.core.freshness import NEVER, fresh_sql
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
_CHECKSUM_COLUMNS = tuple(f"{name} INTEGER" for name in CHECKSUMS)
OWN_START = 6
"""How many columns `select` returns before the table's own."""


class Table:
    """A cache table: `text` names the column of what was asked, `payload` that of the answer; `own` are the columns
    that only this table has, as SQL declarations (`"engine TEXT NOT NULL"`). A look-up returns the first `decisive` of
    these, because they decide whether the row answers; the others are its provenance. The checksum covers the
    first `covered`: those that may be NULL come last, and are changed in place. Rows are compared by meaning only where
    the `scope` columns are equal. `indexes` are further ones, by the name of each: the columns that it has, the tenant
    first.
    """

    def __init__(
        self,
        name: str,
        *,
        text: str,
        payload: str,
        own: tuple[str, ...],
        decisive: int,
        scope: tuple[str, ...],
        indexes: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    ) -> None:
        self.name = name
        self.text = text
        self.payload = payload
        self.own = own
        self.own_names = tuple(column.split()[0] for column in own)
        self.decisive = decisive
        self.decides_by_text = any("TEXT" in column for column in own[:decisive])
        self.covered = sum("NOT NULL" in column for column in own)
        self.scope = scope
        self.indexes = indexes

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column's name but `seq` and the checksums, in the order of the schema."""
        return ("tenant", "key", self.text, self.payload, *self.own_names, *(c.split()[0] for c in COMMON_AFTER))

    @property
    def stored(self) -> tuple[str, ...]:
        """The columns that a row is written and read with: `columns`, then the checksums."""
        return (*self.columns, *CHECKSUMS)

    @property
    def schema(self) -> tuple[str, ...]:
        """The statements that create the table, its indexes and its trigger. The unique key begins with the tenant."""
        asked = (f"{self.text} TEXT NOT NULL", f"{self.payload} TEXT NOT NULL")
        # in one line, as ALTER TABLE leaves it
        last = ", ".join((COMMON_AFTER[-1], *_CHECKSUM_COLUMNS))
        body = ",\n    ".join((*COMMON_BEFORE, *asked, *self.own, *COMMON_AFTER[:-1], last, "UNIQUE (tenant, key)"))
        return (
            f"CREATE TABLE {self.name} (\n    {body}\n)",
            *self.index_statements,
            f"CREATE TRIGGER {self.name}_forget AFTER DELETE ON {self.name} BEGIN DELETE FROM {ABBREVIATIONS} "
            f"WHERE tenant = OLD.tenant AND source = '{self.name}' AND key = OLD.key; END",
        )

    @property
    def checksum_statements(self) -> tuple[str, ...]:
        """The statements that add the checksums to a table without them."""
        return tuple(f"ALTER TABLE {self.name} ADD COLUMN {column}" for column in _CHECKSUM_COLUMNS)

    @property
    def index_statements(self) -> tuple[str, ...]:
        """The statements that create the table's indexes. Every one begins with the tenant."""
        indexes = {
            # covers what `stats` asks, so that a count never reads the rows
            "expires_at": ("tenant", "expires_at", "created_at"),
            # ends, as every index does in SQLite, with seq: the newest rows of one scope are one range of it
            "scope": ("tenant", *self.scope, "embedder"),
            "newest": ("tenant", "seq"),
            **self.indexes,
        }
        return tuple(
            f"CREATE INDEX {self.name}_{index} ON {self.name} ({', '.join(columns)})"
            for index, columns in indexes.items()
        )

    @cached_property
    def in_scope(self) -> str:
        """The condition that tells the rows of one scope; binds tenant, the scope's values, embedder."""
        return " AND ".join(f"{column} = ?" for column in ("tenant", *self.scope, "embedder"))

    @cached_property
    def least_used(self) -> str:
        """Read the `seq` of all rows of one scope but the most recently used; binds tenant, the scope's values, how
        many stay out. Of rows that were used at the same moment the newer one counts as used later.
        """
        scope = " AND ".join(f"{column} = ?" for column in ("tenant", *self.scope))
        return f"SELECT seq FROM {self.name} WHERE {scope} ORDER BY last_used_at DESC, seq DESC LIMIT -1 OFFSET ?"

    def where(self, names: Iterable[str]) -> str:
        """Return the condition for a tenant's rows with certain values in these own columns; binds tenant and values.

        Raises:
            InvalidInput: there is no such column, or none is named, which would mean every row.
        """
        names = tuple(names)
        if not names or not set(names) <= set(self.own_names):
            wrong = ", ".join(map(repr, sorted(set(names) - set(self.own_names)))) or "no column"
            raise InvalidInput(f"rows of {self.name} are told by {', '.join(self.own_names)}, not by {wrong:.100}")
        return " AND ".join(f"{column} = ?" for column in ("tenant", *names))

    @cached_property
    def select(self) -> str:
        """Read one row by (tenant, key): the fields of `Entry` after its key, in order, checksum, own columns."""
        fields = (self.text, self.payload, "created_at", "expires_at", "last_used_at", CHECKSUMS[0])
        return f"SELECT {', '.join((*fields, *self.own_names))} FROM {self.name} WHERE tenant = ? AND key = ?"

    @cached_property
    def select_whole(self) -> str:
        """Read every column in the order of `stored`, for a condition to follow."""
        return f"SELECT {', '.join(self.stored)} FROM {self.name}"

    @cached_property
    def select_numbered(self) -> str:
        """Read `seq`, then every column in the order of `stored`, for a condition to follow."""
        return f"SELECT seq, {', '.join(self.stored)} FROM {self.name}"

    @cached_property
    def select_outline(self) -> str:
        """Read the fields of `Outline`, the own columns one by one, for a condition to follow."""
        fields = ("seq", "key", self.text, "created_at", "expires_at", *self.own_names)
        return f"SELECT {', '.join(fields)} FROM {self.name}"

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
BY_TIME = {"created_at": ("tenant", "created_at")}
"""The index of tables whose rows are listed by the time of their creation."""

SEARCH = Table(
    "search_cache",
    text="query",
    payload="results",
    own=("max_results INTEGER NOT NULL", "engine TEXT NOT NULL", "options TEXT NOT NULL"),
    decisive=1,
    scope=("engine", "options"),
    indexes=BY_TIME,
)
RESEARCH = Table(
    "research_cache",
    text="task",
    payload="context",
    own=(
        "search_rounds TEXT NOT NULL",
        "novelty_scores TEXT NOT NULL",
        "task_type TEXT NOT NULL",
        "fingerprint TEXT NOT NULL",
    ),
    decisive=2,
    scope=("task_type", "fingerprint"),
    indexes=BY_TIME,
)
UNANSWERED = Table(
    "unanswered_searches",
    text="query",
    payload="reason",
    own=("engine TEXT NOT NULL", "options TEXT NOT NULL"),
    decisive=0,
    scope=("engine", "options"),
)
RUNS = Table(
    "research_runs",
    text="question",
    payload="record",
    own=("engine TEXT NOT NULL",),
    decisive=0,
    scope=("engine",),
    indexes=BY_TIME,
)
AGENT_QUERIES = Table(
    "agent_queries",
    text="query",
    payload="payload",
    own=("space TEXT NOT NULL",),
    decisive=1,
    scope=("space",),
    # who is evicted is told without a look at the rows, whose payloads may be large
    indexes={"last_used_at": ("tenant", "space", "last_used_at")},
)
AGENT_CHUNKS = Table(
    "agent_chunks",
    text="text",
    payload="metadata",
    own=("space TEXT NOT NULL", "document TEXT NOT NULL", "chunk_index INTEGER NOT NULL", "section TEXT NOT NULL"),
    decisive=4,
    scope=("space",),
    indexes={"document": ("tenant", "space", "document", "chunk_index")},
)
WEB_PAGES = Table(
    "web_pages",
    text="url",
    payload="page",
    own=("reader TEXT NOT NULL",),
    decisive=1,
    scope=("reader",),
)
COMPLETIONS = Table(
    "completions",
    text="prompt",
    payload="completion",
    own=("model TEXT NOT NULL",),
    decisive=1,
    scope=("model",),
)
EVIDENCE = Table(
    "research_evidence",
    text="question",
    payload="evidence",
    own=("ranking TEXT NOT NULL",),
    decisive=0,
    scope=("ranking",),
)
TOOLS = Table(
    "tool_cache",
    text="query",
    payload="result_data",
    own=(
        "cache_type TEXT NOT NULL",
        "query_params TEXT NOT NULL",
        "result_count INTEGER NOT NULL",
        "created_by TEXT",
    ),
    decisive=4,
    scope=("cache_type",),
    indexes={"cache_type": ("tenant", "cache_type", "seq"), "created_by": ("tenant", "created_by")},
)
KNOWLEDGE = Table(
    "knowledge",
    text="title",
    payload="document",
    own=("url_key TEXT NOT NULL", "version INTEGER NOT NULL"),
    decisive=2,
    scope=(),
    indexes={"url_key": ("tenant", "url_key"), **BY_TIME},
)
KNOWLEDGE_HISTORY = Table(
    "knowledge_history",
    text="title",
    payload="document",
    own=("document_id TEXT NOT NULL", "version INTEGER NOT NULL"),
    decisive=0,
    scope=("document_id",),
)
TOKENS = Table(
    "access_tokens",
    text="name",
    payload="token",
    own=("user_id TEXT NOT NULL", "role TEXT NOT NULL"),
    decisive=2,
    scope=("user_id",),
)
MEMORY = Table(
    "memory",
    text="text",
    payload="remembered",
    own=(
        "collection TEXT NOT NULL",
        "kind TEXT NOT NULL",
        "thread_id TEXT NOT NULL",
        "session_id TEXT NOT NULL",
        "continuation INTEGER NOT NULL",
        "position INTEGER NOT NULL",
    ),
    decisive=6,
    scope=("collection",),
    indexes={"thread_id": ("tenant", "collection", "thread_id", "seq")},
)
TABLES = {
    table.name: table
    for table in (
        SEARCH,
        RESEARCH,
        UNANSWERED,
        RUNS,
        AGENT_QUERIES,
        AGENT_CHUNKS,
        WEB_PAGES,
        COMPLETIONS,
        EVIDENCE,
        TOOLS,
        KNOWLEDGE,
        KNOWLEDGE_HISTORY,
        TOKENS,
        MEMORY,
    )
}

BESIDE = (
    # what cached texts teach; goes with the row that taught it, by that table's trigger
    # (the key's columns first, in its order: of others SQLite 3.40's integrity check finds NULLs that are not there)
    f"CREATE TABLE {ABBREVIATIONS} (tenant TEXT NOT NULL, short TEXT NOT NULL, source TEXT NOT NULL, "
    "key TEXT NOT NULL, meaning TEXT NOT NULL, written TEXT NOT NULL, "
    "PRIMARY KEY (tenant, short, source, key, meaning)) WITHOUT ROWID",
    f"CREATE INDEX {ABBREVIATIONS}_source ON {ABBREVIATIONS} (tenant, source, key)",
    # how far each collection of the vector index reaches, and which generation of it is meant
    f"CREATE TABLE {INDEXES} (name TEXT PRIMARY KEY, generation TEXT NOT NULL, upto INTEGER NOT NULL)",
    # how often what happened, by day
    f"CREATE TABLE {USES} (tenant TEXT NOT NULL, day TEXT NOT NULL, what TEXT NOT NULL, times INTEGER NOT NULL, "
    "PRIMARY KEY (tenant, day, what)) WITHOUT ROWID",
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
"""Tables of origins: uses are counted by origin (instead of `BESIDE`'s table), and rows of others than the user have
one.
"""
