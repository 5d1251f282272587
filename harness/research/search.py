"""Search with several queries and engines at once, through the cache, and fusion of their results."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from harness.cache import Answer, Cache, Results
from harness.core.keys import canonical_url
from harness.core.rank_fusion import reciprocal_rank_fusion
from harness.core.sufficiency import Sufficiency
from harness.errors import AccessDenied, OfflineMiss, SearchError
from harness.ports import EngineChain, Progress, SearchEngine, single_engines
from harness.research.concurrent_calls import run_all
from harness.settings import FetchSettings, Settings


class ReusedAnswer(Struct, frozen=True):
    """Held passages that answered a search: how many, the ages of the newest and the oldest one (seconds), and why they
    suffice.
    """

    passages: int
    newest: float
    oldest: float
    decision: Sufficiency


class EngineSearch(Struct, frozen=True):
    """One query to one engine, and its outcome. `ranked_by` is "words" or "hybrid" for a corpus, else "". `reused` is
    set where the library answered instead of an engine.
    """

    query: str
    engine: str
    outcome: Answer[Results] | SearchError
    ranked_by: str = ""
    reused: ReusedAnswer | None = None

    @property
    def results(self) -> Results:
        """The results; none if the search failed."""
        return [] if isinstance(self.outcome, SearchError) else self.outcome.value


def ask_all(
    queries: Sequence[str],
    cache: Cache,
    engines: Sequence[SearchEngine],
    *,
    fetch: FetchSettings,
    max_results: int,
    progress: Progress,
    what: str,
) -> list[EngineSearch]:
    """Send every query to every engine concurrently; return the outcomes in the order of queries, then engines. They
    are stored for `fetch.ttl` seconds.

    Raises:
        InvalidInput: an unusable query.
        StoreError: the cache cannot be read.
        OfflineMiss, AccessDenied: the cache has no answer, and live calls are not allowed.
    """

    def ask(query: str, engine: SearchEngine) -> Answer[Results]:
        return cache.searches.answer(
            query, engine.search, ttl=fetch.ttl, max_results=max_results, engine=engine.name, options=engine.options
        )

    def search(query: str, engine: SearchEngine) -> EngineSearch:
        try:
            if isinstance(engine, EngineChain):
                return _first_answer(query, engine, ask, lambda each: is_held(query, each, cache, max_results))
            return EngineSearch(query, engine.name, ask(query, engine), ranked_by(engine))
        except SearchError as error:
            return EngineSearch(query, engine.name, error, ranked_by(engine))

    calls = [partial(search, query, engine) for query in queries for engine in engines]
    return run_all(calls, concurrency=fetch.concurrency, progress=progress, what=what)


def _first_answer(
    query: str,
    chain: EngineChain,
    ask: Callable[[str, SearchEngine], Answer[Results]],
    is_held: Callable[[SearchEngine], bool],
) -> EngineSearch:
    """Return the answer of the first engine of a chain that has one: first those whose answer is cached, so that a
    repeated search gives the same.

    Raises:
        SearchError, OfflineMiss, AccessDenied: none has; the error of the last.
    """
    failure: SearchError | OfflineMiss | AccessDenied = OfflineMiss("a chain without engines")
    held = list(filter(is_held, chain.alternatives))
    late: EngineSearch | None = None
    for engine in [*held, *(each for each in chain.in_order() if each not in held)]:
        try:
            answer = ask(query, engine)
        except (OfflineMiss, AccessDenied) as error:
            failure = error
        except SearchError as error:
            chain.note(engine, error)
            failure = error
        else:
            found = EngineSearch(query, engine.name, answer, ranked_by(engine))
            if answer.how != "stale":
                if answer.how == "live":
                    chain.note(engine, None)
                return found
            late = late or found
    if late is not None:
        return late
    raise failure


def engine_for(query: str, engines: Sequence[SearchEngine], cache: Cache, max_results: int) -> SearchEngine:
    """Return the engine that a search would ask first: of a chain, the one whose answer is cached."""
    every = single_engines(engines)
    return next((engine for engine in every if is_held(query, engine, cache, max_results)), every[0])


def is_held(query: str, engine: SearchEngine, cache: Cache, max_results: int, *, by_meaning: bool = False) -> bool:
    """Return whether the cache answers a search of one engine, exactly or `by_meaning`; leave no trace."""
    return cache.searches.holds(
        query, max_results=max_results, engine=engine.name, options=engine.options, by_meaning=by_meaning
    )


def search_all(
    query: str, cache: Cache, engines: Sequence[SearchEngine], settings: Settings, progress: Progress
) -> tuple[list[EngineSearch], Results]:
    """Search one query for a user; return the outcome of each engine, and the fused results. An exact hit counts as the
    user's own from now on.

    Raises:
        SearchError: every engine failed.
        Exception: see `ask_all`.
    """
    most = settings.max_results
    asked = ask_all([query], cache, engines, fetch=settings, max_results=most, progress=progress, what="searching")
    for each in asked:
        if not isinstance(each.outcome, SearchError) and each.outcome.how == "exact":
            cache.searches.claim(each.outcome.outcome.key)
    return asked, results_of(asked, most)


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
