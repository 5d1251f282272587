"""The cache service: what hits, what misses, and what is never stored."""

import logging
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.cache import MAX_PAYLOAD_BYTES, Cache, ResearchContext
from harness.core.entries import Hit, Miss, Stale
from harness.errors import EngineUnavailable, InvalidInput
from harness.storage.sqlite.store import SqliteStore

RESULTS = [{"title": "Retries", "href": "https://example.org/retries", "body": "Back off."}]


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        """Tell the time."""
        return self.now


class Engine:
    """A search function that counts its calls and returns `found`."""

    def __init__(self, found: Any = None) -> None:
        self.found = RESULTS if found is None else found
        self.calls: list[tuple[str, int]] = []

    def __call__(self, query: str, max_results: int) -> Any:
        """Answer one search."""
        self.calls.append((query, max_results))
        return self.found


@pytest.fixture
def clock() -> Clock:
    """The time of the cache under test."""
    return Clock()


@pytest.fixture
def cache(tmp_path: Path, clock: Clock) -> Cache:
    """An empty cache on disk."""
    return Cache(SqliteStore(tmp_path / "harness.db"), clock=clock)


def test_the_second_identical_search_is_not_made(cache: Cache) -> None:
    """Never pay twice: one call, and the hit says how it was found."""
    engine = Engine()
    first, second = cache.search("Retry  policy", engine), cache.search("retry policy", engine)
    assert engine.calls == [("Retry  policy", 10)]
    assert isinstance(first.outcome, Miss)
    assert second.value == first.value == RESULTS
    assert isinstance(second.outcome, Hit)
    assert (second.outcome.found, second.outcome.query, second.outcome.similarity) == ("exact", "Retry  policy", 1.0)


def test_a_hit_equals_the_miss_that_made_it(cache: Cache) -> None:
    """Values that JSON changes (tuples) are the same on the first and on the second answer."""
    engine = Engine([{"title": "t", "tags": ("a", "b")}])
    assert cache.search("q", engine).value == cache.search("q", engine).value == [{"title": "t", "tags": ["a", "b"]}]


def test_an_entry_is_stale_from_the_second_it_expires(cache: Cache, clock: Clock) -> None:
    """`expires_at <= now` is expired; a stale entry is told apart from a missing one."""
    cache.put_search("q", RESULTS, ttl=60)
    clock.now += 59.9
    assert isinstance(cache.get_search("q"), Hit)
    clock.now += 0.1
    stale = cache.get_search("q")
    assert isinstance(stale, Stale)
    assert (stale.value, round(stale.age), stale.expired_for) == (RESULTS, 60, 0.0)
    assert cache.get_search("other") == Miss("unknown")


def test_a_clock_set_back_leaves_no_entry_fresh(cache: Cache, clock: Clock) -> None:
    """400 days back, an entry counts as expired: it is searched again. Five minutes make no difference."""
    cache.put_search("q", RESULTS)
    clock.now -= 300
    assert isinstance(cache.get_search("q"), Hit)
    clock.now -= 400 * 86_400
    assert isinstance(cache.get_search("q"), Stale)
    assert isinstance(cache.explain("q").exact, Stale)
    assert cache.stats()[0].expired == 1
    assert cache.search("q", Engine()).how == "live"
    assert isinstance(cache.get_search("q"), Hit)


def test_an_expired_search_is_made_again(cache: Cache, clock: Clock) -> None:
    """A stale answer is not served in place of a live one."""
    engine = Engine()
    cache.search("q", engine, ttl=60)
    clock.now += 61
    assert isinstance(cache.search("q", engine).outcome, Stale)
    assert len(engine.calls) == 2


def test_the_next_write_sweeps_what_is_expired(cache: Cache, clock: Clock) -> None:
    """Look-ups delete nothing; a write of the same table does."""
    cache.put_search("old", RESULTS, ttl=60)
    clock.now += 61
    cache.get_search("old")
    assert cache.stats()[0].total == 1
    cache.put_search("new", RESULTS)
    assert (cache.stats()[0].live, cache.stats()[0].total) == (1, 1)


@pytest.mark.parametrize("ttl", [0, -1, float("nan"), float("inf"), -float("inf"), "60", None, True])
def test_a_ttl_that_is_no_lifetime_is_an_error_and_nothing_is_searched(cache: Cache, ttl: Any) -> None:
    """Zero, negative, NaN and infinite lifetimes are refused before the engine is asked."""
    engine = Engine()
    with pytest.raises(InvalidInput, match="ttl"):
        cache.search("q", engine, ttl=ttl)
    assert engine.calls == []


@pytest.mark.parametrize("max_results", [0, -1, 101, 2.5, "10", True])
def test_a_number_of_results_out_of_range_is_an_error(cache: Cache, max_results: Any) -> None:
    """`max_results` is a whole number from 1 to 100."""
    with pytest.raises(InvalidInput, match="max_results"):
        cache.search("q", Engine(), max_results=max_results)


