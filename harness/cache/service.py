"""`Cache`: one look-up, one outcome. Exact first, then by meaning; what is missing is computed once."""

import copy
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import orjson
from msgspec import structs

from harness.cache.lookup import encode
from harness.cache.maintenance import Maintenance
from harness.cache.researches import Researches
from harness.cache.tables import ANSWERS, EVERY_TABLE, MADE, RUNS, SEARCHES, TABLES, TOOLS, UNANSWERED
from harness.cache.tools import Tools
from harness.cache.usage import Use
from harness.core.audits import Audit
from harness.core.entries import Entry, TableStats
from harness.core.freshness import DAY
from harness.core.keys import search_key
from harness.core.origins import EVERY, OWN
from harness.core.tables import RunColumns
from harness.errors import NotFound

if TYPE_CHECKING:  # for who looks at them
    from harness.cache.audit import Audited

RUN_TTL = 400 * DAY
"""How long it is remembered what a run was answered with."""


class Cache(Maintenance, Researches, Tools):
    """Cache of searches, researches, pages, completions and tool results in a `Store`, for one tenant.

    Look-ups never change what is stored, but for a note of use at most once an hour. Expired rows stay until the next
    write of their table sweeps them (later, where stale answers are allowed). Empty results are kept as what they are,
    for a short time. Without `semantics` only the very same query is answered.
    """

    # Maintenance -------------------------------------------------------------------------------------------------

    def stats(self) -> list[TableStats]:
        """Count what each table holds."""
        embedder = self.semantics.embedder.id if self.semantics else ""
        meant = [self._store.listings.stats(table, self._tenant, self._clock(), embedder) for table in TABLES]
        exact = [
            self._store.listings.stats(table, self._tenant, self._clock()) for table in ANSWERS if table not in TABLES
        ]
        # which are to have no vectors, but for the tools' that are in words
        missing = {TOOLS: len(self.unembedded_tools())}
        return [*meant, *(structs.replace(each, unembedded=missing.get(each.table, 0)) for each in exact)]

    def counted(self, origins: Sequence[str] = EVERY) -> dict[str, int]:
        """Return how often searches were answered for these origins, by how (see `uses.How`), over all days."""
        total = Counter[str]()
        for times in self.counted_by_day(origins).values():
            total.update(times)
        return dict(total)

    def counted_by_day(self, origins: Sequence[str] = EVERY) -> dict[str, dict[str, int]]:
        """Return how often searches were answered for these origins, by how, on each day (YYYY-MM-DD, UTC), the
        earliest first.

        What this cache has not stored yet counts as today's.
        """
        self.flush()
        return self._store.usage.by_day(self._tenant, origins)

    def size(self) -> int:
        """Return the bytes that the database takes on disk."""
        return self._store.admin.size()

    def clear(self) -> dict[str, int]:
        """Delete everything but the records of runs, and what audits found; return how many rows of each table."""
        deleted = {table: self._store.admin.clear(table, self._tenant) for table in (*ANSWERS, *MADE, UNANSWERED)}
        return {table: deleted[table] for table in ANSWERS}

    def sweep(self) -> dict[str, int]:
        """Delete what is expired; return how many rows of each table."""
        deleted = {table: self._store.rows.sweep(table, self._tenant, self._clock()) for table in EVERY_TABLE}
        return {table: deleted[table] for table in ANSWERS}

    def refreshing(self) -> Self:
        """Return this cache as one that answers nothing from what it holds, and stores what is asked anew."""
        mine = copy.copy(self)
        mine.policy = structs.replace(self.policy, read=False)
        return mine

    # Audits ------------------------------------------------------------------------------------------------------

    def audits(self) -> list[Audit]:
        """Return what the audits of look-ups by meaning found, one of each pair of queries; the oldest first."""
        return self._store.audits.all(self._tenant)

    def audited(self) -> "Audited":
        """Return how many pairs of queries were audited, and what share of them disagreed."""
        from harness.cache.audit import summed

        return summed(self._store.audits.count(self._tenant))

    def restore_audit(self, audit: Audit) -> bool:
        """Keep what an audit found elsewhere, unless as much is known here; return whether it was."""
        return self._store.audits.put(self._tenant, audit)

    def clear_audits(self) -> int:
        """Forget what audits found, so that pairs that disagreed may answer each other again; return of how many."""
        return self._store.audits.clear(self._tenant)

    # Runs --------------------------------------------------------------------------------------------------------

    def recording(self, began: float | None = None) -> Self:
        """Return this cache with its own list of `uses`, for one run that began at `began` (seconds since the epoch).

        Rows stored since then never answer by meaning: the searches of one run do not answer each other, also when the
        run is resumed. Where a run is resumed (`began` is given) with `read` off, rows stored since then still answer
        exactly: what the run has paid for is not asked again.
        """
        mine = copy.copy(self)
        mine._uses = []  # noqa: SLF001 - same class
        mine.began = self._clock() if began is None else began
        mine._resumed = began is not None  # noqa: SLF001
        mine.tokens = 0
        return mine

    @property
    def uses(self) -> list[Use]:
        """What was answered since `recording`, in the order of the answers."""
        return list(self._uses or ())

    def put_run(self, run: str, question: str, engine: str, record: Mapping[str, Any]) -> None:
        """Keep the record of a run (JSON), under the id `run`.

        Raises:
            StoreError: the store cannot take it.
        """
        now = self._clock()
        entry = Entry(run, question, encode(record), now, now + RUN_TTL, now, RunColumns(engine))
        self._store.rows.put(RUNS, self._tenant, entry, sweep_before=now)
        self._mark(RUNS, run)

    def claim(self, query: str, engine: str, options: Mapping[str, Any]) -> None:
        """Note that a user or agent asked a search that was stored for a run, an evaluation or an experiment: from now
        on it is in their history.

        Raises:
            InvalidInput: an unusable query.
            StoreError: the store cannot be read.
        """
        key = search_key(query, engine, options)
        if self.policy.write and self.origin in OWN and key in self._store.usage.origins(SEARCHES, self._tenant, [key]):
            self._mark(SEARCHES, key)

    def get_run(self, run: str) -> dict[str, Any]:
        """Return the record of the run with this id.

        Raises:
            NotFound: there is no such run.
            StoreError: the store cannot be read.
        """
        entry = self._store.rows.get(RUNS, self._tenant, run)
        if entry is None:
            raise NotFound(f"no such run: {run!r}; `harness cache runs` lists them")
        record: dict[str, Any] = orjson.loads(entry.payload)
        return record

    def runs(self) -> list[Entry]:
        """Return the recorded runs, newest first: key is the id, text the question, payload the record."""
        return sorted(self._store.listings.scan(RUNS, self._tenant), key=lambda entry: (entry.created_at, entry.key))[
            ::-1
        ]
