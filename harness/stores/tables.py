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
OWN_START = 5
"""How many columns `select` returns before the table's own."""


class Table:
    """A cache table: `text` names the column of what was asked, `payload` that of the answer; `own` are the columns
    that only this table has, as SQL declarations (`"engine TEXT NOT NULL"`). The first `decisive` of these are read on
    every look-up, because they decide whether the row answers; the others only tell where it came from.
    """

    def __init__(self, name: str, *, text: str, payload: str, own: tuple[str, ...], decisive: int) -> None:
        self.name = name
        self.text = text
        self.payload = payload
        self.own = own
        self.own_names = tuple(column.split()[0] for column in own)
        self.decisive = self.own_names[:decisive]
        self.decides_by_text = any("TEXT" in column for column in own[:decisive])

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
        """Read one row by (tenant, key): the fields of `Entry` after its key, in order, then the decisive columns."""
        fields = (self.text, self.payload, "created_at", "expires_at", "last_used_at")
        return f"SELECT {', '.join((*fields, *self.decisive))} FROM {self.name} WHERE tenant = ? AND key = ?"

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
    own=("max_results INTEGER NOT NULL", "engine TEXT NOT NULL", "options TEXT NOT NULL"),
    decisive=1,
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
)
TABLES = {table.name: table for table in (SEARCH, RESEARCH)}
