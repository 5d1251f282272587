"""`research_cache` and the request scope: replies to an agent, each entry once."""

import asyncio
import contextvars
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.cache import Cache, Policy, Seen, ToolReply, request_scope, research_cache
from harness.cache.request_scope import MAX_SEEN, is_first
from harness.core.freshness import DAY, HOUR
from harness.core.keys import tool_key
from harness.errors import InvalidInput
from harness.ports import Store
from harness.storage.sqlite.store import SqliteStore
from tests.cache.stand_ins import semantics
from tests.fakes import FakeClock, MemoryStore

JOBS = [{"title": "Engineer"}, {"title": "Analyst"}]
STORED, ASKED = "semantic cache false positives", "false positives semantic cache"


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """An empty store of each kind."""
    opened: Any = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "harness.db")
    yield opened
    opened.close()


@pytest.fixture
def cache(store: Store, clock: FakeClock) -> Cache:
    """An empty cache that answers by meaning, for the tenant `team`."""
    return Cache(store, semantics=semantics(store, tenant="team"), clock=clock, tenant="team")


def look_up(cache: Cache, query: str, cache_type: str = "job_search") -> ToolReply:
    """Look a query up as an agent does."""
    return research_cache(cache, "lookup", cache_type=cache_type, query=query)


def store_jobs(cache: Cache, query: str = STORED, **rest: Any) -> ToolReply:
    """Store something as an agent does."""
    return research_cache(cache, "store", cache_type="job_search", query=query, data=JOBS, **rest)


# --- replies


def test_a_miss_has_advice(cache: Cache) -> None:
    """Search, then store; the reply has the key."""
    reply = look_up(cache, "Python Jobs")
    assert reply == ToolReply(
        action="lookup",
        found=False,
        note="not cached: search, then store what you find",
        key=tool_key("job_search", "python jobs"),
    )


def test_a_hit_has_all_an_agent_needs_to_trust_it(cache: Cache, clock: FakeClock) -> None:
    """Results, number, age, times, the stored query, and how it was found."""
    store_jobs(cache)
    clock.advance(2 * HOUR + 60)
    assert look_up(cache, STORED.upper()) == ToolReply(
        action="lookup",
        found=True,
        note="fresh: use it",
        results=JOBS,
        count=2,
        age="2h ago",
        cached_at="2023-11-14T22:13:20Z",
        expires_at="2023-11-15T22:13:20Z",
        matched_query=STORED,
        match="exact",
        similarity=1.0,
        key=tool_key("job_search", STORED),
    )


def test_a_semantic_hit_is_marked(cache: Cache) -> None:
    """With the other query, the similarity, and the key of the row that answers."""
    store_jobs(cache)
    reply = look_up(cache, ASKED)
    assert (reply.found, reply.match, reply.matched_query, reply.similarity) == (True, "semantic", STORED, 1.0)
    assert reply.key == tool_key("job_search", STORED)
    assert "another query" in reply.note


def test_an_expired_entry_has_a_warning(cache: Cache, clock: FakeClock) -> None:
    """Found and stale, with its results, and the advice to search again."""
    store_jobs(cache, ttl_hours=1)
    clock.advance(3 * HOUR)
    reply = look_up(cache, STORED)
    assert (reply.found, reply.stale, reply.results, reply.match, reply.age) == (True, True, JOBS, "exact", "3h ago")
    assert reply.expires_at == "2023-11-14T23:13:20Z"
    assert reply.note.startswith("stale: search again, then store")


def test_a_store_reply_has_the_expiry(cache: Cache) -> None:
    """And the count; the results are not repeated."""
    reply = store_jobs(cache, ttl_hours=0.5, created_by="ada")
    assert (reply.found, reply.count, reply.results, reply.age) == (True, 2, None, "just now")
    assert reply.expires_at == "2023-11-14T22:43:20Z"
    assert reply.note == "stored; fresh until 2023-11-14T22:43:20Z"


