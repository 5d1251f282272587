"""Turns of agents: what one of them has been given in a turn is not given to it again."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from harness.cache import Seen
from harness.core.freshness import HOUR
from harness.identity import Identity

MAX_TURNS = 1_000
"""Turns that are remembered at the most; of more, the one that was longest silent is forgotten."""


class Turns:
    """What was seen in each turn, for an hour after its last call. A turn belongs to who asks: the same name in the
    mouth of another tenant, user or token is another turn. Safe for threads; `clock` gives seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._turns: OrderedDict[tuple[Identity, str], tuple[Seen, float]] = OrderedDict()
        self._lock = threading.Lock()

    def seen(self, identity: Identity, turn: str) -> Seen:
        """Return what was seen in this turn: nothing, if it is new or forgotten."""
        now = self._clock()
        with self._lock:
            seen, last = self._turns.pop((identity, turn), (None, now))
            if seen is None or now - last > HOUR:
                seen = Seen()
            self._turns[identity, turn] = (seen, now)
            if len(self._turns) > MAX_TURNS:
                self._turns.popitem(last=False)
        return seen
