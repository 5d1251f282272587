"""Reuse of passages: a research or a search asks the library first, and decides what needs no search."""

import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from harness.cache import Answer, Cache, Results
from harness.core.entries import Hit
from harness.core.keys import canonical_json
from harness.core.required_terms import all_numbers, lacking, lacking_words, required_names, rival_terms
from harness.core.search_engines import LIBRARY
from harness.core.sufficiency import HeldEvidence, Sufficiency, covered, sufficiency, worth_a_probe
from harness.core.text import stems
from harness.errors import ReaderError, SearchError, StoreError
from harness.library import FoundPassage, HeldPassage, Library
from harness.library.held_passages import engine_id
from harness.library.library_engine import results_of
from harness.ports import Progress, SearchEngine, silent
from harness.research.gathering import DecidedQuestion, GatheredSource, ReusedPassage
from harness.research.planner import Plan
from harness.research.relevance import Wording
from harness.research.search import EngineSearch, ReusedAnswer
from harness.research.services import ResearchServices
from harness.settings import GatheringSettings, Settings

log = logging.getLogger(__name__)
T = TypeVar("T")

FOUND = 20
"""Passages that a sub-question may bring."""
READ = 12
"""Passages that the reader reads for each sub-question, the best by rank: 0.1 to 0.3 s."""
CORPUS = "corpus"
VERSION = "library-2"
"""Change it when the decision changes: what was decided before then no longer counts."""


class UsedPassage(Struct, frozen=True):
    """A passage of the library and the text that a research uses of it; `found_again`: this research found it, too."""

    passage: ReusedPassage
    text: str
    found_again: bool = False


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
        known = sources.get(at.url, GatheredSource(at.url, at.title, (), at.fetched_at)).with_text(each.text)
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
        self._off = gathering.reuse == "off" or not _may_be_replaced(services.engines)
        self._off |= services.library is None and not replay
        self._library = None if replay else services.library
        self._allowed = sorted(map(_id, services.engines))
        self._began = cache.now if cache.began is None else cache.began

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
        if all(_is_cached(query, services.engines, gathering, cache) for query in self._plan.queries):
            return Reuse()
        decided: list[DecidedQuestion] = []
        used: dict[str, UsedPassage] = {}
        probes: list[str] = []
        for question, queries in sub_questions(self._plan).items():
            about = self._plan.question
            held = _ask(question, library, services.engines, gathering, cache, services.progress, about)
            state, spared = held.decision.state, tuple[str, ...]()
            if state == "answered":
                spared = queries
            elif state == "partly" and cache.policy.offline:  # the passages are all that there is
                spared = tuple(each for each in queries if not _is_cached(each, services.engines, gathering, cache))
            elif held.worth_a_probe:
                probes.append(queries[0])
            decided.append(DecidedQuestion(question, held.decision, spared))
            if state != "not answered":
                for each in held.passages:
                    used.setdefault(each.passage.key, UsedPassage(_reused(each), each.passage.under_heading))
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
        if cache.policy.offline and _is_cached(query, engines, self._gathering, cache):
            return ()

        def found(library: Library) -> UsedPassages:
            passages = library.search(
                query,
                most,
                read=0,
                max_age=self._gathering.reuse_max_age,
                only=_from(engines),
                about=self._plan.question,
                progress=self._services.progress,
            )
            library.touch([each.passage.key for each in passages])
            return UsedPassages(
                tuple(
                    UsedPassage(_reused(each), each.passage.under_heading, each.passage.fetched_at >= self._began)
                    for each in passages
                )
            )

        return self._stored(f"results {most}", query, found, UsedPassages()).passages

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
            f"{VERSION} {self._gathering.reuse_max_age} {what}",
            [sources, self._allowed],
            value,
            type(nothing),
            ttl=self._ttl,
            worth=worth,
        )


def _is_cached(
    query: str,
    engines: Sequence[SearchEngine],
    gathering: GatheringSettings,
    cache: Cache,
    *,
    by_meaning: bool = False,
) -> bool:
    return all(
        cache.searches.holds(
            query,
            max_results=gathering.max_results,
            engine=engine.name,
            options=engine.options,
            by_meaning=by_meaning,
        )
        for engine in engines
    )


