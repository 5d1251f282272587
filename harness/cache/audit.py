"""The self-check of look-ups by meaning: some of what they serve is searched live as well, and compared.

It happens behind the answers, never before them: a process audits one hit at a time, in a thread that holds up neither
an answer nor the process's end, and what does not come to an end in time is given up.
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
from harness.core.calibration import Interval, interval
from harness.core.entries import Hit
from harness.errors import InvalidInput
from harness.storage.forks import reset_in_child

log = logging.getLogger(__name__)

MAX_WAITING = 16
"""Audits that wait for their turn at the most; chance has chosen them, so chance may as well leave further ones out."""
CLOSING_SECONDS = 1.5
"""How long closing waits for audits that are under way."""
_WAIT_AT_ONCE = 0.1
"""Seconds that one wait takes at the most: a Ctrl-C that arrives just as one begins would not end it."""


class Audited(Struct, frozen=True):
    """How many pairs of queries were audited, and how many of them agreed or disagreed; `wrong` is the share (0..1)
    that disagreed, with its exact two-sided 95 % interval. A pair counts once, however often it was met.
    """

    audited: int
    agreeing: int
    disagreeing: int
    wrong: Interval


def summed(counted: tuple[int, int]) -> Audited:
    """Return what comes of the numbers of pairs that agreed and disagreed."""
    agreeing, disagreeing = counted
    total = agreeing + disagreeing
    return Audited(total, agreeing, disagreeing, interval(disagreeing, total))


def told_pair(audit: Audit) -> dict[str, object]:
    """Return an audit as a labelled pair, JSON-able, as `harness cache calibrate` reads it."""
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
    asked: str, served: Hit[Any], shown: frozenset[str], live: Iterable[Mapping[str, Any]], now: float
) -> Audit | None:
    """Return what the live results of `asked` say of the hit that was `served`, which had `shown` these addresses, or
    `None` where they say nothing: there are too few of them.
    """
    common = overlap(shown, addresses(live))
    if common is None:
        log.info("an audit of %r says nothing: too few results to compare", asked)
        return None
    audit = Audit.of(
        asked,
        served.query,
        overlap=common,
        similarity=served.similarity,
        probability=served.probability,
        now=now,
    )
    verdict = "agrees with" if audit.agreed else "never answers again, nor is answered by,"
    log.info("audited: %r %s %r, overlap %.2f", asked, verdict, served.query, common)
    return audit


class Auditor:
    """Chooses by chance which hits are audited, and has that done in the background.

    `rate` is the share (0..1) of them; `chance` draws numbers from 0 to 1, 1 left out.

    Raises:
        InvalidInput: `rate` is no share.
    """

    def __init__(self, rate: float, *, chance: Callable[[], float] = random.random) -> None:
        if not 0 <= rate <= 1:
            raise InvalidInput(f"audit_rate cannot be {rate}; give the share of hits to be audited, from 0 to 1")
        self.rate = rate
        self._chance = chance

    def wants_one(self) -> bool:
        """Say whether chance chooses the present hit."""
        return self._chance() < self.rate

    def begin(self, audit: Callable[[], object]) -> None:
        """Have `audit` done in the background, unless too many are waiting; returns at once."""
        if not _worker.add(self, audit):
            log.debug("an audit is left out: %d are waiting", MAX_WAITING)

    def close(self, seconds: float = CLOSING_SECONDS) -> None:
        """Wait for its audits for up to so many seconds; what has not begun by then never does, and what is under way
        is not waited for any longer.
        """
        if not _worker.finish(self, seconds):
            log.info("an audit is given up: it had not ended %g s after everything else", seconds)


class _Worker:
    """The one thread of this process that audits, while there is something to audit."""

    def __init__(self) -> None:
        self.reset()
        reset_in_child(self)

    def reset(self) -> None:
        """See `Resettable`: what the parent audits, the parent ends."""
        self._changed = threading.Condition()
        self._waiting: deque[tuple[Auditor, Callable[[], object]]] = deque()
        self._running: Auditor | None = None
        self._thread: threading.Thread | None = None
        self._ended: threading.Thread | None = None

    def add(self, auditor: Auditor, audit: Callable[[], object]) -> bool:
        """Have `audit` done; return false where too many are waiting, or no thread can be started."""
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
        """Wait until no audit of `auditor` is left, then drop what is; return whether none is under way."""
        until = time.monotonic() + seconds
        with self._changed:
            while self._is_busy(auditor) and (left := until - time.monotonic()) > 0:
                self._changed.wait(min(left, _WAIT_AT_ONCE))
            self._waiting = deque(each for each in self._waiting if each[0] is not auditor)
            if self._running is auditor:
                return False
            ending = None if self._running or self._waiting else self._ended
        if ending is not None:  # it lets go of its connections to a store that may be closed next
            ending.join(max(0.0, until - time.monotonic()))
        return True

    def _is_busy(self, auditor: Auditor) -> bool:
        return self._running is auditor or any(owner is auditor for owner, _ in self._waiting)

    def _work(self) -> None:
        while (audit := self._next()) is not None:
            try:
                audit()
            except BaseException as error:  # noqa: BLE001 - nobody asked for it: no answer, and no process, may suffer
                log.info("an audit came to nothing: %s: %s", type(error).__name__, error)
            del audit  # with all that it holds: a store, and what was served

    def _next(self) -> Callable[[], object] | None:
        """Return the next audit; without one, the thread ends, and the next audit starts another."""
        with self._changed:
            self._running = None
            self._changed.notify_all()
            if not self._waiting:
                self._ended, self._thread = self._thread, None
                return None
            self._running, audit = self._waiting.popleft()
            return audit


_worker = _Worker()
