"""Lookups by meaning that see the results: a refused query that they answer, an accepted one that they do not."""

import logging
from collections.abc import Sequence
from typing import Any

import pytest

from harness.cache import Cache, Policy
from harness.cache.result_reading import MAX_CHARS, MAX_READ, ResultReading
from harness.cache.semantic import MAX_ROWS_READ
from harness.core.audits import Audit
from harness.core.entries import Hit, Miss
from harness.core.equivalence import results as by_results
from harness.core.equivalence.results import ReadResult, ResultDecision, decide_by_results, read_result, unmentioned
from harness.core.freshness import HOUR
from harness.errors import ReaderError
from harness.storage.sqlite.store import SqliteStore
from tests.cache.stand_ins import Engine, results, semantics
from tests.cache.test_verified import Says, verified
from tests.fakes import FakeClock, WordEmbedder, WordReader

STORED, ASKED = "release date of python 3.11", "release date of python 3.12"
HELD = "Python 3.12 was released in October 2023."


class Reads(ResultReading):
    """A reading of results with a fixed decision that remembers what it read."""

    def __init__(self, accepted: bool = True) -> None:
        self.accepted = accepted
        self.read: list[tuple[str, str, list[str]]] = []

    def decide(self, query: str, other: str, texts: Sequence[str], similarity: float) -> ResultDecision | None:
        """See `ResultReading.decide`."""
        self.read.append((query, other, list(texts)))
        return ResultDecision(self.accepted, 0.9, "a result answers it with 90%")


def reading_cache(store: SqliteStore, clock: FakeClock, reads: ResultReading, **rest: Any) -> Cache:
    """Return a cache that reads the results of refused queries."""
    return Cache(store, semantics=semantics(store, results=reads, max_distance=0.4), clock=clock, **rest)


def test_a_refused_query_is_served_for_its_results(store: SqliteStore, clock: FakeClock) -> None:
    """The hit and the explanation have the reason, and the stored query is the one that was refused."""
    reads = Reads()
    cache = reading_cache(store, clock, reads)
    cache.searches.put(STORED, results(HELD))
    engine = Engine()
    answer = cache.searches.answer(ASKED, engine)
    assert engine.calls == []
    assert answer.how == "semantic"
    assert isinstance(answer.outcome, Hit)
    assert (answer.outcome.query, answer.outcome.reason) == (STORED, "a result answers it with 90%")
    assert answer.value == results(HELD)
    assert reads.read == [(ASKED, STORED, [f"t\n\n{HELD}"])]
    explained = cache.searches.explain(ASKED)
    assert [(each.refusal, each.reason) for each in explained.candidates] == [("", "a result answers it with 90%")]
    assert explained.shown(clock.now)["decision"] == "semantic"


def test_results_that_do_not_answer_are_searched(store: SqliteStore, clock: FakeClock) -> None:
    """The refusal of the query stands, with its reason."""
    cache = reading_cache(store, clock, Reads(accepted=False))
    cache.searches.put(STORED, results(HELD))
    engine = Engine()
    cache.searches.answer(ASKED, engine)
    assert engine.calls == [ASKED]
    assert "versions" in cache.searches.explain("release date of python 3.13").candidates[0].refusal


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("how to convert json to xml in python", "how to convert xml to json in python"),
        ("how to enable retry backoff in python http clients", "how to disable retry backoff in python http clients"),
        ('"retry backoff" python http clients', '"retry limit" python http clients'),
    ],
)
def test_what_words_cannot_settle_is_not_read(store: SqliteStore, clock: FakeClock, stored: str, asked: str) -> None:
    """Directions, opposites and quoted phrases."""
    reads = Reads()
    cache = reading_cache(store, clock, reads)
    cache.searches.put(stored, results(asked))
    engine = Engine()
    cache.searches.answer(asked, engine)
    assert engine.calls == [asked]
    assert reads.read == []


def test_only_the_nearest_refused_queries_are_read(store: SqliteStore, clock: FakeClock) -> None:
    """A lookup takes limited time."""
    reads = Reads(accepted=False)
    cache = reading_cache(store, clock, reads)
    for version in range(4, 10):
        cache.searches.put(f"release date of python 3.{version}", results(HELD))
    cache.searches.answer(ASKED, Engine())
    assert len(reads.read) == MAX_ROWS_READ


@pytest.mark.parametrize(
    ("stored", "asked", "put"),
    [
        ("latest release of python 3.11", "latest release of python 3.12", {"ttl": 100 * HOUR}),
        (STORED, ASKED, {"engine": "other"}),
        (STORED, ASKED, {"max_results": 1}),
    ],
)
def test_rows_that_may_not_answer_are_not_read(
    store: SqliteStore, clock: FakeClock, stored: str, asked: str, put: dict[str, Any]
) -> None:
    """Too old for a question about now, of another engine, with too few results."""
    reads = Reads()
    cache = reading_cache(store, clock, reads, policy=Policy(volatile_ttl=HOUR))
    cache.searches.put(stored, results(HELD), **put)
    clock.advance(2 * HOUR)
    engine = Engine()
    cache.searches.answer(asked, engine)
    assert engine.calls == [asked]
    assert reads.read == []


def test_audited_queries_are_not_read(store: SqliteStore, clock: FakeClock) -> None:
    """A live search has shown that the two have different results."""
    reads = Reads()
    cache = reading_cache(store, clock, reads)
    cache.searches.put(STORED, results(HELD))
    store.audits.put("default", Audit.of(ASKED, STORED, overlap=0.0, similarity=0.9, probability=None, now=clock.now))
    assert isinstance(cache.searches.find(ASKED), Miss)
    assert reads.read == []


