"""Rows of PostgreSQL as entries, and entries as rows."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from harness.core.entries import Entry, Outline
from harness.core.keys import canonical_json
from harness.storage.checksums import checked, checksums
from harness.storage.postgres.dialect import (
    JSON_COLUMNS,
    POSTGRES_TABLES,
    PostgresTable,
    escaped,
    text_of,
    unescaped,
)
from harness.storage.postgres.word_search import texts_for_words


class RowCodec:
    """Converts rows of one table."""

    def __init__(self, table: PostgresTable) -> None:
        self.table = table
        self._numbers = {column.split()[0] for column in table.own if "INTEGER" in column}

    def values(self, tenant: str, entry: Entry) -> tuple[Any, ...]:
        """Return what the entry's row holds, in the order of `Table.stored`, then the texts that words are found in."""
        embedding = vector_text(entry.embedding)
        own = (escaped(value) if isinstance(value, str) else value for value in entry.own)
        # the tool table keeps microseconds; rounded here, they are the same when they are read
        created_at, expires_at = (
            round(at, 6) if self.table.is_tools else at for at in (entry.created_at, entry.expires_at)
        )
        vector = entry.embedding if embedding else None
        held = replace(entry, created_at=created_at, expires_at=expires_at, embedding=vector)
        return (
            *(escaped(tenant), escaped(entry.key), escaped(entry.text), escaped(entry.payload.decode())),
            *own,
            *(created_at, expires_at, entry.last_used_at),
            embedding,
            escaped(entry.embedder) if embedding and entry.embedder else None,
            *checksums(self.table, tenant, self._settled(held)),
            *self._words(entry),
        )

    def _words(self, entry: Entry) -> list[str]:
        if not self.table.words:
            return []
        named = {**dict(zip(self.table.own_names, entry.own, strict=True)), self.table.text: entry.text}
        texts = (escaped(named[name]) for name in self.table.words)
        return texts_for_words(named.get("language") or "", texts)

    def _settled(self, entry: Entry) -> Entry:
        """Return the entry as its checksum sees it: the same before it is put and after it was read."""
        if not self.table.is_tools:
            return entry
        own = zip(self.table.own_names, entry.own, strict=True)
        values = tuple(_settled(value).decode() if name in JSON_COLUMNS else value for name, value in own)
        return replace(entry, payload=_settled(entry.payload), own=values)

    def found(self, tenant: str, key: str, row: tuple[Any, ...]) -> Entry | None:
        """Make an entry of what `select` reads; `None` if the row is damaged."""
        text, payload, created_at, expires_at, last_used_at, stored, *own = row
        entry = Entry(
            key, text_of(text), self._payload(payload), created_at, expires_at, last_used_at, self._own_values(own)
        )
        return entry if checked(self.table, tenant, self._settled(entry), stored, None) else None

    def _own_values(self, own: Sequence[Any]) -> tuple[Any, ...]:
        named = zip(self.table.own_names, own, strict=True)
        values: tuple[Any, ...] = self.table.make_own([self._value(name, value) for name, value in named])
        return values

    def outline(self, row: tuple[Any, ...]) -> Outline:
        """Make an outline of what `select_outline` reads."""
        number, key, text, created_at, expires_at, *own = row
        return Outline(number, text_of(key), text_of(text), created_at, expires_at, self._own_values(own))

    def whole(self, row: tuple[Any, ...]) -> Entry | None:
        """Make an entry of what `select_whole` reads; `None` if the row is damaged."""
        tenant, key, text, payload, *own = row[:-7]
        created_at, expires_at, last_used_at, embedding, embedder, of_row, of_embedding = row[-7:]
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
        sound = checked(self.table, text_of(tenant), self._settled(entry), of_row, of_embedding)
        return None if sound is None else replace(entry, embedding=sound.embedding, embedder=sound.embedder)

    def entries(self, rows: Iterable[tuple[Any, ...]]) -> list[Entry]:
        """Make entries of what `select_whole` reads, leaving out the damaged ones."""
        return [entry for row in rows if (entry := self.whole(row)) is not None]

    def _payload(self, stored: bytes) -> bytes:
        return _canonical(stored).encode() if self.table.is_tools else unescaped(stored)

    def _value(self, name: str, stored: Any) -> Any:
        if self.table.is_tools and name in JSON_COLUMNS:
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
"""Largest dimension of a vector in pgvector."""

ROW_CODECS: Mapping[str, RowCodec] = {name: RowCodec(table) for name, table in POSTGRES_TABLES.items()}
