"""Audits: the pair of queries in its order, and what is wrong with one that was stored."""

import math

import pytest
from msgspec.structs import replace

from harness.core.audits import END_OF_TIME, Audit, flaw, query_key
from harness.core.keys import search_key

SOUND = Audit.of("red cats", "blue dogs", overlap=0.5, similarity=0.9, probability=None, now=1_700_000_000.0)


def test_both_orders_are_one_pair() -> None:
    """In the order of their keys."""
    turned = Audit.of("blue dogs", "red cats", overlap=0.5, similarity=0.9, probability=None, now=1_700_000_000.0)
    assert turned == SOUND
    assert SOUND.keys == tuple(sorted(map(search_key, ("red cats", "blue dogs"))))
    assert (query_key("red cats"), query_key("")) == (search_key("red cats"), "")


def test_a_sound_audit_has_no_flaw() -> None:
    """Bounds belong to it."""
    assert flaw(SOUND, SOUND.keys) == ""
    for fitting in ({"overlap": 0.0}, {"similarity": 1.0}, {"probability": 1.0}, {"created_at": 0.0}):
        assert flaw(replace(SOUND, **fitting), SOUND.keys) == ""


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"overlap": 1.1}, "shares"),
        ({"similarity": -0.1}, "shares"),
        ({"probability": 1.01}, "shares"),
        ({"overlap": math.nan}, "shares"),
        ({"created_at": END_OF_TIME}, "time"),
        ({"created_at": -1.0}, "time"),
        ({"queries": ("red cats", "other dogs")}, "queries"),
        ({"queries": ("", "blue dogs")}, "queries"),
    ],
)
def test_a_damaged_audit_is_named(changes: dict[str, object], said: str) -> None:
    """By what is wrong with it."""
    assert said in flaw(replace(SOUND, **changes), SOUND.keys)


def test_queries_in_the_wrong_order_are_a_flaw() -> None:
    """So are twice the same, and other keys."""
    one, other = SOUND.queries
    assert flaw(replace(SOUND, queries=(other, one)), SOUND.keys)
    assert flaw(replace(SOUND, queries=(one, one)), SOUND.keys)
    assert flaw(SOUND, SOUND.keys[::-1])
