"""Where a text may be cut: between paragraphs, sentences, words, and what a reader sees as single characters."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import Any

from msgspec import Struct

from harness.core.text import sentences

BLOCK = 2_000
"""Characters whose sentences are looked for at once: the splitter's time may grow with the square."""

MAX_CLUSTER = 64
"""A cluster of more characters, a letter with so many marks, may be cut."""

WORD = re.compile(r"\S+")
_BREAK = re.compile(r"[\n\r\u2029]\s*")
_SPACE = re.compile(r"\s*")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
"""A lone one, in text that was never cleaned, has no UTF-8, which is what the splitter reads."""


class Chunk(Struct, frozen=True):
    """A slice of a document: `text` is `document[start:end]`, in characters (code points)."""

    text: str
    start: int
    end: int


def is_break(space: str) -> bool:
    """Say whether white space stands between paragraphs: it has an empty line in it."""
    return max(space.count("\n"), space.count("\r")) > 1 or "\u2029" in space


def paragraph_ends(text: str) -> Iterator[int]:
    """Yield where each paragraph ends, the white space after it included, and for the first that before it; the last
    end is that of the text.
    """
    first = _after_space(text, 0, len(text))
    for space in _BREAK.finditer(text):
        if first < space.end() < len(text) and is_break(space[0]):
            yield _after_space(text, space.start(), len(text))
    if text:
        yield len(text)


def sentence_ends(text: str, words: Sequence[tuple[int, int]]) -> Iterator[int]:
    """Yield where each sentence of the paragraph that has these words (start and end of each) ends, without the white
    space after it; so the last end is that of the last word.

    Sentences come on one line, so their ends are found by counting the characters that are no white space.
    """
    told = sentences(_SURROGATE.sub("\ufffd", " ".join(text[start:end] for start, end in words)))
    ends = accumulate(len(sentence) - sentence.count(" ") for sentence in told)
    seen, ahead = 0, next(ends, None)
    for start, end in words:
        while ahead is not None and ahead <= seen + end - start:
            yield start + ahead - seen
            ahead = next(ends, None)
        seen += end - start


def sentence_starts(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where each sentence of one paragraph, `text[start:end]`, begins, but for the first.

    Linear in the paragraph's length: `BLOCK` characters are split at a time, the next from the last sentence that began
    among them.
    """
    while start < end:
        upto = min(start + BLOCK, end)
        ends = list(sentence_ends(text, [word.span() for word in WORD.finditer(text, start, upto)]))
        starts = [_after_space(text, at, end) for at in ends[:-1]]  # the last sentence may go on behind the block
        yield from starts
        start = starts[-1] if starts and upto < end else upto


def word_end(text: str, start: int, at: int) -> int:
    """Return the last place from the middle of `start` and `at` to `at` before which white space stands, else the last
    one between two clusters: a part of `text` from `start` is best cut there.
    """
    space = _patterns()[0].search(text, start + (at - start) // 2, at)
    return cluster_end(text, start, space.end() if space else at)


def cluster_end(text: str, start: int, at: int) -> int:
    """Return the last place after `start` and up to `at` that is between two grapheme clusters (UAX #29): no mark is
    cut off its letter, no flag or joined emoji in two, no line feed off its carriage return.

    It is `at` where there is none, that is, where one cluster has more than `MAX_CLUSTER` characters or begins before
    `start`. `start` has to be such a place itself, or more than `MAX_CLUSTER` characters before `at`.
    """
    around = text[at - 1 : at + 1]
    if len(around) < 2 or (around.isascii() and around != "\r\n"):
        return at
    clusters = _patterns()[1].finditer(text, max(start, at - MAX_CLUSTER), at + 1)
    return max((cluster.end() for cluster in clusters if cluster.end() <= at), default=at)


def _after_space(text: str, at: int, end: int) -> int:
    """Return where the white space from `at` ends; a mark that stands on a space keeps it."""
    space = _SPACE.match(text, at, end)
    return cluster_end(text, max(0, at - 1), space.end()) if space else at


@cache
def _patterns() -> tuple[Any, Any]:
    """Return what finds the last white space, and what finds each cluster."""
    import regex  # `re` knows no clusters, and does not search backwards

    return regex.compile(r"\s", regex.REVERSE), regex.compile(r"\X")
