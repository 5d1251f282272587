"""The `Store` on PostgreSQL with pgvector: one database for a team."""

from harness.storage.postgres.admin import PostgresAdmin
from harness.storage.postgres.audits import PostgresAudits
from harness.storage.postgres.connections import PostgresConnections, checked_url
from harness.storage.postgres.listings import PostgresListings
from harness.storage.postgres.locks import AdvisoryLocks
from harness.storage.postgres.nearest import PostgresNearest
from harness.storage.postgres.rows import PostgresRows
from harness.storage.postgres.statements import Statements
from harness.storage.postgres.usage import PostgresUsage
from harness.storage.postgres.vectors import INDEX_FROM, HnswIndexes

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
        self._connections = PostgresConnections(checked_url(url), busy_seconds)
        statements = Statements(self._connections)
        self.vectors = HnswIndexes(self._connections, index_from=index_from)
        self.rows = PostgresRows(statements)
        self.listings = PostgresListings(statements, self.vectors)
        self.nearest = PostgresNearest(statements, self.vectors)
        self.usage = PostgresUsage(statements)
        self.audits = PostgresAudits(statements)
        self.locks = AdvisoryLocks(self._connections)
        self.admin = PostgresAdmin(statements, self.vectors, self.rows, self.audits)

    def close(self) -> None:
        """See `Store.close`. A later call opens again."""
        self.locks.close()
        self._connections.close()
