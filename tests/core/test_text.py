"""Text functions: cleaning, bounds, words, sentences."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.core.text import (
    STEMS_HELD,
    amount,
    clean,
    content_words,
    one_line,
    sentences,
    shorten,
    stem,
    stems,
    words,
)

PROPERTY = settings(deadline=None)

CONTROLS = [chr(c) for c in (*range(0x20), *range(0x7F, 0xA0)) if chr(c) not in "\t\n\r"]
OVERRIDES = list("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
HOSTILE = st.text(alphabet=st.one_of(st.sampled_from([*CONTROLS, *OVERRIDES, "\ud800", "\udfff"]), st.characters()))
VALID = st.text(alphabet=st.characters(exclude_categories=["Cs"]))
PROSE = st.text(alphabet="aB3é .!?…\"'’)(“”\n\t;:,-—\u3000。？", max_size=120)


# --- clean


@pytest.mark.parametrize("char", CONTROLS, ids=lambda char: f"U+{ord(char):04X}")
def test_control_characters_are_dropped(char: str) -> None:
    """NUL, escape and all other control characters."""
    assert clean(f"be{char}fore", 100) == "before"


@pytest.mark.parametrize("char", OVERRIDES, ids=lambda char: f"U+{ord(char):04X}")
def test_direction_overrides_are_dropped(char: str) -> None:
    """Outside text cannot change the reading direction of text around it."""
    assert clean(f"be{char}fore", 100) == "before"


@pytest.mark.parametrize("code", [0xD800, 0xDBFF, 0xDC80, 0xDFFF], ids=hex)
def test_lone_surrogates_are_dropped(code: int) -> None:
    """They have no UTF-8 encoding."""
    assert clean(f"be{chr(code)}fore", 100) == "before"


def test_lines_and_tabs_are_kept() -> None:
    """Layout is part of a text."""
    assert clean("a\tb\nc\r\nd", 100) == "a\tb\nc\r\nd"


def test_letters_of_every_script_are_kept() -> None:
    """Cleaning changes nothing in valid text."""
    text = "naïve Ω 中文 العربية עברית 🦄 👩\u200d🔬"
    assert clean(text, 100) == text


def test_none_is_empty() -> None:
    """A field that an engine omits is an empty text, not "None"."""
    assert clean(None, 100) == ""


def test_numbers_become_text() -> None:
    """A number in place of text is formatted."""
    assert clean(2.5, 100) == "2.5"


def test_outer_white_space_is_stripped() -> None:
    """Text begins and ends with visible characters."""
    assert clean(" \n a b \t", 100) == "a b"


def test_a_text_of_the_limit_is_kept_whole() -> None:
    """A text of exactly the limit is kept."""
    assert clean("x" * 10, 10) == "x" * 10


def test_a_longer_text_is_cut_at_the_limit() -> None:
    """However much comes in, at most the limit stays."""
    assert clean("x" * 1_000_000, 10) == "x" * 10


@PROPERTY
@given(text=HOSTILE, limit=st.integers(1, 50))
def test_cleaned_text_is_bounded_encodable_and_stable(text: str, limit: int) -> None:
    """Clean text is within its limit, encodes as UTF-8, and cleaning it again changes nothing."""
    cleaned = clean(text, limit)
    assert len(cleaned) <= limit
    assert cleaned.encode().decode() == cleaned
    assert not set(cleaned) & {*CONTROLS, *OVERRIDES}
    assert clean(cleaned, limit) == cleaned


# --- one_line, shorten


def test_one_line_collapses_every_white_space() -> None:
    """Line ends, tabs and wide spaces become single spaces."""
    assert one_line(" a\n\n b\t\u3000c ") == "a b c"


def test_a_short_text_is_not_shortened() -> None:
    """A text that fits stays whole."""
    assert shorten("a short text", 12) == "a short text"


def test_a_long_text_is_cut_at_a_word_with_an_ellipsis() -> None:
    """A shortened text ends with a whole word and an ellipsis."""
    assert shorten("the quick brown fox, jumps over", 23) == "the quick brown fox…"


@PROPERTY
@given(text=st.text(), limit=st.integers(1, 60))
def test_a_shortened_text_keeps_to_its_limit(text: str, limit: int) -> None:
    """Including the ellipsis."""
    assert len(shorten(text, limit)) <= limit


# --- words


def test_words_are_lower_cased_in_order() -> None:
    """Words in order, without case and punctuation."""
    assert words("Don’t panic: it's PEP-8!") == ["don’t", "panic", "it's", "pep", "8"]


def test_content_words_leave_function_words_out() -> None:
    """Only meaningful words count when texts are compared."""
    assert content_words("What is the order in which a Python attribute is found?") == [
        "order",
        "python",
        "attribute",
        "found",
    ]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            "what's the difference between mutable and immutable objects",
            ["difference", "mutable", "immutable", "objects"],
        ),
        ("Who’s on call, and what’re the rules?", ["call", "rules"]),
        ("we'd say they've won't, can’t and isn't", []),
        ("our public API's limits", ["public", "api", "limits"]),
        ("O'Reilly's books", ["o'reilly", "books"]),
    ],
)
def test_contracted_function_words_are_left_out(text: str, left: list[str]) -> None:
    """With either apostrophe; a possessive is reduced to its word."""
    assert content_words(text) == left


@pytest.mark.parametrize("forms", [("caches", "cached", "caching"), ("search", "searches", "searching")])
def test_forms_of_a_word_share_a_stem(forms: tuple[str, ...]) -> None:
    """Inflected forms have one stem."""
    assert len({stem(form) for form in forms}) == 1


def test_stems_are_those_of_the_content_words() -> None:
    """A set without function words."""
    assert stems("The caches and the caching of caches") == {stem("cache")}


# --- sentences


def test_a_paragraph_is_split_into_sentences() -> None:
    """Points, question marks and exclamation marks end sentences."""
    assert [s.strip() for s in sentences("It works. Does it?  Yes! Good.")] == [
        "It works.",
        "Does it?",
        "Yes!",
        "Good.",
    ]


def test_abbreviations_and_dotted_names_do_not_end_a_sentence() -> None:
    """`e.g.`, version numbers and `C.__dict__` stay inside their sentence."""
    text = "Python 3.11 looks into C.__dict__ first, e.g. for methods. Then it looks into the bases."
    assert [s.strip() for s in sentences(text)] == [
        "Python 3.11 looks into C.__dict__ first, e.g. for methods.",
        "Then it looks into the bases.",
    ]


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("It is so! and then? Yes.", ["It is so! and then?", "Yes."]),
        ("What? — he said. Done.", ["What? — he said.", "Done."]),
        ("A point. - a dash. Then.", ["A point. - a dash.", "Then."]),
        ("It works. (Perhaps.) Done.", ["It works.", "(Perhaps.) Done."]),
        ("Use it. 3 times. ¿Qué?", ["Use it.", "3 times.", "¿Qué?"]),
        ("First. * star.", ["First.", "* star."]),
    ],
)
def test_a_sentence_begins_with_a_capital_a_digit_or_an_opening_sign(text: str, split: list[str]) -> None:
    """Anything else continues the sentence before."""
    assert [sentence.strip() for sentence in sentences(text)] == split


@pytest.mark.parametrize(
    ("text", "split"),
    [
        (
            "**It is read once.** This means: when it is defined.",
            ["**It is read once.** ", "This means: when it is defined."],
        ),
        ("** Both begin. ** end", ["** Both begin. ** end"]),
    ],
)
def test_a_sentence_in_bold_ends_with_its_sign(text: str, split: list[str]) -> None:
    """A sign that ends nothing stays where it is."""
    assert sentences(text) == split


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("今天很好。去公园吧！你去吗？「好。」他说。", ["今天很好。", "去公园吧！", "你去吗？", "「好。」", "他说。"]),
        ("行きますか？「はい。」（注意）次。", ["行きますか？", "「はい。」", "（注意）次。"]),
        ("यह पहला है। यह दूसरा है।", ["यह पहला है।", "यह दूसरा है।"]),
        ("هل هذا صحيح؟ نعم! انتهى.", ["هل هذا صحيح؟", "نعم!", "انتهى."]),
        ("А. С. Пушкин родился в г. Москве. Да.", ["А. С. Пушкин родился в г. Москве.", "Да."]),
        ("Πρώτη; Δεύτερη.", ["Πρώτη;", "Δεύτερη."]),
    ],
)
def test_sentences_of_other_scripts_end_at_their_signs(text: str, split: list[str]) -> None:
    """Signs of full width, the danda, Arabic and Greek question marks; not after Russian abbreviations."""
    assert [sentence.strip() for sentence in sentences(text)] == split


def test_an_empty_paragraph_has_no_sentences() -> None:
    """Empty text, no sentences."""
    assert sentences(" \n ") == []


@PROPERTY
@given(st.one_of(VALID, PROSE))
@example("a. \u200bb")
@example("A.\x1cB.")
def test_sentences_joined_are_the_paragraph_on_one_line(paragraph: str) -> None:
    """Splitting loses, adds and reorders nothing."""
    assert "".join(sentences(paragraph)) == one_line(paragraph)


@PROPERTY
@given(PROSE)
def test_no_sentence_is_blank(paragraph: str) -> None:
    """Every sentence has visible text."""
    assert all(sentence.strip() for sentence in sentences(paragraph))


def test_threads_stem_each_its_own_word() -> None:
    """Threads do not mix letters: a wrong stem would stay in the cache."""
    endings = ("ing", "ations", "fulness", "ously", "ies", "ized")
    spelled = [
        f"{start}{middle}{ending}" for start in "bcdfgh" for middle in ("ark", "ell", "ind") for ending in endings
    ]
    alone = [stem.__wrapped__(word) for word in spelled]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            for found in pool.map(lambda _: [stem.__wrapped__(word) for word in spelled], range(12)):
                assert found == alone
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.slow
def test_stems_take_bounded_memory() -> None:
    """A long-running server keeps the stems of the last used words only."""
    for number in range(STEMS_HELD + 50):
        stem(f"word{number}ing")
    assert stem.cache_info().currsize == STEMS_HELD
    assert stem("running") == "run"


@pytest.mark.parametrize(
    ("paragraph", "parts"),
    [
        ("Nicht genommener Urlaub verfällt am 31. März des Folgejahres. Das gilt für alle.", 2),
        ("Der Vertrag endet am 3. Mai. Er wird nicht verlängert.", 2),
        ("The limit is 31. March is the last month for it.", 2),
    ],
)
def test_an_ordinal_ends_no_sentence_where_it_has_a_point(paragraph: str, parts: int) -> None:
    """In German, not in English."""
    found = sentences(paragraph)
    assert (len(found), "".join(found)) == (parts, paragraph)


@pytest.mark.parametrize(
    ("number", "noun", "shown"),
    [
        (1, "entry", "1 entry"),
        (0, "entry", "0 entries"),
        (2_000, "live call", "2,000 live calls"),
        (1, "search", "1 search"),
        (3, "search", "3 searches"),
    ],
)
def test_a_number_has_its_noun(number: int, noun: str, shown: str) -> None:
    """Take the plural for all numbers but one."""
    assert amount(number, noun) == shown
