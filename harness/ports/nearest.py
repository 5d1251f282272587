"""Port of lookups by meaning and by words."""

from collections.abc import Sequence
from typing import Protocol

from harness.core.access import needs
from harness.core.entries import Entry, Neighbour
from harness.ports.embedder import Vectors


class Nearest(Protocol):
    """Rows near a vector or with certain words, their embeddings, and abbreviations."""

    @needs("reader")
    def search(
        self,
        table: str,
        tenant: str,
        scope: tuple[str, ...],
        vector: Vectors,
        *,
        embedder: str,
        k: int,
        now: float,
        at_least: float = 0.0,
    ) -> list[Neighbour]:
        """Return up to `k` rows that are not expired at `now` and at least this similar, nearest to `vector` first.

        Only rows whose scope columns equal `scope` and whose embedding is of `embedder` count; `vector` is a unit
        vector, float32, shape (dimension,). Finds what any process put before. The rows carry the embeddings that the
        similarities were computed from. A read: it changes no row.
        """

    @needs("reader")
    def by_words(self, table: str, tenant: str, terms: Sequence[str], *, k: int, now: float) -> list[Entry]:
        """Return up to `k` whole rows that are not expired at `now` and have any of the words `terms` in the table's
        word columns, the best first: by BM25 on SQLite, by `ts_rank_cd` on PostgreSQL. Terms are those that
        `search_terms` gives for a query; words are found in their other forms, too, by the language of the row. Finds
        what any process put before. A read: it changes no row.
        """

    @needs("reader")
    def scopes(self, table: str, tenant: str, embedder: str) -> list[tuple[str, ...]]:
        """Return the distinct values of the scope columns among the tenant's rows with a vector of `embedder`, expired
        or not, in order. A table without scope columns has only `()`.
        """

    @needs("reader")
    def unembedded(self, table: str, tenant: str, embedder: str, limit: int) -> list[tuple[str, str]]:
        """Return key and text of up to `limit` rows without a vector of `embedder`."""

    @needs("writer")
    def embed(self, table: str, tenant: str, key: str, embedding: bytes, embedder: str) -> None:
        """Set the row's embedding, if the row still exists."""

    @needs("reader")
    def meanings(self, tenant: str, shorts: Sequence[str]) -> list[tuple[str, str]]:
        """Return the (short, meaning) pairs that the tenant's rows define for these abbreviations, once per row.
        Compares abbreviations without case.
        """
