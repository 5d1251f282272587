"""Pages of researches: the form and its errors, the report's contents and files, follow-up questions, sources."""

import json
import sys
import zipfile
from io import BytesIO
from typing import Any, get_args

import pytest
from starlette.testclient import TestClient

from harness.app import App
from harness.research.gathering import STOPPED_BECAUSE, StopReason
from harness.server.api.research_jobs import ResearchJobs
from harness.server.pages import run_routes
from harness.server.pages.templates import source_href
from tests.server.test_pages import EVIL, HTML, NO_ROUND, shown
from tests.server.test_research_api import NOWHERE, QUESTION, begin, ended

pytestmark = pytest.mark.usefixtures("embedder")

NOTE = "# Bread\n\nBread is **baked** in an oven.\nIt rises first.\n"


def record(app: App, url: str = "file:///notes/bread.md", **more: Any) -> None:
    """Record a run with a report of two sections from one source."""
    quotation = "Bread is **baked** in an oven."
    cited = [
        {"section": section, "paragraph": 1, "sentence": "Bread is baked.", "quotation": quotation,
         "number": 1, "url": url, "similarity": 0.5, "verified": True}
        for section in ("Answer", "Details")
    ]  # fmt: skip
    source = {"number": 1, "title": "Bread", "url": url}
    report = {"title": "How is bread baked?", "citations": cited, "sources": [source], "limits": ["One source."]}
    app.cache.runs.put(
        NOWHERE, "How is bread baked?", "corpus",
        {"question": "How is bread baked?", "engines": [{"name": "corpus"}], "state": "finished", "report": report,
         "sources": [source], "quoted": {url: [NOTE]}, **more},
    )  # fmt: skip


# --- the form


def test_an_error_is_shown_beside_its_field_and_nothing_typed_is_lost(
    client: TestClient, researches: ResearchJobs
) -> None:
    """Question, engine and depth stay; the field is described by its error."""
    data = {"question": "x" * 10_001, "engine": "corpus:python-docs", "depth": "quick"}
    page = shown(client, "/research", 400, method="POST", data=data)
    (field,) = [each for each in page.all("input") if each.get("name") == "question"]
    assert field["value"] == data["question"]
    assert (field["aria-invalid"], field["aria-describedby"]) == ("true", "question-error")
    assert [each["value"] for each in page.all("option") if "selected" in each][:2] == ["corpus:python-docs", "quick"]
    page = shown(client, "/research", 400, method="POST", data={"question": EVIL[:-1], "engine": "corpus:/etc"})
    assert "no such engine here" in page.text
    assert EVIL[:-1] in [each.get("value") for each in page.all("input")]
    assert researches._jobs == {}


def test_a_full_server_keeps_the_question(client: TestClient, researches: ResearchJobs) -> None:
    """The limit of running researches is an error of the form, too."""
    researches.most = 0
    page = shown(client, "/research", 429, method="POST", data={"question": QUESTION})
    assert "wait for one to end" in page.text
    assert QUESTION in [each.get("value") for each in page.all("input")]


def test_a_link_can_fill_the_form(client: TestClient) -> None:
    """Examples of an empty history do so; each names an engine that is offered, and works without a network."""
    page = shown(client, "/")
    examples = page.links("/?question=")
    assert len(examples) == 3
    filled = shown(client, examples[0])
    (field,) = [each for each in filled.all("input") if each.get("name") == "question"]
    assert field["value"] == "In which order does Python look up an attribute?"
    assert "corpus:python-docs" in [each["value"] for each in filled.all("option") if "selected" in each]
    assert len(shown(client, "/?question=" + "x" * 20_000).all("h1")) == 1


# --- the report


def test_contents_lead_to_each_section(client: TestClient, app: App) -> None:
    """In order, to limits and sources as well."""
    record(app)
    page = shown(client, f"/runs/{NOWHERE}")
    ids = [attributes.get("id") for _, attributes in page.tags]
    contents = [each for each in page.links("#") if not each.startswith(("#passage", "#source-", "#main", "#ask"))]
    assert contents == ["#section-1", "#section-2", "#limits", "#sources"]
    assert all(each[1:] in ids for each in contents)


