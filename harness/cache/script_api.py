"""Cache for scripts: the functions that the module `search_cache` offers."""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, overload

from msgspec import structs

from harness.cache.researches import ResearchContext
from harness.cache.search_results import checked_max_results
from harness.cache.searches import Results
from harness.cache.service import Cache
from harness.core.entries import Hit
from harness.core.freshness import DEFAULT_TTL, checked_ttl
from harness.core.keys import DEFAULT_ENGINE, search_key
from harness.errors import InvalidInput

if TYPE_CHECKING:  # asyncio takes 30 ms to import
    from typing import Protocol, TypeAlias, TypeVar

    from _typeshed import DataclassInstance

    from harness.cache.async_flight import Await, Flights
    from harness.cache.lookup import Answer

    class Model(Protocol):
        """A pydantic model."""

        def model_dump(self, *, mode: str) -> Any:
            """Return it as JSON values."""

    Simple: TypeAlias = str | float | DataclassInstance | Model
    Other: TypeAlias = Simple | Iterable[Simple]
    """Other results with an obvious JSON form."""
    Record: TypeAlias = Mapping[str, Any]
    Records: TypeAlias = Iterable[Record]
    T = TypeVar("T")
    Sync: TypeAlias = Callable[..., T]
    Async: TypeAlias = Callable[..., T | Awaitable[T]]


