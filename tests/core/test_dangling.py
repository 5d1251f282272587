"""Sentences that need the one before them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.dangling import names_earlier, needs_previous, needs_time


@pytest.mark.parametrize(
    "sentence",
    [
        "It raises an error.", "They were built in 1902.", "This is called aliasing.", "These differ from tuples.",
        "However, the order is kept.", "By default it holds ten.", "In this case, the call fails.",
        "When they meet, both stop.", "If it is full, writes wait.", "Otherwise the value is returned.",
        "Its capital is Lima.", "For example, a list can change.", "Names in this category are mangled.",
        "Failing to do so raises an error.", "Called to create an instance.", "If present, it is passed on.",
        "One of these methods is enough.", "When the end of this block is reached, execution goes on.",
        "If any item in this list is missing, the call fails.",
        "As of the 2020 census, its population was 17,788.", "In March 2020, they closed.",
    ],
)  # fmt: skip
def test_a_sentence_that_points_back(sentence: str) -> None:
    """A pronoun, a word that continues a thought, an example, or a beginning without a subject."""
    assert needs_previous(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "", "123", "The pool holds ten connections.", "There are two kinds of locks.", "It is known that ice floats.",
        "If the file is missing, it is created.", "In Python, names are bound.", "By default the pool holds ten.",
        "Iteration stops at the end.", "Thistles grow here.", "When a call fails, it is tried again.",
        "As of the 2020 census, Friday Harbor had 2,613 people.",
        "As of Japan's 2020 census, its population was 126 million.",
        "It is also possible to nest functions.", "It is unusual for both kinds to be used.",
        "It should be noted that jumps are rare.", "This study shows that tea helps.",
        "The aim of this study was to test tea.", "When the end of this year came, it closed.",
        "The sale of this year was good.",
 "If possible, close the window.", "Returns are free for a month.",
    ],
)  # fmt: skip
def test_a_sentence_that_stands_alone(sentence: str) -> None:
    """Its subject is in it."""
    assert not needs_previous(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Six years later the Halden Bridge opened.", "More than a decade later, it closed.",
        "The following year was dry.",
        "In the following year, sales fell.", "At that time the town was small.", "By then the city had grown.",
        "Shortly afterwards the king died.", "Meanwhile, prices rose.", "Since then no one has lived there.",
        "The bridge opened six years later.", "That year the museum closed.",
    ],
)  # fmt: skip
def test_a_sentence_that_counts_from_an_earlier_time(sentence: str) -> None:
    """It needs the sentence that names the time."""
    assert needs_time(sentence)
    assert needs_previous(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "", "Later versions support it.", "The next time you start the program, it asks.",
        "Ten years after the war, it fell.",
        "The same time zone is used.", "The following methods are defined.", "Two weeks before harvest, stop watering.",
        "The program runs one second later than planned.", "The plan of 1990 was dropped six years later.",
        "The shop opened in May and closed six years later.", "The previous day's data is kept.",
    ],
)  # fmt: skip
def test_a_sentence_with_its_own_time(sentence: str) -> None:
    """Its time is in it, or it has none."""
    assert not needs_time(sentence)


@given(st.text(max_size=100))
def test_any_text_has_an_answer(text: str) -> None:
    """No text is too odd."""
    assert needs_previous(text) in {True, False}


def test_a_thing_that_was_named_earlier() -> None:
    """One that the sentence itself names, or a time, is not."""
    assert names_earlier("No version has guaranteed this ordering (and it varies between builds).")
    assert names_earlier("The method is also looked up for these objects.")
    assert not names_earlier("If a class has a metaclass, this class is made by it.")
    assert not names_earlier("The house was sold this year.")
    assert not names_earlier("The reason is that this is quick.")
    assert not names_earlier("This ordering has never been guaranteed.")
