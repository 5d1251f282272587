"""Roles: changes of word order and prepositions that reverse a question."""

import re
from itertools import combinations, pairwise
from types import MappingProxyType

from harness.core.equivalence.comparison import MAX_ORDERED, Comparison
from harness.core.equivalence.polarity import opposite
from harness.core.equivalence.reading import NUMBER, PREPOSITIONS, Reading, Word

ACROSS = 3
"""This many counterparts in exactly reversed order are not a compound, but an exchange across the word between them."""

_TO = frozenset({"to", "into", "onto", "toward", "towards"})
_OPPOSED = ((frozenset({"from"}), _TO), (frozenset({"before", "until"}), frozenset({"after", "since"})))
_JOINING = frozenset({"and", "or", "vs", "versus", "between", "/", "&"})
_EQUAL_ROLES = frozenset({"vs", "versus", "between"})
_SUBJECTS = MappingProxyType({"i": "i", "we": "we", "he": "he", "she": "she", "they": "they", "you": "you"})
_OBJECTS = MappingProxyType({"me": "i", "us": "we", "him": "he", "her": "she", "them": "they", "you": "you"})
_WHOM = re.compile(r"\bwho(?:m)? (?:did|does|do)\b")
_FIXED = frozenset({"no", "non", "without"})
_NEGATING = _FIXED | {"not", "never"}
_AT_THE_END = (" not", " never")
_PERSONS = frozenset({*_SUBJECTS, *_OBJECTS, "someone", "somebody", "anyone", "anybody", "everyone", "people"})


def opposed_prepositions(pair: Comparison) -> tuple[str, str, str] | None:
    """Return a word that follows `from` on one side and `to` on the other, with the two prepositions."""
    for one, two in _counterparts(pair):
        for roles in _OPPOSED:
            if _side(one, roles) * _side(two, roles) < 0:
                return one.plain, one.preposition, two.preposition
    return None


def exchanged_prepositions(pair: Comparison) -> tuple[str, str] | None:
    """Return two words that have exchanged their prepositions."""
    roles: dict[tuple[str, str], str] = {}
    for one, two in _counterparts(pair):
        here, there = one.preposition, two.preposition
        if here == there or not _EQUAL_ROLES.isdisjoint((here, there)):
            continue
        if other := roles.get((there, here)):
            return one.plain, other
        roles[here, there] = one.plain
    return None


def exchanged_negations(pair: Comparison) -> tuple[str, str] | None:
    """Return two words, both on both sides, of which each side negates a different one.

    `not` may be before a neighbour: "why isn't pluto a planet" is "why is pluto not a planet".
    """
    here, there = ([len(pair.pairs)] * side.plain.endswith(_AT_THE_END) for side in (pair.a, pair.b))
    for place, (one, two) in enumerate(_counterparts(pair)):
        first, second = (not _NEGATING.isdisjoint(word.before) for word in (one, two))
        if first != second:
            (here if first else there).append(place)
    if not (here and there) or (abs(here[-1] - there[-1]) == 1 and _may_move(pair)):
        return None
    words = [*(one.plain for one, _ in _counterparts(pair)), "the end"]
    return words[here[-1]], words[there[-1]]


def _may_move(pair: Comparison) -> bool:
    return not any(_FIXED.intersection(side.functions) for side in (pair.a, pair.b))


def exchanged_pronouns(pair: Comparison) -> bool:
    """Return whether actor and object are exchanged ("does she love him", "does he love her")."""
    (acting, undergoing), (acting_b, undergoing_b) = (
        ({_SUBJECTS[word] for word in side.functions if word in _SUBJECTS},
         {_OBJECTS[word] for word in side.functions if word in _OBJECTS})
        for side in (pair.a, pair.b)
    )  # fmt: skip
    return acting != acting_b and bool(acting & undergoing_b) and bool(undergoing & acting_b)


def exchanged_persons(pair: Comparison) -> str | None:
    """Return a word after a different person on each side, though both sides have the same persons ("if you block
    him").
    """
    one, two = (sorted(_PERSONS.intersection(side.functions)) for side in (pair.a, pair.b))
    if len(one) < 2 or one != two:
        return None
    for here, there in _counterparts(pair):
        acting, other = (_PERSONS.intersection(word.before) for word in (here, there))
        if acting and other and acting.isdisjoint(other):
            return here.plain
    return None


def only_one_asks_for_the_actor(pair: Comparison) -> bool:
    """Return whether one side asks who did it, the other to whom it was done ("who sued x", "who did x sue")."""
    one, two = ("who" in side.asks and bool(_WHOM.search(side.plain)) for side in (pair.a, pair.b))
    return one != two and pair.a.asks == pair.b.asks


