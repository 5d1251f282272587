"""Lookups by meaning: candidates that answer, and others."""

import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from harness.cache import Cache, Policy, ResearchContext
from harness.core.entries import Hit, Miss
from harness.models.local.embedder import MiniLM
from harness.models.local.tokenizer import vocabulary
from harness.storage.sqlite.store import SqliteStore
from tests.cache.stand_ins import BrokenEmbedder, Engine, WordsEmbedder, bare, results, semantic_cache, semantics
from tests.fakes import FakeClock

STORED, ASKED = "semantic cache false positives", "false positives semantic cache"


@pytest.fixture
def cache(store: SqliteStore, clock: FakeClock) -> Cache:
    """An empty cache that answers by meaning."""
    return semantic_cache(store, clock=clock)


def test_a_search_that_means_the_same_is_not_made(cache: Cache, clock: FakeClock) -> None:
    """The hit has the stored query, the similarity and the age."""
    engine = Engine()
    cache.searches.answer(STORED, engine)
    clock.advance(90)
    answer = cache.searches.answer(ASKED, engine)
    assert engine.calls == [STORED]
    assert answer.value == engine.found
    assert bare(answer.outcome) == Hit(engine.found, "semantic", STORED, pytest.approx(1.0), 90.0)


def test_an_exact_hit_comes_before_a_semantic_one(cache: Cache) -> None:
    """Exact first."""
    cache.searches.put(STORED, results("of the like one"))
    cache.searches.put(ASKED, results("of the very one"))
    found = cache.searches.find(ASKED)
    assert isinstance(found, Hit)
    assert (found.found, found.value) == ("exact", results("of the very one"))


def test_a_hit_by_meaning_is_not_stored_again(cache: Cache) -> None:
    """No drift: after any number of answers there is one row, and none for the new query."""
    cache.searches.answer(STORED, Engine())
    for _ in range(3):
        found = cache.searches.answer(ASKED, Engine()).outcome
        assert isinstance(found, Hit)
        assert found.found == "semantic"
    assert cache.maintenance.stats()[0].total == 1


def test_a_refused_candidate_hides_no_good_one(cache: Cache) -> None:
    """The nearest means the opposite; the next answers."""
    cache.searches.put("how to disable retry backoff in python http clients", results("wrong"))
    cache.searches.put("python http clients how to enable retry backoff", results("right"))
    explained = cache.searches.explain("how to enable retry backoff in python http clients")
    assert any(candidate.refusal for candidate in explained.candidates)
    found = cache.searches.find("how to enable retry backoff in python http clients")
    assert isinstance(found, Hit)
    assert found.value == results("right")


def test_an_unfit_candidate_hides_no_good_one(cache: Cache) -> None:
    """A nearer row with too few results, or unreadable ones, is passed over."""
    cache.searches.put("false positives semantic cache", results("five"), max_results=5)
    cache.searches.put("semantic false positives cache", results("spoilt"), max_results=20)
    cache.searches.put("semantic cache false positives", results("ten"), max_results=20)
    store = cache.store
    assert isinstance(store, SqliteStore)
    store._connections.write(
        lambda connection: connection.execute("UPDATE search_cache SET results = '[{' WHERE results LIKE '%spoilt%'")
    )
    engine = Engine()
    answer = cache.searches.answer("cache semantic false positives", engine, max_results=20)
    assert engine.calls == []
    assert answer.value == results("ten")


def test_the_number_of_candidates_is_limited(store: SqliteStore) -> None:
    """The setting limits the work: only the nearest candidates are judged."""
    cache = Cache(store, semantics=semantics(store, candidates=2))
    for number in range(4):
        cache.searches.put(f"semantic cache false positives {number}", results("another number"))
    cache.searches.put("good semantic cache false positives", results("x"))
    assert len(cache.searches.explain("semantic cache false positives").candidates) == 2


