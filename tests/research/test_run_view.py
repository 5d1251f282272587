"""Recorded runs: read back in full; a damaged record is an error."""

import copy
import json
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.app import App
from harness.cache import Cache, Policy
from harness.core.citations import is_quoted_in
from harness.core.freshness import DAY
from harness.core.text import one_line
from harness.errors import EngineUnavailable, InvalidInput, NotFound, StoreCorrupt, StoreError
from harness.research.drafting import Writer
from harness.research.gathering import Round
from harness.research.planner import Plan
from harness.research.report import Citation
from harness.research.result import Research
from harness.research.run import Researcher
from harness.research.run_record import RunError, new_run_id
from harness.research.run_view import PastRun, passage_of, past_run
from harness.settings import Settings
from tests.fakes import FakeClock, MemoryStore, put_payload
from tests.research.directed_embedder import DirectedEmbedder
from tests.research.test_loop import TWO, Steps, Watched, ask, result, text
from tests.research.test_model_writer import Model
from tests.research.test_run import Scripted, change_services, researcher

QUESTION = "How does exponential backoff limit retries?"
ENOUGH = 0.6
"""The score of the results `TWO`."""
RUN = "20261122-101500-1a2b3c"
WORDED = f'## Answer\nIt says so. [1: "{text(0.8, 1)}"]\nIt says more. [2: "no one has ever written this anywhere"]'
NEW_KEYS = {
    "created_at", "report", "rounds", "sources", "stop_reason", "live_calls", "cache_hits", "answered", "cache_use",
    "origin",
}  # fmt: skip
"""Keys that older records lack."""


@pytest.fixture
def store() -> Watched:
    """Return an empty store."""
    return Watched()


