"""Gathering: rounds of concurrent searches through the cache, until the question is answered or a round adds little."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import structs
from msgspec.structs import replace

from harness.cache.usage import day_of
from harness.core.keys import canonical_url
from harness.core.page_numbers import PageStarts, checked_starts, starts_in
from harness.core.papers import identities
from harness.core.text import one_line
from harness.errors import SearchError
from harness.research.budget import Budget
from harness.research.gathering import (
    Gathered,
    GatheredSource,
    ReusedPassage,
    Round,
    Search,
    SourceNote,
    SourceText,
    StopReason,
    documents_of,
)
from harness.research.held_answers import CORPUS
from harness.research.page_reading import READABLE, PageReading, ReadPage, read_all
from harness.research.planner import Plan, with_parts
from harness.research.reranking import Found, reranked
from harness.research.reuse import Reusing, UsedPassage, search_in_library, sources_of
from harness.research.scoring import RoundScore, RoundScorer
from harness.research.search import EngineSearch, ask_all, fused
from harness.research.services import ResearchServices
from harness.research.source_selection import SourceSelection, with_languages, year_of
from harness.settings import FetchSettings, GatheringSettings

MAX_BODY_CHARS = 50_000
ABOUT = ("authors", "site", "date", "doi", "full_text")
"""Fields of a result that describe its source."""
FEEDBACK_RESULTS = 10
"""Results of a round that suggest the next queries."""


@dataclass(eq=False, repr=False)
class Gatherer:
    """Gatherer for one plan, round by round: searches by every engine, then the pages of the best results.

    `answered` returns the probability (0..1) that sources answer the question of a plan: the score of a round. If that
    is `None`, similarity is the score. `on_round` is called after each round, in the gathering thread; an exception
    from it ends the gathering.
    """

    services: ResearchServices
    scorer: RoundScorer
    gathering: GatheringSettings
    fetch: FetchSettings
    budget: Budget
    answered: Callable[[Sequence[GatheredSource], Plan], float | None]
    on_round: Callable[[Round], None] | None = None

    def __post_init__(self) -> None:
        self._cache = self.services.cache
        self._sources: dict[str, GatheredSource] = {}
        self._named: dict[str, str] = {}
        self._rounds: list[Round] = []
        self._probes: tuple[str, ...] = ()
        self._covered = False
        self._reused: dict[str, ReusedPassage] = {}
        self._planned: tuple[str, ...] = ()
        self._follow_ups = 0
        self._live = 0
        self._relevant = False
        self._tried: set[str] = set()
        self._began = self._cache.now

    def gather(self, plan: Plan) -> Gathered:
        """Search the plan's queries, then follow-up queries; not those that passages of the library answer.

        Stops when the score is high enough, when nothing found is relevant, when a round's novelty is too low, when no
        new query is left, or when a limit is reached. A failed search or an unreadable page does not end the run.

        Raises:
            SearchError: every search of the first round failed; the first error.
            EmbeddingError: the embedder failed.
        """
        year = year_of(plan.question, self.gathering, self._cache, ttl=self.fetch.ttl)
        self._selection = SourceSelection(plan.question, self.gathering, year)
        self._reusing = Reusing(plan, self.services, self.gathering, self._cache, ttl=self.fetch.ttl)
        reuse = self._reusing.begin()
        self._probes, self._planned = reuse.probes, plan.queries
        queries: Sequence[str] = [query for query in plan.queries if query not in reuse.spared]
        self._note_reused(reuse.passages, len(reuse.spared))
        if reuse.passages:
            for source in sources_of(reuse.passages):
                self._sources[source.url] = source
                self._named.update(dict.fromkeys(identities(source.url, source.title), source.url))
            self._end_round(plan, (), (), self.scorer.score(documents_of(self._sources.values()), []))
        reason: StopReason | None = None if queries else "answered from the library"
        best: Sequence[str] = [passage.text for passage in reuse.passages][:FEEDBACK_RESULTS]
        while reason is None:
            best = self._round(plan, queries)[:FEEDBACK_RESULTS]
            reason = self._stop_reason()
            if reason is None:
                queries = self.services.planner.follow_ups(plan, self._queries(), best, self._cache)
                reason = None if queries else "stagnation"
        parts, limit = self._deepened(plan, best)
        sources, notes = self._selected(plan)
        return Gathered(
            tuple(sources),
            tuple(self._rounds),
            limit or reason,
            reused=tuple(self._reused.values()),
            planned=(len(plan.queries) + self._follow_ups) * len(self.services.engines) if reuse.decided else 0,
            decided=reuse.decided,
            notes=tuple(notes),
            sub_questions=parts,
        )

    def _deepened(self, plan: Plan, best: Sequence[str]) -> tuple[tuple[str, ...], StopReason | None]:
        """Research sub-questions, one round for each further level, until a limit is reached; return them, and the
        limit. `best` are the best passages so far.
        """
        found: list[str] = []
        limit: StopReason | None = None
        for _ in range(self.gathering.depth - 1):
            limit = self._limit()
            if limit or not self._relevant:
                break
            known = with_parts(plan, found)
            new = self.services.planner.sub_questions(known, best, self.gathering.breadth, self._cache)
            if not new:
                break
            found += new
            best = self._round(known, [each.rstrip("?") for each in new])[:FEEDBACK_RESULTS]
        return tuple(found), limit

    def _round(self, plan: Plan, queries: Sequence[str]) -> list[str]:
        """Run one round; return the texts of its results, in order."""
        number, earlier = len(self._rounds) + 1, documents_of(self._sources.values())
        asked = self._ask(queries, f"round {number}")
        failures = [each.outcome for each in asked if isinstance(each.outcome, SearchError)]
        if not self._rounds and len(failures) == len(asked):
            raise failures[0]
        shown = self._keep(asked)
        if not self.scorer.score(shown, earlier).relevant and self._calls_left(len(self.services.engines)):
            fallback = self.services.planner.fallback(plan, [*self._queries(), *queries])
            if fallback:
                asked += self._ask([fallback], f"round {number}, again")
                shown = self._keep(asked)
        readings, pages = self._read(plan.question, asked, f"pages of round {number}")
        self._end_round(plan, tuple(map(_search, asked)), tuple(readings), self.scorer.score([*shown, *pages], earlier))
        return [document.text for document in shown]

    def _end_round(
        self, plan: Plan, searches: tuple[Search, ...], pages: tuple[PageReading, ...], scored: RoundScore
    ) -> None:
        """Add a round, with its score: see `answered`."""
        self._relevant |= scored.relevant
        answered = self.answered(self._selected(plan)[0], plan)
        self._rounds.append(Round(searches, pages, scored.novelty, scored.score if answered is None else answered))
        if self.on_round is not None:
            self.on_round(self._rounds[-1])

    def _selected(self, plan: Plan) -> tuple[list[GatheredSource], list[SourceNote]]:
        """Return the sources that a report may use, best first, and the notes on all."""
        sources, notes = self._selection.selected(list(self._sources.values()))
        return with_languages(plan.question, sources, self.services.detector), notes

    def _ask(self, queries: Sequence[str], what: str) -> list[EngineSearch]:
        """Search the queries, those first that show whether the library can answer the others."""
        asked: list[EngineSearch] = []
        self._follow_ups += sum(query not in self._planned for query in queries)
        if probes := [query for query in queries if query in self._probes]:
            asked = self._ask_engines(probes, what)
            self._covered, self._probes = self._reusing.covered(asked), ()
            queries = [query for query in queries if query not in probes]
        if self._covered:
            held = {query: self._reusing.results(query) for query in queries}
            for query, passages in held.items():
                if passages:
                    self._note_reused(passages, 1)
                    asked.append(search_in_library(query, passages, self._cache.now))
            queries = [query for query in queries if not held[query]]
        if queries and (not asked or self._calls_left(len(self.services.engines))):
            asked += self._ask_engines(queries, what)
        return asked

    def _note_reused(self, passages: Sequence[UsedPassage], spared: int) -> None:
        """Note passages of the library that spare every engine this many searches."""
        self._selection.note_corpus(each.passage.url for each in passages if each.passage.engine == CORPUS)
        self._reused |= {each.passage.key: each.passage for each in passages if not each.found_again}
        self._cache.usage.count("library", spared * len(self.services.engines))

    def _ask_engines(self, queries: Sequence[str], what: str) -> list[EngineSearch]:
        """Search as many of the queries as the live calls left allow, at least one."""
        if self.gathering.max_live_calls is not None:
            queries = queries[: max(1, (self.gathering.max_live_calls - self._live) // len(self.services.engines))]
        asked = ask_all(
            queries,
            self._cache,
            self.services.engines,
            fetch=self.fetch,
            max_results=self.gathering.max_results,
            progress=self.services.progress,
            what=what,
        )
        self._live += len(asked)
        return [self._selection.permitted(each) for each in asked]

    def _keep(self, asked: Sequence[EngineSearch]) -> list[SourceText]:
        """Add the results to the sources, best URLs first; return them in the order of the searches."""
        days = self._days_of(_by_engines(asked))
        for url, results in fused(asked):
            for result in results:
                if document := self._document(result):
                    known = self._sources.get(document.url)
                    if known is None:
                        known = GatheredSource(document.url, _text(result, "title") or document.url, ())
                        reused = (each.fetched_at for each in self._reused.values() if each.url == url)
                        at = 0.0 if url in days else min(reused, default=0.0)  # seconds since the epoch
                        known = replace(known, fetched_at=at, read_on=days.get(url, ""))
                    starts = _page_starts(result, document.text)
                    self._sources[document.url] = _described(known, result).with_text(document.text, starts)
        shown = [self._document(result) for each in asked for result in each.results]
        return [document for document in shown if document]

    def _document(self, result: Mapping[str, Any]) -> SourceText | None:
        """Return the text of a result, if it has a URL and a text, under the first URL of the same paper; no built-in
        engine returns more than the limit.
        """
        url = canonical_url(str(result.get("href") or ""))
        body = str(result.get("body") or "")[:MAX_BODY_CHARS]
        text = "\n\n".join(part for part in body.split("\n\n") if part.strip())
        if not url or not text:
            return None
        names = identities(url, _text(result, "title"), _text(result, "doi"))
        first = next((self._named[name] for name in names if name in self._named), url)
        for name in names:
            self._named.setdefault(name, first)
        return SourceText(first, text)

    def _days_of(self, asked: Sequence[EngineSearch]) -> dict[str, str]:
        """Return the first day on which one of these searches found each URL; "" for a document."""
        found: dict[str, str] = {}
        for each in asked:
            if not isinstance(each.outcome, SearchError):
                day = day_of(self._cache.now - each.outcome.age)
                for result in each.results:
                    url = canonical_url(str(result.get("href") or ""))
                    found[url] = min(day, found.get(url, day)) if url.startswith(READABLE) else ""
        return found

    def _read(
        self, question: str, asked: Sequence[EngineSearch], what: str
    ) -> tuple[list[PageReading], list[SourceText]]:
        """Read the pages of the best results not tried yet."""
        most = self.gathering.read_pages
        if self.gathering.max_live_calls is not None:
            most = min(most, max(0, self.gathering.max_live_calls - self._live))
        chosen = [url for url, _ in self._untried(question, asked, most)][:most]
        self._tried.update(chosen)
        texts = [self._sources[url].full_text or url for url in chosen]
        read = self._pages(texts, what)
        self._live += len(read)
        unread = [place for place, url in enumerate(chosen) if read[place].page is None and texts[place] != url]
        if unread and self._calls_left(len(unread)):  # the page about a paper has at least its abstract
            for place, again in zip(unread, self._pages([chosen[place] for place in unread], what), strict=True):
                read[place] = again
            self._live += len(unread)
        found = [(url, page, day) for url, (_, page, day) in zip(chosen, read, strict=True) if page and page.text]
        for url, page, day in found:
            known = _described(self._sources[url], structs.asdict(page)).with_text(page.text, page.page_starts)
            self._sources[url] = replace(known, read=True, ads=page.ads, read_on=day)
        return [each.reading for each in read], [SourceText(url, page.text) for url, page, _ in found]

    def _pages(self, urls: Sequence[str], what: str) -> list[ReadPage]:
        read = read_all(
            urls,
            self._cache,
            self.services.reader,
            fetch=self.fetch,
            progress=self.services.progress,
            what=what,
            sites=self._selection.sites,
        )
        return [self._selection.reached(each) for each in read]

    def _untried(self, question: str, asked: Sequence[EngineSearch], most: int) -> list[Found]:
        """Return the results whose pages can be read and were not tried yet, best first."""
        found = [
            (url, results)
            for url, results in fused(_by_engines(asked))
            if url.startswith(READABLE) and url in self._sources and url not in self._tried
        ]
        found = list(self._selection.to_read(found, self._sources, self._tried)) if most else []
        answering, embedder = self.services.answering, self.services.embedder
        ttl, reranks = self.fetch.ttl, self.gathering.rerank
        if answering is not None and reranks and len(found) > most:
            found = reranked(question, found, answering, embedder, self._cache, most=reranks, ttl=ttl)
        return self._selection.ranked(found, self._sources)

    def _stop_reason(self) -> StopReason | None:
        """Return the first reason to stop that applies, if any."""
        limits, last = self.gathering, self._rounds[-1]
        reasons: list[tuple[StopReason, bool]] = [
            ("no evidence", not self._relevant),
            ("score met", last.score >= limits.enough_score),
            ("stagnation", last.novelty < limits.min_novelty),
            ("limit of rounds", sum(bool(each.searches) for each in self._rounds) >= limits.max_rounds),
        ]
        return next((reason for reason, holds in reasons if holds), None) or self._limit()

    def _limit(self) -> StopReason | None:
        """Return the first limit that is reached, if any."""
        seconds, most_seconds = self._cache.now - self._began, self.fetch.max_seconds
        budget, tokens = self.budget, self._cache.tokens
        reasons: list[tuple[StopReason, bool]] = [
            ("limit of live calls", not self._calls_left(len(self.services.engines))),
            ("limit of time", most_seconds is not None and seconds >= most_seconds),
            ("limit of tokens", budget.max_tokens is not None and tokens >= budget.max_tokens),
            ("limit of cost", budget.max_cost is not None and budget.cost(self._cache) >= budget.max_cost),
        ]
        return next((reason for reason, holds in reasons if holds), None)

    def _calls_left(self, wanted: int) -> bool:
        """Return whether `wanted` more live calls are allowed."""
        most = self.gathering.max_live_calls
        return most is None or most - self._live >= wanted

    def _queries(self) -> list[str]:
        """Return the queries of the rounds so far."""
        return list(dict.fromkeys(search.query for round_ in self._rounds for search in round_.searches))


def _by_engines(asked: Sequence[EngineSearch]) -> list[EngineSearch]:
    """Return the searches that engines answered, not the library."""
    return [each for each in asked if isinstance(each.outcome, SearchError) or each.outcome.how != "library"]


def _search(asked: EngineSearch) -> Search:
    outcome = asked.outcome
    if isinstance(outcome, SearchError):
        return Search(asked.query, asked.engine, "failed", 0, f"{outcome.code}: {outcome}")
    return Search(asked.query, asked.engine, "live" if outcome.how == "live" else "cache", len(outcome.value))


def _text(result: Mapping[str, Any], field: str) -> str:
    return one_line(str(result.get(field) or ""))


def _page_starts(result: Mapping[str, Any], text: str) -> PageStarts:
    """Return where pages begin in the text that is used of a result."""
    starts = checked_starts(result.get("page_starts"))
    return next(starts_in([text], str(result.get("body") or ""), starts))


def _described(source: GatheredSource, result: Mapping[str, Any]) -> GatheredSource:
    """Return the source with what a result says about it and no earlier one did."""
    about = {field: _text(result, field) for field in ABOUT if not getattr(source, field)}
    if not about.get("full_text", "").startswith(READABLE):
        about.pop("full_text", None)
    return replace(source, **{field: value for field, value in about.items() if value})
