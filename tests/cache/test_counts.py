"""How often the cache has answered: counted over threads, processes and researches."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.cache import Cache, Policy
from harness.cache.lookup import TALLY_EVERY
from harness.errors import EngineUnavailable, StoreError
from harness.storage.sqlite.store import SqliteStore
from tests.cache.stand_ins import Engine, results, semantic_cache
from tests.fakes import FakeClock


def test_every_kind_of_answer_is_counted(store: SqliteStore, clock: FakeClock) -> None:
    """Exact, by meaning, stale, no results, live."""
    cache = semantic_cache(store, clock=clock, policy=Policy(stale_if_error=100))
    cache.search("semantic cache false positives", Engine(), ttl=60)
    cache.search("semantic cache false positives", Engine())
    cache.search("false positives semantic cache", Engine())
    cache.search("nothing", Engine([]))
    cache.search("nothing", Engine([]))
    clock.advance(61)
    cache.search("semantic cache false positives", Engine(EngineUnavailable("down")))
    assert cache.counted() == {"live": 2, "exact": 1, "semantic": 1, "no results": 1, "stale": 1, "failed": 1}


def test_counts_of_several_caches_add_up(store: SqliteStore) -> None:
    """Over threads and days, and only those of one tenant."""
    Cache(store, clock=FakeClock(1_700_000_000.0)).put_search("q", results("x"), ttl=9 * 86_400)

    def read(day: int) -> None:
        cache = Cache(store, clock=FakeClock(1_700_000_000.0 + 86_400 * day))
        for _ in range(50):
            cache.get_search("q")
        cache.flush()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(read, range(4)))
    other = Cache(store, tenant="other")
    assert (other.counted(), other.counted_by_day()) == ({}, {})
    assert Cache(store).counted() == {"exact": 200}
    days = [f"2023-11-{day}" for day in range(14, 18)]
    assert list(Cache(store).counted_by_day().items()) == [(day, {"exact": 50}) for day in days]


def test_counts_of_a_day_are_told_by_kind(store: SqliteStore, clock: FakeClock) -> None:
    """With what this cache has not stored yet; over all days they add up, kind by kind."""
    cache = Cache(store, clock=clock)
    cache.search("q", Engine())
    cache.flush()
    clock.advance(2 * 3_600)  # past midnight
    cache.search("q", Engine())
    cache.search("another", Engine())
    first, second = cache.counted_by_day().items()
    assert first[0] < second[0]
    assert (first[1], second[1]) == ({"live": 1}, {"exact": 1, "live": 1})
    assert cache.counted() == {"live": 2, "exact": 1}


def test_many_threads_lose_no_count(store: SqliteStore) -> None:
    """Counts are stored while others are still counting."""
    cache = Cache(store)
    cache.put_search("q", results("x"))
    times = TALLY_EVERY // 4 + 10
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: [cache.get_search("q") for _ in range(times)], range(4)))
    assert cache.counted() == {"exact": 4 * times}


def test_a_forked_child_counts_only_its_own(store: SqliteStore) -> None:
    """What the parent has counted but not stored yet is the parent's."""
    cache = Cache(store)
    cache.put_search("q", results("x"))
    cache.get_search("q")
    child = os.fork()
    if child == 0:
        cache.get_search("q")
        cache.flush()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert cache.counted() == {"exact": 2}


def test_counts_that_cannot_be_stored_are_no_error(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that is busy or full still answers."""

    def refuses(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    cache = Cache(store)
    cache.put_search("q", results("x"))
    cache.get_search("q")
    monkeypatch.setattr(store.usage, "add", refuses)
    cache.flush()


def test_failed_searches_are_misses(store: SqliteStore) -> None:
    """A call that was made and failed was not saved."""
    cache = Cache(store)
    with pytest.raises(EngineUnavailable):
        cache.search("q", Engine(EngineUnavailable("down")))
    assert sum(cache.counted().values()) == 1