@pytest.fixture
def cache(store: Watched, clock: FakeClock) -> Cache:
    """Return a cache over it."""
    return Cache(store, clock=clock)


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    """Return one over an empty folder, whose engine is a folder of one note."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "retries.md").write_text("# Retries\n\nExponential backoff doubles the waiting time after every retry.\n")
    with App(Settings(data_dir=tmp_path / "data", engine=(f"corpus:{notes}",))) as opened:
        yield opened


def leading(cache: Cache, embedder: Any, *rounds: list[str], words: str | Exception = "", **how: Any) -> Researcher:
    """Return a researcher of `TWO`; a language model, if any, answers with `words`."""
    leader = researcher(cache, Scripted(lambda query: TWO.get(query, [])), embedder, **how)
    change_services(leader, planner=Steps(*(rounds or [["a", "b"]])))
    if words:
        leader.writer = Writer(Model(words))
    return leader


def assert_view(past: PastRun, found: Research) -> None:
    """Check that the view of a finished run equals its result."""
    assert (past.run, past.question, past.engine, past.state) == (found.id, QUESTION, "scripted", "finished")
    assert (past.report, past.rounds) == (found.report, found.gathered.rounds)
    assert (past.stop_reason, past.research_cache) == (found.gathered.stop_reason, found.research_cache)
    assert (past.live_calls, past.cache_hits, past.answered) == (found.live_calls, found.cache_hits, found.answered)
    assert past.origin == found.origin
    assert [(each.url, each.title) for each in past.sources] == [
        (each.url, each.title) for each in found.gathered.sources
    ]
    cited = {source for source in past.sources if source.number}
    assert cited == set(found.report.sources if found.report else ())


# --- there and back


@pytest.mark.parametrize("sections", [None, 2])
def test_a_run_is_read_back_whole(cache: Cache, clock: FakeClock, embedder: Any, sections: int | None) -> None:
    """Report and rounds are equal; times, sections and numbers are those of the run."""
    found = leading(cache, embedder, ["a"], ["b"], novel=0.0).run(QUESTION, sections=sections)
    past = past_run(cache, found.id)
    assert found.report is not None
    assert len(past.rounds) == 2
    assert_view(past, found)
    assert (past.created_at, past.expires_at) == (clock.now, clock.now + 400 * DAY)
    assert (past.model, past.sections) == ("", sections)
    assert past.report is not None
    assert past.report.markdown() == found.report.markdown()


@pytest.mark.parametrize(
    ("words", "writer"), [(WORDED, "writer"), ("no report at all", "")], ids=["worded", "excerpts"]
)
def test_a_report_of_a_model_is_read_back_whole(cache: Cache, embedder: Any, words: str, writer: str) -> None:
    """With its writer, its remark, and the sentences that no quotation supports."""
    found = leading(cache, embedder, words=words).run(QUESTION)
    past = past_run(cache, found.id)
    assert_view(past, found)
    assert past.report is not None
    assert (past.model, past.report.writer, bool(past.report.remark)) == ("writer", writer, not writer)
    if writer:
        assert [citation.verified for citation in past.report.citations] == [True, False]


def test_a_run_that_found_nothing_is_read_back(cache: Cache, embedder: Any) -> None:
    """Finished, without a report; its queries are there."""
    found = ask(cache, {"a": []}, embedder)
    past = past_run(cache, found.id)
    assert_view(past, found)
    assert (past.report, past.stop_reason, past.quoted) == (None, "no evidence", {})


def test_sources_that_are_not_cited_have_the_number_0(cache: Cache, embedder: Any) -> None:
    """All gathered sources are there, best first."""
    found = ask(cache, {"a": [result(0.9, 1), result(0.0, 2)]}, embedder)
    past = past_run(cache, found.id)
    assert_view(past, found)
    assert [source.number for source in past.sources] == [1, 0]


def test_an_answer_from_a_solved_question_has_the_original_gathering(cache: Cache, embedder: Any) -> None:
    """Report, rounds and sources are there, with the original question; nothing was searched."""
    first = leading(cache, embedder, enough=ENOUGH).run(QUESTION)
    again = leading(cache, embedder, enough=ENOUGH).run(QUESTION)
    past = past_run(cache, again.id)
    assert_view(past, again)
    assert (past.research_cache, past.live_calls, past.rounds) == ("solved", 0, first.gathered.rounds)
    assert past.origin is not None
    assert past.origin.question == QUESTION


def test_an_answer_from_a_cached_research_has_the_original_gathering(cache: Cache, embedder: Any) -> None:
    """The same, if whole researches are cached."""
    first = leading(cache, embedder, keep=True).run(QUESTION)
    again = leading(cache, embedder, keep=True).run(QUESTION)
    assert [past_run(cache, each.id).research_cache for each in (first, again)] == ["stored", "hit"]
    assert_view(past_run(cache, again.id), again)
    assert past_run(cache, again.id).report == first.report


def test_a_repeated_run_has_the_same_report(cache: Cache, embedder: Any) -> None:
    """To the byte, though the record is another one."""
    first, second = (leading(cache, embedder).run(QUESTION) for _ in range(2))
    reports = [cache.runs.get(each.id)["report"] for each in (first, second)]
    assert first.id != second.id
    assert json.dumps(reports[0]) == json.dumps(reports[1])


def test_a_snapshot_of_a_run_is_made_as_before(cache: Cache, embedder: Any) -> None:
    """A replay finds everything in the record, under the original names."""
    record = cache.runs.get(leading(cache, embedder, keep=True).run(QUESTION).id)
    assert record["research_cache"] is True
    assert record["max_rounds"] == 5
    assert "gathered" not in record


# --- runs that were stopped


def test_a_run_stopped_while_gathering_is_shown(cache: Cache, embedder: Any) -> None:
    """Its progress and the number of answers; there is no report yet."""

    def stop(round_: Round) -> None:
        raise KeyboardInterrupt

    leader = leading(cache, embedder)
    leader.on_round = stop
    with pytest.raises(KeyboardInterrupt):
        leader.run(QUESTION, run=RUN)
    past = past_run(cache, RUN)
    assert (past.state, past.report, past.rounds, past.sources, past.stop_reason) == ("gathering", None, (), (), "")
    assert (past.question, past.engine, past.research_cache) == (QUESTION, "scripted", "")
    assert past.error == RunError("interrupted", "it was stopped before it was finished")


def test_a_run_stopped_while_writing_is_shown_then_finished(cache: Cache, embedder: Any) -> None:
    """Before, with its answers; after, as if it had never stopped, and without new searches."""
    away = leading(cache, embedder, words=RuntimeError("stopped"))
    with pytest.raises(RuntimeError, match="stopped"):
        away.run(QUESTION, run=RUN)
    past = past_run(cache, RUN)
    assert (past.state, past.report, past.rounds) == ("failed", None, ())
    assert past.error is not None
    assert past.error.code == "internal_error"
    assert (past.live_calls, past.cache_hits, past.model) == (2, 0, "writer")
    resumed = leading(cache, embedder, words=WORDED).resume(RUN)
    assert resumed.report is not None
    assert_view(past_run(cache, RUN), resumed)


def test_a_run_that_failed_before_it_found_anything_has_its_cause(cache: Cache, embedder: Any) -> None:
    """The message is on one line, bounded and without control characters; the finished run has none."""
    broken = leading(cache, embedder)
    change_services(
        broken, engines=(Scripted(lambda query: EngineUnavailable("no \x1b[31manswer\nfrom it" + "!" * 500)),)
    )
    with pytest.raises(EngineUnavailable):
        broken.run(QUESTION, run=RUN)
    past = past_run(cache, RUN)
    assert past.error is not None
    assert (past.state, past.error.code) == ("failed", "engine_unavailable")
    assert past.error.message.startswith("no [31manswer from it!!")
    assert "\x1b" not in past.error.message
    assert len(past.error.message) <= 1_000
    leading(cache, embedder).resume(RUN)
    assert (past_run(cache, RUN).state, past_run(cache, RUN).error) == ("finished", None)


def test_a_bug_is_recorded_without_its_text(cache: Cache, embedder: Any) -> None:
    """The text of a foreign exception may contain anything."""

    def stop(round_: Round) -> None:
        raise ValueError("secret")

    leader = leading(cache, embedder)
    leader.on_round = stop
    with pytest.raises(ValueError, match="secret"):
        leader.run(QUESTION, run=RUN)
    past = past_run(cache, RUN)
    assert past.error is not None
    assert (past.state, past.error.code) == ("failed", "internal_error")
    assert "secret" not in past.error.message


def test_a_resumed_run_that_fails_again_keeps_what_was_gathered(
    cache: Cache, embedder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure before writing leaves the record intact: the next attempt repeats no search."""
    away = leading(cache, embedder, words=RuntimeError("stopped"))
    with pytest.raises(RuntimeError, match="stopped"):
        away.run(QUESTION, run=RUN)
    gathered = cache.runs.get(RUN)["gathered"]

    def unplanned(question: str, cache: Cache) -> Plan:
        raise KeyboardInterrupt

    monkeypatch.setattr(away.services.planner, "plan", unplanned)
    with pytest.raises(KeyboardInterrupt):
        away.resume(RUN)
    record = cache.runs.get(RUN)
    assert (record["state"], record["gathered"], record["error"]["code"]) == ("writing", gathered, "interrupted")


