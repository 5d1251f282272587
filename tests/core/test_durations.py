"""Durations: one syntax everywhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.durations import UNITS, is_bare, seconds_in, spelled
from harness.core.freshness import MAX_TTL
from harness.errors import InvalidInput


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90), ("15m", 900), ("12h", 43_200), ("1.5h", 5_400), ("90d", 7_776_000), ("2 W", 1_209_600),
        ("1y", 31_536_000), (" 7d ", 604_800), ("0", 0), ("0d", 0), ("0.25s", 0.25),
    ],
)  # fmt: skip
def test_a_number_and_its_unit_are_read(text: str, seconds: float) -> None:
    """Upper or lower case, with a space or without, whole or not."""
    assert seconds_in(text) == seconds


@pytest.mark.parametrize("text", ["", "d", "-1d", "٩d", "90d90d", "1e3s", "nan", "inf", "soon", "1 d x", "7 moons"])
def test_an_invalid_duration_is_refused(text: str) -> None:
    """No value is mistaken for another duration; the message shows the syntax."""
    with pytest.raises(InvalidInput, match="15m, 24h or 7d"):
        seconds_in(text)


@pytest.mark.parametrize("text", ["101y", "999999y", "99999d"])
def test_a_duration_is_at_most_a_century(text: str) -> None:
    """The message says so: the notation is right."""
    with pytest.raises(InvalidInput, match=f"at most a century .*, not {text}"):
        seconds_in(text)


def test_a_bare_number_needs_a_default_unit() -> None:
    """It gets the usual unit of its option; without one it is an error, with suggestions."""
    assert seconds_in("48", bare="h") == 48 * 3_600
    assert is_bare("48")
    assert not is_bare("48h")
    with pytest.raises(InvalidInput, match="write 48h for hours or 48d for days"):
        seconds_in("48")


@given(st.floats(0, MAX_TTL / UNITS["y"] / 2).map(lambda number: round(number, 9)), st.sampled_from("smhdwy"))
def test_every_duration_can_be_spelled(number: float, unit: str) -> None:
    """Formatted and parsed again, it is the same duration, to 12 digits."""
    seconds = seconds_in(f"{number:.9f}{unit}")
    assert seconds_in(f"{seconds:.9f}s") == pytest.approx(seconds, abs=1e-8)
    if seconds >= 1:
        assert seconds_in(spelled(round(seconds))) == round(seconds)
