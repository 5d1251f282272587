"""`autoresearch` and the evaluation tasks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evals.run import run_task
from evals.tasks import Nugget, Structure, Task
from harness.settings import load
from harness.workbench import Workbench

ROOT = Path(__file__).parents[1]


def autoresearch(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `python autoresearch.py` as a user does."""
    return subprocess.run(
        [sys.executable, ROOT / "autoresearch.py", *arguments],
        capture_output=True, text=True, env=dict(os.environ), check=False,
    )  # fmt: skip


def test_a_task_is_gathered_once_and_repeats_exactly() -> None:
    """The second run makes no live call and gives the same report, which cites a gold source."""
    ended = autoresearch("--tasks", "T_B", "--repeat", "2", "--json")
    first, second = json.loads(ended.stdout)["runs"]
    assert first["live_calls"] > 0
    assert second["live_calls"] == 0
    assert first["digest"] == second["digest"]
    assert first["gold_recall"] == first["verified"] == 1.0
    assert ended.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "says"), [(("--tasks", "T_Z"), "no task 'T_Z'"), (("--repeat", "0"), "--repeat must be at least 1")]
)
def test_wrong_arguments_are_one_line(arguments: tuple[str, ...], says: str) -> None:
    """Exit code 2, and what there is instead."""
    ended = autoresearch(*arguments)
    assert ended.returncode == 2
    (line,) = ended.stderr.splitlines()
    assert says in line


def test_a_task_without_an_answer_is_told(tmp_path: Path) -> None:
    """No report: neither source nor sentence, and what it took is told; that is a bad score, not a crash."""
    (tmp_path / "soup.txt").write_text("Peel the onions and let them simmer in butter until they are golden brown.\n")
    task = Task(
        "T_0",
        "quantum chromodynamics",
        "research",
        f"corpus:{tmp_path / 'soup.txt'}",
        Structure(at_least=1),
        (Nugget("colour", "vital", ("colour charge",)), Nugget("gluons", "okay", ("gluons",))),
        gold=("nowhere",),
        split="tune",
    )
    with Workbench(load().settings) as workbench:
        run = run_task(workbench, task)
    assert (run.sources, run.citations, run.error) == ((), (), "")
    assert run.cost.live_calls > 0