def test_an_unusable_question_leaves_no_run(cache: Cache, embedder: Any) -> None:
    """There is nothing to resume."""
    with pytest.raises(InvalidInput):
        leading(cache, embedder).run(" ", run=RUN)
    with pytest.raises(NotFound):
        past_run(cache, RUN)


def test_a_finished_run_that_is_resumed_is_recorded_again(cache: Cache, clock: FakeClock, embedder: Any) -> None:
    """Under its id, with the same report, and the new time."""
    first = leading(cache, embedder).run(QUESTION)
    clock.advance(5)
    again = leading(cache, embedder).resume(first.id)
    assert again.id == first.id
    past = past_run(cache, first.id)
    assert_view(past, again)
    assert (past.report, past.created_at, past.live_calls) == (first.report, clock.now, 0)


def test_a_run_that_cannot_be_recorded_has_a_report_and_no_id(store: Watched, cache: Cache, embedder: Any) -> None:
    """A full disk loses the record, not the run."""
    store.full = frozenset({"put"})
    found = leading(cache, embedder).run(QUESTION, run=RUN)
    assert found.report is not None
    assert found.id == ""
    with pytest.raises(NotFound):
        past_run(cache, RUN)


# --- ids


def test_an_id_contains_the_start_time() -> None:
    """To the second, in UTC; two of one second differ."""
    ids = {new_run_id(1_700_000_000.9) for _ in range(20)}
    assert {each[:16] for each in ids} == {"20231114-221320-"}
    assert len(ids) == 20


