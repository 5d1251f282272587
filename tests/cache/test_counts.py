"""Counts of answers, over threads, processes and researches."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.cache import Cache, Policy
from harness.cache.usage import FLUSH_AFTER, MAX_DETAIL_CHARS, MOST_NOTED, day_of
from harness.core.keys import DEFAULT_ENGINE, search_key
from harness.core.tables import SEARCHES
from harness.errors import EngineUnavailable, StoreError
from harness.storage.sqlite.store import SqliteStore
from tests.cache.stand_ins import Engine, results, semantic_cache
from tests.fakes import FakeClock


def test_every_kind_of_answer_is_counted(store: SqliteStore, clock: FakeClock) -> None:
    """Exact, by meaning, stale, no results, live."""
    cache = semantic_cache(store, clock=clock, policy=Policy(stale_if_error=100))
    cache.searches.answer("semantic cache false positives", Engine(), ttl=60)
    cache.searches.answer("semantic cache false positives", Engine())
    cache.searches.answer("false positives semantic cache", Engine())
    cache.searches.answer("nothing", Engine([]))
    cache.searches.answer("nothing", Engine([]))
    clock.advance(61)
    cache.searches.answer("semantic cache false positives", Engine(EngineUnavailable("down")))
    assert cache.usage.total() == {"live": 2, "exact": 1, "semantic": 1, "no results": 1, "stale": 1, "failed": 1}


def test_counts_of_several_caches_add_up(store: SqliteStore) -> None:
    """Over threads and days, and only those of one tenant."""
    Cache(store, clock=FakeClock(1_700_000_000.0)).searches.put("q", results("x"), ttl=9 * 86_400)

    def read(day: int) -> None:
        cache = Cache(store, clock=FakeClock(1_700_000_000.0 + 86_400 * day))
        for _ in range(50):
            cache.searches.find("q")
        cache.usage.flush()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(read, range(4)))
    other = Cache(store, tenant="other")
    assert (other.usage.total(), other.usage.by_day()) == ({}, {})
    assert Cache(store).usage.total() == {"exact": 200}
    days = [f"2023-11-{day}" for day in range(14, 18)]
    assert list(Cache(store).usage.by_day().items()) == [(day, {"exact": 50}) for day in days]


def test_counts_of_a_day_are_listed_by_kind(store: SqliteStore, clock: FakeClock) -> None:
    """Including counts not stored yet; over all days they add up, kind by kind."""
    cache = Cache(store, clock=clock)
    cache.searches.answer("q", Engine())
    cache.usage.flush()
    clock.advance(2 * 3_600)  # past midnight
    cache.searches.answer("q", Engine())
    cache.searches.answer("another", Engine())
    first, second = cache.usage.by_day().items()
    assert first[0] < second[0]
    assert (first[1], second[1]) == ({"live": 1}, {"exact": 1, "live": 1})
    assert cache.usage.total() == {"live": 2, "exact": 1}


def test_many_threads_lose_no_count(store: SqliteStore) -> None:
    """Counts are stored while others are still counting."""
    cache = Cache(store)
    cache.searches.put("q", results("x"))
    times = FLUSH_AFTER // 4 + 10
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: [cache.searches.find("q") for _ in range(times)], range(4)))
    assert cache.usage.total() == {"exact": 4 * times}


def test_a_forked_child_counts_only_its_own(store: SqliteStore) -> None:
    """Counts that the parent has not stored yet belong to the parent."""
    cache = Cache(store)
    cache.searches.put("q", results("x"))
    cache.searches.find("q")
    child = os.fork()
    if child == 0:
        cache.searches.find("q")
        cache.usage.flush()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert cache.usage.total() == {"exact": 2}


def test_counts_that_cannot_be_stored_are_no_error(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that is busy or full still answers."""

    def refuses(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    cache = Cache(store)
    cache.searches.put("q", results("x"))
    cache.searches.find("q")
    monkeypatch.setattr(store.usage, "add", refuses)
    cache.usage.flush()


def test_failed_searches_are_misses(store: SqliteStore) -> None:
    """A call that failed was not saved."""
    cache = Cache(store)
    with pytest.raises(EngineUnavailable):
        cache.searches.answer("q", Engine(EngineUnavailable("down")))
    assert sum(cache.usage.total().values()) == 1


# --- what answered, and why not


def test_answers_are_counted_by_engine_and_day(store: SqliteStore, clock: FakeClock) -> None:
    """Each engine with its outcomes; from the wanted day on."""
    cache = Cache(store, clock=clock)
    for engine in ("ddgs", "searxng", "ddgs"):
        cache.searches.answer("q", Engine(), engine=engine, ttl=9 * 86_400)
    first = cache.usage.details()
    ((day, sources),) = first.sources.items()
    assert sources == {(SEARCHES, "ddgs"): {"live": 1, "exact": 1}, (SEARCHES, "searxng"): {"live": 1}}
    clock.advance(86_400)
    cache.searches.answer("q", Engine(), engine="searxng")
    cache.usage.flush()
    later = Cache(store, clock=clock).usage.details(since=day_of(clock()))
    assert later.sources == {day_of(clock()): {(SEARCHES, "searxng"): {"exact": 1}}}
    assert day < day_of(clock())


def test_reused_rows_are_counted(store: SqliteStore, clock: FakeClock) -> None:
    """By the row that answered, whatever was asked: also by meaning."""
    cache = semantic_cache(store, clock=clock)
    cache.searches.answer("semantic cache false positives", Engine())
    for query in ("semantic cache false positives", "false positives semantic cache", "other"):
        cache.searches.answer(query, Engine())
    cache.searches.answer("nothing", Engine([]))
    cache.searches.answer("nothing", Engine([]))
    key = search_key("semantic cache false positives", DEFAULT_ENGINE, None)
    assert cache.usage.details().reused == {(SEARCHES, key): 2}


def test_misses_are_counted_by_reason(store: SqliteStore, clock: FakeClock) -> None:
    """New, expired, with fewer results, refreshed; failed calls too."""
    cache = Cache(store, clock=clock)
    cache.searches.answer("q", Engine(), ttl=60, max_results=5)
    cache.searches.answer("q", Engine(), ttl=60, max_results=9)
    clock.advance(61)
    cache.searches.answer("q", Engine(), max_results=9)
    clock.advance(1)
    cache.refreshing().searches.answer("q", Engine(), max_results=9)
    with pytest.raises(EngineUnavailable):
        cache.searches.answer("broken", Engine(EngineUnavailable("down")))
    assert cache.usage.details().missed == {
        "unknown": 2, "fewer results than asked for": 1, "expired": 1, "not looked up": 1
    }  # fmt: skip


def test_only_the_most_reused_rows_of_many_are_noted(store: SqliteStore) -> None:
    """A busy server stores a few rows for thousands of answers; the counts by outcome stay exact."""
    cache = Cache(store)
    for number in range(3 * MOST_NOTED):
        cache.searches.put(f"q{number}", results("x"))
        for _ in range(1 + number):
            cache.searches.find(f"q{number}")
    details = cache.usage.details()
    assert sorted(details.reused.values()) == list(range(2 * MOST_NOTED + 1, 3 * MOST_NOTED + 1))
    assert sum(cache.usage.total().values()) == sum(range(3 * MOST_NOTED + 1))


def test_details_are_not_among_the_counts(store: SqliteStore) -> None:
    """Counts of all origins have outcomes only; details of one origin are not those of another."""
    agent = Cache(store, origin="agent")
    agent.searches.put("q", results("x"))
    agent.searches.find("q")
    assert agent.usage.total() == {"exact": 1}
    assert agent.usage.details(["user"]).reused == {}
    assert len(agent.usage.details(["agent"]).reused) == 1


def test_a_hostile_engine_name_is_only_a_name(store: SqliteStore) -> None:
    """Tabs and line breaks in it do not change what is counted."""
    cache = Cache(store)
    name = "evil\trow\tx\n" + "y" * 500
    for _ in range(2):
        cache.searches.answer("q", Engine(), engine=name)
    ((table, source),) = next(iter(cache.usage.details().sources.values()))
    assert (table, source) == (SEARCHES, ("evil row x " + "y" * 500)[:MAX_DETAIL_CHARS])


# --- the newest misses


def test_the_newest_misses_name_what_did_not_answer(store: SqliteStore, clock: FakeClock) -> None:
    """The nearest search that was cached before, with the reason; none before the first; the newest first."""
    cache = semantic_cache(store, clock=clock)
    for query in ("retry 3 times", "retry 5 times"):
        cache.searches.answer(query, Engine())
        clock.advance(60)
    second, first = cache.searches.newest_misses(["user"], 9, 5.0)
    assert (first.query, first.nearest) == ("retry 3 times", None)
    assert second.query == "retry 5 times"
    assert second.nearest is not None
    assert second.nearest.entry.text == "retry 3 times"
    assert "3" in second.nearest.refusal
    assert [each.query for each in cache.searches.newest_misses(["user"], 1, 5.0)] == ["retry 5 times"]
    assert list(cache.searches.newest_misses(["agent"], 9, 5.0)) == []
    fresh = semantic_cache(store, clock=clock)
    assert len(list(fresh.searches.newest_misses(["user"], 9, 0.0))) == 1  # the first one is always compared
    assert len(list(fresh.searches.newest_misses(["user"], 9, 0.0))) == 2  # and remembered


def test_without_meaning_misses_have_no_neighbour(store: SqliteStore) -> None:
    """They are listed all the same."""
    cache = Cache(store)
    cache.searches.answer("retry 3 times", Engine())
    (miss,) = cache.searches.newest_misses(["user"], 9, 5.0)
    assert (miss.query, miss.engine, miss.nearest) == ("retry 3 times", DEFAULT_ENGINE, None)
