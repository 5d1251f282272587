"""Usage of a cache: how often it answered, and what answered one run."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
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


class RunUsage:
    """Answers and tokens of one run that began at `began` (seconds since the epoch); `answer_tokens` are those that
    models wrote. Outside a run (`None`), only tokens are counted.
    """

    def __init__(self, began: float | None = None, *, resumed: bool = False) -> None:
        self.began = began
        self.resumed = resumed
        self.uses: list[Use] = []
        self.tokens = self.answer_tokens = 0

    def add(self, table: str, asked: str, served: str, how: How, payload: bytes) -> None:
        """Record one answer; outside a run, do nothing."""
        if self.began is not None:
            self.uses.append(Use(table, asked, served, how, sha256(payload).hexdigest()))

    def add_failure(self, table: str, asked: str, error: str) -> None:
        """Record one failed call; outside a run, do nothing."""
        if self.began is not None:
            self.uses.append(Use(table, asked, "", "failed", error=error))


class Tally:
    """Outcomes that are not stored yet, in `happened`; appending there is atomic, and takes 30 ns of every hit."""

    def __init__(self) -> None:
        self.happened: list[str] = []
        self._lock = threading.Lock()
        reset_in_child(self)

    def reset(self) -> None:
        """See `Resettable`: the parent stores its own counts."""
        self.happened.clear()
        self._lock = threading.Lock()

    def take(self) -> dict[str, int]:
        """Return how often each outcome happened since the last call, and start again at zero."""
        with self._lock:
            taken = self.happened[:]
            del self.happened[: len(taken)]
        return dict(Counter(taken))


class UsageCounts:
    """Counts of answers by outcome and day (UTC), stored for one tenant and origin."""

    def __init__(self, context: "CacheContext") -> None:
        self._context = context

    def flush(self) -> None:
        """Store the counts so far. If the store refuses, they are lost, and no error is raised."""
        context = self._context
        counted = context.tally.take()
        if context.policy.write and counted:
            try:
                context.store.usage.add(context.tenant, day_of(context.clock()), counted, origin=context.origin)
            except StoreError as error:
                log.debug("answers were not counted: %s", error)

    def count(self, how: How, times: int = 1) -> None:
        """Count answers that were given without a lookup."""
        self._context.tally.happened.extend([how] * times)

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


def day_of(now: float) -> str:
    """Return the day (UTC, YYYY-MM-DD) of a time in seconds since the epoch."""
    return time.strftime("%Y-%m-%d", time.gmtime(now))
