"""Texts of stages: stored once by digest, never trusted by name, pruned with the logs."""

import os
from pathlib import Path

import pytest
from harness_evals import stages
from harness_evals.stages import digest, digest_of_task, keep, keep_task, prune, task_of, text_of

from tests.evals.stand_ins import fact_task


def folder(data_dir: Path) -> Path:
    """Return the folder of the texts."""
    return data_dir / "evals" / "stages"


def test_a_text_is_stored_once(tmp_path: Path) -> None:
    """Under its digest, whatever stage it is of; an empty text needs no file."""
    digests = keep(tmp_path, {"context": "täxt", "report": "täxt", "prompt": ""})
    assert digests["context"] == digests["report"] == digest("täxt")
    assert len(list(folder(tmp_path).iterdir())) == 1
    assert (text_of(tmp_path, digests["report"]), text_of(tmp_path, digests["prompt"])) == ("täxt", "")


@pytest.mark.parametrize("content", [b"", b"no gzip", b"\x1f\x8b\x08\x00torn"])
def test_a_damaged_text_is_missing(tmp_path: Path, content: bytes) -> None:
    """So is one that has another text than its name says, and a name that is a path."""
    name, other = keep(tmp_path, {"a": "one", "b": "two"}).values()
    (folder(tmp_path) / f"{name}.gz").write_bytes(content)
    assert text_of(tmp_path, name) is None
    (folder(tmp_path) / f"{name}.gz").write_bytes((folder(tmp_path) / f"{other}.gz").read_bytes())
    assert text_of(tmp_path, name) is None
    assert text_of(tmp_path, f"../stages/{other}") is None


def test_long_texts_are_not_stored_nor_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their digests still show whether they differ."""
    kept = keep(tmp_path, {"a": "short enough"})
    monkeypatch.setattr(stages, "MAX_BYTES", 5)
    assert text_of(tmp_path, kept["a"]) is None
    assert text_of(tmp_path, keep(tmp_path, {"a": "too long"})["a"]) is None


def test_a_folder_that_cannot_be_written_stops_no_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It is a warning."""
    (tmp_path / "evals").write_text("a file")
    assert keep(tmp_path, {"a": "one"}) == {"a": digest("one")}
    assert "not kept" in caplog.text


def test_texts_without_a_log_are_pruned(tmp_path: Path) -> None:
    """After a day: the run that wrote them may not be in its log yet. Those of arms of experiments stay, too."""
    digests = keep(tmp_path, {"a": "of a log", "b": "of an arm", "c": "of none"})
    arm = tmp_path / "autoresearch" / "x" / "evals" / "1-baseline.jsonl"
    arm.parent.mkdir(parents=True)
    (tmp_path / "evals" / "one.jsonl").write_text(f'{{"digests":{{"report":"{digests["a"]}"}}}}\n')
    arm.write_text(f'{{"digests":{{"report":"{digests["b"]}"}}}}\n')
    assert prune(tmp_path) == 0
    for path in folder(tmp_path).iterdir():
        os.utime(path, (1.0, 1.0))
    assert prune(tmp_path) == 1
    assert [text_of(tmp_path, name) for name in digests.values()] == ["of a log", "of an arm", None]


def test_logs_are_read_only_for_old_texts_and_once_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading stops as soon as every old text is named; a text that lost its log goes a day later at the latest."""
    read: list[str] = []
    named_in = stages._named_in
    monkeypatch.setattr(stages, "_named_in", lambda path: (read.append(path.name), named_in(path))[1])
    (digest_of_a,) = keep(tmp_path, {"a": "of a log"}).values()
    for name in ("one", "two"):
        (tmp_path / "evals" / f"{name}.jsonl").write_text(f'{{"report":"{digest_of_a}"}}\n')
    now = (folder(tmp_path) / f"{digest_of_a}.gz").stat().st_mtime
    day = stages.GRACE_SECONDS
    assert (prune(tmp_path, now=now + day - 1), read) == (0, [])
    assert (prune(tmp_path, now=now + day + 1), len(read)) == (0, 1)
    for name in ("one", "two"):
        (tmp_path / "evals" / f"{name}.jsonl").unlink()
    assert (prune(tmp_path, now=now + 2 * day), text_of(tmp_path, digest_of_a)) == (0, "of a log")
    assert (prune(tmp_path, now=now + 2 * day + 1), text_of(tmp_path, digest_of_a)) == (1, None)


def test_the_oldest_texts_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that is written again counts as new."""
    old, new = keep(tmp_path, {"a": "one", "b": "two"}).values()
    for name, moment in ((old, 1e9), (new, 2e9)):
        os.utime(folder(tmp_path) / f"{name}.gz", (moment, moment))
    monkeypatch.setattr(stages, "MAX_TOTAL_BYTES", 30)
    assert prune(tmp_path, now=1e9) == 1
    assert [text_of(tmp_path, name) for name in (old, new)] == [None, "two"]


def test_a_task_is_found_by_its_digest(tmp_path: Path) -> None:
    """As it was when it was stored; the program's own need not be stored."""
    task = fact_task("a")
    keep_task(tmp_path, task)
    assert task_of(tmp_path, digest_of_task(task)) == task
    assert task_of(tmp_path, "0" * 16) is None
    (shipped,) = [each for each in stages._shipped().values() if each.id == "T_A"]
    assert task_of(tmp_path / "empty", digest_of_task(shipped)) == shipped
