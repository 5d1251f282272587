"""Does a quotation really stand in its source?"""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.citations import parted, stands_in, verbatim

PROPERTY = settings(deadline=None, max_examples=100)

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
    """At its first place; the words are the text's own, not the quotation's."""
    assert parted(quotation, SOURCE) == parts


@pytest.mark.parametrize("quotation", ["", " \n", "attribute look-up", "type.Then"])
def test_where_nothing_is_quoted_nothing_is_parted(quotation: str) -> None:
    """Exactly where it does not stand."""
    assert parted(quotation, SOURCE) is None
    assert parted("anything", "") is None


ODD = st.text(alphabet="abé İßﬁ'’-—“”\"\u0301\u00a0\u2011\n\t", max_size=60)


@PROPERTY
@given(text=ODD, quotation=ODD, data=st.data())
def test_a_text_is_parted_where_the_quotation_stands(text: str, quotation: str, data: st.DataObject) -> None:
    """If it does, and only then; joined, the parts are the text on one line."""
    start = data.draw(st.integers(0, len(text)))
    for quoted in (quotation, text[start : data.draw(st.integers(start, len(text)))]):
        parts = parted(quoted, text)
        assert (parts is not None) == stands_in(quoted, [text])
        if parts:
            assert "".join(parts) == " ".join(unicodedata.normalize("NFC", text).split())
            assert stands_in(quoted, [parts[1]])
            assert stands_in(parts[1], [quoted])


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
def test_a_slip_of_the_pen_becomes_the_words_of_the_source(quotation: str, text: str) -> None:
    """Letters, case, marks: what is returned are whole words of the source, and they stand in it."""
    assert not stands_in(quotation, [WHOLE])
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
def test_what_the_source_does_not_say_is_no_quotation(quotation: str) -> None:
    """An invention, also one that is put before or behind true words, however few texts there are."""
    assert verbatim(quotation, [WHOLE]) is None
    assert verbatim(quotation, []) is None


@pytest.mark.parametrize("quotation", ["keeps evry answer", "The Cache", "for a night"])
def test_a_short_quotation_stands_word_for_word_or_not_at_all(quotation: str) -> None:
    """It is alike too much by chance."""
    assert verbatim(quotation, [WHOLE]) is None


def test_a_quotation_that_stands_is_returned_as_it_is() -> None:
    """White space aside, even where another text is nearly the same."""
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
def test_what_is_returned_always_stands_in_a_text(texts: list[str], quotation: str) -> None:
    """Whatever is quoted from whatever."""
    found = verbatim(quotation, texts)
    assert found is None or stands_in(found, texts)
    assert found is not None or not stands_in(quotation, texts)


@PROPERTY
@given(text=st.one_of(st.text(min_size=30, max_size=200), st.text("abcd éß'İ", min_size=30)), data=st.data())
def test_a_quotation_with_a_slip_still_becomes_words_of_the_text(text: str, data: st.DataObject) -> None:
    """One character changed, dropped or added anywhere: never anything that does not stand."""
    start = data.draw(st.integers(0, len(text) - 25))
    quoted = text[start : data.draw(st.integers(start + 25, len(text)))]
    place = data.draw(st.integers(0, len(quoted)))
    slip = quoted[:place] + data.draw(st.sampled_from(["", "x", "é"])) + quoted[place + data.draw(st.integers(0, 1)) :]
    found = verbatim(slip, [text])
    assert found is None or stands_in(found, [text])
