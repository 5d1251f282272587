"""One or more queries, asked of one or more engines through the cache; and their results, fused."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from msgspec import Struct

from harness.cache import Answer, Cache, Results
from harness.core.keys import canonical_url
from harness.core.ranking import reciprocal_rank_fusion
from harness.errors import SearchError
from harness.ports import Progress, SearchEngine
from harness.settings import Settings

T = TypeVar("T")

WAIT_AT_ONCE = 1.0
"""Seconds that one wait takes at the most."""


class Asked(Struct, frozen=True):
    """One query asked of one engine, and what came of it. `ranked_by` is "words" or "hybrid" for a corpus, else ""."""

    query: str
    engine: str
    outcome: Answer[Results] | SearchError
    ranked_by: str = ""

    @property
    def results(self) -> Results:
        """The results; none where the search failed."""
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
) -> list[Asked]:
    """Ask every engine every query at once; outcomes come in the order of queries, then engines, whichever was answered
    first.

    Raises:
        InvalidInput: an unusable query.
        StoreError: the cache cannot be read.
        OfflineMiss: the cache has no answer, and may not compute one.
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
            asked.append(Asked(query, engine.name, _outcome(future), ranked_by(engine)))
        progress(what, len(pairs), len(pairs))
        return asked
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # on Ctrl-C, do not wait for an engine's time-out


def search_all(
    query: str, cache: Cache, engines: Sequence[SearchEngine], settings: Settings, progress: Progress
) -> tuple[list[Asked], Results]:
    """Search one query for a user; return the outcome of each engine, and the fused results. An exact hit counts as the
    user's own from now on.

    Raises:
        SearchError: every engine failed.
        Exception: see `ask_all`.
    """
    asked = ask_all(
        [query],
        cache,
        engines,
        ttl=settings.ttl,
        max_results=settings.max_results,
        concurrency=settings.concurrency,
        progress=progress,
        what="searching",
    )
    for engine, each in zip(engines, asked, strict=True):
        if not isinstance(each.outcome, SearchError) and each.outcome.how == "exact":
            cache.claim(query, engine.name, engine.options)
    return asked, results_of(asked, settings.max_results)


def ranked_by(engine: SearchEngine) -> str:
    """Return how a corpus ranks: "words" without vectors, "hybrid" with them; "" for any other engine.

    It is one of the options, so part of the key: what is cached was ranked in the same way.
    """
    return str(engine.options.get("mode", ""))


def fused(asked: Sequence[Asked]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return every address found, by reciprocal rank fusion best first, with all that was found at it, in order.

    What several searches or engines find goes up.
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


def results_of(asked: Sequence[Asked], limit: int) -> Results:
    """Return up to `limit` results: those of one search as they are, of several fused, each address once.

    Raises:
        SearchError: the first one's error, if all of them failed.
    """
    failures = [each.outcome for each in asked if isinstance(each.outcome, SearchError)]
    if len(failures) == len(asked):
        raise failures[0]
    return asked[0].results if len(asked) == 1 else [results[0] for _, results in fused(asked)[:limit]]


def awaited(future: "Future[T]") -> T:
    """Return what comes of `future`, in short waits: a Ctrl-C that arrives just as one begins would not end it."""
    while not wait([future], WAIT_AT_ONCE).done:
        pass
    return future.result()


def _outcome(future: "Future[Answer[Results]]") -> Answer[Results] | SearchError:
    try:
        return awaited(future)
    except SearchError as error:
        return error
