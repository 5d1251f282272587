"""Counts of answers, over threads, processes and researches."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.cache import Cache, Policy
from harness.cache.usage import FLUSH_AFTER
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
    monkeypatch.setattr(store, "count", refuses)
    cache.usage.flush()


def test_failed_searches_are_misses(store: SqliteStore) -> None:
    """A call that failed was not saved."""
    cache = Cache(store)
    with pytest.raises(EngineUnavailable):
        cache.searches.answer("q", Engine(EngineUnavailable("down")))
    assert sum(cache.usage.total().values()) == 1
