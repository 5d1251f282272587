"""Guards: each checks one way in which two similar queries can need different answers.

If both sides say something and it differs, that is a veto. If only one side says it, or words have moved, two queries
may still have one answer: rejected without a verifier, but one that reads both may decide otherwise. So may it for a
reworded question (`NO_VETO_IF_REWORDED`), unless names, quantities or dates differ: rewordings leave out units and
change tense and time.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import permutations
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from harness.core.equivalence import roles
from harness.core.equivalence.comparison import Comparison
from harness.core.equivalence.lexicon import AUDIENCES, EITHER_UNIT, MEASURES, UNITS
from harness.core.equivalence.polarity import MAX_COMPARED, opposite_functions, opposites_among
from harness.core.equivalence.reading import NUMBER, Quantity, Reading, Word


class Verdict(Struct, frozen=True):
    """Result of one guard for a pair, with the reason; `veto` is that of its objection."""

    guard: str
    passed: bool
    reason: str
    veto: bool = False


class Objection(NamedTuple):
    """Reason why two queries may not share an answer. A `veto` holds whatever a verifier says."""

    reason: str
    veto: bool = True


Guard: TypeAlias = Callable[[Comparison], Objection | None]
"""One reason to reject a pair: returns why the two may not share an answer, or `None`. Symmetric: the order of the two
sides never matters.
"""


def numbers(pair: Comparison) -> Objection | None:
    """Numbers, quantities, units and ranges: all must be on both sides, in the same units."""
    counted = ([q for q in side.quantities if not _is_version(q)] for side in (pair.a, pair.b))
    return _measured_otherwise(pair) or _quantities_differ(*counted, reworded=pair.reworded)


def versions(pair: Comparison) -> Objection | None:
    """Versions: numbers with points and no unit, compared part by part, so that 3.1 is not 3.10."""
    named = ([q for q in side.quantities if _is_version(q)] for side in (pair.a, pair.b))
    objection = _quantities_differ(*named, reworded=pair.reworded)
    # a version on only one side: the other means another one; but rewordings have numbers with points of all kinds
    return objection and Objection(objection.reason, veto=objection.veto or not pair.reworded)


def dates(pair: Comparison) -> Objection | None:
    """Dates, months, weekdays, years, and times relative to the present (latest, today, ago)."""
    tense, other = (_tenses(side.functions) for side in (pair.a, pair.b))
    if {tense, other} in ({"past", "present"}, {"past", "future"}):
        reason = f"one asks about the {min(tense, other)}, the other about the {max(tense, other)}"
        return Objection(reason, veto=not pair.reworded)
    one, two = (side.dates | side.times for side in (pair.a, pair.b))
    if not pair.reworded:
        return _differ(one, two)
    passed = [_passed(times) for times in (one, two)]
    one, two = one - passed[0], two - passed[1]
    if not (_circumstances(one) and _circumstances(two)):
        one, two = one - _circumstances(one), two - _circumstances(two)
    past = _differ(*passed) if all(passed) else None
    return _differ(one, two) or (past and Objection(past.reason, veto=False))


def negation(pair: Comparison) -> Objection | None:
    """Negation and polarity: the same number of negations on both sides, and no opposites."""
    if pair.a.negations != pair.b.negations:
        return Objection("one is negated, the other is not")
    if len(pair.rest_a) * len(pair.rest_b) > MAX_COMPARED:
        return Objection("too much differs")
    small_a, small_b = (
        {*side.functions, *(word.plain for word in rest)}
        for side, rest in ((pair.a, pair.rest_a), (pair.b, pair.rest_b))
    )
    if found := opposites_among(pair.rest_a, pair.rest_b) or opposite_functions(small_a, small_b):
        return Objection(f"{_two(*found)} are opposites")
    if turned := roles.turned_opposites(pair):
        return Objection(f"{_two(*turned)} have changed places")
    if exchanged := roles.exchanged_negations(pair):
        return Objection(f"{_two(*exchanged)}: the other one is negated")
    return None


def names(pair: Comparison) -> Objection | None:
    """Names and identifiers that differ; single letters; signs."""
    if wordless := _signs_differ(pair.a, pair.b):
        return wordless
    one, two = (identities(words) for words in (pair.only_a, pair.only_b))
    letters = [word for word in (*one, *two) if len(word) == 1]
    if (one and two) or letters:
        return Objection(f"no counterpart for {_listed((*one, *two))}", veto=bool(one and two) or not pair.reworded)
    return None


def content(pair: Comparison) -> Objection | None:
    """Content on only one side: each word needs a counterpart, above all names and unknown words."""
    lonely = [*identities((*pair.only_a, *pair.only_b)), *(word.plain for word in pair.strange)]
    if lonely:
        return Objection(f"no counterpart for {_listed(lonely)}", veto=False)
    if pair.reworded:
        return None
    if not pair.is_prose and bool(pair.only_a) != bool(pair.only_b):
        return Objection(
            f"only one side mentions {_listed(word.plain for word in pair.only_a or pair.only_b)}", veto=False
        )
    changed, total = len(pair.only_a) + len(pair.only_b), len(pair.a.words) + len(pair.b.words)
    if changed > total * MAX_CHANGED:
        return Objection(
            f"too little in common: {_listed(word.plain for word in (*pair.only_a, *pair.only_b))}", veto=False
        )
    return None


def direction(pair: Comparison) -> Objection | None:
    """Direction and roles: from A to B, A better than B, who does it to whom."""
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
    return None if pair.reworded else _moved(pair)


def scope(pair: Comparison) -> Objection | None:
    """Scope: search operators, quoted phrases and audiences must be on both sides."""
    return _differ(pair.a.scope, pair.b.scope) or _differ(*(_audiences(words) for words in (pair.only_a, pair.only_b)))


def question(pair: Comparison) -> Objection | None:
    """Kind of question: where is not when, and whether something happens is not how."""
    one, two = (side.asks or {"what"} for side in (pair.a, pair.b))
    if pair.reworded or one & two or any(one <= group and two <= group for group in _SAME_QUESTION):
        return None
    return Objection(f"one asks {_two(_listed(one), _listed(two))}", veto=False)


GUARDS: Mapping[str, Guard] = {
    guard.__name__: guard for guard in (numbers, versions, dates, negation, names, content, direction, scope, question)
}
"""The guards by name."""

NO_VETO_IF_REWORDED = frozenset({"negation", "direction"})
"""Guards without a veto for reworded questions (see `Comparison`): events, negations and roles are worded in many ways
("it does not heal", "it refuses to heal").
"""

MAX_CHANGED = 0.5
"""The share of content words without counterpart above which two queries have too little in common."""

_CIRCUMSTANCES = frozenset({"now", "ago", "today", "tonight", "yesterday", "tomorrow"})
_PASSED = frozenset({"ago", "yesterday"})
_OPTIONAL_UNITS = frozenset({"year", "month"})
"""Units that may be omitted."""
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
    """Return the times of circumstances ("my lip swelled up last night") in a long question."""
    return frozenset(time for time in times if time in _CIRCUMSTANCES or " " in time)


def _passed(times: frozenset[str]) -> frozenset[str]:
    """Return past times ("last night"): they are counted in different ways."""
    return frozenset(time for time in times if time in _PASSED or time.startswith("last "))


def _is_version(quantity: Quantity) -> bool:
    return "." in quantity.value and not quantity.unit


def _quantities_differ(a: list[Quantity], b: list[Quantity], *, reworded: bool) -> Objection | None:
    """Return an objection if quantities have no counterpart: equal ones are paired first, then possible ones."""
    sides = unmatched_quantities(a, b, reworded=reworded)
    return _differ(*({f"{q.value} {q.unit}".strip() for q in side} for side in sides))


def unmatched_quantities(
    a: Iterable[Quantity], b: Iterable[Quantity], *, reworded: bool
) -> tuple[list[Quantity], list[Quantity]]:
    """Return the quantities of each side without counterpart on the other; `reworded`: a unit may be omitted."""
    only_a, only_b = (list((one - two).elements()) for one, two in permutations((Counter(a), Counter(b))))
    for one in tuple(only_a):
        if (other := next((two for two in only_b if _may_be_one(one, two, reworded=reworded)), None)) is not None:
            only_a.remove(one)
            only_b.remove(other)
    return only_a, only_b


def _measured_otherwise(pair: Comparison) -> Objection | None:
    """Return an objection if different units of one measure, without numbers, replace each other."""
    one, two = (
        {meant for word in rest if word.plain in UNITS for meant in _meant(UNITS[word.plain])}
        for rest in (pair.rest_a, pair.rest_b)
    )
    for measure in MEASURES:
        if (here := one & measure) and (there := two & measure) and not here & there:
            return Objection(f"{_two(_listed(here), _listed(there))} are different units")
    return None


def _may_be_one(one: Quantity, two: Quantity, *, reworded: bool) -> bool:
    """Return whether two equal numbers have one unit in two words (pounds, lbs), or only one has a unit that may be
    omitted ("aged 30"); any unit may in a rewording.
    """
    if one.value != two.value:
        return False
    if one.unit and two.unit:
        return not _meant(one.unit).isdisjoint(_meant(two.unit))
    return reworded or (one.unit or two.unit) in _OPTIONAL_UNITS


def _meant(unit: str) -> frozenset[str]:
    return EITHER_UNIT.get(unit, frozenset({unit}))


def _differ(a: frozenset[str] | set[str], b: frozenset[str] | set[str]) -> Objection | None:
    """Return an objection if two sets differ: a veto if each has something that the other lacks."""
    if a == b:
        return None
    if a - b and b - a:
        return Objection(f"{_two(_listed(a - b), _listed(b - a))}")
    return Objection(f"only one side has {_listed(a ^ b)}", veto=False)


def _signs_differ(a: Reading, b: Reading) -> Objection | None:
    """Return an objection if signs, identifiers, or, without content words, anything differs."""
    if not (a.words and b.words) and a.plain != b.plain:
        return Objection("nothing in common but function words")
    if a.signs != b.signs:
        return Objection(f"the signs differ: {_two(' '.join(a.signs), ' '.join(b.signs))}")
    return _differ(a.identifiers, b.identifiers) if a.identifiers and b.identifiers else None


def identities(words: Iterable[Word]) -> list[str]:
    """Return the words that no other word can replace: names, single letters, words of another script."""
    return [word.plain for word in words if word.form[0] != NUMBER and _is_identity(word)]


def _is_identity(word: Word) -> bool:
    """Return whether a word is a name, or of another language, which is not parsed: no other word can replace it."""
    return word.name or len(word.plain) == 1 or not (word.plain.isascii() and word.plain.isalnum())


def _audiences(words: Iterable[Word]) -> set[str]:
    return {word.form for word in words if word.preposition == "for" and word.plain in AUDIENCES}


def _two(one: str, two: str) -> str:
    return " / ".join(sorted((one, two)))


def _listed(words: Iterable[str]) -> str:
    return ", ".join(sorted(set(words))[:5])
