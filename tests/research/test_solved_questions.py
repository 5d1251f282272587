"""Solved questions: the stored rows, the questions they answer, and for how long."""

import json
import logging
import re
import shutil
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import search_cache
from harness.cache import Cache, Policy, Semantics
from harness.cli.report import summary
from harness.core.equivalence import rule_for
from harness.core.tables import QUERIES
from harness.errors import EngineUnavailable, PageError
from harness.models.local.embedder import MiniLM
from harness.models.local.tokenizer import vocabulary
from harness.ports import SearchResult
from harness.research import reports
from harness.research.drafting import Writer
from harness.research.planner import Plan
from harness.research.result import Research
from harness.research.saved_report import saved_research
from harness.settings import FetchSettings, WritingSettings
from harness.sources.from_settings import Sources
from tests.cli.program import Program
from tests.fakes import FakeClock, MemoryStore, put_payload
from tests.research.test_loop import QUESTION, SITE, TWO, Model, Steps, ask, result
from tests.research.test_run import PAGE, Library, Scripted, change_services, research, researcher

HOUR = 3_600.0
ENOUGH = 0.6
"""The score of the results `TWO`."""


@pytest.fixture
def store() -> MemoryStore:
    """Return an empty store."""
    return MemoryStore()


@pytest.fixture
def cache(store: MemoryStore, clock: FakeClock) -> Cache:
    """Return a cache with exact lookups only."""
    return Cache(store, clock=clock)


def meaning(store: MemoryStore, embedder: Any, clock: FakeClock, **policy: Any) -> Cache:
    """Return a cache with semantic lookups, by the shipped rule."""
    semantics = Semantics(store, embedder, rule=lambda _: rule_for(0.01), words=vocabulary)
    return Cache(store, semantics=semantics, clock=clock, policy=Policy(**policy))


def solve(cache: Cache, embedder: Any, **how: Any) -> Research:
    """Research a question whose results score enough."""
    return ask(cache, how.pop("answers", TWO), embedder, **{"enough": ENOUGH, **how})


def held(store: MemoryStore) -> list[str]:
    """Return the stored questions."""
    return [entry.text for entry in store.listings.scan(QUERIES, "default")]


def markdown(found: Research) -> str:
    """Return the report's text."""
    assert found.report is not None
    return found.report.markdown()


# --- lookups


def test_a_solved_question_is_answered_at_once(cache: Cache, clock: FakeClock, embedder: Any) -> None:
    """No search, no page, not even from the cache; the same bytes, with the original question and its age."""
    engine = Scripted(lambda query: TWO[query])
    first = ask(cache, TWO, embedder, engine=engine, enough=ENOUGH)
    assert first.gathered.stop_reason == "score met"
    assert first.origin is None
    asked, embedder.texts = len(engine.asked), []
    clock.advance(30)
    again = ask(cache, TWO, embedder, engine=engine, enough=ENOUGH)
    assert (again.research_cache, again.live_calls, again.cache_hits) == ("solved", 0, 0)
    assert (len(engine.asked), embedder.texts) == (asked, [])
    assert markdown(again) == markdown(first)
    assert again.gathered == first.gathered
    assert again.origin is not None
    assert (again.origin.question, again.origin.similarity, again.origin.age) == (QUESTION, 1.0, 30.0)
    assert "answered from a solved question" in summary(again)
    assert QUESTION in summary(again)


def test_case_and_spacing_make_no_other_question(cache: Cache, embedder: Any) -> None:
    """It is the same question, found without a vector; the report has the original title."""
    first = solve(cache, embedder)
    again = solve(cache, embedder, question=f"  {QUESTION.upper().replace(' ', '   ')}\n")
    assert (again.research_cache, markdown(again)) == ("solved", markdown(first))


EQUIVALENT = ["How does exponential backoff limit the retries?", "How do exponential backoffs limit retries?"]


