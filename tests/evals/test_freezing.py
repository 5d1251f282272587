"""Freezing of a run against engines and pages on loopback: the task repeats it without network."""

import socket
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import yaml
from harness_evals.freezing import freeze, report_again
from harness_evals.frozen_run import FrozenRun
from harness_evals.run import run_task
from harness_evals.tasks import Task, folder_of, load_tasks
from pytest_httpserver import HTTPServer

from harness.app import App
from harness.core.tables import PAGES, SEARCHES
from harness.errors import InvalidInput, NotFound, PageError
from harness.research.result import Research
from harness.settings import Settings
from harness.settings.mode import Mode
from harness.sources.engines import searxng
from harness.sources.from_settings import Sources
from tests.cli.program import Program

pytestmark = pytest.mark.usefixtures("words")

HOSTILE = "Kettles: [boil] # - \u2028nuggets: *all 'x' \"y\" \x1b[31m\nid: other {a: &b !!python/name:os.system}"
PAGE = """<html><head><title>Kettles</title></head><body><article><h1>Kettles</h1>
<p>A kettle boils one litre of water in about three minutes, if it has 2,000 watts.</p>
<p>Kettles switch themselves off when steam reaches a small metal strip in the handle.</p></article></body></html>"""
QUESTION = "How long does a kettle take to boil water: three minutes?"


@pytest.fixture
def web(httpserver: HTTPServer) -> HTTPServer:
    """An engine that finds a page, a missing page and a hostile title."""
    found = [
        ("/page", "Kettles", "A kettle boils water in about three minutes."),
        ("/gone", HOSTILE, "How long does a kettle take to boil water? Old kettles took ten minutes to boil water."),
    ]
    results = [{"url": httpserver.url_for(path), "title": title, "content": text} for path, title, text in found]
    httpserver.expect_request("/search").respond_with_json({"results": results})
    httpserver.expect_request("/gone").respond_with_data("gone", 404)
    httpserver.expect_request("/robots.txt").respond_with_data("", 404)
    httpserver.expect_request("/page").respond_with_data(PAGE, content_type="text/html")
    return httpserver


