"""Engines and models of a research from the web: choices, use, refusals."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from pytest_httpserver import HTTPServer
from starlette.testclient import TestClient

from harness.app import App
from harness.errors import EngineUnavailable, InvalidInput
from harness.server.api.research_jobs import ResearchJobs
from harness.server.api.research_options import ResearchChoice, choice_of, engine_choices, model_choices
from harness.settings import Settings
from tests.server.test_research_api import PATIENCE, begin, ended

QUESTION = "How do retries of a client stop?"
HTML = {"Accept": "text/html"}


def names(*engines: str, **settings: str) -> list[str]:
    """Return the names of the choices with these engines."""
    return [each.name for each in engine_choices(Settings(data_dir=Path(), engine=engines, **settings))]


# --- choices


def test_configured_engines_come_first() -> None:
    """All together are the default; each can be chosen alone; the language reference needs no network."""
    assert names("ddgs") == ["ddgs", "corpus:python-docs"]
    assert names("corpus:python-docs") == ["corpus:python-docs"]
    assert names("pubmed", "ddgs") == ["pubmed+ddgs", "pubmed", "ddgs", "corpus:python-docs"]


def test_choices_show_neither_paths_nor_passwords() -> None:
    """A folder by its last name, an instance by its host; equal names get a number."""
    found = engine_choices(
        Settings(data_dir=Path(), engine=("searxng:http://me:hunter2@search.example:8080/x",
                                          "corpus:/home/ada/secret/notes", "corpus:/srv/notes"))
    )  # fmt: skip
    assert [each.name for each in found[1:]] == [
        "searxng:search.example", "corpus:notes", "corpus:notes#2", "corpus:python-docs"
    ]  # fmt: skip
    shown = "".join(each.name + each.label + each.question for each in found)
    assert "hunter2" not in shown
    assert "secret" not in shown
    assert names("searxng", searxng_url="http://me:hunter2@host.example") == [
        "searxng:host.example",
        "corpus:python-docs",
    ]


@pytest.mark.parametrize(
    ("engine", "words"),
    [("ddgs", "retrieval"), ("corpus:python-docs", "Python"), ("corpus:/srv/notes", "documents"), ("pubmed", "CRISPR")],
)
def test_the_example_fits_the_default_engine(engine: str, words: str) -> None:
    """A question that the engine can answer."""
    assert words in engine_choices(Settings(data_dir=Path(), engine=(engine,)))[0].question


def test_only_offered_choices_are_accepted() -> None:
    """No URL, path or other model; empty is the default."""
    settings = Settings(data_dir=Path(), engine=("pubmed", "ddgs"), model="qwen3")
    assert choice_of(settings) == ResearchChoice((), model=True)
    assert choice_of(settings, "ddgs", "none") == ResearchChoice(("ddgs",), model=False)
    assert choice_of(settings, "corpus:python-docs", "qwen3") == ResearchChoice(("corpus:python-docs",), model=True)
    for engine in ("searxng:http://169.254.169.254/", "corpus:/etc", "browser", "ddgs ", "x" * 500):
        with pytest.raises(InvalidInput, match=r"choose from pubmed\+ddgs, pubmed, ddgs, corpus:python-docs"):
            choice_of(settings, engine)
    with pytest.raises(InvalidInput, match="choose from qwen3, none"):
        choice_of(settings, "", "gpt-7")
    assert model_choices(msgspec.structs.replace(settings, model=None)) == ["none"]


def test_the_form_and_the_api_offer_the_same(client: TestClient) -> None:
    """The page has a field for the engine, and an example question for the default one."""
    payload = client.get("/api/researches").json()
    assert (payload["engines"], payload["models"]) == (["corpus:notes", "corpus:python-docs"], ["none"])
    page = client.get("/", headers=HTML).text
    assert all(f'<option value="{name}"' in page for name in payload["engines"])
    assert 'placeholder="What do these documents say about retries?"' in page
    assert "reports are made of excerpts" in page


# --- use


@pytest.mark.slow
def test_a_research_uses_the_chosen_engine(client: TestClient, app: App) -> None:
    """The page and the API use it; `like` and resuming use the engine of that run."""
    answer = client.post("/research", data={"question": QUESTION, "engine": "corpus:python-docs"}, headers=HTML)
    run = answer.headers["location"].removeprefix("/runs/")
    ended(client, {"id": run, "events": f"/api/researches/{run}/events"})
    corpus = app.cache.runs.get(run)["engines"][0]["options"]["corpus"]
    assert "notes" not in corpus
    again = begin(client, like=run)
    ended(client, again)
    assert app.cache.runs.get(again["id"])["engines"][0]["options"]["corpus"] == corpus
    ended(client, client.post(f"/api/runs/{run}/resume").json())
    assert app.cache.runs.get(run)["engines"][0]["options"]["corpus"] == corpus
    default = begin(client)
    ended(client, default)
    assert "notes" in app.cache.runs.get(default["id"])["engines"][0]["options"]["corpus"]


def test_the_configured_model_is_not_used_if_none_is_chosen(settings: Settings, httpserver: HTTPServer) -> None:
    """The report is made of excerpts, and the record names no model."""
    settings = msgspec.structs.replace(settings, model="writer", model_url=httpserver.url_for("/v1"))
    with App(settings) as app:
        job = ResearchJobs(1).start(app, QUESTION, choice=choice_of(settings, "", "none"))
        assert job.ended.wait(PATIENCE)
        assert (job.state, job.found) == ("finished", True)
        assert app.cache.runs.get(job.run)["model"] is None
    assert httpserver.log == []


@pytest.mark.parametrize("field", ["engine", "model"])
def test_other_choices_are_refused(client: TestClient, researches: ResearchJobs, field: str) -> None:
    """With the list of choices, before anything starts."""
    answer = client.post("/api/researches", json={"question": QUESTION, field: "corpus:/etc"})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")
    assert "choose from" in answer.json()["message"]
    assert client.post("/research", data={"question": QUESTION, field: "corpus:/etc"}, headers=HTML).status_code == 400
    assert researches._jobs == {}


# --- failures


def test_a_failed_research_shows_its_cause(client: TestClient, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """One state on its page, the same in JSON, and a button to resume; also for runs of the command line."""

    def broken(*_: object, **__: object) -> None:
        raise EngineUnavailable("the engine <b>broke</b>; try again later")

    with monkeypatch.context() as patched:
        patched.setattr("harness.sources.corpus.engine.Corpus.search", broken)
        with pytest.raises(EngineUnavailable):
            app.researcher().run(QUESTION, run="20261122-101500-1a2b3c")
    page = client.get("/runs/20261122-101500-1a2b3c", headers=HTML).text
    assert "This research failed: <bdi>the engine &lt;b&gt;broke&lt;/b&gt;; try again later</bdi>" in page
    assert ">failed</span>" in page
    assert "Resume" in page
    assert "Under way" not in page
    assert "stopped" not in page
    payload = client.get("/api/runs/20261122-101500-1a2b3c").json()
    assert (payload["state"], payload["error"]["code"]) == ("failed", "engine_unavailable")
    ended(client, client.post("/api/runs/20261122-101500-1a2b3c/resume").json())
    assert "This research failed" not in client.get("/runs/20261122-101500-1a2b3c", headers=HTML).text


def test_a_research_that_failed_before_its_record_shows_its_cause(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, token: Callable[..., str]
) -> None:
    """An engine that cannot be opened leaves no record; only the tenant's own page has the cause."""

    def broken(*_: object, **__: object) -> None:
        raise InvalidInput("there is no folder of that name")

    monkeypatch.setattr(App, "researcher", broken)
    begun = begin(client)
    assert ended(client, begun)["state"] == "failed"
    page = client.get(begun["page"], headers=HTML)
    assert "there is no folder of that name" in page.text
    assert "Under way" not in page.text
    other = {"Authorization": f"Bearer {token('lab', 'ada', 'admin')}"}
    assert client.get(begun["page"], headers=HTML | other).status_code == 404