@pytest.mark.parametrize("asked", EQUIVALENT)
def test_an_equivalent_question_is_answered(store: MemoryStore, clock: FakeClock, minilm: MiniLM, asked: str) -> None:
    """With the real model, and the rule for searches: 0 live calls, the same bytes, and the original question is
    reported.
    """
    cache, engine = meaning(store, minilm, clock), Scripted(lambda query: [PAGE])
    first = research(cache, engine, minilm, enough=0.3)
    searches = len(engine.asked)
    again = research(cache, engine, minilm, enough=0.3, question=asked)
    assert (again.research_cache, again.live_calls, len(engine.asked)) == ("solved", 0, searches)
    assert markdown(again) == markdown(first)
    assert again.origin is not None
    assert again.origin.question == QUESTION
    assert 0.85 <= again.origin.similarity < 1.0
    assert held(store) == [QUESTION], "an answer by meaning is never stored under the new question"


def test_without_semantic_lookups_an_equivalent_question_is_another(
    store: MemoryStore, cache: Cache, embedder: Any
) -> None:
    """Even at maximal similarity."""
    solve(cache, embedder)
    assert solve(cache, embedder, question=EQUIVALENT[0]).research_cache == "off"


ALIKE = [
    ("How do I limit retries to 5 attempts?", "How do I limit retries to 6 attempts?"),
    ("How are retries limited in Python 3.11?", "How are retries limited in Python 3.12?"),
    ("How were retries limited in 2019?", "How were retries limited in 2020?"),
    ("How does exponential backoff limit retries?", "How does exponential backoff not limit retries?"),
    ("When should I retry with backoff?", "When should I not retry with backoff?"),
    ("How do I retry with backoff?", "How do I retry without backoff?"),
    ("How does Celery limit retries?", "How does Airflow limit retries?"),
    ("How do I enable retries in Celery?", "How do I disable retries in Celery?"),
    ("How do I migrate from Celery to Airflow?", "How do I migrate from Airflow to Celery?"),
    ("What is the maximum number of retries?", "What is the minimum number of retries?"),
]


@pytest.mark.parametrize(("solved", "asked"), ALIKE)
def test_a_question_that_only_looks_alike_is_not_answered(
    store: MemoryStore, clock: FakeClock, embedder: Any, solved: str, asked: str
) -> None:
    """Another number, year, version, name, direction, or its negation: even with equal vectors."""
    cache = meaning(store, embedder, clock)
    for one, other in ((solved, asked), (asked, solved)):
        cache.maintenance.clear()
        solve(cache, embedder, question=one)
        assert held(store) == [one]
        found = solve(cache, embedder, question=other)
        assert (found.research_cache, found.plan.question) == ("off", other)
        assert sorted(held(store)) == sorted([one, other])


REALLY_ALIKE = [
    *ALIKE,
    (QUESTION, "How does linear backoff limit retries?"),
    (QUESTION, "How does exponential backoff cause retries?"),
    (QUESTION, "What does exponential backoff limit besides retries?"),
]


@pytest.mark.parametrize(("solved", "asked"), REALLY_ALIKE)
def test_the_real_model_rejects_look_alikes(
    store: MemoryStore, clock: FakeClock, minilm: MiniLM, embedder: Any, solved: str, asked: str
) -> None:
    """Nor one that differs in the decisive word; equivalent questions are answered here too."""
    found = solve(Cache(MemoryStore(), clock=clock), embedder)
    assert found.report is not None
    cache = meaning(store, minilm, clock)
    known = researcher(cache, Scripted(lambda query: []), minilm)._solved(cache)
    plan = Plan(solved, "research", ("a",), found.plan.sections)
    assert known.admit(plan, found.gathered, found.evidence, found.report, ttl=60)
    assert known.find(solved) is not None
    assert known.find(asked) is None


def test_a_look_alike_hides_no_good_one(store: MemoryStore, clock: FakeClock, embedder: Any) -> None:
    """It is skipped, and the next one answers."""
    cache = meaning(store, embedder, clock)
    for question in ("How does exponential backoff not limit retries?", QUESTION):
        solve(cache, embedder, question=question)
    again = solve(cache, embedder, question=EQUIVALENT[0])
    assert again.origin is not None
    assert again.origin.question == QUESTION