@pytest.mark.parametrize(
    ("data", "results", "count"),
    [
        ('[{"a": 1}]', [{"a": 1}], 1),
        ([{"a": 1}, 2], [{"a": 1}, 2], 2),
        ('{"a": [1, 2]}', {"a": [1, 2]}, 1),
        ({"a": [1, 2]}, {"a": [1, 2]}, 1),
        ('"text"', "text", 1),
        ("0", 0, 1),
    ],
)
def test_data_may_be_json_or_its_text(cache: Cache, data: Any, results: Any, count: int) -> None:
    """Either is returned as a value."""
    research_cache(cache, "store", cache_type="x", query="q", data=data)
    reply = look_up(cache, "q", "x")
    assert (reply.results, reply.count) == (results, count)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('{"a": 1,}', "line 1, column"),
        ("[\n1,\n2", "line 3"),
        ("plain text", "quotation marks"),
        ("", "line 1, column 1"),
        ("NaN", "not JSON"),
        ("[" * 5_000, "not JSON"),
        ('"\\ud800"', "not JSON"),
        ('"\\u0000"', "NUL"),
        ("[]", "nothing to store"),
        ("null", "nothing to store"),
        (None, "nothing to store"),
        ({}, "nothing to store"),
        (float("nan"), "not a JSON number"),
        (b"[]", "not a JSON value"),
        ("x" * (2**24 + 1), "too much"),
    ],
)
def test_data_that_cannot_be_stored_is_refused(cache: Cache, data: Any, message: str) -> None:
    """The error has one line with reason and place; nothing is stored."""
    with pytest.raises(InvalidInput, match=message) as caught:
        research_cache(cache, "store", cache_type="x", query="q", data=data)
    assert len(str(caught.value)) < 300
    assert not look_up(cache, "q", "x").found


def test_the_newest_queries_are_listed(cache: Cache, clock: FakeClock) -> None:
    """All types, or one; with count, age, author, and whether they have expired."""
    research_cache(cache, "store", cache_type="web_fetch", query="https://example.org/A", data={"text": "t"})
    clock.advance(2 * HOUR)
    store_jobs(cache, created_by="ada")
    listed = research_cache(cache, "list_recent")
    assert (listed.found, listed.count) == (True, 2)
    assert [msgspec.to_builtins(entry) for entry in listed.entries] == [
        {"query": STORED, "cache_type": "job_search", "count": 2, "age": "just now", "stale": False,
         "created_by": "ada"},
        {"query": "https://example.org/A", "cache_type": "web_fetch", "count": 1, "age": "2h ago", "stale": True,
         "created_by": None},
    ]  # fmt: skip
    assert [e.cache_type for e in research_cache(cache, "list_recent", cache_type="web_fetch").entries] == ["web_fetch"]
    assert len(research_cache(cache, "list_recent", limit=1).entries) == 1
    nothing = research_cache(cache, "list_recent", cache_type="other")
    assert (nothing.found, nothing.note) == (False, "nothing of other is cached")


@pytest.mark.parametrize("action", ["", "delete", "LOOKUP", "list_recent ", "x" * 10_000, None])
def test_an_unknown_action_is_refused_naming_the_three(cache: Cache, action: Any) -> None:
    """Any other value."""
    with pytest.raises(InvalidInput, match="lookup, store, list_recent") as caught:
        research_cache(cache, action, cache_type="x", query="q")
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "arguments",
    [
        {"action": "lookup", "query": "q"},
        {"action": "lookup", "cache_type": "x"},
        {"action": "lookup", "cache_type": "no type", "query": "q"},
        {"action": "store", "query": "q", "data": [1]},
        {"action": "store", "cache_type": "x", "query": " ", "data": [1]},
        {"action": "store", "cache_type": "x", "query": "q", "data": [1], "ttl_hours": -1},
        {"action": "list_recent", "limit": 0},
        {"action": "list_recent", "cache_type": "no type"},
    ],
)
def test_unusable_arguments_are_refused(cache: Cache, arguments: dict[str, Any]) -> None:
    """By a typed error."""
    with pytest.raises(InvalidInput):
        research_cache(cache, **arguments)


def test_every_reply_is_json(cache: Cache, clock: FakeClock) -> None:
    """So that any surface can send it."""
    replies = [look_up(cache, "q"), store_jobs(cache), look_up(cache, STORED), research_cache(cache, "list_recent")]
    clock.advance(2 * DAY)
    for reply in (*replies, look_up(cache, STORED)):
        assert msgspec.json.decode(msgspec.json.encode(reply), type=ToolReply) == reply


def test_a_cache_that_is_not_read_finds_nothing(store: Store) -> None:
    """As for other kinds."""
    store_jobs(Cache(store))
    assert not look_up(Cache(store, policy=Policy(read=False)), STORED).found


# --- one request


