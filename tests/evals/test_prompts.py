"""Prompts without answer keys: read from JSON Lines, researched, reported."""

import json
from pathlib import Path

import pytest
from harness_evals.task_checks import check_tasks
from harness_evals.tasks import MAX_TASKS, load_tasks

from harness.errors import InvalidInput
from tests.cli.program import Program

pytestmark = pytest.mark.usefixtures("words")

PROMPTS = [
    {"id": 1, "prompt": "How do retries use\nexponential backoff?", "topic": "software", "language": "en"},
    {"id": "two", "prompt": "What does a cache keep?"},
]


@pytest.fixture
def prompts(tasks_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of prompts about the notes, which are the engine of the settings."""
    monkeypatch.setenv("HARNESS_ENGINE", f"corpus:{tasks_dir.parent / 'notes'}")
    return written(tasks_dir.parent / "prompts.jsonl", *map(json.dumps, PROMPTS))


def written(file: Path, *lines: str) -> Path:
    """Write lines into a file; return it."""
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


def test_prompts_are_researched_and_reported(harness: Program, prompts: Path, tmp_path: Path) -> None:
    """Each report is a file; only scorers without an answer key apply, and a note says that no model writes."""
    reports = tmp_path / "new" / "reports"
    ended = harness("eval", "run", "--tasks-dir", prompts, "--reports", reports, "--json")
    assert "no language model is set" in ended.err
    assert sorted(path.name for path in reports.iterdir()) == ["1.md", "two.md"]
    assert (reports / "1.md").read_text().startswith("# How do retries use exponential backoff?")
    assert set(ended.told["means"]) == {
        "citation_recall", "citation_precision", "length", "refused", "repeated_content", "self_contained", "total",
    }  # fmt: skip
    assert ended.told["evaluation"]["crashes"] == 0


def test_a_stopped_run_of_prompts_continues(harness: Program, prompts: Path, tmp_path: Path) -> None:
    """Only the missing prompt is run again; its report is written."""
    harness("eval", "run", "--tasks-dir", prompts)
    (log,) = (tmp_path / "data" / "evals").glob("*.jsonl")
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:2]))
    ended = harness("eval", "run", "--tasks-dir", prompts, "--resume", log.stem, "--reports", tmp_path / "r")
    assert (ended.code, len(log.read_text().splitlines())) == (0, 3)
    assert len(list((tmp_path / "r").iterdir())) == 1


def test_reports_need_a_folder(harness: Program, prompts: Path, tmp_path: Path) -> None:
    """A file of that name is an error before anything is run."""
    ended = harness("eval", "run", "--tasks-dir", prompts, "--reports", written(tmp_path / "taken"))
    assert (ended.code, "cannot make the folder" in ended.err) == (2, True)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (['{"id": 1}'], "prompts.jsonl:1 is not a prompt: Object missing required field `prompt`"),
        (['{"id": 1, "prompt": "a"}', "no"], "prompts.jsonl:2 is not a prompt"),
        (['{"id": "../x", "prompt": "a"}'], "prompts.jsonl:1 is not a prompt"),
        (['{"id": 1, "prompt": "a"}', '{"id": "1", "prompt": "b"}'], "prompts.jsonl:2: there are two tasks '1'"),
        (['{"id": -5, "prompt": "a"}'], "prompts.jsonl:1 is not a prompt"),
        ([], "holds 0 prompts"),
    ],
)
def test_unusable_prompts_are_reported(tmp_path: Path, lines: list[str], says: str) -> None:
    """With file and line, by `eval run` and by `eval check`."""
    file = written(tmp_path / "prompts.jsonl", *lines)
    with pytest.raises(InvalidInput) as message:
        load_tasks(folder=file)
    assert says in str(message.value)
    with pytest.raises(InvalidInput):
        check_tasks(file)


def test_the_number_of_prompts_is_bounded(tmp_path: Path) -> None:
    """As is the number of tasks in a folder."""
    lines = [json.dumps({"id": number, "prompt": "What?"}) for number in range(MAX_TASKS + 1)]
    with pytest.raises(InvalidInput, match=r"it must be 1 to 1,000"):
        load_tasks(folder=written(tmp_path / "prompts.jsonl", *lines))
