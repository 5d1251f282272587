"""How long an answer lives, what is served after that, and what "no results" is worth."""

import logging
import time
from typing import Any

import pytest

from harness.cache import Answer, Cache, Policy
from harness.core.entries import Hit, Miss, Stale
from harness.errors import EngineUnavailable, InvalidInput, OfflineMiss, RateLimited, SearchError
from harness.storage.sqlite.store import SqliteStore
from tests.cache.stand_ins import Engine, results, semantic_cache
from tests.fakes import FakeClock

HOUR, DAY = 3_600.0, 86_400.0
DOWN = EngineUnavailable("down")


def age_of(store: SqliteStore) -> float:
    """Return how long the only row lives."""
    (entry,) = store.listings.scan("search_cache", "default")
    return entry.expires_at - entry.created_at


def how(answer: Answer[Any]) -> str:
    """Tell how an answer was found."""
    return answer.outcome.found if isinstance(answer.outcome, Hit) else type(answer.outcome).__name__.lower()


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
def test_what_speaks_of_now_lives_for_an_hour(store: SqliteStore, clock: FakeClock, query: str) -> None:
    """At the most; a shorter life stays shorter, and other questions keep theirs."""
    query = query.format(time.gmtime(clock.now).tm_year)
    cache = Cache(store, clock=clock)
    cache.search(query, Engine())
    assert age_of(store) == HOUR
    cache.put_search(query, results("x"), ttl=60)
    assert age_of(store) == 60
    cache.clear()
    cache.search("how tcp works", Engine())
    assert age_of(store) == DAY


def test_how_long_they_live_can_be_set(store: SqliteStore, clock: FakeClock) -> None:
    """`volatile_ttl`."""
    Cache(store, clock=clock, policy=Policy(volatile_ttl=7)).search("gold price", Engine())
    assert age_of(store) == 7


@pytest.mark.parametrize(("stored", "asked"), [("gold price chart", "chart gold price"), ("gold chart", "chart gold")])
def test_a_question_about_now_is_not_answered_by_something_old(
    store: SqliteStore, clock: FakeClock, stored: str, asked: str
) -> None:
    """By meaning it is within the hour only, even where the row itself was stored to live longer."""
    volatile = "price" in stored
    cache = semantic_cache(store, clock=clock, policy=Policy(volatile_ttl=HOUR))
    keeper = semantic_cache(store, clock=clock, policy=Policy(volatile_ttl=DAY))  # as an older program would have
    keeper.put_search(stored, results("old"))
    clock.advance(HOUR)
    assert isinstance(cache.get_search(asked), Hit)
    clock.advance(1)
    assert isinstance(cache.get_search(asked), Miss if volatile else Hit)
    if volatile:
        (candidate,) = cache.explain(asked).candidates
        assert candidate.refusal == "too old for a question about now"


def test_jitter_takes_off_a_share_of_the_lifetime(store: SqliteStore, clock: FakeClock) -> None:
    """Never more than the share, never longer than asked for, the same for the same query."""
    cache = Cache(store, clock=clock, policy=Policy(jitter=0.2))
    for number in range(30):
        cache.put_search(f"q {number}", results("x"), ttl=1_000)
    lives = [entry.expires_at - entry.created_at for entry in store.listings.scan("search_cache", "default")]
    assert all(800 <= life <= 1_000 for life in lives)
    assert len(set(lives)) > 20
    cache.put_search("q 0", results("y"), ttl=1_000)
    again = [entry.expires_at - entry.created_at for entry in store.listings.scan("search_cache", "default")]
    assert sorted(again) == sorted(lives)


# --- stale if error


@pytest.mark.parametrize("error", [DOWN, RateLimited("slow down"), SearchError("odd")])
def test_an_expired_answer_is_served_when_the_engine_fails(
    store: SqliteStore, clock: FakeClock, caplog: pytest.LogCaptureFixture, error: SearchError
) -> None:
    """Within the window it is stale, with its age; the error and the age are logged; nothing is stored anew."""
    cache = Cache(store, clock=clock, policy=Policy(stale_if_error=100))
    cache.put_search("q", results("old"), ttl=60)
    clock.advance(160)
    answer = cache.search("q", Engine(error))
    assert answer.outcome == Stale(results("old"), "q", 160.0, 100.0)
    assert answer.value == results("old")
    assert str(error) in caplog.text
    assert "2m ago" in caplog.text
    clock.advance(0.1)
    with pytest.raises(type(error)):
        cache.search("q", Engine(error))


