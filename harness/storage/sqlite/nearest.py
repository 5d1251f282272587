"""Semantic lookups in a SQLite file."""

from collections.abc import Sequence
from typing import Any

from harness.core.entries import Entry, Neighbour
from harness.core.freshness import latest_creation
from harness.ports import Vectors
from harness.storage.checksums import embedding_checksum
from harness.storage.sqlite.connections import Handle
from harness.storage.sqlite.database import Database
from harness.storage.sqlite.entries import as_text, entry_of, marks
from harness.storage.sqlite.scopes import VectorScope, is_unit
from harness.storage.sqlite.vectors import VectorSearch
from harness.storage.sqlite.words import WordSearch
from harness.storage.tables import ABBREVIATIONS, FRESH, MAX_BOUND, TABLES


class SqliteNearest:
    """The port `Nearest` on SQLite."""

    def __init__(self, connections: Database, vectors: VectorSearch, words: WordSearch) -> None:
        self._connections = connections
        self._vectors = vectors
        self._words = words

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
        """See `Nearest.search`. Each similarity is computed from the row, whatever the index said."""
        found: dict[int, tuple[float, str]] = {}

        def take(seqs: Sequence[int]) -> int:
            checked = self._checked(VectorScope(table, tenant, scope, embedder), seqs, vector, now)
            found.update((seq, near) for seq, near in checked.items() if near[0] >= at_least)
            return len(checked)  # less similar rows count: behind them there is nothing more similar to look for

        self._vectors.nearest(VectorScope(table, tenant, scope, embedder), vector, k, take, now=now, at_least=at_least)
        nearest = sorted(found, key=lambda seq: (-found[seq][0], found[seq][1]))[:k]
        entries = self._entries(table, nearest)
        return [
            Neighbour(entry, found[seq][0])
            for seq in nearest
            if (entry := entries.get(seq)) is not None and entry.embedding is not None
        ]

    def by_words(self, table: str, tenant: str, terms: Sequence[str], *, k: int, now: float) -> list[Entry]:
        """See `Nearest.by_words`."""
        found: list[Entry] = []
        for seqs in self._words.matches(table, tenant, terms, k):
            held = self._entries(table, seqs, f" AND +tenant = ? AND +{FRESH}", (tenant, now, latest_creation(now)))
            found += [entry for seq in seqs if (entry := held.get(seq)) is not None]
            if len(found) >= k:
                break
        return found[:k]

    def _entries(
        self, table: str, seqs: Sequence[int], condition: str = "", bound: tuple[Any, ...] = ()
    ) -> dict[int, Entry | None]:
        """Return the whole rows of these seqs that fulfil a condition; `None` for damaged ones."""
        declared = TABLES[table]
        entries: dict[int, Entry | None] = {}
        for start in range(0, len(seqs), MAX_BOUND):
            part = tuple(seqs[start : start + MAX_BOUND])
            sql = f"{declared.select_numbered} WHERE seq IN ({marks(part)}){condition}"
            rows = self._connections.fetch_all(sql, (*part, *bound))
            entries.update((row[0], entry_of(declared, row[1:])) for row in rows)
        return entries

    def _checked(
        self, scope: VectorScope, seqs: Sequence[int], vector: Vectors, now: float
    ) -> dict[int, tuple[float, str]]:
        """Return similarity and key of those of the rows that are there, in this scope, whole and not expired."""
        import numpy as np

        found: dict[int, tuple[float, str]] = {}
        for start in range(0, len(seqs), MAX_BOUND):
            part = seqs[start : start + MAX_BOUND]
            # the signs keep SQLite from scanning the whole index of a scope or of expiry times instead
            others = scope.condition.replace(" AND ", " AND +")
            condition = f"+{others} AND seq IN ({marks(part)}) AND +{FRESH}"
            sql = f"SELECT seq, key, embedding FROM {scope.table} WHERE {condition}"
            for seq, key, held in self._connections.fetch_all(sql, (*scope.bound, *part, now, latest_creation(now))):
                if is_unit(held, len(vector)):
                    similarity = float(np.frombuffer(held, np.float32) @ vector)
                    found[seq] = (min(1.0, max(0.0, similarity)), as_text(key))
        return found

    def scopes(self, table: str, tenant: str, embedder: str) -> list[tuple[str, ...]]:
        """See `Nearest.scopes`; by hops from one to the next along an index, instead of reading all of it."""
        names = (*TABLES[table].scope, "embedder")
        columns = ", ".join(names)
        sql = (
            f"SELECT {columns} FROM {TABLES[table].name} WHERE tenant = ? AND ({columns}) >= ({marks(names)}) "
            f"ORDER BY {columns} LIMIT 1"
        )

        def hop(handle: Handle) -> list[tuple[Any, ...]]:
            found: dict[tuple[Any, ...], None] = {}
            least = ("",) * len(names)
            with handle.connection as connection:  # all hops see one moment
                connection.execute("BEGIN")
                while row := connection.execute(sql, (tenant, *least)).fetchone():
                    place = tuple(map(as_text, row))
                    if place in found:  # what is no text, in a damaged row, may come before what it is read as
                        break
                    found[place] = None
                    *scope, of = place
                    least = (*scope, "" if of is None else f"{of}\0")  # no text is between one and itself with a NUL
            return list(found)

        return [tuple(scope) for *scope, of in self._connections.run(hop) if of == embedder]

    def unembedded(self, table: str, tenant: str, embedder: str, limit: int) -> list[tuple[str, str]]:
        """See `Nearest.unembedded`."""
        declared = TABLES[table]
        # by this index, or the search for what is rarely there would read every row
        source = f"{table} INDEXED BY {table}_scope"
        sql = f"SELECT key, {declared.text} FROM {source} WHERE tenant = ? AND embedder IS NOT ? LIMIT ?"
        return [
            (as_text(key), as_text(text)) for key, text in self._connections.fetch_all(sql, (tenant, embedder, limit))
        ]

    def embed(self, table: str, tenant: str, key: str, embedding: bytes, embedder: str) -> None:
        """See `Nearest.embed`. The row is rewritten under a new `seq`, so that every process notices."""
        new = {
            "embedding": embedding,
            "embedder": embedder,
            "embedding_checksum": embedding_checksum(embedding, embedder),
        }
        stored = TABLES[table].stored
        # all else stays as it is, bytes that are no text too; a checksum computed again would hide damage
        values = ", ".join(f":{column}" if column in new else column for column in stored)
        sql = (
            f"INSERT OR REPLACE INTO {table} ({', '.join(stored)}) "
            f"SELECT {values} FROM {table} WHERE tenant = :tenant AND key = :key"
        )
        self._connections.write(lambda connection: connection.execute(sql, {**new, "tenant": tenant, "key": key}))

    def meanings(self, tenant: str, shorts: Sequence[str]) -> list[tuple[str, str]]:
        """See `Nearest.meanings`."""
        sql = f"SELECT written, meaning FROM {ABBREVIATIONS} WHERE tenant = ? AND short IN ({marks(shorts)})"
        return [
            (as_text(short), as_text(long))
            for short, long in self._connections.fetch_all(sql, (tenant, *(s.casefold() for s in shorts)))
        ]
