"""Sentences about another case than that of the question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.openings import ASIDE, opening_factor
from harness.core.other_cases import is_of_other_case


@pytest.mark.parametrize(
    ("question", "other", "same"),
    [
        ("albums by Mercedes Sosa 2000-2009", "Misa Criolla came out in 1999.", "Cantora came out in 2009."),
        ("How many lived in Bern in 2020?", "In 2010, 123,000 lived there.", "In 2020 and 2010, 123,000 lived there."),
        ("What was built before 1900?", "The tower was built in 1950.", "The tower was built in 1890."),
        ("Who won in 2021?", "Tomas Okoro won in 2024.", "Amara Nilsen won."),
        (
            "no __prepare__ on the metaclass - which namespace is used",
            'If the metaclass has a "__prepare__", it is called.',
            'If the metaclass has no "__prepare__", it is an empty mapping.',
        ),
        (
            "What is bound if a module has no `__all__`?",
            "With `__all__`, its names are.",
            "The names in `__all__` are.",
        ),
        ("how to run docker without sudo", "Run docker with sudo.", "Join the group docker, without sudo."),
        ("a cake without any eggs", "When you have eggs, beat them.", "Replace each egg with a banana."),
    ],
)
def test_another_case_is_told_from_that_of_the_question(question: str, other: str, same: str) -> None:
    """It hardly opens an answer."""
    assert is_of_other_case(other, question)
    assert not is_of_other_case(same, question)
    assert opening_factor(other, question) <= ASIDE


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("When did the bridge that burned in 2019 open?", "It opened in 1987."),
        ("Why is there no ternary operator in Go?", "With a ternary operator, code is hard to read."),
        ("Why is it used without sudo?", "With sudo, files belong to root."),
        ("Is it no longer sold?", "It is sold with a longer chain."),
        ("Wann wurde die Brücke eröffnet, die 2019 gebrannt hat?", "Sie wurde 1987 eröffnet."),
        ("How high is Mount Tarvos?", "It was measured in 2023."),
        ("", ""),
    ],
)
def test_what_answers_may_have_another_year_or_what_is_negated(question: str, sentence: str) -> None:
    """Such as questions for a time or a reason."""
    assert not is_of_other_case(sentence, question)


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_texts_are_compared(sentence: str, question: str) -> None:
    """No text is too odd."""
    assert is_of_other_case(sentence, question) in {True, False}
    assert not is_of_other_case(sentence, "How high is it?")