# --- admission


def test_only_a_question_that_scored_enough_is_stored(store: MemoryStore, cache: Cache, embedder: Any) -> None:
    """Not one that ended for another reason, however good."""
    assert solve(cache, embedder, enough=0.6001).gathered.stop_reason == "stagnation"
    assert solve(cache, embedder, enough=0.6001, rounds=1).gathered.stop_reason == "limit of rounds"
    cache.maintenance.clear()
    assert solve(cache, embedder, enough=0.6001, calls=2).gathered.stop_reason == "limit of live calls"
    assert solve(cache, embedder, answers={"c": [result(0.1, 1)]}).gathered.stop_reason == "no evidence"
    assert held(store) == []


def test_an_incomplete_gathering_is_not_stored(store: MemoryStore, cache: Cache, embedder: Any) -> None:
    """A search failed: with it, something else might have been found."""
    engine = Scripted(lambda query: EngineUnavailable("down") if query == "b" else [result(0.9, 1)])
    found = ask(cache, TWO, embedder, engine=engine, enough=ENOUGH)
    assert found.gathered.stop_reason == "score met"
    assert held(store) == []


def test_an_unreadable_page_is_not_a_failed_search(store: MemoryStore, cache: Cache, embedder: Any) -> None:
    """There is always one; the question is solved all the same."""
    found = solve(cache, embedder, reader=Library({f"{SITE}/1": PageError("403")}))
    assert found.gathered.stop_reason == "score met"
    assert held(store) == [QUESTION]


def test_without_a_report_nothing_is_stored(store: MemoryStore, cache: Cache, embedder: Any) -> None:
    """Relevant text that cannot be quoted is not an answer."""
    answers = {"a": [result(0.9, 1, body="similarity 0.9000 in direction 3")]}
    found = solve(cache, embedder, answers=answers, enough=0.5)
    assert (found.gathered.stop_reason, found.report) == ("score met", None)
    assert held(store) == []


def test_a_cache_without_writing_stores_nothing(store: MemoryStore, clock: FakeClock, embedder: Any) -> None:
    """`--no-cache`; and a cache without reading looks nothing up."""
    cache = Cache(store, clock=clock, policy=Policy(read=False, write=False))
    assert [solve(cache, embedder).research_cache for _ in range(2)] == ["off", "off"]
    assert held(store) == []


def test_stale_answers_are_not_stored(store: MemoryStore, clock: FakeClock, embedder: Any) -> None:
    """If searches failed and stale answers were served, they do not get another TTL."""
    cache = Cache(store, clock=clock, policy=Policy(stale_if_error=600))
    solve(cache, embedder)
    clock.advance(61)

    def down(query: str) -> Any:
        raise EngineUnavailable("down")

    late = ask(cache, TWO, embedder, engine=Scripted(down), enough=ENOUGH)
    assert late.answered["stale"] == 2
    new = {name: [result(0.7, n)] for n, name in enumerate(TWO, start=7)}
    back = solve(cache, embedder, answers=new)
    assert (back.research_cache, back.live_calls) == ("off", 2)


class Late(Model):
    """A language model that is unavailable for a while."""

    away = True

    def complete(self, messages: Any, *, schema: Any = None, on_text: Any = None) -> Any:
        """See `LanguageModel.complete`."""
        if self.away:
            raise KeyboardInterrupt
        return super().complete(messages, schema=schema)


def stopped(cache: Cache, embedder: Any, model: Late) -> Any:
    """Return a researcher whose run was stopped before writing."""
    leader = researcher(cache, Scripted(lambda query: TWO[query]), embedder, enough=ENOUGH)
    change_services(leader, planner=Steps(list(TWO)))
    leader.writer = Writer(model)
    with pytest.raises(KeyboardInterrupt):
        leader.run(QUESTION)
    model.away = False
    return leader


