"""Language of questions: by script, function words and letters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.languages import primary_tag
from harness.core.question_language import question_language


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("What is the population of Norvik?", "en"),
        ("best practices for retrieval", "en"),
        ("Wie viele Menschen leben in Norvik?", "de"),
        ("Combien de personnes vivent à Norvik ?", "fr"),
        ("vuelos baratos de madrid a roma", "es"),
        ("¿Cuántas personas viven en Norvik?", "es"),
        ("Quante persone vivono a Norvik?", "it"),
        ("Quantas pessoas vivem em Norvik?", "pt"),
        ("Hoeveel mensen wonen er in Norvik?", "nl"),
        ("Norvik'te kaç kişi yaşıyor?", "tr"),
        ("Ile osób mieszka w Norviku?", "pl"),
        ("Сколько людей живёт в Норвике?", "ru"),
        ("Скільки людей живе в Норвіку?", "uk"),
        ("كم عدد سكان نورفيك؟", "ar"),
        ("جمعیت نورویک چقدر است؟", "fa"),
        ("नॉर्विक की जनसंख्या कितनी है?", "hi"),
        ("诺维克有多少人口？", "zh"),
        ("ノルヴィクの人口は何人ですか？", "ja"),
        ("노르비크의 인구는 얼마입니까?", "ko"),
        ("นอร์วิกมีประชากรเท่าไร", "th"),
        ("Python 3.12 release notes", ""),
        ("SQLite WAL", ""),
        ("42", ""),
        ("", ""),
    ],
)
def test_a_question_has_the_language_of_its_script_and_words(question: str, language: str) -> None:
    """A list of names has none."""
    assert question_language(question) == language


@given(st.text(max_size=200))
def test_any_text_has_a_known_language_or_none(text: str) -> None:
    """Whatever the text is."""
    found = question_language(text)
    assert found == primary_tag(found)
