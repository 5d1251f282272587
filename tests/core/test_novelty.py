"""How much a round added."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.novelty import SHINGLE, novelty, shingles

PROPERTY = settings(deadline=None, max_examples=200)

TEXTS = st.lists(st.text(alphabet="abc ", max_size=40), max_size=6)


def test_shingles_are_runs_of_words() -> None:
    """Every four words in a row count once, without case and punctuation."""
    assert shingles("One, two three FOUR five.") == {("one", "two", "three", "four"), ("two", "three", "four", "five")}


@pytest.mark.parametrize("text", ["one", "one two", "one two three"])
def test_a_text_shorter_than_a_shingle_is_one(text: str) -> None:
    """A short text counts as a whole."""
    assert shingles(text) == {tuple(text.split())}
    assert len(text.split()) < SHINGLE


@pytest.mark.parametrize("text", ["", " \n", "… — !"])
def test_a_text_without_words_has_no_shingles(text: str) -> None:
    """Punctuation says nothing new."""
    assert shingles(text) == set()


def test_the_first_round_is_all_new() -> None:
    """Where nothing is held, everything is new."""
    assert novelty(["one two three four five"], []) == 1.0


def test_a_round_that_found_nothing_adds_nothing() -> None:
    """No result, or only empty ones: novelty 0."""
    assert novelty([], ["held"]) == novelty([""], ["held"]) == novelty([], []) == 0.0


def test_the_share_of_new_text_is_counted() -> None:
    """Novelty is new shingles over all shingles of the round: here one of two."""
    assert novelty(["one two three four five"], ["zero one two three four"]) == 0.5


def test_a_text_found_twice_in_a_round_counts_once() -> None:
    """Repeats within a round do not weigh."""
    assert novelty(["a b c d", "a b c d", "e f g h"], ["a b c d"]) == 0.5


@PROPERTY
@given(found=TEXTS, held=TEXTS)
def test_novelty_is_a_share(found: list[str], held: list[str]) -> None:
    """Novelty lies between 0 and 1."""
    assert 0.0 <= novelty(found, held) <= 1.0


@PROPERTY
@given(found=TEXTS, held=TEXTS, data=st.data())
def test_the_order_of_texts_does_not_matter(found: list[str], held: list[str], data: st.DataObject) -> None:
    """Searches that run at the same time may finish in any order."""
    shuffled = data.draw(st.permutations(found)), data.draw(st.permutations(held))
    assert novelty(*shuffled) == novelty(found, held)


@PROPERTY
@given(found=TEXTS, held=TEXTS)
def test_the_same_round_again_adds_nothing(found: list[str], held: list[str]) -> None:
    """A repeat has novelty 0."""
    assert novelty(found, [*held, *found]) == 0.0


@PROPERTY
@given(found=TEXTS, held=TEXTS, more=TEXTS)
def test_holding_more_never_makes_a_round_newer(found: list[str], held: list[str], more: list[str]) -> None:
    """What is known can only take from novelty."""
    assert novelty(found, [*held, *more]) <= novelty(found, held)
