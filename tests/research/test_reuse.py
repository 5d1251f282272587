"""Tests of round 0: which searches passages of the library make unnecessary."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import convert
from msgspec.structs import replace

from harness.app import App
from harness.cache.usage import day_of
from harness.cli.report import decisions, summary
from harness.cli.snapshot_commands import _lines_of_run as lines_of_run
from harness.core.freshness import DAY, HOUR, NEVER
from harness.core.tables import LIBRARY
from harness.errors import OfflineMiss, SearchError, StoreError
from harness.library import ReadDocument
from harness.models.from_settings import Models
from harness.ports import SearchResult
from harness.research.planner import make_plan
from harness.research.result import Research
from harness.research.reuse import questions_of
from harness.research.run_record import new_run_id
from harness.research.run_view import past_run
from harness.research.saved_report import saved_research
from harness.settings import RecordedRun, Settings
from harness.settings.mode import Mode
from harness.storage.snapshots import write_snapshot
from tests.fakes import WordEmbedder, WordReader, refusing

QUESTION = "how many connections does the gateway pool hold"
TEXT = "This is how many connections does the gateway pool hold by default and it is ten of them."
POOL = "https://docs.example.org/pool"
OTHER = "what is the timeout of the gateway"


class Engine:
    """An engine that always finds one page about timeouts, and counts its searches; `silent`: it finds nothing; for the
    `failing` queries it fails.
    """

    def __init__(self, name: str = "web", **options: Any) -> None:
        self.name = name
        self.options = options
        self.asked: list[str] = []
        self.silent = False
        self.failing: set[str] = set()

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`."""
        self.asked.append(query)
        if query in self.failing:
            raise SearchError("refused")
        return [] if self.silent else self.found()

    def found(self) -> Sequence[SearchResult]:
        """Return what it finds for any query."""
        body = "The timeout of the gateway is thirty seconds, which is what it is."
        return [SearchResult(title="Timeouts", href="https://docs.example.org/timeouts", body=body)]


Open = Callable[..., App]


def search_with(app: App, *engines: Engine) -> None:
    """Let an app search with these engines, whichever its settings name."""
    vars(app.sources)["engines"] = lambda *_, **__: engines


def break_library(app: App, method: str) -> None:
    """Let the library of an app meet a full disk at each call of a method of the store."""
    app.library.store = refusing(StoreError("disk full"), method, store=app.store)
    app.library.index.store = app.library.store


@pytest.fixture
def engine() -> Engine:
    """An engine that counts."""
    return Engine()


