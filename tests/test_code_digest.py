"""Results are reused by the code that made them: after an edit of that code they are made again."""

import compileall
import json
import os
import py_compile
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

import harness.settings.code_digest as source_digest_module
from harness.app import App
from harness.models.from_settings import Models
from harness.research.fingerprint import Code
from harness.settings import Settings
from harness.settings.code_digest import source_digest
from tests.cli.program import Program
from tests.evals.stand_ins import QUESTIONS, write_tasks
from tests.fakes import WordEmbedder

ROOT = Path(__file__).parents[1]
QUESTION = QUESTIONS["retries"][0]


class Copy:
    """A copy of a folder with the program, to be edited; its files are links until they are."""

    def __init__(self, original: Path, folder: Path) -> None:
        self.folder = folder
        unfinished = shutil.ignore_patterns("*.pyc.*")  # another process is writing it
        for package in ("harness", "evals"):
            shutil.copytree(original / package, folder / package, copy_function=os.link, ignore=unfinished)

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace a text of a file of `harness`."""
        path = self.folder / "harness" / file
        text = path.read_text()
        assert old in text
        path.unlink()
        path.write_text(text.replace(old, new))

    def run(self, *arguments: object, **environment: str) -> dict[str, Any]:
        """Run the copied program in another process; return what it prints as JSON."""
        return self.script("from harness.cli.main import main; main()", *arguments, "--json", **environment)

    def script(self, code: str, *arguments: object, **environment: str) -> dict[str, Any]:
        """Run a script with the copied program; return what it prints as JSON."""
        ended = subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            capture_output=True,
            text=True,
            env={
                **os.environ,
                "PYTHONPATH": f"{self.folder}{os.pathsep}{self.folder / 'evals'}",
                **environment,
            },
            cwd=self.folder,
            check=False,
            timeout=120,
        )
        assert ended.returncode == 0, ended.stderr
        told: dict[str, Any] = json.loads(ended.stdout)
        return told


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with its bytecode, which would else be made in each process: that takes longer than most tests."""
    copy = Copy(ROOT, tmp_path_factory.mktemp("compiled") / "copy")
    for package in ("harness", "evals"):
        compileall.compile_dir(copy.folder / package, quiet=2)
    return copy.folder


@pytest.fixture
def copy(compiled: Path, tmp_path: Path) -> Copy:
    """Return a copy of the program."""
    return Copy(compiled, tmp_path / "copy")


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """Return a folder with tasks on a few notes."""
    return write_tasks(tmp_path / "suite")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load no model: it takes longer than the rest."""
    monkeypatch.setenv("HARNESS_SEMANTIC", "0")


def plan_otherwise(copy: Copy) -> None:
    """Have the planner ask other queries."""
    copy.edit("research/planner.py", 'f"{keywords} {angle}"', 'f"{keywords} failed attempts"')


@pytest.mark.slow
@pytest.mark.parametrize("kept", [True, False], ids=["research cache", "solved question"])
def test_an_edited_planner_gathers_again_and_an_edited_command_does_not(copy: Copy, tasks: Path, kept: bool) -> None:
    """A past research answers while the code that gathers is the same: comments and docstrings do not count."""

    def used() -> str:
        options = {"RESEARCH_CACHE": "1", "HARNESS_ENOUGH_SCORE": "1"} if kept else {"HARNESS_ENOUGH_SCORE": "0.1"}
        told = copy.run("research", QUESTION, "-e", f"corpus:{tasks.parent / 'notes'}", **options)
        return str(told["research_cache"])

    first, again = ("stored", "hit") if kept else ("off", "solved")
    assert used() == first
    copy.edit("cli/chat_screen.py", "EXCERPT = 300", "EXCERPT = 301")
    copy.edit("research/planner.py", '"""Built-in planner;', '# It asks no model.\n    """The planner by rules;')
    assert used() == again
    plan_otherwise(copy)
    assert used() == first


@pytest.mark.slow
def test_an_edited_ranking_searches_a_corpus_again(copy: Copy, tasks: Path) -> None:
    """Results in the old order do not answer; the index stays, as the passages are the same."""

    def outcome() -> str:
        return str(copy.run("search", "failed attempts", "-e", f"corpus:{tasks.parent / 'notes'}")["outcome"])

    assert [outcome(), outcome()] == ["miss", "hit"]
    copy.edit("sources/corpus/passage_ranking.py", "MEANING = 0.5", "MEANING = 0.6")
    assert [outcome(), outcome()] == ["miss", "hit"]


@pytest.mark.slow
def test_an_evaluation_gathers_again_with_an_edited_planner(copy: Copy, tasks: Path, tmp_path: Path) -> None:
    """The next evaluation measures the edited planner; without an edit it reuses the contexts."""

    def queries() -> tuple[str, int]:
        id_ = copy.run("eval", "run", "--tasks-dir", tasks, "--tasks", "retries")["evaluation"]["id"]
        log = tmp_path / "data" / "evals" / f"{id_}.jsonl"
        outcome = json.loads(log.read_text().splitlines()[1])["outcome"]
        return outcome["digests"]["queries"], researches(tmp_path)

    first, _ = queries()
    assert queries() == (first, 1)
    plan_otherwise(copy)
    second, stored = queries()
    assert (second != first, stored) == (True, 2)


