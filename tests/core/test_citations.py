"""Quotation checks: is a quotation in its source?"""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.citations import is_quoted_in, parted, verbatim

PROPERTY = settings(deadline=None)

SOURCE = "Attribute look-up starts\n  in the type.\n\nThen it\tlooks into the café's instance."


@pytest.mark.parametrize(
    "quotation",
    ["Attribute look-up starts in the type.", "type. Then it looks", "  looks\ninto ", SOURCE],
)
def test_a_quotation_is_found_whatever_the_white_space(quotation: str) -> None:
    """Line breaks in source or quotation do not matter."""
    assert is_quoted_in(quotation, [SOURCE])


def test_unicode_forms_do_not_matter() -> None:
    """An é of one character equals an é of two."""
    assert is_quoted_in("cafe\u0301's", [SOURCE])


@pytest.mark.parametrize("quotation", ["attribute look-up", "starts in a type", "starts … the type", "type.Then"])
def test_a_changed_quotation_is_not_found(quotation: str) -> None:
    """Another word, another case, an omission: not a quotation."""
    assert not is_quoted_in(quotation, [SOURCE])


def test_any_of_the_texts_may_hold_the_quotation() -> None:
    """All passages of a source are searched."""
    assert is_quoted_in("second text", ["The first text.", "The second text."])


def test_a_quotation_does_not_span_texts() -> None:
    """The end of one passage and the beginning of the next are not a quotation."""
    assert not is_quoted_in("end begin", ["The end", "begin it"])


@pytest.mark.parametrize("quotation", ["", " \n\t"])
def test_an_empty_quotation_is_nowhere(quotation: str) -> None:
    """An empty quotation proves nothing."""
    assert not is_quoted_in(quotation, [SOURCE, ""])


def test_no_quotation_is_in_no_text() -> None:
    """Without a source there is no proof."""
    assert not is_quoted_in("anything", [])


@PROPERTY
@given(text=st.text(alphabet="abc \n", min_size=1), data=st.data())
def test_every_run_of_words_of_a_text_is_in_it(text: str, data: st.DataObject) -> None:
    """Any run of whole words from a text is found."""
    found = text.split()
    start = data.draw(st.integers(0, len(found)))
    quotation = " ".join(found[start : data.draw(st.integers(start, len(found)))])
    assert is_quoted_in(quotation, [text]) == bool(quotation)


# --- parted


@pytest.mark.parametrize(
    ("quotation", "parts"),
    [
        ("starts\nin", ("Attribute look-up ", "starts in", " the type. Then it looks into the café's instance.")),
        ("cafe\u0301’s", ("Attribute look-up starts in the type. Then it looks into the ", "café's", " instance.")),
        (SOURCE, ("", "Attribute look-up starts in the type. Then it looks into the café's instance.", "")),
        ("t", ("A", "t", "tribute look-up starts in the type. Then it looks into the café's instance.")),
    ],
)
def test_a_text_is_parted_at_a_quotation(quotation: str, parts: tuple[str, str, str]) -> None:
    """At its first occurrence; the words are the text's, not the quotation's."""
    assert parted(quotation, SOURCE) == parts


@pytest.mark.parametrize("quotation", ["", " \n", "attribute look-up", "type.Then"])
def test_where_nothing_is_quoted_nothing_is_parted(quotation: str) -> None:
    """`None`, exactly if the quotation is not in the text."""
    assert parted(quotation, SOURCE) is None
    assert parted("anything", "") is None


ODD = st.text(alphabet="abé İßﬁ'’-—“”\"\u0301\u00a0\u2011\n\t", max_size=60)


@PROPERTY
@given(text=ODD, quotation=ODD, data=st.data())
def test_a_text_is_parted_where_the_quotation_is(text: str, quotation: str, data: st.DataObject) -> None:
    """The parts, joined, are the text on one line."""
    start = data.draw(st.integers(0, len(text)))
    for quoted in (quotation, text[start : data.draw(st.integers(start, len(text)))]):
        parts = parted(quoted, text)
        assert (parts is not None) == is_quoted_in(quoted, [text])
        if parts:
            assert "".join(parts) == " ".join(unicodedata.normalize("NFC", text).split())
            assert is_quoted_in(quoted, [parts[1]])
            assert is_quoted_in(parts[1], [quoted])