@pytest.fixture
def opened(tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Open apps on one database, with a fake embedder and reader."""
    apps: list[App] = []
    monkeypatch.setattr(Models, "reader", property(lambda _: WordReader()))

    def open_app(mode: Mode = Mode(), **changes: Any) -> App:  # noqa: B008 - immutable
        settings = Settings(data_dir=tmp_path / "data", **{"read_pages": 0, "max_rounds": 1, **changes})
        app = App(settings, mode)
        app.models.__dict__["embedder"] = WordEmbedder()
        search_with(app, engine)
        apps.append(app)
        return app

    yield open_app
    for app in apps:
        app.close()


def hold(
    app: App, text: str = TEXT, url: str = POOL, *, age: float = 2 * HOUR, engine: str = "web", **more: Any
) -> None:
    """Put a page into the library that was read so many seconds ago."""
    at = app.cache.now - age
    app.library.index.add(
        ReadDocument(
            url=url, title="Pool", text=text, source="page", engine=engine, fetched_at=at, expires_at=NEVER, **more
        )
    )


def ask(app: App, question: str = QUESTION) -> Research:
    """Research a question."""
    return app.researcher().run(question)


def test_a_reused_passage_names_the_run_that_read_it(opened: Open) -> None:
    """The run that fetched its page then; not one that found it in the cache, nor a damaged record."""
    app = opened(Mode(at=1_795_000_000.0))
    hold(app, age=DAY)
    read_at, runs = app.cache.now - DAY, app.cache.runs

    def record(began: float, answered_by: str, url: str = POOL) -> str:
        pages = [{"url": url, "answered_by": answered_by, "characters": 10}]
        rounds = [{"searches": [], "pages": pages, "novelty": 1.0, "score": 1.0}]
        runs.put(run := new_run_id(began), "an earlier question", "web", {"rounds": rounds})
        return run

    reader = record(read_at - 5, "live")
    record(read_at - 3, "cache")
    record(read_at - 2, "live", "https://other.example/")
    record(read_at + 60, "live")
    runs.put(new_run_id(read_at - 1), "damaged", "web", {"rounds": 3})
    runs.put("99999999-999999-abcdef", "an id without a time", "web", {})
    found = ask(app)
    (reused,) = found.gathered.reused
    assert reused.run == reader
    assert f"1 passage read before (24 h ago, run {reader})" in summary(found)


def test_a_held_answer_needs_no_search(opened: Open, engine: Engine) -> None:
    """The report quotes the passage, its source has the day of reading, the run lists it, and its use is recorded."""
    app = opened(Mode(at=1_795_000_000.0))
    hold(app)
    found = ask(app)
    assert [row.last_used_at for row in app.store.listings.recent(LIBRARY, "default", 9)] == [app.cache.now]
    assert engine.asked == []
    assert found.live_calls == 0
    assert found.gathered.stop_reason == "answered from the library"
    assert found.report is not None
    assert found.report.citations[0].url == POOL
    assert f"read on 2026-11-18. <{POOL}>" in found.report.markdown()
    (reused,) = found.gathered.reused
    assert (reused.url, reused.source, reused.engine) == (POOL, "page", "web")
    assert f"0 of {found.gathered.planned} searches went out; 1 passage read before (2 h ago)" in summary(found)
    saved = saved_research(found).as_dict()
    assert saved["reused"][0]["key"] == reused.key
    assert [each["decision"]["state"] for each in saved["decided"]] == ["answered"]
    assert next(decisions(found.gathered.decided)).startswith(f"library: answered: {QUESTION} (the likeliest passage")
    assert past_run(app.cache, found.id).as_dict() == saved
    assert saved["searches_planned"] == len(make_plan(QUESTION).queries)


def test_a_held_passage_of_a_pdf_is_cited_with_its_page(opened: Open) -> None:
    """Also if the passage is under a heading, and when the same question is asked again."""
    app = opened()
    text = f"# Pools\n\nThe gateway is large. {TEXT}"
    hold(app, text, page_starts=((9, 6), (text.index(TEXT), 7)))
    for _ in range(2):
        report = ask(app).report
        assert report is not None
        assert [each.page for each in report.citations if each.quotation == TEXT] == [7]


def test_another_question_is_searched(opened: Open, engine: Engine) -> None:
    """Passages about something else are not used."""
    app = opened()
    hold(app, "Bread rises for two hours at a warm place before it is baked.")
    found = ask(app, OTHER)
    assert len(engine.asked) == len(make_plan(OTHER).queries)
    assert found.gathered.reused == ()
    assert all(not source.fetched_at for source in found.gathered.sources)


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("The pool of version 3.11 does hold how many connections, ten.", False),
        ("how many connections does the pool of version 3.12 hold; the pool of version 3.11 does hold ten", True),
    ],
)
def test_a_look_alike_is_searched(opened: Open, engine: Engine, text: str, used: bool) -> None:
    """A passage with another version, too, never answers, but is evidence; one with only that version is not."""
    app = opened()
    hold(app, text)
    found = ask(app, "how many connections does the pool of version 3.12 hold")
    assert len(engine.asked) == len(found.plan.queries)
    assert found.gathered.stop_reason != "answered from the library"
    assert (POOL in [source.url for source in found.gathered.sources]) is used


@pytest.mark.parametrize("way", ["off", "refresh", "evaluation"])
def test_nothing_is_reused_where_it_must_not(opened: Open, engine: Engine, way: str) -> None:
    """`--reuse off`, `--refresh` and evaluations search: in these, no task may answer another."""
    hold(opened())
    mode = Mode(read=way != "refresh", origin="evaluation" if way == "evaluation" else "user")
    found = ask(opened(mode, reuse="off" if way == "off" else "passages"))
    assert len(engine.asked) == found.live_calls > 0
    assert found.gathered.reused == ()


def test_an_exact_repeat_asks_the_cache_and_not_the_library(opened: Open, engine: Engine) -> None:
    """The report is the same, byte for byte, although the library has better passages by now."""
    app = opened()
    first = ask(app, OTHER)
    asked = len(engine.asked)
    hold(app, "what is the timeout of the gateway: it is sixty seconds", "https://docs.example.org/new")
    second = ask(app, OTHER)
    assert len(engine.asked) == asked
    assert second.gathered.reused == ()
    assert first.report is not None
    assert second.report is not None
    assert second.report.markdown() == first.report.markdown()


def test_a_repeat_reuses_the_same_passages(opened: Open, engine: Engine) -> None:
    """The same question gives the same report, although other passages were added."""
    first = ask(started := opened())
    del started
    hold(opened())
    assert first.gathered.reused == ()
    engine.asked.clear()
    question = f"{QUESTION} by default"
    second = ask(opened(), question)
    hold(opened(), f"{TEXT} And more of it by default.", "https://docs.example.org/more")
    third = ask(opened(), question)
    assert second.gathered.reused
    assert third.gathered.reused == second.gathered.reused
    assert third.report == second.report
    assert engine.asked == []


@pytest.mark.parametrize(
    ("name", "options", "searched"),
    [("web", {}, True), ("corpus", {"corpus": "b"}, True), ("corpus", {"corpus": "a"}, False)],
)
def test_passages_of_a_corpus_answer_for_that_corpus_only(
    opened: Open, engine: Engine, name: str, options: dict[str, str], searched: bool
) -> None:
    """Another corpus, and an earlier version of it, has other options."""
    app = opened()
    hold(app, engine='corpus {"corpus":"a"}')
    engine.name, engine.options = name, options
    ask(app)
    assert bool(engine.asked) is searched


def test_a_research_in_a_corpus_uses_nothing_else(opened: Open, engine: Engine) -> None:
    """A user who names a folder wants answers from it."""
    app = opened()
    hold(app)
    engine.name, engine.options = "corpus", {"corpus": "a"}
    assert ask(app).gathered.reused == ()


def test_old_passages_do_not_count(opened: Open, engine: Engine) -> None:
    """Older than `reuse_max_age`; for a question about the present, older than `volatile_ttl`."""
    app = opened(reuse_max_age=HOUR)
    hold(app)
    assert ask(app).gathered.reused == ()
    assert ask(opened(reuse_max_age=DAY), f"{QUESTION} ?").gathered.reused or engine.asked
    now = "how many connections does the gateway pool hold now"
    assert ask(opened(), now).gathered.reused == ()


def test_passages_of_sites_that_are_left_out_do_not_count(opened: Open, engine: Engine) -> None:
    """Nor does what another list decided before; a passage of another site, or of no site, does."""
    hold(opened())
    hold(opened(), TEXT.replace("default", "rule"), "knowledge:1")
    lists: list[dict[str, Any]] = [
        {}, {"skip_sites": ("example.org",)}, {"only_sites": ("example.com",)}, {"only_sites": ("docs.example.org",)}
    ]  # fmt: skip
    used = [{each.url for each in ask(opened(**sites)).gathered.reused} for sites in lists]
    assert used == [{POOL, "knowledge:1"}, {"knowledge:1"}, {"knowledge:1"}, {POOL, "knowledge:1"}]


def test_offline_the_library_answers(opened: Open, engine: Engine) -> None:
    """All passages about the question are used. Without any, the error is `OfflineMiss`."""
    app = opened(offline=True)
    with pytest.raises(OfflineMiss):
        ask(app)
    hold(opened(), "A pool hold many things, for example connections to the gateway.")
    found = ask(opened(offline=True))
    assert engine.asked == []
    assert found.gathered.reused


def test_passages_that_replace_a_search_have_their_pages(opened: Open, engine: Engine) -> None:
    """They are results of the library then, not passages about the question."""
    text = "A pool hold many things, for example connections to the gateway."
    hold(opened(), text, page_starts=((0, 5),))
    found = ask(opened(offline=True))
    assert engine.asked == []
    assert [source.page_of(text) for source in found.gathered.sources] == [5]


def test_a_replay_repeats_the_reuse(opened: Open, engine: Engine, tmp_path: Path) -> None:
    """The snapshot alone gives the same report."""
    app = opened()
    hold(app, page_starts=((0, 5),))
    found = ask(app)
    assert found.gathered.reused
    assert found.report is not None
    assert {each.page for each in found.report.citations} == {5}
    file = tmp_path / "run.snapshot"
    record = app.cache.runs.get(found.id)
    write_snapshot(file, lines_of_run(app.cache, record), run=convert(record, RecordedRun))
    again = ask(opened(Mode(replay=file)))
    assert again.gathered.reused == found.gathered.reused
    assert again.report == found.report
    assert engine.asked == []


FACTS = [f"The gateway pool has rule {number}: a connection {word} it." for number, word in enumerate(
    ("joins", "leaves", "fills", "blocks", "warms")
)]  # fmt: skip


class FactEngine(Engine):
    """An engine that finds the same facts for every query, and `more` besides."""

    def __init__(self, more: int = 0) -> None:
        super().__init__()
        self.more = more

    def found(self) -> Sequence[SearchResult]:
        """See `Engine.found`."""
        new = [f"Something new about the gateway pool, number {len(self.asked)} {each}." for each in range(self.more)]
        return [
            SearchResult(title="Pool", href=f"https://docs.example.org/{place}", body=text)
            for place, text in [*enumerate(new, start=100), *enumerate(FACTS)]
        ]


def after_a_research(opened: Open, facts: FactEngine, **changes: Any) -> App:
    """Return an app a day after the facts were read for another question."""
    with opened(Mode(at=1_795_000_000.0)) as first:
        search_with(first, facts)
        ask(first, "what does the gateway pool do")
    facts.asked.clear()
    app = opened(Mode(at=1_795_000_000.0 + DAY), **changes)
    search_with(app, facts)
    return app


FURTHER = "which rule of the gateway pool fills it"


def test_one_search_shows_that_all_was_read(opened: Open) -> None:
    """If a search finds known passages, the library answers the other queries, with the day of reading."""
    facts = FactEngine()
    app = after_a_research(opened, facts)
    found = ask(app, FURTHER)
    plan = make_plan(FURTHER)
    assert facts.asked == [plan.queries[0]]
    assert found.live_calls == 1
    assert [each.engine for each in found.gathered.searches] == ["web", *["library"] * (len(plan.queries) - 1)]
    assert {each.answered_by for each in found.gathered.searches[1:]} == {"cache"}
    assert {each.found_by for each in found.gathered.reused} <= set(make_plan("what does the gateway pool do").queries)
    (run,) = {each.run for each in found.gathered.reused}
    assert past_run(app.cache, run).question == "what does the gateway pool do"
    assert f"1 of {len(plan.queries)} searches went out" in summary(found)
    assert app.cache.usage.total()["library"] == len(plan.queries) - 1


def test_searches_of_later_rounds_are_counted(opened: Open) -> None:
    """Never more searches go out than there were."""
    facts = FactEngine(more=3)
    app = after_a_research(opened, facts, max_rounds=3, enough_score=1.0, min_novelty=0.0)
    found = ask(app, FURTHER)
    live = [each for each in found.gathered.searches if each.answered_by != "cache"]
    assert len(make_plan(FURTHER).queries) < found.gathered.planned >= len(found.gathered.searches) > len(live)


def test_what_only_the_library_has_is_dated(opened: Open) -> None:
    """A source that only held passages brought has the time of its reading, one that the search found the day of that;
    the JSON of a research has the day of both.
    """
    facts = FactEngine()
    app = after_a_research(opened, facts)
    hold(app, "Bread rises in the gateway pool explained.", age=DAY)
    facts.more = 1
    found = ask(app, FURTHER)
    assert len(facts.asked) == 1
    dates = {source.url: source.fetched_at for source in found.gathered.sources}
    assert dates[POOL] == app.cache.now - DAY
    assert dates["https://docs.example.org/100"] == 0
    shown = saved_research(found).as_dict()["sources"]
    days = {source["url"]: source["read_on"] for source in shown if source["url"] in dates}
    assert days[POOL] == day_of(app.cache.now - DAY)
    assert days["https://docs.example.org/100"] == day_of(app.cache.now)


@pytest.mark.parametrize(("more", "searched_on"), [(7, False), (8, True)])
def test_new_results_mean_that_more_is_known_elsewhere(opened: Open, more: int, searched_on: bool) -> None:
    """With less than three in ten results known, every query is searched."""
    facts = FactEngine()
    app = after_a_research(opened, facts)
    facts.more = more
    found = ask(app, FURTHER)
    assert (len(facts.asked) == len(make_plan(FURTHER).queries)) is searched_on
    assert ("library" in [each.engine for each in found.gathered.searches]) is not searched_on


def test_follow_ups_ask_the_library_too(opened: Open) -> None:
    """No later round of a research about sources that were read goes out."""
    facts = FactEngine()
    app = after_a_research(opened, facts)
    with app.serving(app.identity, max_rounds=3, min_novelty=0.0, enough_score=1.0) as mine:
        search_with(mine, facts)
        found = ask(mine, FURTHER)
    assert len([each for each in found.gathered.rounds if each.searches]) > 1
    assert len(facts.asked) == 1


def test_a_repeat_and_a_replay_ask_the_library_the_same(opened: Open, tmp_path: Path) -> None:
    """The report is the same byte for byte although other passages were added, and without the database."""
    facts = FactEngine()
    app = after_a_research(opened, facts)
    first = ask(app, FURTHER)
    hold(app, "Another rule of the gateway pool fills it, too.", "https://docs.example.org/later")
    second = ask(app, FURTHER)
    assert len(facts.asked) == 1
    assert second.gathered.reused == first.gathered.reused
    assert second.report == first.report
    file = tmp_path / "run.snapshot"
    record = app.cache.runs.get(first.id)
    write_snapshot(file, lines_of_run(app.cache, record), run=convert(record, RecordedRun))
    again = ask(opened(Mode(replay=file)), FURTHER)
    assert again.report == first.report
    assert again.gathered.reused == first.gathered.reused


def test_a_repeat_of_a_searched_question_is_the_same(opened: Open) -> None:
    """A question whose searches all went out is answered as before, although all is held now."""
    facts = FactEngine()
    app = after_a_research(opened, facts)
    facts.more = 9
    first = ask(app, FURTHER)
    asked = len(facts.asked)
    second = ask(app, FURTHER)
    assert len(facts.asked) == asked
    assert second.report == first.report
    assert [each.engine for each in second.gathered.searches] == [each.engine for each in first.gathered.searches]


@pytest.mark.parametrize("most", [1, 2])
def test_the_first_search_counts_as_a_live_call(opened: Open, most: int) -> None:
    """No more searches go out than are allowed, though they go out in two steps."""
    facts = FactEngine()
    app = after_a_research(opened, facts, max_live_calls=most)
    facts.more = 9
    ask(app, FURTHER)
    assert len(facts.asked) == most


@pytest.mark.parametrize("method", ["rows.touch", "locks.hold"])
def test_a_library_that_cannot_be_written_stops_no_research(opened: Open, engine: Engine, method: str) -> None:
    """The engines answer as if nothing were held."""
    app = opened()
    hold(app)
    break_library(app, method)
    assert ask(app).gathered.reused == ()
    assert len(engine.asked) == len(make_plan(QUESTION).queries)


def test_a_failing_probe_proves_nothing(opened: Open) -> None:
    """If the first search fails, the others go out."""
    facts = FactEngine()
    app = after_a_research(opened, facts)
    facts.failing.add(make_plan(FURTHER).queries[0])
    found = ask(app, FURTHER)
    assert sorted(facts.asked) == sorted(make_plan(FURTHER).queries)
    assert found.gathered.searches[0].answered_by == "failed"


def test_the_question_stands_for_its_rewordings() -> None:
    """A query about something more is a sub-question."""
    plan = make_plan(QUESTION)
    assert questions_of(plan) == {plan.question: plan.queries}
    more = replace(plan, queries=(*plan.queries, "gateway retries after a failure"))
    assert list(questions_of(more)) == [plan.question, "gateway retries after a failure"]
