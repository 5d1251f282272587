"""Names of questions in languages that inflect them, or write them without capital letters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.place_names import PLACES, has_form, names_asked

LANGUAGES = [*PLACES, "ru", "tr"]


@pytest.mark.parametrize(
    ("language", "question", "name", "held", "other"),
    [
        (
            "de",
            "Wie viele Urlaubstage gibt es in Frankreich?",
            "Frankreich",
            "Die französische Firma",
            "in Deutschland",
        ),
        ("ru", "Сколько дней отпуска в Германии?", "Германии", "Германия дает 30 дней", "Россия даёт 28 дней"),
        ("tr", "Almanya'da kaç gün izin var?", "Almanya", "Almanya’nın kuralları", "Türkiye'nin kuralları"),
        ("zh", "日本员工有多少天年假？", "日本", "日本的年假", "中国的年假"),
        ("zh", "印度尼西亚的首都", "印度尼西亚", "印尼的首都", "印度的首都"),
        ("ja", "ドイツの休暇は何日ですか", "ドイツ", "ドイツでは30日", "日本では20日"),
        ("ko", "일본의 휴가는 며칠입니까", "일본", "일본은 20일", "한국은 15일"),
        ("ar", "كم يوم إجازة بالمغرب؟", "المغرب", "في المملكة المغربية", "في مصر"),
        ("hi", "नेपाल में कितने दिन का अवकाश है", "नेपाल", "नेपाल में 13 दिन", "भारत में 18 दिन"),
    ],
)
def test_a_text_about_the_name_has_a_form_of_it(language: str, question: str, name: str, held: str, other: str) -> None:
    """In another case, or as an adjective; a text about another place has none."""
    [(found, forms)] = names_asked(question, language).items()
    assert found == name
    assert has_form(held, forms, language)
    assert not has_form(other, forms, language)


@pytest.mark.parametrize(
    ("language", "question"),
    [("de", "Wie brät man einen Hamburger?"), ("ja", "ローマ字の書き方"), ("ru", "Что такое сборка мусора?")],
)
def test_a_word_that_begins_as_a_name_is_none(language: str, question: str) -> None:
    """A burger is not from Hamburg, and the first word of a question has a capital letter anyway."""
    assert names_asked(question, language) == {}


@given(st.text(max_size=60), st.sampled_from([*LANGUAGES, "th", ""]))
def test_a_question_has_its_own_names(text: str, language: str) -> None:
    """Nothing raises; a language without names has none."""
    names = names_asked(text, language)
    assert not names or language in LANGUAGES
    assert all(all(forms) for forms in names.values())