@pytest.fixture
def app(web: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    """An app of a user whose engine is that one, which need not wait between searches."""
    settings = Settings(
        data_dir=tmp_path / "data",
        engine=(f"searxng:{web.url_for('')}",),
        allowed_hosts=("localhost",),
        reading=False,
        max_rounds=1,
        max_results=2,
    )
    engine = searxng.from_settings(web.url_for(""), settings)
    monkeypatch.setattr(Sources, "engines", lambda self, specs=(), **how: (engine,))
    with App(settings) as opened:
        yield opened


@pytest.fixture
def ran(app: App) -> Research:
    """A research of the question."""
    return app.researcher(question=QUESTION).run(QUESTION, sections=2)


def frozen_task(app: App, run: str, to: Path, **given: object) -> Task:
    """Freeze a run; return its task."""
    file = freeze(app, run, to, **given).task  # type: ignore[arg-type]
    (task,) = load_tasks([file.stem], folder_of(to))
    return task


def test_a_frozen_run_repeats_its_report_without_network(
    app: App, ran: Research, web: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice, byte for byte, at the time of the run, with its failures, and another query still has results."""
    assert ran.report is not None
    task = frozen_task(app, ran.id, tmp_path / "own", name="kettle")
    requests = len(web.log)
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("a connection"))
    plain = Settings(data_dir=tmp_path / "other", offline=True)
    assert [report_again(plain, task) for _ in range(2)] == [ran.report.undated.markdown()] * 2
    with App(plain, Mode(origin="evaluation")) as other:
        outcome = run_task(other, task)
        assert (outcome.error, outcome.cost.live_calls) == ("", ran.live_calls)
        assert outcome.limits == ran.report.limits
        assert any(each.unread for each in outcome.rounds)
        with other.serving(other.identity, at=task.now) as then:
            assert then.cache.recording().now == task.now
    assert len(web.log) == requests
    engine, gone = FrozenRun(tmp_path / "own" / "kettle").engines[0], web.url_for("/gone")
    assert engine.name == "searxng"
    assert [each["href"] for each in engine.search("kettles with metal strips", 5)][:1] == [web.url_for("/page")]
    with pytest.raises(PageError, match="404"):
        FrozenRun(tmp_path / "own" / "kettle").read(gone)


def test_a_task_file_has_what_the_run_had_and_suggestions(app: App, ran: Research, tmp_path: Path) -> None:
    """Settings that differ from the defaults; hostile titles and sentences stay on their lines, as data."""
    file = freeze(app, ran.id, tmp_path / "own").task
    text = file.read_text()
    assert yaml.safe_load(text)["settings"] == {"max_rounds": 1, "max_results": 2, "reading": False}
    assert [line for line in text.splitlines() if line.startswith(("nuggets", "id"))] == [f"id: {file.stem}"]
    (task,) = load_tasks(folder=file.parent)
    assert (task.question, task.structure and task.structure.exactly) == (QUESTION, 2)
    kept = text[: text.index("# Sources")]
    suggested = [
        line.removeprefix("# ") for line in text.splitlines() if line.startswith(("# gold", "#   - ", "# nug"))
    ]
    file.write_text(kept + "\n".join(suggested) + "\n")
    (edited,) = load_tasks(folder=file.parent)
    assert edited.gold
    assert all(nugget.importance == "vital" for nugget in edited.nuggets)


def test_given_nuggets_and_names_are_used(app: App, ran: Research, tmp_path: Path) -> None:
    """And refused where they make no task; nothing is overwritten."""
    task = frozen_task(app, ran.id, tmp_path, name="kettle", nuggets=["three minutes", "2,000 watts"])
    assert [nugget.aliases for nugget in task.nuggets] == [("three minutes",), ("2,000 watts",)]
    for name, error in (("kettle", "exists"), ("../up", "--id"), ("tasks", "--id")):
        with pytest.raises(InvalidInput, match=error):
            freeze(app, ran.id, tmp_path, name=name)
    with pytest.raises(InvalidInput, match="--nugget"):
        freeze(app, ran.id, tmp_path, name="other", nuggets=["?!"])
    assert not (tmp_path / "other").exists()


def test_too_many_bytes_leave_no_files(
    app: App, ran: Research, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name can be used again."""
    pages = freeze(app, ran.id, tmp_path / "a").folder / "pages.jsonl"
    monkeypatch.setattr("harness_evals.freezing.MAX_BYTES", pages.stat().st_size - 1)
    with pytest.raises(InvalidInput, match="can be frozen"):
        freeze(app, ran.id, tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_what_is_no_longer_held_is_named(app: App, ran: Research, tmp_path: Path) -> None:
    """A search or a page that was deleted or replaced since."""
    for entry in list(app.store.listings.scan(PAGES, app.identity.tenant)):
        app.store.rows.delete(PAGES, app.identity.tenant, [entry.key])
    with pytest.raises(InvalidInput, match=r"1 answers of the run .*: the page http://localhost:\d+/page; research"):
        freeze(app, ran.id, tmp_path)
    for entry in list(app.store.listings.scan(SEARCHES, app.identity.tenant)):
        changed = msgspec.structs.replace(entry, payload=b"[]")
        app.store.rows.put(SEARCHES, app.identity.tenant, changed)
    with pytest.raises(InvalidInput, match=r"the search '.*'; .*the page"):
        freeze(app, ran.id, tmp_path)
    assert list(tmp_path.glob("*/answers.jsonl")) == []


def test_runs_that_cannot_be_repeated_are_refused(app: App, ran: Research, tmp_path: Path) -> None:
    """Unknown, unfinished, of a model, of the library: each with what to do."""
    with pytest.raises(NotFound, match="no such run"):
        freeze(app, "20200101-000000-abcdef", tmp_path)
    record = app.cache.runs.get(ran.id)
    model = {"name": "m", "endpoint": "http://localhost/v1", "parameters": {}}
    passage = {"key": "k", "url": "u", "title": "t", "source": "page", "engine": "e", "found_by": "q", "fetched_at": 1}
    for change, error in (
        ({"state": "writing"}, "--resume"),
        ({"model": model}, "without a model"),
        ({"reused": [passage]}, "--reuse off"),
        ({"rounds": []}, "no record of its searches"),
    ):
        app.cache.runs.put(ran.id, QUESTION, "searxng", {**record, **change})
        with pytest.raises(InvalidInput, match=error):
            freeze(app, ran.id, tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("answers.jsonl", "", "does not begin with the line of its run"),
        ("answers.jsonl", '{"line":"answer","engine":"e","query":"q"}\n', "does not begin with the line of its run"),
        (
            "answers.jsonl",
            '{"line":"run","run":"r","engines":[{"name":"e","options":{"alternatives":[1]}}]}\n',
            "line 1",
        ),
        ("pages.jsonl", '{"url":"http://a","page":{"url":1}}\n', "line 1"),
        ("pages.jsonl", "x" * 200, "bytes; at most"),
    ],
)
def test_damaged_files_of_a_frozen_run_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str, error: str
) -> None:
    """With the file, and the line where there is one."""
    monkeypatch.setattr("harness_evals.frozen_run.MAX_BYTES", 150)
    about = '{"line":"run","run":"r","engines":[{"name":"e"}]}\n'
    for each, text in {"answers.jsonl": about, "pages.jsonl": "", name: content}.items():
        (tmp_path / each).write_text(text)
    with pytest.raises(InvalidInput, match=f"{name}.*{error}"):
        FrozenRun(tmp_path)


def test_the_answers_of_a_chain_come_from_the_engine_that_gave_them(tmp_path: Path) -> None:
    """Another engine of the chain refuses; a failed search fails again."""
    chain = {"name": "a,b", "options": {"alternatives": [{"name": "a", "options": {}}, {"name": "b", "options": {}}]}}
    hit = {"title": "Soup", "href": "http://s.example", "body": "Soup is hot."}
    lines = [
        {"line": "run", "run": "r", "engines": [chain]},
        {"line": "answer", "engine": "b", "query": "Hot soup", "results": [hit]},
        {"line": "answer", "engine": "a", "query": "bread", "error": "rate_limited: a: too many requests"},
    ]
    (tmp_path / "answers.jsonl").write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    (tmp_path / "pages.jsonl").touch()
    (engine,) = FrozenRun(tmp_path).engines
    one, other = engine.alternatives  # type: ignore[attr-defined]
    assert other.search("hot  soup", 5) == engine.search("hot soup", 5) == [hit]
    for query, error in (("hot soup", "another engine answered"), ("bread", "too many requests")):
        with pytest.raises(Exception, match=error):
            one.search(query, 5)
    assert other.search("what is hot?", 5) == [hit]


def test_the_command_writes_a_task_and_says_whether_it_repeats(
    harness: Program, app: App, ran: Research, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same report; the new folder is a suite."""
    monkeypatch.chdir(tmp_path)
    told = harness("eval", "new", "--from-run", ran.id, "--data-dir", app.settings.data_dir, "--json").told
    assert told["same_report"] is True
    assert Path(told["file"]).parent == Path("recorded/tasks")
    assert harness("eval", "check", "--tasks-dir", "recorded").code == 0
    assert "exists" in harness("eval", "new", "--from-run", ran.id, "--data-dir", app.settings.data_dir).one_line_error(
        2
    )
