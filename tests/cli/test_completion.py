"""Completion in the shell, as the shells ask for it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness_evals.tasks import load_tasks

from harness import settings
from harness.app import App
from tests.cli.program import Program
from tests.cli.test_show import OLDER, QUESTION, keep

RUN = "20261123-101500-1a2b3c"
INJECTION = '\\$(touch owned) `touch owned` "; touch owned; " \x1b]0;x\x07 [bold]'


Completed = Callable[..., list[str]]
"""Function that returns the completions of a line."""


def asking(line: str, program: str = "fish") -> dict[str, str]:
    """Return what a shell puts into the environment to complete a line, whose last word is not finished."""
    words = {
        "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
        "zsh": {"_TYPER_COMPLETE_ARGS": line},
        "bash": {"COMP_WORDS": line.replace(" ", "\n"), "COMP_CWORD": str(line.count(" "))},
    }[program]
    return {"_HARNESS_COMPLETE": f"complete_{program}", **words}


@pytest.fixture
def completed(harness: Program, monkeypatch: pytest.MonkeyPatch) -> Completed:
    """Return a function that returns the completions of a line."""

    def complete(line: str, program: str = "fish", **environment: str) -> list[str]:
        with monkeypatch.context() as patched:
            for name, value in (asking(line, program) | environment).items():
                patched.setenv(name, value)
            ended = harness()
        assert ended.err == ""
        return ended.out.strip("\n").splitlines()

    return complete


@pytest.fixture
def two_runs() -> None:
    """Keep two runs, one with a question that a shell could run."""
    keep(OLDER, state="finished")
    with App(settings.load({}).settings) as app:
        app.cache.runs.put(RUN, f"what {INJECTION}", "ddgs", app.cache.runs.get(OLDER))


def test_runs_are_completed_newest_first_with_their_questions(completed: Completed, two_runs: None) -> None:
    """For `show`, `--resume` and `--run`; only those that begin so."""
    for command in ("show ", "research --resume ", "cache export --run "):
        first, second = completed(f"harness {command}")
        assert first.startswith(f"{RUN}\twhat")
        assert second == f"{OLDER}\t{QUESTION}"
    assert [line.split("\t")[0] for line in completed("harness show 20261122")] == [OLDER]
    assert completed("harness show ", program="bash") == [RUN, OLDER]


def test_a_shell_starts_the_program(two_runs: None) -> None:
    """It writes what the shell reads, and nothing else."""
    ended = subprocess.run(
        [str(Path(sys.executable).parent / "harness")], env={**os.environ, **asking("harness show 20261122")},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (ended.stdout.split("\t")[0].strip(), ended.stderr) == (OLDER, "")


def test_a_question_is_never_run_by_the_shell(completed: Completed, two_runs: None, tmp_path: Path) -> None:
    """Zsh evaluates completions: no part of a question can run."""
    said = "\n".join(completed("harness show ", program="zsh"))
    assert RUN in said
    for line in (said, "\n".join(completed("harness show "))):
        assert not set("$`\\;\x1b\x07[]") & set(line.replace('"":""', "").replace("_arguments '*: :((", ""))
    if zsh := shutil.which("zsh"):
        subprocess.run([zsh, "-c", f"_arguments() {{ :; }}; eval $(cat <<'E'\n{said}\nE\n)"], cwd=tmp_path, check=False)
        assert not (tmp_path / "owned").exists()


def test_engines_and_tasks_are_completed(completed: Completed) -> None:
    """Engines by name, tasks one by one behind commas."""
    assert [each.split("\t")[0] for each in completed("harness search x --engine p")] == ["pubmed"]
    assert "corpus:python-docs\tPython language reference" in completed("harness index corp")
    names = [each.split("\t")[0] for each in completed("harness eval repeat ")]
    assert sorted(names) == sorted(task.id for task in load_tasks())
    listed = [each.split("\t")[0] for each in completed("harness eval run --tasks T_A,T_B,T_")]
    assert listed[0] == "T_A,T_B,T_C"
    assert not {"T_A,T_B,T_A", "T_A,T_B,T_B"} & set(listed)


def test_evaluations_and_loops_are_completed(completed: Completed, tmp_path: Path) -> None:
    """By the files in the data directory."""
    (tmp_path / "data" / "evals").mkdir(parents=True)
    (tmp_path / "data" / "evals" / f"{RUN}.jsonl").touch()
    (tmp_path / "data" / "autoresearch" / RUN).mkdir(parents=True)
    assert completed("harness eval show 2") == completed("harness autoresearch report 2") == [RUN]


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("harness history --source re", ["research"]),
        ("harness cache clear --kind co", ["completions"]),
        ("harness cache clear --type job", ["job_search"]),
        ("harness token create --role wr", ["writer"]),
        ("harness runs --origin e", ["evaluation", "experiment"]),
        ("harness research x --reuse ", ["off", "passages"]),
        ("harness research x --language pt", ["pt"]),
        ("harness research x --embedding-model local:m", ["local:multilingual"]),
        ("harness autoresearch --proposer h", ["hillclimb"]),
        ("harness autoresearch --keep-rule g", ["gain"]),
        ("harness autoresearch --surface rules,p", ["rules,prompts"]),
        ("harness eval run --tasks-dir w", ["web"]),
        ("harness history --source zzz", []),
    ],
)
def test_choices_of_options_are_completed(completed: Completed, line: str, values: list[str]) -> None:
    """Values that begin as the word does."""
    assert sorted(completed(line)) == values


def test_every_choice_is_one_that_the_command_takes(harness: Program, completed: Completed) -> None:
    """A completed value is no wrong value."""
    for command, option in (("history", "--source"), ("history", "--origin"), ("cache clear --dry-run", "--kind")):
        values = completed(f"harness {command} {option} ")
        assert len(values) > 3
        for value in values:
            assert harness(*command.split(), option, value).code == 0


def test_what_is_stored_is_completed(harness: Program, completed: Completed, tmp_path: Path) -> None:
    """Tokens, tenants, documents, memories, threads and sources, each with a text that says which it is."""
    create = ("token", "create", "--tenant", "lab", "--user", "ada", "--role", "reader", "--json", "-q")
    token = harness(*create).told["token"].split(".")[1]
    assert completed("harness token revoke ") == [f"{token}\tlab ada reader"]
    assert completed("harness tenant delete l") == completed("harness token list --tenant l") == ["lab"]
    document = harness("knowledge", "write", "Retries", "Three.", "--json").told["id"]
    for command in ("get", "history", "delete", "write x y --id"):
        assert completed(f"harness knowledge {command} {document[:3]}") == [f"{document}\tRetries"]
    for name in ("a.md", "b$(touch owned)`x`;.md"):
        (tmp_path / name).write_text("Staging is restarted on Mondays.")
        harness("library", "add", str(tmp_path / name))
    (source,) = completed("harness library forget ")  # not the one that a shell could run
    assert source.split("\t")[0].endswith("a.md")
    harness("memory", "add", str(tmp_path / "a.md"))
    (memory,) = completed("harness memory get ")
    assert memory.split("\t")[1].startswith("Staging is restarted")


def test_nothing_wrong_is_ever_shown(completed: Completed, tmp_path: Path) -> None:
    """No database, a damaged one, wrong settings, a server out of reach: no completions, no error, nothing written."""
    assert completed("harness show ") == []
    assert not (tmp_path / "data").exists()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "harness.db").write_bytes(b"not a database at all" * 100)
    assert completed("harness show ") == []
    assert completed("harness show ", HARNESS_TTL="soon") == []
    assert completed("harness show ", HARNESS_STORE="postgresql://127.0.0.1:1/none") == []
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["harness.db"]


def test_a_data_directory_on_the_line_is_used(completed: Completed, two_runs: None, tmp_path: Path) -> None:
    """`--data-dir` before the word decides where runs are looked for."""
    assert completed(f"harness show --data-dir {tmp_path} ") == []
    assert completed(f"harness show --data-dir {tmp_path / 'data'} ", HARNESS_DATA_DIR=str(tmp_path))


def test_completing_loads_nothing_heavy(two_runs: None) -> None:
    """A key press imports no model, no index and no web library."""
    script = (
        "import sys\n"
        "from harness.cli.main import main\n"
        "from unittest.mock import Mock\n"
        "from harness.cli import completion\n"
        "assert completion.runs(Mock(params={}), '')\n"
        "assert completion.tasks(Mock(params={}), '')\n"
        "loaded = {'numpy', 'chromadb', 'onnxruntime', 'openai', 'mcp', 'fastapi', 'yaml', 'rich'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {loaded}' if loaded else 0)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_script_for_the_shell_is_printed(harness: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--show-completion` prints what to put into the shell's own file."""
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    told: Any = subprocess.run(
        [str(Path(sys.executable).parent / "harness")],
        env={**os.environ, "_HARNESS_COMPLETE": "source_bash"}, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert "complete -o default -F" in told
