"""Several engines of which one answers: the next one when one refuses or fails."""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.errors import SearchError
from harness.ports import SearchEngine, SearchResult
from harness.storage.forks import free_in_child

REST = 60.0
MAX_REST = 900.0
"""Seconds that an engine is asked last after a failure: twice as long after each further one, at most `MAX_REST`."""

log = logging.getLogger(__name__)


class Failover:
    """Engine that asks `alternatives` in order until one answers. One that failed rests: it is asked after the others
    for `REST` seconds, longer after each further failure. `clock` returns monotonic seconds.
    """

    def __init__(self, alternatives: Sequence[SearchEngine], *, clock: Callable[[], float] = time.monotonic) -> None:
        self.alternatives = tuple(alternatives)
        self.name = ",".join(engine.name for engine in self.alternatives)
        named = [{"name": engine.name, "options": dict(engine.options)} for engine in self.alternatives]
        self.options: Mapping[str, Any] = {"alternatives": named}
        self._clock = clock
        self._lock = free_in_child(threading.Lock())
        self._failures: dict[int, tuple[int, float]] = {}

    def in_order(self) -> list[SearchEngine]:
        """Return the engines in the order in which to ask them now."""
        with self._lock:
            now = self._clock()
            resting = {place for place, (_, until) in self._failures.items() if until > now}
        places = sorted(range(len(self.alternatives)), key=lambda place: place in resting)
        return [self.alternatives[place] for place in places]

    def note(self, engine: SearchEngine, error: Exception | None) -> None:
        """Note that one of the engines failed with `error`, or answered."""
        place = next(place for place, each in enumerate(self.alternatives) if each is engine)
        with self._lock:
            if error is None:
                self._failures.pop(place, None)
                return
            times, until = self._failures.get(place, (0, 0.0))
            now = self._clock()
            if times and until > now:  # searches at the same time fail together
                return
            rest = min(MAX_REST, REST * 2 ** min(times, 10))
            self._failures[place] = (times + 1, now + rest)
        log.warning("%s; %s is asked after the others for %.0f s", error, engine.name, rest)

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`: the results of the first engine that answers.

        Raises:
            SearchError: every engine failed; the error of the last.
        """
        failure = SearchError("no engine to ask")
        for engine in self.in_order():
            try:
                found = engine.search(query, max_results)
            except SearchError as error:
                self.note(engine, error)
                failure = error
            else:
                self.note(engine, None)
                return found
        raise failure
