"""Semantic lookups in PostgreSQL."""

from collections.abc import Sequence

from harness.core.entries import Entry
from harness.storage.checksums import embedding_checksum
from harness.storage.postgres.dialect import POSTGRES_TABLES, escaped, text_of
from harness.storage.postgres.row_codec import ROW_CODECS, vector_text
from harness.storage.postgres.statements import Statements
from harness.storage.postgres.vectors import HnswIndexes
from harness.storage.tables import ABBREVIATIONS


class PostgresNearest:
    """The port `Nearest` on PostgreSQL."""

    def __init__(self, statements: Statements, vectors: HnswIndexes) -> None:
        self._statements = statements
        self.search = vectors.nearest

    def by_words(self, table: str, tenant: str, terms: Sequence[str], *, k: int, now: float) -> list[Entry]:
        """See `Nearest.by_words`."""
        declared = POSTGRES_TABLES[table]
        wanted = " | ".join(f"'{word}'" for term in terms if (word := _lexeme(term)))
        if not wanted or k <= 0:
            return []
        matching = f"words @@ to_tsquery('english', $2) AND {declared.fresh(3)}"
        order = "ORDER BY ts_rank_cd(words, to_tsquery('english', $2)) DESC, seq LIMIT $4"
        sql = f"{declared.select_whole} WHERE {declared.mine} AND {matching} {order}"
        return ROW_CODECS[table].entries(tenant, self._statements.fetch_all(tenant, sql, wanted, now, k))

    def scopes(self, table: str, tenant: str, embedder: str) -> list[tuple[str, ...]]:
        """See `Nearest.scopes`."""
        declared = POSTGRES_TABLES[table]
        columns = ", ".join((*declared.declared.scope, "embedder"))
        condition = f"{declared.mine} AND embedder = $2"
        sql = f"SELECT DISTINCT {columns} FROM {declared.name} WHERE {condition} ORDER BY {columns}"
        return [tuple(map(text_of, scope)) for *scope, _ in self._statements.fetch_all(tenant, sql, embedder)]

    def unembedded(self, table: str, tenant: str, embedder: str, limit: int) -> list[tuple[str, str]]:
        """See `Nearest.unembedded`."""
        declared = POSTGRES_TABLES[table]
        columns = f"{declared.column('key')}, {declared.declared.text}"
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
        bound = (escaped(tenant), escaped(key), vector, embedder, checksum)
        self._statements.write(tenant, lambda connection: connection.execute(f"{sql} WHERE {declared.one}", bound))

    def meanings(self, tenant: str, shorts: Sequence[str]) -> list[tuple[str, str]]:
        """See `Nearest.meanings`."""
        sql = f"SELECT written, meaning FROM {ABBREVIATIONS} WHERE tenant = $1 AND short = ANY ($2::text[])"
        rows = (
            self._statements.fetch_all(tenant, sql, [escaped(short.casefold()) for short in shorts]) if shorts else []
        )
        return [(text_of(short), text_of(long)) for short, long in rows]


def _lexeme(term: str) -> str:
    """Return a term that can stand between the quotes of a query: without quotes, escapes and NUL characters."""
    return "".join(" " if char in "'\\\0" else char for char in term).strip()
