"""Opposites: words, function words and parts of words that turn a question round."""

from collections.abc import Iterable

from harness.core.equivalence.lexicon import NEGATING_PREFIXES, OPPOSITES
from harness.core.equivalence.reading import Word, form

MIN_SHARED = 3
"""So many letters two words must share beside the parts that oppose each other."""
MAX_COMPARED = 2_500
"""Of more pairs of changed words than these, nothing is known."""

_OPPOSITE_FORMS = frozenset(frozenset(map(form, pair)) for pair in OPPOSITES) - {
    frozenset((form(word),)) for pair in OPPOSITES for word in pair
}
_BEGINNINGS = (
    ("hyper", "hypo"), ("pre", "post"), ("intra", "inter"), ("in", "out"), ("over", "under"), ("maxim", "minim"),
    ("macro", "micro"), ("up", "down"), ("pro", "anti"), ("mono", "poly"), ("sub", "super"),
)  # fmt: skip
_ENDINGS = (("ful", "less"),)
_FUNCTIONS = tuple(
    tuple(pair.split("/"))
    for pair in """
    on/off in/out into/out to/out up/down many/few over/under above/under above/below over/below before/after
    with/without for/against
    """.split()
)


def opposites_among(a: Iterable[Word], b: Iterable[Word]) -> tuple[str, str] | None:
    """Return a word of `a` and its opposite in `b`, as written, if there are such."""
    others = tuple(b)
    for one in a:
        for two in others:
            if opposite(one, two):
                return one.plain, two.plain
    return None


def opposite(a: Word, b: Word) -> bool:
    """Say whether two words mean the opposite of each other."""
    if frozenset((a.plain, b.plain)) in OPPOSITES or frozenset((a.form, b.form)) in _OPPOSITE_FORMS:
        return True
    return any(_negates(one, two) or _parts_oppose(one, two) for one, two in ((a.plain, b.plain), (b.plain, a.plain)))


def opposite_functions(a: set[str], b: set[str]) -> tuple[str, str] | None:
    """Return a function word that only `a` has and its opposite that only `b` has, if there are such."""
    for pair in _FUNCTIONS:
        for one, two in (pair, pair[::-1]):
            if one in a - b and two in b - a:
                return one, two
    return None


def _negates(one: str, two: str) -> bool:
    return len(two) >= MIN_SHARED and any(one == prefix + two for prefix in NEGATING_PREFIXES)


def _parts_oppose(one: str, two: str) -> bool:
    for first, second in _BEGINNINGS:
        shared = one.removeprefix(first)
        if len(one) > len(shared) >= MIN_SHARED and second + shared == two:
            return True
    for first, second in _ENDINGS:
        shared = one.removesuffix(first)
        if len(one) > len(shared) >= MIN_SHARED and shared + second == two:
            return True
    return False
