"""`@cached_tool`: a decorator that caches the results of a tool, sync or async.

@cached_tool("job_search")
def search_jobs(query: str, limit: int = 10) -> list[dict[str, Any]]:
    ...

search_jobs("python jobs in Berlin")            # calls the function, and caches the results for 24 hours
search_jobs("jobs in Berlin for Python")        # means the same: answered from the cache
search_jobs.refresh("python jobs in Berlin")    # calls the function again
"""

import asyncio
import atexit
import inspect
import threading
from collections.abc import Callable, Mapping
from functools import partial, wraps
from hashlib import sha256
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from harness.app import App
from harness.cache import Answer, Cache
from harness.cache.async_flight import Await, Flights, in_a_thread
from harness.cache.json_values import encoded
from harness.cache.lookup_request import MAX_TEXT
from harness.cache.script_api import function_name
from harness.core.entries import Hit
from harness.core.freshness import HOUR, checked_ttl, seconds_of
from harness.core.keys import MAX_QUERY_CHARS, checked_cache_type, in_words, is_url, tool_key
from harness.core.text import shorten
from harness.errors import InvalidInput
from harness.settings import load
from harness.storage.forks import free_in_child

P = ParamSpec("P")
T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class CachedTool(Protocol[P, T_co]):
    """A function whose results are cached. `refresh` calls it in any case, and caches the new results."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T_co:
        """Return the results, from the cache if they are there."""

    def refresh(self, *args: P.args, **kwargs: P.kwargs) -> T_co:
        """Call the function; return the results, and cache them in place of older ones."""


def cached_tool(
    cache_type: str,
    *,
    ttl_hours: float | None = None,
    ttl: float | None = None,
    exact: bool = False,
    cache: Cache | None = None,
) -> Callable[[Callable[P, T]], CachedTool[P, T]]:
    """Return a decorator that caches the results of a function. An async function stays one.

    Functions of one `cache_type` share their results. A call whose only argument is a text for the first parameter is
    looked up as a query: its case does not matter, and a query that means the same may answer, except for web
    addresses. Any other call is looked up by all its arguments, defaults included, exactly; with `exact` every call is.
    Results live as long as the setting `tool_ttl_hours` says, or `ttl_hours`, or `ttl` seconds. Of all calls that ask
    the same at once, in threads, tasks and processes, one runs. Arguments are JSON values. Results are returned in
    their JSON form, hit or miss (see `json_form`): a tuple as a list, a dataclass as a dict. One without a JSON form is
    returned as it is and not cached, with one warning for each function. Empty results are not cached. Wrap functions
    and bound methods: the `self` of others is not JSON. `cache` replaces the cache of the settings, which is opened at
    the first call.

    If the function fails, a result that expired less than `stale_if_error` seconds ago (a setting, by default a day;
    the policy of a given `cache`) is served, with a warning in the log. A mistake in code, such as a TypeError, is not
    such a failure. Otherwise the function's own exceptions pass through; besides them a call raises:
        InvalidInput: arguments that are not JSON values, or too long.
        OfflineMiss: offline, and nothing is cached.
        StoreError: the cache cannot be opened or read.

    Raises:
        InvalidInput: an unusable type or lifetime, or a generator function.
    """
    name = checked_cache_type(cache_type)
    if ttl is not None and ttl_hours is not None:
        raise InvalidInput("ttl (seconds) and ttl_hours mean the same; give one of them")
    lifetime = ttl_hours if ttl is None else checked_ttl(ttl) / HOUR
    if lifetime is not None:
        seconds_of(lifetime)

    def wrap(function: Callable[P, T]) -> CachedTool[P, T]:
        tool = _Tool(name, function, lifetime, exact, cache)
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise InvalidInput(f"{tool.name} yields its results; wrap a function that returns them")
        return cast("CachedTool[P, T]", _async(tool) if inspect.iscoroutinefunction(function) else _sync(tool))

    return wrap


class _Call(Struct, frozen=True):
    """One call of a tool: its query in the cache, and its arguments, unless they are the query."""

    query: str
    params: Mapping[str, Any]
    run: Callable[[], Any]


class _Tool:
    """A function, and how its results are cached."""

    def __init__(
        self, cache_type: str, function: Callable[..., Any], ttl_hours: float | None, exact: bool, cache: Cache | None
    ) -> None:
        self.cache_type = cache_type
        self.function = function
        self.name = function_name(function)
        self._ttl_hours = ttl_hours
        self._exact = exact
        self._cache = cache
        self._signature = inspect.signature(function)

    def cache(self, *, fresh: bool) -> Cache:
        """Return the cache; for `fresh` results, one that reads nothing."""
        cache = self._cache or default_app().cache
        return cache.refreshing() if fresh else cache

    def call(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> _Call:
        """Return a call with these arguments."""
        run = partial(self.function, *args, **kwargs)
        bound = self._signature.bind(*args, **kwargs)
        parameters = self._signature.parameters
        given = [name for name, value in bound.arguments.items() if not _is(value, parameters[name].default)]
        if not self._exact and len(given) == 1 and given[0] == next(iter(parameters)):
            only = bound.arguments[given[0]]
            if isinstance(only, str) and _is_query(only):
                return _Call(only, {}, run)
        bound.apply_defaults()
        arguments = dict(bound.arguments)
        text = encoded(arguments, f"an argument of {self.name}").decode()
        if len(text) <= MAX_QUERY_CHARS:
            return _Call(text, arguments, run)
        digest, shown = sha256(text.encode()).hexdigest(), shorten(text, MAX_TEXT)
        return _Call(encoded({"arguments": shown, "sha256": digest}).decode(), {}, run)

    def answer(self, cache: Cache, call: _Call, compute: Callable[[], Any]) -> Answer[Any]:
        """Return the cached results of a call, else those of `compute`."""
        user = None if self._cache else default_app().identity.user
        return cache.tools.answer(
            self.cache_type,
            call.query,
            compute,
            params=call.params,
            ttl_hours=self._ttl_hours,
            created_by=user,
            name=self.name,
        )


def _is(value: object, default: object) -> bool:
    """Return whether a value is the parameter's default."""
    plain = type(value) in {str, int, float, bool} and type(value) is type(default)
    return value is default or (plain and value == default)


