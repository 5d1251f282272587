"""Reuse of passages: round 0 of a research asks the library, and decides which queries need no search."""

import logging
from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from harness.cache import Cache
from harness.core.keys import canonical_json
from harness.core.required_terms import all_numbers, lacking, lacking_words, required_names, rival_terms
from harness.core.search_engines import LIBRARY
from harness.core.sufficiency import HeldEvidence, sufficiency
from harness.core.text import stems
from harness.errors import ReaderError
from harness.library import FoundPassage, HeldPassage, Library
from harness.library.held_passages import engine_id
from harness.ports import SearchEngine
from harness.research.gathering import DecidedQuestion, GatheredSource, ReusedPassage
from harness.research.planner import Plan
from harness.research.relevance import Wording
from harness.research.services import ResearchServices
from harness.settings import GatheringSettings

log = logging.getLogger(__name__)

FOUND = 20
"""Passages that a sub-question may bring."""
READ = 12
"""Passages that the reader reads for each sub-question, the best by rank: 0.1 to 0.3 s."""
CORPUS = "corpus"
VERSION = "library-1"
"""Change it when the decision changes: what was decided before then no longer counts."""


class UsedPassage(Struct, frozen=True):
    """A passage of the library and the text that a research uses of it."""

    passage: ReusedPassage
    text: str


class Reuse(Struct, frozen=True):
    """Outcome of round 0: the sub-questions with their decisions, and the passages about those that need no search, or
    one.
    """

    decided: tuple[DecidedQuestion, ...] = ()
    passages: tuple[UsedPassage, ...] = ()

    @property
    def spared(self) -> frozenset[str]:
        """The queries that need not be searched."""
        return frozenset(query for each in self.decided for query in each.spared)

    def sources(self) -> list[GatheredSource]:
        """Return the passages as sources, best first."""
        sources: dict[str, GatheredSource] = {}
        for each in self.passages:
            at = each.passage
            known = sources.get(at.url, GatheredSource(at.url, at.title, (), at.fetched_at)).with_text(each.text)
            sources[at.url] = replace(known, fetched_at=min(known.fetched_at, at.fetched_at))
        return list(sources.values())


def reuse_held(
    plan: Plan, services: ResearchServices, gathering: GatheringSettings, cache: Cache, *, ttl: float
) -> Reuse:
    """Return what the library answers of a plan. What it gave once is stored for `ttl` seconds, so that the same
    question gives the same report, whichever passages were added since, and so that a replay repeats it.

    Nothing is reused if every search is cached: those answer for nothing, and as they did before.

    Raises:
        EmbeddingError: the embedder failed.
        StoreError: the store cannot be used.
    """
    engines, library, replay = services.engines, services.library, cache.policy.replay
    if gathering.reuse == "off" or any(engine.name == LIBRARY for engine in engines):
        return Reuse()
    if not replay and (library is None or all(_is_cached(query, engines, gathering, cache) for query in plan.queries)):
        return Reuse()
    ranking = f"{VERSION} {gathering.max_wrong_reuse} {gathering.reuse_max_age}"
    allowed = sorted(map(_id, engines))
    reader = services.answering
    try:
        read_by = f"{reader.id} {reader.calibration}" if reader is not None else ""
        return cache.derived.get(
            plan.question,
            f"{ranking} {read_by}".rstrip(),
            [plan.queries, allowed],
            lambda: Reuse() if replay or library is None else _decided(plan, library, services, gathering, cache),
            Reuse,
            ttl=ttl,
            worth=lambda found: bool(found.passages),
        )
    except ReaderError as error:
        log.debug("nothing is reused: %s", error)
        return Reuse()


def _is_cached(query: str, engines: Sequence[SearchEngine], gathering: GatheringSettings, cache: Cache) -> bool:
    return all(
        cache.searches.holds(query, max_results=gathering.max_results, engine=engine.name, options=engine.options)
        for engine in engines
    )


def _decided(
    plan: Plan, library: Library, services: ResearchServices, gathering: GatheringSettings, cache: Cache
) -> Reuse:
    decided: list[DecidedQuestion] = []
    used: dict[str, UsedPassage] = {}
    for question, queries in sub_questions(plan).items():
        found = _found(question, library, services, gathering, cache)
        evidence = held_evidence(question, found, services.rarity)
        decision = sufficiency(evidence, gathering.max_wrong_reuse)
        usable = [each for each, signs in zip(found, evidence, strict=True) if not signs.lacks]
        if decision.state == "not answered" or not usable:
            decided.append(DecidedQuestion(question, decision, ()))
            continue
        spared = queries if decision.state == "answered" else queries[1:]
        if cache.policy.offline:  # the passages are all that there is
            spared = tuple(each for each in queries if not _is_cached(each, services.engines, gathering, cache))
        decided.append(DecidedQuestion(question, decision, spared))
        for each in usable:
            used.setdefault(each.passage.key, UsedPassage(_reused(each), each.passage.under_heading))
    library.touch(list(used))
    return Reuse(tuple(decided), tuple(used.values()))


def sub_questions(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return the sub-questions of a plan, each with its queries: queries whose words are those of the question, or
    one more ("explained"), belong to the question itself.
    """
    own, found = stems(plan.question), dict[str, list[str]]()
    for query in plan.queries:
        is_same = len(stems(query) - own) <= 1
        found.setdefault(plan.question if is_same else query, []).append(query)
    return {question: tuple(queries) for question, queries in found.items()}


def _found(
    question: str, library: Library, services: ResearchServices, gathering: GatheringSettings, cache: Cache
) -> list[FoundPassage]:
    allowed, began = set(map(_id, services.engines)), cache.began
    only_corpora = all(engine.name == CORPUS for engine in services.engines)

    def may_be_used(passage: HeldPassage) -> bool:
        if began is not None and passage.fetched_at >= began:
            return False
        if passage.engine.startswith(f"{CORPUS} "):
            return passage.engine in allowed
        return not only_corpora

    return library.search(
        question,
        FOUND,
        read=READ if services.answering is not None else 0,
        max_age=gathering.reuse_max_age,
        only=may_be_used,
        progress=services.progress,
    )


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
