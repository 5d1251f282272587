"""The cache tables, declared once: SQL and the target of the migrations both come from here."""

from functools import cached_property

COMMON_BEFORE = ("tenant TEXT NOT NULL", "key TEXT NOT NULL")
COMMON_AFTER = (
    "created_at REAL NOT NULL",
    "expires_at REAL NOT NULL",
    "last_used_at REAL NOT NULL",
    "embedding BLOB",
    "embedder TEXT",
)
OWN_START = 6
"""How many columns `select` returns before the table's own."""


class Table:
    """A cache table: `text` names the column of what was asked, `payload` that of the answer; `own` are the columns
    that only this table has, as SQL declarations (`"engine TEXT NOT NULL"`).
    """

    def __init__(self, name: str, *, text: str, payload: str, own: tuple[str, ...]) -> None:
        self.name = name
        self.text = text
        self.payload = payload
        self.own = own
        self.own_names = tuple(column.split()[0] for column in own)

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column's name, in the order of the schema."""
        return ("tenant", "key", self.text, self.payload, *self.own_names, *(c.split()[0] for c in COMMON_AFTER))

    @property
    def schema(self) -> tuple[str, ...]:
        """The statements that create the table and its index. The primary key begins with the tenant."""
        asked = (f"{self.text} TEXT NOT NULL", f"{self.payload} TEXT NOT NULL")
        body = ",\n    ".join((*COMMON_BEFORE, *asked, *self.own, *COMMON_AFTER, "PRIMARY KEY (tenant, key)"))
        return (
            f"CREATE TABLE {self.name} (\n    {body}\n)",
            # covers what `stats` asks, so that a count never reads the rows
            f"CREATE INDEX {self.name}_expires_at ON {self.name} (expires_at, created_at)",
        )

    @cached_property
    def select(self) -> str:
        """Read one row by (tenant, key): the first fields of `Entry`, in order, then the own columns."""
        fields = ("key", self.text, self.payload, "created_at", "expires_at", "last_used_at")
        return f"SELECT {', '.join((*fields, *self.own_names))} FROM {self.name} WHERE tenant = ? AND key = ?"

    @cached_property
    def upsert(self) -> str:
        """Insert or replace one row; values are bound in the order of `columns`."""
        values = ", ".join("?" * len(self.columns))
        updates = ", ".join(f"{name} = excluded.{name}" for name in self.columns[2:])
        return (
            f"INSERT INTO {self.name} ({', '.join(self.columns)}) VALUES ({values}) "
            f"ON CONFLICT (tenant, key) DO UPDATE SET {updates}"
        )


SEARCH = Table(
    "search_cache",
    text="query",
    payload="results",
    own=("engine TEXT NOT NULL", "options TEXT NOT NULL", "max_results INTEGER NOT NULL"),
)
RESEARCH = Table(
    "research_cache",
    text="task",
    payload="context",
    own=(
        "task_type TEXT NOT NULL",
        "search_rounds TEXT NOT NULL",
        "novelty_scores TEXT NOT NULL",
        "fingerprint TEXT NOT NULL",
    ),
)
TABLES = {table.name: table for table in (SEARCH, RESEARCH)}
