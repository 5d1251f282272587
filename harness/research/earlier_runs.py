"""Earlier runs: which of them read a passage of the library."""

from functools import cached_property

import msgspec
from msgspec import Struct

from harness.cache import Cache
from harness.errors import NotFound
from harness.library.held_passages import MAX_TITLE_CHARS, HeldPassage
from harness.research.gathering import Round
from harness.research.run_record import run_start


class _Gathered(Struct, frozen=True):
    """The part of a run's record that says what was searched and read."""

    rounds: tuple[Round, ...] = ()


class EarlierRuns:
    """The newest runs of a tenant, as one research needs them: their list and each record are read once."""

    def __init__(self, cache: Cache) -> None:
        self._runs = cache.runs
        self._known: dict[str, tuple[set[str], set[str]]] = {}

    def that_read(self, passage: HeldPassage) -> str:
        """Return the id of the run whose search or page reading brought a passage; "" if none of the newest did.

        Raises:
            StoreError: the store cannot be read.
        """
        for began, recorded, run in self._spans:
            if began <= passage.fetched_at <= recorded:
                queries, urls = self._read(run)
                if passage.found_by in queries if passage.source == "snippet" else passage.url in urls:
                    return run
        return ""

    @cached_property
    def _spans(self) -> list[tuple[float, float, str]]:
        """Start, last record and id of each run."""
        found = []
        for row in self._runs.newest():
            try:
                found.append((run_start(row.key), row.created_at, row.key))
            except ValueError:  # an id that is none of ours
                continue
        return found

    def _read(self, run: str) -> tuple[set[str], set[str]]:
        """Return the queries and URLs that went out during a run, not those that the cache answered."""
        if run not in self._known:
            try:
                rounds = msgspec.convert(self._runs.get(run), _Gathered).rounds
            except (NotFound, ValueError):  # deleted since, or damaged
                rounds = ()
            searches = (each for done in rounds for each in done.searches)
            pages = (each for done in rounds for each in done.pages)
            self._known[run] = (
                {each.query[:MAX_TITLE_CHARS] for each in searches if each.answered_by == "live"},
                {each.url for each in pages if each.answered_by == "live"},
            )
        return self._known[run]
