"""`harness rank`."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.models.from_settings import Models
from tests.cli.program import Program
from tests.fakes import WordEmbedder, WordReader

LINES = "a pear\n\na red apple\nan apple\n"


@pytest.fixture(autouse=True)
def _words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Models, "reader", WordReader())
    monkeypatch.setattr(Models, "embedder", WordEmbedder())


def test_lines_of_standard_input_are_ranked(harness: Program) -> None:
    """The best first, with its probability; blank lines are no passages."""
    ended = harness("rank", "red apple", stdin=LINES)
    assert ended.code == 0
    assert [line[11:] for line in ended.out.splitlines()] == ["a red apple", "an apple", "a pear"]
    assert ended.out.startswith("  1. 1.00  a red apple\n")


def test_json_lines_and_json_output(harness: Program, tmp_path: Path) -> None:
    """A line is a text or an object with `text`."""
    file = tmp_path / "passages.jsonl"
    file.write_text('"a pear"\n{"text": "a red apple", "id": 7}\n')
    told: Any = harness("rank", "red apple", file, "--json", "-n", 1).told
    assert told["question"] == "red apple"
    [best] = told["passages"]
    assert best.pop("probability") > 0.99
    assert best == {"rank": 1, "place": 2, "answers": True, "text": "a red apple"}


def test_a_document_is_split(harness: Program, tmp_path: Path) -> None:
    """Its passages are ranked, each after its heading."""
    file = tmp_path / "fruit.md"
    file.write_text("# Fruit\n\n## Pears\n\nA pear is green.\n\n## Apples\n\nA red apple is sweet.\n")
    ended = harness("rank", "red apple", file)
    assert ended.code == 0
    assert "A red apple is sweet." in ended.out.splitlines()[0]


def test_no_likely_passage_is_exit_code_1(harness: Program) -> None:
    """The nearest are listed all the same."""
    ended = harness("rank", "blue car", stdin=LINES)
    assert ended.code == 1
    assert len(ended.out.splitlines()) == 3
    assert "no passage is likely" in ended.err


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", "{", "a.jsonl:1: not JSON"),
        ("a.jsonl", '"a"\n{"body": 1}', "a.jsonl:2: neither"),
        ("a.txt", "\n\n", "no passages"),
        ("a.xyz", "a", "a file must be one of"),
    ],
)
def test_files_that_cannot_be_ranked(harness: Program, tmp_path: Path, name: str, content: str, message: str) -> None:
    """One line says where and what."""
    file = tmp_path / name
    file.write_text(content)
    assert message in harness("rank", "q", file).one_line_error(2)


def test_a_missing_file_is_one_line(harness: Program, tmp_path: Path) -> None:
    """The same for lines and for documents."""
    assert "cannot read" in harness("rank", "q", tmp_path / "none.txt").one_line_error(2)
    assert "no such" in harness("rank", "q", tmp_path / "none.md").one_line_error(2)


def test_terminal_codes_of_a_passage_are_not_printed(harness: Program) -> None:
    """A passage is a text from outside."""
    ended = harness("rank", "red", stdin=json.loads('"red \\u001b[31m apple"'))
    assert "\x1b" not in ended.out
