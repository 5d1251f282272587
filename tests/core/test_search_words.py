"""Words of texts and queries as the full-text indexes hold them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.search_words import indexed_text, indexed_texts, search_terms, text_language
from harness.core.text import content_words, words

ENGLISH = st.text(alphabet=st.characters(max_codepoint=0x24F), max_size=80)


@given(ENGLISH, st.sampled_from(["", "en", "xx"]))
def test_a_text_in_latin_letters_is_left_as_it_is(text: str, language: str) -> None:
    """In English, or in no known language."""
    assert indexed_text(text, language) == text


def test_words_in_latin_letters_stay_next_to_another_script() -> None:
    """English words around a foreign name, and a name in a Chinese text; Greek letters in a term."""
    assert indexed_text("The word «книги» is Russian.", "en") == "The word «книг» is Russian."
    assert indexed_text("NF-κB and the μM range", "en") == "NF-κB and the μM range"
    assert indexed_text("用Python吧", "zh").split() == ["用", "Python", "吧"]


def test_a_word_is_indexed_with_its_stem() -> None:
    """In Latin letters both; in another script the stem alone."""
    assert indexed_text("Die Häuser", "de") == "Die Häuser haus"
    assert indexed_text("новые книги", "ru") == "нов книг"


def test_ideographs_are_indexed_as_pairs_and_alone() -> None:
    """So that a query of one letter finds them."""
    assert indexed_text("喝绿茶。", "zh").split() == ["喝绿", "绿茶", "喝", "绿", "茶", "。"]
    assert indexed_text("茶", "zh").split() == ["茶"]


@pytest.mark.parametrize("query", ["茶", "绿茶", "ปี", "รถ", "ข้อมูล", "茶叶 ปี", "книгами", "كُتُب", "किताबों", "서울"])
def test_a_word_finds_a_text_that_has_it_in_a_longer_run(query: str) -> None:
    """Each term of a query is a term of the text, wherever the word is in a run without spaces."""
    text = "他喝绿茶叶。 ในปีนี้รถมีข้อมูลมาก новые книги كتب किताबें 서울에서"
    assert set(search_terms(query)) <= set(indexed_text(text, "").split())


def test_a_query_has_the_stems_of_its_language() -> None:
    """Without function words, each once; split at apostrophes."""
    assert search_terms("Wie viele Häuser hat die Straße mit den Häusern?") == ["haus", "strass"]
    assert search_terms("Où est l'école de l'union européenne ?") == ["ecol", "union", "europeen"]
    assert search_terms("Сколько книг в библиотеке?") == ["книг", "библиотек"]


def test_a_turkish_word_has_its_beginning_too() -> None:
    """Four letters, without dots and accents, with a digit: no stem is the same. Numbers have none."""
    assert search_terms("Şehirlerin nüfusu 1990'da ne kadardı?")[:4] == ["sehir", "sehi0", "nufus", "nufu0"]
    assert "19900" not in search_terms("Şehirlerin nüfusu 1990'da ne kadardı?")
    assert indexed_text("İstanbul şehirleri", "tr").split()[:3] == ["İstanbul", "istanb", "ista0"]
    assert set(search_terms("İSTANBUL'UN NÜFUSU NEDİR?")) & {"ista0"}


def test_a_query_of_function_words_alone_is_searched() -> None:
    """All of its words, as nothing else is left."""
    assert search_terms("to be or not to be") == ["to", "be", "or", "not"]
    assert search_terms("и не он") == ["и", "не", "он"]
    assert search_terms("?!") == []


@pytest.mark.parametrize(
    "query",
    ["What is the order in which a Python attribute is found?", "O'Reilly's books", "café menu", "retry policy", "the"],
)
def test_an_english_query_has_its_content_words(query: str) -> None:
    """They are not stemmed here: the index does it."""
    assert search_terms(query) == list(dict.fromkeys(content_words(query) or words(query)))


@given(st.text())
def test_no_term_has_a_sign_of_a_query_language(query: str) -> None:
    """Letters, marks, digits, `_` and apostrophes; FTS5 and PostgreSQL give no other meaning to these in quotes."""
    for term in search_terms(query):
        assert not set(term) & set('"\\*:^()|&!<>-+ \0')


def test_the_longest_text_shows_the_language_of_all() -> None:
    """A title alone may not; a known language is taken."""
    title, text = "Häuser", "Die Häuser der Stadt sind alt, und die Straßen sind eng."
    assert indexed_texts("", [title, text])[0] == "Häuser haus"
    assert indexed_texts("en", [title, text]) == [title, text]
    assert indexed_texts("", []) == []


def test_the_beginning_of_a_text_shows_its_language() -> None:
    """English by its commonest words."""
    assert text_language("The history of the city and of the people in it") == "en"
    assert text_language("Die Häuser der Stadt sind alt, und die Straßen sind eng.") == "de"
    assert text_language("图书馆在城市的中心。") == "zh"
