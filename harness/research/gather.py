"""Rounds of concurrent searches through the cache, until a round adds little."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from harness.cache import Cache
from harness.core.keys import canonical_url
from harness.core.novelty import novelty
from harness.core.text import one_line
from harness.errors import SearchError
from harness.ports import PageReader, Progress, SearchEngine
from harness.research.planner import Plan, Planner
from harness.research.reading import READABLE, Reading, read_all
from harness.research.searching import Asked, ask_all, fused

StopReason: TypeAlias = Literal[
    "little new", "nothing left to ask", "nothing found", "limit of rounds", "limit of live calls", "limit of time"
]

MAX_BODY_CHARS = 50_000
FEEDBACK_RESULTS = 10
"""How many of a round's first results suggest the next queries."""


class Limits(Struct, frozen=True):
    """What bounds the gathering: rounds, the novelty (0..1) below which to stop, results a search, pages read a round,
    searches (or pages) at once; live calls (searches and pages) and seconds of the whole, where bounded.
    """

    max_rounds: int
    min_novelty: float
    max_results: int
    read_pages: int
    concurrency: int
    max_live_calls: int | None = None
    max_seconds: float | None = None


class Lifetimes(Struct, frozen=True):
    """How long what is gathered stays fresh, in seconds."""

    searches: float
    pages: float


class Source(Struct, frozen=True):
    """A document found: its passages are what the searches showed of it, and its page, each once, in the order of
    discovery.
    """

    url: str
    title: str
    passages: tuple[str, ...]


class Search(Struct, frozen=True):
    """One search of a round: answered by the cache or live, or failed with an error's code and message."""

    query: str
    engine: str
    answered_by: Literal["cache", "live", "failed"]
    results: int
    error: str | None = None


class Round(Struct, frozen=True):
    """One pass of searches, the pages read for the best of their results, and the share (0..1) of new text among what
    both brought.
    """

    searches: tuple[Search, ...]
    pages: tuple[Reading, ...]
    novelty: float

    @property
    def answered_by(self) -> list[str]:
        """Who answered each search and page: `cache`, `live` or `failed`."""
        return [each.answered_by for each in self.searches] + [each.answered_by for each in self.pages]


class Gathered(Struct, frozen=True):
    """All sources, one an address, best first; and the rounds that found them."""

    sources: tuple[Source, ...]
    rounds: tuple[Round, ...]
    stop_reason: StopReason

    @property
    def searches(self) -> list[Search]:
        """Every search, in order."""
        return [search for round_ in self.rounds for search in round_.searches]

    @property
    def answered_by(self) -> list[str]:
        """Who answered each search and page: `cache`, `live` or `failed`."""
        return [each for round_ in self.rounds for each in round_.answered_by]

    @property
    def pages(self) -> list[Reading]:
        """Every page that was read, or was to be, in order."""
        return [page for round_ in self.rounds for page in round_.pages]


