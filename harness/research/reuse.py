"""Reuse of passages: a research asks the library first, and decides which queries need no search."""

import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from harness.cache import Cache, Results
from harness.core.page_numbers import PageStarts
from harness.core.sites import Sites
from harness.core.sufficiency import covered
from harness.core.text import stems
from harness.errors import ReaderError, SearchError, StoreError
from harness.library import FoundPassage, Library
from harness.ports import single_engines
from harness.research.earlier_runs import EarlierRuns
from harness.research.gathering import DecidedQuestion, GatheredSource, ReusedPassage
from harness.research.held_answers import (
    ask_library,
    engine_key,
    is_cached,
    library_search,
    may_be_replaced,
    passages_for,
)
from harness.research.planner import Plan
from harness.research.search import EngineSearch
from harness.research.services import ResearchServices
from harness.settings import GatheringSettings

log = logging.getLogger(__name__)
T = TypeVar("T")

VERSION = "library-2"
"""Change it when the decision changes: what was decided before then no longer counts."""


class UsedPassage(Struct, frozen=True):
    """A passage of the library and the text that a research uses of it; `found_again`: this research found it, too.
    `page_starts` are the places in `text` at which the pages of a PDF begin.
    """

    passage: ReusedPassage
    text: str
    found_again: bool = False
    page_starts: PageStarts = ()


class Reuse(Struct, frozen=True):
    """Outcome of round 0: the sub-questions with their decisions, and the passages about them. `probes` are the queries
    to search first where passages are held: what they find says whether the others need a search.
    """

    decided: tuple[DecidedQuestion, ...] = ()
    passages: tuple[UsedPassage, ...] = ()
    probes: tuple[str, ...] = ()

    @property
    def spared(self) -> frozenset[str]:
        """The queries that need not be searched."""
        return frozenset(query for each in self.decided for query in each.spared)


class UsedPassages(Struct, frozen=True):
    """Passages of the library for a query of a research."""

    passages: tuple[UsedPassage, ...] = ()


def sources_of(passages: Sequence[UsedPassage]) -> list[GatheredSource]:
    """Return used passages as sources, best first."""
    sources: dict[str, GatheredSource] = {}
    for each in passages:
        at = each.passage
        known = sources.get(at.url, GatheredSource(at.url, at.title, (), at.fetched_at))
        known = known.with_text(each.text, each.page_starts)
        sources[at.url] = replace(known, fetched_at=min(known.fetched_at, at.fetched_at))
    return list(sources.values())


