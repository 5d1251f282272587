"""Turns of agents: results that an agent received in a turn are not repeated in it."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from harness.cache import Seen
from harness.core.freshness import HOUR
from harness.identity import Identity

MAX_TURNS = 1_000
"""Turns that are remembered; beyond that, the least recently used one is forgotten."""


class AgentTurns:
    """Keys that each turn of an agent received, until an hour after its last call. A turn belongs to its `caller`: the
    same name from another caller is another turn. Thread-safe; `clock` returns monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._turns: OrderedDict[tuple[Identity, str], tuple[Seen, float]] = OrderedDict()
        self._lock = threading.Lock()

    def seen(self, caller: Identity, turn: str) -> Seen:
        """Return what this turn has seen: nothing if it is new or forgotten."""
        now = self._clock()
        with self._lock:
            seen, last = self._turns.pop((caller, turn), (None, now))
            if seen is None or now - last > HOUR:
                seen = Seen()
            self._turns[caller, turn] = (seen, now)
            if len(self._turns) > MAX_TURNS:
                self._turns.popitem(last=False)
        return seen
