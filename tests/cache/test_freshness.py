"""Freshness of answers: lifetimes, stale answers, and "no results"."""

import logging
import time
from typing import Any

import pytest

from harness.cache import Answer, Cache, Policy
from harness.core.entries import Hit, Miss, Stale
from harness.errors import EngineUnavailable, InvalidInput, OfflineMiss, RateLimited, SearchError
from harness.storage.sqlite.store import SqliteStore
from tests.cache.stand_ins import Engine, bare, results, semantic_cache
from tests.fakes import FakeClock

HOUR, DAY = 3_600.0, 86_400.0
DOWN = EngineUnavailable("down")


def age_of(store: SqliteStore) -> float:
    """Return how long the only row lives."""
    (entry,) = store.listings.scan("search_cache", "default")
    return entry.expires_at - entry.created_at


def how(answer: Answer[Any]) -> str:
    """Return how an answer was found."""
    return answer.outcome.found if isinstance(answer.outcome, Hit) else type(answer.outcome).__name__.lower()


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        "latest python release",
        "what happened today",
        "PRICE of gold",
        "football score",
        "who is president now",
        "the {}",
    ],
)
def test_answers_about_now_live_for_an_hour(store: SqliteStore, clock: FakeClock, query: str) -> None:
    """At most; a shorter lifetime stays shorter, and other questions keep theirs."""
    query = query.format(time.gmtime(clock.now).tm_year)
    cache = Cache(store, clock=clock)
    cache.searches.answer(query, Engine())
    assert age_of(store) == HOUR
    cache.searches.put(query, results("x"), ttl=60)
    assert age_of(store) == 60
    cache.maintenance.clear()
    cache.searches.answer("how tcp works", Engine())
    assert age_of(store) == DAY


def test_how_long_they_live_can_be_set(store: SqliteStore, clock: FakeClock) -> None:
    """`volatile_ttl`."""
    Cache(store, clock=clock, policy=Policy(volatile_ttl=7)).searches.answer("gold price", Engine())
    assert age_of(store) == 7


@pytest.mark.parametrize(("stored", "asked"), [("gold price chart", "chart gold price"), ("gold chart", "chart gold")])
def test_an_old_answer_does_not_answer_a_question_about_now(
    store: SqliteStore, clock: FakeClock, stored: str, asked: str
) -> None:
    """By meaning only within the hour, even if the row itself has a longer lifetime."""
    volatile = "price" in stored
    cache = semantic_cache(store, clock=clock, policy=Policy(volatile_ttl=HOUR))
    keeper = semantic_cache(store, clock=clock, policy=Policy(volatile_ttl=DAY))  # as an older program would have
    keeper.searches.put(stored, results("old"))
    clock.advance(HOUR)
    assert isinstance(cache.searches.find(asked), Hit)
    clock.advance(1)
    assert isinstance(cache.searches.find(asked), Miss if volatile else Hit)
    if volatile:
        (candidate,) = cache.searches.explain(asked).candidates
        assert candidate.refusal == "too old for a question about now"


def test_jitter_takes_off_a_share_of_the_lifetime(store: SqliteStore, clock: FakeClock) -> None:
    """Never more than the share, never longer than asked for, the same for the same query."""
    cache = Cache(store, clock=clock, policy=Policy(jitter=0.2))
    for number in range(30):
        cache.searches.put(f"q {number}", results("x"), ttl=1_000)
    lives = [entry.expires_at - entry.created_at for entry in store.listings.scan("search_cache", "default")]
    assert all(800 <= life <= 1_000 for life in lives)
    assert len(set(lives)) > 20
    cache.searches.put("q 0", results("y"), ttl=1_000)
    again = [entry.expires_at - entry.created_at for entry in store.listings.scan("search_cache", "default")]
    assert sorted(again) == sorted(lives)


# --- stale if error


@pytest.mark.parametrize("error", [DOWN, RateLimited("slow down"), SearchError("odd")])
def test_an_expired_answer_is_served_when_the_engine_fails(
    store: SqliteStore, clock: FakeClock, caplog: pytest.LogCaptureFixture, error: SearchError
) -> None:
    """Within the window it is stale, with its age; error and age are logged; nothing is stored again."""
    cache = Cache(store, clock=clock, policy=Policy(stale_if_error=100))
    cache.searches.put("q", results("old"), ttl=60)
    clock.advance(160)
    answer = cache.searches.answer("q", Engine(error))
    assert bare(answer.outcome) == Stale(results("old"), "q", 160.0, 100.0)
    assert answer.value == results("old")
    assert str(error) in caplog.text
    assert "2 min ago" in caplog.text
    clock.advance(0.1)
    with pytest.raises(type(error)):
        cache.searches.answer("q", Engine(error))


