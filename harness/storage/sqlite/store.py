"""The `Store` on SQLite: one file, any number of threads and processes."""

from pathlib import Path

from harness.ports import Admin, Audits, Listings, Locks, Nearest, Rows, Usage
from harness.storage.audits import SqlAudits
from harness.storage.listings import SqlListings
from harness.storage.sqlite.admin import SqliteAdmin
from harness.storage.sqlite.connections import Durability, SqliteConnections
from harness.storage.sqlite.database import Database
from harness.storage.sqlite.locks import FileLocks
from harness.storage.sqlite.nearest import SqliteNearest
from harness.storage.sqlite.rows import SqliteRows
from harness.storage.sqlite.statements import SqliteStatements
from harness.storage.sqlite.vectors import TAIL_LIMIT, VectorSearch
from harness.storage.sqlite.words import WordSearch
from harness.storage.usage import SqlUsage

BUSY_SECONDS = 30.0


class SqliteParts:
    """The parts of a `Store` on one SQLite database."""

    def __init__(self, connections: Database, vectors: VectorSearch, words: WordSearch, locks: Locks) -> None:
        self._connections = connections
        statements = SqliteStatements(connections)
        self.vectors = vectors
        self.rows: Rows = SqliteRows(connections)
        self.listings: Listings = SqlListings(statements, vectors.counts)
        self.nearest: Nearest = SqliteNearest(connections, vectors, words)
        self.usage: Usage = SqlUsage(statements)
        self.audits: Audits = SqlAudits(statements)
        self.locks: Locks = locks
        self.admin: Admin = SqliteAdmin(connections, vectors, words)

    def close(self) -> None:
        """See `Store.close`: work of other threads is finished first. A later call opens again."""
        self.vectors.close()
        self._connections.reopen()


class SqliteStore(SqliteParts):
    """Cache tables in the SQLite file at `path`, created or migrated on opening.

    What `put` acknowledged survives `kill -9` of any process. A power cut may lose the last writes where `durability`
    is "normal", and none where it is "full"; the file stays consistent. One connection per thread; a forked child
    opens its own. A damaged file, or one that is no database, is renamed to a dated name, reported by a warning, and
    replaced.

    Raises:
        StoreError: if the file cannot be opened (`MigrationError`, `StoreBusy` where that is the reason).
    """

    def __init__(
        self,
        path: Path,
        *,
        busy_seconds: float = BUSY_SECONDS,
        tail_limit: int = TAIL_LIMIT,
        durability: Durability = "normal",
    ) -> None:
        self.path = path
        connections = SqliteConnections(path, busy_seconds, durability=durability)
        connections.handle()
        vectors = VectorSearch(connections, path.with_name(f"{path.name}.chroma"), tail_limit=tail_limit)
        words = WordSearch(connections, path.with_name(f"{path.name}.words"))
        super().__init__(connections, vectors, words, FileLocks(path.with_name(f"{path.name}.turns")))
