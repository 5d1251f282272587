"""Years, versions and numbers that an answer must be about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.required_terms import lacking, required_terms


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("population of France in 2023", ("2023",)),
        ("python 3.12 release date", ("3.12",)),
        ("what changed in v1.2.3 and 2.0?", ("1.2.3", "2.0")),
        ("what is port 5432 used for, 5432?", ("5432",)),
        ("limits with 1,000 users", ("1,000",)),
        ("from 2019,2020 to 80,443", ("2019,2020", "80,443")),
        (" ".join(map(str, range(100, 150))), tuple(map(str, range(100, 108)))),
        ("9" * 40, ()),
        ("the 3 kinds of top 10 tips", ()),
        ("who wrote it in the 1990s", ()),
        ("", ()),
    ],
)
def test_terms_of_a_question(question: str, terms: tuple[str, ...]) -> None:
    """Small counts are wording; each term is named once."""
    assert required_terms(question) == terms


@pytest.mark.parametrize(
    ("term", "text", "held"),
    [
        ("3.12", "Python 3.12.1 is out.", True), ("3.12", "in version 3.12.", True), ("3.1", "Python 3.12", False),
        ("3.12", "Python 13.12", False), ("404", "code 4045", False), ("1,000", "1000 users", True),
        ("1000", "1,000 users", True), ("2023", "from 2022 to 2024", False), ("2023", "(2023)", True),
        ("12", "3.12", False), ("2019", "2019,2020", True), ("443", "80,443", False), ("443", "ports 80, 443", True),
    ],
)  # fmt: skip
def test_a_text_with_and_without_a_term(term: str, text: str, held: bool) -> None:
    """A part of another number is not the term."""
    assert lacking((term,), text) == (() if held else (term,))


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_texts_can_be_compared(question: str, text: str) -> None:
    """Only required terms are lacking, and never those of the text."""
    terms = required_terms(question)
    assert set(lacking(terms, text)) <= set(terms)
    assert lacking(terms, question) == ()