@pytest.mark.parametrize("query", ["", "   ", "x" * 100_000, "a\0b", "broken \ud800", None])
def test_an_unusable_query_is_an_error_and_nothing_is_searched(cache: Cache, query: Any) -> None:
    """Empty, huge, NUL and lone surrogates are refused before the engine is asked."""
    engine = Engine()
    with pytest.raises(InvalidInput):
        cache.search(query, engine)
    assert engine.calls == []


def test_five_results_do_not_answer_for_ten(cache: Cache) -> None:
    """A row remembers how many results were asked for: fewer is a miss, more is cut."""
    found = [{"title": str(n)} for n in range(10)]
    engine = Engine(found)
    cache.search("q", engine, max_results=5)
    assert isinstance(cache.search("q", engine, max_results=10).outcome, Miss)
    answer = cache.search("q", engine, max_results=3)
    assert isinstance(answer.outcome, Hit)
    assert answer.value == found[:3]


def test_an_engine_that_returns_too_many_is_cut(cache: Cache) -> None:
    """No more results than asked for, neither live nor cached."""
    engine = Engine([{"title": str(n)} for n in range(10)])
    assert len(cache.search("q", engine, max_results=4).value) == 4
    assert len(cache.search("q", engine, max_results=4).value) == 4


def test_other_engines_and_options_are_other_searches(cache: Cache) -> None:
    """What makes results differ is in the key."""
    engine = Engine()
    for name, options in (("ddgs", {}), ("ddgs", {"region": "de-de"}), ("corpus", {"corpus": "a"}), ("corpus", {})):
        assert isinstance(cache.search("q", engine, engine=name, options=options).outcome, Miss)
    assert len(engine.calls) == 4


def test_empty_results_are_returned_but_not_stored(cache: Cache, clock: Clock) -> None:
    """An empty answer is believed for ten minutes, and says nothing about tomorrow: it is never kept as results."""
    engine = Engine([])
    assert cache.search("q", engine).value == []
    assert cache.search("q", engine).value == []
    assert len(engine.calls) == 1
    clock.now += 600
    assert cache.search("q", engine).value == []
    assert len(engine.calls) == 2
    assert cache.put_search("q", []) is False
    assert cache.stats()[0].total == 0


def test_a_failed_search_is_not_stored(cache: Cache) -> None:
    """The engine's error passes through, and the next call asks again."""

    def fails(query: str, max_results: int) -> list[dict[str, Any]]:
        raise EngineUnavailable("down")

    with pytest.raises(EngineUnavailable):
        cache.search("q", fails)
    assert cache.search("q", Engine()).value == RESULTS


@pytest.mark.parametrize("found", ["text", 3, None.__class__, {"title": "x"}, ["text"], [{"x": object()}], [{1j: 2}]])
def test_results_that_are_not_json_objects_are_an_error(cache: Cache, found: Any) -> None:
    """What cannot be kept as it is is refused, with the type that was wrong."""
    with pytest.raises(InvalidInput):
        cache.search("q", Engine(found))
    assert cache.stats()[0].total == 0


def test_results_with_broken_unicode_are_an_error(cache: Cache) -> None:
    """A lone surrogate cannot be stored, and is not stored as something else."""
    with pytest.raises(InvalidInput, match="JSON"):
        cache.put_search("q", [{"title": "\ud800"}])


def test_an_entry_too_large_is_an_error(cache: Cache) -> None:
    """One entry is bounded."""
    with pytest.raises(InvalidInput, match="too much"):
        cache.put_search("q", [{"body": "x" * MAX_PAYLOAD_BYTES}])


@pytest.mark.parametrize(
    ("stored", "reason"),
    [("[{", "unreadable"), *((each, "not a list of results") for each in ('{"a": 1}', '["text"]', "3", '"text"'))],
)
def test_unusable_cached_results_are_replaced(
    cache: Cache, caplog: pytest.LogCaptureFixture, stored: str, reason: str
) -> None:
    """A row that somebody damaged, or that a script's function made, costs one search; only damage is warned of."""
    cache.put_search("q", RESULTS)
    store = cache._store
    assert isinstance(store, SqliteStore)
    sql = "UPDATE search_cache SET results = ?, checksum = NULL"  # as an older program leaves it
    store._connections.write(lambda connection: connection.execute(sql, (stored,)))
    assert cache.search("q", Engine()).outcome == Miss(reason)
    assert ("unreadable" in caplog.text) is (reason == "unreadable")
    assert isinstance(cache.get_search("q"), Hit)


def test_use_is_noted_at_most_once_an_hour(cache: Cache, clock: Clock) -> None:
    """Look-ups are reads: `last_used_at` moves only when it is over an hour old."""
    cache.put_search("q", RESULTS)
    written = clock.now
    for seconds, noted in ((3_600, written), (1, written + 3_601), (100, written + 3_601)):
        clock.now += seconds
        cache.get_search("q")
        entry = cache._store.rows.get("search_cache", "default", _only_key(cache))
        assert entry is not None
        assert entry.last_used_at == noted


