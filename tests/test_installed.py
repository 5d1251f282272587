"""The installed command in a fresh directory, as its first user has it: what once broke a promise."""

import json
import os
import subprocess
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import NOTES
from tests.evals.stand_ins import write_tasks
from tests.models.endpoint import Endpoint, saying

pytestmark = pytest.mark.slow

QUESTION = "How do retries use exponential backoff?"
QUOTED = "Retries use exponential backoff and stop after five failed attempts."
UNRELATED = "A retry budget limits how many retries a client may make."
FALSE = "Exponential backoff deletes the home directory."

Edit = Callable[[dict[str, Any]], object]


class Installed:
    """The command `harness` of a fresh environment, in a directory that holds a folder of notes and nothing else."""

    def __init__(self, python: Path, folder: Path) -> None:
        self.python, self.folder = python, folder
        (site,) = python.parents[1].glob("lib/*/site-packages")
        (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
        self.package = site / "harness"
        self._environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "COLUMNS": "80"}

    def __call__(self, *arguments: object, code: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run it to its end, which is `code`."""
        ended = subprocess.run(
            [self.python.with_name("harness"), *map(str, arguments)],
            cwd=self.folder, env={**self._environment, **environment}, capture_output=True, text=True, timeout=300,
            check=False,
        )  # fmt: skip
        assert "Traceback" not in ended.stderr
        assert ended.returncode == code, (ended.returncode, ended.stdout, ended.stderr)
        return ended

    def json(self, *arguments: object, **environment: str) -> Any:
        """Run it to its end; return the JSON that it prints."""
        return json.loads(self(*arguments, "--json", **environment).stdout)


@pytest.fixture
def harness(python: Path, tmp_path: Path) -> Installed:
    """The installed command, and its directory."""
    folder = tmp_path / "fresh"
    (folder / "notes").mkdir(parents=True)
    for name, text in NOTES.items():
        (folder / "notes" / f"{name}.md").write_text(text)
    return Installed(python, folder)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A language model that says the same each time."""
    serving = Endpoint()
    serving.answers(
        saying(f'## Answer\n\nRetries stop after five failed attempts. [1: "{QUOTED}"]\n{FALSE} [1: "{UNRELATED}"]\n')
    )
    yield serving
    serving.stop()


def citation(report: dict[str, Any]) -> dict[str, Any]:
    """Return the first citation of a report as JSON."""
    first: dict[str, Any] = report["citations"][0]
    return first


def test_an_altered_report_is_not_verified(harness: Installed) -> None:
    """Whatever a reader sees of it was altered; without its run nothing is verified."""
    harness("research", QUESTION, "-e", "corpus:notes", "-o", "report.md")
    report = harness.json("research", QUESTION, "-e", "corpus:notes")
    file, page = harness.folder / "report.json", harness.folder / "report.md"
    edits: list[Edit] = [
        lambda it: citation(it).update(sentence="Retries never stop."),
        lambda it: citation(it).update(quotation="the"),
        lambda it: citation(it).update(url="https://example.org/other"),
        lambda it: citation(it).update(title="Another title"),
        lambda it: it.update(question="What is bread made of?"),
        lambda it: it.update(citations=[]),
        lambda it: it.update(report=it["report"] + "\nAn uncited sentence.\n"),
    ]
    file.write_text(json.dumps(report))
    harness("verify", "report.json")
    harness("verify", "report.md")
    for edit in edits:
        altered = json.loads(json.dumps(report))
        edit(altered)
        file.write_text(json.dumps(altered))
        harness("verify", "report.json", code=5)
    markdown = page.read_text()
    page.write_text(markdown.replace(QUOTED, "Retries never stop."))
    assert page.read_text() != markdown
    harness("verify", "report.md", code=5)
    file.write_text(json.dumps(report))
    ended = harness("verify", "report.json", code=2, HARNESS_DATA_DIR=str(harness.folder / "elsewhere"))
    assert "cannot be verified" in ended.stdout + ended.stderr


def test_a_true_quotation_does_not_make_a_sentence_true(harness: Installed, endpoint: Endpoint) -> None:
    """It takes the sentence's place, or the sentence is marked or left out; each is counted."""
    ask = ("research", QUESTION, "-e", "corpus:notes", "--model", "writer", "--model-url", endpoint.url)
    replaced, marked, dropped = (harness(*ask, *how).stdout for how in ((), ("--marked",), ("--strict",)))
    assert FALSE not in replaced + dropped
    assert f"{FALSE} [1, not supported]" in marked
    assert UNRELATED not in dropped
    for report, counted in ((replaced, "replaced"), (marked, "marked"), (dropped, "left out")):
        assert f"1 sentence {counted}: not supported by its quotation" in report


def test_a_run_resumes_as_it_was_started(harness: Installed) -> None:
    """With its engine, and without the network; one that cannot be resumed keeps its report."""
    found = harness.json("research", QUESTION, "-e", "corpus:notes", "--sections", "2")
    assert harness.json("research", "--resume", found["run"])["report"] == found["report"]
    harness("research", "--resume", found["run"], "-e", "corpus:missing", code=2)
    assert harness("show", found["run"]).stdout.strip() == found["report"].strip()


def test_evaluations_do_not_fill_the_history(harness: Installed) -> None:
    """Nor the statistics; asked for, they are there. The same research twice is one row."""
    tasks = write_tasks(harness.folder / "suite")
    harness("eval", "run", "--tasks-dir", tasks)
    assert harness.json("history") == {"items": [], "next_offset": None}
    assert harness.json("cache", "stats")["misses"] == 0
    assert harness.json("history", "--origin", "evaluation", "--source", "research")["items"]
    for _ in range(2):
        harness("research", QUESTION, "-e", "corpus:notes")
    (item,) = harness.json("history")["items"]
    assert (item["title"], item["count"]) == (QUESTION, 2)


def test_edited_code_gathers_again(harness: Installed) -> None:
    """Contexts of the old planner answer no question of the edited one."""
    planner = harness.package / "research" / "planner.py"
    text = planner.read_text()
    tasks = write_tasks(harness.folder / "suite")

    def queries() -> str:
        harness("eval", "run", "--tasks-dir", tasks, "--tasks", "retries")
        newest = max(harness.folder.rglob("evals/*.jsonl"), key=lambda path: path.stat().st_mtime_ns)
        (_, outcome) = newest.read_text().splitlines()[:2]  # ids of one second are in no order
        return str(json.loads(outcome)["outcome"]["digests"]["queries"])

    before = queries()
    assert queries() == before
    try:
        planner.write_text(text.replace('f"{keywords} {angle}"', 'f"{keywords} failed attempts"'))
        assert planner.read_text() != text
        assert queries() != before
    finally:
        planner.write_text(text)


def test_the_first_search_of_a_large_corpus_does_not_wait(harness: Installed) -> None:
    """It ranks by words and says so, until every passage has its vector."""
    for number in range(1500):
        (harness.folder / "notes" / f"{number}.md").write_text(f"# Note {number}\n\nThe answer to {number} is here.\n")
    assert harness.json("search", "answer to 1234", "-e", "corpus:notes")["ranked_by"] == "words"
    assert "ranked by words alone" in harness("search", "answer to 77", "-e", "corpus:notes").stderr
    harness("index", "corpus:notes")
    assert harness.json("search", "answer to 1234", "-e", "corpus:notes")["ranked_by"] == "hybrid"
