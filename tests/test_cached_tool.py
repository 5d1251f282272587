"""`@cached_tool`: cached functions, sync and async."""

import asyncio
import contextvars
import functools
import inspect
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.cache import Cache, Policy, research_cache
from harness.core.freshness import DAY, HOUR
from harness.errors import InvalidInput, OfflineMiss
from harness.tools import cached_tool, close_default_app, default_app
from tests.cache.stand_ins import semantic_cache, wait_until_all_wait
from tests.fakes import FakeClock

STORED, ASKED = "semantic cache false positives", "false positives semantic cache"
DEADLINE = 60


@pytest.fixture
def cache(store: Any, clock: FakeClock) -> Cache:
    """A cache that answers by meaning."""
    return semantic_cache(store, clock=clock)


class Calls(list[Any]):
    """Arguments of the calls of a tool. It returns the number of the call, or raises `error`."""

    error: BaseException | None = None

    def note(self, *arguments: Any) -> dict[str, Any]:
        """Note one call."""
        self.append(arguments)
        if self.error is not None:
            raise self.error
        return {"call": len(self), "of": arguments}


@pytest.fixture
def calls() -> Calls:
    """The calls of the tool under test."""
    return Calls()


# --- sync


def test_a_function_runs_once_for_one_query(cache: Cache, calls: Calls) -> None:
    """In any case, and for queries that mean the same; live and cached results have the same JSON form."""

    @cached_tool("job_search", cache=cache)
    def jobs(query: str, limit: int = 10) -> dict[str, Any]:
        """Search for jobs."""
        return calls.note(query, limit)

    first = jobs(STORED)
    assert first == {"call": 1, "of": [STORED, 10]}
    assert [jobs(STORED.upper()), jobs(query=STORED), jobs(STORED, 10), jobs(ASKED)] == [first] * 4
    assert calls == [(STORED, 10)]
    assert (jobs.__name__, jobs.__doc__) == ("jobs", "Search for jobs.")


def test_other_arguments_are_another_call(cache: Cache, calls: Calls) -> None:
    """All of them count, exactly, however they are passed; their case counts, too."""

    @cached_tool("job_search", cache=cache)
    def jobs(query: str, limit: int = 10, *more: Any, **options: Any) -> dict[str, Any]:
        return calls.note(query, limit, more, options)

    asked = [
        lambda: jobs("q"), lambda: jobs("q", 5), lambda: jobs("Q", 5), lambda: jobs("q", True), lambda: jobs("q", 5, 6),
        lambda: jobs("q", 5, city="Bonn"), lambda: jobs("q", 5, city="bonn"),
    ]  # fmt: skip
    numbers = [ask()["call"] for ask in asked]
    assert numbers == [1, 2, 3, 4, 5, 6, 7]
    assert [ask()["call"] for ask in asked] == numbers
    assert jobs(limit=5, query="q")["call"] == 2


def test_a_text_for_another_parameter_is_not_the_query(cache: Cache, calls: Calls) -> None:
    """A text that looks like arguments is not the query either."""

    @cached_tool("x", cache=cache)
    def tool(a: str = "", b: str = "") -> dict[str, Any]:
        return calls.note(a, b)

    assert tool("q")["call"] == 1
    assert tool(b="q")["call"] == 2
    assert tool('{"a":"","b":"q"}')["call"] == 3
    assert tool()["call"] == 4
    assert tool("")["call"] == 4


def test_an_address_is_looked_up_exactly(cache: Cache, calls: Calls) -> None:
    """In any spelling; the case of its path counts."""

    @cached_tool("web_fetch", cache=cache)
    def fetch(url: str) -> dict[str, Any]:
        return calls.note(url)

    assert [fetch(url)["call"] for url in ("https://a.example/B", "HTTPS://A.example/B/", "https://a.example/b")] == [
        1,
        1,
        2,
    ]


def test_exact_calls_match_letter_by_letter(cache: Cache, calls: Calls) -> None:
    """For tools whose argument is no question."""

    @cached_tool("translate", exact=True, cache=cache)
    def translate(text: str) -> dict[str, Any]:
        return calls.note(text)

    assert [translate(text)["call"] for text in (STORED, ASKED, STORED.title(), STORED)] == [1, 2, 3, 1]


