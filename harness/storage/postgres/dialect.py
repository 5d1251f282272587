"""The declared cache tables as PostgreSQL knows them: names, columns, statements.

Statements bind `$1`, `$2`, … in the order that each one tells.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec.structs import replace

from harness.core.entries import Entry, Outline
from harness.core.freshness import MAX_CLOCK_SKEW, NEVER, fresh_sql
from harness.core.keys import canonical_json
from harness.storage.checksums import checked, checksums
from harness.storage.tables import CHECKSUMS, TABLES, TOKENS, TOOLS, Table

TENANTS = '"Tenant"'
USERS = '"User"'
TOOL_TABLE = '"Research_Cache"'
"""The tool cache's name and columns are those that other programs on the same database know."""
_TOOL_NAMES = {"tenant": "tenant_id", "key": "cache_key"}
_JSON = {"query_params", "result_data"}
_TIMES = ("created_at", "expires_at", "last_used_at")
_TYPES = {"INTEGER": "BIGINT", "TEXT": 'TEXT COLLATE "C"'}

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
        self._numbers = {column.split()[0] for column in declared.own if "INTEGER" in column}

    def column(self, name: str) -> str:
        """Return what a column is called in the database."""
        return _TOOL_NAMES.get(name, name) if self.is_tools else name

    def _read(self, name: str) -> str:
        if self.is_tools and name in _JSON:
            return f"{name}::text"
        if self.is_tools and name in _TIMES:
            return f"extract(epoch FROM {name})::float8"
        return "vector_send(embedding)" if name == "embedding" else self.column(name)

    def _write(self, name: str, number: int) -> str:
        if self.is_tools and name in _JSON:
            return f"${number}::text::jsonb"
        if name in _TIMES:
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

    # Schema ------------------------------------------------------------------------------------------------------

    @property
    def schema(self) -> tuple[str, ...]:
        """The statements that create the table and its indexes. Every key begins with the tenant, as Citus needs it to
        shard by tenant.
        """
        tenant, key = self.column("tenant"), self.column("key")
        times = "TIMESTAMPTZ NOT NULL" if self.is_tools else "DOUBLE PRECISION NOT NULL"
        declared = self.declared
        body = (
            *(("id UUID NOT NULL DEFAULT gen_random_uuid()",) if self.is_tools else ()),
            "seq BIGINT GENERATED ALWAYS AS IDENTITY",
            f'{tenant} TEXT COLLATE "C" NOT NULL REFERENCES {TENANTS} (id) ON DELETE CASCADE',
            f'{key} TEXT COLLATE "C" NOT NULL',
            f"{declared.text} TEXT NOT NULL{self._default(declared.text)}",
            f"{declared.payload} {'JSONB' if declared.payload in _JSON else 'TEXT'} NOT NULL",
            *map(self._own_column, declared.own),
            *(f"{name} {times}{self._default(name)}" for name in _TIMES),
            "embedding vector",
            'embedder TEXT COLLATE "C"',
            *self._checksums,
            *self._constraints(tenant, key),
        )
        indexes = {
            "expires_at": (tenant, "expires_at", "created_at"),
            "scope": (tenant, *declared.scope, "embedder"),
            "newest": (tenant, "seq"),
            **{name: (tenant, *columns[1:]) for name, columns in declared.indexes.items()},
        }
        if self.is_tools:  # the three that the table is known by; all rows are told by these
            del indexes["newest"], indexes["scope"]
        return (
            f"CREATE TABLE {self.name} ({', '.join(body)})",
            # in the row itself, where it fits: fetched from elsewhere, comparing 1,000 of them takes five times as long
            f"ALTER TABLE {self.name} ALTER COLUMN embedding SET STORAGE MAIN",
            *(self.index(name, columns) for name, columns in indexes.items()),
        )

    @property
    def _checksums(self) -> tuple[str, ...]:
        return tuple(f"{name} BIGINT" for name in CHECKSUMS)

    @property
    def checksum_statements(self) -> tuple[str, ...]:
        """The statements that add the checksums, which a database made today has from the first migration."""
        return tuple(f"ALTER TABLE {self.name} ADD COLUMN IF NOT EXISTS {column}" for column in self._checksums)

    def index(self, name: str, columns: tuple[str, ...]) -> str:
        """The statement that creates an index of these columns."""
        return f'CREATE INDEX "{self.bare_name}_{name}" ON {self.name} ({", ".join(columns)})'

    def _default(self, name: str) -> str:
        """What other programs leave out, which know the columns that are agreed."""
        defaults = {self.declared.text: " DEFAULT ''", "created_at": " DEFAULT now()", "last_used_at": " DEFAULT now()"}
        return defaults.get(name, "") if self.is_tools else ""

    def _own_column(self, declaration: str) -> str:
        name, kind, *rest = declaration.split()
        return " ".join((name, "JSONB" if name in _JSON else _TYPES[kind], *rest))

    def _constraints(self, tenant: str, key: str) -> tuple[str, ...]:
        if self.is_tools:
            user = f"FOREIGN KEY ({tenant}, created_by) REFERENCES {USERS} (tenant_id, id)"
            return (
                f"PRIMARY KEY ({tenant}, id)",
                f"UNIQUE ({tenant}, {key})",
                f"{user} ON DELETE SET NULL (created_by)",
            )
        primary = f"PRIMARY KEY ({tenant}, {key})"
        if self.declared is TOKENS:
            user = f"FOREIGN KEY ({tenant}, user_id) REFERENCES {USERS} (tenant_id, id)"
            return (primary, f"{user} ON DELETE CASCADE")
        return (primary,)

    @property
    def user_column(self) -> str:
        """The own column that refers to a user, "" if there is none."""
        return "created_by" if self.is_tools else "user_id" if self.declared is TOKENS else ""

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
        fields = (self.declared.text, self.declared.payload, *_TIMES, CHECKSUMS[0], *self.declared.own_names)
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
        """Insert or replace one row, under a new `seq`; values are bound in the order of `Table.stored`."""
        names = [self.column(name) for name in self.stored]
        changes = ", ".join(f"{name} = EXCLUDED.{name}" for name in names[2:])
        return (
            f"{self._insert} ON CONFLICT ({self.column('tenant')}, {self.column('key')}) "
            f"DO UPDATE SET seq = DEFAULT, {changes}"
        )

    @cached_property
    def insert_new(self) -> str:
        """Insert one row where there is none; values are bound in the order of `Table.stored`."""
        return f"{self._insert} ON CONFLICT DO NOTHING"

    @cached_property
    def _insert(self) -> str:
        names = ", ".join(self.column(name) for name in self.stored)
        values = ", ".join(self._write(name, at) for at, name in enumerate(self.stored, start=1))
        return f"INSERT INTO {self.name} ({names}) VALUES ({values})"

    @cached_property
    def sweep(self) -> str:
        """Delete up to `$3` rows of a tenant that expired at or before `$2`; rows that others work on are left."""
        expired = (
            f"SELECT ctid FROM {self.name} WHERE {self.mine} AND expires_at <= {self.moment(2)} "
            "LIMIT $3 FOR UPDATE SKIP LOCKED"
        )
        return f"DELETE FROM {self.name} WHERE {self.mine} AND ctid = ANY (ARRAY({expired}))"

    @cached_property
    def evict(self) -> str:
        """Delete all rows of one scope but the most recently used; binds tenant, the scope's values, how many stay."""
        columns = (self.column("tenant"), *self.declared.scope)
        scope = " AND ".join(f"{column} = ${at}" for at, column in enumerate(columns, start=1))
        oldest = f"SELECT seq FROM {self.name} WHERE {scope} ORDER BY last_used_at DESC, seq DESC"
        return f"DELETE FROM {self.name} WHERE {scope} AND seq IN ({oldest} OFFSET ${len(columns) + 1})"

    # Values ------------------------------------------------------------------------------------------------------

    def values(self, tenant: str, entry: Entry) -> tuple[Any, ...]:
        """Return what the entry's row holds, in the order of `Table.stored`."""
        embedding = vector_text(entry.embedding)
        own = (escaped(value) if isinstance(value, str) else value for value in entry.own)
        # the tool table keeps microseconds; rounded here, they are the same when they are read
        created_at, expires_at = (round(at, 6) if self.is_tools else at for at in (entry.created_at, entry.expires_at))
        vector = entry.embedding if embedding else None
        held = replace(entry, created_at=created_at, expires_at=expires_at, embedding=vector)
        return (
            *(escaped(tenant), escaped(entry.key), escaped(entry.text), escaped(entry.payload.decode())),
            *own,
            *(created_at, expires_at, entry.last_used_at),
            embedding,
            entry.embedder if embedding else None,
            *checksums(self.declared, tenant, self._settled(held)),
        )

    def _settled(self, entry: Entry) -> Entry:
        """Return the entry as its checksum sees it: the same before it is put and after it was read."""
        if not self.is_tools:
            return entry
        own = zip(self.declared.own_names, entry.own, strict=True)
        values = tuple(_settled(value).decode() if name in _JSON else value for name, value in own)
        return replace(entry, payload=_settled(entry.payload), own=values)

    def found(self, tenant: str, key: str, row: tuple[Any, ...]) -> Entry | None:
        """Make an entry of what `select` reads; `None` if the row is damaged."""
        text, payload, created_at, expires_at, last_used_at, stored, *own = row
        entry = Entry(
            key, text_of(text), self._payload(payload), created_at, expires_at, last_used_at, self._own_values(own)
        )
        if checked(self.declared, tenant, self._settled(entry), stored, None) is None:
            return None
        return entry

    def _own_values(self, own: Sequence[Any]) -> tuple[Any, ...]:
        named = zip(self.declared.own_names, own, strict=True)
        values: tuple[Any, ...] = self.declared.make_own([self._value(name, value) for name, value in named])
        return values

    def outline(self, row: tuple[Any, ...]) -> Outline:
        """Make an outline of what `select_outline` reads."""
        number, key, text, created_at, expires_at, *own = row
        return Outline(number, text_of(key), text_of(text), created_at, expires_at, self._own_values(own))

    def whole(self, tenant: str, row: tuple[Any, ...]) -> Entry | None:
        """Make an entry of what `select_whole` reads; `None` if the row is damaged."""
        key, text, payload, *own, created_at, expires_at, last_used_at, embedding, embedder, of_row, of_embedding = row
        entry = Entry(
            text_of(key),
            text_of(text),
            self._payload(payload),
            created_at,
            expires_at,
            last_used_at,
            self._own_values(own),
            None if embedding is None else vector_bytes(embedding),
            text_of(embedder),
        )
        sound = checked(self.declared, tenant, self._settled(entry), of_row, of_embedding)
        return None if sound is None else replace(entry, embedding=sound.embedding, embedder=sound.embedder)

    def entries(self, tenant: str, rows: Iterable[tuple[Any, ...]]) -> list[Entry]:
        """Make entries of what `select_whole` reads, leaving out the damaged ones."""
        return [entry for row in rows if (entry := self.whole(tenant, row)) is not None]

    def _payload(self, stored: bytes) -> bytes:
        return _canonical(stored).encode() if self.is_tools else unescaped(stored)

    def _value(self, name: str, stored: Any) -> Any:
        if self.is_tools and name in _JSON:
            return _canonical(stored)
        return stored if name in self._numbers else text_of(stored)