@pytest.mark.parametrize(
    ("engine", "options"),
    [("corpus", {}), ("ddgs", {"region": "de-de"}), ("corpus", {"corpus": "a"})],
)
def test_other_engines_and_options_do_not_answer(cache: Cache, engine: str, options: dict[str, Any]) -> None:
    """Rows with another engine or other options do not answer by meaning; equal ones do."""
    cache.searches.put(STORED, results("of another engine"))
    live = Engine()
    assert isinstance(cache.searches.answer(STORED, live, engine=engine, options=options).outcome, Miss)
    found = cache.searches.answer(ASKED, live, engine=engine, options=options).outcome
    assert isinstance(found, Hit)
    assert found.found == "semantic"


def test_fewer_results_than_asked_for_do_not_answer_and_more_are_cut(cache: Cache) -> None:
    """`max_results` counts by meaning as it does exactly."""
    cache.searches.put(STORED, results(*map(str, range(8))), max_results=8)
    assert isinstance(cache.searches.answer(ASKED, Engine(), max_results=9).outcome, Miss)
    cache.maintenance.clear()
    cache.searches.put(STORED, results(*map(str, range(8))), max_results=8)
    assert len(cache.searches.answer(ASKED, Engine(), max_results=3).value) == 3


@pytest.mark.parametrize("other", [("enumerated", "f"), ("research", "g"), ("research", "")])
def test_a_research_answers_only_for_its_kind(cache: Cache, other: tuple[str, str]) -> None:
    """Task type and fingerprint must be the same."""
    cache.researches.put(STORED, "research", ResearchContext("gathered", 1, [1.0]), fingerprint="f")
    found = cache.researches.find(ASKED, "Research", fingerprint="f")
    assert isinstance(found, Hit)
    assert (found.found, found.query, found.value.context) == ("semantic", STORED, "gathered")
    assert isinstance(cache.researches.find(ASKED, other[0], fingerprint=other[1]), Miss)


def test_without_semantics_only_the_same_search_answers(store: SqliteStore) -> None:
    """Switched off, no vector is made and nothing is found by meaning."""
    cache = Cache(store)
    cache.searches.answer(STORED, Engine())
    assert isinstance(cache.searches.answer(ASKED, Engine()).outcome, Miss)
    assert isinstance(cache.searches.answer(STORED, Engine()).outcome, Hit)
    assert next(store.listings.scan("search_cache", "default")).embedding is None


@pytest.mark.slow
@pytest.mark.parametrize(("share", "answers"), [(1.01, True), (0.99, False), (0.0, False)])
def test_the_classic_threshold_is_a_cut(store: SqliteStore, minilm: MiniLM, share: float, answers: bool) -> None:
    """`SEMANTIC_CACHE_THRESHOLD` is a distance: no row that is farther away answers."""
    cache = Cache(store, semantics=semantics(store, minilm, words=vocabulary))
    cache.searches.put("how to sort a list in python", results("x"))
    (candidate,) = cache.searches.explain("how do I sort a list in python").candidates
    assert cache.semantics is not None
    cache.semantics.max_distance = (1 - candidate.decision.similarity) * share
    assert isinstance(cache.searches.find("how do I sort a list in python"), Hit) is answers


def test_the_searches_of_a_run_do_not_answer_each_other(cache: Cache, clock: FakeClock) -> None:
    """Rows stored since the run began, also before it was resumed, do not count; the next run may use them."""
    run = cache.recording()
    began = clock.now
    run.searches.answer(STORED, Engine())
    clock.advance(60)
    assert isinstance(run.searches.answer(ASKED, Engine(), max_results=3).outcome, Miss)
    clock.advance(60)
    resumed = cache.recording(began)
    assert isinstance(resumed.searches.answer("positives false semantic cache", Engine()).outcome, Miss)
    clock.advance(60)
    found = cache.recording().searches.answer("false positives, semantic cache", Engine()).outcome
    assert isinstance(found, Hit)
    assert found.found == "semantic"