@pytest.mark.parametrize("text", ["", "  ", "word " * 3_000, "x" * 1_000_000], ids=["none", "blank", "long", "huge"])
def test_any_text_can_be_an_argument(cache: Cache, calls: Calls, text: str) -> None:
    """Even one that is not a query: all of it is in the key."""

    @cached_tool("x", cache=cache)
    def tool(text: str) -> int:
        return int(calls.note(len(text))["call"])

    assert [tool(text), tool(text), tool(f"{text}!")] == [1, 1, 2]
    assert max(len(entry.query) for entry in cache.tools.recent()) <= 10_000


def test_the_row_has_the_arguments(cache: Cache) -> None:
    """Arguments as parameters; an agent finds what a tool has stored."""

    @cached_tool("job_search", cache=cache)
    def jobs(topic: str, limit: int = 10) -> list[str]:
        return [topic]

    jobs("a", 5)
    assert cache.tools.recent()[0].params == {"limit": 5, "topic": "a"}
    jobs(STORED)
    assert research_cache(cache, "lookup", cache_type="job_search", query=ASKED).results == [STORED]


@pytest.mark.parametrize(("lifetime", "seconds"), [({}, HOUR), ({"ttl": 90}, 90), ({"ttl_hours": 0.5}, HOUR / 2)])
def test_a_lifetime_can_be_given(
    cache: Cache, clock: FakeClock, calls: Calls, lifetime: dict[str, float], seconds: float
) -> None:
    """In seconds or hours; else it is the type's."""

    @cached_tool("web_fetch", cache=cache, **lifetime)
    def tool(query: str) -> dict[str, Any]:
        return calls.note(query)

    tool("q")
    clock.advance(seconds - 1)
    assert tool("q")["call"] == 1
    clock.advance(1)
    assert tool("q")["call"] == 2


@pytest.mark.parametrize(
    "wrong",
    [{"ttl": 0}, {"ttl": True}, {"ttl_hours": -1}, {"ttl_hours": "24"}, {"ttl": 60, "ttl_hours": 1},
     {"cache_type": "no type"}, {"cache_type": None}],
)  # fmt: skip
def test_an_unusable_decoration_is_refused_at_once(wrong: dict[str, Any]) -> None:
    """Not at the first call."""
    with pytest.raises(InvalidInput):
        cached_tool(**{"cache_type": "x", **wrong})


def test_a_refresh_calls_again_and_stores_the_results(cache: Cache, clock: FakeClock, calls: Calls) -> None:
    """The next call gets them."""

    @cached_tool("x", cache=cache)
    def tool(query: str) -> dict[str, Any]:
        return calls.note(query)

    tool("q")
    clock.advance(1)
    assert tool.refresh("q")["call"] == 2
    assert tool("q")["call"] == 2


def test_exceptions_and_empty_results_are_not_cached(cache: Cache, calls: Calls) -> None:
    """The very exception passes through; the next call asks again."""
    found: list[Any] = []

    @cached_tool("x", cache=cache)
    def tool(query: str) -> list[Any]:
        calls.note(query)
        return found

    calls.error = ConnectionError("down")
    with pytest.raises(ConnectionError) as caught:
        tool("q")
    assert caught.value is calls.error
    calls.error = None
    assert tool("q") == []
    found.append(1)
    assert [tool("q"), tool("q")] == [[1], [1]]
    assert len(calls) == 3


def test_arguments_that_are_not_json_are_refused_by_name(cache: Cache) -> None:
    """The `self` of a function in a class is such an argument."""

    class Searcher:
        @cached_tool("x", cache=cache)
        def search(self, query: str) -> list[str]:
            return [query]

        def plain(self, query: str) -> list[str]:
            return [query]

    with pytest.raises(InvalidInput, match=r"argument of .*Searcher.search cannot be stored: a Searcher"):
        Searcher().search("q")  # type: ignore[call-arg, arg-type]
    assert cached_tool("x", cache=cache)(Searcher().plain)("q") == ["q"]


def test_a_result_without_a_json_form_is_returned_and_not_cached(
    cache: Cache, caplog: pytest.LogCaptureFixture
) -> None:
    """The very object, sync and async, with one warning that names the function."""
    found = object()

    @cached_tool("x", cache=cache)
    def opaque(query: str) -> object:
        return found

    @cached_tool("x", cache=cache)
    async def unsync(query: str) -> object:
        return found

    assert all(opaque(query) is found for query in ("q", "q", "p"))
    assert asyncio.run(unsync("q")) is found
    assert caplog.text.count("<locals>.opaque is returned but not cached: object has no JSON form") == 1
    assert caplog.text.count("<locals>.unsync is returned but not cached") == 1
    assert cache.tools.recent() == []


@dataclass
class Job:
    """A result as tools return them."""

    title: str
    pay: Any
    posted: date