def only_one_is_passive(pair: Comparison) -> bool:
    """Return whether only one side has a `by` between the same two words ("acquired by x", "acquired x")."""
    for (first, first_b), (second, second_b) in pairwise(pair.pairs):
        if second - first == second_b - first_b == 1:
            one, two = ("by" in side.words[place].before for side, place in ((pair.a, second), (pair.b, second_b)))
            if one != two and (pair.a.words[first] if one else pair.b.words[first_b]).plain.endswith("ed"):
                return True
    return False


def turned_opposites(pair: Comparison) -> tuple[str, str] | None:
    """Return two opposites, or two numbers, in reversed order."""
    for (here, there), (later_here, earlier_there) in combinations(pair.pairs[:MAX_ORDERED], 2):
        one, two = pair.a.words[here], pair.a.words[later_here]
        if earlier_there > there or one.form == two.form:
            continue
        numbers = one.form[0] == two.form[0] == NUMBER
        if opposite(one, two) or (numbers and not _may_turn(pair, (here, later_here), (there, earlier_there))):
            return one.plain.lstrip(NUMBER), two.plain.lstrip(NUMBER)
    return None


def exchanged_across(pair: Comparison) -> bool:
    """Return whether two words have moved to the other side of a third. Long keyword queries may."""
    keywords = pair.a.is_keywords and pair.b.is_keywords
    return not (keywords and len(pair.pairs) > ACROSS) and is_reversed(pair)


def is_reversed(pair: Comparison) -> bool:
    """Return whether three words are in reversed order ("dog bit man")."""
    # pairs of a place in b and the number of counterparts up to it in reversed order
    reversed_until: list[tuple[int, int]] = []
    for _, place in pair.pairs[:MAX_ORDERED]:
        longest = max((length for other, length in reversed_until if other > place), default=0)
        reversed_until.append((place, 1 + longest))
    return any(length >= ACROSS for _, length in reversed_until)


def changed_places(pair: Comparison) -> tuple[str, str] | None:
    """Return two words that have swapped places across others, all others being in place.

    Neighbours may ("apps for education", "education apps"), and so may words joined by "and" or "or", and keywords.
    """
    if any(not _JOINING.isdisjoint(side.functions) for side in (pair.a, pair.b)):
        return None
    if pair.a.is_keywords and pair.b.is_keywords:
        return None
    if turned := _turned_names(pair):
        return turned
    moved = [(place_a, place_b) for place_a, place_b in pair.pairs if place_a != place_b]
    if len(moved) != 2 or moved[0] != moved[1][::-1]:
        return None
    first, second = moved[0]
    later = max(first, second)
    linked, apart = (not PREPOSITIONS.isdisjoint(side.words[later].before) for side in (pair.a, pair.b))
    if abs(first - second) == 1 and linked != apart:  # a compound: "apps for education", "education apps"
        return None
    return pair.a.words[first].plain, pair.a.words[second].plain


def _counterparts(pair: Comparison) -> list[tuple[Word, Word]]:
    return [(pair.a.words[place_a], pair.b.words[place_b]) for place_a, place_b in pair.pairs]


def _side(word: Word, roles: tuple[frozenset[str], frozenset[str]]) -> int:
    return (word.preposition in roles[0]) - (word.preposition in roles[1])


def _may_turn(pair: Comparison, here: tuple[int, int], there: tuple[int, int]) -> bool:
    """Return whether two numbers may swap: parts of a date may ("20 june", "june 20"), and so may keywords that keep
    their numbers.
    """
    neighbours = abs(here[0] - here[1]) == abs(there[0] - there[1]) == 1
    if neighbours and len({pair.a.words[place].form[1:].isalpha() for place in here}) == 2:
        return True
    keywords = pair.a.is_keywords and pair.b.is_keywords
    return keywords and all(
        _form_before(pair.a, a) == _form_before(pair.b, b) for a, b in zip(here, there, strict=True)
    )


def _form_before(side: Reading, place: int) -> str:
    return side.words[place - 1].form if place else ""


def _turned_names(pair: Comparison) -> tuple[str, str] | None:
    """Return two names, or numbers, in reversed order."""
    named = [(place_b, pair.a.words[place_a]) for place_a, place_b in pair.pairs if pair.a.words[place_a].name]
    for (place, one), (following, two) in pairwise(named):
        if following < place and one.form != two.form:
            return one.plain.lstrip(NUMBER), two.plain.lstrip(NUMBER)
    return None