def test_only_a_failed_search_makes_stale_answers_good(store: SqliteStore, clock: FakeClock) -> None:
    """A bug in the search function passes through, and so does a result that cannot be kept as it is."""
    cache = Cache(store, clock=clock, policy=Policy(stale_if_error=100))
    cache.put_search("q", results("old"), ttl=60)
    clock.advance(61)
    with pytest.raises(ZeroDivisionError):
        cache.search("q", Engine(ZeroDivisionError("bug")))
    with pytest.raises(InvalidInput):
        cache.search("q", Engine([object()]))


@pytest.mark.parametrize("after", [0.0, 1.0])
def test_without_a_window_nothing_stale_is_served(store: SqliteStore, clock: FakeClock, after: float) -> None:
    """0 is never: not even at the very second of the expiry."""
    cache = Cache(store, clock=clock)
    cache.put_search("q", results("old"), ttl=60)
    clock.advance(60 + after)
    with pytest.raises(EngineUnavailable):
        cache.search("q", Engine(DOWN))
    offline = Cache(store, clock=clock, policy=Policy(offline=True))
    with pytest.raises(OfflineMiss):
        offline.search("q", Engine())


def test_what_may_be_served_late_is_not_swept(store: SqliteStore, clock: FakeClock) -> None:
    """A write sweeps only what is past the window, too."""
    cache = Cache(store, clock=clock, policy=Policy(stale_if_error=100))
    cache.put_search("old", results("old"), ttl=60)
    clock.advance(159)
    cache.put_search("new", results("new"))
    assert how(cache.search("old", Engine(DOWN))) == "stale"
    clock.advance(2)
    cache.put_search("newer", results("new"))
    assert cache.stats()[0].total == 2


def test_an_expired_answer_is_not_served_while_the_engine_works(store: SqliteStore, clock: FakeClock) -> None:
    """The live answer comes, and is kept."""
    cache = Cache(store, clock=clock, policy=Policy(stale_if_error=DAY))
    cache.put_search("q", results("old"), ttl=60)
    clock.advance(61)
    assert cache.search("q", Engine(results("new"))).value == results("new")
    assert how(cache.search("q", Engine())) == "exact"


def test_fewer_results_are_not_served_late(store: SqliteStore, clock: FakeClock) -> None:
    """A five-result row does not answer for ten, stale either."""
    cache = Cache(store, clock=clock, policy=Policy(stale_if_error=DAY))
    cache.put_search("q", results("old"), ttl=60, max_results=5)
    clock.advance(61)
    with pytest.raises(EngineUnavailable):
        cache.search("q", Engine(DOWN), max_results=10)


# --- reading and writing


def test_refresh_asks_anew_and_stores(store: SqliteStore, clock: FakeClock) -> None:
    """`read=False`: the old answer is not looked at, the new one is there for the next."""
    Cache(store, clock=clock).put_search("q", results("old"))
    clock.advance(1)
    refreshed = Cache(store, clock=clock, policy=Policy(read=False)).search("q", Engine(results("new")))
    assert (refreshed.value, refreshed.outcome) == (results("new"), Miss("not looked up"))
    assert Cache(store, clock=clock).search("q", Engine()).value == results("new")


def test_a_refresh_that_fails_is_an_error_and_leaves_the_old_answer(store: SqliteStore, clock: FakeClock) -> None:
    """Who asked for a new answer is not given the old one for it."""
    Cache(store, clock=clock).put_search("q", results("old"))
    clock.advance(1)
    with pytest.raises(EngineUnavailable):
        Cache(store, clock=clock, policy=Policy(read=False, stale_if_error=DAY)).search("q", Engine(DOWN))
    assert Cache(store, clock=clock).search("q", Engine()).value == results("old")


def test_no_cache_neither_reads_nor_writes(store: SqliteStore, clock: FakeClock) -> None:
    """Results, empty answers, failures and counts: nothing is kept."""
    cache = Cache(store, clock=clock)
    cache.put_search("q", results("old"))
    without = Cache(store, clock=clock, policy=Policy(read=False, write=False))
    assert without.search("q", Engine(results("new"))).value == results("new")
    assert without.search("none", Engine([])).value == []
    with pytest.raises(EngineUnavailable):
        without.search("broken", Engine(DOWN))
    without.flush()
    assert cache.search("q", Engine()).value == results("old")
    assert list(store.listings.scan("unanswered_searches", "default")) == []
    assert store.listings.stats("search_cache", "default", clock.now).total == 1
    assert cache.counted() == {"exact": 1}


# --- no results


def test_no_results_are_believed_for_a_while(store: SqliteStore, clock: FakeClock) -> None:
    """For `negative_ttl` seconds the answer is a hit without results, of a kind of its own; then it is asked again."""
    cache = Cache(store, clock=clock)
    engine = Engine([])
    first = cache.search("q", engine)
    assert (first.value, first.outcome) == ([], Miss("unknown"))
    clock.advance(599)
    assert cache.search("Q ", engine) == Answer([], Hit([], "no results", "q", 1.0, 599.0), "no results")
    assert cache.stats()[0].total == 0, "they are no entry of the search cache"
    assert cache.get_search("q") == Miss("unknown")
    clock.advance(1)
    cache.search("q", engine)
    assert engine.calls == ["q", "q"]