def test_a_result_with_an_obvious_json_form_is_cached_in_it(cache: Cache, calls: Calls) -> None:
    """A generator of dataclasses with a numpy number: the same lists and dicts on the miss and on the hit."""

    @cached_tool("job_search", cache=cache)
    def jobs(query: str) -> Iterator[Job]:
        calls.note(query)
        return (Job(title, np.float32(1.5), date(2026, 11, 22)) for title in ("a", "b"))

    first, second = jobs("q"), jobs("q")
    assert first == second == [{"title": title, "pay": 1.5, "posted": "2026-11-22"} for title in ("a", "b")]
    assert len(calls) == 1


def test_wrong_calls_are_the_functions_own_errors(cache: Cache) -> None:
    """With the messages of Python."""

    @cached_tool("x", cache=cache)
    def tool(query: str) -> list[str]:
        return [query]

    with pytest.raises(TypeError, match="missing a required argument: 'query'"):
        tool()  # type: ignore[call-arg]


def test_generators_are_refused(cache: Cache) -> None:
    """Generators, sync and async, when they are decorated."""

    def sync() -> Iterator[int]:
        yield 1

    async def unsync() -> Any:
        yield 1

    for function in (sync, unsync):
        with pytest.raises(InvalidInput, match="yields"):
            cached_tool("x", cache=cache)(function)


def test_offline_only_the_cache_answers(store: Any, calls: Calls) -> None:
    """Cached results, and an error for others; async, too."""
    tools = []
    for cache in (Cache(store), Cache(store, policy=Policy(offline=True))):

        @cached_tool("x", cache=cache)
        def tool(query: str) -> dict[str, Any]:
            return calls.note(query)

        @cached_tool("x", cache=cache)
        async def unsync(query: str) -> dict[str, Any]:
            return calls.note(query)

        tools.append((tool, unsync))
    (online, _), (offline, unsync_offline) = tools
    assert online("q") == offline("q") == asyncio.run(unsync_offline("q"))
    with pytest.raises(OfflineMiss):
        offline("p")
    with pytest.raises(OfflineMiss):
        asyncio.run(unsync_offline("p"))
    assert len(calls) == 1


def test_of_many_threads_one_runs(cache: Cache, calls: Calls) -> None:
    """Eight calls, one execution."""
    may = threading.Event()

    @cached_tool("x", cache=cache)
    def tool(query: str) -> dict[str, Any]:
        assert may.wait(DEADLINE)
        return calls.note(query)

    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(tool, "q") for _ in range(8)]
        wait_until_all_wait(cache, 8)
        may.set()
        assert [each.result()["call"] for each in asked] == [1] * 8


# --- async


def test_an_async_function_stays_one(cache: Cache, calls: Calls) -> None:
    """It runs on the loop of its caller, in the caller's context; the cached answer is awaited, too."""
    where = contextvars.ContextVar("where", default="nowhere")
    threads = []

    @cached_tool("x", cache=cache)
    async def tool(query: str) -> dict[str, Any]:
        await asyncio.sleep(0)
        threads.append(threading.current_thread())
        return calls.note(query, where.get())

    async def use() -> list[Any]:
        where.set("here")
        return [await tool(STORED), await tool(STORED), await tool(ASKED)]

    assert inspect.iscoroutinefunction(tool)
    assert asyncio.run(use()) == [{"call": 1, "of": [STORED, "here"]}] * 3
    assert threads == [threading.main_thread()]


def test_of_many_tasks_one_runs(cache: Cache, calls: Calls) -> None:
    """Eight concurrent calls, one execution, and the loop is free meanwhile; other arguments run at the same time."""

    @cached_tool("x", cache=cache)
    async def tool(query: str) -> dict[str, Any]:
        await asyncio.sleep(0.2)
        return calls.note(query)

    async def use() -> tuple[list[Any], int]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.01)

        ticking = asyncio.create_task(tick())
        found = await asyncio.gather(*(tool("q") for _ in range(8)), tool("p"))
        ticking.cancel()
        return found, ticks

    found, ticks = asyncio.run(use())
    assert sorted(calls) == [("p",), ("q",)]
    assert [each["of"] for each in found] == [["q"]] * 8 + [["p"]]
    assert ticks >= 3


def test_loops_in_several_threads_run_it_once(cache: Cache, calls: Calls) -> None:
    """Each thread has another loop."""

    @cached_tool("x", cache=cache)
    async def tool(query: str) -> dict[str, Any]:
        await asyncio.sleep(0.2)
        return calls.note(query)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: asyncio.run(tool("q")), range(4)))
    assert len(calls) == 1
    assert found == [{"call": 1, "of": ["q"]}] * 4