def test_stale_answers_replace_only_failed_searches(store: SqliteStore, clock: FakeClock) -> None:
    """A bug in the search function is raised, and so is the error about a result that cannot be stored."""
    cache = Cache(store, clock=clock, policy=Policy(stale_if_error=100))
    cache.searches.put("q", results("old"), ttl=60)
    clock.advance(61)
    with pytest.raises(ZeroDivisionError):
        cache.searches.answer("q", Engine(ZeroDivisionError("bug")))
    with pytest.raises(InvalidInput):
        cache.searches.answer("q", Engine([object()]))


@pytest.mark.parametrize("after", [0.0, 1.0])
def test_without_a_window_nothing_stale_is_served(store: SqliteStore, clock: FakeClock, after: float) -> None:
    """0 means never: not even at the second of the expiry."""
    cache = Cache(store, clock=clock)
    cache.searches.put("q", results("old"), ttl=60)
    clock.advance(60 + after)
    with pytest.raises(EngineUnavailable):
        cache.searches.answer("q", Engine(DOWN))
    offline = Cache(store, clock=clock, policy=Policy(offline=True))
    with pytest.raises(OfflineMiss):
        offline.searches.answer("q", Engine())


def test_rows_that_may_be_served_stale_are_not_swept(store: SqliteStore, clock: FakeClock) -> None:
    """A write sweeps only what is past the window, too."""
    cache = Cache(store, clock=clock, policy=Policy(stale_if_error=100))
    cache.searches.put("old", results("old"), ttl=60)
    clock.advance(159)
    cache.searches.put("new", results("new"))
    assert how(cache.searches.answer("old", Engine(DOWN))) == "stale"
    clock.advance(2)
    cache.searches.put("newer", results("new"))
    assert cache.maintenance.stats()[0].total == 2


def test_an_expired_answer_is_not_served_while_the_engine_works(store: SqliteStore, clock: FakeClock) -> None:
    """The live answer is returned and stored."""
    cache = Cache(store, clock=clock, policy=Policy(stale_if_error=DAY))
    cache.searches.put("q", results("old"), ttl=60)
    clock.advance(61)
    assert cache.searches.answer("q", Engine(results("new"))).value == results("new")
    assert how(cache.searches.answer("q", Engine())) == "exact"


def test_fewer_results_are_not_served_stale(store: SqliteStore, clock: FakeClock) -> None:
    """A five-result row does not answer for ten, stale either."""
    cache = Cache(store, clock=clock, policy=Policy(stale_if_error=DAY))
    cache.searches.put("q", results("old"), ttl=60, max_results=5)
    clock.advance(61)
    with pytest.raises(EngineUnavailable):
        cache.searches.answer("q", Engine(DOWN), max_results=10)


# --- reading and writing


def test_refresh_searches_again_and_stores(store: SqliteStore, clock: FakeClock) -> None:
    """`read=False`: the old answer is not read, and the new one answers the next lookup."""
    Cache(store, clock=clock).searches.put("q", results("old"))
    clock.advance(1)
    refreshed = Cache(store, clock=clock, policy=Policy(read=False)).searches.answer("q", Engine(results("new")))
    assert (refreshed.value, bare(refreshed.outcome)) == (results("new"), Miss("not looked up"))
    assert Cache(store, clock=clock).searches.answer("q", Engine()).value == results("new")


def test_a_refresh_that_fails_is_an_error_and_leaves_the_old_answer(store: SqliteStore, clock: FakeClock) -> None:
    """A refresh is not answered with the old answer."""
    Cache(store, clock=clock).searches.put("q", results("old"))
    clock.advance(1)
    with pytest.raises(EngineUnavailable):
        Cache(store, clock=clock, policy=Policy(read=False, stale_if_error=DAY)).searches.answer("q", Engine(DOWN))
    assert Cache(store, clock=clock).searches.answer("q", Engine()).value == results("old")


def test_no_cache_neither_reads_nor_writes(store: SqliteStore, clock: FakeClock) -> None:
    """Results, empty answers, failures and counts: nothing is stored."""
    cache = Cache(store, clock=clock)
    cache.searches.put("q", results("old"))
    without = Cache(store, clock=clock, policy=Policy(read=False, write=False))
    assert without.searches.answer("q", Engine(results("new"))).value == results("new")
    assert without.searches.answer("none", Engine([])).value == []
    with pytest.raises(EngineUnavailable):
        without.searches.answer("broken", Engine(DOWN))
    without.usage.flush()
    assert cache.searches.answer("q", Engine()).value == results("old")
    assert list(store.listings.scan("unanswered_searches", "default")) == []
    assert store.listings.stats("search_cache", "default", clock.now).total == 1
    assert cache.usage.total() == {"exact": 1}


# --- no results


def test_no_results_answer_for_a_while(store: SqliteStore, clock: FakeClock) -> None:
    """For `negative_ttl` seconds the answer is a hit of the kind "no results"; then it is searched again."""
    cache = Cache(store, clock=clock)
    engine = Engine([])
    first = cache.searches.answer("q", engine)
    assert (first.value, bare(first.outcome)) == ([], Miss("unknown"))
    clock.advance(599)
    again = cache.searches.answer("Q ", engine)
    assert (again.value, again.how) == ([], "no results")
    assert bare(again.outcome) == Hit([], "no results", "q", 1.0, 599.0)
    assert cache.maintenance.stats()[0].total == 0, "they are no entry of the search cache"
    assert bare(cache.searches.find("q")) == Miss("unknown")
    clock.advance(1)
    cache.searches.answer("q", engine)
    assert engine.calls == ["q", "q"]