def test_the_end_of_a_run_is_in_plain_words(client: TestClient, app: App) -> None:
    """No internal name of a reason is shown, and every reason has such words."""
    record(app, rounds=[NO_ROUND], stop_reason="stagnation")
    page = shown(client, f"/runs/{NOWHERE}")
    assert "it stopped because more searches brought nothing new." in page.text
    assert "stagnation" not in page.text
    assert set(STOPPED_BECAUSE) == set(get_args(StopReason))


@pytest.mark.parametrize(
    ("url", "href"),
    [
        ("https://e.org/bread?a=1&b=2", "https://e.org/bread?a=1&b=2"),
        ("file:///notes/bread.md", "/library/source?url=file%3A%2F%2F%2Fnotes%2Fbread.md"),
        ("pydoc:types", "/library/source?url=pydoc%3Atypes"),
        ("knowledge:0a/..", "/knowledge/0a%2F.."),
        ("javascript:alert(1)", "/library/source?url=javascript%3Aalert%281%29"),
        ("\ud800", "/library/source?url=%3F"),
    ],
)
def test_every_source_has_an_address(url: str, href: str) -> None:
    """On the web, else the page here that has its text."""
    assert source_href(url) == href


def test_sources_are_links(client: TestClient, app: App) -> None:
    """In the list of sources, and below each passage."""
    record(app)
    assert shown(client, f"/runs/{NOWHERE}").links().count("/library/source?url=file%3A%2F%2F%2Fnotes%2Fbread.md") == 3


def test_a_passage_of_a_markdown_file_is_formatted(client: TestClient, app: App) -> None:
    """With the quotation marked in it."""
    record(app)
    html = client.get(f"/runs/{NOWHERE}", headers=HTML).text
    assert "<mark>Bread is </mark><strong><mark>baked</mark></strong><mark> in an oven.</mark>" in html
    assert "<p><strong>Bread</strong></p>" in html


# --- files


@pytest.mark.slow
def test_a_report_can_be_downloaded_in_every_form(client: TestClient, app: App) -> None:
    """Each with its type and name, as an attachment: its HTML does not run with the rights of this site."""
    record(app)
    begins = {"md": b"---\nquestion", "html": b"<!doctype html>", "docx": b"PK", "pdf": b"%PDF", "bib": b"@"}
    for suffix in run_routes.FILES:
        answer = client.get(f"/runs/{NOWHERE}/report.{suffix}")
        assert answer.status_code == 200, suffix
        assert answer.headers["content-disposition"] == f'attachment; filename="report-{NOWHERE}.{suffix}"'
        assert answer.content.startswith(begins.get(suffix, b"[")), suffix
        if suffix == "docx":
            assert "word/document.xml" in zipfile.ZipFile(BytesIO(answer.content)).namelist()
        if suffix == "csl.json":
            assert json.loads(answer.content)[0]["title"] == "Bread"
    assert set(shown(client, f"/runs/{NOWHERE}").links(f"/runs/{NOWHERE}/")) == {
        f"/runs/{NOWHERE}/report.{suffix}" for suffix in run_routes.FILES
    }


