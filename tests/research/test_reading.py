"""Passages ranked by a reader."""

import pytest

from harness.errors import InvalidInput
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
