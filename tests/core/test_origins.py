"""Origins selected by a filter."""

import pytest

from harness.core.origins import CHOICES, EVERY, OWN, origins_of
from harness.errors import InvalidInput


def test_a_filter_names_origins() -> None:
    """`own` is users and agents; every other word is itself."""
    assert OWN == origins_of("own") == ("user", "agent")
    assert EVERY == origins_of("all") == ("user", "agent", "evaluation", "experiment", "run")
    assert [origins_of(each) for each in EVERY] == [(each,) for each in EVERY]
    assert ("own", *EVERY, "all") == CHOICES


@pytest.mark.parametrize("choice", ["", "User", "nobody" * 100])
def test_any_other_word_is_refused(choice: str) -> None:
    """The error lists the choices, and quotes at most one line of the wrong one."""
    with pytest.raises(InvalidInput, match="choose own, user") as refused:
        origins_of(choice)
    assert len(str(refused.value)) < 160
