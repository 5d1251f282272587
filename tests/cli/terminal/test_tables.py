"""Tables: on a terminal they fit it, in a pipe they are whole."""

import io
import re
import sys

import pytest
from rich.cells import cell_len

from harness.cli.tables import Cell, Column, Line, print_table

NAMES = ("run", "state", "question", "calls")
COLUMNS = (Column("run"), Column("state", rank=1), Column("question", least=24), Column("calls", "right", rank=2))
LONG = "In which order does Python look up an attribute on an instance of a class with descriptors?"
ROWS = (("20261122-101500", "finished", LONG, "5"), ("20261122-101501", "failed", "通知期限 " * 12, "1,204"))


class Terminal(io.StringIO):
    """A terminal that keeps its text."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def printed(monkeypatch: pytest.MonkeyPatch, width: int, columns: tuple[Column, ...], *rows: tuple[Cell, ...]) -> str:
    """Return a table on a terminal of a width, without colours; 0: in a pipe."""
    shown = Terminal() if width else io.StringIO()
    with monkeypatch.context() as patch:
        patch.setenv("COLUMNS", str(width or 40))
        patch.setenv("TERM", "xterm")
        patch.setattr(sys, "stdout", shown)
        print_table(columns, rows)
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.getvalue())


@pytest.mark.parametrize("width", [20, 40, 50, 60, 80, 100, 120, 200])
def test_every_line_fits_the_terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """Also with characters of two columns; no word of a text is lost."""
    text = printed(monkeypatch, width, COLUMNS, *ROWS)
    assert max(map(cell_len, text.splitlines())) <= width
    assert set(LONG.split()) <= set(text.split())
    assert "".join(text.split()).count("通知期限") >= 1


def test_columns_of_the_highest_rank_are_left_out_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line names them; where even the others do not fit, each row is a block with all of them."""
    heads = {width: printed(monkeypatch, width, COLUMNS, *ROWS) for width in (40, 50, 56, 100)}
    assert heads[100].splitlines()[0].split() == list(NAMES)
    assert heads[56].splitlines()[0].split() == ["run", "state", "question"]
    assert "left out on this width: calls" in heads[56]
    assert heads[50].splitlines()[0].split() == ["run", "question"]
    assert "left out on this width: state, calls" in heads[50]
    first = heads[40].partition("\n\n")[0]
    assert first.startswith("run: 20261122-101500\nstate: finished\nquestion: In which")
    assert first.endswith("\ncalls: 5")


def test_a_pipe_gets_every_column_whatever_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts are broken at 120 columns, and the columns are aligned."""
    text = printed(monkeypatch, 0, COLUMNS, *ROWS)
    lines = text.splitlines()
    assert lines[0].split() == list(NAMES)
    assert set(lines[1]) == {"-", " "}
    assert max(map(cell_len, lines)) <= 120
    assert set(LONG.split()) <= set(text.split())
    assert {cell_len(line) for line in lines if line.endswith((" 5", "1,204"))} == {cell_len(lines[1])}


def test_a_cut_text_stays_on_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends with an ellipsis; in a block it is whole."""
    columns = (Column("run"), Column("question", least=20, cut=True))
    row = ("20261122-101500", LONG)
    for width in (0, 60):
        lines = printed(monkeypatch, width, columns, (*row[:1], LONG * 2)).splitlines()
        assert len(lines) == 3
        assert lines[2].rstrip().endswith("…")
    assert set(LONG.split()) <= set(printed(monkeypatch, 30, columns, row).split())


@pytest.mark.parametrize("width", [0, 30, 80])
def test_rows_of_several_lines_are_separated(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """One line is between them, empty or (in a pipe) dashes, and none at the end."""
    cell = (Line("A title", "bold"), Line("https://example.org/a"))
    text = printed(monkeypatch, width, (Column("n", "right"), Column("result", least=40)), ("1", cell), ("2", cell))
    lines = [line.strip(" -") for line in text.rstrip("\n").split("\n")]
    assert lines.count("") == (1 if width else 2), "the line below the header is one of dashes, too"
    assert lines[-1]


@pytest.mark.parametrize("width", [0, 30, 120])
def test_foreign_text_stays_in_its_cell(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """Escape sequences, markup and line breaks have no effect."""
    hostile = "a\x1b[31;5m\x07[bold]b[/]\nstate: forged\r\x9b2J\u202egpj.exe"
    text = printed(monkeypatch, width, (Column("state"), Column("text", least=8)), ("finished", hostile))
    assert not set("\x1b\x07\r\x9b\u202e") & set(text)
    assert "[bold]b[/]" in "".join(text.split())
    assert not [line for line in text.splitlines() if line.startswith("state: forged")]
