"""English for models that know English only: words, scripts, and mixtures of them."""

import pytest

from harness.core.foreign_text import UNKNOWN, foreign_language, is_english

ENGLISH = [
    "",
    "how long does the retry wait",
    "postgres connection pool",
    "Rainer Maria Rilke",
    "What does the Russian word «спасибо» mean in English, and when is it said?",
    "the α-helix of a protein",
    "2024-01-01 10:00",
]


@pytest.mark.parametrize("text", ENGLISH)
def test_english_names_and_numbers_count_as_english(text: str) -> None:
    """A foreign name or letter does not make a text foreign, nor does a text that shows no language."""
    assert is_english(text)
    assert foreign_language(text) == ""


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Wie lange wartet der Dienst?", "de"),
        ("重试之前等待多久？", "zh"),
        ("كم مرة تعاد المحاولة", "ar"),
        ("Kubernetes ConfigMap 是什么", "zh"),
        ("Python の GIL とは", "ja"),
        ("PostgreSQL में इंडेक्स कैसे बनाएं", "hi"),
    ],
)
def test_other_languages_are_named(text: str, language: str) -> None:
    """Also where a program's name in Latin letters is longer than the question about it."""
    assert foreign_language(text) == language
    assert not is_english(text)


def test_a_script_whose_language_is_not_known_is_not_english() -> None:
    """Cherokee, for example."""
    assert foreign_language("Kubernetes ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ") == UNKNOWN


def test_only_the_beginning_of_a_long_text_counts() -> None:
    """The time for a text is bounded."""
    assert is_english("the cat and the dog " * 100 + "重试之前等待多久？" * 1_000)