def test_an_accepted_query_is_not_read(store: SqliteStore, clock: FakeClock) -> None:
    """Reading costs time, and the queries are equal anyway."""
    reads = Reads()
    cache = reading_cache(store, clock, reads)
    cache.searches.put("semantic cache false positives", results("it"))
    cache.searches.put("semantic cache false positives 12", results("it"))
    assert isinstance(cache.searches.find("false positives semantic cache"), Hit)
    assert reads.read == []


def test_a_function_of_a_script_has_no_results_to_read(store: SqliteStore, clock: FakeClock) -> None:
    """Its value is not a list of results."""
    reads = ResultReading(WordReader(), WordEmbedder(), 1.0)
    cache = reading_cache(store, clock, reads)
    cache.searches.answer(STORED, lambda _query, _most: {"x": HELD}, function="f")
    asked = Engine({"x": 2})
    cache.searches.answer(ASKED, asked, function="f")
    assert asked.calls == [ASKED]


@pytest.mark.parametrize(("body", "served"), [("About false positives in Sweden.", True), ("About others.", False)])
def test_an_accepted_query_needs_what_only_it_names(
    store: SqliteStore, clock: FakeClock, body: str, served: bool
) -> None:
    """A verifier is sure that both ask the same, but only one names a place."""
    cache = verified(store, Says(0.99), clock)
    cache.searches.put("false positives of the semantic cache", results(body))
    asked = "false positives of the semantic cache in Sweden"
    engine = Engine()
    cache.searches.answer(asked, engine)
    assert (engine.calls == []) is served
    if not served:
        refusals = [each.refusal for each in cache.searches.explain(f"{asked} ?").candidates]
        assert "its results do not mention Sweden" in refusals


def test_a_failing_reader_lets_the_engine_answer(
    store: SqliteStore, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged."""

    class Broken(WordReader):
        """A reader that fails."""

        def answers(self, question: str, texts: Sequence[str]) -> list[float]:
            """See `Reader.answers`."""
            raise ReaderError("the model is damaged")

    cache = reading_cache(store, clock, ResultReading(Broken(), WordEmbedder(), 1.0))
    cache.searches.put(STORED, results(HELD))
    engine = Engine()
    with caplog.at_level(logging.WARNING):
        cache.searches.answer(ASKED, engine)
    assert engine.calls == [ASKED]
    assert "the model is damaged" in caplog.text


def test_reading_is_bounded() -> None:
    """The first results, and the beginning of each."""
    reader = WordReader()
    ResultReading(reader, WordEmbedder(), 1.0).decide("a b", "a c", ["x" * 5_000] * 50, 0.9)
    assert len(reader.read) == 2 * MAX_READ
    assert {len(text) for text in reader.read} == {MAX_CHARS}


def test_the_decision_needs_a_result_with_all_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """And enough probability for the share of wrong answers that is allowed."""
    monkeypatch.setattr(by_results, "WEIGHTS", {"relevance": 1.0, "before": 0.0, "second": 0.0, "similarity": 0.0})
    monkeypatch.setattr(by_results, "CONSTANT", 0.0)
    monkeypatch.setattr(by_results, "LEAST", {0.01: 0.9, 0.05: 0.6})
    sure, likely = (ReadResult(relevance=each, before=0.5) for each in (0.95, 0.7))
    lacking = ReadResult(relevance=0.99, before=0.5, lacks=("3.12",))
    rival = ReadResult(relevance=0.99, before=0.5, rivals=("python 3.11",))
    assert decide_by_results([sure, lacking], 0.9, 0.01).accepted
    assert not decide_by_results([likely, rival], 0.9, 0.01).accepted
    assert decide_by_results([likely], 0.9, 0.05).accepted
    assert not decide_by_results([sure], 0.9, 0.001).accepted
    assert decide_by_results([lacking, rival], 0.9, 0.05) == ResultDecision(False, 0.0, "no result has what it names")
    assert decide_by_results([], 0.9, 0.05).accepted is False


def test_what_a_result_lacks_and_confuses() -> None:
    """Numbers and names of the new query, and other numbers after the same word."""
    read = read_result("Python 3.12 in Sweden", "Python 3.11 came first.", 0.4, 0.6)
    assert (read.relevance, read.before, read.rivals) == (0.4, 0.6, ("python 3.11",))
    assert read.lacks == ("3.12", "Sweden")
    assert not read.clean
    assert read_result("python 3.12", "python 3.12.1", 0.4, 0.6).clean


def test_unmentioned_names() -> None:
    """Names that neither the other query nor any text mentions."""
    assert unmentioned("prices in Oslo 2024", "prices in Norway", ["In 2024 all rose."]) == ("Oslo",)
    assert unmentioned("prices in Oslo 2024", "prices 2024", ["Oslo is dear."]) == ()
    assert unmentioned("", "", []) == ()


@pytest.mark.parametrize(
    ("query", "other", "text"),
    [
        ("wann erschien python 3.12", "wann wurde python 3.12 veröffentlicht", HELD),
        (ASKED, STORED, "Python 3.12 erschien im Oktober 2023 und ist die neue Version der Sprache."),
    ],
)
def test_results_are_not_read_in_another_language(query: str, other: str, text: str) -> None:
    """The reader is not asked, and nothing is decided."""
    reader = WordReader()
    assert ResultReading(reader, WordEmbedder(), 0.05).decide(query, other, [text], 0.9) is None
    assert reader.read == []
