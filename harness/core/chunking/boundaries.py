"""Boundaries where a text may be cut: between paragraphs, sentences, words and visible characters."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import Any

from msgspec import Struct

from harness.core.text import sentences

BLOCK = 2_000
"""Characters split into sentences at once: the splitter's time may grow with the square."""

MAX_CLUSTER = 64
"""A longer cluster (a letter with this many marks) may be cut."""

WORD = re.compile(r"\S+")
_BREAK = re.compile(r"[\n\r\u2029]\s*")
_SPACE = re.compile(r"\s*")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
"""A lone surrogate, in text that was never cleaned, has no UTF-8, which the splitter needs."""


class Chunk(Struct, frozen=True):
    """A slice of a document: `text` is `document[start:end]`, in characters (code points)."""

    text: str
    start: int
    end: int


def is_break(space: str) -> bool:
    """Return whether white space separates paragraphs: it contains an empty line."""
    return max(space.count("\n"), space.count("\r")) > 1 or "\u2029" in space


def paragraph_ends(text: str) -> Iterator[int]:
    """Yield the end of each paragraph, including the white space after it (the first paragraph also includes leading
    space); the last end is that of the text.
    """
    first = _after_space(text, 0, len(text))
    for space in _BREAK.finditer(text):
        if first < space.end() < len(text) and is_break(space[0]):
            yield _after_space(text, space.start(), len(text))
    if text:
        yield len(text)


def sentence_ends(text: str, words: Sequence[tuple[int, int]]) -> Iterator[int]:
    """Yield the end of each sentence of the paragraph with these words (start and end of each), without the white space
    after it; the last end is that of the last word.

    The splitter returns sentences on one line, so ends are found by counting non-space characters.
    """
    split = sentences(_SURROGATE.sub("\ufffd", " ".join(text[start:end] for start, end in words)))
    ends = accumulate(len(sentence) - sentence.count(" ") for sentence in split)
    seen, ahead = 0, next(ends, None)
    for start, end in words:
        while ahead is not None and ahead <= seen + end - start:
            yield start + ahead - seen
            ahead = next(ends, None)
        seen += end - start


def sentence_starts(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the start of each sentence of one paragraph, `text[start:end]`, except the first.

    Linear in the paragraph's length: `BLOCK` characters are split at a time, each block from the last sentence start of
    the one before.
    """
    while start < end:
        upto = min(start + BLOCK, end)
        ends = list(sentence_ends(text, [word.span() for word in WORD.finditer(text, start, upto)]))
        starts = [_after_space(text, at, end) for at in ends[:-1]]  # the last sentence may continue after the block
        yield from starts
        start = starts[-1] if starts and upto < end else upto


def word_end(text: str, start: int, at: int) -> int:
    """Return the best place to end a part of `text` from `start`: the last place up to `at` after white space in the
    second half, else the last one between two clusters.
    """
    space = _patterns()[0].search(text, start + (at - start) // 2, at)
    return cluster_end(text, start, space.end() if space else at)


def cluster_end(text: str, start: int, at: int) -> int:
    """Return the last place after `start` and up to `at` between two grapheme clusters (UAX #29): marks stay with their
    letters, flags and joined emoji stay whole, and so does a carriage return with its line feed. `start` must itself be
    such a place, or more than `MAX_CLUSTER` characters before `at`.
    """
    around = text[at - 1 : at + 1]
    if len(around) < 2 or (around.isascii() and around != "\r\n"):
        return at
    clusters = _patterns()[1].finditer(text, max(start, at - MAX_CLUSTER), at + 1)
    return max((cluster.end() for cluster in clusters if cluster.end() <= at), default=at)


def _after_space(text: str, at: int, end: int) -> int:
    """Return the end of the white space from `at`; a combining mark keeps the space before it."""
    space = _SPACE.match(text, at, end)
    return cluster_end(text, max(0, at - 1), space.end()) if space else at


@cache
def _patterns() -> tuple[Any, Any]:
    """Return the patterns for the last white space and for each cluster."""
    import regex  # `re` has no clusters and no backward search

    return regex.compile(r"\s", regex.REVERSE), regex.compile(r"\X")
