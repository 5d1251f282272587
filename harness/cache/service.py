"""Facade of the cache: one object whose parts hold searches, researches, pages, completions, tool results and runs."""

import time
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Self

from msgspec import structs

from harness.cache.audit_records import AuditRecords
from harness.cache.completions import CompletionCache
from harness.cache.context import CacheContext
from harness.cache.derived import DerivedCache
from harness.cache.lookup import Lookup
from harness.cache.maintenance import Maintenance
from harness.cache.model_calls import ChatCache, EmbeddingCache
from harness.cache.page_cache import PageCache
from harness.cache.policy import Policy
from harness.cache.researches import ResearchCache
from harness.cache.run_records import RunRecords
from harness.cache.searches import SearchCache
from harness.cache.semantic import Semantics
from harness.cache.single_flight import SingleFlight
from harness.cache.tool_cache import ToolCache
from harness.cache.usage import RunUsage, Tallies, UsageCounts, Use
from harness.core.origins import RunOrigin
from harness.ports import Store

if TYPE_CHECKING:  # imported only where hits are audited
    from harness.cache.audit import Auditor


class Cache:
    """Cache of one tenant in a `Store`.

    Each kind of entry is a part: `searches`, `researches`, `pages`, `completions`, `chats`, `embeddings`, `tools`,
    `derived`. Others are `runs` (records of runs), `audits`, `maintenance` and `usage` (counts of answers).

    Lookups change nothing in the store except `last_used_at`, at most once an hour. Expired rows stay until the
    next write to their table sweeps them (later, where stale answers are allowed). Empty results have their own, short
    lifetime. Without `semantics`, only the same query answers. `auditor` checks some semantic hits. `origin` is
    recorded with counts and rows, which caches of the same user store together (`counted_with`).
    """

    def __init__(
        self,
        store: Store,
        *,
        semantics: Semantics | None = None,
        policy: Policy = Policy(),  # noqa: B008 - immutable
        auditor: "Auditor | None" = None,
        tenant: str = "default",
        clock: Callable[[], float] = time.time,
        origin: RunOrigin = "user",
        counted_with: tuple[Tallies, Hashable] | None = None,
    ) -> None:
        tallies, user = counted_with or (Tallies(), None)
        self._assemble(
            CacheContext(
                store=store,
                tenant=tenant,
                clock=clock,
                policy=policy,
                origin=origin,
                semantics=semantics,
                auditor=auditor,
                run=RunUsage(),
                tally=tallies.tally((user, policy.write)),
                tallies=tallies,
                flights=SingleFlight(store, policy.turn_wait),
                logged=set(),
            )
        )
        self._context.tally.stored_by = self.usage

    def _assemble(self, context: CacheContext) -> None:
        self._context = context
        self.store = context.store
        self.tenant = context.tenant
        self.policy = context.policy
        self.origin = context.origin
        self.semantics = context.semantics
        lookup = Lookup(context)
        self.searches = SearchCache(context, lookup)
        self.researches = ResearchCache(context, lookup)
        self.pages = PageCache(context, lookup)
        self.completions = CompletionCache(context, lookup)
        self.chats = ChatCache(context, lookup)
        self.embeddings = EmbeddingCache(context, lookup)
        self.tools = ToolCache(context, lookup)
        self.derived = DerivedCache(context, lookup)
        self.runs = RunRecords(context, lookup)
        self.audits = AuditRecords(context, lookup)
        self.maintenance = Maintenance(context, lookup)
        self.usage = UsageCounts(context)

    @classmethod
    def _with(cls, context: CacheContext) -> Self:
        cache = cls.__new__(cls)
        cache._assemble(context)  # noqa: SLF001 - same class
        return cache

    def refreshing(self, *, store: bool = True) -> Self:
        """Return a cache that reads nothing from this one, and stores in it, or, without `store`, does neither."""
        policy = structs.replace(self.policy, read=False, write=self.policy.write and store)
        return self._with(structs.replace(self._context, policy=policy))

    def recording(self, began: float | None = None) -> Self:
        """Return this cache with new `uses` and `tokens`, for one run that began at `began` (seconds since the
        epoch).

        Rows stored since then never answer by meaning: the searches of one run do not answer each other, even if the
        run is resumed. If a run is resumed (`began` is given) with `read` off, rows stored since then still answer
        exactly: the run does not pay twice.
        """
        run = RunUsage(self.now if began is None else began, resumed=began is not None)
        return self._with(structs.replace(self._context, run=run))

    @property
    def now(self) -> float:
        """The time by this cache's clock, in seconds since the epoch."""
        return self._context.clock()

    @property
    def began(self) -> float | None:
        """The beginning of the recorded run (seconds since the epoch); `None` outside a run."""
        return self._context.run.began

    @property
    def uses(self) -> list[Use]:
        """The answers since `recording`, in order."""
        return list(self._context.run.uses)

    @property
    def tokens(self) -> int:
        """Tokens of all completions since `recording`, cached ones too, so that a repeated run counts the same."""
        return self._context.run.tokens

    @property
    def answer_tokens(self) -> int:
        """Tokens among `tokens` that models wrote."""
        return self._context.run.answer_tokens

    def resume_tokens(self, tokens: int, answer_tokens: int = 0) -> None:
        """Set `tokens`, and those among them that models wrote, to what a stopped run had."""
        self._context.run.tokens, self._context.run.answer_tokens = tokens, answer_tokens
