"""Matches of a text and a question by their words."""

import pytest

from harness.core.text import stems
from harness.models.local.tokenizer import rarity
from harness.research.relevance import Wording


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
