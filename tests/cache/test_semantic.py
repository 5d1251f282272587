"""Look-ups by meaning: which candidates answer, and which never do."""

import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from harness.cache import Cache, Policy, ResearchContext
from harness.core.entries import Hit, Miss
from harness.models.local.embedder import MiniLM
from harness.models.local.tokenizer import vocabulary
from harness.storage.sqlite.store import SqliteStore
from tests.cache.stand_ins import BrokenEmbedder, Engine, WordsEmbedder, results, semantic_cache, semantics
from tests.fakes import FakeClock

STORED, ASKED = "semantic cache false positives", "false positives semantic cache"


@pytest.fixture
def cache(store: SqliteStore, clock: FakeClock) -> Cache:
    """An empty cache that answers by meaning."""
    return semantic_cache(store, clock=clock)


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    """The real embedder, loaded once."""
    return MiniLM()


def test_a_search_that_means_the_same_is_not_made(cache: Cache, clock: FakeClock) -> None:
    """The hit says which query it answered, how alike they are, and how old it is."""
    engine = Engine()
    cache.search(STORED, engine)
    clock.advance(90)
    answer = cache.search(ASKED, engine)
    assert engine.calls == [STORED]
    assert answer.value == engine.found
    assert answer.outcome == Hit(engine.found, "semantic", STORED, pytest.approx(1.0), 90.0)


def test_the_very_search_comes_before_a_like_one(cache: Cache) -> None:
    """Exact first."""
    cache.put_search(STORED, results("of the like one"))
    cache.put_search(ASKED, results("of the very one"))
    found = cache.get_search(ASKED)
    assert isinstance(found, Hit)
    assert (found.found, found.value) == ("exact", results("of the very one"))


def test_a_hit_by_meaning_is_not_stored_again(cache: Cache) -> None:
    """No drift: however often it answers, there is one row, and the asked query has none."""
    cache.search(STORED, Engine())
    for _ in range(3):
        found = cache.search(ASKED, Engine()).outcome
        assert isinstance(found, Hit)
        assert found.found == "semantic"
    assert cache.stats()[0].total == 1


def test_a_refused_candidate_hides_no_good_one(cache: Cache) -> None:
    """The nearest means the opposite; the next answers."""
    cache.put_search("how to disable retry backoff in python http clients", results("wrong"))
    cache.put_search("python http clients how to enable retry backoff", results("right"))
    explained = cache.explain("how to enable retry backoff in python http clients")
    assert any(candidate.refusal for candidate in explained.candidates)
    found = cache.get_search("how to enable retry backoff in python http clients")
    assert isinstance(found, Hit)
    assert found.value == results("right")


def test_an_unfit_candidate_hides_no_good_one(cache: Cache) -> None:
    """A nearer row with too few results, or unreadable ones, is passed over."""
    cache.put_search("false positives semantic cache", results("five"), max_results=5)
    cache.put_search("semantic false positives cache", results("spoilt"), max_results=20)
    cache.put_search("semantic cache false positives", results("ten"), max_results=20)
    store = cache._store
    assert isinstance(store, SqliteStore)
    store._connections.write(
        lambda connection: connection.execute("UPDATE search_cache SET results = '[{' WHERE results LIKE '%spoilt%'")
    )
    engine = Engine()
    answer = cache.search("cache semantic false positives", engine, max_results=20)
    assert engine.calls == []
    assert answer.value == results("ten")


def test_only_so_many_candidates_are_tried(store: SqliteStore) -> None:
    """The setting bounds the work: what stands beyond the nearest ones is not looked at."""
    cache = Cache(store, semantics=semantics(store, candidates=2))
    for number in range(4):
        cache.put_search(f"semantic cache false positives {number}", results("another number"))
    cache.put_search("good semantic cache false positives", results("x"))
    assert len(cache.explain("semantic cache false positives").candidates) == 2


@pytest.mark.parametrize(
    ("engine", "options"),
    [("corpus", {}), ("ddgs", {"region": "de-de"}), ("corpus", {"corpus": "a"})],
)
def test_other_engines_and_options_do_not_answer(cache: Cache, engine: str, options: dict[str, Any]) -> None:
    """What makes results differ makes them unfit by meaning too; the same ones do answer."""
    cache.put_search(STORED, results("of another engine"))
    live = Engine()
    assert isinstance(cache.search(STORED, live, engine=engine, options=options).outcome, Miss)
    found = cache.search(ASKED, live, engine=engine, options=options).outcome
    assert isinstance(found, Hit)
    assert found.found == "semantic"


def test_fewer_results_than_asked_for_do_not_answer_and_more_are_cut(cache: Cache) -> None:
    """`max_results` counts by meaning as it does exactly."""
    cache.put_search(STORED, results(*map(str, range(8))), max_results=8)
    assert isinstance(cache.search(ASKED, Engine(), max_results=9).outcome, Miss)
    cache.clear()
    cache.put_search(STORED, results(*map(str, range(8))), max_results=8)
    assert len(cache.search(ASKED, Engine(), max_results=3).value) == 3