def test_a_run_has_the_id_that_it_was_given(cache: Cache, embedder: Any) -> None:
    """So that a caller has it before the run ends."""
    assert leading(cache, embedder).run(QUESTION, run=RUN).id == RUN
    assert [entry.key for entry in cache.runs.all()] == [RUN]
    assert past_run(cache, RUN).run == RUN


BAD_IDS = [
    "run",
    "../../etc/passwd",
    "20261122-101500-1A2B3C",
    f"{RUN}\n",
    f" {RUN}",
    "٢0261122-101500-1a2b3c",
    "\ud800",
]


@pytest.mark.parametrize("run", BAD_IDS, ids=ascii)
def test_an_invalid_id_is_refused(cache: Cache, embedder: Any, run: str) -> None:
    """Before anything is searched or stored, in one line."""
    leader = leading(cache, embedder)
    with pytest.raises(InvalidInput, match=r"\A[^\n]+\Z"):
        leader.run(QUESTION, run=run)
    assert leader.services.engines[0].asked == []  # type: ignore[attr-defined]
    assert cache.runs.all() == []


@pytest.mark.parametrize("run", ["", RUN, *BAD_IDS], ids=ascii)
def test_a_run_that_is_not_there_is_an_error(cache: Cache, run: str) -> None:
    """For any name; the error says how to list runs."""
    with pytest.raises(NotFound, match=r"\Ano such run: [^\n]+ lists them\Z"):
        past_run(cache, run)


def test_a_run_that_may_not_be_written_has_no_record(embedder: Any) -> None:
    """Also with a given id."""
    cache = Cache(MemoryStore(), policy=Policy(read=False, write=False))
    found = leading(cache, embedder).run(QUESTION, run=RUN)
    assert (found.id, cache.runs.all()) == ("", [])


# --- rounds as they end


def test_on_round_is_called_after_each_round(cache: Cache, embedder: Any) -> None:
    """In the gathering thread, in order, before the next one searches anything."""
    leader = leading(cache, embedder, ["a"], ["b"], novel=0.0)
    engine: Any = leader.services.engines[0]
    reported: list[tuple[Round, list[str], threading.Thread]] = []
    leader.on_round = lambda round_: reported.append((round_, list(engine.asked), threading.current_thread()))
    found = leader.run(QUESTION)
    assert tuple(round_ for round_, _, _ in reported) == found.gathered.rounds
    assert [asked for _, asked, _ in reported] == [["a"], ["a", "b"]]
    assert {thread for _, _, thread in reported} == {threading.current_thread()}


def test_on_round_changes_nothing(embedder: Any) -> None:
    """The report is the same to the byte."""
    plain = leading(Cache(MemoryStore()), embedder).run(QUESTION)
    leader = leading(Cache(MemoryStore()), embedder)
    leader.on_round = lambda round_: None
    payload = leader.run(QUESTION)
    assert payload.report == plain.report
    assert payload.gathered == plain.gathered


@pytest.mark.parametrize("how", [{"enough": ENOUGH}, {"keep": True}], ids=["solved", "cached"])
def test_on_round_is_not_called_without_gathering(cache: Cache, embedder: Any, how: dict[str, Any]) -> None:
    """A solved question, a cached research, and a run that has gathered already."""
    reported: list[Round] = []
    leading(cache, embedder, **how).run(QUESTION)
    leader = leading(cache, embedder, **how)
    leader.on_round = reported.append
    assert leader.run(QUESTION).research_cache in {"solved", "hit"}
    assert reported == []


def test_an_error_of_on_round_ends_the_run(cache: Cache, embedder: Any, caplog: pytest.LogCaptureFixture) -> None:
    """It is raised, and the run can be resumed without repeating its searches."""

    def stop(round_: Round) -> None:
        raise StoreError("enough of it; go on later")

    leader = leading(cache, embedder, ["a"], ["b"], novel=0.0)
    leader.on_round = stop
    with caplog.at_level(logging.WARNING), pytest.raises(StoreError, match="enough of it"):
        leader.run(QUESTION, run=RUN)
    engine: Any = leader.services.engines[0]
    assert engine.asked == ["a"]
    assert f"--resume {RUN}" in caplog.text
    leader.on_round = None
    assert leader.resume(RUN).report is not None
    assert engine.asked == ["a", "b"]


