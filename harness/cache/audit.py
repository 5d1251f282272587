"""Audits of semantic hits: for some of them, the query is searched live as well, and the results are compared.

Audits run in the background. A process audits one hit at a time, in a thread that delays neither an answer nor the end
of the process; an audit that does not end in time is given up.
"""

import logging
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct

from harness.core.audits import Audit, addresses, overlap
from harness.core.calibration import Interval
from harness.core.entries import Hit
from harness.errors import InvalidInput
from harness.storage.forks import reset_in_child

log = logging.getLogger(__name__)

MAX_WAITING = 16
"""The most audits that wait. They are a random sample, so further ones may be left out."""
CLOSING_SECONDS = 1.5
"""Seconds that closing waits for running audits."""
_WAIT_AT_ONCE = 0.1
"""The longest single wait, in seconds: a Ctrl-C that arrives just as it begins does not end it."""


class Audited(Struct, frozen=True):
    """Numbers of audited pairs of queries, and of those that agreed or disagreed; `wrong` is the share (0..1)
    that disagreed, with its exact two-sided 95 % interval. A pair counts once, however often it was audited.
    """

    audited: int
    agreeing: int
    disagreeing: int
    wrong: Interval


def labelled_pair(audit: Audit) -> dict[str, object]:
    """Return an audit as a labelled pair of JSON values, as `harness cache calibrate` reads it."""
    one, other = audit.queries
    return {
        "a": one,
        "b": other,
        "label": int(audit.agreed),
        "overlap": round(audit.overlap, 4),
        "similarity": round(audit.similarity, 4),
        "probability": audit.probability,
        "audited_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(audit.created_at)),
    }


def compared(
    query: str, served: Hit[Any], shown: frozenset[str], live: Iterable[Mapping[str, Any]], now: float
) -> Audit | None:
    """Compare the live results of `query` with the hit that was `served` and had `shown` these addresses; return
    `None` if there are too few results to compare.
    """
    common = overlap(shown, addresses(live))
    if common is None:
        log.info("an audit of %r has no outcome: too few results to compare", query)
        return None
    audit = Audit.of(
        query,
        served.query,
        overlap=common,
        similarity=served.similarity,
        probability=served.probability,
        now=now,
    )
    verdict = "agrees with" if audit.agreed else "disagrees with"
    log.info("audited: %r %s %r, overlap %.2f", query, verdict, served.query, common)
    return audit


class Auditor:
    """Random choice of the hits to audit, and the audits in the background.

    `rate` is the share (0..1) of hits; `chance` draws numbers from 0 to 1, 1 excluded.

    Raises:
        InvalidInput: `rate` is not from 0 to 1.
    """

    def __init__(self, rate: float, *, chance: Callable[[], float] = random.random) -> None:
        if not 0 <= rate <= 1:
            raise InvalidInput(f"audit_rate cannot be {rate}; give the share of hits to be audited, from 0 to 1")
        self.rate = rate
        self._chance = chance

    def wants_one(self) -> bool:
        """Draw whether to audit the present hit."""
        return self._chance() < self.rate

    def begin(self, audit: Callable[[], object]) -> None:
        """Run `audit` in the background, unless too many are waiting; return at once."""
        if not _worker.add(self, audit):
            log.debug("an audit is left out: %d are waiting", MAX_WAITING)

    def close(self, seconds: float = CLOSING_SECONDS) -> None:
        """Wait for its audits for up to so many seconds. Audits that have not begun by then never run; one that is
        running is left alone.
        """
        if not _worker.finish(self, seconds):
            log.info("an audit is given up: it had not ended %g s after everything else", seconds)


class _Worker:
    """The one thread of this process that audits; it ends when no audit waits."""

    def __init__(self) -> None:
        self.reset()
        reset_in_child(self)

    def reset(self) -> None:
        """See `Resettable`: the audits of the parent are not the child's."""
        self._changed = threading.Condition()
        self._waiting: deque[tuple[Auditor, Callable[[], object]]] = deque()
        self._running: Auditor | None = None
        self._thread: threading.Thread | None = None
        self._ended: threading.Thread | None = None

    def add(self, auditor: Auditor, audit: Callable[[], object]) -> bool:
        """Queue `audit`; return false if too many are waiting, or no thread can be started."""
        with self._changed:
            if len(self._waiting) >= MAX_WAITING:
                return False
            if self._thread is None:
                thread = threading.Thread(target=self._work, name="audit", daemon=True)
                try:
                    thread.start()
                except RuntimeError as error:
                    log.debug("nothing is audited: %s", error)
                    return False
                self._thread = thread
            self._waiting.append((auditor, audit))
            return True

    def finish(self, auditor: Auditor, seconds: float) -> bool:
        """Wait for the audits of `auditor`, then drop those that wait; return whether none is running."""
        until = time.monotonic() + seconds
        with self._changed:
            while self._is_busy(auditor) and (left := until - time.monotonic()) > 0:
                self._changed.wait(min(left, _WAIT_AT_ONCE))
            self._waiting = deque(each for each in self._waiting if each[0] is not auditor)
            if self._running is auditor:
                return False
            ending = None if self._running or self._waiting else self._ended
        if ending is not None:  # it releases its connections to a store that may be closed next
            ending.join(max(0.0, until - time.monotonic()))
        return True

    def _is_busy(self, auditor: Auditor) -> bool:
        return self._running is auditor or any(owner is auditor for owner, _ in self._waiting)

    def _work(self) -> None:
        while (audit := self._next()) is not None:
            try:
                audit()
            except BaseException as error:  # noqa: BLE001 - an audit may break neither an answer nor a process
                log.info("an audit failed: %s: %s", type(error).__name__, error)
            del audit  # it refers to a store and to results

    def _next(self) -> Callable[[], object] | None:
        """Return the next audit; without one, the thread ends, and the next audit starts another thread."""
        with self._changed:
            self._running = None
            self._changed.notify_all()
            if not self._waiting:
                self._ended, self._thread = self._thread, None
                return None
            self._running, audit = self._waiting.popleft()
            return audit


_worker = _Worker()
