"""`harness cache calibrate` for the reader."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.models.from_settings import Models
from harness.models.local.reader import MiniLMReader
from tests.cli.program import Program
from tests.fakes import WordEmbedder, WordReader


@pytest.fixture(autouse=True)
def _words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Models, "reader", WordReader())
    monkeypatch.setattr(Models, "embedder", WordEmbedder())


def answers(path: Path, right: int = 40, wrong: int = 40) -> Path:
    """Write questions with texts that have half of their words or all, or none."""
    rows = [{"question": "red apple", "text": "an apple" if n % 4 else "a red apple", "label": 1} for n in range(right)]
    rows += [{"question": "red apple", "text": "a pear", "label": 0} for _ in range(wrong)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def quotations(path: Path, others: int = 100) -> Path:
    """Write sentences with quotations."""
    rows = [{"sentence": "red apple", "quotation": "a red apple", "label": "supports"} for _ in range(30)]
    rows += [{"sentence": "red apple", "quotation": "an apple", "label": "neither"} for _ in range(others)]
    rows += [{"sentence": "red apple", "quotation": "no pear", "label": "contradicts"} for _ in range(others)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_threshold_for_answers(harness: Program, tmp_path: Path) -> None:
    """It misses no more than allowed; a dry run stores nothing."""
    dry: Any = harness("cache", "calibrate", "--pairs", answers(tmp_path / "a.jsonl"), "--dry-run", "--json").told
    assert dry["kept"] is None
    assert not (tmp_path / "data" / "reading.json").exists()
    [decided] = dry["decisions"]
    assert (decided["decision"], decided["right"]["share"], decided["wrong"]["share"]) == ("answers", 1.0, 0.0)
    strict: Any = harness("cache", "calibrate", "--pairs", tmp_path / "a.jsonl", "--max-wrong", "0.9", "--json").told
    assert strict["decisions"][0]["threshold"] > decided["threshold"] > 0.5
    stored = json.loads((tmp_path / "data" / "reading.json").read_text())
    assert (stored["answers"], stored["reader"], stored["calibrated_on"]) == (
        strict["decisions"][0]["threshold"], "words", "80 pairs of a.jsonl",
    )  # fmt: skip


def test_thresholds_for_support(harness: Program, tmp_path: Path) -> None:
    """Both are set; the threshold for answers stays."""
    ended = harness("cache", "calibrate", "--pairs", quotations(tmp_path / "q.jsonl"))
    assert ended.code == 0
    assert "supports: threshold 0.5000\n  accepted of the right  100.00%" in ended.out
    stored = json.loads((tmp_path / "data" / "reading.json").read_text())
    assert stored["answers"] == 0.5
    assert 0.5 < stored["supports"] < 0.51
    assert 0.0 < stored["contradicts"] < 0.01


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"question": "a", "text": 1, "label": 0}', "question and text must be text, label one of 0, 1"),
        ('{"sentence": "a", "quotation": "b", "label": 1}', "supports, contradicts, neither"),
        ('{"sentence": "a", "text": "b", "label": 1}', "sentence, quotation and label"),
        ('{"question": "a", "text": "b", "label": 0}', "too few labels"),
        ('{"sentence": "a", "quotation": "b", "label": "supports"}', "too few labels"),
        ('{"question": "\\ud800", "text": "b", "label": 0}', "broken Unicode"),
    ],
)
def test_unusable_pairs(harness: Program, tmp_path: Path, line: str, message: str) -> None:
    """One line names what is missing; nothing is stored."""
    file = tmp_path / "a.jsonl"
    file.write_text(line + "\n")
    assert message in harness("cache", "calibrate", "--pairs", file).one_line_error(2)
    assert not (tmp_path / "data" / "reading.json").exists()


def test_the_stored_thresholds_are_used_with_the_same_weights(tmp_path: Path) -> None:
    """Not with others; a damaged file is an error."""
    from harness.errors import ReaderError

    own = tmp_path / "reading.json"
    shipped = MiniLMReader().calibration
    assert MiniLMReader(own).calibration == shipped
    made = {
        "reader": MiniLMReader().id,
        "embedder": "mine",
        "answers": 0.9,
        "supports": 0.8,
        "contradicts": 0.7,
        "weights": [1, 2, 3],
    }
    own.write_text(json.dumps(made | {"calibrated_on": "mine"}))
    assert MiniLMReader(own).calibration.answers == 0.9
    own.write_text(json.dumps(made | {"calibrated_on": "mine", "reader": "minilm-reader-before"}))
    assert MiniLMReader(own).calibration == shipped
    own.write_text("{")
    with pytest.raises(ReaderError, match="calibrate again"):
        _ = MiniLMReader(own).calibration


def test_damaged_thresholds_are_replaced(harness: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the error about them says; an option for questions is refused."""
    monkeypatch.undo()
    monkeypatch.setenv("HARNESS_DATA_DIR", str(tmp_path / "data"))
    own = tmp_path / "data" / "reading.json"
    own.parent.mkdir(exist_ok=True)
    own.write_text("{")
    assert "calibrate again" in harness("rank", "red apple", stdin="an apple\n").err
    file = answers(tmp_path / "a.jsonl", 12, 2)
    assert "leave it out" in harness(
        "cache", "calibrate", "--pairs", file, "--max-wrong-of-served", "0.1"
    ).one_line_error(2)
    assert harness("cache", "calibrate", "--pairs", file).code == 0
    assert harness("rank", "red apple", stdin="an apple\n").code in {0, 1}