def test_an_app_passes_on_round(app: App) -> None:
    """The callback of a researcher is called, and the run is recorded under the given id."""
    reported: list[Round] = []
    found = app.researcher(on_round=reported.append).run(QUESTION, run=RUN)
    assert tuple(reported) == found.gathered.rounds
    assert found.report is not None
    assert past_run(app.cache, RUN).report == found.report


# --- older records, and damage


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    """Return the record of a finished run with every field."""
    cache = Cache(MemoryStore())
    leading(cache, DirectedEmbedder(), enough=ENOUGH).run(QUESTION)
    return cache.runs.get(leading(cache, DirectedEmbedder(), words=WORDED, enough=ENOUGH).run(QUESTION).id)


def read(record: Any) -> PastRun:
    """Return the view of a record."""
    cache = Cache(MemoryStore())
    cache.runs.put(RUN, QUESTION, "scripted", record)
    return past_run(cache, RUN)


def test_the_record_used_below_is_valid(record: dict[str, Any]) -> None:
    """Otherwise the tests below would prove nothing."""
    past = read(record)
    assert past.report is not None
    assert past.origin is not None
    assert past.rounds
    assert past.sources


def test_a_record_of_an_older_version_is_read(record: dict[str, Any]) -> None:
    """It has no report, and its start time comes from its id; answers are counted."""
    past = read({key: value for key, value in record.items() if key not in NEW_KEYS})
    assert (past.state, past.question, past.engine) == ("finished", QUESTION, "scripted")
    assert (past.report, past.rounds, past.sources, past.origin) == (None, (), (), None)
    assert past.created_at == 1_795_342_500.0
    assert past.live_calls + past.cache_hits == sum(past.answered.values()) > 0
    assert past.quoted


DAMAGE: dict[str, dict[str, Any]] = {
    "no question": {"question": None},
    "no engines": {"engines": []},
    "engines without names": {"engines": [{"options": {}}]},
    "another state": {"state": "lost"},
    "a state of several lines": {"state": "lo\nst\x1b[2J" * 500},
    "a report that is text": {"report": "# Title"},
    "a report without citations": {"report": {"title": "t", "sources": []}},
    "half a round": {"rounds": [{"searches": []}]},
    "rounds without end": {"rounds": [{"searches": [], "pages": [], "novelty": 0.5, "score": 0.5}] * 101},
    "a novelty beyond all": {"rounds": [{"searches": [], "pages": [], "novelty": 1e300, "score": 0.5}]},
    "sources that are addresses": {"sources": ["https://example.org"]},
    "a reason that is none": {"stop_reason": "tired"},
    "calls that were not made": {"live_calls": -1},
    "calls in words": {"live_calls": "many"},
    "more calls than there are": {"cache_hits": 2**60},
    "answers in a list": {"answered": [1]},
    "passages that are text": {"quoted": {"https://example.org": "all of it"}},
    "a question from nowhere": {"origin": {"question": "q"}},
    "a time before all": {"created_at": -1.0},
    "a time after all": {"created_at": 1e300},
    "sections below none": {"sections": -1},
    "a model that is a name": {"model": "small"},
    "uses of another kind": {"uses": [{"table": "t"}]},
    "too much": {"quoted": {"https://example.org": ["x" * 2**20] * 17}},
}


@pytest.mark.parametrize("changes", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_record_says_what_to_do(record: dict[str, Any], changes: dict[str, Any]) -> None:
    """One short line, without control characters: ask again, cached answers cost nothing."""
    with pytest.raises(StoreCorrupt, match=r"\A[^\n\x1b]{1,500}\Z") as raised:
        read(record | changes)
    assert RUN in str(raised.value)
    assert "research its question again" in str(raised.value)


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b"null", b"1", b"\xff\xfe", b'{"question": NaN}'], ids=ascii)
def test_a_record_that_is_not_an_object_is_damaged(payload: bytes) -> None:
    """For any other row content."""
    store = MemoryStore()
    cache = Cache(store)
    cache.runs.put(RUN, QUESTION, "scripted", {})
    [entry] = cache.runs.all()
    put_payload(store, "research_runs", replace(entry, payload=payload))
    with pytest.raises(StoreCorrupt, match="cannot be read"):
        past_run(cache, RUN)


