"""What a cache was used for: how often it answered, and with what one run was served."""

import threading
import time
from collections import Counter
from typing import Literal, TypeAlias

from msgspec import Struct

from harness.cache.forks import begins_anew

How: TypeAlias = Literal["exact", "semantic", "stale", "no results", "live", "failed"]


class Use(Struct, frozen=True):
    """One answer that a run was given: what was asked for (table and key), the key of the row that answered, how, and
    a digest of the answer's bytes. A failure has its error's code and message instead of an answer.
    """

    table: str
    asked: str
    served: str
    how: How
    digest: str = ""
    error: str = ""


class Tally:
    """Counts what happens, cheaply on the path of every hit, to be stored from time to time."""

    def __init__(self) -> None:
        self.begin_anew()
        begins_anew(self)

    def begin_anew(self) -> None:
        """See `Forked`: what the parent has counted, the parent stores."""
        self._happened: list[str] = []
        self._lock = threading.Lock()
        self.note = self._happened.append  # atomic, and 30 ns

    def __len__(self) -> int:
        return len(self._happened)

    def take(self) -> dict[str, int]:
        """Return how often each thing happened since the last time, and begin anew."""
        with self._lock:
            taken = self._happened[:]
            del self._happened[: len(taken)]
        return dict(Counter(taken))


def day_of(now: float) -> str:
    """Return the day (UTC, YYYY-MM-DD) of a time in seconds since the epoch."""
    return time.strftime("%Y-%m-%d", time.gmtime(now))