def test_an_older_answer_is_found_among_the_rows_of_a_run(cache: Cache, clock: FakeClock) -> None:
    """Rows that the run stored itself do not crowd out the older row that answers."""
    cache.searches.put(STORED, results("old"))
    clock.advance(60)
    run = cache.recording()
    for number in range(20):
        cache.searches.put(f"{STORED} {'!' * number}?", results("own"))
    found = run.searches.answer(ASKED, Engine()).outcome
    assert isinstance(found, Hit)
    assert found.query == STORED


def test_an_expired_row_does_not_answer_by_meaning(cache: Cache, clock: FakeClock) -> None:
    """Neither as a hit nor as a stale answer."""
    cache.searches.put(STORED, results("old"), ttl=60)
    clock.advance(60)
    assert bare(cache.searches.find(ASKED)) == Miss("unknown")


def test_an_embedder_that_fails_is_logged_once(store: SqliteStore, caplog: pytest.LogCaptureFixture) -> None:
    """Exact lookups and puts still work."""
    cache = semantic_cache(store, embedder=BrokenEmbedder())
    engine = Engine()
    for query in ("one", "two", "one", "two"):
        cache.searches.answer(query, engine)
    assert engine.calls == ["one", "two"]
    assert [record.getMessage() for record in caplog.records] == [
        "lookups by meaning find nothing: the model is missing; reinstall research-harness"
    ]


def test_an_embedder_that_fails_for_many_threads_is_logged_once(
    store: SqliteStore, caplog: pytest.LogCaptureFixture
) -> None:
    """Four searches of one round find out together, and one of them speaks."""
    cache = semantic_cache(store, embedder=BrokenEmbedder(at_once=4))
    caplog.set_level(logging.WARNING)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda query: cache.searches.answer(query, Engine()), ["one", "two", "three", "four"]))
    assert len(caplog.records) == 1


def test_vectors_come_back_once_the_embedder_works(store: SqliteStore) -> None:
    """A row without a vector answers by meaning once it is embedded."""
    semantic_cache(store, embedder=BrokenEmbedder()).searches.put(STORED, results("kept"))
    cache = semantic_cache(store)
    assert isinstance(cache.searches.find(ASKED), Miss)
    assert cache.maintenance.stats()[0].unembedded == 1
    assert cache.maintenance.reembed(lambda what, done, total: None) == 1
    assert cache.maintenance.reembed(lambda what, done, total: None) == 0
    found = cache.searches.find(ASKED)
    assert isinstance(found, Hit)
    assert found.value == results("kept")


def test_vectors_of_another_embedder_do_not_count(store: SqliteStore) -> None:
    """Two models are never compared with each other."""
    semantic_cache(store).searches.put(STORED, results("kept"))
    other = WordsEmbedder()
    other.id = "words of another version"
    assert isinstance(semantic_cache(store, embedder=other).searches.find(ASKED), Miss)


def test_tenants_do_not_answer_each_other_by_meaning(store: SqliteStore) -> None:
    """They do not share abbreviations either."""
    one, other = (Cache(store, semantics=semantics(store, tenant=name), tenant=name) for name in "ab")
    one.searches.put(STORED, results("retrieval-augmented generation (RAG) is a pattern"))
    assert isinstance(one.searches.find(ASKED), Hit)
    assert isinstance(other.searches.find(ASKED), Miss)
    assert store.nearest.meanings("b", ["RAG"]) == []


# --- abbreviations

TEACHING = results("Retrieval-augmented generation (RAG) grounds a model in documents.")
SHORT, LONG = "RAG best practices", "retrieval-augmented generation best practices"


@pytest.mark.parametrize(("stored", "asked"), [(SHORT, LONG), (LONG, SHORT)])
def test_a_short_form_meets_its_long_form(store: SqliteStore, stored: str, asked: str) -> None:
    """In both orders, if the stored results define it."""
    cache = semantic_cache(store)
    cache.searches.put(stored, TEACHING)
    found = cache.searches.find(asked)
    assert isinstance(found, Hit)
    assert (found.found, found.query) == ("semantic", stored)