def test_an_old_record_whose_id_is_no_time_is_damaged(record: dict[str, Any]) -> None:
    """There is no month 99."""
    cache = Cache(MemoryStore())
    old = {key: value for key, value in record.items() if key not in NEW_KEYS}
    cache.runs.put("20269922-101500-1a2b3c", QUESTION, "scripted", old)
    with pytest.raises(StoreCorrupt):
        past_run(cache, "20269922-101500-1a2b3c")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return every position in a JSON value, as container and key."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [(value, key) for key in keys] + [place for key in keys for place in places(value[key])]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_record_is_read_or_reported_as_damaged(record: dict[str, Any], data: st.DataObject) -> None:
    """A few positions changed to anything, or removed: never another error; a record that can be read can be shown."""
    mutated = copy.deepcopy(record)
    for _ in range(data.draw(st.integers(1, 3))):
        container, key = data.draw(st.sampled_from(places(mutated)))
        if data.draw(st.booleans()):
            container[key] = data.draw(JSON)
        else:
            del container[key]
    try:
        past = read(mutated)
    except (StoreCorrupt, InvalidInput):
        return
    if past.report is not None:
        past.report.markdown()
        for citation in past.report.citations:
            passage_of(past, citation)
    assert 0 <= past.created_at < past.expires_at


# --- passages


def cited(quotation: str, url: str = "https://example.org/a") -> Citation:
    """Return a citation of a quotation."""
    return Citation("Answer", 1, quotation, quotation, 1, url, 0.9, True)


def with_passages(past: PastRun, *passages: str) -> PastRun:
    """Return a run that quotes these passages."""
    return replace(past, quoted={"https://example.org/a": passages})


@pytest.mark.parametrize("words", ["", WORDED], ids=["excerpts", "worded"])
def test_every_verified_quotation_of_a_run_has_its_passage(cache: Cache, embedder: Any, words: str) -> None:
    """Its three parts are a stored passage; an unverified one has none."""
    past = past_run(cache, leading(cache, embedder, words=words).run(QUESTION).id)
    assert past.report is not None
    assert past.report.verified
    for citation in past.report.quotations:
        found = passage_of(past, citation)
        assert (found is not None) == citation.verified
        if found:
            assert is_quoted_in(citation.quotation, [found[1]])
            assert "".join(found) in {one_line(passage) for passage in past.quoted[citation.url]}


@pytest.mark.parametrize(
    ("quotation", "words"),
    [
        ('it isn\'t "done"', "it isn’t “done”"),
        ("it isn’t\n  “done”", "it isn’t “done”"),
        ("in the cafe\u0301 - once", "in the café — once"),
        ("Today it isn't", "Today it isn’t"),
        ("once more.", "once more."),
    ],
)
def test_a_passage_is_found_in_any_typography(record: dict[str, Any], quotation: str, words: str) -> None:
    """White space, Unicode form, quotation marks and dashes do not matter; the words are those of the source."""
    passage = "Today  it isn’t\n\n“done”\tin\u00a0the café — once more."
    found = passage_of(with_passages(read(record), "Another passage.", passage), cited(quotation))
    assert found is not None
    assert found[1] == words
    assert "".join(found) == "Today it isn’t “done” in the café — once more."


@pytest.mark.parametrize("quotation", ["", " ", "It is done", "done once"])
def test_other_texts_have_no_passage(record: dict[str, Any], quotation: str) -> None:
    """Other words, no words, and another source's."""
    past = with_passages(read(record), "it is done in", "the café once")
    assert passage_of(past, cited(quotation)) is None
    assert passage_of(past, cited("it is done", "https://example.org/b")) is None
    assert passage_of(past, cited("it is done")) == ("", "it is done", " in")
