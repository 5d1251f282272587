"""Words in any script: normal forms, n-grams, and the language of a word."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.text import content_words, stem, stems, words
from harness.core.word_forms import MAX_MARKS, has_other_letters, language_of_word, normal, same_letters


@pytest.mark.parametrize("text", ["Plain.", "naïve café, 6½ — “quoted” £5 ✓", "Łódź, Straße, ığdır", ""])
def test_latin_letters_and_signs_are_no_other_letters(text: str) -> None:
    """Texts of European languages in Latin letters need no closer look."""
    assert not has_other_letters(text)


@pytest.mark.parametrize("text", ["中", "Москва", "हिन्दी", "ｆｕｌｌ", "cafe\u0301", "ﬁne", "𝐛old"])
def test_other_scripts_marks_and_compatible_forms_are_other_letters(text: str) -> None:
    """They have more than one form, or are no Latin letters."""
    assert has_other_letters(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ＰＹＴＨＯＮ ３．１２", "PYTHON 3.12"),
        ("ｶﾞｲﾄﾞ", "ガイド"),
        ("ﬁne cafe\u0301", "fine café"),
        ("مُحَمَّــد", "محمد"),
        ("ﷲ", "الله"),
        ("בְּרֵאשִׁית", "בראשית"),
        ("٣١ १२ ๓", "31 12 3"),
        ("क्\u200dष", "क्ष"),
        ("x² and ½", "x² and ½"),
    ],
)
def test_each_letter_and_digit_has_one_form(text: str, expected: str) -> None:
    """Width, ligatures, points and digits do not matter; signs stay."""
    assert normal(text) == expected


def test_letters_that_are_written_for_each_other_are_one() -> None:
    """Arabic alef, ya and ta marbuta; Russian ё; accents of Latin and Greek letters, not of Hindi."""
    assert same_letters("أحمدى") == same_letters("احمدي") == same_letters("إحمدی")
    assert same_letters("مدرسة") == same_letters("مدرسه")
    assert same_letters("Ёлка") == "елка"
    assert same_letters("Kündigung") == "kundigung"
    assert same_letters("ΟΔΌΣ") == same_letters("οδός") == "οδοσ"
    assert same_letters("किताबें") == "किताबें"


def test_chinese_and_japanese_are_pairs_of_letters() -> None:
    """Overlapping, up to the next sign; a single one stays."""
    assert words("气候变化。茶") == ["气候", "候变", "变化", "茶"]
    assert words("データを読む") == ["デー", "ータ", "タを", "を読", "読む"]
    assert words("서울은 어디") == ["서울", "울은", "어디"]


def test_thai_is_n_grams_of_whole_letters_with_their_marks() -> None:
    """No mark is without its letter; of three characters or more, a shorter run as it is."""
    assert words("ข้อมูล ปี") == ["ข้อ", "อมู", "มูล", "ปี"]


def test_scripts_in_one_run_are_separated() -> None:
    """A name in Latin letters, or a number, is a word next to ideographs without spaces."""
    assert words("Python的3个库") == ["python", "的", "3", "个库"]


def test_words_of_a_query_stay_as_they_are_written() -> None:
    """Runs without spaces are whole: n-grams are for comparison, and no words for a search engine."""
    assert words("气候变化，Python的库", whole=True) == ["气候变化", "python", "的库"]
    assert content_words("ข้อมูล и книги", whole=True) == ["ข้อมูล", "книги"]


def test_a_hindi_word_keeps_its_vowel_signs() -> None:
    """Marks are parts of words."""
    assert words("हिन्दी में किताबें") == ["हिन्दी", "में", "किताबें"]


def test_words_in_latin_letters_are_the_same_next_to_another_script() -> None:
    """Apostrophes and accents too."""
    assert words("Don't panic, naïve 中文") == ["don't", "panic", "naïve", "中文"]


@pytest.mark.parametrize(
    ("word", "language"),
    [
        ("word", "en"),
        ("3", "en"),
        ("École", "en"),
        ("κB", "en"),
        ("Москва", "ru"),
        ("كتاب", "ar"),
        ("किताब", "hi"),
        ("οδός", "el"),
        ("中文", ""),
        ("ไทย", ""),
    ],
)
def test_the_script_of_a_word_decides_about_its_language(word: str, language: str) -> None:
    """A word that has an English letter is English; ideographs have no stems."""
    assert language_of_word(word) == language


def test_the_language_of_latin_letters_is_given() -> None:
    """For Latin letters alone."""
    assert language_of_word("Haus", "de") == "de"
    assert language_of_word("Москва", "de") == "ru"


@pytest.mark.parametrize(
    ("forms", "language"),
    [
        (("häuser", "haus", "hauses"), "de"),
        (("kitapları", "kitap"), "tr"),
        (("карьеру", "карьера", "карьеры"), "en"),
        (("المدرسة", "مدرسة", "مدرسه"), "en"),
        (("लड़कों", "लड़के"), "en"),
        (("бельё", "белье"), "en"),
    ],
)
def test_forms_of_a_word_share_a_stem(forms: tuple[str, ...], language: str) -> None:
    """By the language of Latin letters, or of the script."""
    assert len({stem(form, language) for form in forms}) == 1


def test_the_stem_of_an_english_word_has_not_changed() -> None:
    """Accents stay in English."""
    assert [stem(word) for word in ("running", "cafés", "naïve")] == ["run", "café", "naïv"]


def test_function_words_of_the_language_are_left_out() -> None:
    """In Latin letters by the given language, in another script always; apostrophes separate words."""
    assert content_words("L'union des villes et l’école", language="fr") == ["union", "villes", "école"]
    assert content_words("Где находится эта библиотека?") == ["находится", "библиотека"]
    assert content_words("أين المكتبة؟") == ["المكتبة"]
    assert content_words("किताब कहाँ है") == ["किताब"]
    assert content_words("איפה הספר הזה?") == ["הספר"]
    assert content_words("茶 是 什么") == ["茶", "是", "什么"]
    assert stems("Die Häuser der Stadt", "de") == {"haus", "stadt"}


@given(st.text())
def test_any_text_has_words_and_stems(text: str) -> None:
    """No text is refused; every word has a letter or a digit, and a stem."""
    assert all(word and not word.isspace() for word in words(text))
    assert all(stems(text, language) is not None for language in ("en", "tr"))


@pytest.mark.parametrize("unit", ["中", "ก", "क्", "\u0301", "a\u0301", "ы", "ا", "x"])
@pytest.mark.slow
def test_a_long_run_takes_linear_time(unit: str) -> None:
    """A word of 200,000 letters or marks is split, and not stemmed."""
    start = time.process_time()
    assert words(unit * 200_000) is not None
    assert stems(f"é{unit * 200_000}", "de") is not None
    assert time.process_time() - start < 20


@pytest.mark.parametrize("mark", ["\u0301", "\u0f71", "\u093c"])
def test_of_many_marks_in_a_row_some_stay(mark: str) -> None:
    """To sort a page of them takes hours; no word has more than a few."""
    assert normal(f"x{mark * 1_000_000}y") == normal(f"x{mark * MAX_MARKS}y")
    assert len(normal(f"x{mark * MAX_MARKS}y")) == MAX_MARKS + 2


def test_marks_of_a_long_text_are_sorted_at_once() -> None:
    """These are in the order that takes longest: a million would take half an hour."""
    text = "a" + "\u0327\u0301" * 500_000
    assert len(words(text)) == 1