class ScriptCache:
    """Cache for scripts. `open_cache` returns the cache; it is called each time, so that it may be closed between."""

    def __init__(self, open_cache: Callable[[], Cache]) -> None:
        self._cache = open_cache
        self._flights: Flights[tuple[str, int]] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle it without its running calls: bound methods are passed to other processes."""
        return ScriptCache, (self._cache,)

    @overload
    def cached_search(
        self, query: str, search_fn: "Sync[str]", ttl: float = ..., max_results: int = ..., *, engine: str = ...
    ) -> str: ...
    @overload
    def cached_search(
        self, query: str, search_fn: "Sync[Record]", ttl: float = ..., max_results: int = ..., *, engine: str = ...
    ) -> dict[str, Any]: ...
    @overload
    def cached_search(
        self, query: str, search_fn: "Sync[Records]", ttl: float = ..., max_results: int = ..., *, engine: str = ...
    ) -> Results: ...
    @overload
    def cached_search(
        self, query: str, search_fn: "Sync[Other]", ttl: float = ..., max_results: int = ..., *, engine: str = ...
    ) -> Any: ...
    def cached_search(
        self,
        query: str,
        search_fn: Callable[..., object],
        ttl: float = DEFAULT_TTL,
        max_results: int = 10,
        *,
        engine: str = DEFAULT_ENGINE,
    ) -> Any:
        """Return the cached results of `query`, else those of `search_fn(query, max_results)`, which are then cached.

        `search_fn` usually returns a list of dicts; a text, a dict or any other JSON value works, too. A result is
        returned in its JSON form, hit or miss: tuples and generators as lists, dataclasses and pydantic models as
        dicts, numpy numbers as numbers. A result without a JSON form (a data frame, bytes, NaN) is returned as it is
        and not cached, with one warning for each function. An empty result is returned and not cached.

        A function with a parameter `max_results`, or with `**kwargs` alone, gets the number by that name; one that
        takes only a query gets only the query. So `cached_search("a query", DDGS().text)` works.

        If the function fails, results that expired less than `stale_if_error` seconds ago (a setting, by default a day)
        are returned, with a warning in the log. Otherwise its exception passes through; a mistake in code (such as a
        TypeError) always does.

        All callers that name the same `engine` share results, including `harness search`. Name another engine for a
        function that does not search DuckDuckGo, or does not return a list of dicts. `ttl` is in seconds.

        Raises:
            InvalidInput: an unusable query, `ttl` or `max_results`, or an async function.
            StoreError: the cache cannot be opened or read.
        """
        compute = partial(_result, search_fn)
        name = function_name(search_fn)
        searches = self._cache().searches
        return searches.answer(query, compute, function=name, ttl=ttl, max_results=max_results, engine=engine).value

    @overload
    async def acached_search(
        self, query: str, search_fn: "Async[str]", ttl: float = ..., max_results: int = ..., *, engine: str = ...
    ) -> str: ...
    @overload
    async def acached_search(
        self, query: str, search_fn: "Async[Record]", ttl: float = ..., max_results: int = ..., *, engine: str = ...
    ) -> dict[str, Any]: ...
    @overload
    async def acached_search(
        self, query: str, search_fn: "Async[Records]", ttl: float = ..., max_results: int = ..., *, engine: str = ...
    ) -> Results: ...
    @overload
    async def acached_search(
        self, query: str, search_fn: "Async[Other]", ttl: float = ..., max_results: int = ..., *, engine: str = ...
    ) -> Any: ...
    async def acached_search(
        self,
        query: str,
        search_fn: Callable[..., object],
        ttl: float = DEFAULT_TTL,
        max_results: int = 10,
        *,
        engine: str = DEFAULT_ENGINE,
    ) -> Any:
        """Do the same as `cached_search`, but never block the event loop; `search_fn` may be async or not.

        An async function runs on the loop of the caller, another one in a thread. Of all tasks, threads and processes
        that ask the same at the same time, one calls its function. A task that is cancelled, or times out, does not
        stop that call: its result is still stored. (An async function ends with its loop.)

        Raises:
            InvalidInput, StoreError: see `cached_search`.
        """
        from harness.cache.async_flight import Flights, in_a_thread

        key = (search_key(query, engine), checked_max_results(max_results))
        checked_ttl(ttl)
        self._flights = self._flights or Flights()

        def work(wait: "Await") -> "Answer[Any]":
            compute = partial(_result, search_fn, wait=wait)
            name = function_name(search_fn)
            searches = self._cache().searches
            return searches.answer(query, compute, function=name, ttl=ttl, max_results=max_results, engine=engine)

        begin = partial(in_a_thread, work, daemon=inspect.iscoroutinefunction(search_fn))
        answer = await self._flights.run(key, begin, copy=lambda found: found.copied(), goes_on=True)
        return answer.value

    def get(self, query: str) -> Any:
        """Return the cached results of `query` if they are fresh, however many were asked for, else `None`.

        They are a list of dicts, or whatever else the function returned that was passed to `cached_search`.

        Raises:
            InvalidInput: an unusable query.
            StoreError: the cache cannot be opened or read.
        """
        outcome = self._cache().searches.find(query, function="get")
        return outcome.value if isinstance(outcome, Hit) else None

    async def aget(self, query: str) -> Any:
        """Call `get` in a thread, so that the event loop goes on."""
        import asyncio

        return await asyncio.to_thread(self.get, query)

    def put(self, query: str, results: Iterable[Mapping[str, Any]], ttl: float = DEFAULT_TTL) -> bool:
        """Cache `results` for `ttl` seconds; return whether they were stored: an empty list is not.

        Raises:
            InvalidInput: an unusable query, `ttl` or result.
            StoreError: the cache cannot be opened or written.
        """
        return self._cache().searches.put(query, results, ttl=ttl)

    async def aput(self, query: str, results: Iterable[Mapping[str, Any]], ttl: float = DEFAULT_TTL) -> bool:
        """Call `put` in a thread, so that the event loop goes on."""
        import asyncio

        return await asyncio.to_thread(self.put, query, results, ttl)

    def get_research(self, task: str, task_type: str) -> dict[str, Any] | None:
        """Return a cached research (`task`, `task_type`, `context`, `search_rounds`, `novelty_scores`), else `None`.

        It always uses the research cache: `RESEARCH_CACHE` only applies to `harness research`.

        Raises:
            InvalidInput: an unusable task.
            StoreError: the cache cannot be opened or read.
        """
        outcome = self._cache().researches.find(task, task_type)
        if not isinstance(outcome, Hit):
            return None
        return {"task": outcome.query, "task_type": task_type.lower(), **structs.asdict(outcome.value)}

    def put_research(
        self,
        task: str,
        task_type: str,
        context: str,
        search_rounds: int | Sequence[Any],
        novelty_scores: Sequence[float],
        ttl: float = DEFAULT_TTL,
    ) -> bool:
        """Cache the gathered `context` of a task for `ttl` seconds; return whether it was stored: an empty one is not.

        `search_rounds` is their number, or a list of any JSON values; `novelty_scores` has one number for each round.

        Raises:
            InvalidInput: an unusable task, `ttl` or context, or values that are not JSON.
            StoreError: the cache cannot be opened or written.
        """
        if not isinstance(search_rounds, (int, list, tuple)) or not isinstance(novelty_scores, (list, tuple)):
            raise InvalidInput("search_rounds is a number or a list, and novelty_scores a list of numbers")
        if not all(isinstance(each, (int, float)) for each in novelty_scores):
            raise InvalidInput("novelty_scores has one number for each round")
        research = ResearchContext(context, search_rounds, list(novelty_scores))
        return self._cache().researches.put(task, task_type, research, ttl=ttl)


def function_name(function: object) -> str:
    """Return the name of a function, for messages."""
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def _result(search_fn: Callable[..., Any], query: str, max_results: int, *, wait: "Await | None" = None) -> Any:
    """Call a search function as its signature allows; `wait` awaits an async one.

    Raises:
        InvalidInput: it is async, and there is no `wait`.
        Exception: whatever it raises.
    """
    number, named = _number_arguments(search_fn, max_results)
    result = search_fn(query, *number, **named)
    if not inspect.isawaitable(result):
        return result
    if wait is not None:
        return wait(result)
    if inspect.iscoroutine(result):
        result.close()
    raise InvalidInput(f"{function_name(search_fn)} is async; await acached_search instead of calling cached_search")


def _number_arguments(search_fn: Callable[..., Any], max_results: int) -> tuple[tuple[int, ...], dict[str, int]]:
    """Return the positional and the named arguments that pass `max_results` to a function."""
    try:
        parameters = inspect.signature(search_fn).parameters
    except (TypeError, ValueError):  # built in, or not a function at all: then the call fails
        return (max_results,), {}
    kinds = {each.kind for each in parameters.values()}
    known = parameters.get("max_results")
    if known is not None and known.kind in {known.POSITIONAL_OR_KEYWORD, known.KEYWORD_ONLY}:
        return (), {"max_results": max_results}
    by_position = [each for each in parameters.values() if each.kind in _BY_POSITION]
    if _VARIABLE in kinds or (len(by_position) > 1 and _may_be_number(by_position[1].default)):
        return (max_results,), {}
    return (), {"max_results": max_results} if inspect.Parameter.VAR_KEYWORD in kinds else {}


_BY_POSITION = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
_VARIABLE = inspect.Parameter.VAR_POSITIONAL


def _may_be_number(default: object) -> bool:
    """Return whether a parameter with this default can be the number of results; with a text it cannot."""
    return default is inspect.Parameter.empty or default is None or type(default) is int