def test_a_clock_set_back_gives_no_negative_expiry(cache: Cache, clock: Clock) -> None:
    """An entry from a few minutes ahead is still a hit."""
    cache.put_search("q", RESULTS)
    clock.now -= 200
    found = cache.get_search("q")
    assert isinstance(found, Hit)
    assert found.age == 0.0


def test_hits_and_misses_are_logged_with_the_query(cache: Cache, caplog: pytest.LogCaptureFixture) -> None:
    """Log lines go through `logging`, at level INFO."""
    caplog.set_level(logging.INFO, logger="harness.cache")
    cache.search("what is logged", Engine())
    cache.search("what is logged", Engine())
    assert [record.getMessage() for record in caplog.records] == [
        "miss 'what is logged' (unknown)",
        "hit 'what is logged'",
    ]


def test_tenants_do_not_see_each_other(tmp_path: Path) -> None:
    """Two tenants of one store hold two rows for one query."""
    store = SqliteStore(tmp_path / "harness.db")
    one, other = Cache(store, tenant="one"), Cache(store, tenant="other")
    one.put_search("q", RESULTS)
    assert other.get_search("q") == Miss("unknown")


def test_a_research_comes_back_as_it_was(cache: Cache) -> None:
    """Context, rounds and scores; the task's spelling and the type's case do not matter."""
    research = ResearchContext("the context", [["q1", "q2"]], [1.0, 0.25])
    assert cache.put_research("The  Task", "Research", research)
    found = cache.get_research("the task", "research")
    assert isinstance(found, Hit)
    assert found.value == research


def test_what_gathered_a_research_is_part_of_it(cache: Cache) -> None:
    """Another fingerprint is another research; neither replaces the other."""
    for fingerprint in ("planner-1", "planner-2", ""):
        cache.put_research("t", "research", ResearchContext(f"by {fingerprint}", 1, []), fingerprint=fingerprint)
    found = cache.get_research("t", "research", fingerprint="planner-2")
    assert isinstance(found, Hit)
    assert found.value.context == "by planner-2"
    assert cache.get_research("t", "research", fingerprint="planner-3") == Miss("unknown")


def test_an_empty_research_is_not_stored(cache: Cache) -> None:
    """Nothing gathered is nothing to keep."""
    assert cache.put_research("t", "research", ResearchContext("  ", 0, [])) is False
    assert cache.stats()[1].total == 0


def test_clear_and_sweep_say_how_much_went(cache: Cache, clock: Clock) -> None:
    """Counts by table."""
    cache.put_search("a", RESULTS, ttl=1_000)
    cache.put_search("b", RESULTS)
    cache.put_research("t", "research", ResearchContext("c", 1, []), ttl=1_000)
    clock.now += 2_000
    none = {"web_pages": 0, "completions": 0, "tool_cache": 0}
    assert cache.sweep() == {"search_cache": 1, "research_cache": 1} | none
    assert cache.clear() == {"search_cache": 1, "research_cache": 0} | none
    assert cache.size() > 0


@settings(deadline=None)
@given(query=st.text(min_size=1), results=st.lists(st.dictionaries(st.text(), st.text()), min_size=1, max_size=3))
def test_any_results_come_back_or_are_refused(
    tmp_path_factory: pytest.TempPathFactory, query: str, results: list[dict[str, str]]
) -> None:
    """Whatever is put under any query is what comes back; what cannot be kept is an `InvalidInput`."""
    cache = Cache(SqliteStore(tmp_path_factory.getbasetemp() / "any.db"))
    try:
        cache.put_search(query, results)
    except InvalidInput:
        return
    found = cache.get_search(query)
    assert isinstance(found, Hit)
    assert found.value == results


def _only_key(cache: Cache) -> str:
    store = cache._store
    assert isinstance(store, SqliteStore)
    key: bytes = store._connections.handle().connection.execute("SELECT key FROM search_cache").fetchone()[0]
    return key.decode()


def test_a_store_that_cannot_be_written_is_said_once_and_loses_nothing(
    cache: Cache, caplog: pytest.LogCaptureFixture
) -> None:
    """Results that were paid for are returned; the reason they are not kept is one line, however many there are."""
    store = cache._store
    assert isinstance(store, SqliteStore)
    connection = store._connections.handle().connection
    connection.execute(f"PRAGMA max_page_count = {connection.execute('PRAGMA page_count').fetchone()[0]}")
    large = [{"body": "x" * 100_000}]
    assert cache.search("one", Engine(large)).value == large
    assert cache.search("two", Engine(large)).value == large
    (record,) = caplog.records
    assert "the disk is full" in record.getMessage()


def test_results_too_large_to_keep_are_returned(cache: Cache, caplog: pytest.LogCaptureFixture) -> None:
    """What was paid for is not lost because it cannot be stored."""
    large = [{"body": "x" * MAX_PAYLOAD_BYTES}]
    assert cache.search("q", Engine(large)).value == large
    assert "not cached" in caplog.text
    assert cache.stats()[0].total == 0