class Reusing:
    """Use of the library by one research. What it gave once is stored for `ttl` seconds, so that the same question
    gives the same report, whichever passages were added since, and so that a replay repeats it.

    Nothing is reused if every search of the plan is cached: those answer for nothing, and as they did before.
    """

    def __init__(
        self, plan: Plan, services: ResearchServices, gathering: GatheringSettings, cache: Cache, *, ttl: float
    ) -> None:
        self._plan = plan
        self._services = services
        self._gathering = gathering
        self._cache = cache
        self._ttl = ttl
        replay = cache.policy.replay
        self._off = gathering.reuse == "off" or not may_be_replaced(services.engines)
        self._off |= services.library is None and not replay
        self._library = None if replay else services.library
        self._allowed = sorted(map(engine_key, single_engines(services.engines)))
        sites = Sites.of(gathering.only_sites, gathering.skip_sites).id
        self._sites = f"{sites} " if sites else ""  # a key of older snapshots, too
        self._began = cache.now if cache.began is None else cache.began
        self._runs = EarlierRuns(cache)

    def begin(self) -> Reuse:
        """Return what the library answers of the plan.

        Raises:
            EmbeddingError: the embedder failed.
            StoreError: the store cannot be read.
        """
        reader = self._services.answering
        try:
            read_by = f"{reader.id} {reader.calibration}" if reader is not None else ""
            return self._stored(
                f"{self._gathering.max_wrong_reuse} {read_by}".rstrip(),
                self._plan.queries,
                self._decided,
                Reuse(),
                worth=lambda found: bool(found.passages or found.probes),
            )
        except ReaderError as error:
            log.debug("nothing is reused: %s", error)
            return Reuse()

    def _decided(self, library: Library) -> Reuse:
        services, gathering, cache = self._services, self._gathering, self._cache
        if all(is_cached(query, services.engines, gathering, cache) for query in self._plan.queries):
            return Reuse()
        decided: list[DecidedQuestion] = []
        used: dict[str, UsedPassage] = {}
        probes: list[str] = []
        for question, queries in questions_of(self._plan).items():
            about = self._plan.question
            held = ask_library(question, library, services.engines, gathering, cache, services.progress, about)
            state, spared = held.decision.state, tuple[str, ...]()
            if state == "answered":
                spared = queries
            elif state == "partly" and cache.policy.offline:  # the passages are all that there is
                spared = tuple(each for each in queries if not is_cached(each, services.engines, gathering, cache))
            elif held.worth_a_probe:
                probes.append(queries[0])
            decided.append(DecidedQuestion(question, held.decision, spared))
            if state != "not answered":
                used |= {each.passage.key: self._used(each) for each in held.passages if each.passage.key not in used}
        library.touch(list(used))
        return Reuse(tuple(decided), tuple(used.values()), tuple(probes))

    def covered(self, asked: Sequence[EngineSearch]) -> bool:
        """Return whether these searches show that the library covers their subject.

        Raises:
            StoreError: the store cannot be read.
        """
        if self._cache.policy.offline:  # the passages are all that there is
            return True
        if any(isinstance(each.outcome, SearchError) for each in asked):
            return False

        def known(library: Library) -> bool:
            results = [each for search in asked for each in search.results]
            texts = [(str(each.get("href") or ""), str(each.get("body") or "")) for each in results]
            return covered([library.has_read(*each, self._began) for each in texts])

        return self._stored("covered", [self._plan.queries, [each.query for each in asked]], known, False)

    def results(self, query: str) -> tuple[UsedPassage, ...]:
        """Return the passages that the library has for a query, without reading them; none offline if it is cached.

        Raises:
            StoreError: the store cannot be read.
        """
        most, engines, cache = self._gathering.max_results, self._services.engines, self._cache
        if cache.policy.offline and is_cached(query, engines, self._gathering, cache):
            return ()

        def found(library: Library) -> UsedPassages:
            passages = library.search(
                query,
                most,
                read=0,
                max_age=self._gathering.reuse_max_age,
                only=passages_for(engines, self._gathering),
                about=self._plan.question,
                progress=self._services.progress,
            )
            library.touch([each.passage.key for each in passages])
            return UsedPassages(tuple(map(self._used, passages)))

        return self._stored(f"results {most}", query, found, UsedPassages()).passages

    def _used(self, found: FoundPassage) -> UsedPassage:
        passage = found.passage
        again = passage.fetched_at >= self._began
        reused = ReusedPassage(
            key=passage.key,
            url=passage.url,
            title=passage.title,
            source=passage.source,
            engine=passage.engine.partition(" ")[0],
            found_by=passage.found_by,
            fetched_at=passage.fetched_at,
            relevance=found.relevance,
            run="" if again else self._runs.that_read(passage),
        )
        return UsedPassage(reused, passage.under_heading, again, passage.page_starts_under_heading)

    def _stored(
        self,
        what: str,
        sources: object,
        compute: Callable[[Library], T],
        nothing: T,
        *,
        worth: Callable[[T], bool] = lambda _: True,
    ) -> T:
        if self._off:
            return nothing
        library = self._library

        def value() -> T:
            try:
                return nothing if library is None else compute(library)
            except StoreError as error:  # a full disk: searches are answered all the same
                log.warning("passages that were read before are not used: %s", error)
                return nothing

        return self._cache.derived.get(
            self._plan.question,
            f"{VERSION} {self._gathering.reuse_max_age} {self._sites}{what}",
            [sources, self._allowed],
            value,
            type(nothing),
            ttl=self._ttl,
            worth=worth,
        )


def questions_of(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return the sub-questions of a plan, each with its queries: the parts of a compound question; for the others,
    queries whose words are those of the question, or one more ("explained"), belong to the question itself.
    """
    own, found = stems(plan.question), dict[str, list[str]]()
    parts = {part.rstrip("?"): part for part in plan.parts}
    for query in plan.queries:
        is_same = len(stems(query) - own) <= 1
        found.setdefault(parts.get(query) or (plan.question if is_same else query), []).append(query)
    return {question: tuple(queries) for question, queries in found.items()}


def search_in_library(query: str, passages: Sequence[UsedPassage], now: float) -> EngineSearch:
    """Return passages as a search of the library that was answered, one result for each."""
    results: Results = [
        {"title": each.passage.title, "href": each.passage.url, "body": each.text, "page_starts": each.page_starts}
        for each in passages
    ]
    return library_search(query, results, max(0.0, now - min(each.passage.fetched_at for each in passages)))
