"""A report on a terminal: values of its figure have bars where the terminal can show them."""

import io
import sys

import pytest

from harness.cli.report import _print_report
from tests.research.test_figures import GROWTH, report


class Terminal(io.TextIOWrapper):
    """A terminal with an encoding."""

    def isatty(self) -> bool:
        """It is one."""
        return True


@pytest.mark.parametrize(
    ("encoding", "columns", "bars"), [("utf-8", 100, True), ("utf-8", 79, False), ("latin-1", 100, False)]
)
def test_values_have_bars(monkeypatch: pytest.MonkeyPatch, encoding: str, columns: int, *, bars: bool) -> None:
    """In UTF-8 and if the terminal is wide enough that none is cut; otherwise only digits."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys, "stdout", Terminal(io.BytesIO(), encoding, errors="replace"))
    _print_report(report(*GROWTH))
    sys.stdout.flush()
    (line,) = [each for each in _shown(encoding).splitlines() if "about 4,500,000" in each]
    assert ("█" * 18 in line) == bars
    assert "2000" in line
    assert "[3]" in line


def _shown(encoding: str) -> str:
    written: io.BytesIO = sys.stdout.buffer  # type: ignore[assignment]
    return written.getvalue().decode(encoding)


def test_a_pipe_gets_plain_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    """The same as a file, without bars."""
    _print_report(report(*GROWTH))
    assert capsys.readouterr().out == report(*GROWTH).markdown()
