"""Vectors of one scope, read from the rows in batches."""

from typing import Any

from harness.core.freshness import latest_creation
from harness.ports import Vectors
from harness.storage.sqlite.database import Database
from harness.storage.sqlite.tails import VectorScope, is_unit
from harness.storage.tables import FRESH

BATCH = 2_000
"""Rows read at a time where not all may be in memory."""


def scope_rows(
    connections: Database,
    scope: VectorScope,
    since: int,
    dimension: int,
    upto: int | None = None,
    fresh_at: float | None = None,
) -> list[tuple[int, Any]]:
    """Return up to `BATCH` rows after `since`: seq and vector. Damaged embeddings are left out."""
    import numpy as np

    condition, values = f"{scope.condition} AND seq > ?", [*scope.bound, since]
    if upto is not None:
        condition, values = f"{condition} AND seq <= ?", [*values, upto]
    if fresh_at is not None:
        condition, values = f"{condition} AND +{FRESH}", [*values, fresh_at, latest_creation(fresh_at)]
    sql = f"SELECT seq, embedding FROM {scope.table} WHERE {condition} ORDER BY seq LIMIT {BATCH}"
    while rows := connections.fetch_all(sql, tuple(values)):
        found = [(seq, np.frombuffer(held, np.float32)) for seq, held in rows if is_unit(held, dimension)]
        if found:
            return found
        values[len(scope.bound)] = rows[-1][0]
    return []


def usual_dimension(connections: Database, scope: VectorScope) -> int:
    """Return the commonest dimension of the scope's vectors; 0 when there are none."""
    row = connections.fetch_one(
        f"SELECT length(embedding) FROM {scope.table} WHERE {scope.condition} AND embedding IS NOT NULL "
        "GROUP BY 1 ORDER BY count(*) DESC LIMIT 1",
        scope.bound,
    )
    return (row[0] or 0) // 4 if row else 0


def scan_nearest(
    connections: Database, scope: VectorScope, since: int, upto: int | None, vector: Vectors, k: int, now: float
) -> list[int]:
    """Compare all fresh rows after `since`, up to `upto`, in batches: exact, slow, and in bounded memory."""
    import heapq

    import numpy as np

    best: list[tuple[float, int]] = []
    while rows := scope_rows(connections, scope, since, len(vector), upto, now):
        similarities = np.vecdot(np.stack([row[1] for row in rows]), vector)
        best = heapq.nlargest(k, [*best, *((float(s), row[0]) for s, row in zip(similarities, rows, strict=True))])
        since = rows[-1][0]
    return [seq for _, seq in best]
