"""State shared by all parts of one cache."""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from harness.cache.policy import Policy
from harness.cache.semantic import Semantics
from harness.cache.single_flight import SingleFlight
from harness.cache.usage import RunUsage, Tallies, Tally
from harness.core.origins import RunOrigin
from harness.ports import Store

if TYPE_CHECKING:
    from harness.cache.audit import Auditor  # imported only where hits are audited
    from harness.cache.lookup import Lookup

log = logging.getLogger(__name__)


class CacheContext(Struct, frozen=True, kw_only=True):
    """Store, tenant, clock and rules of one cache, and the state that it shares with the caches made from it.

    `run` records the answers of one run. `tally`, `flights` and `logged` (messages that are logged once) are shared by
    `Cache.refreshing` and `Cache.recording`. `tallies` has the tallies of the program.
    """

    store: Store
    tenant: str
    clock: Callable[[], float]
    policy: Policy
    origin: RunOrigin
    semantics: Semantics | None
    auditor: "Auditor | None"
    run: RunUsage
    tally: Tally
    tallies: Tallies
    flights: SingleFlight[Any]
    logged: set[str]

    def log_once(self, level: int, key: str, message: str) -> None:
        """Log a message once per `key`: a full disk must not log a line for every search."""
        if key not in self.logged:
            self.logged.add(key)
            log.log(level, "%s", message)


class CachePart:
    """One part of a cache, for one tenant: the entries of one kind, or one concern of all."""

    def __init__(self, context: CacheContext, lookup: "Lookup") -> None:
        self._context = context
        self._store = context.store
        self._tenant = context.tenant
        self._policy = context.policy
        self._run = context.run
        self._lookup = lookup
