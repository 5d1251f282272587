"""Lines of a PDF's page in reading order: pieces of text are joined by their coordinates, as pypdf reports them.

A page has its text in the order in which it was written, nearly always the reading order. Only where a page evidently
has columns are its lines sorted.
"""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import hypot, isfinite
from statistics import fmean
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from harness.core.text import clean, one_line

MAX_PIECES = 20_000
"""Pieces of one page that are placed; later ones are left out. A dense page has about 1,000."""

ASIDE = -2
"""Column of lines of another direction than most."""
MIN_COLUMN_LINES = 5
MIN_SHARE = 0.15
"""Least share of a page's lines that begin where a column does."""
MIN_FILLED = 0.4
"""Least mean width of the lines of a column, as a share of the column: cells of a table are narrower."""
BEYOND = 0.15
"""Share of the next columns that a line fills at least if it belongs to all."""
WORD_GAP, CELL_GAP = 0.15, 2.0
"""Least gaps, in font sizes, between words and between cells. Widths are estimates."""

CJK = "\u2e80"
"""The first Chinese or Japanese character: later ones are as wide as high, and without spaces between words."""
_NARROW, _WIDE = frozenset("iIjltfr.,:;'’‘|!()[]/ -"), frozenset("mwMW@%—…")
_FORMS = re.compile("[\ufb00-\ufb06\ufb13-\ufb17\ufb1d-\ufdff\ufe70-\ufefc]+")
"""Ligatures and the forms of Arabic and Hebrew letters."""
_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
"""Characters of Hebrew, Arabic, and other scripts from right to left."""
_NO_SPACE_BEFORE = re.compile(r"\s*[.,:;!?؟،؛»\])]")
_SPACES = dict.fromkeys(map(ord, "\u00a0\u2007\u202f"), " ")


class Line(Struct, frozen=True):
    """One line of a page, or of a column: left end, baseline, and estimated right end, in points from the lower left;
    `left` and `right` are those of its column. `cells`: it has wide gaps, as a row of a table.
    """

    page: int
    x: float
    y: float
    end: float
    size: float
    text: str
    bold: bool = False
    cells: bool = False
    left: float = 0.0
    right: float = 0.0
    column: int = 0


def lines_of(page: Any, number: int, room: int) -> list[Line]:
    """Return the lines of a page of pypdf, at most about `room` characters, in reading order; text of another direction
    than most comes last.

    Raises:
        Exception: of any kind, from pypdf, on a damaged page.
    """
    turned = _pieces(page, number, room)
    sums = {turn: sum(len(piece.text) for piece in pieces) for turn, pieces in turned.items()}
    lines: list[Line] = []
    for turn in sorted(turned, key=lambda each: -sums[each]):
        if not lines:
            lines += _in_columns(turned[turn])
        else:
            lines += [replace(line, column=ASIDE) for line in _without_columns(turned[turn])]
    return lines


def _pieces(page: Any, number: int, room: int) -> dict[int, list[Line]]:
    """Return the pieces of text as the page gives them, by direction: 0, 90, 180 or 270 degrees."""
    turned: dict[int, list[Line]] = {}
    left, count = room, 0

    def visit(text: str, cm: Sequence[float], tm: Sequence[float], font: Any, size: float) -> None:
        nonlocal left, count
        if left <= 0 or count >= MAX_PIECES or not text.strip():
            return
        text = _normalised(text[:left])
        left, count = left - len(text), count + 1
        turn, x, y, scale = _placed(cm, tm)
        name = str(font.get("/BaseFont", "")) if hasattr(font, "get") else ""
        size = size * scale if isfinite(size * scale) and size * scale > 0 else 1.0
        bold = any(weight in name for weight in ("Bold", "bold", "Black", "Heavy"))
        end = x + size * sum(map(_ems, text.strip()))
        turned.setdefault(turn, []).append(Line(number, x, y, end, size, text, bold))

    page.extract_text(visitor_text=visit)
    return turned


