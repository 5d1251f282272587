"""Does a quotation really stand in its source?"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.citations import stands_in

PROPERTY = settings(deadline=None, max_examples=200)

SOURCE = "Attribute look-up starts\n  in the type.\n\nThen it\tlooks into the café's instance."


@pytest.mark.parametrize(
    "quotation",
    ["Attribute look-up starts in the type.", "type. Then it looks", "  looks\ninto ", SOURCE],
)
def test_a_quotation_is_found_whatever_the_white_space(quotation: str) -> None:
    """Line breaks of the source or of the quotation do not matter."""
    assert stands_in(quotation, [SOURCE])


def test_unicode_forms_do_not_matter() -> None:
    """An é of one character and an é of two are the same letter."""
    assert stands_in("cafe\u0301's", [SOURCE])


@pytest.mark.parametrize("quotation", ["attribute look-up", "starts in a type", "starts … the type", "type.Then"])
def test_a_changed_quotation_is_not_found(quotation: str) -> None:
    """Another word, another case, an omission: that is no quotation."""
    assert not stands_in(quotation, [SOURCE])


def test_any_of_the_texts_may_hold_the_quotation() -> None:
    """A source of several passages is searched passage by passage."""
    assert stands_in("second text", ["The first text.", "The second text."])


def test_a_quotation_does_not_span_texts() -> None:
    """The end of one passage and the beginning of the next make no quotation."""
    assert not stands_in("end begin", ["The end", "begin it"])


@pytest.mark.parametrize("quotation", ["", " \n\t"])
def test_an_empty_quotation_stands_nowhere(quotation: str) -> None:
    """Nothing quoted is nothing proved."""
    assert not stands_in(quotation, [SOURCE, ""])


def test_nothing_stands_in_no_text() -> None:
    """Without a source there is no proof."""
    assert not stands_in("anything", [])


@PROPERTY
@given(text=st.text(alphabet="abc \n", min_size=1), data=st.data())
def test_every_run_of_words_of_a_text_stands_in_it(text: str, data: st.DataObject) -> None:
    """Whatever is cut out of a text between two words is found again."""
    found = text.split()
    start = data.draw(st.integers(0, len(found)))
    quotation = " ".join(found[start : data.draw(st.integers(start, len(found)))])
    assert stands_in(quotation, [text]) == bool(quotation)