def test_a_run_resumed_later_does_not_renew_its_sources(cache: Cache, clock: FakeClock, embedder: Any) -> None:
    """A report is written from a gathering of ten days ago; a new run searches again."""
    leader = stopped(cache, embedder, Late())
    clock.advance(10 * 24 * HOUR)
    [run] = cache.runs.all()
    assert leader.resume(run.key).report is not None
    again = leader.run(QUESTION)
    assert (again.research_cache, again.live_calls) == ("off", 2)


def test_all_uses_of_a_solved_question_are_stored(cache: Cache, embedder: Any) -> None:
    """Every search of the run, also of a stopped and resumed one: a run that reuses it can be exported."""
    leader = stopped(cache, embedder, Late())
    [run] = cache.runs.all()
    leader.resume(run.key)
    again = leader.run(QUESTION)
    uses = cache.runs.get(again.id)["uses"]
    assert len({use["asked"] for use in uses if use["table"] == "search_cache"}) == 2


# --- fingerprint


class Named(Steps):
    """Another planner."""

    version = "others"


@pytest.mark.parametrize(
    "changed",
    [
        {"enough": 0.59},
        {"rounds": 4},
        {"novel": 0.2},
        {"calls": 9},
        {"tokens": 9_000},
        {"reader": Library()},
        {"engine": "another"},
        {"options": {"region": "ch-de"}},
        {"planner": Named(list(TWO))},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_another_gathering_is_a_miss(cache: Cache, embedder: Any, changed: Mapping[str, Any]) -> None:
    """Any change of an input that decides which sources are gathered."""
    solve(cache, embedder)
    how = {"enough": ENOUGH, **changed}
    engine = Scripted(lambda query: TWO[query])
    engine.name = how.pop("engine", engine.name)
    engine.options = how.pop("options", {})
    planner = how.pop("planner", Steps(list(TWO)))
    leader = researcher(cache, engine, embedder, **how)
    change_services(leader, planner=planner)
    assert leader.run(QUESTION).research_cache == "off"


def test_another_writer_is_a_hit(cache: Cache, embedder: Any) -> None:
    """Another writer words the same gathering; planner and engine are not asked."""
    first = solve(cache, embedder)
    model, engine = Model(), Scripted(lambda query: TWO[query])
    leader = researcher(cache, engine, embedder, enough=ENOUGH)
    change_services(leader, planner=Steps(list(TWO)))
    leader.writer = Writer(model, WritingSettings(max_revisions=0), epoch="2")
    again = leader.run(QUESTION)
    assert (again.research_cache, again.live_calls, engine.asked, model.planned) == ("solved", 0, [], 0)
    assert again.report is not None
    assert (again.report.writer, len(model.told)) == ("small", 1)
    assert again.gathered == first.gathered


# --- TTL


@pytest.mark.parametrize(("seconds", "use"), [(59.9, "solved"), (60.0, "off")])
def test_it_lives_as_long_as_its_searches(
    cache: Cache, clock: FakeClock, embedder: Any, seconds: float, use: str
) -> None:
    """Their TTL is 60 seconds."""
    solve(cache, embedder)
    clock.advance(seconds)
    assert solve(cache, embedder).research_cache == use


def lasting(cache: Cache, embedder: Any, question: str = QUESTION) -> Research:
    """Solve a question whose searches have a TTL of a month."""
    leader = researcher(cache, Scripted(lambda query: TWO[query]), embedder, enough=ENOUGH)
    change_services(leader, planner=Steps(list(TWO)))
    leader.fetch = FetchSettings(ttl=30 * 24 * HOUR, page_ttl=60)
    return leader.run(question)


@pytest.mark.parametrize(("hours", "use"), [(47.9, "solved"), (48.0, "off")])
def test_it_lives_at_most_48_hours(cache: Cache, clock: FakeClock, embedder: Any, hours: float, use: str) -> None:
    """However long the searches live; they answer after that."""
    lasting(cache, embedder)
    clock.advance(hours * HOUR)
    again = lasting(cache, embedder)
    assert (again.research_cache, again.live_calls) == (use, 0)


NOW = ["What is the latest limit of retries?", "How are retries limited in 2023?", "What is the price of retries now?"]


@pytest.mark.parametrize("question", NOW)
@pytest.mark.parametrize(("minutes", "use"), [(59.9, "solved"), (60.0, "off")])
def test_a_question_about_now_lives_for_an_hour(
    cache: Cache, clock: FakeClock, embedder: Any, question: str, minutes: float, use: str
) -> None:
    """The lifetime is `volatile_ttl`; the clock says 2023."""
    lasting(cache, embedder, question)
    clock.advance(minutes * 60)
    assert lasting(cache, embedder, question).research_cache == use


def test_a_question_about_now_is_not_answered_by_an_older_one(
    store: MemoryStore, clock: FakeClock, embedder: Any
) -> None:
    """A question that is not volatile has a longer TTL."""
    cache = meaning(store, embedder, clock)
    lasting(cache, embedder, "What is the limit of retries?")
    clock.advance(2 * HOUR)
    assert lasting(cache, embedder, "What is the current limit of retries?").research_cache == "off"


def test_a_clock_that_goes_back_makes_nothing_negative(cache: Cache, clock: FakeClock, embedder: Any) -> None:
    """Its age is 0."""
    solve(cache, embedder)
    clock.advance(-240)
    again = solve(cache, embedder)
    assert again.origin is not None
    assert again.origin.age == 0.0


# --- refresh, clear, damage


def test_refresh_skips_the_lookup_and_stores_again(store: MemoryStore, clock: FakeClock, embedder: Any) -> None:
    """The new solution answers the next question."""
    solve(Cache(store, clock=clock), embedder)
    clock.advance(1)
    new = {name: [result(0.7, n)] for n, name in enumerate(TWO, start=7)}
    fresh = Cache(store, clock=clock, policy=Policy(read=False))
    found = solve(fresh, embedder, answers=new)
    assert (found.research_cache, found.live_calls) == ("off", 2)
    again = solve(Cache(store, clock=clock), embedder)
    assert (again.research_cache, markdown(again)) == ("solved", markdown(found))
    assert held(store) == [QUESTION]


def test_offline_it_answers(store: MemoryStore, clock: FakeClock, embedder: Any) -> None:
    """A replay does not use it: it repeats the original answers."""
    solve(Cache(store, clock=clock), embedder)
    assert solve(Cache(store, clock=clock, policy=Policy(offline=True)), embedder).research_cache == "solved"
    replaying = Cache(store, clock=clock, policy=Policy(offline=True, replay=True, write=False))
    assert solve(replaying, embedder).research_cache == "off"


def test_clearing_the_cache_deletes_it(store: MemoryStore, cache: Cache, embedder: Any) -> None:
    """With everything else."""
    solve(cache, embedder)
    cache.maintenance.clear()
    assert held(store) == []
    again = solve(cache, embedder)
    assert (again.research_cache, again.live_calls) == ("off", 2)


def spoil(store: MemoryStore, change: Any) -> None:
    """Change the stored payload of the solved question."""
    [entry] = store.listings.scan(QUERIES, "default")
    if isinstance(change, bytes):
        payload = change
    else:
        decoded = json.loads(entry.payload)
        change(decoded["payload"])
        payload = json.dumps(decoded).encode()
    put_payload(store, QUERIES, replace(entry, payload=payload))


DAMAGE: dict[str, Any] = {
    "no JSON": b"[{",
    "not UTF-8": b'{"payload": "\xff"}',
    "another object": b"{}",
    "nothing": b'{"payload": null}',
    "a list": b'{"payload": [1, 2]}',
    "no plan": lambda payload: payload.pop("plan"),
    "a plan of one section": lambda payload: payload["plan"].update(sections=["Answer"]),
    "a plan without a question": lambda payload: payload["plan"].update(question=""),
    "a plan of another type": lambda payload: payload["plan"].update(task_type="a poem"),
    "no sources": lambda payload: payload["docs"].update(sources=[]),
    "no rounds": lambda payload: payload["docs"].update(rounds=[]),
    "another reason": lambda payload: payload["docs"].update(stop_reason="boredom"),
    "uses of nothing": lambda payload: payload.update(uses=[{}]),
    "uses in words": lambda payload: payload.update(uses="none"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_solution_is_reported_and_replaced(
    store: MemoryStore, cache: Cache, embedder: Any, damage: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """The question is researched normally, and stored again."""
    first = solve(cache, embedder)
    spoil(store, damage)
    again = solve(cache, embedder)
    assert (again.research_cache, again.live_calls) == ("off", 0)
    assert markdown(again) == markdown(first)
    [said] = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert "will be replaced" in said.getMessage()
    assert solve(cache, embedder).research_cache == "solved"


HOSTILE = (
    "</script><script>alert(1)</script> \x1b[2J\x1b]0;owned\x07 [x](javascript:alert(1)) '; DROP TABLE agent_queries;"
)


@pytest.mark.parametrize("question", [QUESTION, HOSTILE], ids=["its own", "another"])
def test_hostile_text_in_a_payload_does_nothing(store: MemoryStore, cache: Cache, embedder: Any, question: str) -> None:
    """A row from another user's file is only text: no markup, no terminal control, no active link."""
    solve(cache, embedder)

    def infect(payload: dict[str, Any]) -> None:
        payload["plan"]["question"] = question
        payload["plan"]["sections"][0] = HOSTILE
        for source in payload["docs"]["sources"]:
            source["title"] = HOSTILE
        payload["docs"]["sources"][0]["url"] = "javascript:alert(1)"

    spoil(store, infect)
    found = solve(cache, embedder)
    assert found.report is not None
    page = reports.as_html(saved_research(found), 0.0)
    shown = [markdown(found), reports.as_markdown(saved_research(found), 0.0), page, summary(found)]
    assert "<script" not in page
    assert 'href="javascript' not in page
    assert not any("\x1b" in each or "\x07" in each for each in shown)
    assert not any(re.search(r"(?<!\\)\]\(javascript", each) for each in shown[:2])
    assert all(citation.verified for citation in found.report.citations)


def test_hostile_text_of_a_source_is_the_same_text_again(cache: Cache, embedder: Any) -> None:
    """A page's text is in the payload unchanged, and is escaped as before."""
    odd = result(0.9, 1, title="# <script>alert(1)</script> [x](javascript:y) {{7*7}} $(id) %s %(x)s")
    first = solve(cache, embedder, answers={"a": [odd]})
    again = solve(cache, embedder, answers={"a": [odd]})
    assert again.research_cache == "solved"
    assert markdown(again) == markdown(first)
    assert "\\<script\\>" in markdown(again)


@pytest.mark.parametrize("number", [210])
def test_solved_questions_are_bounded(store: MemoryStore, cache: Cache, embedder: Any, number: int) -> None:
    """200 per fingerprint; the least recently used are dropped."""
    leader = researcher(cache, Scripted(lambda query: TWO[query]), embedder, enough=ENOUGH)
    change_services(leader, planner=Steps(list(TWO)))
    solved = leader._solved(cache)
    found = leader.run(QUESTION)
    assert found.report is not None
    for n in range(number):
        plan = Plan(f"question {n}", "research", ("a",), ("Answer", "How it works", "Limits"))
        assert solved.admit(plan, found.gathered, found.evidence, found.report, ttl=60)
    assert len(held(store)) == 200


# --- the command line


class Answering:
    """An engine that has one page on everything."""

    name = "fake"
    options: Mapping[str, Any] = {}

    def __init__(self) -> None:
        self.asked: list[str] = []

    def search(self, query: str, max_results: int) -> list[SearchResult]:
        """See `SearchEngine.search`."""
        self.asked.append(query)
        return [PAGE]


@pytest.fixture
def harness(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Program:
    """Return the program `harness`, with a score of 0.3 being enough."""
    monkeypatch.setenv("HARNESS_READ_PAGES", "0")
    monkeypatch.setenv("HARNESS_ENOUGH_SCORE", "0.3")
    return Program(capsys, monkeypatch)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Answering:
    """Replace all engines by one, unless a run is replayed."""
    made, real = Answering(), Sources.engines
    monkeypatch.setattr(
        Sources,
        "engines",
        lambda self, specs=(), **how: real(self, specs) if self._replay is not None else (made,),
    )
    return made


def no_socket(*_: object, **__: object) -> None:
    """Replace `socket.socket`."""
    raise AssertionError("a socket was opened")


def test_a_run_that_reused_it_is_replayed_elsewhere(
    harness: Program, engine: Answering, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its export has everything that the solved question needs: the same bytes, in an empty folder,
    without a socket.
    """
    first = harness("research", QUESTION)
    asked = len(engine.asked)
    again = harness("research", EQUIVALENT[0])
    assert (again.code, again.out, len(engine.asked)) == (0, first.out, asked)
    assert f"0 live calls: {QUESTION}" in again.err
    newest = harness("cache", "runs", "--json").told["items"][0]["id"]
    file = tmp_path / "run.snapshot"
    assert harness("cache", "export", file, "--run", newest).code == 0
    shutil.rmtree(tmp_path / "data")
    with monkeypatch.context() as patched:
        patched.setattr(socket, "socket", no_socket)
        replayed = harness("research", QUESTION, "--replay", file)
    assert (replayed.code, replayed.out) == (0, first.out)


@pytest.mark.parametrize("flag", ["--refresh", "--no-cache"])
def test_the_flags_that_skip_the_lookup(harness: Program, engine: Answering, flag: str) -> None:
    """Both skip the lookup of solved questions."""
    harness("research", QUESTION)
    asked = len(engine.asked)
    payload = harness("research", QUESTION, flag, "--json").told
    assert payload["research_cache"] == "off"
    assert len(engine.asked) == 2 * asked


@pytest.mark.parametrize(
    "arguments",
    [
        ("--yes",),
        ("--query", QUESTION, "--yes"),
        ("--kind", "research", "--yes"),
        ("--older-than", "0", "--yes"),
    ],
    ids=" ".join,
)
def test_clearing_researches_deletes_it(harness: Program, engine: Answering, arguments: tuple[str, ...]) -> None:
    """The next run works through the question again."""
    harness("research", QUESTION)
    assert harness("cache", "clear", *arguments).code == 0
    assert harness("research", QUESTION, "--json").told["research_cache"] == "off"


LIMITS = [("--max-live-calls", "2"), ("--max-tokens", "9000"), ("--max-seconds", "600")]


@pytest.mark.parametrize("limit", LIMITS, ids=" ".join)
def test_limits_are_options_and_are_replayed(
    harness: Program, engine: Answering, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: tuple[str, str]
) -> None:
    """A run that stopped at a limit stops there again, to the byte."""
    monkeypatch.setenv("HARNESS_ENOUGH_SCORE", "1")
    first = harness("research", QUESTION, *limit, "--json")
    assert first.code == 0, first.err
    file = tmp_path / "run.snapshot"
    assert harness("cache", "export", file, "--run", first.told["run"]).code == 0
    replayed = harness("research", QUESTION, "--replay", file, "--data-dir", tmp_path / "empty")
    assert (replayed.code, replayed.out) == (0, first.told["report"])


@pytest.mark.parametrize("limit", LIMITS, ids=" ".join)
def test_a_limit_of_nothing_is_wrong_usage(harness: Program, engine: Answering, limit: tuple[str, str]) -> None:
    """One line, and no search."""
    assert limit[0].strip("-").replace("-", "_") in harness("research", QUESTION, limit[0], "0").one_line_error(2)
    assert engine.asked == []


def test_search_cache_clear_deletes_it(harness: Program, engine: Answering, monkeypatch: pytest.MonkeyPatch) -> None:
    """The original command."""
    harness("research", QUESTION)
    monkeypatch.setattr(sys, "argv", ["search_cache", "--clear", "--yes"])
    with pytest.raises(SystemExit) as ended:
        search_cache.main()
    assert not ended.value.code
    assert harness("research", QUESTION, "--json").told["research_cache"] == "off"
