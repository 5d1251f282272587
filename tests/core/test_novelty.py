"""How much a round added."""

from hypothesis import given
from hypothesis import strategies as st

from harness.core.novelty import novelty

SIMILARITIES = st.lists(st.floats(-1.001, 1.001), max_size=20)


def test_the_first_round_is_all_new() -> None:
    """Where nothing is held, nothing is near."""
    assert novelty([0.0, 0.0]) == 1.0


def test_a_round_that_found_nothing_adds_nothing() -> None:
    """No chunk: novelty 0."""
    assert novelty([]) == 0.0


def test_novelty_is_the_mean_distance() -> None:
    """What is held already counts as nothing new, beside what is far."""
    assert novelty([1.0, 1.0, 0.4]) == 0.2


def test_rounding_of_vectors_does_not_show() -> None:
    """A similarity of a little over 1 is 1."""
    assert novelty([1.0000002]) == 0.0


@given(found=SIMILARITIES)
def test_novelty_is_a_share(found: list[float]) -> None:
    """It lies between 0 and 1, whatever the similarities are."""
    assert 0.0 <= novelty(found) <= 1.0


@given(found=SIMILARITIES.filter(bool), nearer=st.floats(0, 1))
def test_what_is_nearer_is_less_new(found: list[float], nearer: float) -> None:
    """Holding more can only bring what is found nearer, and takes from novelty."""
    assert novelty([max(each, nearer) for each in found]) <= novelty(found)
