"""Searches and researches with several engines of which one answers: cache, record, snapshot, resuming."""

import importlib
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.cache import Cache, Policy
from harness.errors import EngineUnavailable, OfflineMiss, RateLimited, SearchError
from harness.ports import SearchEngine, SearchResult
from harness.research.fingerprint import code_of
from harness.research.held_answers import is_cached
from harness.research.planner import RulePlanner
from harness.research.search import EngineSearch, ask_all, search_all
from harness.settings import FetchSettings, GatheringSettings, Settings
from harness.sources.engines.failover import REST, Failover
from tests.cli.program import Program
from tests.fakes import FakeClock, MemoryStore, WordEmbedder
from tests.research.test_run import Library, researcher, silent

QUESTION = "How do retries use exponential backoff?"
QUERY = "retries exponential backoff"
DOWN = EngineUnavailable("it is down; try again later")


class Engine:
    """An engine with one result, at its own host; or a failure."""

    def __init__(self, name: str, failure: Exception | None = None, **options: Any) -> None:
        self.name = name
        self.options: Mapping[str, Any] = options
        self.failure = failure
        self.asked: list[str] = []
        self._lock = threading.Lock()

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`."""
        with self._lock:
            self.asked.append(query)
        if self.failure is not None:
            raise self.failure
        body = f"Retries use exponential backoff, says {self.name}. The words {query} were asked for."
        return [SearchResult(title=self.name, href=f"https://{self.name}.example.org/", body=body)]


@pytest.fixture
def embedder() -> WordEmbedder:
    """Return an embedder with one token per word."""
    return WordEmbedder()


@pytest.fixture
def cache(clock: FakeClock) -> Cache:
    """Return an empty cache."""
    return Cache(MemoryStore(), clock=clock)


def ask(cache: Cache, *engines: SearchEngine, query: str = QUERY) -> list[EngineSearch]:
    """Search one query with engines that are fused."""
    return ask_all(
        [query], cache, engines, fetch=FetchSettings(ttl=3_600), max_results=3, progress=silent, what="searching"
    )


def outcome(cache: Cache, engine: SearchEngine, query: str = QUERY) -> tuple[str, str]:
    """Return which engine answered a query, and how."""
    [asked] = ask(cache, engine, query=query)
    assert not isinstance(asked.outcome, SearchError), asked
    return asked.engine, asked.outcome.how


def same_store(cache: Cache, clock: FakeClock, **policy: Any) -> Cache:
    """Return a cache over the same store with other rules."""
    return Cache(cache.store, clock=clock, policy=Policy(**policy))


@pytest.mark.parametrize("failure", [DOWN, RateLimited("it asks for fewer requests")])
def test_the_next_engine_answers(cache: Cache, failure: SearchError) -> None:
    """The outcome names the engine that answered, and its results are returned."""
    first, second = Engine("first", failure), Engine("second")
    [asked] = ask(cache, Failover([first, second]))
    assert (asked.engine, [result["title"] for result in asked.results]) == ("second", ["second"])
    assert first.asked == second.asked == [QUERY]


def test_an_answer_is_cached_for_the_engine_that_gave_it(cache: Cache) -> None:
    """A later search with that engine alone is a hit, one with the engine that failed is not."""
    first, second = Engine("first", DOWN), Engine("second")
    ask(cache, Failover([first, second]))
    assert outcome(cache, Engine("second")) == ("second", "exact")
    assert outcome(cache, Engine("first")) == ("first", "live")


def test_what_an_engine_found_alone_answers_in_a_chain(cache: Cache) -> None:
    """Answers of the first engine, and of a later one when those before it fail."""
    ask(cache, Engine("second"))
    first, second = Engine("first", DOWN), Engine("second")
    assert outcome(cache, Failover([first, second])) == ("second", "exact")
    assert outcome(cache, Failover([second, first])) == ("second", "exact")
    assert second.asked == []


def test_engines_of_one_name_keep_their_places_by_options(cache: Cache) -> None:
    """The same engine in two languages has two places in the cache."""
    german, english = Engine("wikipedia", DOWN, language="de"), Engine("wikipedia", language="en")
    ask(cache, Failover([german, english]))
    assert outcome(cache, Engine("wikipedia", language="en")) == ("wikipedia", "exact")
    assert outcome(cache, Engine("wikipedia", language="de")) == ("wikipedia", "live")


def test_no_results_are_an_answer(cache: Cache) -> None:
    """The next engine is not asked, and the empty answer is remembered for the engine that gave it."""
    first, second = Engine("first"), Engine("second")
    first.search = lambda query, max_results: []  # type: ignore[method-assign]
    assert outcome(cache, Failover([first, second])) == ("first", "live")
    assert outcome(cache, Engine("first")) == ("first", "no results")
    assert second.asked == []


def test_all_engines_of_a_chain_fail(cache: Cache) -> None:
    """Its search failed as the last one did, under the name of the chain; another engine still answers."""
    chain = Failover([Engine("first", RateLimited("one")), Engine("second", DOWN)])
    failed, answered = ask(cache, chain, Engine("third"))
    assert (failed.engine, failed.outcome) == ("first,second", DOWN)
    assert answered.results
    with pytest.raises(EngineUnavailable, match="it is down"):
        search_all(QUERY, cache, [chain], Settings(), silent)


def test_a_failed_engine_is_asked_last_in_later_searches(cache: Cache, clock: FakeClock) -> None:
    """For a minute the next one answers at once; after that it is the first again, and answers."""
    first, second = Engine("first", DOWN), Engine("second")
    chain = Failover([first, second], clock=clock)
    ask(cache, chain)
    first.failure = None
    clock.advance(REST - 1)
    assert outcome(cache, chain, "another query") == ("second", "live")
    assert first.asked == [QUERY]
    clock.advance(2)
    assert outcome(cache, chain, "a third query") == ("first", "live")


def test_a_failed_engine_that_fails_again_rests_longer(cache: Cache, clock: FakeClock) -> None:
    """Two minutes after its second failure, and one again after it has answered."""
    first = Engine("first", DOWN)
    chain = Failover([first, Engine("second")], clock=clock)
    for number, rest in enumerate((REST, 2 * REST)):
        ask(cache, chain, query=f"query {number}")
        clock.advance(rest - 1)
        assert chain.in_order()[0] is not first
        clock.advance(2)
    first.failure = None
    assert outcome(cache, chain, "it answers") == ("first", "live")
    first.failure = DOWN
    ask(cache, chain, query="it fails")
    clock.advance(REST + 1)
    assert chain.in_order()[0] is first


def test_offline_any_engine_answers_from_the_cache(cache: Cache, clock: FakeClock) -> None:
    """None is asked; without an answer of any it is an offline miss, and no engine is blamed for it."""
    ask(cache, Engine("second"))
    first, second = Engine("first"), Engine("second")
    chain, offline = Failover([first, second], clock=clock), same_store(cache, clock, offline=True)
    assert outcome(offline, chain) == ("second", "exact")
    with pytest.raises(OfflineMiss, match="never asked"):
        ask(offline, chain, query="never asked")
    assert first.asked == second.asked == []
    assert list(chain.in_order()) == [first, second]


def test_a_search_is_cached_if_any_engine_of_the_chain_has_it(cache: Cache) -> None:
    """For a chain one suffices; engines that are fused must all have it."""
    first, second = Engine("first"), Engine("second")
    chain, gathering = Failover([first, second]), GatheringSettings(max_results=3)
    assert not is_cached(QUERY, [chain], gathering, cache)
    ask(cache, second)
    assert is_cached(QUERY, [chain], gathering, cache)
    assert not is_cached(QUERY, [first, second], gathering, cache)
    assert not is_cached(QUERY, [chain, first], gathering, cache)


def test_the_code_of_a_chain_is_that_of_its_engines() -> None:
    """Results are reused only by the code of every engine that may have made them."""
    ddgs, pubmed = Engine("ddgs"), Engine("pubmed")
    chain = code_of(RulePlanner(), [Failover([ddgs, pubmed])], Library())
    assert chain == code_of(RulePlanner(), [ddgs, pubmed], Library())
    assert chain != code_of(RulePlanner(), [ddgs], Library())


def test_a_research_goes_on_with_the_next_engine(cache: Cache, embedder: Any) -> None:
    """Its report rests on what that one found, and each search names the engine that answered it."""
    first, second = Engine("first", DOWN), Engine("second")
    found = researcher(cache, Failover([first, second]), embedder).run(QUESTION)
    assert found.report is not None
    assert [source.url for source in found.report.sources] == ["https://second.example.org"]
    assert {search.engine for round_ in found.gathered.rounds for search in round_.searches} == {"second"}
    assert found.engine == "first,second"


def test_the_same_research_gives_the_same_report(cache: Cache, embedder: Any) -> None:
    """While the first engine fails as before, the second one is not asked again."""
    first, second = Engine("first", DOWN), Engine("second")
    reports, asked = [], []
    for _ in range(2):
        found = researcher(cache, Failover([first, second]), embedder, keep=False).run(QUESTION)
        assert found.report is not None
        reports.append(found.report.markdown())
        asked.append(len(second.asked))
    assert reports[0] == reports[1]
    assert asked[0] == asked[1]


def test_a_stopped_research_continues_with_the_chain(cache: Cache, embedder: Any) -> None:
    """Answers of an engine before the stop is not asked of it again, and the report is the same."""
    whole = Failover([Engine("first", DOWN), Engine("second")])
    expected = researcher(Cache(MemoryStore()), whole, embedder).run(QUESTION).report
    second, answered = Engine("second"), list[str]()
    answer = second.search

    def stopping(query: str, max_results: int) -> Sequence[SearchResult]:
        if answered:
            raise KeyboardInterrupt
        answered.append(query)
        return answer(query, max_results)

    second.search = stopping  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        researcher(cache, Failover([Engine("first", DOWN), second]), embedder).run(QUESTION)
    [run] = cache.runs.all()
    second.search = answer  # type: ignore[method-assign]
    found = researcher(cache, Failover([Engine("first", DOWN), second]), embedder).resume(run.key).report
    assert expected is not None
    assert found is not None
    assert found.undated.markdown() == expected.undated.markdown()
    assert second.asked.count(answered[0]) == 1


# On the command line -----------------------------------------------------------------------------------------------


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Engine]]:
    """Put engines in the place of those of these names; return the engines by name."""
    monkeypatch.setenv("HARNESS_READ_PAGES", "0")  # their addresses do not exist
    monkeypatch.setenv("HARNESS_SEARCHES_PER_MINUTE", "60000")

    def put(**failures: Exception | None) -> dict[str, Engine]:
        engines = {name: Engine(name, failure) for name, failure in failures.items()}
        for name, engine in engines.items():
            module = importlib.import_module(f"harness.sources.engines.{name}")
            monkeypatch.setattr(module, "from_settings", lambda argument, settings, engine=engine: engine)
        return engines

    return put


def newest(harness: Program) -> dict[str, Any]:
    """Return the newest run of the list of runs."""
    run: dict[str, Any] = harness("runs", "--json").told["items"][0]
    return run


def test_a_search_says_what_failed_and_who_answered(harness: Program, web: Any) -> None:
    """A warning about the one, and a line about the other; the second time it comes from the cache."""
    web(ddgs=DOWN, pubmed=None)
    ended = harness("search", QUERY, "-e", "ddgs,pubmed")
    assert ended.code == 0
    warning, summary = ended.err.splitlines()
    assert warning.startswith("warning: it is down; try again later; ddgs is asked after the others for 60 s")
    assert summary == "1 result from pubmed; 1 live call"
    assert "from the cache (exact" in harness("search", QUERY, "-e", "pubmed").err
    assert "from the cache (exact" in harness("search", QUERY, "-e", "ddgs,pubmed", "--offline").err


def test_a_search_that_every_engine_fails_is_one_error(harness: Program, web: Any) -> None:
    """After a warning for each, with the exit code of a failed search; offline, it is a miss."""
    web(ddgs=DOWN, pubmed=EngineUnavailable("pubmed is down as well"))
    ended = harness("search", QUERY, "-e", "ddgs,pubmed")
    assert (ended.code, ended.out) == (3, "")
    assert [line.partition(":")[0] for line in ended.err.splitlines()] == ["warning", "warning", "error"]
    assert ended.err.splitlines()[-1].startswith(
        "error: pubmed is down as well. Without a network, try --engine corpus:"
    )
    assert "nothing is cached" in harness("search", QUERY, "-e", "ddgs,pubmed", "--offline").one_line_error(6)


def test_a_snapshot_of_a_chain_is_replayed(harness: Program, web: Any, tmp_path: Path) -> None:
    """In an empty folder, without any engine: the same bytes, although the first engine had failed."""
    engines = web(ddgs=DOWN, pubmed=None)
    first = harness("research", QUESTION, "-e", "ddgs,pubmed")
    assert first.code == 0
    assert "<https://pubmed.example.org" in first.out
    run = newest(harness)
    assert run["engine"] == "ddgs,pubmed"
    file = tmp_path / "run.snapshot"
    assert harness("cache", "export", file, "--run", run["id"]).code == 0
    asked = [len(engine.asked) for engine in engines.values()]
    replayed = harness("research", QUESTION, "--replay", file, "--data-dir", tmp_path / "empty")
    assert (replayed.code, replayed.out) == (0, first.out)
    assert " 0 live calls" in replayed.err
    assert [len(engine.asked) for engine in engines.values()] == asked


def test_a_replay_asks_no_engine_for_another_question(harness: Program, web: Any, tmp_path: Path) -> None:
    """The snapshot has no answer of any engine of the chain, and the error says so."""
    engines = web(ddgs=DOWN, pubmed=None)
    harness("research", QUESTION, "-e", "ddgs,pubmed")
    file = tmp_path / "run.snapshot"
    harness("cache", "export", file, "--run", newest(harness)["id"])
    asked = len(engines["pubmed"].asked)
    line = harness("research", "what is a monad", "--replay", file).one_line_error(6)
    assert "monad" in line
    assert "snapshot" in line
    assert len(engines["pubmed"].asked) == asked


def test_a_run_with_a_chain_is_resumed_with_it(harness: Program, web: Any) -> None:
    """No option is repeated, its record keeps the commas, and the results is not asked for again."""
    engines = web(ddgs=DOWN, pubmed=None)
    first = harness("research", QUESTION, "-e", "ddgs,pubmed", "--json").told
    asked = len(engines["pubmed"].asked)
    again = harness("research", "--resume", first["run"], "--json").told
    assert again["report"] == first["report"]
    assert again["engine"] == first["engine"] == "ddgs,pubmed"
    assert len(engines["pubmed"].asked) == asked


def test_a_chain_is_fused_with_other_engines(harness: Program, web: Any) -> None:
    """It counts as one engine, and the one that answered gives its results."""
    web(ddgs=DOWN, pubmed=None, wikipedia=None)
    told = harness("search", QUERY, "-e", "ddgs,pubmed", "-e", "wikipedia", "--json").told
    assert [each["engine"] for each in told["searches"]] == ["pubmed", "wikipedia"]
    assert {result["title"] for result in told["results"]} == {"pubmed", "wikipedia"}
