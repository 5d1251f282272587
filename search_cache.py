"""The search cache for scripts, and its maintenance command.

    from search_cache import cached_search
    results = cached_search("best practices for rag pipelines", my_search)   # my_search(query, max_results)

    python search_cache.py              what the cache holds
    python search_cache.py --expired    delete what is expired
    python search_cache.py --clear      delete everything (asks first)

The functions use the database of the settings (`HARNESS_DATA_DIR`, the configuration file), opened at the first call.
Hits and misses are logged at level INFO by the logger `harness.cache`; `logging.basicConfig(level="INFO")` shows them on
standard error.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

from harness.cache import Cache, ResearchContext, Results, SearchFunction
from harness.core.entries import Hit
from harness.core.freshness import DEFAULT_TTL
from harness.core.keys import DEFAULT_ENGINE
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from harness.workbench import Workbench

__all__ = ["DEFAULT_TTL", "cached_search", "close", "get", "get_research", "main", "put", "put_research"]

_workbench: Workbench | None = None
_opening = threading.Lock()


def cached_search(
    query: str,
    search_fn: SearchFunction,
    ttl: float = DEFAULT_TTL,
    max_results: int = 10,
    *,
    engine: str = DEFAULT_ENGINE,
) -> Results:
    """Return the cached results of `query`, else those of `search_fn(query, max_results)`, which are then cached.

    `search_fn` returns a list of dicts of JSON values. Its exceptions pass through, and an empty list is returned but
    not stored. Results are shared with every caller that names the same `engine`, `harness search` included; name
    another one for a function that asks something else than DuckDuckGo. `ttl` is in seconds.

    Raises:
        InvalidInput: an unusable query, `ttl`, `max_results` or result.
        StoreError: the cache cannot be opened or read.
    """
    cache = (_workbench or _open()).cache
    return cache.search(query, search_fn, ttl=ttl, max_results=max_results, engine=engine).value


def get(query: str) -> Results | None:
    """Return the cached results of `query` if they are fresh, however many were asked for, else `None`.

    Raises:
        InvalidInput: an unusable query.
        StoreError: the cache cannot be opened or read.
    """
    outcome = _cache().get_search(query)
    return outcome.value if isinstance(outcome, Hit) else None


def put(query: str, results: Iterable[Mapping[str, Any]], ttl: float = DEFAULT_TTL) -> bool:
    """Cache `results` for `ttl` seconds; return whether they were stored: an empty list is not.

    Raises:
        InvalidInput: an unusable query, `ttl` or result.
        StoreError: the cache cannot be opened or written.
    """
    return _cache().put_search(query, results, ttl=ttl)


def get_research(task: str, task_type: str) -> dict[str, Any] | None:
    """Return a cached research (`task`, `task_type`, `context`, `search_rounds`, `novelty_scores`), else `None`.

    Calling it is using the research cache: `RESEARCH_CACHE` only decides for `harness research`.

    Raises:
        InvalidInput: an unusable task.
        StoreError: the cache cannot be opened or read.
    """
    outcome = _cache().get_research(task, task_type)
    if not isinstance(outcome, Hit):
        return None
    found = outcome.value
    return {
        "task": outcome.query,
        "task_type": task_type.lower(),
        "context": found.context,
        "search_rounds": found.search_rounds,
        "novelty_scores": found.novelty_scores,
    }


def put_research(
    task: str,
    task_type: str,
    context: str,
    search_rounds: int | Sequence[Any],
    novelty_scores: Sequence[float],
    ttl: float = DEFAULT_TTL,
) -> bool:
    """Cache the gathered `context` of a task for `ttl` seconds; return whether it was stored: an empty one is not.

    `search_rounds` is their number, or a list of any JSON values; `novelty_scores` has a number a round.

    Raises:
        InvalidInput: an unusable task, `ttl` or context, or values that are not JSON.
        StoreError: the cache cannot be opened or written.
    """
    research = ResearchContext(context, search_rounds, list(novelty_scores))
    return _cache().put_research(task, task_type, research, ttl=ttl)


def close() -> None:
    """Let go of the database; the next call reads the settings again and opens what they name."""
    global _workbench  # noqa: PLW0603 - the one cache of a script
    with _opening:
        if _workbench is not None:
            _workbench.close()
        _workbench = None


def _cache() -> Cache:
    return (_workbench or _open()).cache


def _open() -> Workbench:
    from harness.settings import load
    from harness.workbench import Workbench

    global _workbench  # noqa: PLW0603 - the one cache of a script
    with _opening:
        if _workbench is None:
            _workbench = Workbench(load().settings)
        return _workbench


# The maintenance command ---------------------------------------------------------------------------------------------
