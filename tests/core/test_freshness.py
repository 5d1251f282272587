"""Expiry, valid TTLs, and ages in words."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.freshness import (
    DAY,
    DEFAULT_TTL,
    HOUR,
    MAX_TTL,
    NEVER,
    TOOL_TTL_HOURS,
    age_in_words,
    checked_ttl,
    is_expired,
    jittered,
)
from harness.errors import InvalidInput

PROPERTY = settings(deadline=None)


def test_an_entry_is_expired_at_the_very_second_of_its_expiry() -> None:
    """expires_at == now is expired."""
    assert is_expired(1_000.0, 1_000.0)


def test_an_entry_is_fresh_until_just_before_its_expiry() -> None:
    """One representable instant earlier it is still fresh."""
    assert not is_expired(1_000.0, math.nextafter(1_000.0, 0))


def test_an_entry_is_expired_after_its_expiry() -> None:
    """Once past its expiry an entry stays expired."""
    assert is_expired(1_000.0, 1_000.1)


def test_an_entry_created_in_the_future_is_expired() -> None:
    """More than five minutes ahead of a clock that was set back, its age is unknown."""
    assert not is_expired(9_000.0, 1_000.0, 1_300.0)
    assert is_expired(9_000.0, 1_000.0, 1_300.1)


def test_a_permanent_entry_stays_fresh_when_the_clock_is_set_back() -> None:
    """Memories stay."""
    assert not is_expired(NEVER, 1_000.0, 9_000.0)
    assert not is_expired(math.inf, 1_000.0, 9_000.0)


@PROPERTY
@given(expires_at=st.floats(0, 1e11), now=st.floats(0, 1e11), later=st.floats(0, 1e6))
def test_an_expired_entry_stays_expired(expires_at: float, now: float, later: float) -> None:
    """Later times never make an entry fresh again."""
    assert not is_expired(expires_at, now) or is_expired(expires_at, now + later)


def test_the_default_ttl_is_a_day() -> None:
    """24 hours."""
    assert DEFAULT_TTL == 24 * HOUR == DAY


@pytest.mark.parametrize("ttl", [1, 0.001, 86_400, MAX_TTL])
def test_a_positive_finite_number_is_a_ttl(ttl: float) -> None:
    """Seconds up to a century, whole or not, are returned unchanged."""
    assert checked_ttl(ttl) == ttl


@pytest.mark.parametrize(
    "ttl",
    [
        0,
        0.0,
        -0.0,
        -1,
        -1e-9,
        math.nan,
        math.inf,
        -math.inf,
        1e300,
        math.nextafter(MAX_TTL, math.inf),
        10**400,
        -(10**400),
        True,
        False,
        "60",
        "forever",
        None,
        b"60",
        [60],
    ],
    ids=lambda ttl: repr(ttl)[:20],
)
def test_an_invalid_ttl_is_refused_in_one_line(ttl: object) -> None:
    """Zero, negative, NaN, infinite, over a century or not a number: an error with the bounds."""
    with pytest.raises(
        InvalidInput, match=r"^ttl must be more than 0 and at most 3153600000 seconds.*, not \S"
    ) as caught:
        checked_ttl(ttl)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@PROPERTY
@given(st.one_of(st.floats(), st.integers()))
def test_every_number_is_a_ttl_or_invalid_input(ttl: float) -> None:
    """No number raises any other error."""
    try:
        assert 0 < checked_ttl(ttl) <= MAX_TTL
    except InvalidInput:
        assert not 0 < ttl <= MAX_TTL


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "just now"),
        (0, "just now"),
        (59.9, "just now"),
        (60, "1 min ago"),
        (5 * 60 + 30, "5 min ago"),
        (HOUR - 1, "59 min ago"),
        (HOUR, "1 h ago"),
        (2 * HOUR + 600, "2 h ago"),
        (2 * DAY - 1, "47 h ago"),
        (2 * DAY, "2 d ago"),
        (400 * DAY, "400 d ago"),
    ],
)
def test_an_age_is_given_in_words(seconds: float, words: str) -> None:
    """An age is rounded down, and a clock set back counts as now."""
    assert age_in_words(seconds) == words


def test_ttls_are_the_documented_ones() -> None:
    """A day by default; for tool results a day, an hour, a week."""
    assert (HOUR, DAY, DEFAULT_TTL, MAX_TTL) == (3_600, 86_400, 86_400, 3_153_600_000)
    assert TOOL_TTL_HOURS == {"job_search": 24, "web_fetch": 1, "company_research": 168}


def test_jitter_shortens_by_its_share_at_most() -> None:
    """By nothing for the lowest key, by the full share for the highest."""
    keys = ["0" * 64, "8" + "0" * 63, "f" * 64]
    assert [jittered(1_000.0, 0.2, key) for key in keys] == pytest.approx([1_000.0, 900.0, 800.0], abs=1e-6)