@pytest.mark.parametrize("command", [
    pytest.param(("eval", "run", "--fresh", "--tasks", "retries"), marks=pytest.mark.slow),
    pytest.param(("autoresearch", "--fresh-gather", "--experiments", "1"), marks=pytest.mark.slow),
])  # fmt: skip
def test_what_gathers_afresh_asks_the_queries_of_the_edited_planner(
    copy: Copy, tasks: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """No context that is stored answers: all are gathered by the code as it is."""

    def planned() -> set[str]:
        copy.run(*command, "--tasks-dir", tasks)
        with App(Settings(data_dir=tmp_path / "data")) as app:
            records = [json.loads(run.payload) for run in app.cache.runs.all()]
        assert all(record["cache_use"] != "hit" for record in records)
        return {query for record in records for query in record["plan"]["queries"]}

    before = planned()
    plan_otherwise(copy)
    added = planned() - before
    assert added
    assert all("failed attempts" in query for query in added)


def researches(tmp_path: Path) -> int:
    """Count the gathered contexts that are stored."""
    with closing(sqlite3.connect(tmp_path / "data" / "harness.db")) as database:
        (count,) = database.execute("SELECT count(*) FROM research_cache").fetchone()
    return int(count)


@pytest.mark.slow
@pytest.mark.parametrize(("file", "old", "new"), [
    ("research/scoring.py", "SCORED = 3", "SCORED = 1"),
    ("research/evidence.py", "MAX_OVERLAP = 0.5", "MAX_OVERLAP = 0.6"),
    ("core/chunking/passages.py", "import re", "import re\nEDITED = True"),
])  # fmt: skip
def test_what_is_made_of_answers_is_made_again_by_edited_code(copy: Copy, file: str, old: str, new: str) -> None:
    """Judgements, excerpts, prompts and chunks are not taken from what other code has made."""
    script = (
        "from harness.research.fingerprint import code_of; from harness.research.planner import RulePlanner; "
        "from msgspec.json import encode; print(encode(code_of(RulePlanner(), (), RulePlanner())).decode())"
    )
    before = copy.script(script)
    copy.edit(file, old, new)
    after = copy.script(script)
    assert before["gathering"] != after["gathering"] or file == "research/evidence.py"
    assert before["evidence"] != after["evidence"]
    assert (before["chunks"] != after["chunks"]) == file.startswith("core")
    assert before.keys() == {"gathering", "judging", "evidence", "context", "chunks"}


@pytest.mark.slow
def test_a_replay_finds_what_the_code_of_then_gathered(copy: Copy, tasks: Path, tmp_path: Path) -> None:
    """A snapshot answers with the recorded names, whatever the planner has become since."""
    snapshot, kept = tmp_path / "run.snapshot", {"RESEARCH_CACHE": "1", "HARNESS_ENOUGH_SCORE": "1"}
    asked = ("research", QUESTION, "-e", f"corpus:{tasks.parent / 'notes'}")
    copy.run(*asked, **kept)
    told = copy.run(*asked, **kept)
    assert told["research_cache"] == "hit"
    copy.run("cache", "export", snapshot, "--run", told["run"])
    plan_otherwise(copy)
    replayed = copy.run("research", QUESTION, "--replay", snapshot)
    assert (replayed["research_cache"], replayed["report"]) == ("hit", told["report"])


def test_a_snapshot_of_an_older_program_is_replayed(
    harness: Program, tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names no code; what it holds is found under the names that its program used."""
    monkeypatch.setattr("harness.research.assembly.code_of", lambda *_: Code())
    monkeypatch.setattr(Models, "embedder", WordEmbedder())
    monkeypatch.setenv("RESEARCH_CACHE", "1")
    monkeypatch.setenv("HARNESS_ENOUGH_SCORE", "1")
    asked = ("research", QUESTION, "-e", f"corpus:{tasks.parent / 'notes'}", "--json")
    told = [harness(*asked).told for _ in range(2)][-1]
    with App(Settings(data_dir=tmp_path / "data")) as app:
        record = app.cache.runs.get(told["run"])
        assert record.pop("code") == to_builtins(Code())
        app.cache.runs.put(told["run"], QUESTION, "corpus", record)
    monkeypatch.undo()
    monkeypatch.setenv("HARNESS_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr(Models, "embedder", WordEmbedder())
    snapshot = tmp_path / "run.snapshot"
    assert harness("cache", "export", snapshot, "--run", told["run"]).code == 0
    replayed = harness("research", QUESTION, "--replay", snapshot, "--json").told
    assert (replayed["research_cache"], replayed["report"]) == ("hit", told["report"])


def test_a_digest_needs_no_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a zip archive, or as bytecode alone, a module's code counts as well; a module that is missing does not."""
    package = tmp_path / "plain" / "pack"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text("from pack import two\n\ndef f():\n    '''Say.'''\n    return two.WORD\n")
    (package / "two.py").write_text("WORD = 'a'\n")
    compiled, zipped = tmp_path / "compiled" / "pack", tmp_path / "zipped.zip"
    shutil.copytree(package, compiled)
    for file in compiled.glob("*.py"):
        py_compile.compile(str(file), str(file.with_suffix(".pyc")))
        file.unlink()
    with zipfile.ZipFile(zipped, "w") as archive:
        for file in package.glob("*.py"):
            archive.write(file, f"pack/{file.name}")

    def digest(place: Path) -> str:
        monkeypatch.syspath_prepend(place)
        for cached in (source_digest, source_digest_module._module):
            cached.cache_clear()
        for name in ("pack", "pack.one", "pack.two"):
            sys.modules.pop(name, None)
        return source_digest("pack.one", "pack.missing")

    plain, of_zip, bytecode = digest(package.parent), digest(zipped), digest(compiled.parent)
    assert plain == of_zip
    (package / "two.py").write_text("WORD = 'b'  # other\n")
    assert digest(package.parent) != plain
    py_compile.compile(str(package / "two.py"), str(compiled / "two.pyc"))
    assert digest(compiled.parent) != bytecode


def test_what_is_not_followed_is_there() -> None:
    """A module that was renamed would be followed without a word, and with it nearly all of the program."""
    assert all(find_spec(name) for name in source_digest_module.STOPS)
