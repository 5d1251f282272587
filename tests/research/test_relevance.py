"""Matches of a text and a question by their words; the order of results by their quality."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.source_quality import MOST
from harness.core.text import stems
from harness.models.local.tokenizer import rarity
from harness.research.relevance import Wording, by_quality


@pytest.mark.parametrize(
    ("question", "text", "matches"),
    [
        ("our policy for retries", "Retries use exponential backoff.", True),
        ("retries policy", "Retries use exponential backoff.", True),
        ("what is our vacation policy", "Our retry policy: three times.", False),  # lacks the rarest word
        ("which API does the weather service use", "The API allows 100 requests.", False),  # too few of the words
        ("error E4711 at startup", "E4711 means that the startup failed.", True),
        ("what is the best module of the space station", "It is best to import one module at a time.", False),
        ("what's the policy?", "The policy is old.", False),  # one word is too little
        ("is it?", "It is.", False),
    ],
)
def test_the_rarest_word_and_most_others_are_needed(question: str, text: str, matches: bool) -> None:
    """Order and form of the words do not matter."""
    assert Wording.of(question, rarity).matches(frozenset(stems(text))) is matches


def test_all_of_the_rarest_words_are_needed() -> None:
    """A text with one of two unknown words does not match."""
    wording = Wording.of("frobnicator quuxification settings", rarity)
    assert not wording.matches(frozenset(stems("Frobnicator settings are in a file.")))
    assert wording.matches(frozenset(stems("Frobnicator and quuxification are slow.")))


@pytest.mark.parametrize(
    ("weights", "order"),
    [
        ([], []),
        ([0.0] * 5, [0, 1, 2, 3, 4]),
        ([0.03] * 5, [0, 1, 2, 3, 4]),
        ([-0.05] * 5, [0, 1, 2, 3, 4]),
        ([0.0, 0.0, 0.03], [0, 2, 1]),
        ([0.0, 0.0, 0.0, 0.05], [3, 0, 1, 2]),
        ([0.0] * 9 + [0.05], [0, 1, 2, 3, 4, 5, 9, 6, 7, 8]),
        ([-0.05, 0.0, 0.0, 0.0, 0.0], [1, 2, 3, 0, 4]),
    ],
)
def test_quality_moves_results_by_a_few_ranks(weights: list[float], order: list[int]) -> None:
    """With equal weights none moves; the best and the worst move by three."""
    assert by_quality(weights) == order


@given(st.lists(st.floats(-MOST, MOST), max_size=100))
def test_quality_never_moves_the_last_to_the_first(weights: list[float]) -> None:
    """Each place is there once, and none moves by more than a tenth of its rank plus six."""
    order = by_quality(weights)
    assert sorted(order) == list(range(len(weights)))
    assert all(place - after <= 0.11 * place + 7 for after, place in enumerate(order))
