"""The `Store` on PostgreSQL with pgvector: one database for a team."""

from harness.ports import Admin, Audits, Listings, Locks, Nearest, Rows, Usage
from harness.storage.audits import SqlAudits
from harness.storage.listings import SqlListings
from harness.storage.postgres.admin import PostgresAdmin
from harness.storage.postgres.connections import PostgresConnections, url_parts
from harness.storage.postgres.locks import AdvisoryLocks
from harness.storage.postgres.nearest import PostgresNearest
from harness.storage.postgres.rows import PostgresRows
from harness.storage.postgres.statements import PostgresStatements
from harness.storage.postgres.vectors import INDEX_FROM, HnswIndexes
from harness.storage.usage import SqlUsage

BUSY_SECONDS = 30.0


class PostgresStore:
    """Cache tables in the PostgreSQL database at `url` (15 or newer, with the extension pgvector), created or migrated
    on opening.

    What `put` acknowledged is committed. Threads take connections from a pool; a forked child opens its own. When the
    server restarts or cannot be reached, callers wait for up to `busy_seconds`, then get `StoreBusy`. Row-level
    security backs up the conditions of every statement. Sessions hold state (the tenant, locks), so a pooler in front
    of the server must pool sessions, not transactions.

    Raises:
        InvalidInput: `url` is not the address of a database.
        StoreError: the database cannot be opened (`MigrationError`, `StoreBusy` where that is the reason).
    """

    def __init__(self, url: str, *, busy_seconds: float = BUSY_SECONDS, index_from: int = INDEX_FROM) -> None:
        url_parts(url)  # or it is none
        self._connections = PostgresConnections(url, busy_seconds)
        statements = PostgresStatements(self._connections)
        self.vectors = HnswIndexes(statements, index_from=index_from)
        self.rows: Rows = PostgresRows(statements)
        self.listings: Listings = SqlListings(statements, self.vectors.counts)
        self.nearest: Nearest = PostgresNearest(statements, self.vectors)
        self.usage: Usage = SqlUsage(statements)
        self.audits: Audits = SqlAudits(statements)
        self._locks = AdvisoryLocks(self._connections)
        self.locks: Locks = self._locks
        self.admin: Admin = PostgresAdmin(statements, self.vectors)

    def close(self) -> None:
        """See `Store.close`. A later call opens again."""
        self._locks.close()
        self._connections.close()
