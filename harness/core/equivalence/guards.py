"""The guards: each knows one way in which two queries that look alike ask for different answers, and vetoes it."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import Protocol

from msgspec import Struct

from harness.core.equivalence.comparison import Comparison, opposites
from harness.core.equivalence.lexicon import AUDIENCES, NEGATING_PREFIXES
from harness.core.equivalence.reading import NUMBER, PREPOSITIONS, Quantity, Word


class Verdict(Struct, frozen=True):
    """What one guard says of a pair, and why."""

    guard: str
    passed: bool
    reason: str


class Guard(Protocol):
    """One reason to refuse. Symmetric: the order of the two sides never matters."""

    name: str

    def objection(self, pair: Comparison) -> str | None:
        """Return why the two may not share an answer, or `None`."""


class Numbers:
    """Numbers, quantities, units and ranges: all of them stand on both sides."""

    name = "numbers"

    def objection(self, pair: Comparison) -> str | None:
        """See `Guard.objection`."""
        return _quantities_differ(*([q for q in side.quantities if not _is_version(q)] for side in (pair.a, pair.b)))


class Versions:
    """Versions: numbers with points and no unit, compared part by part, so that 3.1 is not 3.10."""

    name = "versions"

    def objection(self, pair: Comparison) -> str | None:
        """See `Guard.objection`."""
        return _quantities_differ(*([q for q in side.quantities if _is_version(q)] for side in (pair.a, pair.b)))


class Dates:
    """Dates, months, weekdays, years, and times that depend on when one asks (latest, today, ago)."""

    name = "dates"

    def objection(self, pair: Comparison) -> str | None:
        """See `Guard.objection`."""
        one, two = (_tenses(side.functions) for side in (pair.a, pair.b))
        if {one, two} == {"past", "present"}:
            return "one asks about the past, the other about the present"
        return _differ(pair.a.dates | pair.a.times, pair.b.dates | pair.b.times)


class Negation:
    """Negation and polarity: as many negations on both sides, and no word opposite its opposite."""

    name = "negation"

    def objection(self, pair: Comparison) -> str | None:
        """See `Guard.objection`."""
        if pair.a.negations != pair.b.negations:
            return "one is negated, the other is not"
        for one in pair.only_a:
            for two in pair.only_b:
                if opposites(one, two) or _negates(one.plain, two.plain) or _negates(two.plain, one.plain):
                    return f"{_two(one.plain, two.plain)} are opposites"
        return _differ(*({f for f in side.functions if f in _POLAR} for side in (pair.a, pair.b)))


class Names:
    """Names and identifiers, and content that only one side has: each needs a counterpart."""

    name = "names"

    def objection(self, pair: Comparison) -> str | None:
        """See `Guard.objection`."""
        alone = [word for word in (*pair.only_a, *pair.only_b) if word.form[0] != NUMBER]
        if lonely := [word.plain for word in alone if word.name or len(word.plain) == 1]:
            return f"no counterpart for {_listed(lonely)}"
        if not pair.is_prose and bool(pair.only_a) != bool(pair.only_b):
            return f"only one side speaks of {_listed(word.plain for word in pair.only_a or pair.only_b)}"
        changed, total = len(pair.only_a) + len(pair.only_b), len(pair.a.words) + len(pair.b.words)
        if changed > total * MAX_CHANGED:
            return f"too little in common: {_listed(word.plain for word in (*pair.only_a, *pair.only_b))}"
        return None


class Direction:
    """Direction and roles: from A to B, A better than B, who does it to whom."""

    name = "direction"

    def objection(self, pair: Comparison) -> str | None:
        """See `Guard.objection`."""
        for place_a, place_b in pair.pairs:
            one, two = pair.a.words[place_a], pair.b.words[place_b]
            for roles in _OPPOSED:
                if _sides(one, roles) and _sides(two, roles) and _sides(one, roles) != _sides(two, roles):
                    return f"{one.plain!r} stands after {_two(one.preposition, two.preposition)}"
            if ("than" in one.before) != ("than" in two.before):
                return f"only one side compares with {one.plain!r}"
        return _changed_places(pair)


class Scope:
    """Scope: search operators, quoted phrases and audiences stand on both sides."""

    name = "scope"

    def objection(self, pair: Comparison) -> str | None:
        """See `Guard.objection`."""
        return _differ(pair.a.scope, pair.b.scope) or _differ(
            *(_audiences(words) for words in (pair.only_a, pair.only_b))
        )


class Question:
    """What is asked for: where is not when, and whether something happens is not how it does."""

    name = "question"

    def objection(self, pair: Comparison) -> str | None:
        """See `Guard.objection`."""
        one, two = (side.asks or {"what"} for side in (pair.a, pair.b))
        if pair.is_prose or one & two or any(one <= group and two <= group for group in _SAME_QUESTION):
            return None
        return f"one asks {_two(_listed(one), _listed(two))}"


GUARDS: tuple[Guard, ...] = (Numbers(), Versions(), Dates(), Negation(), Names(), Direction(), Scope(), Question())

MAX_CHANGED = 0.5
"""The share of content words without counterpart above which two queries have too little in common."""

_POLAR = frozenset({"before", "after", "over", "under", "above", "below"})
_PAST = frozenset({"was", "were", "did"})
_PRESENT = frozenset({"is", "are", "do", "does", "am"})
_TO = frozenset({"to", "into", "onto", "toward", "towards"})
_OPPOSED = ((frozenset({"from"}), _TO), (frozenset({"before", "until"}), frozenset({"after", "since"})))
_JOINING = frozenset({"and", "or", "vs", "versus", "between", "/", "&"})
_SAME_QUESTION = (frozenset({"what", "who"}), frozenset({"what", "how many"}))


def _tenses(functions: tuple[str, ...]) -> str:
    past, present = (not tense.isdisjoint(functions) for tense in (_PAST, _PRESENT))
    return "both" if past and present else "past" if past else "present" if present else ""


def _is_version(quantity: Quantity) -> bool:
    return "." in quantity.value and not quantity.unit


def _quantities_differ(a: list[Quantity], b: list[Quantity]) -> str | None:
    if Counter(a) == Counter(b):
        return None
    return _differ(*({f"{q.value} {q.unit}".strip() for q in side} for side in (a, b))) or "a number stands twice"


def _differ(a: frozenset[str] | set[str], b: frozenset[str] | set[str]) -> str | None:
    """Say what only one of two sets has."""
    if a == b:
        return None
    if a - b and b - a:
        return f"{_two(_listed(a - b), _listed(b - a))}"
    return f"only one side has {_listed(a ^ b)}"


def _negates(one: str, two: str) -> bool:
    return len(two) > 2 and any(one == prefix + two for prefix in NEGATING_PREFIXES)


def _audiences(words: Iterable[Word]) -> set[str]:
    return {word.form for word in words if word.preposition == "for" and word.plain in AUDIENCES}


def _sides(word: Word, roles: tuple[frozenset[str], frozenset[str]]) -> int:
    return (word.preposition in roles[0]) - (word.preposition in roles[1])


def _changed_places(pair: Comparison) -> str | None:
    """Object when all words stand in the same places, but for two that have changed theirs across others.

    Neighbours may ("apps for education", "education apps"), and so may what "and" or "or" joins.
    """
    moved = [(place_a, place_b) for place_a, place_b in pair.pairs if place_a != place_b]
    if any(_JOINING & {*side.functions} for side in (pair.a, pair.b)):
        return None
    if pair.a.is_keywords and pair.b.is_keywords:
        return None
    if turned := _turned_names(pair):
        return f"{_two(*turned)} have changed places"
    if len(moved) != 2 or moved[0] != moved[1][::-1]:
        return None
    (first, second), words = moved[0], pair.a.words
    later = max(first, second)
    linked, apart = (not PREPOSITIONS.isdisjoint(side.words[later].before) for side in (pair.a, pair.b))
    if abs(first - second) == 1 and linked != apart:  # a compound: "apps for education", "education apps"
        return None
    return f"{_two(words[first].plain, words[second].plain)} have changed places"


def _turned_names(pair: Comparison) -> tuple[str, str] | None:
    """Return two names, or numbers, that follow each other the other way round."""
    named = [(place_b, pair.a.words[place_a]) for place_a, place_b in pair.pairs if pair.a.words[place_a].name]
    for (place, one), (following, two) in pairwise(named):
        if following < place and one.form != two.form:
            return one.plain.lstrip(NUMBER), two.plain.lstrip(NUMBER)
    return None


def _two(one: str, two: str) -> str:
    return " / ".join(sorted((one, two)))


def _listed(words: Iterable[str]) -> str:
    return ", ".join(sorted(set(words))[:5])