@pytest.mark.parametrize("other", [("enumerated", "f"), ("research", "g"), ("research", "")])
def test_a_research_answers_for_its_own_kind_alone(cache: Cache, other: tuple[str, str]) -> None:
    """Task type and fingerprint must be the same."""
    cache.put_research(STORED, "research", ResearchContext("gathered", 1, [1.0]), fingerprint="f")
    found = cache.get_research(ASKED, "Research", fingerprint="f")
    assert isinstance(found, Hit)
    assert (found.found, found.query, found.value.context) == ("semantic", STORED, "gathered")
    assert isinstance(cache.get_research(ASKED, other[0], fingerprint=other[1]), Miss)


def test_without_semantics_only_the_very_search_answers(store: SqliteStore) -> None:
    """Switched off, no vector is made and nothing is found by meaning."""
    cache = Cache(store)
    cache.search(STORED, Engine())
    assert isinstance(cache.search(ASKED, Engine()).outcome, Miss)
    assert isinstance(cache.search(STORED, Engine()).outcome, Hit)
    assert next(store.listings.scan("search_cache", "default")).embedding is None


@pytest.mark.parametrize(("share", "answers"), [(1.01, True), (0.99, False), (0.0, False)])
def test_the_classic_threshold_is_a_cut(store: SqliteStore, minilm: MiniLM, share: float, answers: bool) -> None:
    """`SEMANTIC_CACHE_THRESHOLD` is a distance: beyond it nothing answers, whatever else says yes."""
    cache = Cache(store, semantics=semantics(store, minilm, words=vocabulary))
    cache.put_search("how to sort a list in python", results("x"))
    (candidate,) = cache.explain("how do I sort a list in python").candidates
    assert cache.semantics is not None
    cache.semantics.max_distance = (1 - candidate.decision.similarity) * share
    assert isinstance(cache.get_search("how do I sort a list in python"), Hit) is answers


def test_the_searches_of_a_run_do_not_answer_each_other(cache: Cache, clock: FakeClock) -> None:
    """Whenever they were stored since the run began, also before it was resumed; the next run may use them."""
    run = cache.recording()
    began = clock.now
    run.search(STORED, Engine())
    clock.advance(60)
    assert isinstance(run.search(ASKED, Engine(), max_results=3).outcome, Miss)
    clock.advance(60)
    resumed = cache.recording(began)
    assert isinstance(resumed.search("positives false semantic cache", Engine()).outcome, Miss)
    clock.advance(60)
    found = cache.recording().search("false positives, semantic cache", Engine()).outcome
    assert isinstance(found, Hit)
    assert found.found == "semantic"


def test_an_older_answer_is_found_beside_the_rows_of_a_run(cache: Cache, clock: FakeClock) -> None:
    """Rows that the run stored itself do not crowd out the older row that answers."""
    cache.put_search(STORED, results("old"))
    clock.advance(60)
    run = cache.recording()
    for number in range(20):
        cache.put_search(f"{STORED} {'!' * number}?", results("own"))
    found = run.search(ASKED, Engine()).outcome
    assert isinstance(found, Hit)
    assert found.query == STORED


def test_an_expired_row_does_not_answer_by_meaning(cache: Cache, clock: FakeClock) -> None:
    """Neither as a hit nor as a stale answer."""
    cache.put_search(STORED, results("old"), ttl=60)
    clock.advance(60)
    assert cache.get_search(ASKED) == Miss("unknown")


def test_an_embedder_that_fails_is_said_once(store: SqliteStore, caplog: pytest.LogCaptureFixture) -> None:
    """Exact look-ups and puts go on."""
    cache = semantic_cache(store, embedder=BrokenEmbedder())
    engine = Engine()
    for query in ("one", "two", "one", "two"):
        cache.search(query, engine)
    assert engine.calls == ["one", "two"]
    assert [record.getMessage() for record in caplog.records] == [
        "nothing is found by meaning: the model is missing; reinstall research-harness"
    ]


def test_an_embedder_that_fails_for_many_threads_is_said_once(
    store: SqliteStore, caplog: pytest.LogCaptureFixture
) -> None:
    """Four searches of one round find out together, and one of them speaks."""
    cache = semantic_cache(store, embedder=BrokenEmbedder(at_once=4))
    caplog.set_level(logging.WARNING)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda query: cache.search(query, Engine()), ["one", "two", "three", "four"]))
    assert len(caplog.records) == 1


