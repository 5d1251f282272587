"""Novelty of a round."""

from hypothesis import given
from hypothesis import strategies as st

from harness.core.novelty import novelty

SIMILARITIES = st.lists(st.floats(-1.001, 1.001), max_size=20)


def test_the_first_round_is_all_new() -> None:
    """Without earlier chunks, similarity is 0."""
    assert novelty([0.0, 0.0]) == 1.0


def test_a_round_that_found_nothing_adds_nothing() -> None:
    """No chunks: novelty 0."""
    assert novelty([]) == 0.0


def test_novelty_is_the_mean_distance() -> None:
    """Known chunks count as 0, next to distant ones."""
    assert novelty([1.0, 1.0, 0.4]) == 0.2


def test_rounding_errors_do_not_show() -> None:
    """A similarity of a little over 1 is 1."""
    assert novelty([1.0000002]) == 0.0


@given(found=SIMILARITIES)
def test_novelty_is_a_share(found: list[float]) -> None:
    """It is between 0 and 1 for any similarities."""
    assert 0.0 <= novelty(found) <= 1.0


@given(found=SIMILARITIES.filter(bool), nearer=st.floats(0, 1))
def test_nearer_chunks_are_less_novel(found: list[float], nearer: float) -> None:
    """More earlier chunks can only increase similarity and reduce novelty."""
    assert novelty([max(each, nearer) for each in found]) <= novelty(found)