def test_an_entry_is_handed_out_once_in_a_request(cache: Cache) -> None:
    """The second lookup is marked as seen; the next request gets the entry again."""
    store_jobs(cache)
    for _ in range(2):
        with request_scope():
            assert look_up(cache, STORED).results == JOBS
            again = look_up(cache, f" {STORED.upper()} ")
            assert (again.found, again.seen, again.results, again.count) == (True, True, None, 2)
            assert again.note.startswith("already seen in this request")
    assert [look_up(cache, STORED).seen for _ in range(2)] == [False, False], "without a request nothing is held back"


def test_an_entry_found_by_meaning_is_the_same_entry(cache: Cache) -> None:
    """The row that answers counts, not the words of the query."""
    store_jobs(cache)
    with request_scope():
        assert look_up(cache, ASKED).results == JOBS
        assert look_up(cache, STORED).seen


def test_a_miss_is_not_seen(cache: Cache) -> None:
    """An entry that another agent stores meanwhile is handed out."""
    with request_scope():
        assert not look_up(cache, STORED).found
        cache.tools.put("job_search", STORED, JOBS)
        assert look_up(cache, STORED).results == JOBS


def test_entries_that_the_agent_stored_count_as_seen(cache: Cache) -> None:
    """Results are not repeated."""
    with request_scope():
        store_jobs(cache)
        assert look_up(cache, STORED).seen


def test_listing_hands_nothing_out(cache: Cache) -> None:
    """A query that was listed can still be looked up."""
    store_jobs(cache)
    with request_scope():
        research_cache(cache, "list_recent")
        assert look_up(cache, STORED).results == JOBS


def test_tenants_share_nothing_of_a_request(store: Store, clock: FakeClock) -> None:
    """Even if two are served in one scope."""
    one, two = (Cache(store, clock=clock, tenant=tenant) for tenant in ("one", "two"))
    for cache in (one, two):
        store_jobs(cache)
    with request_scope():
        assert look_up(one, STORED).results == JOBS
        assert look_up(two, STORED).results == JOBS
        assert look_up(one, STORED).seen


def test_a_nested_request_is_a_separate_one(cache: Cache) -> None:
    """The outer one continues unchanged."""
    store_jobs(cache)
    with request_scope():
        look_up(cache, STORED)
        with request_scope():
            assert not look_up(cache, STORED).seen
        assert look_up(cache, STORED).seen


def test_a_request_ends_with_its_scope_also_by_an_error(cache: Cache) -> None:
    """Nothing remains for the next one."""
    store_jobs(cache)

    @request_scope()
    def fails() -> None:
        look_up(cache, STORED)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert not look_up(cache, STORED).seen


def test_a_request_can_be_continued(cache: Cache) -> None:
    """With the keys that it has seen: over several calls, and in other threads."""
    store_jobs(cache)
    mine = Seen()
    with request_scope(mine) as seen:
        assert seen is mine
        assert not look_up(cache, STORED).seen

    def later() -> bool:
        with request_scope(mine):
            return look_up(cache, STORED).seen

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(later).result()
    assert len(mine) == 1


def test_one_of_fifty_threads_gets_the_entry(cache: Cache) -> None:
    """All within one request, at the same moment."""
    store_jobs(cache)
    together = threading.Barrier(50)

    def one(context: contextvars.Context) -> ToolReply:
        together.wait(60)
        return context.run(look_up, cache, STORED)

    with request_scope(), ThreadPoolExecutor(50) as pool:
        contexts = [contextvars.copy_context() for _ in range(50)]
        replies = list(pool.map(one, contexts))
    assert sum(reply.results == JOBS for reply in replies) == 1
    assert sum(reply.seen for reply in replies) == 49


def test_one_of_fifty_tasks_gets_the_entry_and_other_requests_are_separate(cache: Cache) -> None:
    """Tasks that begin within a request share it; requests that run at the same time do not."""
    store_jobs(cache)

    async def turn() -> int:
        with request_scope():
            replies = await asyncio.gather(*(asyncio.to_thread(look_up, cache, STORED) for _ in range(50)))
        return sum(not reply.seen for reply in replies)

    async def turns() -> list[int]:
        return await asyncio.gather(turn(), turn(), turn())

    assert asyncio.run(turns()) == [1, 1, 1]


def test_a_request_remembers_a_limited_number_of_keys(cache: Cache) -> None:
    """A request that never ends does not fill the memory: the oldest keys are forgotten."""
    with request_scope():
        assert all(is_first("t", str(number)) for number in range(MAX_SEEN + 1))
        assert not is_first("t", str(MAX_SEEN))
        assert not is_first("t", "1")
        assert is_first("t", "0")
