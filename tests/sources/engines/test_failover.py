"""Several engines of which one answers: order, rest after a failure, errors, and how they are named."""

import json
import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from harness.app import App
from harness.core.search_engines import alternative_specs
from harness.errors import EngineUnavailable, InvalidInput, OfflineMiss, RateLimited, SearchError
from harness.ports import EngineChain, SearchResult, alternatives_of
from harness.settings import Settings
from harness.sources.engines.failover import MAX_REST, REST, Failover
from harness.storage.recorded import RecordedChain, recorded_engine
from tests.fakes import FakeClock


class Engine:
    """An engine with one result, or a failure."""

    def __init__(self, name: str, failure: Exception | None = None, **options: Any) -> None:
        self.name = name
        self.options: Mapping[str, Any] = options
        self.failure = failure
        self.asked: list[str] = []

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`."""
        self.asked.append(query)
        if self.failure is not None:
            raise self.failure
        return [SearchResult(title=self.name, href=f"https://example.org/{self.name}", body=query)]


def names(chain: EngineChain) -> list[str]:
    """Return the names of the engines in the order in which they are asked now."""
    return [engine.name for engine in chain.in_order()]


def answering(chain: Failover) -> str:
    """Return the name of the engine that answers now."""
    [found] = chain.search("query", 1)
    return found["title"]


@pytest.fixture
def clock() -> FakeClock:
    """A clock of monotonic seconds."""
    return FakeClock(50.0)


def test_the_first_engine_answers(caplog: pytest.LogCaptureFixture) -> None:
    """The next one is not asked, and nothing is logged."""
    first, second = Engine("first"), Engine("second")
    assert answering(Failover([first, second])) == "first"
    assert second.asked == []
    assert caplog.text == ""


@pytest.mark.parametrize("failure", [RateLimited("too many"), EngineUnavailable("down"), SearchError("odd")])
def test_the_next_engine_answers_when_one_fails(failure: SearchError) -> None:
    """A refusal, no answer, or any other failed search."""
    first, second = Engine("first", failure), Engine("second")
    assert answering(Failover([first, second])) == "second"
    assert first.asked == second.asked == ["query"]


def test_no_results_are_an_answer() -> None:
    """An empty list is no failure: the next engine is not asked."""
    first, second = Engine("first"), Engine("second")
    first.search = lambda query, max_results: []  # type: ignore[method-assign]
    chain = Failover([first, second])
    assert chain.search("query", 1) == []
    assert second.asked == []
    assert names(chain) == ["first", "second"]


def test_an_error_that_is_no_failed_search_is_raised() -> None:
    """A wrong setting is not hidden behind the next engine."""
    second = Engine("second")
    with pytest.raises(InvalidInput, match="no such language"):
        Failover([Engine("first", InvalidInput("no such language")), second]).search("query", 1)
    assert second.asked == []


def test_all_engines_fail() -> None:
    """The error is that of the last one, and each was asked once."""
    engines = [Engine("first", RateLimited("one")), Engine("second", EngineUnavailable("two"))]
    with pytest.raises(EngineUnavailable, match="two"):
        Failover(engines).search("query", 1)
    assert [engine.asked for engine in engines] == [["query"], ["query"]]
    with pytest.raises(SearchError):
        Failover([]).search("query", 1)


def test_a_failed_engine_is_asked_last_for_a_minute(clock: FakeClock) -> None:
    """Then it is the first again."""
    first = Engine("first", EngineUnavailable("down"))
    chain = Failover([first, Engine("second")], clock=clock)
    answering(chain)
    first.failure = None
    assert answering(chain) == "second"
    clock.advance(REST - 0.1)
    assert names(chain) == ["second", "first"]
    clock.advance(0.2)
    assert answering(chain) == "first"


def test_the_rest_grows_with_each_further_failure(clock: FakeClock) -> None:
    """One, two, four, eight minutes, and never more than a quarter of an hour."""
    first = Engine("first", EngineUnavailable("down"))
    chain = Failover([first, Engine("second")], clock=clock)
    for rest in (REST, 2 * REST, 4 * REST, 8 * REST, MAX_REST, MAX_REST):
        assert names(chain) == ["first", "second"]
        answering(chain)
        clock.advance(rest - 1)
        assert names(chain) == ["second", "first"]
        clock.advance(2)


def test_an_answer_ends_the_count_of_failures(clock: FakeClock) -> None:
    """After a search that it answered, an engine rests for one minute again."""
    first = Engine("first", EngineUnavailable("down"))
    chain = Failover([first, Engine("second")], clock=clock)
    for _ in range(3):
        answering(chain)
        clock.advance(MAX_REST)
    first.failure = None
    assert answering(chain) == "first"
    first.failure = EngineUnavailable("down again")
    answering(chain)
    clock.advance(REST + 1)
    assert names(chain) == ["first", "second"]


def test_resting_engines_keep_their_order(clock: FakeClock) -> None:
    """They come after the others; if all of them rest, the order is the first one."""
    engines = [Engine(name, EngineUnavailable("down")) for name in ("first", "second", "third")]
    chain = Failover(engines, clock=clock)
    engines[2].failure = None
    assert answering(chain) == "third"
    assert names(chain) == ["third", "first", "second"]
    engines[2].failure = EngineUnavailable("down")
    with pytest.raises(EngineUnavailable):
        chain.search("query", 1)
    assert names(chain) == ["first", "second", "third"]


def test_a_resting_engine_answers_when_the_others_fail(clock: FakeClock) -> None:
    """To be asked last is not to be left out."""
    first, second = Engine("first", RateLimited("too many")), Engine("second")
    chain = Failover([first, second], clock=clock)
    answering(chain)
    first.failure, second.failure = None, EngineUnavailable("down")
    assert answering(chain) == "first"
    assert names(chain) == ["first", "second"]


def test_a_warning_says_what_failed(clock: FakeClock, caplog: pytest.LogCaptureFixture) -> None:
    """One line for each failure: the error, which engine, and for how long it is asked after the others."""
    first = Engine("first", RateLimited("first asks for fewer requests"))
    chain = Failover([first, Engine("second")], clock=clock)
    answering(chain)
    clock.advance(MAX_REST)
    answering(chain)
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    assert caplog.messages[0].startswith("first asks for fewer requests; ")
    assert "first is asked after the others for 60 s" in caplog.messages[0]
    assert "for 120 s" in caplog.messages[1]


def test_many_threads_get_an_answer_while_an_engine_fails() -> None:
    """None meets an error, whichever order it sees."""
    chain = Failover([Engine("first", EngineUnavailable("down")), Engine("second")])
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: answering(chain), range(200))) == {"second"}


def test_a_chain_is_named_after_its_engines() -> None:
    """In their order, with the options of each, in a form that a record can hold."""
    chain = Failover([Engine("wikipedia", language="de"), Engine("ddgs")])
    assert chain.name == "wikipedia,ddgs"
    assert json.loads(json.dumps(chain.options)) == {
        "alternatives": [{"name": "wikipedia", "options": {"language": "de"}}, {"name": "ddgs", "options": {}}]
    }


def test_only_a_chain_has_alternatives() -> None:
    """Another engine is its own only one."""
    first, second = Engine("first"), Engine("second")
    chain = Failover([first, second])
    assert isinstance(chain, EngineChain)
    assert alternatives_of(chain) == (first, second)
    assert not isinstance(first, EngineChain)
    assert alternatives_of(first) == (first,)


@pytest.mark.parametrize(
    ("spec", "engines"),
    [
        ("ddgs", ["ddgs"]),
        ("ddgs,pubmed,brave", ["ddgs", "pubmed", "brave"]),
        ("searxng:http://h/?a=1,2", ["searxng:http://h/?a=1,2"]),
        ("searxng:http://h/?a=1,2,pubmed", ["searxng:http://h/?a=1,2", "pubmed"]),
        ("ddgs,searxng:http://h/?a=b,c&d=e,f", ["ddgs", "searxng:http://h/?a=b,c&d=e,f"]),
        ("corpus:/tmp/a,b,ddgs", ["corpus:/tmp/a,b", "ddgs"]),
        ("corpus:/tmp/a,githubs", ["corpus:/tmp/a,githubs"]),
        ("corpus:python-docs,wikipedia:de", ["corpus:python-docs", "wikipedia:de"]),
        ("wikipedia:de,wikipedia:en", ["wikipedia:de", "wikipedia:en"]),
        ("arxiv:years=2020-:field=cs.CL,ddgs", ["arxiv:years=2020-:field=cs.CL", "ddgs"]),
    ],
)
def test_a_comma_separates_only_before_an_engine(spec: str, engines: list[str]) -> None:
    """Any other comma is part of an address, a path or a filter."""
    assert alternative_specs(spec) == engines
    assert ",".join(engines) == spec


@pytest.mark.parametrize("spec", ["ddgs,,pubmed", ",ddgs", "ddgs,", ",", "ddgs,nope", "ddgs, pubmed"])
def test_a_spec_with_something_else_is_refused(tmp_path: Path, spec: str) -> None:
    """The error says that there is no such engine, and names those that there are."""
    with (
        App(Settings(data_dir=tmp_path)) as app,
        pytest.raises(InvalidInput, match=r"no such engine: .*choose ddgs, .*or corpus"),
    ):
        app.sources.engines([spec])


def test_each_engine_of_a_chain_is_set_up_as_alone(tmp_path: Path) -> None:
    """With its own argument and key, and the error about one that lacks its key."""
    with App(Settings(data_dir=tmp_path, exa_api_key="k")) as app:
        [chain] = app.sources.engines(["wikipedia:de,pubmed,exa"])
        alone = [app.sources.engines([spec])[0] for spec in ("wikipedia:de", "pubmed", "exa")]
        assert [(each.name, dict(each.options)) for each in alternatives_of(chain)] == [
            (each.name, dict(each.options)) for each in alone
        ]
        with pytest.raises(InvalidInput, match="brave_api_key"):
            app.sources.engines(["ddgs,brave"])


def test_a_recorded_chain_has_the_same_names_and_answers_nothing() -> None:
    """Each engine of it keeps its options, which are part of the keys."""
    chain = Failover([Engine("wikipedia", language="de"), Engine("ddgs")])
    recorded = recorded_engine(chain.name, chain.options)
    assert isinstance(recorded, RecordedChain)
    assert len(alternatives_of(recorded)) == 2
    assert [(each.name, each.options) for each in recorded.in_order()] == [
        ("wikipedia", {"language": "de"}),
        ("ddgs", {}),
    ]
    recorded.note(recorded.alternatives[0], EngineUnavailable("down"))
    assert [each.name for each in recorded.in_order()] == ["wikipedia", "ddgs"]
    for engine in (recorded, *recorded.alternatives):
        with pytest.raises(OfflineMiss, match="snapshot"):
            engine.search("query", 1)


@pytest.mark.parametrize(
    "alternatives", [5, None, [5], ["ddgs"], [{}], [{"name": "ddgs"}], [{"name": "ddgs", "options": 5}]]
)
def test_a_damaged_record_of_a_chain_is_refused(alternatives: Any) -> None:
    """The error names the engine and says what to do."""
    with pytest.raises(InvalidInput, match=r"'ddgs,pubmed' is damaged; make the snapshot again"):
        recorded_engine("ddgs,pubmed", {"alternatives": alternatives})
