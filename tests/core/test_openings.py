"""Openings of an answer."""

import pytest

from harness.core.openings import ASIDE, DEFINES, is_announcement, opening_factor


@pytest.mark.parametrize(
    "sentence",
    [
        "**CPython implementation detail:** The cell is passed on.", "Note that lists differ.",
        "(Others are fine, too.)",
        "Changed in version 3.8: The syntax is new.", "Unlike lists, tuples are fixed.", "Previously it had no name.",
        "The following methods can be defined.", "It is called again.", "For example, 1 is an integer.",
        "It is also important to note that sets differ.", "It should be noted that sets differ.",
        "Keep in mind that lists grow.", "My list was empty.", "I never use lists.", "I’ve used lists.",
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
