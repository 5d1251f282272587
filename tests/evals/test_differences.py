"""Differences of texts: lines and words, within bounds."""

import random
import time

import pytest
from harness_evals.differences import MAX_LINE, MAX_SHOWN, difference


def written(first: str, second: str) -> list[str]:
    """Return each line of a difference with its kind; marked words are in brackets."""
    return [
        f"{line.kind}: {''.join(f'[{piece.text}]' if piece.marked else piece.text for piece in line.pieces)}"
        for line in difference(first, second)
    ]


@pytest.mark.parametrize(
    ("first", "second", "lines"),
    [
        ("a b c", "a b c", []),
        ("x\n", "x", ["left out: only line ends differ"]),
        ("a b c", "a B c", ["gone: a [b] c", "new: a [B] c"]),
        ("one two three", "four", ["gone: one two three", "new: four"]),
        ("", "a", ["new: a"]),
        ("k\nl\nm\na", "k\nl\nm\nb\nc", ["left out: 2 equal lines", "same: m", "gone: a", "new: b", "new: c"]),
        ("a\nk\nl\nm", "k\nl\nm", ["gone: a", "same: k", "left out: 2 equal lines"]),
    ],
)
def test_lines_and_words_that_differ(first: str, second: str, lines: list[str]) -> None:
    """Words are marked where a line replaced a similar one; equal lines far from a change are left out."""
    assert written(first, second) == lines


@pytest.mark.parametrize(("lines", "words", "letters"), [(3_000, 1, "ab"), (300, 200, "ab"), (3, 20_000, "abc")])
def test_any_texts_are_compared_within_bounds(lines: int, words: int, letters: str) -> None:
    """In seconds, and in a bounded number of lines of bounded length."""
    drawn = random.Random(1)
    first, second = (
        "\n".join(" ".join(drawn.choice(letters) for _ in range(words)) for _ in range(lines)) for _ in range(2)
    )
    began = time.perf_counter()
    found = difference(first, second)
    assert time.perf_counter() - began < 10
    assert 0 < len(found) <= MAX_SHOWN + 1
    assert max(len(line.text) for line in found) <= MAX_LINE


def test_frequent_lines_take_no_time() -> None:
    """Such as the empty lines between paragraphs."""
    first, second = ("\n".join(f"{name}{at}\n" for at in range(500)) for name in "ab")
    began = time.process_time()
    assert difference(first, second)
    assert time.process_time() - began < 2
