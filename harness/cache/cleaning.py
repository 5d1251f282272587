"""Cleaning up after every tenant: on demand, or now and then in the background."""

import logging
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from harness.cache.tables import EVERY_TABLE, TOOLS
from harness.cache.tools import STALE_FOR
from harness.errors import HarnessError
from harness.ports import Store

log = logging.getLogger(__name__)

SWEPT = (*EVERY_TABLE, "access_tokens")
"""What is deleted once it has expired. Knowledge, and what it was before, is kept: it ages, and does not expire."""


def sweep_all(store: Store, now: float, keep_expired: float = 0.0) -> dict[str, int]:
    """Delete every tenant's rows that have been expired for `keep_expired` seconds; return how many of each tenant.
    What tools brought stays as long as an agent is told that it is stale.

    In batches (see `Rows.sweep`), between which others may write: nobody waits for the whole of it.

    Raises:
        StoreError: the store cannot be written; what is deleted by then stays so.
    """
    before = dict.fromkeys(SWEPT, now - keep_expired)
    before[TOOLS] = now - max(keep_expired, STALE_FOR)
    return {
        tenant: sum(store.rows.sweep(table, tenant, before[table]) for table in SWEPT)
        for tenant in store.admin.tenants()
    }


class Periodic:
    """Does `work` every so many seconds, for the first time at once, in a thread that ends with the process.

    Use it as a context manager, or `start` and `stop` it. A `HarnessError` (the store is busy, the disk full) is logged
    when it first happens, and work goes on at the next time; after a success it would be logged again.
    """

    def __init__(self, every: float, work: Callable[[], object]) -> None:
        self._every = every
        self._work = work
        self._failed = False
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="harness periodic", daemon=True)

    def start(self) -> None:
        """Begin; once only."""
        self._thread.start()

    def stop(self) -> None:
        """End; what is being done is finished first. Never started, or stopped before: nothing happens."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._work()
                self._failed = False
            except HarnessError as error:
                level = logging.DEBUG if self._failed else logging.WARNING
                log.log(level, "what is done every %g s failed, and is tried again: %s", self._every, error)
                self._failed = True
            self._stopped.wait(self._every)
