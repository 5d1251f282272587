"""Logs of evaluations: written, and read after a kill or damage."""

import resource
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from harness_evals.log import Entry, Header, LogWriter, logs_in, read_log
from harness_evals.outcome import Outcome

from harness.errors import InvalidInput, StoreBusy, StoreError

HEADER = Header(
    "20261122-101500-1a2b3c", 1_700_000_000.0, {"a": "1", "b": "2"}, 2, {"max_rounds": 5}, {"harness": "0"}, {}
)


def entry(task: str, repeat: int, error: str = "") -> Entry:
    """Return a line of the log."""
    return Entry(Outcome(task, repeat, error=error))


def write(path: Path, *lines: msgspec.Struct) -> Path:
    """Append lines to a log."""
    with LogWriter(path) as log:
        for line in lines:
            log.write(line)
    return path


def test_written_lines_are_read(tmp_path: Path) -> None:
    """Header and outcomes, in order, over several openings; nothing is rewritten."""
    path = write(tmp_path / "evals" / "one.jsonl", HEADER, entry("a", 0))
    before = path.read_bytes()
    write(path, entry("b", 0))
    assert path.read_bytes().startswith(before)
    assert read_log(path).header == HEADER
    assert [outcome.task for outcome in read_log(path).outcomes] == ["a", "b"]


@pytest.mark.parametrize(
    "torn", [b'{"line":"outcome","outc', b'{"line":"outcome","outcome":{"task":"a","repeat":1}}', b"\xff"]
)
def test_a_torn_last_line_is_not_read_and_is_cut_off(tmp_path: Path, torn: bytes) -> None:
    """Text after the last line end is ignored; the next line appended is a separate one."""
    path = write(tmp_path / "one.jsonl", HEADER, entry("a", 0))
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    assert len(read_log(path).entries) == 1
    write(path, entry("b", 0))
    assert path.read_bytes().startswith(whole + b'{"line":"outcome","outcome":{"task":"b"')
    assert [outcome.task for outcome in read_log(path).outcomes] == ["a", "b"]


@pytest.mark.parametrize(
    "damage",
    [b"nothing", b"", b"\xff\xfe", b'{"line":"other"}', b'{"line":"outcome"}', b"[" * 100_000, b"\0" * 50],
    ids=["words", "empty", "bytes", "kind", "field", "nested", "zeros"],
)
def test_a_damaged_line_is_named(tmp_path: Path, damage: bytes) -> None:
    """With file and line, never skipped."""
    path = write(tmp_path / "one.jsonl", HEADER, entry("a", 0))
    path.write_bytes(path.read_bytes() + damage + b"\n")
    write(path, entry("b", 0))
    with pytest.raises(InvalidInput, match=r"one\.jsonl, line 3: "):
        read_log(path)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ((), "is empty"),
        ((entry("a", 0),), "line 1: a log begins with a header"),
        ((HEADER, HEADER), "line 2: a second header"),
    ],
)
def test_an_invalid_log_is_refused(tmp_path: Path, lines: tuple[msgspec.Struct, ...], says: str) -> None:
    """One header, first."""
    with pytest.raises(InvalidInput, match=says):
        read_log(write(tmp_path / "one.jsonl", *lines))


def test_a_line_beyond_all_bounds_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not read into memory as a whole."""
    monkeypatch.setattr("harness_evals.log.MAX_LINE_BYTES", 1_000)
    path = write(tmp_path / "one.jsonl", HEADER, entry("a" * 2_000, 0))
    with pytest.raises(InvalidInput, match="line 2"):
        read_log(path)


def test_there_is_no_such_log(tmp_path: Path) -> None:
    """The error has the file; a missing folder has no logs."""
    with pytest.raises(InvalidInput, match=r"cannot read the log .*none\.jsonl"):
        read_log(tmp_path / "none.jsonl")
    assert logs_in(tmp_path / "nowhere") == []


def test_a_log_with_every_run_is_finished(tmp_path: Path) -> None:
    """A run that failed and was repeated counts once."""
    path = write(tmp_path / "one.jsonl", HEADER, entry("a", 0, "down"), entry("a", 1), entry("a", 0), entry("b", 0))
    assert not read_log(path).is_finished
    assert read_log(write(path, entry("b", 1, "down"))).is_finished


def test_one_program_writes_a_log(tmp_path: Path) -> None:
    """Another one gets an error, and nothing is mixed up; when the first is killed, the lock is released."""
    path = tmp_path / "one.jsonl"
    holds = "import sys, time, pathlib, harness_evals.log as log\nw = log.LogWriter(pathlib.Path(sys.argv[1]))\n"
    holds += "print(1, flush=True)\ntime.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", holds, path], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(StoreBusy, match=r"another program is writing .*one\.jsonl"):
            LogWriter(path)
        other.kill()
    write(path, HEADER)


def test_a_log_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """The error has the file."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"cannot write the log .*one\.jsonl"):
        LogWriter(tmp_path / "file" / "one.jsonl")


def test_a_full_disk_is_an_error(tmp_path: Path) -> None:
    """Earlier lines stay, and a partial line is ignored."""
    path = write(tmp_path / "one.jsonl", HEADER, entry("a", 0))
    size, (bound, most) = path.stat().st_size, resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, most))
    try:
        with LogWriter(path) as log, pytest.raises(StoreError, match="cannot write the log"):
            log.write(entry("b", 0))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (bound, most))
    assert len(read_log(path).entries) == 1