@pytest.mark.parametrize(("stored", "asked"), [(SHORT, LONG), (LONG, SHORT)])
def test_a_definition_in_another_entry_counts(store: SqliteStore, stored: str, asked: str) -> None:
    """The results of any earlier search may define it."""
    cache = semantic_cache(store)
    cache.searches.put("grounding of language models", TEACHING)
    cache.searches.put(stored, results("nothing is defined here"))
    found = cache.searches.find(asked)
    assert isinstance(found, Hit)
    assert found.query == stored


@pytest.mark.parametrize(("stored", "asked"), [(SHORT, LONG), (LONG, SHORT)])
def test_an_unknown_short_form_is_no_match(store: SqliteStore, stored: str, asked: str) -> None:
    """No cached text defines it."""
    cache = semantic_cache(store)
    cache.searches.put(stored, results("nothing is defined here"))
    assert isinstance(cache.searches.find(asked), Miss)


def test_a_definition_is_deleted_with_its_entry(store: SqliteStore, clock: FakeClock) -> None:
    """After it is cleared, deleted or swept, its definitions do not count."""
    cache = semantic_cache(store, clock=clock)
    cache.searches.put(LONG, results("nothing is defined here"))
    for forget in (
        lambda: cache.maintenance.delete(cache.maintenance.select(query="grounding")),
        lambda: (clock.advance(61), cache.maintenance.sweep()),
    ):
        cache.searches.put("grounding", TEACHING, ttl=60)
        assert isinstance(cache.searches.find(SHORT), Hit)
        forget()
        assert store.nearest.meanings("default", ["RAG"]) == []
        assert isinstance(cache.searches.find(SHORT), Miss)


def test_two_meanings_without_context_are_no_match(store: SqliteStore) -> None:
    """An ambiguous short form answers for neither meaning; a query with the meaning does."""
    cache = semantic_cache(store)
    cache.searches.put("grounding", TEACHING)
    cache.searches.put("status reports", results("The red amber green (RAG) status shows how a project goes."))
    cache.searches.put(LONG, results("of generation"))
    assert isinstance(cache.searches.find(SHORT), Miss)
    explained = cache.searches.explain(SHORT)
    assert any("more than one thing" in candidate.refusal for candidate in explained.candidates)


# --- with the real embedder


@pytest.mark.parametrize(
    ("stored", "asked", "answers"),
    [
        ("how to sort a list in python", "how do I sort a list in Python?", True),
        ("semantic cache false positives", "false positives in semantic caches", True),
        ("RAG best practices", "retrieval-augmented generation tips", True),
        ("retrieval-augmented generation tips", "RAG best practices", True),
        ("python 3.12 release date", "python 3.13 release date", False),
        ("how to enable http retries", "how to disable http retries", False),
        ("convert celsius to fahrenheit", "convert fahrenheit to celsius", False),
        ("capital of australia", "capital of austria", False),
    ],
)
def test_real_vectors(store: SqliteStore, minilm: MiniLM, stored: str, asked: str, answers: bool) -> None:
    """With the shipped embedder and rule, in a cache with an entry that defines RAG."""
    cache = Cache(store, semantics=semantics(store, minilm, words=vocabulary))
    cache.searches.put(stored, TEACHING)
    assert isinstance(cache.searches.find(asked), Hit) is answers


def test_policy_without_reading_finds_nothing_by_meaning(store: SqliteStore) -> None:
    """`--refresh` does not look near, either."""
    semantic_cache(store).searches.put(STORED, results("kept"))
    engine = Engine()
    semantic_cache(store, policy=Policy(read=False)).searches.answer(ASKED, engine)
    assert engine.calls == [ASKED]
