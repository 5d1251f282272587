"""Semantic lookups in PostgreSQL."""

from collections.abc import Sequence

from harness.core.entries import Entry
from harness.core.freshness import latest_creation
from harness.storage.checksums import embedding_checksum
from harness.storage.postgres.dialect import POSTGRES_TABLES, text_of
from harness.storage.postgres.row_codec import vector_text
from harness.storage.postgres.statements import PostgresStatements
from harness.storage.postgres.vectors import HnswIndexes
from harness.storage.postgres.word_search import FUNCTION, tsqueries
from harness.storage.tables import ABBREVIATIONS


class PostgresNearest:
    """The port `Nearest` on PostgreSQL."""

    def __init__(self, statements: PostgresStatements, vectors: HnswIndexes) -> None:
        self._statements = statements
        self.search = vectors.nearest

    def by_words(self, table: str, tenant: str, terms: Sequence[str], *, k: int, now: float) -> list[Entry]:
        """See `Nearest.by_words`. The library is the only table with words."""
        queries = tsqueries(terms)
        if not queries or k <= 0:
            return []
        found = f"{FUNCTION}($2::text[], $3, $4, $5) WITH ORDINALITY AS found (matching, place)"
        declared = POSTGRES_TABLES[table]
        sql = f"{declared.select_whole} JOIN {found} ON {declared.column('key')} = matching "
        rows = self._statements.fetch_all(
            tenant, f"{sql} WHERE {declared.mine} ORDER BY place", queries, now, latest_creation(now), k
        )
        return self._statements.entries(table, rows)

    def scopes(self, table: str, tenant: str, embedder: str) -> list[tuple[str, ...]]:
        """See `Nearest.scopes`."""
        declared = POSTGRES_TABLES[table]
        columns = ", ".join((*declared.scope, "embedder"))
        condition = f"{declared.mine} AND embedder = $2"
        sql = f"SELECT DISTINCT {columns} FROM {declared.name} WHERE {condition} ORDER BY {columns}"
        return [tuple(map(text_of, scope)) for *scope, _ in self._statements.fetch_all(tenant, sql, embedder)]

    def unembedded(self, table: str, tenant: str, embedder: str, limit: int) -> list[tuple[str, str]]:
        """See `Nearest.unembedded`."""
        declared = POSTGRES_TABLES[table]
        columns = f"{declared.column('key')}, {declared.text}"
        condition = f"{declared.mine} AND embedder IS DISTINCT FROM $2"
        rows = self._statements.fetch_all(
            tenant, f"SELECT {columns} FROM {declared.name} WHERE {condition} LIMIT $3", embedder, limit
        )
        return [(text_of(key), text_of(text)) for key, text in rows]

    def embed(self, table: str, tenant: str, key: str, embedding: bytes, embedder: str) -> None:
        """See `Nearest.embed`."""
        declared = POSTGRES_TABLES[table]
        changes = "embedding = $3::text::vector, embedder = $4, embedding_checksum = $5, seq = DEFAULT"
        sql = f"UPDATE {declared.name} SET {changes}"
        vector = vector_text(embedding)
        checksum = embedding_checksum(embedding if vector else None, embedder)
        self._statements.change(tenant, f"{sql} WHERE {declared.one}", (key, vector, embedder, checksum))

    def meanings(self, tenant: str, shorts: Sequence[str]) -> list[tuple[str, str]]:
        """See `Nearest.meanings`."""
        sql = f"SELECT written, meaning FROM {ABBREVIATIONS} WHERE tenant = $1 AND short = ANY ($2::text[])"
        rows = self._statements.fetch_all(tenant, sql, [short.casefold() for short in shorts]) if shorts else []
        return [(text_of(short), text_of(long)) for short, long in rows]
