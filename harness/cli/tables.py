"""Tables: drawn by rich on a terminal, by tabulate in a pipe, as blocks of `name: value` where columns do not fit."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import typer
from msgspec import Struct

from harness.cli.output import fitted, wrapped
from harness.cli.terminal.streams import PIPED_WIDTH
from harness.core.text import one_line, printable

if TYPE_CHECKING:
    from rich.console import Console

GAP = 2
"""Columns of the terminal between two columns of a table."""
HEADER_SPACE = 2
"""Columns that tabulate adds to a header."""


class Line(NamedTuple):
    """One line of a cell, with its style on a terminal."""

    text: str
    style: str = ""


Cell: TypeAlias = str | Sequence[Line]
"""A text of one line, or several lines. Any text is safe: control characters are dropped."""

Rows: TypeAlias = Sequence[Sequence[Sequence[Line]]]
"""Cells of a table as lines, row by row."""


class Column(Struct, frozen=True):
    """One column of a table.

    `least`: fewest columns of the terminal for its texts; 0: they are never broken. A longer text goes on in the next
    line, or is `cut`. `rank`: on a narrow terminal the columns of the highest rank are left out first; those of rank 0
    never are.
    """

    name: str
    align: Literal["left", "right"] = "left"
    least: int = 0
    cut: bool = False
    rank: int = 0


def print_table(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], *, empty: str = "") -> None:
    """Print a table that fits the terminal, or the line `empty` where there are no rows.

    Columns with a rank are left out where they do not fit, and a line names them. If it is still too wide, each row
    becomes a block of lines. In a pipe a table has all its columns, and texts are broken so that it has at most 120
    columns where that is possible.
    """
    if empty and not rows:
        typer.echo(empty)
        return
    cells = [[_lines(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        _print_piped(columns, cells)
        return
    from harness.cli.terminal.console import SafeConsole

    console = SafeConsole()
    for rank in sorted({column.rank for column in columns}, reverse=True):
        shown = [number for number, column in enumerate(columns) if column.rank <= rank]
        some = [columns[number] for number in shown]
        parts = [[row[number] for number in shown] for row in cells]
        if widths := _widths(some, parts, console.width):
            _print_drawn(console, some, parts, widths)
            if left_out := [one_line(column.name) for column in columns if column.rank > rank]:
                console.print(f"left out on this width: {', '.join(left_out)}", style="dim")
            return
    _print_blocks(console, columns, cells)


def _lines(cell: Cell) -> list[Line]:
    lines = [Line(cell)] if isinstance(cell, str) else cell
    return [Line(printable(one_line(line.text)), line.style) for line in lines]


def _widths(columns: Sequence[Column], rows: Rows, room: int) -> list[int]:
    """Return the width of each column in a table of at most `room` columns of the terminal; empty if it does not fit.
    Columns whose texts may be broken share what the others leave, in proportion to what they lack.
    """
    from rich.cells import cell_len

    heads = [max(map(cell_len, column.name.split("\n"))) for column in columns]
    whole = [
        max([head, *(cell_len(line.text) for row in rows for line in row[number])]) for number, head in enumerate(heads)
    ]
    least = [
        max(head, min(width, column.least)) if column.least else width
        for column, width, head in zip(columns, whole, heads, strict=True)
    ]
    left = room - GAP * (len(columns) - 1) - sum(least)
    if left < 0:
        return []
    lacking = sum(whole) - sum(least)
    share = min(1.0, left / lacking) if lacking else 0.0
    return [few + int((many - few) * share) for few, many in zip(least, whole, strict=True)]


def _print_piped(columns: Sequence[Column], rows: Rows) -> None:
    from tabulate import SEPARATING_LINE, tabulate

    room = PIPED_WIDTH - HEADER_SPACE * len(columns)
    widths = _widths(columns, rows, room) or [0] * len(columns)
    texts: list[list[str] | str] = []
    for row in rows:
        if texts and _are_spaced(rows):
            texts.append(SEPARATING_LINE)
        cells = zip(columns, widths, row, strict=True)
        texts.append(["\n".join(_broken(line.text, column, width) for line in cell) for column, width, cell in cells])
    headers, aligned = [column.name for column in columns], [column.align for column in columns]
    typer.echo(tabulate(texts, headers=headers, colalign=aligned, disable_numparse=True))


def _are_spaced(rows: Rows) -> bool:
    """Return whether a line separates the rows: one of them has several lines."""
    return any(len(cell) > 1 for row in rows for cell in row)


def _broken(text: str, column: Column, width: int) -> str:
    if not (column.least and width):
        return text
    return fitted(text, width) if column.cut else wrapped(text, width)


def _print_drawn(console: "Console", columns: Sequence[Column], rows: Rows, widths: Sequence[int]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    leading = int(_are_spaced(rows))
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, pad_edge=False, leading=leading)
    for column, width in zip(columns, widths, strict=True):
        overflow: Literal["ellipsis", "fold"] = "ellipsis" if column.cut else "fold"
        table.add_column(Text(column.name), justify=column.align, width=width, no_wrap=column.cut, overflow=overflow)
    for row in rows:
        table.add_row(*(Text("\n").join(Text(*line) for line in cell) for cell in row))
    console.print(table)


def _print_blocks(console: "Console", columns: Sequence[Column], rows: Rows) -> None:
    """Print each row as lines: `name: value`, without the name where a value has several lines."""
    from rich.text import Text

    for number, row in enumerate(rows):
        if number:
            console.print()
        for column, cell in zip(columns, row, strict=True):
            for line in cell:
                name = f"{one_line(column.name)}: " if len(cell) == 1 else ""
                if line.text:
                    console.print(Text(name, style="dim").append(Text(*line)))
