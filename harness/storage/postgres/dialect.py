"""The declared cache tables as PostgreSQL knows them: names, columns, statements.

Statements bind `$1`, `$2`, … in the order that each one tells. Those of this class bind as those of `Table` do.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from harness.core import tables
from harness.core.freshness import NEVER
from harness.core.tables import TableColumns
from harness.storage.tables import Table

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
    return text.replace(_ESCAPE, f"{_ESCAPE}[").replace("\0", f"{_ESCAPE}0")


def plain(value: Any) -> Any:
    """Return a value as it is bound: text, in a list too, is escaped."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    return escaped(value) if isinstance(value, str) else value


def unescaped(stored: bytes) -> bytes:
    """Return what was escaped, as UTF-8."""
    if b"\x1b" in stored:
        return stored.replace(b"\x1b0", b"\0").replace(b"\x1b[", b"\x1b")
    return stored


def text_of(stored: bytes | None) -> Any:
    """Return the text of a column, `None` for NULL."""
    return None if stored is None else unescaped(stored).decode()


class PostgresTable(Table):
    """One declared table. `logical`, and the names of columns in `stored`, are those of the declaration."""

    def __init__(self, declared: TableColumns) -> None:
        super().__init__(declared)
        self.is_tools = declared.name == tables.TOOLS
        if self.is_tools:
            self.name = TOOL_TABLE
        self.never = "'infinity'" if self.is_tools else f"{NEVER}::float8"
        self.bare_name = self.name.strip('"')

    def column(self, name: str) -> str:
        """See `Table.column`."""
        return _TOOL_NAMES.get(name, name) if self.is_tools else name

    def bound(self, number: int) -> str:
        """See `Table.bound`."""
        return f"${number}"

    def moment(self, seconds: str) -> str:
        """See `Table.moment`."""
        return f"to_timestamp({seconds}::float8)" if self.is_tools else f"{seconds}::float8"

    def read(self, name: str) -> str:
        """See `Table.read`."""
        if self.is_tools and name in JSON_COLUMNS:
            return f"{name}::text"
        if self.is_tools and name in TIMES:
            return f"extract(epoch FROM {name})::float8"
        return "vector_send(embedding)" if name == "embedding" else self.column(name)

    def _write(self, name: str, number: int) -> str:
        if self.is_tools and name in JSON_COLUMNS:
            return f"${number}::text::jsonb"
        if name in TIMES:
            return self.moment(f"${number}")
        return f"${number}::text::vector" if name == "embedding" else f"${number}"

    @cached_property
    def upsert(self) -> str:
        """Insert or replace one row, under a new `seq`; values are bound in the order of `Table.stored`, then those of
        `words`.
        """
        changes = ", ".join(f"{name} = EXCLUDED.{name}" for name in self._written[2:])
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
        values = [self._write(name, at) for at, name in enumerate(self.stored, start=1)]
        if self.words:
            values.append(self.word_vector(len(values) + 1))
        return f"INSERT INTO {self.name} ({', '.join(self._written)}) VALUES ({', '.join(values)})"

    @property
    def _written(self) -> tuple[str, ...]:
        """The columns that a row is written with."""
        return (*map(self.column, self.stored), *(("words",) if self.words else ()))

    def word_vector(self, first: int) -> str:
        """Return the expression for the words of a row, those of the first column the weightiest; `indexed_texts` of
        the word columns are bound from `$first` on.
        """
        return " || ".join(
            f"setweight(to_tsvector('english', left(${at}::text, {MAX_WORDS_CHARS})), '{weight}')"
            for at, (_, weight) in enumerate(zip(self.words, "ABCD", strict=False), start=first)
        )


POSTGRES_TABLES: Mapping[str, PostgresTable] = {
    name: PostgresTable(declared) for name, declared in tables.COLUMNS.items()
}
