"""Progress of long work: how far, since when, how long it still takes; on one line, with everything else above it."""

import logging
import os
import re
import sys
import threading
from pathlib import Path

import pexpect
import pytest

from harness.cli.terminal import _Lines, _quiet_logs, _say
from harness.cli.terminal.progress import Pace
from harness.core.durations import in_words


def test_the_time_left_is_what_the_rest_takes_at_this_speed() -> None:
    """It falls with every second between two steps, and is right when steps come evenly."""
    pace = Pace(100.0)
    pace.note("searching", 0, 10, 100.0)
    assert pace.remaining(101.0) is None, "no step is done yet"
    pace.note("searching", 2, 10, 104.0)
    assert pace.remaining(104.0) == 16
    assert pace.remaining(105.0) == 15
    assert pace.remaining(200.0) == 14, "one step may take long, the others need their time all the same"
    pace.note("searching", 4, 10, 108.0)
    assert pace.remaining(108.0) == 12


def test_other_work_begins_at_its_own_speed() -> None:
    """A lower count begins other work; a new name for the same count does not."""
    pace = Pace(0.0)
    pace.note("preparing", 0, 8, 0.0)
    pace.note("searching", 0, 8, 50.0)
    pace.note("searching", 4, 8, 54.0)
    assert pace.remaining(54.0) == 4, "preparing is no part of a step"
    pace.note("reading", 4, 8, 54.0)
    assert pace.remaining(54.0) == 4
    pace.note("writing", 0, 2, 60.0)
    assert pace.remaining(60.0) is None
    assert pace.began == 0.0, "what is shown as gone by is since the beginning"


def test_until_a_step_is_done_the_usual_time_counts() -> None:
    """There is an estimate from the first second, and the steps themselves replace it."""
    pace = Pace(0.0, usual=3.0)
    pace.note("preparing", 0, 10, 0.0)
    assert pace.remaining(2.0) == 28
    pace.note("running", 1, 10, 10.0)
    assert pace.remaining(10.0) == 90
    pace.note("nothing to count", 0, 0, 11.0)
    assert pace.remaining(11.0) is None


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.04, "0 s"),
        (0.23, "0.2 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59, "59 s"),
        (60, "1 min"),
        (3_540, "59 min"),
        (7_200, "2 h"),
        (7_800, "2 h 10 min"),
        (259_200, "3 d"),
    ],
)
def test_times_are_told_as_people_do(seconds: float, words: str) -> None:
    """Seconds, minutes, hours and minutes."""
    assert in_words(seconds) == words


PROGRAM = """
import logging, sys, time
import typer
from harness.cli.terminal import configure_logging, run
from harness.cli.terminal.progress import ProgressBars

def work():
    configure_logging("warning")
    with ProgressBars() as bars:
        bars.expect(5)
        bars("preparing a rather long and detailed piece of work", 0, 4)
        time.sleep(0.6)
        logging.getLogger("harness").warning("a line of the log, " + "long " * 30 + "\\x1b[2J")
        typer.echo("result one")
        for done in range(1, 5):
            bars(f"step {done}", done, 4)
            time.sleep(0.3)
        typer.echo("asked? ", nl=False)
    typer.echo("the end")
run(work)
"""


@pytest.mark.slow
@pytest.mark.parametrize("columns", [60, 100])
def test_the_line_stays_one_line_and_others_are_above_it(tmp_path: Path, columns: int) -> None:
    """On a terminal: drawn at once with an estimate, never folded, gone at the end; log lines are whole."""
    script = tmp_path / "work.py"
    script.write_text(PROGRAM)
    environment = {**os.environ, "TERM": "xterm", "PYTHONPATH": str(Path(__file__).parents[3])}
    terminal = pexpect.spawn(
        sys.executable, [str(script)], env=environment, timeout=30, dimensions=(30, columns), encoding="utf-8"
    )
    terminal.expect("preparing")
    terminal.expect("0/4 .* about 20 s left")
    terminal.expect("warning: a line of the log")
    terminal.expect("result one\r\n")
    terminal.expect("4/4")
    terminal.expect(pexpect.EOF)
    assert "asked? the end" in terminal.before
    assert "\x1b[2J" not in terminal.before


def screen_of(text: str, columns: int) -> list[str]:
    """Return the lines that a terminal shows in the end: with returns, erased lines and the cursor going up."""
    lines, row, column = [""], 0, 0

    for part in re.findall(r"\x1b\[[0-9;?]*[a-zA-Z]|\r|\n|[^\x1b\r\n]", text):
        if part == "\r":
            column = 0
        elif part == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif part.startswith("\x1b["):
            if part.endswith("A"):
                row = max(0, row - int(part[2:-1] or 1))
            elif part == "\x1b[2K":
                lines[row] = ""
        else:
            if column == columns:
                row, column = row + 1, 0
                lines += [""] * (row + 1 - len(lines))
            lines[row] = lines[row].ljust(column)[:column] + part + lines[row][column + 1 :]
            column += 1
    return [line.rstrip() for line in lines]


@pytest.mark.slow
def test_nothing_of_the_line_is_left(tmp_path: Path) -> None:
    """In the end a terminal shows the lines that a file would hold."""
    script = tmp_path / "work.py"
    script.write_text(PROGRAM)
    environment = {**os.environ, "TERM": "xterm", "PYTHONPATH": str(Path(__file__).parents[3])}
    terminal = pexpect.spawn(
        sys.executable, [str(script)], env=environment, timeout=30, dimensions=(30, 80), encoding="utf-8"
    )
    terminal.expect(pexpect.EOF)
    shown = [line for line in screen_of(terminal.before, 80) if line]
    assert shown[0].startswith("warning: a line of the log, long")
    assert [line for line in shown if not of_the_log(line)] == ["result one", "asked? the end"], shown


def of_the_log(line: str) -> bool:
    """Say whether it is a part of the log line."""
    return line.startswith("warning:") or "long long" in line or line.strip().startswith(("long", "ng", "g "))


def test_a_line_for_standard_error_is_one_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that log at the same time do not mix their lines."""
    written: list[str] = []

    class Stream:
        def write(self, text: str) -> int:
            written.append(text)
            return len(text)

    monkeypatch.setattr(sys, "stderr", Stream())
    _say("interrupted; cached entries stay")
    assert written == ["interrupted; cached entries stay\n"]


def test_nothing_is_logged_after_the_last_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that logs while the program says that it was interrupted waits until it has ended."""
    lines = _Lines()
    monkeypatch.setattr(logging.getLogger("harness"), "handlers", [lines])
    record = logging.LogRecord("harness", logging.INFO, "", 0, "miss", None, None)
    thread = threading.Thread(target=lines.handle, args=(record,))
    with _quiet_logs():
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
        _say("interrupted; cached entries stay")
    thread.join()
    assert capsys.readouterr().err == "interrupted; cached entries stay\ninfo: miss\n"
