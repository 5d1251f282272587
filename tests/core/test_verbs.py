"""Texts with and without a verb."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.openings import ASIDE, opening_factor
from harness.core.verbs import lacks_verb

TITLE = "Official video of the band's fifth single from the album."


@pytest.mark.parametrize(
    "text",
    [
        "The Moon orbits the Earth.",
        "Sharks live in cold waters.",
        "The bridge opened in May.",
        "Oil the chain after rain.",
        "It's a lake in the north.",
        "We estimate three million pairs.",
        "The core vibrates because of the field.",
        "Hydrogen peroxide decomposes into water and oxygen.",
        "Insulin regulates blood sugar.",
        "The heart pumps blood through the body.",
        "The price varies greatly between regions.",
        "",
    ],
)
def test_a_text_with_a_verb(text: str) -> None:
    """In the third person, the plural, the past, an instruction."""
    assert not lacks_verb(text)


@pytest.mark.parametrize(
    "text",
    [
        TITLE,
        "Molar mass, 120.91 g/mol.",
        "References, Museum of Art: entry 436573 (accession number: 29.100.5).",
        "Doctor Series 9 Episode 11 Finale Part 1.",
        "A global population assessment of the penguin.",
        "A radiator key, a cloth, and a small bowl.",
    ],
)
def test_titles_captions_and_rows_have_none(text: str) -> None:
    """Also those that end with a full stop."""
    assert lacks_verb(text)


def test_what_has_no_verb_seldom_opens_an_answer() -> None:
    """Unlike a sentence that has one."""
    question = "fifth single of the album"
    assert opening_factor(TITLE, question) == ASIDE
    assert opening_factor(TITLE, "Welche Single der Gruppe war das?") == 1.0  # the list of verbs is English
    assert opening_factor("The band released it as the fifth single of the album.", question) == 1.0


@given(st.text(max_size=80))
def test_any_text_is_one_or_the_other(text: str) -> None:
    """No text is too odd."""
    assert lacks_verb(text) in {True, False}