# --- verbatim


WHOLE = "The cache keeps every answer for a day, and the client's retries don't reach the server again."


@pytest.mark.parametrize(
    ("quotation", "text"),
    [
        ("The cache keeps every anwser for a day", "The cache keeps every answer for a day"),
        ("the Cache keeps every answer for a day", "The cache keeps every answer for a day"),
        ("cache keeps every answers for a day, and", "cache keeps every answer for a day, and"),
        (
            "keeps every answer for a day and the client's retries",
            "keeps every answer for a day, and the client's retries",
        ),
        ("che keeps every answr for a da", "cache keeps every answer for a day"),
        ("every answwer for a day, and the client", "every answer for a day, and the client's"),
        (WHOLE.replace("reach", "raech"), WHOLE),
    ],
)
def test_a_misspelled_quotation_becomes_the_words_of_the_source(quotation: str, text: str) -> None:
    """Letters, case, marks: the result is whole words of the source."""
    assert not is_quoted_in(quotation, [WHOLE])
    assert verbatim(quotation, ["Something else.", WHOLE]) == text


@pytest.mark.parametrize(
    "quotation",
    [
        "The server forgets every request after an hour",
        "The cache keeps no answer and never kept any of them",
        f"{WHOLE} It has also been shown to cure cancer in mice and in men.",
        f"It has also been shown to cure cancer in mice and in men. {WHOLE}",
        "",
        " ",
    ],
)
def test_text_that_is_not_in_the_source_is_no_quotation(quotation: str) -> None:
    """An invention, even before or after true words, and in few texts."""
    assert verbatim(quotation, [WHOLE]) is None
    assert verbatim(quotation, []) is None


@pytest.mark.parametrize("quotation", ["keeps evry answer", "The Cache", "for a night"])
def test_a_short_quotation_must_match_word_for_word(quotation: str) -> None:
    """Short texts match by chance too often."""
    assert verbatim(quotation, [WHOLE]) is None


def test_an_exact_quotation_is_returned_unchanged() -> None:
    """White space aside, even if another text is nearly the same."""
    assert verbatim("keeps  every\nanswer", ["keeps every answers", WHOLE]) == "keeps every answer"


@pytest.mark.parametrize(
    ("quotation", "word"),
    [("we have said that retries can", "can't"), ("क्योंकि हमने कहा था कि यह एक किताब ह", "है")],
)
def test_a_word_is_not_cut(quotation: str, word: str) -> None:
    """Not at an apostrophe, nor between a letter and its vowel sign."""
    text = f"{quotation.replace('said', 'sayd').replace('कहा', 'कही').rsplit(' ', 1)[0]} {word} be had"
    found = verbatim(quotation, [text])
    assert found is not None
    assert found.endswith(f" {word}")


UNICODE = st.text(max_size=80)
LIKE = st.text(alphabet="abcdé İßﬁ'-“”\u0301\u00a0\n", max_size=80)


@PROPERTY
@given(texts=st.lists(st.one_of(UNICODE, LIKE), max_size=3), quotation=st.one_of(UNICODE, LIKE))
def test_a_returned_quotation_is_always_in_a_text(texts: list[str], quotation: str) -> None:
    """For any quotation and any texts."""
    found = verbatim(quotation, texts)
    assert found is None or is_quoted_in(found, texts)
    assert found is not None or not is_quoted_in(quotation, texts)


@PROPERTY
@given(text=st.one_of(st.text(min_size=30, max_size=200), st.text("abcd éß'İ", min_size=30)), data=st.data())
def test_a_quotation_with_one_slip_becomes_words_of_the_text(text: str, data: st.DataObject) -> None:
    """One character changed, dropped or added anywhere: the result is always in the text."""
    start = data.draw(st.integers(0, len(text) - 25))
    quoted = text[start : data.draw(st.integers(start + 25, len(text)))]
    place = data.draw(st.integers(0, len(quoted)))
    slip = quoted[:place] + data.draw(st.sampled_from(["", "x", "é"])) + quoted[place + data.draw(st.integers(0, 1)) :]
    found = verbatim(slip, [text])
    assert found is None or is_quoted_in(found, [text])
