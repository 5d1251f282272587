"""The guards: each knows one way in which two queries that look alike ask for different answers, and objects to it.

What both sides say, and say otherwise, is a veto. Where only one side says something, or words stand in other places,
two queries may still have one answer: without a verifier it is refused as well, but one that reads both may know
better. So may it where a question is told anew (`TOLD_ANEW`), unless what is named, counted or dated is another: who
tells a story leaves out units, and tells when it happened, in any tense.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import permutations
from typing import NamedTuple, Protocol

from msgspec import Struct

from harness.core.equivalence import roles
from harness.core.equivalence.comparison import Comparison
from harness.core.equivalence.lexicon import AUDIENCES, EITHER_UNIT, MEASURES, UNITS
from harness.core.equivalence.polarity import MAX_COMPARED, opposite_functions, opposites_among
from harness.core.equivalence.reading import NUMBER, Quantity, Reading, Word


class Verdict(Struct, frozen=True):
    """What one guard says of a pair, and why; `veto` is that of its objection."""

    guard: str
    passed: bool
    reason: str
    veto: bool = False


class Objection(NamedTuple):
    """Why two queries may not share an answer. A `veto` stands whatever a verifier says of them."""

    reason: str
    veto: bool = True


class Guard(Protocol):
    """One reason to refuse. Symmetric: the order of the two sides never matters."""

    name: str

    def objection(self, pair: Comparison) -> Objection | None:
        """Return why the two may not share an answer, or `None`."""


class Numbers:
    """Numbers, quantities, units and ranges: all of them stand on both sides, and none is measured in another unit."""

    name = "numbers"

    def objection(self, pair: Comparison) -> Objection | None:
        """See `Guard.objection`."""
        counted = ([q for q in side.quantities if not _is_version(q)] for side in (pair.a, pair.b))
        return _measured_otherwise(pair) or _quantities_differ(*counted, retold=pair.retold)


class Versions:
    """Versions: numbers with points and no unit, compared part by part, so that 3.1 is not 3.10."""

    name = "versions"

    def objection(self, pair: Comparison) -> Objection | None:
        """See `Guard.objection`."""
        named = ([q for q in side.quantities if _is_version(q)] for side in (pair.a, pair.b))
        told = _quantities_differ(*named, retold=pair.retold)
        # where only one names its version, the other means another; but a story has numbers with points of all kinds
        return told and Objection(told.reason, veto=told.veto or not pair.retold)


class Dates:
    """Dates, months, weekdays, years, and times that depend on when one asks (latest, today, ago)."""

    name = "dates"

    def objection(self, pair: Comparison) -> Objection | None:
        """See `Guard.objection`."""
        tense, other = (_tenses(side.functions) for side in (pair.a, pair.b))
        if {tense, other} in ({"past", "present"}, {"past", "future"}):
            reason = f"one asks about the {min(tense, other)}, the other about the {max(tense, other)}"
            return Objection(reason, veto=not pair.retold)
        one, two = (side.dates | side.times for side in (pair.a, pair.b))
        if not pair.retold:
            return _differ(one, two)
        passed = [_passed(times) for times in (one, two)]
        one, two = one - passed[0], two - passed[1]
        if not (_circumstances(one) and _circumstances(two)):
            one, two = one - _circumstances(one), two - _circumstances(two)
        told = _differ(*passed) if all(passed) else None
        return _differ(one, two) or (told and Objection(told.reason, veto=False))


class Negation:
    """Negation and polarity: as many negations on both sides, and no word opposite its opposite."""

    name = "negation"

    def objection(self, pair: Comparison) -> Objection | None:
        """See `Guard.objection`."""
        if pair.a.negations != pair.b.negations:
            return Objection("one is negated, the other is not")
        if len(pair.rest_a) * len(pair.rest_b) > MAX_COMPARED:
            return Objection("too much differs")
        if found := opposites_among(pair.rest_a, pair.rest_b) or opposite_functions(*map(_small_words, _sides(pair))):
            return Objection(f"{_two(*found)} are opposites")
        if turned := roles.turned_opposites(pair):
            return Objection(f"{_two(*turned)} have changed places")
        if exchanged := roles.exchanged_negations(pair):
            return Objection(f"{_two(*exchanged)}: the other one is negated")
        return None


class Names:
    """Names and identifiers: what is named in place of what the other side names; single letters; signs."""

    name = "names"

    def objection(self, pair: Comparison) -> Objection | None:
        """See `Guard.objection`."""
        if wordless := _signs_differ(pair.a, pair.b):
            return wordless
        one, two = (identities(words) for words in (pair.only_a, pair.only_b))
        letters = [word for word in (*one, *two) if len(word) == 1]
        if (one and two) or letters:
            return Objection(f"no counterpart for {_listed((*one, *two))}", veto=bool(one and two) or not pair.retold)
        return None


class Content:
    """Content that only one side has: each word needs a counterpart, a name or strange word above all."""

    name = "content"

    def objection(self, pair: Comparison) -> Objection | None:
        """See `Guard.objection`."""
        lonely = [*identities((*pair.only_a, *pair.only_b)), *(word.plain for word in pair.strange)]
        if lonely:
            return Objection(f"no counterpart for {_listed(lonely)}", veto=False)
        if pair.retold:
            return None
        if not pair.is_prose and bool(pair.only_a) != bool(pair.only_b):
            return Objection(
                f"only one side speaks of {_listed(word.plain for word in pair.only_a or pair.only_b)}", veto=False
            )
        changed, total = len(pair.only_a) + len(pair.only_b), len(pair.a.words) + len(pair.b.words)
        if changed > total * MAX_CHANGED:
            return Objection(
                f"too little in common: {_listed(word.plain for word in (*pair.only_a, *pair.only_b))}", veto=False
            )
        return None


class Direction:
    """Direction and roles: from A to B, A better than B, who does it to whom."""

    name = "direction"

    def objection(self, pair: Comparison) -> Objection | None:
        """See `Guard.objection`."""
        for place_a, place_b in pair.pairs:
            one, two = pair.a.words[place_a], pair.b.words[place_b]
            if ("than" in one.before) != ("than" in two.before):
                return Objection(f"only one side compares with {one.plain!r}")
        if opposed := roles.opposed_prepositions(pair):
            return Objection(f"{opposed[0]!r} stands after {_two(*opposed[1:])}")
        if roles.only_one_asks_for_the_actor(pair) or roles.only_one_is_passive(pair):
            return Objection("one asks who does it, the other to whom it is done")
        if roles.exchanged_pronouns(pair) or roles.exchanged_persons(pair):
            return Objection("who acts and who is acted on have changed places")
        return None if pair.retold else _moved(pair)


class Scope:
    """Scope: search operators, quoted phrases and audiences stand on both sides."""

    name = "scope"

    def objection(self, pair: Comparison) -> Objection | None:
        """See `Guard.objection`."""
        return _differ(pair.a.scope, pair.b.scope) or _differ(
            *(_audiences(words) for words in (pair.only_a, pair.only_b))
        )


class Question:
    """What is asked for: where is not when, and whether something happens is not how it does."""

    name = "question"

    def objection(self, pair: Comparison) -> Objection | None:
        """See `Guard.objection`."""
        one, two = (side.asks or {"what"} for side in (pair.a, pair.b))
        if pair.retold or one & two or any(one <= group and two <= group for group in _SAME_QUESTION):
            return None
        return Objection(f"one asks {_two(_listed(one), _listed(two))}", veto=False)


GUARDS: tuple[Guard, ...] = (
    Numbers(),
    Versions(),
    Dates(),
    Negation(),
    Names(),
    Content(),
    Direction(),
    Scope(),
    Question(),
)

TOLD_ANEW = frozenset({"negation", "direction"})
"""Guards without a veto where a question is told anew (see `Comparison`): what happened, what did not, and to whom is
told by everybody otherwise ("it does not heal", "it refuses to heal").
"""

MAX_CHANGED = 0.5
"""The share of content words without counterpart above which two queries have too little in common."""

_TOLD = frozenset({"now", "ago", "today", "tonight", "yesterday", "tomorrow"})
_PASSED = frozenset({"ago", "yesterday"})
_UNSAID = frozenset({"year", "month"})
"""Units that one may leave out."""
_PAST = frozenset({"was", "were", "did"})
_FUTURE = frozenset({"will", "shall"})
_PRESENT = frozenset({"is", "are", "do", "does", "am"})
_SAME_QUESTION = (frozenset({"what", "who"}), frozenset({"what", "how many"}))


def _tenses(functions: tuple[str, ...]) -> str:
    past, present = (not tense.isdisjoint(functions) for tense in (_PAST, _PRESENT))
    if not (past or present):
        return "" if _FUTURE.isdisjoint(functions) else "future"
    return "both" if past and present else "past" if past else "present"


def _moved(pair: Comparison) -> Objection | None:
    if exchanged := roles.exchanged_prepositions(pair) or roles.changed_places(pair):
        return Objection(f"{_two(*exchanged)} have changed places", veto=False)
    return Objection("words have changed places", veto=False) if roles.exchanged_across(pair) else None


def _circumstances(times: frozenset[str]) -> frozenset[str]:
    """Return the times of what an asker went through ("my lip swelled up last night"), where that is told at length."""
    return frozenset(time for time in times if time in _TOLD or " " in time)


def _passed(times: frozenset[str]) -> frozenset[str]:
    """Return those of them that are over ("last night"): everybody counts them otherwise."""
    return frozenset(time for time in times if time in _PASSED or time.startswith("last "))


def _is_version(quantity: Quantity) -> bool:
    return "." in quantity.value and not quantity.unit


def _quantities_differ(a: list[Quantity], b: list[Quantity], *, retold: bool) -> Objection | None:
    """Say which quantities have no counterpart on the other side: the same ones first, then those that may be."""
    sides = unmatched_quantities(a, b, retold=retold)
    return _differ(*({f"{q.value} {q.unit}".strip() for q in side} for side in sides))


def unmatched_quantities(
    a: Iterable[Quantity], b: Iterable[Quantity], *, retold: bool
) -> tuple[list[Quantity], list[Quantity]]:
    """Return the quantities of each side that have no counterpart on the other; `retold`: one may leave out a unit."""
    only_a, only_b = (list((one - two).elements()) for one, two in permutations((Counter(a), Counter(b))))
    for one in tuple(only_a):
        if (other := next((two for two in only_b if _may_be_one(one, two, retold=retold)), None)) is not None:
            only_a.remove(one)
            only_b.remove(other)
    return only_a, only_b


def _measured_otherwise(pair: Comparison) -> Objection | None:
    """Say which units of one measure stand alone, without a number, in the place of each other."""
    one, two = (
        {meant for word in rest if word.plain in UNITS for meant in _meant(UNITS[word.plain])}
        for rest in (pair.rest_a, pair.rest_b)
    )
    for measure in MEASURES:
        if (here := one & measure) and (there := two & measure) and not here & there:
            return Objection(f"{_two(_listed(here), _listed(there))} are different units")
    return None


def _may_be_one(one: Quantity, two: Quantity, *, retold: bool) -> bool:
    """Say whether two equal numbers have one unit in two words (pounds, lbs), or only one of them names its unit, which
    goes without saying ("aged 30"), as any may in a story.
    """
    if one.value != two.value:
        return False
    if one.unit and two.unit:
        return not _meant(one.unit).isdisjoint(_meant(two.unit))
    return retold or (one.unit or two.unit) in _UNSAID


def _meant(unit: str) -> frozenset[str]:
    return EITHER_UNIT.get(unit, frozenset({unit}))


def _differ(a: frozenset[str] | set[str], b: frozenset[str] | set[str]) -> Objection | None:
    """Say what only one of two sets has: a veto if each has something that the other has not."""
    if a == b:
        return None
    if a - b and b - a:
        return Objection(f"{_two(_listed(a - b), _listed(b - a))}")
    return Objection(f"only one side has {_listed(a ^ b)}", veto=False)


def _signs_differ(a: Reading, b: Reading) -> Objection | None:
    """Say what differs beside the words: signs, identifiers, and everything where there are no content words."""
    if not (a.words and b.words) and a.plain != b.plain:
        return Objection("nothing in common but function words")
    if a.signs != b.signs:
        return Objection(f"the signs differ: {_two(' '.join(a.signs), ' '.join(b.signs))}")
    return _differ(a.identifiers, b.identifiers) if a.identifiers and b.identifiers else None


def identities(words: Iterable[Word]) -> list[str]:
    """Return the words for which no other word stands: names, single letters, words of another script."""
    return [word.plain for word in words if word.form[0] != NUMBER and _is_identity(word)]


def _is_identity(word: Word) -> bool:
    """Say whether a word is a name, or of another language, which is not read: no other word stands for it."""
    return word.name or len(word.plain) == 1 or not (word.plain.isascii() and word.plain.isalnum())


def _audiences(words: Iterable[Word]) -> set[str]:
    return {word.form for word in words if word.preposition == "for" and word.plain in AUDIENCES}


def _sides(pair: Comparison) -> tuple[tuple[Reading, tuple[Word, ...]], tuple[Reading, tuple[Word, ...]]]:
    return (pair.a, pair.rest_a), (pair.b, pair.rest_b)


def _small_words(side: tuple[Reading, tuple[Word, ...]]) -> set[str]:
    """Return the function words of a side, and its words without counterpart."""
    reading, rest = side
    return {*reading.functions, *(word.plain for word in rest)}


def _two(one: str, two: str) -> str:
    return " / ".join(sorted((one, two)))


def _listed(words: Iterable[str]) -> str:
    return ", ".join(sorted(set(words))[:5])
