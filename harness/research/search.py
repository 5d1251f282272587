"""Search with several queries and engines at once, through the cache, and fusion of their results."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from msgspec import Struct

from harness.cache import Answer, Cache, Results
from harness.core.keys import canonical_url
from harness.core.rank_fusion import reciprocal_rank_fusion
from harness.errors import SearchError
from harness.ports import Progress, SearchEngine

T = TypeVar("T")

WAIT_AT_ONCE = 1.0
"""Longest single wait, in seconds."""


class EngineSearch(Struct, frozen=True):
    """One query to one engine, and its outcome. `ranked_by` is "words" or "hybrid" for a corpus, else ""."""

    query: str
    engine: str
    outcome: Answer[Results] | SearchError
    ranked_by: str = ""

    @property
    def results(self) -> Results:
        """The results; none if the search failed."""
        return [] if isinstance(self.outcome, SearchError) else self.outcome.value


def ask_all(
    queries: Sequence[str],
    cache: Cache,
    engines: Sequence[SearchEngine],
    *,
    ttl: float,
    max_results: int,
    concurrency: int,
    progress: Progress,
    what: str,
) -> list[EngineSearch]:
    """Send every query to every engine concurrently; return the outcomes in the order of queries, then engines.

    Raises:
        InvalidInput: an unusable query.
        StoreError: the cache cannot be read.
        OfflineMiss: the cache has no answer, and live calls are not allowed.
    """
    pairs = [(query, engine) for query in queries for engine in engines]

    def search(query: str, engine: SearchEngine) -> Answer[Results]:
        return cache.search(
            query,
            engine.search,
            ttl=ttl,
            max_results=max_results,
            engine=engine.name,
            options=engine.options,
        )

    pool = ThreadPoolExecutor(concurrency, thread_name_prefix="search")
    try:
        futures = [pool.submit(search, query, engine) for query, engine in pairs]
        asked = []
        for done, ((query, engine), future) in enumerate(zip(pairs, futures, strict=True)):
            progress(what, done, len(pairs))
            asked.append(EngineSearch(query, engine.name, _outcome(future), ranked_by(engine)))
        progress(what, len(pairs), len(pairs))
        return asked
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # on Ctrl-C, do not wait for an engine's time-out


def ranked_by(engine: SearchEngine) -> str:
    """Return how a corpus ranks: "words" without vectors, "hybrid" with them; "" for any other engine.

    It is an engine option, so part of the key: cached results were ranked in the same way.
    """
    return str(engine.options.get("mode", ""))


def fused(asked: Sequence[EngineSearch]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return every URL found, best first by reciprocal rank fusion, with all its results, in order.

    Results that several searches or engines share move up.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    rankings = []
    for each in asked:
        ranking = []
        for result in each.results:
            if url := canonical_url(str(result.get("href") or "")):
                found.setdefault(url, []).append(result)
                ranking.append(url)
        rankings.append(list(dict.fromkeys(ranking)))
    return [(url, found[url]) for url in reciprocal_rank_fusion(rankings)]


def results_of(asked: Sequence[EngineSearch], limit: int) -> Results:
    """Return up to `limit` results: those of a single search unchanged, those of several fused, one per URL.

    Raises:
        SearchError: the first error, if every search failed.
    """
    failures = [each.outcome for each in asked if isinstance(each.outcome, SearchError)]
    if len(failures) == len(asked):
        raise failures[0]
    return asked[0].results if len(asked) == 1 else [results[0] for _, results in fused(asked)[:limit]]


def awaited(future: "Future[T]") -> T:
    """Return the result of `future`, in short waits: a long wait could swallow a Ctrl-C that arrives as it begins."""
    while not wait([future], WAIT_AT_ONCE).done:
        pass
    return future.result()


def _outcome(future: "Future[Answer[Results]]") -> Answer[Results] | SearchError:
    try:
        return awaited(future)
    except SearchError as error:
        return error
