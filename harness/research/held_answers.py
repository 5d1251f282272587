"""Answers from the library: passages about a question, whether they suffice, and for which engines they may answer."""

import logging
from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from harness.cache import Answer, Cache, Results
from harness.core.chunking import in_context
from harness.core.entries import Hit
from harness.core.foreign_text import is_english
from harness.core.keys import canonical_json
from harness.core.required_terms import lacking_terms, rival_terms
from harness.core.search_engines import LIBRARY
from harness.core.sites import Sites
from harness.core.sufficiency import HeldEvidence, Sufficiency, likeliest, sufficiency, worth_a_probe
from harness.core.text import sentences
from harness.errors import EmbeddingError, ReaderError, StoreError
from harness.library import FoundPassage, HeldPassage, Library
from harness.library.held_passages import engine_id
from harness.library.library_engine import results_of
from harness.library.library_search import MAX_READ_CHARS
from harness.library.relevance import relevance
from harness.ports import Progress, SearchEngine, alternatives_of, silent, single_engines
from harness.research.page_reading import READABLE
from harness.research.relevance import Wording
from harness.research.search import EngineSearch, ReusedAnswer, is_held
from harness.settings import GatheringSettings, Settings

log = logging.getLogger(__name__)

FOUND = 20
"""Passages that a sub-question may bring."""
READ = 12
"""Passages that the reader reads for each sub-question, the best by rank: 0.1 to 0.3 s."""
SENTENCES_OF = 2
"""Passages of which every sentence is read, too: the likeliest ones, in less than 0.1 s."""
MOST_SENTENCES = 12
"""Sentences of a passage that are read."""
CORPUS = "corpus"
NOT_CALIBRATED = "its sufficiency was calibrated for English only"
"""Why passages never replace a search for a question in another language: nothing shows that it is safe."""


class LibraryAnswer(Struct, frozen=True):
    """Passages of the library about a question: whether they answer, the passages that lack nothing that is asked,
    those of them that answer, the deciding one first (none unless they suffice), and whether any is near.
    """

    decision: Sufficiency
    passages: tuple[FoundPassage, ...]
    answering: tuple[FoundPassage, ...]
    worth_a_probe: bool


def ask_library(
    question: str,
    library: Library,
    engines: Sequence[SearchEngine],
    gathering: GatheringSettings,
    cache: Cache,
    progress: Progress,
    about: str = "",
) -> LibraryAnswer:
    """Return what the library has about a question: passages from before this run. `about` is the question of the
    research that this one is part of.

    Raises:
        StoreError: the store cannot be used.
    """
    is_from, began = passages_for(engines, gathering), cache.began

    def may_be_used(passage: HeldPassage) -> bool:
        return (began is None or passage.fetched_at < began) and is_from(passage)

    found = library.search(
        question, FOUND, read=READ, max_age=gathering.reuse_max_age, only=may_be_used, about=about, progress=progress
    )
    evidence = held_evidence(question, found, library)
    usable = tuple(each for each, signs in zip(found, evidence, strict=True) if not signs.lacks)
    decision = sufficiency(evidence, gathering.max_wrong_reuse)
    if not usable and decision.state != "not answered":
        decision = replace(decision, state="not answered")
    if decision.state == "answered" and not is_english(question):
        decision = replace(decision, state="partly", reasons=(*decision.reasons, NOT_CALIBRATED))
    answered = decision.state == "answered"
    answering = _answering(usable, found[likeliest(evidence)], library.least_relevance) if answered else ()
    return LibraryAnswer(decision, usable, answering, bool(usable) and worth_a_probe(evidence))


def _answering(usable: Sequence[FoundPassage], deciding: FoundPassage, least: float | None) -> tuple[FoundPassage, ...]:
    """Return the deciding passage and those of at least this relevance; all, if no reader read the deciding one."""
    rest = (each for each in usable if each is not deciding)
    if deciding.relevance is None or least is None:
        return (deciding, *rest)
    return (deciding, *(each for each in rest if (each.relevance or 0.0) >= least))


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
    # A query that the library does not answer is looked up by meaning again, by its search: milliseconds, where
    # reading passages takes a hundred times as long.
    if (
        cache.policy.replay
        or not may_be_replaced(engines)
        or is_cached(query, engines, settings, cache, by_meaning=True)
    ):
        return None
    try:
        held = ask_library(query, library, engines, settings, cache, progress)
        passages = [each.passage for each in held.answering]
        if not passages:
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
    return replace(library_search(query, results, ages[-1]), reused=reused)