def test_an_error_reaches_every_task_and_no_later_call(cache: Cache, calls: Calls) -> None:
    """The very exception; the next call runs again."""

    @cached_tool("x", cache=cache)
    async def tool(query: str) -> dict[str, Any]:
        await asyncio.sleep(0.05)
        return calls.note(query)

    async def use() -> list[Any]:
        return await asyncio.gather(*(tool("q") for _ in range(4)), return_exceptions=True)

    calls.error = ConnectionError("down")
    assert asyncio.run(use()) == [calls.error] * 4
    calls.error = None
    assert asyncio.run(tool("q"))["call"] == 2


@pytest.mark.slow
def test_many_that_need_threads_do_not_starve_each_other(cache: Cache) -> None:
    """Tools that call cached tools, more at once than a pool has threads."""

    @cached_tool("inner", cache=cache)
    async def inner(query: str) -> list[str]:
        return await asyncio.to_thread(lambda: [query])

    @cached_tool("outer", cache=cache)
    async def outer(query: str) -> list[str]:
        return await inner(query)

    async def use() -> list[Any]:
        return await asyncio.wait_for(asyncio.gather(*(outer(f"q{n}") for n in range(60))), DEADLINE)

    assert asyncio.run(use()) == [[f"q{n}"] for n in range(60)]


def test_one_of_many_can_be_cancelled(cache: Cache, calls: Calls) -> None:
    """The others get their answer."""

    @cached_tool("x", cache=cache)
    async def tool(query: str) -> dict[str, Any]:
        await asyncio.sleep(0.2)
        return calls.note(query)

    async def use() -> list[Any]:
        first, second = asyncio.create_task(tool("q")), asyncio.create_task(tool("q"))
        await asyncio.sleep(0.1)
        first.cancel()
        return await asyncio.gather(first, second, return_exceptions=True)

    cancelled, answered = asyncio.run(use())
    assert isinstance(cancelled, asyncio.CancelledError)
    assert answered["call"] == 1


def test_when_all_are_cancelled_the_function_is(cache: Cache) -> None:
    """It does not run on in the background; the next call runs it again."""
    ends = []

    @cached_tool("x", cache=cache)
    async def tool(query: str, seconds: float) -> str:
        try:
            await asyncio.sleep(60 if not ends else 0)
        except asyncio.CancelledError:
            ends.append("cancelled")
            raise
        return "done"

    async def use() -> str:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(tool("q", 1.0), 0.2)
        await asyncio.sleep(0.05)
        return await tool("q", 1.0)

    assert asyncio.run(use()) == "done"
    assert ends == ["cancelled"]


def test_an_async_refresh_calls_again(cache: Cache, clock: FakeClock, calls: Calls) -> None:
    """Many at once call once."""

    @cached_tool("x", cache=cache)
    async def tool(query: str) -> dict[str, Any]:
        await asyncio.sleep(0.05)
        return calls.note(query)

    async def use() -> list[Any]:
        await tool("q")
        clock.advance(1)
        return [*await asyncio.gather(*(tool.refresh("q") for _ in range(4))), await tool("q")]

    assert [each["call"] for each in asyncio.run(use())] == [2] * 5


# --- the cache of the settings


def test_the_default_cache_is_that_of_the_settings(calls: Calls, tmp_path: Path) -> None:
    """Opened at the first call, shared with `search_cache`, and found again after it was closed."""

    @cached_tool("job_search")
    def tool(query: str) -> dict[str, Any]:
        return calls.note(query)

    @cached_tool("job_search")
    async def unsync(query: str) -> dict[str, Any]:
        return calls.note(query)

    database = tmp_path / "data" / "harness.db"
    assert not database.exists()
    assert tool("q")["call"] == 1
    assert database.exists()
    close_default_app()
    assert (tool("q")["call"], asyncio.run(unsync("q"))["call"]) == (1, 1)
    entry = default_app().cache.tools.recent()[0]
    assert (entry.created_by, entry.expires_at - entry.created_at) == (None, DAY)


def test_the_lifetimes_of_the_settings_count(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    """New types need no code."""
    monkeypatch.setenv("HARNESS_TOOL_TTL_HOURS", "my_type=2")
    cached_tool("my_type")(functools.partial(calls.note))("q")
    entry = default_app().cache.tools.recent()[0]
    assert entry.expires_at - entry.created_at == 2 * HOUR
