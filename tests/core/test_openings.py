"""Openings of an answer."""

import pytest

from harness.core.openings import ASIDE, DEFINES, NAMED, is_announcement, names_title, opening_factor


@pytest.mark.parametrize(
    "sentence",
    [
        "**CPython implementation detail:** The cell is passed on.", "Note that lists differ.",
        "(Others are fine, too.)",
        "Changed in version 3.8: The syntax is new.", "Unlike lists, tuples are fixed.", "Previously it had no name.",
        "The following methods can be defined.", "It is called again.", "For example, 1 is an integer.",
        "It is also important to note that sets differ.", "It should be noted that sets differ.",
        "Keep in mind that lists grow.", "My list was empty.", "I never use lists.", "I’ve used lists.",
        'It is a "TypeError" to sort a list of both.', 'Comparisons of both raise a "TypeError".',
        "It is an error if the list is empty.",
    ],
)  # fmt: skip
def test_what_should_not_open_an_answer(sentence: str) -> None:
    """Lower notes, exceptions, history, announcements, what points back, and personal experience."""
    assert opening_factor(sentence, "What is a list?") == ASIDE


@pytest.mark.parametrize(
    ("sentence", "factor"),
    [
        ("A list is a sequence that can change.", DEFINES), ("Lists can change after they were made.", 1.0),
        ("I/O takes time.", 1.0), ("Mining takes time.", 1.0),
        ("Notes are kept for a year.", 1.0), ("A tuple is a sequence.", 1.0), ("", 1.0),
    ],
)  # fmt: skip
def test_what_may_open_an_answer(sentence: str, factor: float) -> None:
    """A definition of the subject comes first."""
    assert opening_factor(sentence, "What is a list?") == factor


def test_a_definition_that_is_not_asked_for_does_not_open_an_answer() -> None:
    """A definition of a generator does not say what happens when it is called."""
    sentence = "A function that yields is called a generator."
    assert opening_factor(sentence, "What happens when a generator returns?") == ASIDE
    assert opening_factor(sentence, "What is a generator?") == DEFINES
    assert opening_factor(sentence, "generator function") == 1.0


def test_a_contrast_may_open_an_answer_about_a_difference() -> None:
    """Elsewhere it is an aside."""
    sentence = "Unlike lists, tuples are fixed."
    for question in ("How do tuples differ from lists?", "What is the difference of both?", "lists vs tuples"):
        assert opening_factor(sentence, question) == 1.0
    assert opening_factor(sentence, "How are tuples made?") == ASIDE


def test_a_page_that_the_question_names_comes_first() -> None:
    """Its sentences rather than those of another page."""
    sentence, question = "It was opened in 1932, after four years.", "When did the Halden Bridge open?"
    named, other = (opening_factor(sentence, question, title) for title in ("Halden Bridge - Notes", "Bridges"))
    assert named == NAMED * other


@pytest.mark.parametrize(
    ("title", "named"),
    [
        ("The Halden Bridge", True), ("Halden Bridge | Visit Halden", True), ("Travel: Halden Bridge", True),
        ("Halden", False), ("Bridge of Halden", False), ("Halden Bridge tickets", False), ("", False), ("- | -", False),
    ],
)  # fmt: skip
def test_titles_that_a_question_names(title: str, named: bool) -> None:
    """With all words of a part of the title, at least two, in their order."""
    assert names_title("When did the Halden bridge open?", title) is named


@pytest.mark.parametrize("question", ["Can a list of both be sorted?", "Which exception does sort raise?"])
def test_an_error_that_is_asked_for_may_open_an_answer(question: str) -> None:
    """It is the answer."""
    assert opening_factor('It is a "TypeError" to sort a list of both.', question) == 1.0


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The following methods can be defined.", True), ("The arguments are matched as follows.", True),
        ("Do it in the steps below.", True), ("These are allowed:", True),
        ("The following are fixed: tuples and strings.", False),
        ("The following year was dry.", False), ("It freezes at zero degrees and below.", False), ("", False),
    ],
)  # fmt: skip
def test_announcements_need_what_follows(sentence: str, expected: bool) -> None:
    """One that has its list is none."""
    assert is_announcement(sentence) is expected


def test_a_description_opens_only_the_answer_about_what_it_describes() -> None:
    """Another function does something else."""
    described = "object.__index__(self) Called to make the object an integer."
    assert opening_factor(described, "How does Python add two objects?") == ASIDE
    assert opening_factor(described, "What is __index__ for?") == 1.0
    assert opening_factor("Adding (two of them) takes time.", "How does Python add two objects?") == 1.0


@pytest.mark.parametrize(
    ("sentence", "question", "factor"),
    [
        ("A lock keeps others out.", "What does a lock do?", DEFINES),
        ("*__slots__* reserves space for variables.", "What does declaring __slots__ do to a class?", DEFINES),
        ("*__slots__* declared in parents are available.", "What does declaring __slots__ do to a class?", 1.0),
        ("The door keeps others out.", "What does a lock do?", 1.0),
        ("A lock keeps others out.", "What does a lock do with its key?", 1.0),
        ("A lock keeps others out.", "How does a lock work?", 1.0),
        ("Locks of doors are old.", "What do locks do?", 1.0),
    ],
)
def test_what_a_thing_does(sentence: str, question: str, factor: float) -> None:
    """The thing that is asked about, and a verb."""
    assert opening_factor(sentence, question) == factor