def _normalised(text: str) -> str:
    """Return text in NFC on one line, without ligatures; a space before it stays, and a space or line end after it."""
    plain = _FORMS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text).translate(_SPACES)
    bare = one_line(clean(unicodedata.normalize("NFC", plain), 3 * len(plain)))
    after = " " if plain.rstrip("\n")[-1:].isspace() else "\n" * plain.endswith("\n")
    return f"{' ' * plain[:1].isspace()}{bare}{after}"


def _placed(cm: Sequence[float], tm: Sequence[float]) -> tuple[int, float, float, float]:
    """Return direction, place (turned upright) and scale of a text matrix `tm` in a page's matrix `cm`."""
    a, b, c, d, e, f = (float(each) for each in tm)
    right, up = a * cm[0] + b * cm[2], a * cm[1] + b * cm[3]
    x, y = e * cm[0] + f * cm[2] + cm[4], e * cm[1] + f * cm[3] + cm[5]
    scale = hypot(c * cm[0] + d * cm[2], c * cm[1] + d * cm[3])
    if not all(map(isfinite, (right, up, x, y, scale))):
        return 0, 0.0, 0.0, 1.0
    x, y = round(x, 2), round(y, 2)
    if abs(up) > abs(right):
        return (90, y, -x, scale) if up > 0 else (270, -y, x, scale)
    return (0, x, y, scale) if right >= 0 else (180, -x, -y, scale)


def _ems(char: str) -> float:
    """Estimate the width of a character in font sizes, for a text within about 10%: pypdf does not report it."""
    if char in _NARROW:
        return 0.3
    if char in _WIDE:
        return 0.85
    return 1.0 if char >= CJK else 0.65 if char.isupper() else 0.5


def _without_columns(pieces: Iterable[Line]) -> list[Line]:
    lines = list(_joined(pieces, ()))
    left, right = min(line.x for line in lines), max(line.end for line in lines)
    return [replace(line, left=left, right=right) for line in lines]


def _in_columns(pieces: Sequence[Line]) -> list[Line]:
    """Return the lines of a page, column after column if it has several; a line over all columns separates what is
    above it from what is below.
    """
    left, right = min(piece.x for piece in pieces), max(piece.end for piece in pieces)
    starts = _column_starts(pieces, left, right)
    while starts:
        columns = [_columned(line, starts, left, right) for line in _joined(pieces, starts)]
        placed = _without_crossing(columns, starts)
        if _are_columns(placed, len(starts) + 1):
            return list(_sorted(placed))
        starts = starts[:-1]
    return _without_columns(pieces)


def _column_starts(pieces: Sequence[Line], left: float, right: float) -> list[float]:
    """Return where columns after the first may begin: places right of the first quarter where many lines begin."""
    lines = {round(piece.y) for piece in pieces}
    begin = Counter(round(x / 2) for x, _ in {(piece.x, round(piece.y)) for piece in pieces})
    least = max(MIN_COLUMN_LINES, MIN_SHARE * len(lines))
    inside = [
        2.0 * place
        for place, count in begin.most_common()
        if count >= least and left + 0.25 * (right - left) < 2 * place < left + 0.8 * (right - left)
    ]
    chosen: list[float] = []
    for place in inside:
        if all(abs(place - other) > 0.2 * (right - left) for other in chosen):
            chosen.append(place)
    return sorted(chosen[:2])


def _joined(pieces: Iterable[Line], starts: Sequence[float]) -> Iterator[Line]:
    """Yield lines: pieces on one baseline, one after the other, that do not begin a column."""
    held: list[Line] = []
    for piece in pieces:
        if held and (not _continues(held, piece) or any(abs(piece.x - start) <= 2 for start in starts)):
            yield _line(held)
            held = []
        held.append(piece)
    if held:
        yield _line(held)


