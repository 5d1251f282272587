"""`harness show`: reports of earlier runs, in every form that `harness research` gives them."""

import os
import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest

from harness import settings
from harness.app import App
from harness.core.text import printable
from harness.models.from_settings import Models
from tests.cli.hostile import HOSTILE, RUN, fill
from tests.cli.program import Program
from tests.fakes import WordReader

QUESTION = "How do retries use exponential backoff?"
OLDER = "20261122-101500-aaaaaa"


@pytest.fixture
def researched(harness: Program, notes: str) -> Any:
    """Return a research as `harness research --json` prints it."""
    return harness("research", QUESTION, "-e", notes, "--json", "-q").told


def keep(run: str, **more: object) -> None:
    """Keep the record of a run."""
    record = {"question": QUESTION, "engines": [{"name": "ddgs"}], "uses": [], **more}
    with App(settings.load({}).settings) as app:
        app.cache.runs.put(run, QUESTION, "ddgs", record)


def test_the_report_is_the_one_that_was_printed(harness: Program, researched: Any) -> None:
    """By id, by the beginning of one, as `last`, and without a name: the same bytes, and nothing is searched."""
    run = researched["run"]
    for name in ([run], [run[:-3]], ["last"], []):
        ended = harness("show", *name)
        assert (ended.code, ended.out, ended.err) == (0, researched["report"], "")


def test_json_has_the_shape_of_research(harness: Program, researched: Any) -> None:
    """Every field, and how the run ended."""
    told = harness("show", "--json").told
    assert told.keys() - researched.keys() == {"state", "created_at", "error"}
    assert {name: told[name] for name in researched} == researched


def test_verify_accepts_it(harness: Program, researched: Any, tmp_path: Path) -> None:
    """In every format."""
    for name, how in (("a.json", ["--json"]), ("a.html", ["--html"]), ("a.md", [])):
        harness("show", *how, "-o", tmp_path / name)
        verified = harness("verify", tmp_path / name)
        assert verified.code == 0, verified.out


def test_files_are_written(harness: Program, researched: Any, tmp_path: Path) -> None:
    """HTML and Markdown with front matter, dated when the run was."""
    assert harness("show", "--html").out.startswith("<!doctype html>")
    assert harness("show", "-o", tmp_path / "a.md").out == ""
    written = (tmp_path / "a.md").read_text()
    assert written.startswith(f'---\nquestion: "{QUESTION}"')
    assert written.endswith(researched["report"])
    assert "cannot write" in harness("show", "-o", tmp_path / "none" / "a.md").one_line_error(2)
    assert "choose one" in harness("show", "--html", "--json").one_line_error(2)


def test_a_run_without_a_report_says_what_to_do(harness: Program) -> None:
    """One that was stopped is resumed, one that found nothing is asked in other words."""
    keep(OLDER, state="gathering")
    ended = harness("show", OLDER)
    assert (ended.code, ended.out) == (1, "")
    assert f"harness research --resume {OLDER}" in ended.err
    assert harness("show", OLDER, "--json").told["state"] == "gathering"
    keep(OLDER, state="finished")
    assert "in other words" in harness("show", OLDER).err


def test_a_name_that_is_none_or_many_is_wrong_usage(harness: Program) -> None:
    """The message says how to find the right one."""
    assert "there is no run yet" in harness("show").one_line_error(2)
    keep(OLDER, state="finished")
    keep(OLDER.replace("a", "b"), state="finished")
    assert "write more of the id" in harness("show", "2026").one_line_error(2)
    for name in ("2027", "x" * 500, HOSTILE, RUN):
        assert "`harness" in harness("show", name).one_line_error(2)


def test_history_and_runs_name_what_show_takes(harness: Program, researched: Any) -> None:
    """Both lists print the ids."""
    assert f"harness show {researched['run']}" in harness("history", "--source", "research").out
    for command in (("runs",), ("cache", "runs")):
        assert researched["run"] in harness(*command).out


def test_runs_have_a_line_each(harness: Program) -> None:
    """A long question is cut before the table is wider than 120 columns."""
    keep(OLDER, question="a rather long question " * 10, state="finished")
    with App(settings.load({}).settings) as app:
        app.cache.runs.put(RUN, "a rather long question " * 10, "ddgs", app.cache.runs.get(OLDER))
    assert max(map(len, harness("runs").out.splitlines())) <= 120


@pytest.mark.slow
def test_on_a_terminal_it_is_laid_out_and_harmless() -> None:
    """A hostile report shows its words, without markup, links or anything else that acts."""
    fill()
    terminal = pexpect.spawn(
        sys.executable, ["-m", "harness.cli.main", "show", RUN], env={**os.environ, "TERM": "xterm"}, timeout=60,
        dimensions=(100, 80),
    )  # fmt: skip
    terminal.expect(pexpect.EOF)
    shown = terminal.before.decode()
    assert "\x1b[1;" in shown, "headings are bold"
    assert "gpj.exe" in shown
    assert "\x1b]" not in shown
    assert printable(shown.replace("\x1b", "")) == shown.replace("\x1b", "").replace("\r", "")


def test_explain_names_the_probabilities(harness: Program, notes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line for each sentence, on standard error; those of the reader, if there is one."""
    plain = harness("research", QUESTION, "-e", notes, "-q", "--explain")
    sentences = plain.out.count("“")
    lines = [line for line in plain.err.splitlines() if line.startswith("[")]
    assert len(lines) == sentences > 0
    assert all("similarity 0." in line and "answers" not in line for line in lines)
    monkeypatch.setattr(Models, "reader", WordReader(least=0.1))
    read = harness("research", QUESTION, "-e", notes, "-q", "--reading", "--explain")
    assert all("answers 0." in line for line in read.err.splitlines() if line.startswith("["))
    told: Any = harness("show", "--json").told
    assert all(0 < each["relevance"] < 1 for each in told["citations"])
