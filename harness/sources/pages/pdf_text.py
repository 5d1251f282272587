"""Text of a PDF: paragraphs in reading order, headings in Markdown, and where each page begins.

Lines that are the same on many pages (headers, footers, page numbers) are left out, words that were cut at the end of a
line are joined, and so are paragraphs that go on in the next column or on the next page.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from msgspec import Struct

from harness.core.page_numbers import PageStarts
from harness.sources.pages.pdf_lines import ASIDE, CJK, Line, lines_of

EDGE_LINES = 2
"""Lines at the top and at the bottom of a page that may be headers and footers."""
MIN_PAGES = 3
"""Pages that have the same header; of fewer pages, all."""
RUNNING_SHARE = 0.6
"""Share of the pages that have a line apart from the text at the same height: it is a header, whatever it says."""

HEADING_SIZE = 1.12
"""Least size of a heading, as a multiple of that of most text."""
MAX_HEADING, MAX_BOLD_HEADING = 200, 100
MAX_HEADING_GAP = 1.6
"""Most between two lines of a heading, in font sizes."""
MAX_LEVEL = 6
MAX_LARGE = 0.35
"""Largest share of the text that may be headings by its size."""
OTHER_SIZE, SLIGHTLY_OTHER_SIZE = 0.1, 0.4
"""Differences of font sizes, as a share: one that ends a paragraph, and one that does not end a sentence."""
MAX_WORD, MAX_ENDING = 60, 10
"""Characters at the end of a line that are looked at."""

_PAGE_NUMBER = re.compile(
    r"[-–— ]*(?:page |p\. ?)?(?:[0-9]{1,5}|[ivxlc]{1,7})(?: ?(?:of|/) ?[0-9]{1,5})?[-–— ]*", re.IGNORECASE
)
_NUMBER = re.compile(r"[0-9]+|\b[ivxlc]+\b")
_ITEM = re.compile(r"(?:[•‣▪◦●○■–—*·]|[-+]|\(?(?:[0-9]{1,3}|[a-z])[.)]|\[[0-9]{1,3}\])(?:\s|$)")
_ENDED = re.compile(r"[.!?:;。！？؟][\"'”’»)\]]*$")
_DOTS = "....."
"""Between a heading and its page, in a table of contents."""
_CUT_WORD = re.compile(r"(\w*[^\W\d_])[-\u00ad\u2010]$")
_CONTINUED = re.compile(r"[^\W\d_]+")
_WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


class PagedText(Struct, frozen=True):
    """Text of a PDF, and the place in it at which each of its pages with text begins."""

    text: str
    page_starts: PageStarts
    title: str
    """Its first heading, if its first page has one."""


class _Block(Struct):
    """Lines that belong together; `level` is 1 to 6 for a heading, 0 for a paragraph."""

    lines: list[Line]
    level: int = 0


def paged_text(pages: Iterable[Any], limit: int) -> PagedText:
    """Return the text of pages of pypdf, at most `limit` characters of it.

    Raises:
        Exception: of any kind, from pypdf, on a damaged page.
    """
    read: list[list[Line]] = []
    for number, page in enumerate(pages, start=1):
        read.append(lines_of(page, number, limit))
        limit -= sum(len(line.text) for line in read[-1])
        if limit <= 0:
            break
    running = _running(read)
    lines = [line for page in read for line in page if line not in running]
    blocks = list(_blocks(lines))
    text, starts = _written(blocks, {word for line in lines for word in _whole_words(line.text)})
    first = next((block for block in blocks if block.level and block.lines[0].page == 1), None)
    return PagedText(text, starts, " ".join(line.text for line in first.lines) if first else "")


def _running(pages: Sequence[Sequence[Line]]) -> Collection[Line]:
    """Return headers, footers and page numbers: lines at the edge of a page that other pages have, too. Of a large one,
    the first stays: it may be the title.
    """
    edges = [_edges(page) for page in pages]
    count, body = sum(map(bool, pages)), _body_size(line for page in pages for line in page)
    same, heights = Counter[tuple[str, int]](), Counter[int]()
    for page in edges:
        same.update({_compared(line, apart) for line, apart in page})
        heights.update({_height(line) for line, apart in page if apart and line.size <= body})
    least, most = min(MIN_PAGES, max(2, count)), max(MIN_PAGES, RUNNING_SHARE * count)

    def is_running(line: Line, apart: bool) -> bool:
        if same[_compared(line, apart)] >= least or (apart and line.size <= body and heights[_height(line)] >= most):
            return True
        return count >= 2 and apart and _PAGE_NUMBER.fullmatch(line.text) is not None

    found, large = set[Line](), set[str]()
    for page, lines in zip(edges, pages, strict=True):
        dropped = {line for line, apart in page if is_running(line, apart)}
        first = {line for line in dropped if line.size >= HEADING_SIZE * body and line.text not in large}
        large |= {line.text for line in first}
        if len(dropped) < len(lines):  # nothing would be left of a page that is all header
            found |= dropped - first
    return found


def _edges(page: Sequence[Line]) -> list[tuple[Line, bool]]:
    """Return the lines at the top and bottom of a page, and whether a gap parts each from the text inside."""
    page = [line for line in page if line.column != ASIDE]
    heights = sorted({_height(line) for line in page}, reverse=True)
    gaps = [one - other for one, other in pairwise(heights)]
    steps = [(one.y - other.y) / 2 for one, other in pairwise(page) if _is_below(one, other)]
    usual = median(steps or gaps or [0])
    outer = {*heights[:EDGE_LINES], *heights[-EDGE_LINES:]}
    apart = set()
    for place in range(min(EDGE_LINES, len(gaps))):
        apart |= set(heights[: place + 1]) if gaps[place] > 1.5 * usual else set()
        apart |= set(heights[-place - 1 :]) if gaps[-place - 1] > 1.5 * usual else set()
    return [(line, _height(line) in apart) for line in page if _height(line) in outer]


def _height(line: Line) -> int:
    return round(line.y / 2)


def _compared(line: Line, apart: bool) -> tuple[str, int]:
    """Return text and height of a line as pages are compared: without numbers if it is apart from the text."""
    text = line.text.casefold()
    return _NUMBER.sub("#", text) if apart else text, _height(line)


def _body_size(lines: Iterable[Line]) -> float:
    """Return the font size of most text."""
    sizes = Counter[float]()
    for line in lines:
        sizes[_size(line)] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _size(line: Line) -> float:
    return round(2 * line.size) / 2


def _blocks(lines: Sequence[Line]) -> Iterator[_Block]:
    """Yield headings and paragraphs."""
    leading, block = _leading(lines), _Block([])
    for line, level in zip(lines, _levels(lines, leading), strict=True):
        if block.lines and not _belongs(block, line, level, leading):
            yield block
            block = _Block([])
        block.lines.append(line)
        block.level = level
    if block.lines:
        yield block


def _levels(lines: Sequence[Line], leading: float) -> Iterator[int]:
    """Yield the level of each line: the larger a heading, the lower; 0 for other lines. In text that a program read
    from pictures, lines have many sizes: there, none is a heading by its size.
    """
    body, chars = _body_size(lines), sum(len(line.text) for line in lines)
    large = [_is_large(line, body) for line in lines]
    if sum(len(line.text) for line, is_large in zip(lines, large, strict=True) if is_large) > MAX_LARGE * chars:
        large = [False] * len(lines)
    sizes = sorted({_size(line) for line, is_large in zip(lines, large, strict=True) if is_large}, reverse=True)
    rank = {size: min(MAX_LEVEL, place) for place, size in enumerate(sizes, start=1)}
    bold_is_rare = 4 * sum(len(line.text) for line in lines if line.bold) < chars
    level = 0
    for place, line in enumerate(lines):
        if large[place] and (level or not line.text[:1].islower()):
            level = rank[_size(line)]
        elif bold_is_rare and _is_bold_heading(lines, place, leading):
            level = min(MAX_LEVEL, len(sizes) + 1)
        else:
            level = 0
        yield level


def _is_large(line: Line, body: float) -> bool:
    large = body > 0 and _size(line) >= HEADING_SIZE * body
    is_text = _DOTS not in line.text.replace(" ", "") and sum(map(str.isalpha, line.text)) >= 2  # not an initial
    return large and is_text and len(line.text) <= MAX_HEADING


def _is_bold_heading(lines: Sequence[Line], place: int, leading: float) -> bool:
    """Return whether a bold line is separate: what is before and after it is not bold, or apart."""
    line = lines[place]
    if not line.bold or line.cells or len(line.text) > MAX_BOLD_HEADING or line.text[-1:] in ".,;:":
        return False
    around = [lines[at] for at in (place - 1, place + 1) if 0 <= at < len(lines)]
    alone = all(not other.bold or _gap(*sorted((line, other), key=lambda each: -each.y)) > leading for other in around)
    return alone and sum(map(str.isalpha, line.text)) >= 2


def _leading(lines: Sequence[Line]) -> float:
    """Return the largest distance of two lines of one paragraph, in font sizes."""
    gaps = [_gap(one, other) for one, other in pairwise(lines) if _is_below(one, other)]
    return 1.2 * median(gaps) if gaps else 1.5


def _is_below(one: Line, other: Line) -> bool:
    same = one.page == other.page and one.column == other.column
    return same and 0 < _gap(one, other) < 3 and one.y > other.y


def _gap(one: Line, other: Line) -> float:
    return abs(one.y - other.y) / max(one.size, other.size)


def _belongs(block: _Block, line: Line, level: int, leading: float) -> bool:
    """Return whether a line continues a block."""
    last = block.lines[-1]
    if (
        level != block.level
        or _ITEM.match(line.text)
        or (ASIDE in (last.column, line.column) and not _is_below(last, line))
    ):
        return False
    if level:
        long = sum(len(each.text) + 1 for each in block.lines) + len(line.text) > MAX_HEADING
        alike = _size(last) == _size(line) and last.page == line.page
        return alike and not long and _gap(last, line) <= max(leading, MAX_HEADING_GAP)
    if (changed := abs(last.size - line.size) / last.size) > OTHER_SIZE:
        return changed < SLIGHTLY_OTHER_SIZE and _is_below(last, line) and _goes_on(last, line)
    if not _is_below(last, line):
        beside = last.page == line.page and last.column == line.column and last.y == line.y
        return beside or _goes_on(last, line)  # in the next column or on the next page
    return (last.cells and line.cells) or (_gap(last, line) <= leading and not _is_indented(block.lines, line))


def _goes_on(last: Line, line: Line) -> bool:
    """Return whether a sentence goes on in a line elsewhere."""
    return not _ENDED.search(last.text[-MAX_ENDING:]) and (line.text[:1].islower() or _is_cut(last.text))


def _whole_words(text: str) -> list[str]:
    found: list[str] = _WORDS.findall(text)
    return found[:-1] if _is_cut(text) else found


def _is_cut(text: str) -> bool:
    return _CUT_WORD.search(text[-MAX_WORD:]) is not None


def _is_indented(before: Sequence[Line], line: Line) -> bool:
    """Return whether the left end of a line begins a paragraph."""
    last = before[-1]
    if line.x > last.x + 0.8 * line.size:
        return not (len(before) == 1 and _ITEM.match(last.text)) and bool(_ENDED.search(last.text[-MAX_ENDING:]))
    return line.x < last.x - 0.8 * line.size and len(before) > 1 and bool(_ENDED.search(last.text[-MAX_ENDING:]))


def _written(blocks: Iterable[_Block], known: Collection[str]) -> tuple[str, PageStarts]:
    """Return the text of blocks, and where the pages begin in it."""
    parts: list[str] = []
    starts: list[tuple[int, int]] = []
    length = 0

    def write(text: str) -> None:
        nonlocal length
        parts.append(text)
        length += len(text)

    for block in blocks:
        write("\n\n" * bool(parts) + "#" * block.level + " " * bool(block.level))
        before: Line | None = None
        for line in block.lines:
            text = unicodedata.normalize("NFC", line.text)
            if before is not None:
                last = parts.pop()
                length -= len(last)
                write(_before_next(last, text, known, rows=before.cells or line.cells))
            if not starts or starts[-1][1] != line.page:
                starts.append((length, line.page))
            write(text)
            before = line
    return "".join(parts), tuple(starts)


def _before_next(text: str, after: str, known: Collection[str], *, rows: bool) -> str:
    """Return a line with what parts it from the next one: nothing if a word goes on, else a space or a line end."""
    cut, begun = _CUT_WORD.search(text[-MAX_WORD:]), _CONTINUED.match(after[:MAX_WORD])
    if cut is None or begun is None or not after[:1].islower():
        if text[-1:] >= CJK and after[:1] >= CJK:
            return text  # Chinese and Japanese have no spaces
        return f"{text}\n" if rows else f"{text} "
    keeps = f"{cut[1]}-{begun[0]}" in known or "-" in text.rpartition(" ")[2][:-1]
    return text if keeps else text[:-1]
