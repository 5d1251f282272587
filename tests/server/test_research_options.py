"""Engines and models of a research from the web: choices, use, refusals."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pytest_httpserver import HTTPServer
from starlette.testclient import TestClient

from harness.app import App
from harness.errors import EngineUnavailable, InvalidInput
from harness.server.api.research_jobs import ResearchJobs
from harness.server.api.research_options import ResearchChoice, choice_of, engine_choices, model_choices, needs_network
from harness.settings import Settings
from tests.server.test_research_api import PATIENCE, begin, ended

QUESTION = "How do retries of a client stop?"
HTML = {"Accept": "text/html"}


def names(*engines: str, **settings: Any) -> list[str]:
    """Return the names of the choices with these engines."""
    return [each.name for each in engine_choices(Settings(data_dir=Path(), engine=engines, **settings))]


# --- choices


SUITED = ["pubmed", "wikipedia", "arxiv", "openalex", "europepmc", "github", "stackexchange"]
LOCAL = ["library", "corpus:python-docs"]


def test_configured_engines_come_first() -> None:
    """All together are the default; each can be chosen alone; the library and the reference need no network."""
    assert names("pubmed") == ["pubmed", *LOCAL]
    assert names("corpus:python-docs") == ["corpus:python-docs", "library"]
    assert names("pubmed", "arxiv") == ["pubmed+arxiv", "pubmed", "arxiv", *LOCAL]


def test_engines_of_the_public_web_follow_auto() -> None:
    """A server that searches the public web offers `auto` and what it may choose; one with a key also that engine. An
    instance or a folder of a team does not send its questions elsewhere.
    """
    assert names("ddgs") == ["auto", "ddgs", *SUITED, *LOCAL]
    assert names("auto") == ["auto", "ddgs", *SUITED, *LOCAL]
    assert names("ddgs", brave_api_key="k") == ["auto", "ddgs", *SUITED, "brave", *LOCAL]
    assert names("ddgs", proxy="http://127.0.0.1:9") == ["auto", "ddgs", *LOCAL]
    assert names("searxng", searxng_url="http://host.example") == ["searxng:host.example", *LOCAL]


def test_only_engines_that_send_requests_need_a_network() -> None:
    """Folders and the library do not."""
    assert [needs_network([each]) for each in ("ddgs", "auto", "corpus:python-docs", "library", "corpus:/srv/x")] == [
        True, True, False, False, False
    ]  # fmt: skip
    assert needs_network(["library,ddgs"])


def test_a_depth_changes_settings_of_the_research() -> None:
    """Quick never does more than the settings, thorough never less."""
    wide = Settings(data_dir=Path(), read_pages=10, depth=3, enough_score=0.97)
    small = Settings(data_dir=Path(), read_pages=1, max_rounds=2)
    assert choice_of(wide).changes(wide) == {}
    quick, thorough = choice_of(wide, depth="quick"), choice_of(wide, depth="thorough")
    assert quick.changes(wide) == {"max_rounds": 1, "depth": 1, "read_pages": 2}
    assert quick.changes(small)["read_pages"] == 1
    found = thorough.changes(wide)
    assert (found["max_rounds"], found["depth"], found["read_pages"], found["enough_score"]) == (5, 3, 10, 0.97)
    assert thorough.changes(small)["read_pages"] == 6
    assert choice_of(wide, "library", "none", "quick").changes(wide)["engine"] == ("library",)
    with pytest.raises(InvalidInput, match="choose from quick, standard, thorough"):
        choice_of(wide, depth="deep")


def test_choices_show_neither_paths_nor_passwords() -> None:
    """A folder by its last name, an instance by its host; equal names get a number."""
    found = engine_choices(
        Settings(data_dir=Path(), engine=("searxng:http://me:hunter2@search.example:8080/x",
                                          "corpus:/home/ada/secret/notes", "corpus:/srv/notes"))
    )  # fmt: skip
    assert [each.name for each in found[1:]] == [
        "searxng:search.example", "corpus:notes", "corpus:notes#2", *LOCAL
    ]  # fmt: skip
    shown = "".join(each.name + each.label + each.question for each in found)
    assert "hunter2" not in shown
    assert "secret" not in shown
    assert names("searxng", searxng_url="http://me:hunter2@host.example") == ["searxng:host.example", *LOCAL]


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        ("ddgs", "retrieval"),
        ("searxng:http://host.example", "retrieval"),
        ("corpus:python-docs", "Python"),
        ("corpus:/srv/notes", "documents"),
        ("pubmed", "CRISPR"),
    ],
)
def test_the_example_fits_the_default_engine(engine: str, words: str) -> None:
    """A question that the engine can answer."""
    assert words in engine_choices(Settings(data_dir=Path(), engine=(engine,)))[0].question


def test_only_offered_choices_are_accepted() -> None:
    """No URL, path or other model; empty is the default."""
    settings = Settings(data_dir=Path(), engine=("pubmed", "arxiv"), model="qwen3")
    assert choice_of(settings) == ResearchChoice((), model=True)
    assert choice_of(settings, "arxiv", "none") == ResearchChoice(("arxiv",), model=False)
    assert choice_of(settings, "corpus:python-docs", "qwen3") == ResearchChoice(("corpus:python-docs",), model=True)
    for engine in ("searxng:http://169.254.169.254/", "corpus:/etc", "browser", "ddgs", "x" * 500):
        with pytest.raises(
            InvalidInput, match=r"choose from pubmed\+arxiv, pubmed, arxiv, library, corpus:python-docs"
        ):
            choice_of(settings, engine)
    with pytest.raises(InvalidInput, match="choose from qwen3, none"):
        choice_of(settings, "", "gpt-7")
    assert model_choices(msgspec.structs.replace(settings, model=None)) == ["none"]


def test_the_form_and_the_api_offer_the_same(client: TestClient) -> None:
    """The page has a field for the engine, and an example question for the default one."""
    payload = client.get("/api/researches").json()
    assert (payload["engines"], payload["models"]) == (["corpus:notes", *LOCAL], ["none"])
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
        job = ResearchJobs(1).start(app, QUESTION, changes=choice_of(settings, "", "none").changes(settings))
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
