"""Several engines on the command line, and indexing of corpora."""

from pathlib import Path

import pytest

from tests.cli.program import Program


def test_several_engines_are_fused(harness: Program, notes: str, tmp_path: Path) -> None:
    """Each is named, and their results are in one list."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "more.md").write_text("# More\n\nRetries wait longer each time; that is called backoff.\n")
    ended = harness("search", "retries", "-e", notes, "-e", f"corpus:{other}", "--json")
    assert ended.code == 0
    assert [search["outcome"] for search in ended.told["searches"]] == ["miss", "miss"]
    addresses = {result["href"].rsplit("/", 1)[-1] for result in ended.told["results"]}
    assert addresses >= {"more.md", "retries.md"}


def test_the_heading_of_a_result_has_no_marks(harness: Program, tmp_path: Path) -> None:
    """In the table; as JSON, the text is that of the document."""
    (tmp_path / "more.md").write_text(
        "# More\n\n## Waiting\n\nRetries wait longer each time; that is called backoff.\n"
    )
    shown = harness("search", "retries", "-e", f"corpus:{tmp_path}")
    assert "Waiting: Retries wait" in " ".join(shown.out.split())
    [result] = harness("search", "retries", "-e", f"corpus:{tmp_path}", "--json").told["results"]
    assert result["body"].startswith("## Waiting\n")


def test_an_engine_is_named_once(harness: Program, notes: str) -> None:
    """Twice is an error."""
    assert "twice" in harness("search", "retries", "-e", notes, "-e", notes).one_line_error(2)


def test_an_engine_that_takes_no_argument_says_so(harness: Program) -> None:
    """It is not ignored."""
    for name in ("ddgs", "pubmed", "browser"):
        assert f"the engine {name} takes no argument" in harness("search", "q", "-e", f"{name}:x").one_line_error(2)


def test_an_engine_that_knows_no_proxy_is_not_used_with_one(harness: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """The traffic would bypass the proxy."""
    monkeypatch.setenv("HARNESS_PROXY", "http://127.0.0.1:9")
    for name in ("pubmed", "browser", "searxng:http://127.0.0.1:8"):
        assert "does not go through a proxy" in harness("search", "q", "-e", name).one_line_error(2)


def test_a_corpus_is_indexed(harness: Program, notes: str) -> None:
    """Indexed and embedded; another engine is an error."""
    assert "is ready" in harness("index", notes).err
    assert "give corpus:PATH" in harness("index", "ddgs").one_line_error(2)


def test_a_research_needs_a_question_or_a_run(harness: Program) -> None:
    """One of them, and only one."""
    assert "--resume" in harness("research").one_line_error(2)
    assert "--resume" in harness("research", "q", "--resume", "20260101-000000-abcdef").one_line_error(2)
    assert "no such run" in harness("research", "--resume", "20260101-000000-abcdef").one_line_error(2)


def test_a_report_is_written_to_a_file(harness: Program, notes: str, tmp_path: Path) -> None:
    """With front matter as Markdown; as one page of HTML; a path that cannot be written is an error."""
    question = "How do retries use exponential backoff?"
    markdown, page = tmp_path / "report.md", tmp_path / "report.html"
    assert harness("research", question, "-e", notes, "-o", markdown).out == ""
    assert markdown.read_text().startswith(f'---\nquestion: "{question}"\n')
    assert "quotations verified" in markdown.read_text()
    harness("research", question, "-e", notes, "--html", "-o", page)
    assert page.read_text().startswith("<!doctype html>")
    assert "cannot write" in harness("research", question, "-e", notes, "-o", tmp_path).one_line_error(2)


def test_runs_are_listed_with_how_far_they_came(harness: Program, notes: str) -> None:
    """The newest first."""
    harness("research", "How do retries use exponential backoff?", "-e", notes)
    [run] = harness("runs", "--json").told["items"]
    assert (run["state"], run["engine"]) == ("finished", "corpus")


def test_doctor_checks_the_engines_it_is_given(harness: Program, notes: str, tmp_path: Path) -> None:
    """Each by itself: a corpus is opened, one that is not there is broken, one that is on the web is not asked."""
    ended = harness(
        "doctor", "--engine", notes, "-e", f"corpus:{tmp_path / 'none'}", "-e", "ddgs", "-e", "nope", "--json"
    )
    assert ended.code == 5
    found = [each for each in ended.told["findings"] if each["name"] == "engine"]
    assert [each["state"] for each in found] == ["ok", "broken", "ok", "broken"]
    assert "is indexed and searched by words" in found[0]["told"]
    assert str(tmp_path / "none") in found[1]["told"]
    assert "no such engine: 'nope'" in found[3]["told"]
    assert harness("doctor", "-e", notes).code == 0
