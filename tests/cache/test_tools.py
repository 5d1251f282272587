"""The tool cache: lookups, lifetimes, tenants, and single flight."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.cache import Cache, Policy
from harness.cache.json_values import MAX_DEPTH, encoded
from harness.cache.tool_cache import STALE_FOR, ToolEntry, stored_by
from harness.core.entries import Entry, Hit, Miss, Stale
from harness.core.freshness import DAY, HOUR
from harness.core.tables import TOOLS
from harness.errors import InvalidInput, OfflineMiss, RateLimited, SearchError, StoreError
from harness.ports import Store
from harness.storage.sqlite.store import SqliteStore
from tests.cache.stand_ins import bare, semantics
from tests.fakes import FakeClock, MemoryStore, refusing

ROOT = Path(__file__).parents[2]
JOBS = [{"title": "Engineer", "city": "Berlin"}, {"title": "Analyst", "city": "Bonn"}]
DEADLINE = 60


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """An empty store of each kind."""
    opened: Any = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "harness.db")
    yield opened
    opened.close()


@pytest.fixture
def cache(store: Store, clock: FakeClock) -> Cache:
    """An empty cache that answers by meaning."""
    return Cache(store, semantics=semantics(store), clock=clock)


def cleared(cache: Cache, *, cache_type: str | None = None, created_by: str | None = None) -> int:
    """Delete the entries of this type, stored by this user; return how many."""
    selected = cache.maintenance.select((TOOLS,), only=stored_by(cache_type, created_by))
    return cache.maintenance.delete(selected)[TOOLS]


def deep(levels: int) -> Any:
    """Return so many lists within each other."""
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def endless() -> list[Any]:
    """Return a list that contains itself."""
    value: list[Any] = []
    value.append(value)
    return value


# --- lookup and store


def test_stored_results_are_found_in_any_case(cache: Cache, clock: FakeClock) -> None:
    """Exactly, with its age and the query that it was stored for."""
    cache.tools.put("job_search", " Python jobs ", JOBS)
    clock.advance(90)
    assert bare(cache.tools.find("JOB_SEARCH", "python JOBS")) == Hit(JOBS, "exact", "Python jobs", 1.0, 90.0)


@pytest.mark.parametrize("other", [("web_fetch", "python jobs"), ("job_search", "java jobs")])
def test_another_type_or_query_is_a_miss(cache: Cache, other: tuple[str, str]) -> None:
    """Types do not answer for each other."""
    cache.tools.put("job_search", "python jobs", JOBS)
    assert isinstance(cache.tools.find(*other), Miss)


def test_a_query_that_means_the_same_is_answered(cache: Cache) -> None:
    """With the stored query and the similarity; within its type only."""
    cache.tools.put("job_search", "semantic cache false positives", JOBS)
    found = cache.tools.find("job_search", "false positives semantic cache")
    assert bare(found) == Hit(JOBS, "semantic", "semantic cache false positives", pytest.approx(1.0), 0.0)
    assert isinstance(cache.tools.find("company_research", "false positives semantic cache"), Miss)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [("https://example.org/a/b", "https://example.org/b/a"), ('{"a":"x","b":"y"}', '{"b":"y","a":"x"}')],
)
def test_addresses_and_data_are_not_found_by_meaning(cache: Cache, store: Store, stored: str, asked: str) -> None:
    """They have no vectors; with one, they still do not answer a query in words."""
    cache.tools.put("web_fetch", stored, JOBS)
    (row,) = store.listings.scan("tool_cache", "default")
    assert row.embedding is None
    assert isinstance(cache.tools.find("web_fetch", asked), Miss)
    semantic = cache.semantics
    assert semantic is not None
    vector = semantic.embedding("https example org")
    assert vector is not None
    store.nearest.embed("tool_cache", "default", row.key, vector, "words")
    assert isinstance(cache.tools.find("web_fetch", "https example org"), Miss)


def test_the_row_has_json_and_the_user(cache: Cache, store: Store) -> None:
    """Key, type, parameters, count and author, in the columns that the table declares."""
    entry = cache.tools.put("job_search", "Python", JOBS, params={"limit": 2, "a": None}, created_by="ada\n")
    (row,) = store.listings.scan("tool_cache", "default")
    assert row.key == entry.key == sha256(b"job_search:python").hexdigest()
    assert row.own == ("job_search", '{"a":null,"limit":2,"query":"Python"}', 2, "ada")
    assert row.payload == b'[{"city":"Berlin","title":"Engineer"},{"city":"Bonn","title":"Analyst"}]'
    now = cache.now
    assert entry == ToolEntry(row.key, "job_search", "Python", {"limit": 2, "a": None}, 2, "ada", now, now + DAY)
    assert cache.tools.recent() == [entry]
    assert isinstance(cache.tools.find("job_search", "PYTHON"), Hit)
    assert isinstance(cache.tools.find("job_search", "java"), Miss)


@pytest.mark.parametrize(
    ("data", "count"), [(JOBS, 2), ({"a": 1, "b": 2}, 1), ("text", 1), (0, 1), (False, 1), (1.5, 1)]
)
def test_any_json_value_can_be_stored_and_is_counted(cache: Cache, data: Any, count: int) -> None:
    """The length of a list, 1 for anything else."""
    assert cache.tools.put("x", "q", data).count == count
    found = cache.tools.find("x", "q")
    assert isinstance(found, Hit)
    assert found.value == data


@pytest.mark.parametrize("data", [None, [], {}, "", ()])
def test_nothing_is_not_stored(cache: Cache, data: Any) -> None:
    """Empty data is refused."""
    with pytest.raises(InvalidInput, match="nothing to store"):
        cache.tools.put("x", "q", data)
    assert cache.tools.recent() == []


@pytest.mark.parametrize(
    "data",
    [
        float("nan"), [float("inf")], {"a": float("-inf")}, "a\0b", {"a\0": 1}, ["\ud800"], {1: 2}, {None: 1},
        {(1,): 1}, object(), b"bytes", {1, 2}, 2**70, deep(MAX_DEPTH + 1), endless(),
        ["x" * 2**20] * 17, "é" * 9_000_000,
    ],
    ids=lambda data: type(data).__name__,
)  # fmt: skip
def test_values_that_are_not_json_or_too_large_are_refused(cache: Cache, data: Any) -> None:
    """A typed error in one short line, and nothing is stored."""
    with pytest.raises(InvalidInput) as caught:
        cache.tools.put("x", "q", data)
    assert len(str(caught.value)) < 300
    assert cache.tools.recent() == []


def test_the_deepest_allowed_value_can_be_stored(cache: Cache) -> None:
    """The limit itself is allowed."""
    cache.tools.put("x", "q", deep(MAX_DEPTH))
    assert isinstance(cache.tools.find("x", "q"), Hit)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@settings(deadline=None)
@given(JSON)
def test_every_json_value_is_returned_unchanged(value: Any) -> None:
    """Values are returned unchanged, and their bytes do not depend on the order of names."""
    payload = encoded(value)
    assert json.loads(payload) == value
    assert encoded(json.loads(payload)) == payload


# --- lifetimes


@pytest.mark.parametrize(
    ("cache_type", "hours"), [("job_search", 24), ("web_fetch", 1), ("company_research", 168), ("anything_else", 24)]
)
def test_every_type_has_its_lifetime(cache: Cache, clock: FakeClock, cache_type: str, hours: float) -> None:
    """To the second, even for a query about now; after that it is stale."""
    cache.tools.put(cache_type, "latest news", JOBS)
    clock.advance(hours * HOUR - 1)
    assert isinstance(cache.tools.find(cache_type, "latest news"), Hit)
    clock.advance(1)
    assert bare(cache.tools.find(cache_type, "latest news")) == Stale(JOBS, "latest news", hours * HOUR, 0.0)


def test_the_argument_and_the_setting_decide_the_lifetime(store: Store, clock: FakeClock) -> None:
    """The setting over the default, the argument over the setting."""
    cache = Cache(store, clock=clock, policy=Policy(tool_ttl_hours={"job_search": 2.0}))
    assert cache.tools.put("job_search", "q", JOBS).expires_at == clock.now + 2 * HOUR
    assert cache.tools.put("job_search", "q", JOBS, ttl_hours=0.5).expires_at == clock.now + HOUR / 2


@pytest.mark.parametrize("hours", [0, -1, float("nan"), float("inf"), 10**400, 1e9, True, "24"])
def test_an_unusable_lifetime_is_refused(cache: Cache, hours: Any) -> None:
    """The error has the allowed range."""
    with pytest.raises(InvalidInput, match="ttl_hours must be"):
        cache.tools.put("x", "q", JOBS, ttl_hours=hours)


def test_a_refresh_renews_both_times(cache: Cache, clock: FakeClock) -> None:
    """Creation and expiry; there is one row."""
    cache.tools.put("x", "q", JOBS)
    clock.advance(25 * HOUR)
    entry = cache.tools.put("x", "Q", [1], created_by="bob")
    assert (entry.created_at, entry.expires_at) == (clock.now, clock.now + DAY)
    assert cache.tools.recent() == [entry]
    assert bare(cache.tools.find("x", "q")) == Hit([1], "exact", "Q", 1.0, 0.0)


def test_expired_rows_are_kept_for_a_week(cache: Cache, clock: FakeClock) -> None:
    """Puts sweep them after that; `sweep` at once."""
    cache.tools.put("x", "old", JOBS, ttl_hours=1)
    clock.advance(HOUR + STALE_FOR - 1)
    cache.tools.put("x", "new", JOBS, ttl_hours=1)
    assert isinstance(cache.tools.find("x", "old"), Stale)
    clock.advance(1)
    cache.tools.put("x", "newer", JOBS)
    assert isinstance(cache.tools.find("x", "old"), Miss)
    clock.advance(HOUR)
    assert cache.maintenance.sweep()["tool_cache"] == 1


def test_a_fresh_one_that_means_the_same_comes_before_a_stale_one(cache: Cache, clock: FakeClock) -> None:
    """As for searches."""
    cache.tools.put("x", "false positives semantic cache", ["old"])
    clock.advance(2 * DAY)
    cache.tools.put("x", "semantic cache false positives", ["new"])
    found = cache.tools.find("x", "false positives semantic cache")
    assert isinstance(found, Hit)
    assert (found.value, found.found) == (["new"], "semantic")


# --- listing, clearing, counting


def test_the_newest_entry_is_first(cache: Cache, clock: FakeClock) -> None:
    """All types or one, expired or not, up to the limit."""
    for number in range(4):
        cache.tools.put(f"t{number % 2}", f"query {number}", [1], ttl_hours=1)
        clock.advance(HOUR)
    assert [entry.query for entry in cache.tools.recent()] == ["query 3", "query 2", "query 1", "query 0"]
    assert [entry.query for entry in cache.tools.recent(1, "T0")] == ["query 2"]


@pytest.mark.parametrize("limit", [0, -1, 1_001, True, 1.0, 10**400])
def test_an_unusable_limit_is_refused(cache: Cache, limit: Any) -> None:
    """By a typed error."""
    with pytest.raises(InvalidInput, match="limit"):
        cache.tools.recent(limit)


def test_entries_can_be_deleted_by_type_and_user(cache: Cache) -> None:
    """Both together, or all."""
    for cache_type, user in (("a", "ada"), ("a", "bob"), ("b", "ada"), ("b", None)):
        cache.tools.put(cache_type, f"of {user}", [1], created_by=user)
    assert cleared(cache, cache_type="a", created_by="ada") == 1
    assert cleared(cache, created_by="ada") == 1
    assert cleared(cache, cache_type="A") == 1
    assert [entry.created_by for entry in cache.tools.recent()] == [None]
    assert cleared(cache) == 1


def test_the_tool_cache_is_counted_and_cleared_with_the_rest(cache: Cache, clock: FakeClock) -> None:
    """Live and expired; those without a vector are those in words."""
    cache.tools.put("x", "q", [1], ttl_hours=1)
    cache.tools.put("x", "https://example.org", [1], ttl_hours=3)
    clock.advance(2 * HOUR)
    (stats,) = [each for each in cache.maintenance.stats() if each.table == "tool_cache"]
    assert (stats.live, stats.expired, stats.total, stats.unembedded) == (1, 1, 2, 0)
    assert cache.maintenance.clear()["tool_cache"] == 2


def test_rows_of_another_embedder_are_embedded_again(store: Store, clock: FakeClock) -> None:
    """Queries in words; addresses have no vector."""
    plain = Cache(store, clock=clock)
    for query in ("semantic cache false positives", "https://example.org/a", '{"a":1}'):
        plain.tools.put("x", query, [1])
    cache = Cache(store, semantics=semantics(store), clock=clock)
    assert [each.unembedded for each in cache.maintenance.stats() if each.table == "tool_cache"] == [1]
    steps: list[tuple[str, int, int]] = []
    assert cache.maintenance.reembed(lambda *step: steps.append(step)) == 1
    assert steps == [("embedding", 1, 1)]
    assert sum(row.embedding is not None for row in store.listings.scan("tool_cache", "default")) == 1
    assert isinstance(cache.tools.find("x", "false positives semantic cache"), Hit)


def test_a_damaged_row_is_a_miss(store: Store, clock: FakeClock, caplog: pytest.LogCaptureFixture) -> None:
    """It is reported as damaged."""
    cache = Cache(store, clock=clock, semantics=semantics(store))
    entry = cache.tools.put("x", "q", [1])
    (row,) = store.listings.scan("tool_cache", "default")
    own = ("x", "[", 1, None)
    store.rows.put(
        "tool_cache", "default", Entry(row.key, "q", b"{", row.created_at, row.expires_at, row.created_at, own)
    )
    assert isinstance(cache.tools.find("x", "q"), Miss)
    assert "unreadable" in caplog.text
    assert cache.tools.recent() == [ToolEntry(entry.key, "x", "q", {}, 1, None, row.created_at, row.expires_at)]


# --- tenants


WHO = st.sampled_from(["north", "south", "north ", "north:x", "default"])
STEPS = st.lists(
    st.tuples(WHO, st.sampled_from(["put", "clear", "clear type"]), st.sampled_from(["a", "b"]), st.sampled_from("pq")),
    max_size=12,
)


@settings(deadline=None)
@given(STEPS)
def test_tenants_never_see_each_other(steps: list[tuple[str, str, str, str]]) -> None:
    """After any stores and clears in any order, each sees what it would see alone."""
    store = MemoryStore()
    caches: dict[str, Cache] = {}
    alone: dict[str, dict[tuple[str, str], Any]] = {}
    for number, (tenant, step, cache_type, query) in enumerate(steps):
        cache = caches.setdefault(tenant, Cache(store, tenant=tenant, semantics=semantics(store, tenant=tenant)))
        mine = alone.setdefault(tenant, {})
        if step == "put":
            cache.tools.put(cache_type, query, [tenant, number])
            mine[cache_type, query] = [tenant, number]
        else:
            chosen = None if step == "clear" else cache_type
            gone = [place for place in mine if chosen in {None, place[0]}]
            assert cleared(cache, cache_type=chosen) == len(gone)
            for place in gone:
                del mine[place]
    for tenant, cache in caches.items():
        found = {(e.cache_type, e.query): cache.tools.find(e.cache_type, e.query) for e in cache.tools.recent()}
        assert {place: hit.value for place, hit in found.items() if isinstance(hit, Hit)} == alone[tenant]
        for place in {(cache_type, query) for cache_type in "ab" for query in "pq"} - alone[tenant].keys():
            outcome = cache.tools.find(*place)
            assert isinstance(outcome, Miss) or outcome.value[0] == tenant


def test_a_similar_query_of_another_tenant_does_not_answer(store: Store, clock: FakeClock) -> None:
    """Not by meaning either."""
    mine, other = (
        Cache(store, tenant=tenant, semantics=semantics(store, tenant=tenant), clock=clock) for tenant in "mo"
    )
    other.tools.put("x", "semantic cache false positives", ["theirs"])
    assert isinstance(mine.tools.find("x", "false positives semantic cache"), Miss)
    assert mine.tools.recent() == []
    assert cleared(mine) == 0
    assert mine.maintenance.stats()[-1].total == 0


# --- compute once


class Tool:
    """A tool that counts its calls, and returns or raises `found` once it may."""

    def __init__(self, found: Any = "found") -> None:
        self.found = found
        self.calls = 0
        self.may = threading.Event()
        self.may.set()

    def __call__(self) -> Any:
        """Compute."""
        self.calls += 1
        assert self.may.wait(DEADLINE)
        if isinstance(self.found, BaseException):
            raise self.found
        return self.found


def test_cached_results_are_not_computed(cache: Cache) -> None:
    """Exactly, and by meaning; live and cached look alike."""
    tool = Tool([("a", 1)])
    first = cache.tools.answer("x", "semantic cache false positives", tool, created_by="ada")
    exact = cache.tools.answer("x", "SEMANTIC cache false positives", tool)
    meant = cache.tools.answer("x", "false positives semantic cache", tool)
    assert [answer.how for answer in (first, exact, meant)] == ["live", "exact", "semantic"]
    assert [answer.value for answer in (first, exact, meant)] == [[["a", 1]]] * 3
    assert tool.calls == 1
    assert cache.tools.recent()[0].created_by == "ada"
    assert cache.usage.total() == {"live": 1, "exact": 1, "semantic": 1}


@pytest.mark.parametrize("found", [[{"a": 1}], [], None, {}])
def test_of_many_threads_one_computes(cache: Cache, found: Any) -> None:
    """For results, and for empty results."""
    tool = Tool(found)
    tool.may.clear()
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(cache.tools.answer, "x", "q", tool) for _ in range(8)]
        while (
            not (flights := list(cache._context.flights._flights.values())) or len(flights[0]._condition._waiters) < 7
        ):
            threading.Event().wait(0.005)
        tool.may.set()
        assert [each.result().value for each in asked] == [found] * 8
    assert tool.calls == 1


@pytest.mark.parametrize("found", [None, [], {}, ""])
def test_empty_results_are_returned_and_asked_again(cache: Cache, found: Any) -> None:
    """An empty result is not stored."""
    tool = Tool(found)
    assert [cache.tools.answer("x", "q", tool).value, cache.tools.answer("x", "q", tool).value] == [found, found]
    assert tool.calls == 2
    assert cache.tools.recent() == []


@pytest.mark.parametrize("error", [ZeroDivisionError("none"), RateLimited("slow down"), KeyError(1)])
def test_an_error_passes_through_unchanged(cache: Cache, error: Exception) -> None:
    """The very exception; the next call asks again."""
    with pytest.raises(type(error)) as caught:
        cache.tools.answer("x", "q", Tool(error))
    assert caught.value is error
    assert cache.tools.answer("x", "q", Tool()).value == "found"


def test_a_result_without_a_json_form_is_returned_and_not_stored(
    cache: Cache, caplog: pytest.LogCaptureFixture
) -> None:
    """The very object, each time; one warning names the function and the type."""
    found = {1, 2}
    assert [cache.tools.answer("x", f"q{n}", lambda: found, name="numbers").value for n in range(3)] == [found] * 3
    assert cache.tools.answer("x", "q", lambda: found).value is found
    assert cache.tools.recent() == []
    assert caplog.text.count("a result of numbers is returned but not cached: set has no JSON form") == 1


def test_all_that_wait_get_the_object_that_cannot_be_stored(cache: Cache) -> None:
    """One of many threads computes, and the others get its very result."""
    tool = Tool(found := object())
    tool.may.clear()
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(cache.tools.answer, "x", "q", tool) for _ in range(8)]
        while (
            not (flights := list(cache._context.flights._flights.values())) or len(flights[0]._condition._waiters) < 7
        ):
            threading.Event().wait(0.005)
        tool.may.set()
        assert all(each.result().value is found for each in asked)
    assert tool.calls == 1


def test_a_stale_answer_replaces_a_failing_tool_where_allowed(store: Store, clock: FakeClock) -> None:
    """Within the window; not if the call itself was wrong."""
    cache = Cache(store, clock=clock, policy=Policy(stale_if_error=DAY))
    cache.tools.answer("x", "q", Tool("then"), ttl_hours=1)
    clock.advance(2 * HOUR)
    answer = cache.tools.answer("x", "q", Tool(ConnectionError("down")))
    assert (answer.how, answer.value) == ("stale", "then")
    for wrong in (InvalidInput("no such city"), TypeError("missing 1 argument"), NameError("name 'jsn'")):
        with pytest.raises(type(wrong)):
            cache.tools.answer("x", "q", Tool(wrong))
    clock.advance(DAY)
    with pytest.raises(ConnectionError):
        cache.tools.answer("x", "q", Tool(ConnectionError("down")))


def test_offline_nothing_is_computed(store: Store, clock: FakeClock) -> None:
    """Cached results answer; anything else is an `OfflineMiss`."""
    Cache(store, clock=clock).tools.put("x", "q", [1])
    cache, tool = Cache(store, clock=clock, policy=Policy(offline=True)), Tool()
    assert cache.tools.answer("x", "q", tool).value == [1]
    with pytest.raises(OfflineMiss, match="'other'"):
        cache.tools.answer("x", "other", tool)
    assert tool.calls == 0


def test_a_cache_that_is_not_read_or_not_written_is_left_alone(store: Store, clock: FakeClock) -> None:
    """Without `read` it calls again and stores; without `write` it stores nothing, and `put` raises an error."""
    Cache(store, clock=clock).tools.put("x", "q", ["old"])
    clock.advance(1)
    unread = Cache(store, clock=clock).refreshing()
    assert isinstance(unread.tools.find("x", "q"), Miss)
    assert unread.tools.answer("x", "q", Tool(["new"])).how == "live"
    unwritten = Cache(store, clock=clock, policy=Policy(write=False))
    assert bare(unwritten.tools.find("x", "q")) == Hit(["new"], "exact", "q", 1.0, 0.0)
    assert unwritten.tools.answer("x", "p", Tool()).how == "live"
    with pytest.raises(InvalidInput, match="only read"):
        unwritten.tools.put("x", "p", [1])
    assert [entry.query for entry in unwritten.tools.recent()] == ["q"]


def test_a_full_store_loses_no_answer(clock: FakeClock, caplog: pytest.LogCaptureFixture) -> None:
    """A full disk is logged once, and results are returned."""
    cache = Cache(refusing(StoreError("the disk is full"), "rows.put"), clock=clock)
    assert [cache.tools.answer("x", query, Tool()).value for query in ("q", "p")] == ["found"] * 2
    assert caplog.text.count("the disk is full") == 1


def test_a_search_and_a_tool_with_one_key_do_not_mix(cache: Cache) -> None:
    """A search for `x:q` has the key of the tool x's query q; an empty result of one does not answer the other."""
    cache.tools.answer("x", "q", Tool([]))
    assert cache.searches.answer("x:q", lambda query, n: [{"title": "t"}]).value == [{"title": "t"}]


# --- processes


def ask(path: Path, processes: int, ending: str) -> tuple[list[dict[str, Any]], int]:
    """Let so many processes call the same tool at once; return what each tells, and how many computed."""
    command = [sys.executable, "-m", "tests.cache.tool_processes", str(path), str(processes), "0.5", ending]
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, timeout=DEADLINE, check=True).stdout
    calls = path.with_name(f"{path.name}.calls").read_text().splitlines()
    return [json.loads(line) for line in out.splitlines()], len(calls)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["results", "nothing", "ValueError"])
def test_of_many_processes_one_computes(tmp_path: Path, ending: str) -> None:
    """All get its results, its empty result, or its error."""
    replies, calls = ask(tmp_path / "shared.db", 8, ending)
    assert calls == 1
    match ending:
        case "results":
            assert {each["value"][0] for each in replies} == {"by"}
            assert len({each["value"][1] for each in replies}) == 1
        case "nothing":
            assert [each["value"] for each in replies] == [[]] * 8
        case _:
            assert sorted(each["error"] for each in replies) == [
                *[f"{SearchError.__name__}: 'q' failed in another process: ValueError: as requested"] * 7,
                "ValueError: as requested",
            ]