def test_a_form_without_its_library_is_explained(client: TestClient, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """The menu says what the server needs, and the address gives an error page."""
    record(app)
    monkeypatch.setattr(run_routes, "is_installed", lambda extra: extra != "pdf")
    page = shown(client, f"/runs/{NOWHERE}")
    assert f"/runs/{NOWHERE}/report.pdf" not in page.links()
    assert "pip install 'research-harness[pdf]'" in page.text
    assert f"/runs/{NOWHERE}/report.docx" in page.links()
    monkeypatch.setitem(sys.modules, "uharfbuzz", None)
    assert "research-harness[pdf]" in shown(client, f"/runs/{NOWHERE}/report.pdf", 400).text


def test_what_cannot_be_downloaded_is_an_error_page(client: TestClient, app: App) -> None:
    """Another form, a run without a report, no run."""
    record(app)
    shown(client, f"/runs/{NOWHERE}/report.exe", 404)
    record(app, report=None)
    assert "no report" in shown(client, f"/runs/{NOWHERE}/report.md", 404).text
    shown(client, "/runs/20200101-000000-000000/report.md", 404)


# --- a follow-up question


@pytest.mark.slow
def test_a_follow_up_question_is_researched(client: TestClient, app: App) -> None:
    """The box below the report asks it; it leads to the new research, with the engine of the first."""
    first = begin(client)
    ended(client, first)
    answer = client.post(f"/runs/{first['id']}/ask", data={"question": "when do they stop?"}, headers=HTML)
    assert answer.status_code == 303
    run = answer.headers["location"].removeprefix("/runs/")
    ended(client, {"id": run, "events": f"/api/researches/{run}/events"})
    assert app.cache.runs.get(run)["engines"] == app.cache.runs.get(first["id"])["engines"]


def test_a_follow_up_that_cannot_start_stays_in_its_box(client: TestClient, app: App) -> None:
    """With the reason; a run of an older version has no settings to repeat."""
    record(app)
    page = shown(client, f"/runs/{NOWHERE}/ask", 400, method="POST", data={"question": "why?"})
    assert "older version" in page.text
    (field,) = [each for each in page.all("input") if each.get("name") == "question"]
    assert (field["value"], field["aria-invalid"]) == ("why?", "true")
    assert "enter a question" in shown(client, f"/runs/{NOWHERE}/ask", 400, method="POST", data={}).text
    shown(client, "/runs/20200101-000000-000000/ask", 404, method="POST", data={"question": "why?"})


# --- sources and the history


def test_a_source_shows_what_was_read_of_it(client: TestClient, app: App) -> None:
    """Its passages as text; a source that was not read says so."""
    app.cache.searches.put("bread", [{"title": EVIL, "href": "file:///notes/bread.md", "body": f"{EVIL} Bread."}])
    app.library.search("bread", 1)
    page = shown(client, "/library/source", params={"url": "file:///notes/bread.md"})
    assert "1 passage" in page.text
    assert "alert(1)" in page.text
    assert "holds nothing" in shown(client, "/library/source?url=file:///other", 404).text
    shown(client, "/library/source", 400)


def test_a_search_links_files_that_the_library_holds(client: TestClient, app: App) -> None:
    """To the page with their text; a file that it does not hold has no link."""
    address = "/search?q=retries"
    assert not shown(client, address).links("/library/source")
    app.library.search("retries", 1)  # adds what the cache got
    linked = shown(client, address).links("/library/source?url=file%3A%2F%2F")
    assert linked
    for link in linked:
        assert "passage" in shown(client, link).text


def test_a_research_has_its_searches_under_it(client: TestClient, app: App) -> None:
    """And its earlier runs."""
    app.cache.searches.put("bread oven", [{"title": "B", "href": "https://e.org/", "body": "B."}], engine="ddgs")
    (item,) = client.get("/api/research-history").json()["items"]
    uses = [{"table": "search_cache", "asked": item["id"], "served": item["id"], "how": "live"}]
    searches = [
        {"query": query, "engine": "ddgs", "answered_by": "live", "results": 1} for query in ("bread oven", EVIL)
    ]
    rounds = [{"searches": searches, "pages": [{"url": "https://e.org/p", "answered_by": "live", "characters": 1}],
               "novelty": 0.5, "score": 0.5}]  # fmt: skip
    record(app, rounds=rounds, uses=uses)
    page = shown(client, "/?source=research")
    assert "2 searches, 1 page read" in page.text
    assert f"/entries/search/{item['id']}" in page.links()
    assert "https://e.org/p" in page.links()


def test_only_an_admin_can_delete_from_the_list(client: TestClient, app: App) -> None:
    """The local user is one; the question to confirm names what is deleted."""
    record(app)
    (button,) = [each for each in shown(client, "/").all("button") if each.get("data-method") == "DELETE"]
    assert button["data-confirm"] == "Delete this research?"
    assert client.delete(str(button["data-address"])).json() == {"deleted": 1}
    assert client.get("/api/research-history").json()["items"] == []
