"""Deletion of expired rows of all tenants, on demand or periodically in the background."""

import logging
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from harness.cache.tool_cache import STALE_FOR
from harness.core.freshness import latest_creation
from harness.core.tables import EVERY_TABLE, TOKENS, TOOLS
from harness.errors import HarnessError
from harness.ports import Store

log = logging.getLogger(__name__)

SWEPT = (*EVERY_TABLE, TOKENS)
"""Tables whose expired rows are deleted. Knowledge and its history stay: they age, and do not expire."""


def sweep_all(store: Store, now: float, keep_expired: float = 0.0) -> dict[str, int]:
    """Delete every tenant's rows that have been expired for `keep_expired` seconds; return how many of each tenant.
    Tool results stay for at least `STALE_FOR` seconds, because agents get them as stale.

    Rows are deleted in batches (see `Rows.sweep`), so that others can write in between.

    Raises:
        StoreError: the store cannot be written; rows deleted by then stay deleted.
    """
    before = dict.fromkeys(SWEPT, now - keep_expired)
    before[TOOLS] = now - max(keep_expired, STALE_FOR)
    latest = latest_creation(now)
    return {
        tenant: sum(store.rows.sweep(table, tenant, before[table], created_after=latest) for table in SWEPT)
        for tenant in store.admin.tenants()
    }


class Periodic:
    """Periodic `work`, every so many seconds and first at once, in a thread that ends with the process.

    Use it as a context manager, or call `start` and `stop`. A `HarnessError` (the store is busy, the disk full) is
    logged the first time, and again after a success; the work continues at the next time.
    """

    def __init__(self, every: float, work: Callable[[], object]) -> None:
        self._every = every
        self._work = work
        self._failed = False
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="harness periodic", daemon=True)

    def start(self) -> None:
        """Start the thread; call once only."""
        self._thread.start()

    def stop(self) -> None:
        """Finish the running work, then stop. Not started, or stopped before: do nothing."""
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
                log.log(level, "the work of every %g s failed, and is tried again: %s", self._every, error)
                self._failed = True
            self._stopped.wait(self._every)
