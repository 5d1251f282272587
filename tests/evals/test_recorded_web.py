"""Recorded web: search and pages from a folder, and tasks over it."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from harness_evals.recorded_web import RecordedWeb, open_web
from harness_evals.run import run_task
from harness_evals.scorers import score
from harness_evals.task_app import app_for
from harness_evals.task_checks import check_tasks
from harness_evals.tasks import Task, folder_of, load_tasks

from harness.app import App
from harness.errors import InvalidInput, PageError
from harness.settings import Settings
from harness.settings.mode import Mode

WEB = Path(__file__).parents[2] / "evals" / "web"


def recorded(folder: Path, *lines: dict[str, Any], pages: dict[str, str] | None = None) -> Path:
    """Write a recorded web; return its folder."""
    (folder / "pages").mkdir(parents=True)
    (folder / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for name, text in (pages or {}).items():
        (folder / "pages" / name).write_text(f"<html><body><main><p>{text}</p></main></body></html>")
    return folder


def line(name: str, title: str, snippet: str = "A snippet.", **more: str) -> dict[str, str]:
    """Return a line of results."""
    return {"url": f"https://{name}.example/", "title": title, "snippet": snippet, **more}


def test_results_are_ranked_by_their_words(tmp_path: Path) -> None:
    """Rare words and titles count more; a page without any word of the query is not found."""
    web = RecordedWeb(recorded(
        tmp_path / "w", line("a", "Soup", "About onions."), line("b", "Onion soup", "Onions and soup."),
        line("c", "Bread", "A soup is served with it."), line("d", "Trains", "Timetables.", date="2024-01-02"),
    ))  # fmt: skip
    assert [each["href"] for each in web.search("onion soups", 10)] == [f"https://{x}.example/" for x in "bac"]
    assert len(web.search("onion soups", 2)) == 2
    assert web.search("trains", 10) == [
        {"title": "Trains", "href": "https://d.example/", "body": "Timetables.", "date": "2024-01-02"}
    ]
    assert web.search("zebra", 10) == web.search("the", 10) == []


def test_a_changed_web_has_other_options(tmp_path: Path) -> None:
    """They are part of the key of its searches, so a cache never answers with an older web."""
    folder = recorded(tmp_path / "w", line("a", "Soup", file="a.html"), pages={"a.html": "Soup is hot."})
    before = RecordedWeb(folder).options
    assert RecordedWeb(folder).options == before
    (folder / "pages" / "a.html").write_text("<p>Soup is cold.</p>")
    assert RecordedWeb(folder).options != before


def test_pages_are_extracted_like_those_of_the_web() -> None:
    """Navigation, cookie banner and hidden text are not in the text; date, site and title are known."""
    page = RecordedWeb(WEB).read("https://www.halden-city.example/roads/halden-bridge")
    assert "The Halden Bridge is 812 metres long" in page.text
    assert "cookies" not in page.text
    assert "All rights reserved" not in page.text
    assert (page.title, page.date, page.site) == (
        "Halden Bridge: facts and figures | City of Halden", "2024-03-11", "City of Halden",
    )  # fmt: skip


def test_pages_can_fail(tmp_path: Path) -> None:
    """As recorded, or because there is none."""
    web = RecordedWeb(recorded(tmp_path / "w", line("a", "Soup", error="answered HTTP 403: it refuses robots")))
    with pytest.raises(PageError, match=r"https://a\.example/: answered HTTP 403"):
        web.read("https://a.example/")
    with pytest.raises(PageError, match="not part of the recorded web"):
        web.read("https://b.example/")
    assert web.texts() == {"https://a.example/": "A snippet."}


@pytest.mark.parametrize(
    "bad",
    [{"url": "file:///etc/passwd"}, {"file": "../secret.html"}, {"file": "/etc/passwd"}, {"title": ""}, {"more": "x"}],
)
def test_unusable_lines_are_reported(tmp_path: Path, bad: dict[str, str]) -> None:
    """With file and line; a page is never taken from outside the folder."""
    folder = recorded(tmp_path / "w", line("a", "Soup"), {**line("b", "Bread"), **bad})
    with pytest.raises(InvalidInput, match=r"results\.jsonl, line 2"):
        RecordedWeb(folder)


def test_a_web_that_does_not_exist_is_reported(tmp_path: Path) -> None:
    """The message says what the folder must hold."""
    with pytest.raises(InvalidInput, match=r"no recorded web at .*; it must hold results\.jsonl and pages/"):
        open_web(f"recorded:{tmp_path / 'none'}")


@pytest.mark.slow
def test_a_task_is_researched_without_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Search and pages come from the folder, and the app's own sources stay as they are."""
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("a connection"))
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("a connection"))
    (task,) = load_tasks(["tarvos_height"], folder_of(Path("web")))
    with App(Settings(data_dir=tmp_path, reading=False), Mode(origin="evaluation")) as app:
        sources = app.sources
        ran = run_task(app, task)
        assert app.sources is sources
    assert ran.error == ""
    assert score(task, ran).values["retrieval_recall"] == 1.0
    assert any("2,351 metres" in cited.sentence for cited in ran.citations)
    assert ran.titles
    assert {cited.paragraph for cited in ran.citations} != {0}


def test_other_engines_are_left_alone(tmp_path: Path) -> None:
    """A task over another engine uses the app itself."""
    with App(Settings(data_dir=tmp_path)) as app, app_for(app, Task("a", "Why?", engine="corpus:notes")) as used:
        assert used is app


def test_the_tasks_over_the_recorded_web_are_sound() -> None:
    """Twenty, three without an answer; each nugget and side is in the text extracted from a gold page."""
    tasks = load_tasks(folder=folder_of(Path("web")))
    assert (len(tasks), sum(not each.answerable for each in tasks)) == (20, 3)
    assert {each.engine for each in tasks} == {"recorded:web"}
    assert check_tasks(folder_of(Path("web"))) == check_tasks(folder_of(Path("short"))) == []


def test_unfounded_claims_of_a_task_are_found(tmp_path: Path) -> None:
    """A side of a disagreement or a short answer that no gold page has, with the line in the file."""
    web = recorded(tmp_path / "w", line("a", "Soup", file="a.html"), pages={"a.html": "The soup is 90 degrees hot."})
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "soup.yaml").write_text(
        f"question: How hot is it?\nengine: recorded:{web}\ngold: [https://a.example/]\n"
        "disagrees: [['90', '80']]\nshort_answer: [60 degrees]\n"
    )
    problems = [problem.rpartition("soup.yaml:")[2] for problem in check_tasks(tmp_path / "t")]
    assert problems == [
        "4: '80' is in none of its gold sources",
        "5: no form of the short answer is in its gold sources",
    ]


def test_a_suite_is_named_without_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`web` is a suite of this package unless there is a folder of that name."""
    assert folder_of(Path("web")) == WEB / "tasks"
    assert folder_of(Path("nosuch")) == Path("nosuch")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web").mkdir()
    assert folder_of(Path("web")) == Path("web")
    assert folder_of(None) != Path("web")


def test_the_recorded_web_is_small() -> None:
    """At most 400 kB, so that the repository stays small."""
    assert sum(path.stat().st_size for path in WEB.rglob("*") if path.is_file()) <= 400_000
