"""Usage of a cache: how often it answered, and what answered one run."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from harness.core.origins import EVERY
from harness.errors import StoreError
from harness.storage.forks import reset_in_child

if TYPE_CHECKING:
    from harness.cache.context import CacheContext

log = logging.getLogger(__name__)

How: TypeAlias = Literal["exact", "semantic", "stale", "no results", "library", "live", "failed", "derived"]
CALL_SAVED: tuple[How, ...] = ("exact", "semantic", "stale", "no results", "library")
CALLED: tuple[How, ...] = ("live", "failed")
"""Answers without a live call, and with one."""

FLUSH_AFTER = 2_000
"""Answers that are counted in memory before they are stored."""

MOST_NOTED = 5
"""Rows whose reuse is noted by one flush, the most reused ones: of every 2,000 answers of a busy server."""
MAX_DETAIL_CHARS = 200

Event: TypeAlias = tuple[str, How, str, str, str]
"""One answer: for whom (see `RunOrigin`), how, the table, the engine, reader, model or tool, and the key of the row
that answered; of a live call instead, why the cache did not answer ("" if that is not known).
"""
_Kind: TypeAlias = tuple[str, How, str, str]
_KIND = itemgetter(0, 1, 2, 3)
_LAST = itemgetter(1, 2, 4)
NO_ROW = (*CALLED, "no results")
"""Answers that no row gave."""
_SOURCE, _ROW, _MISS = "source", "row", "miss"


class Use(Struct, frozen=True):
    """One answer that a run got: the table and key it asked for, the key of the row that answered, how, and a SHA-256
    of the answer's bytes. A failure has its error's code and message instead of an answer; a `derived` value was
    computed from answers.
    """

    table: str
    asked: str
    served: str
    how: How
    digest: str = ""
    error: str = ""


class RunUsage(Struct):
    """Answers and tokens of one run that began at `began` (seconds since the epoch); `answer_tokens` are those that
    models wrote. Outside a run (`None`), only tokens are counted.
    """

    began: float | None = None
    resumed: bool = False
    uses: list[Use] = []
    tokens: int = 0
    answer_tokens: int = 0

    def add(self, table: str, asked: str, served: str, how: How, payload: bytes) -> None:
        """Record one answer; outside a run, do nothing."""
        if self.began is not None:
            self.uses.append(Use(table, asked, served, how, sha256(payload).hexdigest()))

    def add_failure(self, table: str, asked: str, error: str) -> None:
        """Record one failed call; outside a run, do nothing."""
        if self.began is not None:
            self.uses.append(Use(table, asked, "", "failed", error=error))


class UsageDetails(Struct, frozen=True):
    """Sources of answers, and reasons why the cache did not answer. `sources` counts answers by day (YYYY-MM-DD), then
    by table and engine (or reader, model, tool), then by outcome. `reused` counts the answers that a row gave, by table
    and key: of busy days only those of the most reused rows. `missed` counts live calls by their reason.
    """

    sources: dict[str, dict[tuple[str, str], dict[str, int]]]
    reused: dict[tuple[str, str], int]
    missed: dict[str, int]


class Tally:
    """Answers that are not stored yet, in `happened`; appending there is atomic, and takes 60 ns of every hit.
    `stored_by` are the counts of the cache that stores them.
    """

    def __init__(self) -> None:
        self.happened: list[Event] = []
        self.stored_by: UsageCounts | None = None
        self._lock = threading.Lock()
        reset_in_child(self)

    def reset(self) -> None:
        """See `Resettable`: the parent stores its own counts."""
        self.happened.clear()
        self._lock = threading.Lock()

    def take(self) -> list[Event]:
        """Return what happened since the last call."""
        with self._lock:
            taken = self.happened[:]
            del self.happened[: len(taken)]
        return taken


class Tallies:
    """Tallies of a program: caches that are opened for one request each share one, and store it later. Thread-safe."""

    def __init__(self) -> None:
        self.on_answers: Callable[[Mapping[str, int]], object] = lambda _counted: None
        """Gets the number of answers of each kind whenever they are stored."""
        self._shared: dict[Hashable, Tally] = {}
        self._lock = threading.Lock()
        reset_in_child(self)

    def reset(self) -> None:
        """See `Resettable`."""
        self._lock = threading.Lock()

    def tally(self, key: Hashable) -> Tally:
        """Return the tally of all caches that may store their counts in the same place, which `key` names."""
        with self._lock:
            return self._shared.setdefault(key, Tally())

    def flush(self) -> None:
        """Store all counts so far."""
        with self._lock:
            usages = [tally.stored_by for tally in self._shared.values() if tally.stored_by is not None]
        for usage in usages:
            usage.flush()


class UsageCounts:
    """Counts of answers by outcome and day (UTC), stored for one tenant."""

    def __init__(self, context: "CacheContext") -> None:
        self._context = context

    def flush(self) -> None:
        """Store the counts so far. If the store refuses, they are lost, and no error is raised."""
        context = self._context
        taken = context.tally.take()
        kinds = Counter(map(_KIND, taken))
        context.tallies.on_answers(_totals(kinds))
        if not context.policy.write:
            return
        add, day = context.store.usage.add, day_of(context.clock())
        try:
            for origin in dict.fromkeys(kind[0] for kind in kinds):
                own = {kind: times for kind, times in kinds.items() if kind[0] == origin}
                # nearly always all of one origin, and then not looked at one by one
                events = taken if len(own) == len(kinds) else [event for event in taken if event[0] == origin]
                add(context.tenant, day, _totals(own), origin=origin)
                add(context.tenant, day, _details_of(own, events), origin=_detailed(origin))
        except StoreError as error:
            log.debug("answers were not counted: %s", error)

    def count(self, how: How, times: int = 1) -> None:
        """Count answers that were given without a lookup."""
        self._context.tally.happened.extend([(self._context.origin, how, "", "", "")] * times)

    def total(self, origins: Sequence[str] = EVERY) -> dict[str, int]:
        """Return how often the cache answered for these origins, by outcome (see `How`), over all days."""
        total = Counter[str]()
        for times in self.by_day(origins).values():
            total.update(times)
        return dict(total)

    def by_day(self, origins: Sequence[str] = EVERY) -> dict[str, dict[str, int]]:
        """Return how often the cache answered for these origins, by outcome, on each day (YYYY-MM-DD, UTC), earliest
        first.

        Counts that this cache has not stored yet belong to today.
        """
        self.flush()
        return self._context.store.usage.by_day(self._context.tenant, origins)

    def details(self, origins: Sequence[str] = EVERY, since: str = "") -> UsageDetails:
        """Return what answered for these origins, from the day `since` (YYYY-MM-DD, UTC) on. Answers that were counted
        by older versions have no details.
        """
        self.flush()
        days = self._context.store.usage.by_day(self._context.tenant, [_detailed(each) for each in origins], since)
        sources: dict[str, dict[tuple[str, str], dict[str, int]]] = {}
        reused, missed = Counter[tuple[str, str]](), Counter[str]()
        for day, counted in days.items():
            for what, times in counted.items():
                match what.split("\t"):
                    case [kind, table, source, how] if kind == _SOURCE:
                        sources.setdefault(day, {}).setdefault((table, source), {})[how] = times
                    case [kind, table, key] if kind == _ROW:
                        reused[table, key] += times
                    case [kind, reason] if kind == _MISS:
                        missed[reason] += times
        return UsageDetails(sources, dict(reused), dict(missed))


def _detailed(origin: str) -> str:
    """Return the origin under which the details of answers are stored, apart from the counts."""
    return f"{origin} detail"


def _totals(kinds: Mapping[_Kind, int]) -> Counter[str]:
    """Return how often each outcome was."""
    totals = Counter[str]()
    for (_, how, *_), times in kinds.items():
        totals[how] += times
    return totals


def _details_of(kinds: Mapping[_Kind, int], events: Sequence[Event]) -> dict[str, int]:
    """Return the details of answers as events to count. It waits for a hit: equal ones are counted first."""
    details = Counter[str]()
    for (_, how, table, source), times in kinds.items():
        shown = "".join(each if each.isprintable() else " " for each in source[:MAX_DETAIL_CHARS])
        details["\t".join((_SOURCE, table, shown, how))] += times
    last = Counter(map(_LAST, events)).most_common()
    for (how, _, reason), times in last:
        if how in CALLED:
            details["\t".join((_MISS, reason))] += times
    rows = ((table, key, times) for (how, table, key), times in last if how not in NO_ROW and _can_be_noted(key))
    for table, key, times in islice(rows, MOST_NOTED):
        details["\t".join((_ROW, table, key))] += times
    return details


def _can_be_noted(key: str) -> bool:
    return key.isalnum() and len(key) <= MAX_DETAIL_CHARS


def day_of(at: float) -> str:
    """Return the day (UTC, YYYY-MM-DD) of a time in seconds since the epoch."""
    return time.strftime("%Y-%m-%d", time.gmtime(at))
