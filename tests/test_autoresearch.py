"""`autoresearch` and the evaluation tasks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evals.run import run_task
from evals.tasks import Task, load_tasks
from harness.errors import InvalidInput
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


def test_the_five_tasks_are_there() -> None:
    """T_A to T_E, each a question with gold sources."""
    assert [task.id for task in load_tasks()] == ["T_A", "T_B", "T_C", "T_D", "T_E"]
    assert all(task.question and task.gold for task in load_tasks())


def test_a_file_that_is_no_task_is_named(tmp_path: Path) -> None:
    """With what is wrong in it."""
    (tmp_path / "bad.yaml").write_text("id: T_X\nquestion: [1]\n")
    with pytest.raises(InvalidInput, match=r"bad\.yaml is no task"):
        load_tasks(folder=tmp_path)


def test_a_task_without_an_answer_scores_nothing(tmp_path: Path) -> None:
    """No report: recall and verified are 0, and the run is still told."""
    (tmp_path / "soup.txt").write_text("Peel the onions and let them simmer in butter until they are golden brown.\n")
    task = Task("T_0", "quantum chromodynamics", f"corpus:{tmp_path / 'soup.txt'}", gold=("nowhere",))
    with Workbench(load().settings) as workbench:
        run = run_task(workbench, task)
    assert (run.gold_recall, run.verified) == (0.0, 0.0)
    assert run.live_calls > 0