def test_vectors_come_back_once_the_embedder_works(store: SqliteStore) -> None:
    """What was stored without a vector answers by meaning once it has been given one."""
    semantic_cache(store, embedder=BrokenEmbedder()).put_search(STORED, results("kept"))
    cache = semantic_cache(store)
    assert isinstance(cache.get_search(ASKED), Miss)
    assert cache.stats()[0].unembedded == 1
    assert cache.reembed(lambda what, done, total: None) == 1
    assert cache.reembed(lambda what, done, total: None) == 0
    found = cache.get_search(ASKED)
    assert isinstance(found, Hit)
    assert found.value == results("kept")


def test_vectors_of_another_embedder_do_not_count(store: SqliteStore) -> None:
    """Two models are never compared with each other."""
    semantic_cache(store).put_search(STORED, results("kept"))
    other = WordsEmbedder()
    other.id = "words of another version"
    assert isinstance(semantic_cache(store, embedder=other).get_search(ASKED), Miss)


def test_tenants_do_not_answer_each_other_by_meaning(store: SqliteStore) -> None:
    """Nor do they teach each other abbreviations."""
    one, other = (Cache(store, semantics=semantics(store, tenant=name), tenant=name) for name in "ab")
    one.put_search(STORED, results("retrieval-augmented generation (RAG) is a pattern"))
    assert isinstance(one.get_search(ASKED), Hit)
    assert isinstance(other.get_search(ASKED), Miss)
    assert store.nearest.meanings("b", ["RAG"]) == []


# --- abbreviations

TEACHING = results("Retrieval-augmented generation (RAG) grounds a model in documents.")
SHORT, LONG = "RAG best practices", "retrieval-augmented generation best practices"


@pytest.mark.parametrize(("stored", "asked"), [(SHORT, LONG), (LONG, SHORT)])
def test_a_short_form_meets_its_long_form(store: SqliteStore, stored: str, asked: str) -> None:
    """In both orders, when the stored results say what it means."""
    cache = semantic_cache(store)
    cache.put_search(stored, TEACHING)
    found = cache.get_search(asked)
    assert isinstance(found, Hit)
    assert (found.found, found.query) == ("semantic", stored)


@pytest.mark.parametrize(("stored", "asked"), [(SHORT, LONG), (LONG, SHORT)])
def test_what_another_entry_teaches_counts(store: SqliteStore, stored: str, asked: str) -> None:
    """The definition may stand in the results of any other search, stored before."""
    cache = semantic_cache(store)
    cache.put_search("grounding of language models", TEACHING)
    cache.put_search(stored, results("nothing is defined here"))
    found = cache.get_search(asked)
    assert isinstance(found, Hit)
    assert found.query == stored


@pytest.mark.parametrize(("stored", "asked"), [(SHORT, LONG), (LONG, SHORT)])
def test_an_unknown_short_form_is_no_match(store: SqliteStore, stored: str, asked: str) -> None:
    """Nobody has said what it means."""
    cache = semantic_cache(store)
    cache.put_search(stored, results("nothing is defined here"))
    assert isinstance(cache.get_search(asked), Miss)


def test_a_meaning_is_forgotten_with_the_entry_that_taught_it(store: SqliteStore, clock: FakeClock) -> None:
    """Cleared, deleted or swept, it teaches nothing any more."""
    cache = semantic_cache(store, clock=clock)
    cache.put_search(LONG, results("nothing is defined here"))
    for forget in (
        lambda: cache.delete(cache.select(query="grounding")),
        lambda: (clock.advance(61), cache.sweep()),
    ):
        cache.put_search("grounding", TEACHING, ttl=60)
        assert isinstance(cache.get_search(SHORT), Hit)
        forget()
        assert store.nearest.meanings("default", ["RAG"]) == []
        assert isinstance(cache.get_search(SHORT), Miss)


def test_two_meanings_without_context_are_no_match(store: SqliteStore) -> None:
    """A short form that can mean two things answers for neither; the query that says which does."""
    cache = semantic_cache(store)
    cache.put_search("grounding", TEACHING)
    cache.put_search("status reports", results("The red amber green (RAG) status tells how a project goes."))
    cache.put_search(LONG, results("of generation"))
    assert isinstance(cache.get_search(SHORT), Miss)
    explained = cache.explain(SHORT)
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
    """What the shipped embedder and the shipped rule make of it, in a cache whose entry defines RAG."""
    cache = Cache(store, semantics=semantics(store, minilm, words=vocabulary))
    cache.put_search(stored, TEACHING)
    assert isinstance(cache.get_search(asked), Hit) is answers


def test_policy_without_reading_finds_nothing_by_meaning(store: SqliteStore) -> None:
    """`--refresh` does not look near, either."""
    semantic_cache(store).put_search(STORED, results("kept"))
    engine = Engine()
    semantic_cache(store, policy=Policy(read=False)).search(ASKED, engine)
    assert engine.calls == [ASKED]
