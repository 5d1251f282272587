"""The cache: hits, misses, and values that are not stored."""

import logging
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.cache import MAX_PAYLOAD_BYTES, Cache, ResearchContext
from harness.core.entries import Hit, Miss, Stale
from harness.core.tables import ANSWERS, MADE, UNANSWERED
from harness.errors import EngineUnavailable, InvalidInput
from harness.storage.sqlite.store import SqliteStore
from tests.cache.stand_ins import bare

RESULTS = [{"title": "Retries", "href": "https://example.org/retries", "body": "Back off."}]


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        """Return the time."""
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
    """Never pay twice: one call, and the hit is marked as exact."""
    engine = Engine()
    first, second = cache.searches.answer("Retry  policy", engine), cache.searches.answer("retry policy", engine)
    assert engine.calls == [("Retry  policy", 10)]
    assert isinstance(first.outcome, Miss)
    assert second.value == first.value == RESULTS
    assert isinstance(second.outcome, Hit)
    assert (second.outcome.found, second.outcome.query, second.outcome.similarity) == ("exact", "Retry  policy", 1.0)


def test_a_hit_equals_the_miss_that_made_it(cache: Cache) -> None:
    """Values that JSON changes (tuples) are the same on the first and on the second answer."""
    engine = Engine([{"title": "t", "tags": ("a", "b")}])
    assert (
        cache.searches.answer("q", engine).value
        == cache.searches.answer("q", engine).value
        == [{"title": "t", "tags": ["a", "b"]}]
    )


def test_an_entry_is_stale_from_the_second_it_expires(cache: Cache, clock: Clock) -> None:
    """`expires_at <= now` is expired; a stale entry differs from a missing one."""
    cache.searches.put("q", RESULTS, ttl=60)
    clock.now += 59.9
    assert isinstance(cache.searches.find("q"), Hit)
    clock.now += 0.1
    stale = cache.searches.find("q")
    assert isinstance(stale, Stale)
    assert (stale.value, round(stale.age), stale.expired_for) == (RESULTS, 60, 0.0)
    assert bare(cache.searches.find("other")) == Miss("unknown")


def test_a_clock_set_back_leaves_no_entry_fresh(cache: Cache, clock: Clock) -> None:
    """400 days back, an entry counts as expired: it is searched again. Five minutes make no difference."""
    cache.searches.put("q", RESULTS)
    clock.now -= 300
    assert isinstance(cache.searches.find("q"), Hit)
    clock.now -= 400 * 86_400
    assert isinstance(cache.searches.find("q"), Stale)
    assert isinstance(cache.searches.explain("q").exact, Stale)
    assert cache.maintenance.stats()[0].expired == 1
    assert cache.searches.answer("q", Engine()).how == "live"
    assert isinstance(cache.searches.find("q"), Hit)


def test_an_expired_search_is_made_again(cache: Cache, clock: Clock) -> None:
    """A stale answer is not served in place of a live one."""
    engine = Engine()
    cache.searches.answer("q", engine, ttl=60)
    clock.now += 61
    assert isinstance(cache.searches.answer("q", engine).outcome, Stale)
    assert len(engine.calls) == 2


def test_the_next_write_sweeps_what_is_expired(cache: Cache, clock: Clock) -> None:
    """Lookups delete nothing; a write to the same table does."""
    cache.searches.put("old", RESULTS, ttl=60)
    clock.now += 61
    cache.searches.find("old")
    assert cache.maintenance.stats()[0].total == 1
    cache.searches.put("new", RESULTS)
    assert (cache.maintenance.stats()[0].live, cache.maintenance.stats()[0].total) == (1, 1)


@pytest.mark.parametrize("ttl", [0, -1, float("nan"), float("inf"), -float("inf"), "60", None, True])
def test_an_unusable_ttl_is_an_error_and_nothing_is_searched(cache: Cache, ttl: Any) -> None:
    """Zero, negative, NaN and infinite lifetimes are refused before the engine is called."""
    engine = Engine()
    with pytest.raises(InvalidInput, match="ttl"):
        cache.searches.answer("q", engine, ttl=ttl)
    assert engine.calls == []


@pytest.mark.parametrize("max_results", [0, -1, 101, 2.5, "10", True])
def test_a_number_of_results_out_of_range_is_an_error(cache: Cache, max_results: Any) -> None:
    """`max_results` is a whole number from 1 to 100."""
    with pytest.raises(InvalidInput, match="max_results"):
        cache.searches.answer("q", Engine(), max_results=max_results)


@pytest.mark.parametrize("query", ["", "   ", "x" * 100_000, "a\0b", "broken \ud800", None])
def test_an_unusable_query_is_an_error_and_nothing_is_searched(cache: Cache, query: Any) -> None:
    """Empty, huge, NUL and lone surrogates are refused before the engine is asked."""
    engine = Engine()
    with pytest.raises(InvalidInput):
        cache.searches.answer(query, engine)
    assert engine.calls == []