def _is_query(text: str) -> bool:
    try:
        tool_key("tool", text)
    except InvalidInput:  # empty, or a document
        return False
    return in_words(text) or is_url(text.strip())  # JSON looks like arguments


def _sync(tool: _Tool) -> Callable[..., Any]:
    @wraps(tool.function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        call = tool.call(args, kwargs)
        return tool.answer(tool.cache(fresh=False), call, call.run).value

    def refresh(*args: Any, **kwargs: Any) -> Any:
        call = tool.call(args, kwargs)
        return tool.answer(tool.cache(fresh=True), call, call.run).value

    wrapped.refresh = refresh  # type: ignore[attr-defined]
    return wrapped


_flights: Flights[tuple[Cache, str]] = Flights()


def _async(tool: _Tool) -> Callable[..., Any]:
    """Use the store in threads, and run the function itself on the caller's loop."""

    @wraps(tool.function)
    async def wrapped(*args: Any, **kwargs: Any) -> Any:
        call = tool.call(args, kwargs)
        cache, found = await asyncio.to_thread(_looked_up, tool, call)
        return found.value if isinstance(found, Hit) else await live(cache, call)

    async def refresh(*args: Any, **kwargs: Any) -> Any:
        call = tool.call(args, kwargs)
        return await live(await asyncio.to_thread(tool.cache, fresh=True), call)

    async def live(cache: Cache, call: _Call) -> Any:
        def work(wait: Await) -> Answer[Any]:
            return tool.answer(cache, call, lambda: wait(call.run()))

        key = (cache, tool_key(tool.cache_type, call.query))
        return (await _flights.run(key, partial(in_a_thread, work), copy=Answer.copied)).value

    wrapped.refresh = refresh  # type: ignore[attr-defined]
    return wrapped


def _looked_up(tool: _Tool, call: _Call) -> tuple[Cache, Any]:
    cache = tool.cache(fresh=False)
    return cache, cache.tools.find(tool.cache_type, call.query)


_default: App | None = None
_opening = free_in_child(threading.Lock())


def default_app() -> App:
    """Return the app of a script: opened by the settings at the first call, closed when the program ends.

    Raises:
        InvalidInput: the settings cannot be used.
    """
    global _default  # noqa: PLW0603 - one per process
    if (app := _default) is None:
        with _opening:
            if (app := _default) is None:
                # an empty result of a script's function may be a failure, so it is not cached
                app = _default = App(replace(load().settings, negative_ttl=0.0))
                atexit.register(close_default_app)  # registered twice it does nothing the second time
    return app


def close_default_app() -> None:
    """Close the app of a script; the next use reads the settings again and opens what they name."""
    global _default  # noqa: PLW0603 - one per process
    with _opening:
        if _default is not None:
            _default.close()
        _default = None