@pytest.mark.parametrize(("negative_ttl", "calls"), [(0.0, 3), (5.0, 2), (600.0, 1)])
def test_how_long_no_results_are_believed_can_be_set(
    store: SqliteStore, clock: FakeClock, negative_ttl: float, calls: int
) -> None:
    """0 switches it off."""
    cache = Cache(store, clock=clock, policy=Policy(negative_ttl=negative_ttl))
    engine = Engine([])
    for _ in range(3):
        cache.search("q", engine)
        clock.advance(3)
    assert len(engine.calls) == calls


def test_switched_off_what_others_kept_is_not_believed(store: SqliteStore, clock: FakeClock) -> None:
    """Somebody else's "no results" does not answer where they are switched off."""
    Cache(store, clock=clock).search("q", Engine([]))
    cache = Cache(store, clock=clock, policy=Policy(negative_ttl=0))
    assert cache.search("q", Engine()).value == Engine().found


def test_a_failure_is_never_no_results(store: SqliteStore, clock: FakeClock) -> None:
    """The next one asks again at once, in this cache and in another."""
    cache, other = Cache(store, clock=clock), Cache(store, clock=clock)
    for error in (DOWN, RateLimited("slow down"), ZeroDivisionError("bug")):
        with pytest.raises(type(error)):
            cache.search("q", Engine(error))
    assert how(other.search("q", Engine())) == "miss"


def test_no_results_of_another_engine_say_nothing(store: SqliteStore, clock: FakeClock) -> None:
    """They are of one engine with its options."""
    cache = Cache(store, clock=clock)
    cache.search("q", Engine([]), engine="corpus", options={"corpus": "a"})
    assert cache.search("q", Engine(), engine="corpus", options={"corpus": "b"}).value


def test_a_like_search_without_results_does_not_answer(store: SqliteStore, clock: FakeClock) -> None:
    """Nothing found is believed of the very query only: other words may find something."""
    cache = semantic_cache(store, clock=clock)
    cache.search("semantic cache false positives", Engine([]))
    assert cache.search("false positives semantic cache", Engine()).value


def test_results_found_later_count(store: SqliteStore, clock: FakeClock) -> None:
    """A refresh that finds something ends the belief in nothing."""
    Cache(store, clock=clock).search("q", Engine([]))
    clock.advance(1)
    Cache(store, clock=clock, policy=Policy(read=False)).search("q", Engine())
    assert Cache(store, clock=clock).search("q", Engine(DOWN)).value == Engine().found


def test_an_error_with_broken_unicode_stays_itself(store: SqliteStore) -> None:
    """What an engine says of its failure may be anything; the caller gets the engine's error."""
    with pytest.raises(EngineUnavailable):
        Cache(store).search("q", Engine(EngineUnavailable("bad page: \ud800")))


def test_results_are_not_lost_where_no_turn_can_be_had(store: SqliteStore, caplog: pytest.LogCaptureFixture) -> None:
    """A lock that cannot be made (a full disk) costs the guarantee of one call, not the answer."""
    store.path.with_name(f"{store.path.name}.turns").write_text("in the way")
    caplog.set_level(logging.WARNING)
    cache = Cache(store)
    assert cache.search("one", Engine()).value == Engine().found
    assert cache.search("two", Engine()).value == Engine().found
    assert len(caplog.records) == 1


# --- offline


def test_offline_the_cache_alone_answers(store: SqliteStore, clock: FakeClock) -> None:
    """Exactly, by meaning, with "no results", and late; everything else names the query and what to do."""
    online = semantic_cache(store, clock=clock)
    online.put_search("semantic cache false positives", results("kept"))
    online.search("nothing there", Engine([]))
    online.put_search("old", results("old"), ttl=60)
    clock.advance(61)
    cache = semantic_cache(store, clock=clock, policy=Policy(offline=True, stale_if_error=100))
    never = Engine(AssertionError("asked while offline"))
    assert how(cache.search("semantic cache false positives", never)) == "exact"
    assert how(cache.search("false positives semantic cache", never)) == "semantic"
    assert how(cache.search("nothing there", never)) == "no results"
    assert how(cache.search("old", never)) == "stale"
    with pytest.raises(OfflineMiss, match="nothing is cached for 'unheard of'; run it once online"):
        cache.search("unheard of", never)
    clock.advance(100)
    with pytest.raises(OfflineMiss, match=r"its answer expired 1m ago for 'old'"):
        cache.search("old", never)
    assert never.calls == []