@pytest.mark.parametrize(("negative_ttl", "calls"), [(0.0, 3), (5.0, 2), (600.0, 1)])
def test_the_lifetime_of_no_results_can_be_set(
    store: SqliteStore, clock: FakeClock, negative_ttl: float, calls: int
) -> None:
    """0 switches it off."""
    cache = Cache(store, clock=clock, policy=Policy(negative_ttl=negative_ttl))
    engine = Engine([])
    for _ in range(3):
        cache.searches.answer("q", engine)
        clock.advance(3)
    assert len(engine.calls) == calls


def test_switched_off_no_results_of_other_caches_do_not_answer(store: SqliteStore, clock: FakeClock) -> None:
    """A remembered "no results" of another cache does not answer where it is switched off."""
    Cache(store, clock=clock).searches.answer("q", Engine([]))
    cache = Cache(store, clock=clock, policy=Policy(negative_ttl=0))
    assert cache.searches.answer("q", Engine()).value == Engine().found


def test_a_failure_is_never_no_results(store: SqliteStore, clock: FakeClock) -> None:
    """The next one asks again at once, in this cache and in another."""
    cache, other = Cache(store, clock=clock), Cache(store, clock=clock)
    for error in (DOWN, RateLimited("slow down"), ZeroDivisionError("bug")):
        with pytest.raises(type(error)):
            cache.searches.answer("q", Engine(error))
    assert how(other.searches.answer("q", Engine())) == "miss"


def test_no_results_of_another_engine_do_not_answer(store: SqliteStore, clock: FakeClock) -> None:
    """They are of one engine with its options."""
    cache = Cache(store, clock=clock)
    cache.searches.answer("q", Engine([]), engine="corpus", options={"corpus": "a"})
    assert cache.searches.answer("q", Engine(), engine="corpus", options={"corpus": "b"}).value


def test_a_similar_search_without_results_does_not_answer(store: SqliteStore, clock: FakeClock) -> None:
    """An empty result answers only for the same query: other words may find something."""
    cache = semantic_cache(store, clock=clock)
    cache.searches.answer("semantic cache false positives", Engine([]))
    assert cache.searches.answer("false positives semantic cache", Engine()).value


def test_results_found_later_count(store: SqliteStore, clock: FakeClock) -> None:
    """A refresh that finds something replaces the empty result."""
    Cache(store, clock=clock).searches.answer("q", Engine([]))
    clock.advance(1)
    Cache(store, clock=clock, policy=Policy(read=False)).searches.answer("q", Engine())
    assert Cache(store, clock=clock).searches.answer("q", Engine(DOWN)).value == Engine().found


def test_an_error_with_broken_unicode_stays_itself(store: SqliteStore) -> None:
    """An engine's message may be any text; the caller gets the engine's error."""
    with pytest.raises(EngineUnavailable):
        Cache(store).searches.answer("q", Engine(EngineUnavailable("bad page: \ud800")))


def test_results_are_not_lost_without_a_lock(store: SqliteStore, caplog: pytest.LogCaptureFixture) -> None:
    """Without a lock (a full disk) there may be two calls, but there is an answer."""
    store.path.with_name(f"{store.path.name}.turns").write_text("in the way")
    caplog.set_level(logging.WARNING)
    cache = Cache(store)
    assert cache.searches.answer("one", Engine()).value == Engine().found
    assert cache.searches.answer("two", Engine()).value == Engine().found
    assert len(caplog.records) == 1


# --- offline


def test_offline_the_cache_alone_answers(store: SqliteStore, clock: FakeClock) -> None:
    """Exact, semantic, "no results" and stale; every other error has the query and advice."""
    online = semantic_cache(store, clock=clock)
    online.searches.put("semantic cache false positives", results("kept"))
    online.searches.answer("nothing there", Engine([]))
    online.searches.put("old", results("old"), ttl=60)
    clock.advance(61)
    cache = semantic_cache(store, clock=clock, policy=Policy(offline=True, stale_if_error=100))
    never = Engine(AssertionError("asked while offline"))
    assert how(cache.searches.answer("semantic cache false positives", never)) == "exact"
    assert how(cache.searches.answer("false positives semantic cache", never)) == "semantic"
    assert how(cache.searches.answer("nothing there", never)) == "no results"
    assert how(cache.searches.answer("old", never)) == "stale"
    with pytest.raises(OfflineMiss, match="nothing is cached for 'unheard of'; run it once online"):
        cache.searches.answer("unheard of", never)
    clock.advance(100)
    with pytest.raises(OfflineMiss, match=r"its answer expired 1 min ago for 'old'"):
        cache.searches.answer("old", never)
    assert never.calls == []