def _canonical(stored: bytes | str) -> str:
    """Return JSON as it was put: JSONB keeps neither spaces nor the order of names."""
    import orjson

    return canonical_json(orjson.loads(stored))


def _settled(stored: bytes | str) -> bytes:
    """Return JSON in a form that JSONB does not change: it writes 1e16 as a whole number, and -0.0 as 0.0."""
    try:
        value = json.loads(stored, parse_int=float, parse_float=lambda number: float(number) + 0.0)
    except ValueError:  # the database will refuse it
        return b""
    return canonical_json(value).encode()


def vector_text(embedding: bytes | None) -> str | None:
    """Return a vector (float32, little-endian) as pgvector reads it; `None` where it is none that can be compared."""
    if not embedding or len(embedding) % 4:
        return None
    import numpy as np

    vector = np.frombuffer(embedding, "<f4")
    if not np.isfinite(vector).all() or len(vector) > MAX_DIMENSION:
        return None
    return f"[{','.join(map(str, vector.tolist()))}]"


def vector_bytes(sent: bytes) -> bytes:
    """Return a vector (float32, little-endian) of what pgvector's `vector_send` gives."""
    import numpy as np

    return np.frombuffer(sent, ">f4", offset=4).astype("<f4").tobytes()


MAX_DIMENSION = 16_000
"""Numbers that pgvector's vectors have at the most."""

POSTGRES_TABLES: Mapping[str, PostgresTable] = {name: PostgresTable(table) for name, table in TABLES.items()}