class Gatherer:
    """Gathers for one plan, round by round: searches of every engine, then the pages of the best results."""

    def __init__(
        self,
        planner: Planner,
        cache: Cache,
        engines: Sequence[SearchEngine],
        reader: PageReader,
        limits: Limits,
        *,
        lifetimes: Lifetimes,
        progress: Progress,
    ) -> None:
        self._planner = planner
        self._cache = cache
        self._engines = engines
        self._reader = reader
        self._limits = limits
        self._lifetimes = lifetimes
        self._progress = progress
        self._sources: dict[str, Source] = {}
        self._rounds: list[Round] = []
        self._tried: set[str] = set()
        self._began = cache.now

    def gather(self, plan: Plan) -> Gathered:
        """Ask the plan's queries, then follow-ups on what was found.

        Stops when a round's novelty is below the limit, nothing is left to ask, or a limit is reached. One search that
        fails does not end the run, nor does a page that cannot be read.

        Raises:
            SearchError: if every search of the first round fails; the first one's error.
        """
        queries: Sequence[str] = plan.queries
        while True:
            asked = self._search(queries)
            found = [result for each in asked for result in each.results]
            before = [search.query for round_ in self._rounds for search in round_.searches]
            best = ["\n".join(_passages(result)) for result in found[:FEEDBACK_RESULTS]]
            reason = self._stop_reason()
            if reason is None:
                queries = self._planner.follow_ups(plan, before, best, self._cache)
                reason = None if queries else "nothing left to ask"
            if reason:
                return Gathered(tuple(self._sources.values()), tuple(self._rounds), reason)

    def _search(self, queries: Sequence[str]) -> list[Asked]:
        """Do one round."""
        limits, number = self._limits, len(self._rounds) + 1
        if (left := self._live_calls_left()) is not None:
            queries = queries[: max(1, left // len(self._engines))]
        asked = ask_all(
            queries,
            self._cache,
            self._engines,
            ttl=self._lifetimes.searches,
            max_results=limits.max_results,
            concurrency=limits.concurrency,
            progress=self._progress,
            what=f"round {number}",
        )
        failures = [each.outcome for each in asked if isinstance(each.outcome, SearchError)]
        if not self._rounds and len(failures) == len(asked):
            raise failures[0]
        held = [passage for source in self._sources.values() for passage in source.passages]
        for _, results in fused(asked):
            for result in results:
                _add(self._sources, result)
        searches = tuple(map(_told, asked))
        live = sum(search.answered_by != "cache" for search in searches)
        read = self._read(asked, f"pages of round {number}", live)
        shown = [passage for each in asked for result in each.results for passage in _passages(result)]
        added = novelty([*shown, *(passage for _, passages in read for passage in passages)], held)
        self._rounds.append(Round(searches, tuple(reading for reading, _ in read), added))
        return asked

    def _read(self, asked: Sequence[Asked], what: str, live: int) -> list[tuple[Reading, list[str]]]:
        """Read the pages of the best results that were not tried yet; `live` calls were made in this round so far."""
        new = [url for url, _ in fused(asked) if url.startswith(READABLE) and url in self._sources]
        left = self._live_calls_left()
        most = self._limits.read_pages if left is None else min(self._limits.read_pages, max(0, left - live))
        chosen = [url for url in new if url not in self._tried][:most]
        self._tried.update(chosen)
        read = read_all(
            chosen,
            self._cache,
            self._reader,
            ttl=self._lifetimes.pages,
            concurrency=self._limits.concurrency,
            progress=self._progress,
            what=what,
        )
        for url, (_, passages) in zip(chosen, read, strict=True):
            self._sources[url] = _with(self._sources[url], passages)
        return read

    def _stop_reason(self) -> StopReason | None:
        limits = self._limits
        if not self._sources:
            return "nothing found"
        if self._rounds[-1].novelty < limits.min_novelty:
            return "little new"
        if len(self._rounds) >= limits.max_rounds:
            return "limit of rounds"
        left = self._live_calls_left()
        if left is not None and left < len(self._engines):
            return "limit of live calls"
        if limits.max_seconds is not None and self._cache.now - self._began >= limits.max_seconds:
            return "limit of time"
        return None

    def _live_calls_left(self) -> int | None:
        """Return how many live calls may still be made; `None` where they are not bounded."""
        if self._limits.max_live_calls is None:
            return None
        made = sum(each != "cache" for round_ in self._rounds for each in round_.answered_by)
        return self._limits.max_live_calls - made


def _told(asked: Asked) -> Search:
    outcome = asked.outcome
    if isinstance(outcome, SearchError):
        return Search(asked.query, asked.engine, "failed", 0, f"{outcome.code}: {outcome}")
    return Search(asked.query, asked.engine, "live" if outcome.how == "live" else "cache", len(outcome.value))


def _add(sources: dict[str, Source], result: dict[str, Any]) -> None:
    url, found = canonical_url(str(result.get("href") or "")), _passages(result)
    if url and found:
        title = one_line(str(result.get("title") or "")) or url
        sources[url] = _with(sources.get(url) or Source(url, title, ()), found)


def _with(source: Source, passages: Sequence[str]) -> Source:
    """Return the source with those of the passages that it has not yet."""
    known = {one_line(passage) for passage in source.passages}
    return Source(source.url, source.title, (*source.passages, *(p for p in passages if one_line(p) not in known)))


def _passages(result: dict[str, Any]) -> list[str]:
    """Return the paragraphs of a result's text, of which no engine of ours returns as much as the bound."""
    return [part for part in str(result.get("body") or "")[:MAX_BODY_CHARS].split("\n\n") if part.strip()]