def test_five_results_do_not_answer_for_ten(cache: Cache) -> None:
    """A row remembers how many results were asked for: fewer is a miss, more is cut."""
    found = [{"title": str(n)} for n in range(10)]
    engine = Engine(found)
    cache.searches.answer("q", engine, max_results=5)
    assert isinstance(cache.searches.answer("q", engine, max_results=10).outcome, Miss)
    answer = cache.searches.answer("q", engine, max_results=3)
    assert isinstance(answer.outcome, Hit)
    assert answer.value == found[:3]


def test_an_engine_that_returns_too_many_is_cut(cache: Cache) -> None:
    """No more results than asked for, neither live nor cached."""
    engine = Engine([{"title": str(n)} for n in range(10)])
    assert len(cache.searches.answer("q", engine, max_results=4).value) == 4
    assert len(cache.searches.answer("q", engine, max_results=4).value) == 4


def test_other_engines_and_options_are_other_searches(cache: Cache) -> None:
    """Everything that changes results is in the key."""
    engine = Engine()
    for name, options in (("ddgs", {}), ("ddgs", {"region": "de-de"}), ("corpus", {"corpus": "a"}), ("corpus", {})):
        assert isinstance(cache.searches.answer("q", engine, engine=name, options=options).outcome, Miss)
    assert len(engine.calls) == 4


def test_empty_results_are_returned_but_not_stored(cache: Cache, clock: Clock) -> None:
    """An empty answer is returned for ten minutes; it is never stored as results."""
    engine = Engine([])
    assert cache.searches.answer("q", engine).value == []
    assert cache.searches.answer("q", engine).value == []
    assert len(engine.calls) == 1
    clock.now += 600
    assert cache.searches.answer("q", engine).value == []
    assert len(engine.calls) == 2
    assert cache.searches.put("q", []) is False
    assert cache.maintenance.stats()[0].total == 0


def test_a_failed_search_is_not_stored(cache: Cache) -> None:
    """The engine's error passes through, and the next call asks again."""

    def fails(query: str, max_results: int) -> list[dict[str, Any]]:
        raise EngineUnavailable("down")

    with pytest.raises(EngineUnavailable):
        cache.searches.answer("q", fails)
    assert cache.searches.answer("q", Engine()).value == RESULTS


@pytest.mark.parametrize("found", ["text", 3, None.__class__, {"title": "x"}, ["text"], [{"x": object()}], [{1j: 2}]])
def test_results_that_are_not_json_objects_are_an_error(cache: Cache, found: Any) -> None:
    """The error has the wrong type."""
    with pytest.raises(InvalidInput):
        cache.searches.answer("q", Engine(found))
    assert cache.maintenance.stats()[0].total == 0


def test_results_with_broken_unicode_are_an_error(cache: Cache) -> None:
    """A lone surrogate cannot be stored, and is not replaced."""
    with pytest.raises(InvalidInput, match="JSON"):
        cache.searches.put("q", [{"title": "\ud800"}])


def test_an_entry_too_large_is_an_error(cache: Cache) -> None:
    """The size of one entry is limited."""
    with pytest.raises(InvalidInput, match="too much"):
        cache.searches.put("q", [{"body": "x" * MAX_PAYLOAD_BYTES}])


@pytest.mark.parametrize(
    ("stored", "reason"),
    [("[{", "unreadable"), *((each, "not a list of results") for each in ('{"a": 1}', '["text"]', "3", '"text"'))],
)
def test_unusable_cached_results_are_replaced(
    cache: Cache, caplog: pytest.LogCaptureFixture, stored: str, reason: str
) -> None:
    """A damaged row, or one of a script's function, costs one search; only damage gives a warning."""
    cache.searches.put("q", RESULTS)
    store = cache.store
    assert isinstance(store, SqliteStore)
    sql = "UPDATE search_cache SET results = ?, checksum = NULL"  # as an older program leaves it
    store._connections.write(lambda connection: connection.execute(sql, (stored,)))
    assert bare(cache.searches.answer("q", Engine()).outcome) == Miss(reason)
    assert ("unreadable" in caplog.text) is (reason == "unreadable")
    assert isinstance(cache.searches.find("q"), Hit)


def test_use_is_recorded_at_most_once_an_hour(cache: Cache, clock: Clock) -> None:
    """Lookups are reads: `last_used_at` changes only when it is over an hour old."""
    cache.searches.put("q", RESULTS)
    written = clock.now
    for seconds, noted in ((3_600, written), (1, written + 3_601), (100, written + 3_601)):
        clock.now += seconds
        cache.searches.find("q")
        entry = cache.store.rows.get("search_cache", "default", _only_key(cache))
        assert entry is not None
        assert entry.last_used_at == noted


def test_a_clock_set_back_gives_no_negative_expiry(cache: Cache, clock: Clock) -> None:
    """An entry from a few minutes ahead is still a hit."""
    cache.searches.put("q", RESULTS)
    clock.now -= 200
    found = cache.searches.find("q")
    assert isinstance(found, Hit)
    assert found.age == 0.0


