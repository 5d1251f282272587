"""Scopes: their vectors, read from the rows in batches; the newest ones, the tail, in memory."""

import hashlib
import heapq
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, NamedTuple

from harness.core.freshness import latest_creation
from harness.ports import Vectors
from harness.storage.sqlite.database import Database
from harness.storage.tables import FRESH, TABLES

BATCH = 2_000
"""Rows read at a time where not all may be in memory."""
FIRST_ROOM = 64
"""Rows that there is room for from the first one on."""
GROWING = 10_000
"""Up to so many rows the room for them doubles; then it grows by `STEP`."""
STEP = 2_000
ROUNDING = 1e-5
"""Similarities are computed again from the rows, and may come out so much otherwise."""
MAX_OFF = 0.01
"""Allowed difference between 1 and the square of a unit vector's length."""


class VectorScope(NamedTuple):
    """Rows that are compared with each other: of one table and tenant, with equal scope columns, of one embedder."""

    table: str
    tenant: str
    values: tuple[str, ...]
    embedder: str

    @property
    def collection(self) -> str:
        """The name of the scope's collection in the index."""
        digest = hashlib.sha256(repr((self.tenant, self.values, self.embedder)).encode(errors="replace")).hexdigest()
        return f"{self.table}_vec-{digest[:16]}"

    @property
    def condition(self) -> str:
        """The SQL condition for the scope's rows; binds `bound`."""
        return TABLES[self.table].in_scope

    @property
    def bound(self) -> tuple[str, ...]:
        """The values that `condition` binds."""
        return (self.tenant, *self.values, self.embedder)


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
    import numpy as np

    best: list[tuple[float, int]] = []
    while rows := scope_rows(connections, scope, since, len(vector), upto, now):
        similarities = np.vecdot(np.stack([row[1] for row in rows]), vector)
        best = heapq.nlargest(k, [*best, *((float(s), row[0]) for s, row in zip(similarities, rows, strict=True))])
        since = rows[-1][0]
    return [seq for _, seq in best]


class Tail:
    """The vectors of one scope's rows after `since`, in memory: `matrix[:len(seqs)]`, shape (rows, dimension).

    `complete` says whether all rows up to the newest are held; the number in memory is limited.
    """

    def __init__(self, since: int, generation: str) -> None:
        self.since = since
        self.generation = generation
        self.last = since
        self.complete = True
        self.newest: tuple[Any, ...] | None = None
        """Key and time of the row at `last`."""
        self.seqs: list[int] = []
        self.matrix: Any = None

    def add(self, rows: list[tuple[int, Any]]) -> None:
        """Take in rows (seq, vector) newer than all that are held."""
        import numpy as np

        held, needed = len(self.seqs), len(self.seqs) + len(rows)
        if self.matrix is None or needed > len(self.matrix):
            room = max(FIRST_ROOM, needed, 2 * held if held < GROWING else held + STEP)
            grown = np.empty((room, len(rows[0][1])), np.float32)
            if held:
                grown[:held] = self.matrix[:held]
            self.matrix = grown
        for place, (_, vector) in enumerate(rows, start=held):
            self.matrix[place] = vector
        self.seqs.extend(seq for seq, _ in rows)
        self.last = rows[-1][0]

    @property
    def room(self) -> int:
        """Return its size in rows: those that it holds, at least `FIRST_ROOM`."""
        return max(FIRST_ROOM, len(self.seqs))

    def cut(self, upto: int) -> None:
        """Forget the rows up to `upto`: the index has them."""
        first = bisect_right(self.seqs, upto)
        self.seqs = self.seqs[first:]
        self.matrix = None if not self.seqs else self.matrix[first : first + len(self.seqs)].copy()
        self.since = upto
        self.last = max(self.last, upto)


def is_unit(embedding: Any, dimension: int) -> bool:
    """Say whether a row's embedding is a unit vector of this dimension: float32, finite, of length 1."""
    import numpy as np

    if type(embedding) is not bytes or not dimension or len(embedding) != 4 * dimension:
        return False
    vector = np.frombuffer(embedding, np.float32)
    with np.errstate(all="ignore"):  # what is damaged may be of any size
        return abs(float(vector @ vector) - 1.0) < MAX_OFF  # false for NaN, too


def by_similarity(seqs: list[int], matrix: Any, vector: Vectors, k: int, at_least: float) -> Iterator[list[int]]:
    """Yield seqs in batches, the nearest first: `k` and all as near as the last of them, then more."""
    import numpy as np

    if not seqs:
        return
    # one thread: those of BLAS wait for each other on a busy machine
    similarities = np.vecdot(matrix[: len(seqs)], vector)
    near = np.flatnonzero(similarities >= at_least - ROUNDING) if at_least > 0 else np.arange(len(seqs))
    places = near[np.argsort(-similarities[near])]
    end = k
    while 0 < end < len(places) and similarities[places[end]] >= similarities[places[k - 1]] - ROUNDING:
        end += 1
    yield [seqs[place] for place in places[:end]]
    for start in range(end, len(places), 100):
        yield [seqs[place] for place in places[start : start + 100]]