def _continues(held: Sequence[Line], piece: Line) -> bool:
    """Return whether a piece is on the line before it, as a raised number may be."""
    last = max(held[-3:], key=lambda each: each.size)
    near = abs(piece.y - last.y) <= 0.45 * max(last.size, piece.size)
    return near and (piece.x >= held[-1].x or any(_is_rtl(each.text) for each in (held[-1], piece)))


def _line(pieces: Sequence[Line]) -> Line:
    """Return the line of pieces. Those of a script from right to left come from the left, with uncertain places."""
    largest = max(pieces, key=lambda each: (each.size, len(each.text)))
    reverse = sum(len(_RTL.findall(piece.text)) for piece in pieces)
    rtl = reverse > 0 and 2 * reverse > sum(char.isalpha() for piece in pieces for char in piece.text)
    ordered = list(reversed(pieces) if rtl else pieces)
    parts, cells = [ordered[0].text.strip()], False
    for before, piece in pairwise(ordered):
        gap = 0.0 if rtl else (piece.x - before.end) / max(before.size, piece.size)
        cells |= gap > CELL_GAP
        if rtl or _is_rtl(before.text) or _is_rtl(piece.text):
            spaced = any(char == " " for each in (before, piece) for char in (each.text[0], each.text[-1]))
            spaced &= not _NO_SPACE_BEFORE.match(piece.text)
        else:
            spaced = piece.text[0] == " " or before.text[-1] == " " or (before.text[-1] == "\n" and gap > WORD_GAP)
        parts.append(f"{' ' * spaced}{piece.text.strip()}")
    return replace(
        largest,
        x=min(piece.x for piece in pieces),
        end=max(piece.end for piece in pieces),
        text="".join(parts),
        bold=all(piece.bold for piece in pieces),
        cells=cells,
    )


def _is_rtl(text: str) -> bool:
    return _RTL.search(text) is not None


def _columned(line: Line, starts: Sequence[float], left: float, right: float) -> Line:
    edges = [left, *starts, right]
    column = bisect_right([start - 2 for start in starts], line.x)
    return replace(line, column=column, left=edges[column], right=edges[column + 1])


def _without_crossing(lines: Sequence[Line], starts: Sequence[float]) -> list[Line]:
    """Return the lines, those over several columns with the number -1: nothing of the next column is next to them."""
    held = {(line.column, round(line.y)) for line in lines}
    left, right = min(line.left for line in lines), max(line.right for line in lines)

    def crosses(line: Line) -> bool:
        if line.column == len(starts) or any((line.column + 1, round(line.y) + by) in held for by in (-1, 0, 1)):
            return False
        ahead = starts[line.column]
        return line.end > ahead + BEYOND * (right - ahead)

    return [replace(line, column=-1, left=left, right=right) if crosses(line) else line for line in lines]


def _are_columns(lines: Sequence[Line], number: int) -> bool:
    """Return whether lines are columns of prose: each column is filled, and each is next to the one before."""
    columns = [[line for line in lines if line.column == column] for column in range(number)]
    if any(len(column) < MIN_COLUMN_LINES for column in columns):
        return False
    for column in columns:
        if fmean(min(1.0, (line.end - line.x) / max(1.0, line.right - line.left)) for line in column) < MIN_FILLED:
            return False
    for one, other in pairwise(columns):
        heights = sorted(line.y for line in one)
        if 2 * sum(_is_near(line, heights) for line in other) < len(other):
            return False
    return sum(line.column == -1 for line in lines) <= max(map(len, columns))


def _is_near(line: Line, heights: Sequence[float]) -> bool:
    place = bisect_right(heights, line.y - 1.5 * line.size)
    return place < len(heights) and heights[place] <= line.y + 1.5 * line.size


def _sorted(lines: Sequence[Line]) -> Iterator[Line]:
    """Yield lines from the top: what is above a line over all columns, column after column, before it."""
    held: list[Line] = []
    for line in sorted(lines, key=lambda each: -each.y):
        if line.column == -1:
            yield from sorted(held, key=lambda each: each.column)
            held = []
            yield line
        else:
            held.append(line)
    yield from sorted(held, key=lambda each: each.column)
