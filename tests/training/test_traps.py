"""The pairs that judge a semantic cache are well-formed, all different, and enough of each kind."""

from collections import Counter

import pytest

from benchmarks.traps import KINDS, Trap, read_traps
from benchmarks.wording import wording

FEWEST_TRAPS = 60
FEWEST_SAME = 35


@pytest.fixture(scope="module")
def traps() -> list[Trap]:
    """All pairs, read once."""
    return read_traps()


def test_every_pair_is_well_formed(traps: list[Trap]) -> None:
    """Both questions are one trimmed line, the label is 0 or 1, the kind is a known one."""
    for trap in traps:
        for text in (trap.a, trap.b):
            assert text
            assert " ".join(text.split()) == text
            assert text.isprintable()
        assert trap.label in {0, 1}
        assert trap.kind in KINDS


def test_the_file_is_sorted_by_kind_then_label(traps: list[Trap]) -> None:
    """A new pair has one place in the file."""
    places = [(trap.kind, trap.label) for trap in traps]
    assert places == sorted(places)


def test_no_pair_asks_the_same_words_twice(traps: list[Trap]) -> None:
    """An exact look-up would answer two questions that differ in case and signs alone."""
    assert [trap for trap in traps if wording(trap.a) == wording(trap.b)] == []


@pytest.mark.slow
def test_no_pair_is_there_twice(traps: list[Trap]) -> None:
    """Neither in the same order nor reversed."""
    pairs = Counter(frozenset(map(wording, (trap.a, trap.b))) for trap in traps)
    assert [pair for pair, times in pairs.items() if times > 1] == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_enough_pairs_of_both_labels(traps: list[Trap], kind: str) -> None:
    """Too few of a kind, and its share of errors would be chance."""
    labels = Counter(trap.label for trap in traps if trap.kind == kind)
    assert labels[0] >= FEWEST_TRAPS
    assert labels[1] >= FEWEST_SAME


def test_the_set_is_as_large_as_its_docstring_says(traps: list[Trap]) -> None:
    """At least 1,000 traps and 650 pairs that are the same question."""
    labels = Counter(trap.label for trap in traps)
    assert labels[0] >= 1_000
    assert labels[1] >= 650
