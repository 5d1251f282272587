"""Passages ranked by a reader."""

import pytest

from harness.errors import InvalidInput
from harness.models.local.multilingual import Multilingual, UniversalEncoder
from harness.research.reading import MAX_PASSAGE_CHARS, MAX_PASSAGES, ranked_passages
from tests.fakes import WordEmbedder, WordReader


def silent(what: str, done: int, total: int) -> None:
    """Show no progress."""


def test_the_likeliest_passage_is_first() -> None:
    """Equally likely ones keep their order; `answers` compares with the least probability."""
    found = ranked_passages(
        "red apple", ["a pear", "a red apple", "an apple", "an apple"], WordReader(), WordEmbedder(), silent
    )
    assert [each.place for each in found] == [2, 3, 4, 1]
    assert 1 >= found[0].probability > found[1].probability == found[2].probability > found[3].probability >= 0
    assert [each.rank for each in found] == [1, 2, 3, 4]
    assert [each.answers for each in found] == [True, True, True, False]
    assert found[0].text == "a red apple"


@pytest.mark.parametrize(
    ("question", "passages", "message"),
    [
        (" ", ["a"], "question is empty"),
        ("a", [], "no passages"),
        ("a", ["b"] * (MAX_PASSAGES + 1), "too many"),
        ("a", ["b" * (MAX_PASSAGE_CHARS + 1)], "split it"),
    ],
)
def test_what_cannot_be_ranked_is_refused(question: str, passages: list[str], message: str) -> None:
    """One line says why."""
    with pytest.raises(InvalidInput, match=message):
        ranked_passages(question, passages, WordReader(), WordEmbedder(), silent)


def test_progress_counts_the_passages() -> None:
    """Start with none and end with all of them."""
    steps = list[tuple[str, int, int]]()
    ranked_passages("a", ["b", "c"], WordReader(), WordEmbedder(), lambda *step: steps.append(step))
    assert steps == [("reading passages", 0, 2), ("reading passages", 1, 2), ("reading passages", 2, 2)]


CHINESE = [
    "每位员工每年有二十天带薪假期。",
    "密钥每九十天更新一次。",
    "Every employee has 20 days of paid leave a year.",
]


def test_in_another_language_the_reader_is_not_asked_and_vectors_decide() -> None:
    """A Chinese answer comes first, the same answer in English next, and another subject does not answer."""
    reader = WordReader()
    found = ranked_passages("每年有多少天年假？", CHINESE, reader, UniversalEncoder(), silent)
    assert [each.place for each in found] == [1, 3, 2]
    assert [each.answers for each in found] == [True, True, False]
    assert reader.read == []


def test_vectors_compare_an_english_question_with_a_passage_in_another_language() -> None:
    """It answers though no word is in common; another subject does not, and the reader reads neither."""
    reader, texts = WordReader(), [CHINESE[1], CHINESE[0]]
    found = ranked_passages("How many days of paid leave does an employee have?", texts, reader, Multilingual(), silent)
    assert [(each.place, each.answers) for each in found] == [(2, True), (1, False)]
    assert reader.read == []


def test_without_vectors_of_the_language_words_decide() -> None:
    """The passage with the question's words answers, one with other words does not."""
    reader = WordReader()
    texts = ["Der Schlüssel wird alle neunzig Tage erneuert.", "Der Tunnel ist für die Wartung geschlossen."]
    found = ranked_passages("Wann wird der Schlüssel erneuert?", texts, reader, WordEmbedder(), silent)
    assert [(each.place, each.answers) for each in found] == [(1, True), (2, False)]
    assert reader.read == []


def test_the_reader_reads_the_english_passages_of_an_english_question_only() -> None:
    """A German one counts by its words."""
    reader = WordReader()
    ranked_passages(
        "how old is the key",
        ["The key is old.", "Der Schlüssel ist alt und wird erneuert."],
        reader,
        WordEmbedder(),
        silent,
    )
    assert reader.read == ["The key is old."]


def test_words_of_a_language_count_in_all_their_forms_and_function_words_do_not() -> None:
    """A text with "ist", "der" and "von" answers nothing; one with the question's nouns in the plural does."""
    texts = ["Der Hund ist in der Nähe von den Häusern.", "Regeln geben Spielen ihren Sinn."]
    found = ranked_passages("Was ist der Sinn von der Regel?", texts, WordReader(), WordEmbedder(), silent)
    assert [(each.place, each.answers) for each in found] == [(2, True), (1, False)]
