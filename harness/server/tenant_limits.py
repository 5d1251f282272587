"""Fair shares of a server: one tenant's many requests wait for each other, and not in front of another's."""

from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager

from anyio import Semaphore

from harness.errors import TooManyRequests

MAX_AT_ONCE = 32
"""Requests of one tenant that are served at the same time; more wait, in order."""
MAX_WAITING = 256
"""Requests of one tenant that may wait; further ones are refused."""
RETRY_SECONDS = 5.0
THREADS = 128
"""Threads for the requests of all tenants. They mostly wait: for the database, a search engine, a page."""


class TenantLimits:
    """Requests in progress by tenant. Only the event loop may use it."""

    def __init__(self, most: int = MAX_AT_ONCE, waiting: int = MAX_WAITING) -> None:
        self._most, self._most_waiting = most, waiting
        self._free: dict[str, Semaphore] = {}
        self._present: dict[str, int] = {}

    @property
    def waiting(self) -> int:
        """Requests that wait for an earlier one of their tenant."""
        return sum(max(0, present - self._most) for present in list(self._present.values()))

    @asynccontextmanager
    async def slot(self, tenant: str) -> AsyncIterator[Callable[[], None]]:
        """Wait until the tenant may have one more request in progress; yield a function that frees the place before the
        end.

        Raises:
            TooManyRequests: too many of its requests wait.
        """
        present = self._present.get(tenant, 0)
        if present >= self._most + self._most_waiting:
            raise TooManyRequests("too many requests at once; wait for some of them", RETRY_SECONDS)
        free = self._free.setdefault(tenant, Semaphore(self._most))
        self._present[tenant] = present + 1
        with ExitStack() as place:
            place.callback(self._leave, tenant)
            await free.acquire()
            place.callback(free.release)
            yield place.close  # a second call has no effect

    def _leave(self, tenant: str) -> None:
        self._present[tenant] -= 1
        if not self._present[tenant]:
            del self._present[tenant], self._free[tenant]