def library_search(query: str, results: Results, age: float) -> EngineSearch:
    """Return results from passages as a search of the library; `age` is that of the oldest, in seconds."""
    hit = Hit(results, "library", query, 1.0, age, origin=LIBRARY)
    return EngineSearch(query, LIBRARY, Answer(results, hit, "library"))


def may_be_replaced(engines: Sequence[SearchEngine]) -> bool:
    """Return whether passages may answer for these engines: not for the library itself, nor where results are limited
    to a time range or by strict safe search.
    """
    return not any(
        engine.name == LIBRARY
        or engine.options.get("timelimit")
        or engine.options.get("time_range")
        or engine.options.get("safesearch") == "on"
        for engine in single_engines(engines)
    )


def passages_for(engines: Sequence[SearchEngine], gathering: GatheringSettings) -> Callable[[HeldPassage], bool]:
    """Return the condition for passages that may replace results of these engines: not those of another corpus, nor of
    sites that are left out.

    Raises:
        InvalidInput: a list of sites has an entry that is not a host.
    """
    sites = Sites.of(gathering.only_sites, gathering.skip_sites)
    every = single_engines(engines)
    allowed = set(map(engine_key, every))
    only_corpora = all(engine.name == CORPUS for engine in every)

    def may_be_used(passage: HeldPassage) -> bool:
        if passage.engine.startswith(f"{CORPUS} "):
            return passage.engine in allowed
        return not only_corpora and not (passage.url.startswith(READABLE) and sites.left_out_by(passage.url))

    return may_be_used


def held_evidence(question: str, found: Sequence[FoundPassage], library: Library) -> list[HeldEvidence]:
    """Return the signs of found passages for a question. The likeliest that lack nothing are read by sentence, too."""
    wording, texts = Wording.of(question, library.rarity), [each.passage.in_context for each in found]
    evidence = [
        HeldEvidence(
            relevance=each.relevance,
            similarity=each.similarity or 0.0,
            by_words=each.by_words,
            by_meaning=each.by_meaning,
            words=wording.share(wording.stems_of(text)),
            lacks=lacking_terms(question, text),
            rivals=rival_terms(question, text),
        )
        for each, text in zip(found, texts, strict=True)
    ]
    places = [place for place, each in enumerate(evidence) if each.relevance is not None and not each.lacks]
    for place in sorted(places, key=lambda place: -(evidence[place].relevance or 0.0))[:SENTENCES_OF]:
        evidence[place] = replace(
            evidence[place], sentence=_sentence_relevance(question, found[place].passage, library)
        )
    return evidence


def _sentence_relevance(question: str, passage: HeldPassage, library: Library) -> float:
    """Return how likely (0..1) the best sentence of a passage answers, of those that have, with title and heading,
    every number and name of the question and no rival; 0 if there is none, or no reader. A question is no answer.
    """
    split = (each.strip() for paragraph in passage.text.split("\n\n") for each in sentences(paragraph))
    said = (each for each in split if not each.endswith("?"))
    every = (in_context(passage.title, passage.section, each)[:MAX_READ_CHARS] for each in said)
    clean = [each for each in every if not (lacking_terms(question, each) or rival_terms(question, each))]
    if library.reader is None or not clean:
        return 0.0
    try:
        return max(relevance(question, clean[:MOST_SENTENCES], library.reader, library.embedder))
    except (ReaderError, EmbeddingError) as error:
        log.warning("sentences of the library are not read: %s", error)
        return 0.0


def is_cached(
    query: str, engines: Sequence[SearchEngine], gathering: GatheringSettings, cache: Cache, *, by_meaning: bool = False
) -> bool:
    """Return whether the cache answers a search for every engine, exactly or `by_meaning`; leave no trace."""
    most = gathering.max_results
    return all(
        any(is_held(query, each, cache, most, by_meaning=by_meaning) for each in alternatives_of(engine))
        for engine in engines
    )


def engine_key(engine: SearchEngine) -> str:
    """Return the name of an engine as passages have it."""
    return engine_id(engine.name, canonical_json(dict(engine.options)))