def test_hits_and_misses_are_logged_with_the_query(cache: Cache, caplog: pytest.LogCaptureFixture) -> None:
    """Log lines go through `logging`, at level INFO."""
    caplog.set_level(logging.INFO, logger="harness.cache")
    cache.searches.answer("what is logged", Engine())
    cache.searches.answer("what is logged", Engine())
    assert [record.getMessage() for record in caplog.records] == [
        "miss 'what is logged' (unknown)",
        "hit 'what is logged'",
    ]


def test_tenants_do_not_see_each_other(tmp_path: Path) -> None:
    """Two tenants of one store have two rows for one query."""
    store = SqliteStore(tmp_path / "harness.db")
    one, other = Cache(store, tenant="one"), Cache(store, tenant="other")
    one.searches.put("q", RESULTS)
    assert bare(other.searches.find("q")) == Miss("unknown")


def test_a_research_is_returned_unchanged(cache: Cache) -> None:
    """Context, rounds and scores; the task's spelling and the type's case do not matter."""
    research = ResearchContext("the context", [["q1", "q2"]], [1.0, 0.25])
    assert cache.researches.put("The  Task", "Research", research)
    found = cache.researches.find("the task", "research")
    assert isinstance(found, Hit)
    assert found.value == research


def test_the_fingerprint_is_part_of_the_key(cache: Cache) -> None:
    """Another fingerprint is another research; neither replaces the other."""
    for fingerprint in ("planner-1", "planner-2", ""):
        cache.researches.put("t", "research", ResearchContext(f"by {fingerprint}", 1, []), fingerprint=fingerprint)
    found = cache.researches.find("t", "research", fingerprint="planner-2")
    assert isinstance(found, Hit)
    assert found.value.context == "by planner-2"
    assert bare(cache.researches.find("t", "research", fingerprint="planner-3")) == Miss("unknown")


def test_an_empty_research_is_not_stored(cache: Cache) -> None:
    """An empty context is not stored."""
    assert cache.researches.put("t", "research", ResearchContext("  ", 0, [])) is False
    assert cache.maintenance.stats()[1].total == 0


def test_clear_and_sweep_return_the_number_of_rows(cache: Cache, clock: Clock) -> None:
    """Counts by table."""
    cache.searches.put("a", RESULTS, ttl=1_000)
    cache.searches.put("b", RESULTS)
    cache.researches.put("t", "research", ResearchContext("c", 1, []), ttl=1_000)
    clock.now += 2_000
    none = {"web_pages": 0, "completions": 0, "tool_cache": 0}
    assert cache.maintenance.sweep() == {"search_cache": 1, "research_cache": 1} | none
    deleted = cache.maintenance.clear()
    assert deleted == dict.fromkeys((*ANSWERS, *MADE, UNANSWERED), 0) | {"search_cache": 1}
    assert cache.maintenance.size() > 0


@settings(deadline=None)
@given(query=st.text(min_size=1), results=st.lists(st.dictionaries(st.text(), st.text()), min_size=1, max_size=3))
def test_any_results_are_returned_unchanged_or_refused(
    tmp_path_factory: pytest.TempPathFactory, query: str, results: list[dict[str, str]]
) -> None:
    """Results put under any query are returned unchanged; others are an `InvalidInput`."""
    cache = Cache(SqliteStore(tmp_path_factory.getbasetemp() / "any.db"))
    try:
        cache.searches.put(query, results)
    except InvalidInput:
        return
    found = cache.searches.find(query)
    assert isinstance(found, Hit)
    assert found.value == results


def _only_key(cache: Cache) -> str:
    store = cache.store
    assert isinstance(store, SqliteStore)
    key: bytes = store._connections.handle().connection.execute("SELECT key FROM search_cache").fetchone()[0]
    return key.decode()


def test_a_store_that_cannot_be_written_is_logged_once_and_loses_nothing(
    cache: Cache, caplog: pytest.LogCaptureFixture
) -> None:
    """Results that were paid for are returned; the reason they are not kept is one line, however many there are."""
    store = cache.store
    assert isinstance(store, SqliteStore)
    connection = store._connections.handle().connection
    connection.execute(f"PRAGMA max_page_count = {connection.execute('PRAGMA page_count').fetchone()[0]}")
    large = [{"body": "x" * 100_000}]
    assert cache.searches.answer("one", Engine(large)).value == large
    assert cache.searches.answer("two", Engine(large)).value == large
    (record,) = caplog.records
    assert "the disk is full" in record.getMessage()


def test_results_too_large_to_store_are_returned(cache: Cache, caplog: pytest.LogCaptureFixture) -> None:
    """Results are not lost because they cannot be stored."""
    large = [{"body": "x" * MAX_PAYLOAD_BYTES}]
    assert cache.searches.answer("q", Engine(large)).value == large
    assert "not cached" in caplog.text
    assert cache.maintenance.stats()[0].total == 0
