"""One research, led from the question to the report."""

import logging
import secrets
import time
from collections import Counter
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from harness.cache import Cache, ResearchContext
from harness.core.entries import Hit
from harness.core.keys import digest_of
from harness.errors import StoreError
from harness.ports import Embedder, Progress, SearchEngine
from harness.research import planner
from harness.research.evidence import find_evidence
from harness.research.gather import Gathered, Limits, gather
from harness.research.planner import Plan, make_plan
from harness.research.synthesis import Report, write_report

log = logging.getLogger(__name__)

ResearchCacheUse: TypeAlias = Literal["off", "hit", "stored", "not stored"]


class Research(Struct, frozen=True):
    """A finished research. Without a report, nothing that answers was found.

    `live_calls` counts the searches that the engine itself answered (or failed) in this run, `cache_hits` those that
    the cache did, `answered` both of them by how (`exact`, `semantic`, `stale`, `no results`, `live`, `failed`). With a
    whole research from the cache, `gathered` tells how it was gathered at the time. `id` names the run; empty when it
    was not recorded.
    """

    plan: Plan
    gathered: Gathered
    report: Report | None
    engine: str
    live_calls: int
    cache_hits: int
    research_cache: ResearchCacheUse
    answered: dict[str, int]
    id: str


class Researcher:
    """Leads researches with one engine. The same inputs give the same report, to the byte."""

    def __init__(
        self,
        cache: Cache,
        engine: SearchEngine,
        embedder: Embedder,
        *,
        limits: Limits,
        ttl: float,
        keep_research: bool,
        progress: Progress,
    ) -> None:
        self._cache = cache
        self._engine = engine
        self._embedder = embedder
        self._limits = limits
        self._ttl = ttl
        self._keep_research = keep_research
        self._progress = progress

    def run(self, question: str) -> Research:
        """Plan, gather (or take the gathered context from the research cache), find evidence, write.

        Raises:
            InvalidInput: an unusable question.
            SearchError: every search of the first round failed.
            StoreError: the cache cannot be read.
            EmbeddingError: the embedder failed.
        """
        plan = make_plan(question)
        cache = self._cache.recording()
        gathered, use = self._gathered(plan, cache)
        searches = [] if use == "hit" else gathered.searches
        self._progress("reading", 0, 1)
        evidence = find_evidence(plan.question, gathered.sources, self._embedder)
        self._progress("reading", 1, 1)
        return Research(
            plan,
            gathered,
            write_report(plan, evidence) if evidence else None,
            self._engine.name,
            live_calls=sum(search.answered_by != "cache" for search in searches),
            cache_hits=sum(search.answered_by == "cache" for search in searches),
            research_cache=use,
            answered=dict(Counter(use.how for use in cache.uses)),
            id=self._record(plan, cache),
        )

    def _record(self, plan: Plan, cache: Cache) -> str:
        """Keep what this run was answered with, so that it can be exported and replayed; return the run's id."""
        if not cache.policy.write:
            return ""
        now = cache.now
        run = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now))}-{secrets.token_hex(3)}"
        limits = self._limits
        record: dict[str, Any] = {
            "question": plan.question,
            "engine": self._engine.name,
            "options": dict(self._engine.options),
            "max_rounds": limits.max_rounds,
            "min_novelty": limits.min_novelty,
            "max_results": limits.max_results,
            "research_cache": self._keep_research,
            "uses": sorted(msgspec.to_builtins(cache.uses), key=_place),
        }
        try:
            cache.put_run(run, plan.question, self._engine.name, record)
        except StoreError as error:
            log.error("the run is not recorded: %s", error)  # noqa: TRY400 - one line; nothing else is lost
            return ""
        return run

    def _gathered(self, plan: Plan, cache: Cache) -> tuple[Gathered, ResearchCacheUse]:
        """Gather through the search cache; with the research cache on, look there first and store there after."""
        if not self._keep_research:
            return self._gather(plan, cache), "off"
        fingerprint = self._fingerprint()
        outcome = cache.get_research(plan.question, plan.task_type, fingerprint=fingerprint)
        if isinstance(outcome, Hit):
            try:
                return msgspec.json.decode(outcome.value.context, type=Gathered), "hit"
            except msgspec.MsgspecError as error:
                log.warning("the cached research is unreadable (%s) and will be replaced", error)
        gathered = self._gather(plan, cache)
        if not gathered.sources or any(search.answered_by == "failed" for search in gathered.searches):
            return gathered, "not stored"  # half a context would pass for the whole one until it expires
        context = ResearchContext(
            msgspec.json.encode(gathered).decode(),
            [[search.query for search in round_.searches] for round_ in gathered.rounds],
            [round_.novelty for round_ in gathered.rounds],
        )
        try:
            kept = cache.put_research(plan.question, plan.task_type, context, ttl=self._ttl, fingerprint=fingerprint)
        except StoreError as error:
            log.error("the research is not cached: %s", error)  # noqa: TRY400 - one line; nothing is lost
            return gathered, "not stored"
        return gathered, "stored" if kept else "not stored"

    def _gather(self, plan: Plan, cache: Cache) -> Gathered:
        return gather(plan, cache, self._engine, self._limits, ttl=self._ttl, progress=self._progress)

    def _fingerprint(self) -> str:
        """Name everything that decides what is gathered; how a report is written from it does not count."""
        limits = self._limits
        return digest_of(
            {
                "planner": planner.VERSION,
                "engine": self._engine.name,
                "options": self._engine.options,
                "max_rounds": limits.max_rounds,
                "min_novelty": limits.min_novelty,
                "max_results": limits.max_results,
            }
        )


def _place(use: dict[str, str]) -> tuple[str, str]:
    return use["table"], use["asked"]