def sub_questions(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return the sub-questions of a plan, each with its queries: queries whose words are those of the question, or
    one more ("explained"), belong to the question itself.
    """
    own, found = stems(plan.question), dict[str, list[str]]()
    for query in plan.queries:
        is_same = len(stems(query) - own) <= 1
        found.setdefault(plan.question if is_same else query, []).append(query)
    return {question: tuple(queries) for question, queries in found.items()}


def held_answer(
    query: str,
    library: Library,
    engines: Sequence[SearchEngine],
    settings: Settings,
    cache: Cache,
    progress: Progress = silent,
) -> EngineSearch | None:
    """Return the passages that answer a search, as the results of the engine `library`; `None` if they do not, if they
    cannot be read, or if the cache answers every engine's search.

    Raises:
        InvalidInput: an unusable query.
        StoreError: the cache cannot be read.
    """
    if (
        cache.policy.replay
        or not _may_be_replaced(engines)
        or _is_cached(query, engines, settings, cache, by_meaning=True)
    ):
        return None
    try:
        held = _ask(query, library, engines, settings, cache, progress)
        least = library.least_relevance or 0.0
        passages = [each.passage for each in held.passages if each.relevance is None or each.relevance >= least]
        if held.decision.state != "answered" or not passages:
            return None
        library.touch([each.key for each in passages])
    except StoreError as error:
        log.warning("passages that were read before are not used: %s", error)
        return None
    results: Results = [dict(each) for each in results_of(passages)[: settings.max_results]]
    shown = {each["href"] for each in results}
    ages = sorted(max(0.0, cache.now - each.fetched_at) for each in passages if each.url in shown)
    cache.usage.count("library", len(engines))
    reused = ReusedAnswer(len(ages), ages[0], ages[-1], held.decision)
    return replace(_library_search(query, results, ages[-1]), reused=reused)


def search_in_library(query: str, passages: Sequence[UsedPassage], now: float) -> EngineSearch:
    """Return passages as a search of the library that was answered, one result for each."""
    results: Results = [{"title": each.passage.title, "href": each.passage.url, "body": each.text} for each in passages]
    return _library_search(query, results, max(0.0, now - min(each.passage.fetched_at for each in passages)))


def _library_search(query: str, results: Results, age: float) -> EngineSearch:
    hit = Hit(results, "library", query, 1.0, age, origin=LIBRARY)
    return EngineSearch(query, LIBRARY, Answer(results, hit, "library"))


class _Held(Struct, frozen=True):
    """Passages of the library about a question: whether they answer, the passages that lack nothing that is asked, and
    whether any is near.
    """

    decision: Sufficiency
    passages: tuple[FoundPassage, ...]
    worth_a_probe: bool


def _ask(
    question: str,
    library: Library,
    engines: Sequence[SearchEngine],
    gathering: GatheringSettings,
    cache: Cache,
    progress: Progress,
    about: str = "",
) -> _Held:
    is_from, began = _from(engines), cache.began

    def may_be_used(passage: HeldPassage) -> bool:
        return (began is None or passage.fetched_at < began) and is_from(passage)

    found = library.search(
        question, FOUND, read=READ, max_age=gathering.reuse_max_age, only=may_be_used, about=about, progress=progress
    )
    evidence = held_evidence(question, found, library.rarity)
    usable = tuple(each for each, signs in zip(found, evidence, strict=True) if not signs.lacks)
    decision = sufficiency(evidence, gathering.max_wrong_reuse)
    if not usable and decision.state != "not answered":
        decision = replace(decision, state="not answered")
    return _Held(decision, usable, bool(usable) and worth_a_probe(evidence))


def _may_be_replaced(engines: Sequence[SearchEngine]) -> bool:
    """Return whether passages may answer for these engines: not for the library itself, nor where results are limited
    to a time range or by strict safe search.
    """
    return not any(
        engine.name == LIBRARY
        or engine.options.get("timelimit")
        or engine.options.get("time_range")
        or engine.options.get("safesearch") == "on"
        for engine in engines
    )


def _from(engines: Sequence[SearchEngine]) -> Callable[[HeldPassage], bool]:
    """Return the condition for passages that may replace results of these engines: not those of another corpus."""
    allowed = set(map(_id, engines))
    only_corpora = all(engine.name == CORPUS for engine in engines)

    def may_be_used(passage: HeldPassage) -> bool:
        return passage.engine in allowed if passage.engine.startswith(f"{CORPUS} ") else not only_corpora

    return may_be_used


def held_evidence(question: str, found: Sequence[FoundPassage], rarity: Callable[[str], int]) -> list[HeldEvidence]:
    """Return the signs of found passages for a question."""
    numbers, names, wording = all_numbers(question), required_names(question), Wording.of(question, rarity)
    evidence = []
    for each in found:
        text = each.passage.in_context
        held = frozenset(stems(text))
        evidence.append(
            HeldEvidence(
                relevance=each.relevance,
                similarity=each.similarity or 0.0,
                by_words=each.by_words,
                by_meaning=each.by_meaning,
                words=wording.share(held),
                lacks=lacking(numbers, text) + lacking_words(names, text),
                rivals=rival_terms(question, text),
            )
        )
    return evidence


def _id(engine: SearchEngine) -> str:
    return engine_id(engine.name, canonical_json(dict(engine.options)))


def _reused(found: FoundPassage) -> ReusedPassage:
    passage = found.passage
    return ReusedPassage(
        key=passage.key,
        url=passage.url,
        title=passage.title,
        source=passage.source,
        engine=passage.engine.partition(" ")[0],
        found_by=passage.found_by,
        fetched_at=passage.fetched_at,
        relevance=found.relevance,
    )
