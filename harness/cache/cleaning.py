"""Deletion of expired rows of all tenants, on demand or periodically in the background."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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


@contextmanager
def periodic(every: float, work: Callable[[], object]) -> Iterator[None]:
    """Do `work` every so many seconds and first at once, in a thread that ends with the process. At the end of the
    block, finish the running work and stop.

    A `HarnessError` (the store is busy, the disk full) is logged the first time, and again after a success; the work
    continues at the next time.
    """
    stopped = threading.Event()

    def run() -> None:
        failed = False
        while not stopped.is_set():
            try:
                work()
                failed = False
            except HarnessError as error:
                level = logging.DEBUG if failed else logging.WARNING
                log.log(level, "the work of every %g s failed, and is tried again: %s", every, error)
                failed = True
            stopped.wait(every)

    thread = threading.Thread(target=run, name="harness periodic", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()
