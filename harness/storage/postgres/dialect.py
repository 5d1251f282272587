"""The declared cache tables as PostgreSQL knows them: names, columns, statements.

Statements bind `$1`, `$2`, … in the order that each one tells.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from harness.core.freshness import MAX_CLOCK_SKEW, NEVER, fresh_sql
from harness.storage.tables import CHECKSUMS, TABLES, TOOLS, Table

TENANTS = '"Tenant"'
USERS = '"User"'
TOOL_TABLE = '"Research_Cache"'
"""The tool cache's name and columns are those that other programs on the same database know."""
_TOOL_NAMES = {"tenant": "tenant_id", "key": "cache_key"}
JSON_COLUMNS = {"query_params", "result_data"}
TIMES = ("created_at", "expires_at", "last_used_at")
MAX_WORDS_CHARS = 100_000
"""Characters of a column that are found by words: PostgreSQL limits what one row may hold."""

# PostgreSQL's text holds any character but NUL: it is written as an escape, and the escape's own character as another.
_ESCAPE = "\x1b"


def escaped(text: str) -> str:
    """Return `text` without NUL characters; `unescaped` gives it back."""
    if "\0" in text or _ESCAPE in text:
        return text.replace(_ESCAPE, f"{_ESCAPE}[").replace("\0", f"{_ESCAPE}0")
    return text


def unescaped(stored: bytes) -> bytes:
    """Return what was escaped, as UTF-8."""
    if b"\x1b" in stored:
        return stored.replace(b"\x1b0", b"\0").replace(b"\x1b[", b"\x1b")
    return stored


def text_of(stored: bytes | None) -> Any:
    """Return the text of a column, `None` for NULL."""
    return None if stored is None else unescaped(stored).decode()


class PostgresTable:
    """One declared table. `stored` are its logical names: those of the declaration."""

    def __init__(self, declared: Table) -> None:
        self.declared = declared
        self.is_tools = declared is TOOLS
        self.name = TOOL_TABLE if self.is_tools else declared.name
        self.bare_name = self.name.strip('"')
        self.stored = declared.stored

    def column(self, name: str) -> str:
        """Return what a column is called in the database."""
        return _TOOL_NAMES.get(name, name) if self.is_tools else name

    def _read(self, name: str) -> str:
        if self.is_tools and name in JSON_COLUMNS:
            return f"{name}::text"
        if self.is_tools and name in TIMES:
            return f"extract(epoch FROM {name})::float8"
        return "vector_send(embedding)" if name == "embedding" else self.column(name)

    def _write(self, name: str, number: int) -> str:
        if self.is_tools and name in JSON_COLUMNS:
            return f"${number}::text::jsonb"
        if name in TIMES:
            return f"to_timestamp(${number}::float8)" if self.is_tools else f"${number}::float8"
        return f"${number}::text::vector" if name == "embedding" else f"${number}"

    def moment(self, number: int) -> str:
        """Return the expression for a bound time, in seconds since the epoch, as a column can be compared with it."""
        return f"to_timestamp(${number}::float8)" if self.is_tools else f"${number}::float8"

    def fresh(self, number: int) -> str:
        """Return the condition for rows that are not expired at a bound time."""
        moment = f"${number}::float8"
        latest = f"CASE WHEN {moment} > 0 THEN {moment} + {MAX_CLOCK_SKEW} ELSE 'infinity' END"  # `latest_creation`
        if self.is_tools:
            return fresh_sql(self.moment(number), f"to_timestamp({latest})", "'infinity'")
        return fresh_sql(self.moment(number), latest, f"{NEVER}::float8")

    # Conditions --------------------------------------------------------------------------------------------------

    @cached_property
    def one(self) -> str:
        """The condition for one row; binds tenant and key."""
        return f"{self.column('tenant')} = $1 AND {self.column('key')} = $2"

    @cached_property
    def mine(self) -> str:
        """The condition for a tenant's rows; binds the tenant."""
        return f"{self.column('tenant')} = $1"

    def where(self, names: Iterable[str], *, first: int = 2) -> str:
        """Return the condition for rows of a tenant (bound as `$1`) with certain values, bound from `$first` on.

        Raises:
            InvalidInput: see `Table.where`.
        """
        names = tuple(names)
        self.declared.where(names)
        return " AND ".join((self.mine, *(f"{name} = ${at}" for at, name in enumerate(names, start=first))))

    @cached_property
    def in_scope(self) -> str:
        """The condition for the rows of one scope; binds tenant, the scope's values, embedder."""
        columns = (self.column("tenant"), *self.declared.scope, "embedder")
        return " AND ".join(f"{column} = ${at}" for at, column in enumerate(columns, start=1))

    # Statements --------------------------------------------------------------------------------------------------

    @cached_property
    def select(self) -> str:
        """Read one row as `Table.select` does."""
        fields = (self.declared.text, self.declared.payload, *TIMES, CHECKSUMS[0], *self.declared.own_names)
        return f"SELECT {', '.join(map(self._read, fields))} FROM {self.name} WHERE {self.one}"

    @cached_property
    def select_whole(self) -> str:
        """Read every column in the order of `Table.stored` but the tenant, for a condition to follow."""
        return f"SELECT {', '.join(map(self._read, self.stored[1:]))} FROM {self.name}"

    @cached_property
    def select_outline(self) -> str:
        """Read the fields of `Outline`, the own columns one by one, for a condition to follow."""
        fields = ("key", self.declared.text, "created_at", "expires_at", *self.declared.own_names)
        return f"SELECT seq, {', '.join(map(self._read, fields))} FROM {self.name}"

    @cached_property
    def upsert(self) -> str:
        """Insert or replace one row, under a new `seq`; values are bound in the order of `Table.stored`, then those of
        `words`.
        """
        names = [*map(self.column, self.stored), *self._words]
        changes = ", ".join(f"{name} = EXCLUDED.{name}" for name in names[2:])
        return (
            f"{self._insert} ON CONFLICT ({self.column('tenant')}, {self.column('key')}) "
            f"DO UPDATE SET seq = DEFAULT, {changes}"
        )

    @cached_property
    def insert_new(self) -> str:
        """Insert one row where there is none; values are bound as for `upsert`."""
        return f"{self._insert} ON CONFLICT DO NOTHING"

    @cached_property
    def _insert(self) -> str:
        names = ", ".join((*map(self.column, self.stored), *self._words))
        values = [self._write(name, at) for at, name in enumerate(self.stored, start=1)]
        if self._words:
            values.append(self.words(len(values) + 1))
        return f"INSERT INTO {self.name} ({names}) VALUES ({', '.join(values)})"

    @property
    def _words(self) -> tuple[str, ...]:
        """The column that words are found in, if the table has one."""
        return ("words",) if self.declared.words else ()

    def words(self, first: int) -> str:
        """Return the expression for the words of a row, those of the first column the weightiest; `indexed_texts` of
        the word columns are bound from `$first` on.
        """
        return " || ".join(
            f"setweight(to_tsvector('english', left(${at}::text, {MAX_WORDS_CHARS})), '{weight}')"
            for at, (_, weight) in enumerate(zip(self.declared.words, "ABCD", strict=False), start=first)
        )


POSTGRES_TABLES: Mapping[str, PostgresTable] = {name: PostgresTable(table) for name, table in TABLES.items()}
