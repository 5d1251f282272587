"""Records of research runs."""

from collections.abc import Mapping
from typing import Any

import orjson

from harness.cache.context import CachePart
from harness.cache.lookup_request import encoded_json
from harness.core.entries import Entry, Outline
from harness.core.freshness import DAY
from harness.core.tables import RUNS, RunColumns
from harness.errors import NotFound

RUN_TTL = 400 * DAY
"""Lifetime of the record of a run."""
MAX_LISTED = 1_000


class RunRecords(CachePart):
    """Records of the runs of one tenant, by the id of the run."""

    def put(self, run: str, question: str, engine: str, record: Mapping[str, Any]) -> None:
        """Store the record of a run (JSON).

        Raises:
            StoreError: the store cannot take it.
        """
        now = self._context.clock()
        entry = Entry(run, question, encoded_json(record), now, now + RUN_TTL, now, RunColumns(engine))
        self._store.rows.put(RUNS, self._tenant, entry, sweep_before=now)
        self._lookup.mark_origin(RUNS, run)

    def get(self, run: str) -> dict[str, Any]:
        """Return the record of a run.

        Raises:
            NotFound: there is no such run.
            StoreError: the store cannot be read.
        """
        entry = self._store.rows.get(RUNS, self._tenant, run)
        if entry is None:
            raise NotFound(f"no such run: {run!r}; `harness runs` lists them")
        record: dict[str, Any] = orjson.loads(entry.payload)
        return record

    def newest(self) -> list[Outline]:
        """Return the newest `MAX_LISTED` runs, the last recorded first, without their records.

        Raises:
            StoreError: the store cannot be read.
        """
        return self._store.listings.timeline(RUNS, self._tenant, limit=MAX_LISTED)

    def all(self) -> list[Entry]:
        """Return the rows of all runs, newest first: `key` is the id, `text` the question, `payload` the record."""
        found = self._store.listings.scan(RUNS, self._tenant)
        return sorted(found, key=lambda entry: (entry.created_at, entry.key), reverse=True)
