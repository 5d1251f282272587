"""Differences of two texts, line by line, with the words that changed; bounded in time and length."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby, zip_longest
from typing import Literal, TypeAlias

from msgspec import Struct

Kind: TypeAlias = Literal["same", "gone", "new", "left out"]

MAX_LINES = 1_000
"""Lines of each text, without equal ones at both ends, that are compared; the rest counts as changed."""
MAX_SHOWN = 300
"""Lines of a difference; after that, one line counts the others."""
MAX_WORDS = 400
"""Words of two lines, without equal ones at both ends, that are compared; in longer lines all of these are marked."""
MAX_PAIRS = 3_000_000
"""Pairs of words that are compared in one difference, about half a second; in later lines all of them are marked."""
MAX_LINE = 4_000
"""Characters of one line of a difference."""
CONTEXT = 1
"""Equal lines around a change."""
ALIKE = 0.3
"""Least share of equal words in two lines of which one replaced the other; in less alike ones no word is marked."""

_PIECES = re.compile(r"\s+|\w+|[^\w\s]+")


class Piece(Struct, frozen=True):
    """A part of a line; `marked` if the line that replaced it, or that it replaced, does not have it."""

    text: str
    marked: bool = False


class Line(Struct, frozen=True):
    """A line of a difference: in both texts, only in the first (`gone`), only in the second (`new`), or a remark on
    the part left out.
    """

    kind: Kind
    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """The whole line."""
        return "".join(piece.text for piece in self.pieces)


class _Budget(Struct):
    """Pairs of words that may still be compared."""

    left: int = MAX_PAIRS

    def spend(self, pairs: int) -> bool:
        """Return whether that many may be compared, and count them."""
        self.left -= pairs
        return self.left >= 0


def difference(first: str, second: str) -> tuple[Line, ...]:
    """Return the difference of two texts; empty if they are equal. Long runs of equal lines are left out."""
    lines = list(_shortened(_lines(first.splitlines(), second.splitlines())))
    if not lines:
        return () if first == second else (_remark("only line ends differ"),)
    more = len(lines) - MAX_SHOWN
    return (*lines[:MAX_SHOWN], *([_remark(f"{more:,} more lines of the difference")] if more > 0 else []))


def _lines(first: Sequence[str], second: Sequence[str]) -> Iterator[Line]:
    """Yield all lines of both texts, in order."""
    head, tail = _equal_ends(first, second)
    one, other = first[head : len(first) - tail], second[head : len(second) - tail]
    yield from (_whole("same", line) for line in first[:head])
    compared, budget = (one[:MAX_LINES], other[:MAX_LINES]), _Budget()
    # frequent lines, such as empty ones, are not compared in long texts (`autojunk`): it would take up to a minute
    for tag, a, b, c, d in SequenceMatcher(None, *compared).get_opcodes():
        if tag == "equal":
            yield from (_whole("same", line) for line in one[a:b])
        else:
            yield from _changed(one[a:b], other[c:d], budget)
    yield from (_whole("gone", line) for line in one[MAX_LINES:])
    yield from (_whole("new", line) for line in other[MAX_LINES:])
    yield from (_whole("same", line) for line in first[len(first) - tail :])


def _changed(gone: Sequence[str], new: Sequence[str], budget: _Budget) -> Iterator[Line]:
    """Yield lines that replaced others, each pair one after the other."""
    for one, other in zip_longest(gone, new):
        if one is not None and other is not None:
            before, after = _words(one[:MAX_LINE], other[:MAX_LINE], budget)
            yield Line("gone", before)
            yield Line("new", after)
        elif one is not None:
            yield _whole("gone", one)
        else:
            yield _whole("new", other)


def _words(one: str, other: str, budget: _Budget) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Return both lines, with the words marked that the other one does not have."""
    first, second = _PIECES.findall(one), _PIECES.findall(other)
    head, tail = _equal_ends(first, second)
    middle = first[head : len(first) - tail], second[head : len(second) - tail]
    codes: Sequence[tuple[str, int, int, int, int]] = [("replace", 0, len(middle[0]), 0, len(middle[1]))]
    if max(map(len, middle)) <= MAX_WORDS and budget.spend(len(middle[0]) * len(middle[1])):
        codes = SequenceMatcher(None, *middle, autojunk=False).get_opcodes()
        equal = head + tail + sum(b - a for tag, a, b, _, _ in codes if tag == "equal")
        if equal < ALIKE * max(len(first), len(second)):
            return (Piece(one),), (Piece(other),)
    ends = [Piece("".join(first[:head]))], [Piece("".join(first[len(first) - tail :]))]
    before = [Piece("".join(middle[0][a:b]), tag != "equal") for tag, a, b, _, _ in codes]
    after = [Piece("".join(middle[1][c:d]), tag != "equal") for tag, _, _, c, d in codes]
    return _joined([*ends[0], *before, *ends[1]]), _joined([*ends[0], *after, *ends[1]])


def _equal_ends(first: Sequence[str], second: Sequence[str]) -> tuple[int, int]:
    """Return how many items are equal at the beginning and at the end, none of them counted twice."""
    fewest = min(len(first), len(second))
    head = next((at for at in range(fewest) if first[at] != second[at]), fewest)
    left = fewest - head
    tail = next((at for at in range(left) if first[-1 - at] != second[-1 - at]), left)
    return head, tail


def _joined(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    return tuple(piece for piece in pieces if piece.text)


def _whole(kind: Kind, line: str) -> Line:
    return Line(kind, (Piece(line[:MAX_LINE]),) if line else ())


def _remark(text: str) -> Line:
    return Line("left out", (Piece(text),))


def _shortened(lines: Iterator[Line]) -> Iterator[Line]:
    """Yield the lines with at most `CONTEXT` equal ones before and after each change."""
    every = list(lines)
    changes = [at for at, line in enumerate(every) if line.kind != "same"]
    near = {place for at in changes for place in range(at - CONTEXT, at + CONTEXT + 1)}
    for is_near, run in groupby(range(len(every)), lambda at: at in near):
        held = [every[at] for at in run]
        if is_near:
            yield from held
        elif changes:
            yield _remark(f"{len(held):,} equal line{'' if len(held) == 1 else 's'}")
