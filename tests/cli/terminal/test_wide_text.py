"""Tables and lines with wide, combining and invisible characters: every line has the columns that it should have."""

import io
import re
import sys

import pytest
from rich.cells import cell_len
from tabulate import tabulate

from harness.cli.output import fitted, wrapped
from harness.cli.search_command import _print_table
from harness.cli.terminal.console import SafeConsole
from harness.cli.terminal.progress import Pace
from harness.cli.terminal.progress_line import Bar

TEXTS = {
    "Chinese": "解除劳动合同的通知期限一般为三十天，双方应当以书面形式提前通知对方。" * 3,
    "Japanese": "労働契約の解除は３０日前に書面で通知する必要がある。ﾊﾝｶｸ" * 3,
    "Korean": "근로계약 해지 통지 기간은 삼십 일이다. " * 4,
    "Thai": "การบอกเลิกสัญญาจ้างต้องแจ้งล่วงหน้าอย่างน้อยหนึ่งรอบการจ่ายค่าจ้าง กำหนดไว้ " * 3,
    "Arabic": "العَرَبِيَّةُ لُغَةٌ جَمِيلَةٌ يَتَحَدَّثُ بِهَا المَلَايِينُ " * 4,
    "Hebrew": "שָׁלוֹם עֲלֵיכֶם " * 8,
    "emoji": "👩‍👩‍👧 family 👍🏽 flags 🇩🇪 ❤️ " * 5,
    "decomposed": "e\u0301te\u0301 au cafe\u0301 " * 8,
    "invisible": "a\u200bb\u200dc zero\u200bwidth \ufeff" * 6,
}
MARKS = ("\u0301", "\u0e48", "\u0e31", "\u064e", "\u05b8", "\ufe0f", "\u200d")


class Terminal(io.StringIO):
    """A terminal that keeps its text."""

    def isatty(self) -> bool:
        """It is one."""
        return True


@pytest.fixture(params=[80, 100])
def columns(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Width of the terminal."""
    monkeypatch.setenv("COLUMNS", str(request.param))
    monkeypatch.setenv("TERM", "xterm")
    return int(request.param)


def plain(shown: str) -> str:
    """Return what a terminal shows, without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", shown)


def printed(text: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the lines of a table of results whose texts are `text`."""
    terminal = Terminal()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", terminal)
        title = text[:60].rstrip("👩\u200d")  # half of a family is no text
        _print_table([{"title": title, "href": f"https://example.org/{text[:20]}", "body": text}] * 2)
    return [line for line in plain(terminal.getvalue()).split("\n") if line]


@pytest.mark.parametrize("script", TEXTS)
def test_a_table_has_lines_of_one_width(script: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with letters of two columns and marks of none; the whole beginning of the text is in it."""
    lines = printed(TEXTS[script], monkeypatch)
    assert len({cell_len(line) for line in lines}) == 1
    assert cell_len(lines[0]) <= columns
    shown = "".join("".join(lines).split())
    assert "".join(TEXTS[script].split())[:6] in shown


@pytest.mark.parametrize("script", TEXTS)
def test_no_line_of_a_table_begins_with_a_mark(script: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It belongs to the letter before it."""
    for line in printed(TEXTS[script], monkeypatch):
        assert not [part for part in line.split("  ") if part.strip().startswith(MARKS)]


@pytest.mark.parametrize("script", TEXTS)
def test_the_line_of_progress_fits(script: str, columns: int) -> None:
    """The line of progress is cut by columns, with an ellipsis."""
    pace = Pace(0.0)
    pace.note(TEXTS[script], 3, 10, 1.0)
    terminal = Terminal()
    console = SafeConsole()
    console.file, console.width = terminal, columns
    bar = object.__new__(Bar)  # without its thread
    bar._pace, bar._console, bar._spinner = pace, console, "*"
    console.print(bar._line())
    [line] = plain(terminal.getvalue()).rstrip("\n").split("\n")
    assert cell_len(line) == columns
    assert "…" in line
    assert "3/10" in line


@pytest.mark.parametrize("script", TEXTS)
@pytest.mark.parametrize("width", [10, 21, 40])
def test_a_text_is_cut_to_columns(script: str, width: int) -> None:
    """Most of them are used; no letter loses its marks."""
    cut = fitted(TEXTS[script], width)
    assert width // 2 <= cell_len(cut) <= width
    assert cut.endswith("…")
    assert " ".join(TEXTS[script].split()).startswith(cut[:-1])
    assert not " ".join(TEXTS[script].split())[len(cut) - 1 :].startswith(MARKS)


def test_a_short_text_and_english_are_as_before() -> None:
    """English is cut between words."""
    assert fitted("什么是缓存", 10) == "什么是缓存"
    assert fitted("best practices for retrieval", 16) == "best practices…"
    assert fitted("", 5) == ""


@pytest.mark.parametrize("script", TEXTS)
def test_a_list_of_cut_texts_is_aligned(script: str) -> None:
    """Tables without frames count columns, too: the numbers are in one column."""
    rows = [(fitted(TEXTS[script], 30), "1"), ("plain", "22")]
    lines = tabulate(rows, headers=("question", "n"), disable_numparse=True, colalign=("left", "right")).split("\n")
    assert len({cell_len(line) for line in lines}) == 1


@pytest.mark.parametrize("script", TEXTS)
def test_a_paragraph_is_broken_by_columns(script: str) -> None:
    """Nothing is lost, and the lines after the first are indented."""
    lines = wrapped(f"1. {TEXTS[script]}", 40, "   ").split("\n")
    assert len(lines) > 1
    assert all(cell_len(line) <= 40 for line in lines)
    assert all(line.startswith("   ") for line in lines[1:])
    assert "".join("".join(lines).split()) == "".join(f"1. {TEXTS[script]}".split())
    assert wrapped("one two three", 8, "  ") == "one two\n  three"
