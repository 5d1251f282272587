"""Sentences that need the one before them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.dangling import needs_previous


@pytest.mark.parametrize(
    "sentence",
    [
        "It raises an error.", "They were built in 1902.", "This is called aliasing.", "These differ from tuples.",
        "However, the order is kept.", "By default it holds ten.", "In this case, the call fails.",
        "When they meet, both stop.", "If it is full, writes wait.", "Otherwise the value is returned.",
        "Its capital is Lima.",
    ],
)  # fmt: skip
def test_a_sentence_that_points_back(sentence: str) -> None:
    """A pronoun, or a word that continues a thought, at the beginning."""
    assert needs_previous(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "", "123", "The pool holds ten connections.", "There are two kinds of locks.", "It is known that ice floats.",
        "If the file is missing, it is created.", "In Python, names are bound.", "By default the pool holds ten.",
        "Iteration stops at the end.", "Thistles grow here.", "When a call fails, it is tried again.",
    ],
)  # fmt: skip
def test_a_sentence_that_stands_alone(sentence: str) -> None:
    """Its subject is in it."""
    assert not needs_previous(sentence)


@given(st.text(max_size=100))
def test_any_text_has_an_answer(text: str) -> None:
    """No text is too odd."""
    assert needs_previous(text) in {True, False}
