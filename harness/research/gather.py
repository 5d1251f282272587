"""Rounds of concurrent searches through the cache, until a round adds little."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from harness.cache import Answer, Cache, Results
from harness.core.keys import canonical_url
from harness.core.novelty import novelty
from harness.core.text import one_line
from harness.errors import SearchError
from harness.ports import Progress, SearchEngine
from harness.research.planner import Plan, follow_ups

StopReason: TypeAlias = Literal["little new", "nothing left to ask", "limit of rounds", "nothing found"]

MAX_BODY_CHARS = 50_000
FEEDBACK_RESULTS = 10
"""How many of a round's first results suggest the next queries."""


class Limits(Struct, frozen=True):
    """What bounds the gathering: rounds, the novelty (0..1) below which to stop, results a search, searches at once."""

    max_rounds: int
    min_novelty: float
    max_results: int
    concurrency: int


class Source(Struct, frozen=True):
    """A document found: its passages are what the searches showed of it, each once, in the order of discovery."""

    url: str
    title: str
    passages: tuple[str, ...]


class Search(Struct, frozen=True):
    """One search of a round: answered by the cache or live, or failed with an error's code and message."""

    query: str
    answered_by: Literal["cache", "live", "failed"]
    results: int
    error: str | None = None


class Round(Struct, frozen=True):
    """One pass of searches, and the share (0..1) of new text among what it brought."""

    searches: tuple[Search, ...]
    novelty: float


class Gathered(Struct, frozen=True):
    """All sources, one an address, best first; and the rounds that found them."""

    sources: tuple[Source, ...]
    rounds: tuple[Round, ...]
    stop_reason: StopReason

    @property
    def searches(self) -> list[Search]:
        """Every search, in order."""
        return [search for round_ in self.rounds for search in round_.searches]


def gather(
    plan: Plan, cache: Cache, engine: SearchEngine, limits: Limits, *, ttl: float, progress: Progress
) -> Gathered:
    """Search in rounds: the plan's queries, then follow-ups on what was found.

    Stops when a round's novelty is below the limit, nothing is left to ask, or the rounds are used up. One search that
    fails does not end the run.

    Raises:
        SearchError: if every search of the first round fails; the first one's error.
    """
    sources: dict[str, Source] = {}
    rounds: list[Round] = []
    queries: Sequence[str] = plan.queries
    while True:
        outcomes = _search_all(queries, cache, engine, limits, ttl, progress, number=len(rounds) + 1)
        failures = [outcome for outcome in outcomes if isinstance(outcome, SearchError)]
        if not rounds and len(failures) == len(outcomes):
            raise failures[0]
        found = [result for outcome in outcomes if not isinstance(outcome, SearchError) for result in outcome.value]
        held = [passage for source in sources.values() for passage in source.passages]
        added = novelty((passage for result in found for passage in _passages(result)), held)
        rounds.append(Round(tuple(map(_told, queries, outcomes)), added))
        _merge(sources, outcomes)
        asked = [search.query for round_ in rounds for search in round_.searches]
        queries = follow_ups(plan, asked, ("\n".join(_passages(result)) for result in found[:FEEDBACK_RESULTS]))
        if reason := _stop_reason(sources, rounds, queries, limits):
            return Gathered(tuple(sources.values()), tuple(rounds), reason)


def _stop_reason(
    sources: dict[str, Source], rounds: list[Round], queries: Sequence[str], limits: Limits
) -> StopReason | None:
    if not sources:
        return "nothing found"
    if rounds[-1].novelty < limits.min_novelty:
        return "little new"
    if not queries:
        return "nothing left to ask"
    return "limit of rounds" if len(rounds) >= limits.max_rounds else None


def _search_all(
    queries: Sequence[str],
    cache: Cache,
    engine: SearchEngine,
    limits: Limits,
    ttl: float,
    progress: Progress,
    *,
    number: int,
) -> list[Answer[Results] | SearchError]:
    """Ask all queries at once; outcomes come in the order of the queries, whichever was answered first."""
    began = (
        cache.now
    )  # whichever search of a round ends first, the others are not answered by it: a run repeats exactly

    def search(query: str) -> Answer[Results]:
        return cache.search(
            query,
            engine.search,
            ttl=ttl,
            max_results=limits.max_results,
            engine=engine.name,
            options=engine.options,
            before=began,
        )

    pool = ThreadPoolExecutor(limits.concurrency, thread_name_prefix="search")
    try:
        futures = [pool.submit(search, query) for query in queries]
        outcomes = []
        for done, future in enumerate(futures):
            progress(f"round {number}", done, len(queries))
            outcomes.append(_outcome(future))
        progress(f"round {number}", len(queries), len(queries))
        return outcomes
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # on Ctrl-C, do not wait for an engine's time-out


def _outcome(future: "Future[Answer[Results]]") -> Answer[Results] | SearchError:
    try:
        return future.result()
    except SearchError as error:
        return error


def _told(query: str, outcome: Answer[Results] | SearchError) -> Search:
    if isinstance(outcome, SearchError):
        return Search(query, "failed", 0, f"{outcome.code}: {outcome}")
    return Search(query, "live" if outcome.how == "live" else "cache", len(outcome.value))


def _merge(sources: dict[str, Source], outcomes: Sequence[Answer[Results] | SearchError]) -> None:
    """Add results to `sources`, taking the first of every search, then the second, …: each search's best come first."""
    answers = [outcome.value for outcome in outcomes if not isinstance(outcome, SearchError)]
    for rank in range(max(map(len, answers), default=0)):
        for results in answers:
            if rank < len(results):
                _add(sources, results[rank])


def _add(sources: dict[str, Source], result: dict[str, Any]) -> None:
    url, found = canonical_url(str(result.get("href") or "")), _passages(result)
    if not url or not found:
        return
    held = sources.get(url)
    passages = held.passages if held else ()
    known = {one_line(passage) for passage in passages}
    new = [passage for passage in found if one_line(passage) not in known]
    title = held.title if held else one_line(str(result.get("title") or "")) or url
    sources[url] = Source(url, title, (*passages, *new))


def _passages(result: dict[str, Any]) -> list[str]:
    """Return the paragraphs of a result's text, of which no engine of ours returns as much as the bound."""
    return [part for part in str(result.get("body") or "")[:MAX_BODY_CHARS].split("\n\n") if part.strip()]
