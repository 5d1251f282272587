"""Guards for two queries in one language other than English.

They ask the same if they have the same content words, numbers and signs in the same order, the same kinds of question,
and the same negations, directions and relations at the same places. Subjects such as "weather" may move; articles,
politeness and inflection may differ. Every objection is a veto: no verifier reads these languages.
"""

from collections import Counter
from collections.abc import Callable

from msgspec import Struct

from harness.core.equivalence.guards import Verdict
from harness.core.equivalence.polarity import MAX_COMPARED
from harness.core.equivalence.word_lists import WordLists, lists_of
from harness.core.equivalence.word_reading import Placed, WordReading, read_words, same_word

MAX_WORDS = 300
"""Longest text that is read, in words, or in characters of scripts without spaces."""


class _Pair(Struct, frozen=True):
    """Two readings with the lists of their language, and the words of each without counterpart on the other."""

    one: WordReading
    two: WordReading
    lists: WordLists
    only_one: list[str]
    only_two: list[str]


def verdicts_in(language: str, a: str, b: str) -> tuple[Verdict, ...]:
    """Return one verdict for each guard."""
    lists = lists_of(language)
    one, two = read_words(a, language), read_words(b, language)
    if max(one.length, two.length) > MAX_WORDS:
        return (refusal("length", "too long to compare"),)
    here, there = (Counter((*side.ordered, *side.subjects, *side.times)) for side in (one, two))
    only_one, only_two = list((here - there).elements()), list((there - here).elements())
    if len(only_one) * len(only_two) > MAX_COMPARED:
        return (refusal("content", "too much differs"),)
    pair = _Pair(one, two, lists, *_without_counterpart(only_one, only_two, lists))
    found = ((name, guard(pair)) for name, guard in _GUARDS.items())
    return tuple(refusal(name, reason) if reason else Verdict(name, True, "") for name, reason in found)


def refusal(guard: str, reason: str) -> Verdict:
    """Return a verdict that rejects a pair, whatever else agrees."""
    return Verdict(guard, False, reason, veto=True)


def _without_counterpart(one: list[str], two: list[str], lists: WordLists) -> tuple[list[str], list[str]]:
    """Return the words of each side that are no form of a word of the other side."""
    only_one, only_two = list(one), list(two)
    for word in one:
        if (other := next((each for each in only_two if same_word(word, each, lists)), None)) is not None:
            only_one.remove(word)
            only_two.remove(other)
    return only_one, only_two


def _content(pair: _Pair) -> str:
    """Content words: each has a counterpart."""
    if words := [word for word in (*pair.only_one, *pair.only_two) if not _is_number(word)]:
        return f"no counterpart for {_listed(words)}"
    empty = not (pair.one.ordered or pair.one.subjects or pair.one.times)
    return "nothing in common but function words" if empty else ""


def _direction(pair: _Pair) -> str:
    """Directions, relations and the order of the words."""
    one, two = pair.one, pair.two
    if Counter(one.directions) != Counter(two.directions):
        return _placed_otherwise(one.directions, two.directions)
    if _relations_clash(one.relations, two.relations):
        return "who or what something belongs to has changed places"
    if pair.only_one or pair.only_two:
        return ""
    if _in_order(one.ordered, two.ordered, pair.lists) and _in_order(one.subjects, two.subjects, pair.lists):
        return ""
    return "words have changed places"


def _in_order(one: tuple[str, ...], two: tuple[str, ...], lists: WordLists) -> bool:
    return len(one) == len(two) and all(same_word(*words, lists) for words in zip(one, two, strict=True))


def _negation(pair: _Pair) -> str:
    """Negations, and words that mean the contrary."""
    one, two = pair.one.negations, pair.two.negations
    if len(one) != len(two):
        return "one is negated, the other is not"
    if one != two:
        return _placed_otherwise(one, two)
    only_one, only_two = (f" {' '.join(words)} " for words in (pair.only_one, pair.only_two))
    for first, second in sorted(pair.lists.opposites):
        if f" {first} " in only_one and f" {second} " in only_two:
            return f"{' / '.join(sorted((first, second)))} are opposites"
    return ""


def _numbers(pair: _Pair) -> str:
    """Numbers: the same on both sides."""
    one, two = ([word for word in words if _is_number(word)] for words in (pair.only_one, pair.only_two))
    if one and two:
        return " / ".join(sorted((_listed(one), _listed(two))))
    return f"only one side has {_listed(one or two)}" if one or two else ""


def _question(pair: _Pair) -> str:
    """Kinds of question and time."""
    if pair.one.kinds == pair.two.kinds:
        return ""
    asked = sorted(", ".join(side.kinds) or "what" for side in (pair.one, pair.two))
    return f"one asks {' / '.join(asked)}"


_GUARDS: dict[str, Callable[[_Pair], str]] = {
    "content": _content,
    "direction": _direction,
    "negation": _negation,
    "numbers": _numbers,
    "question": _question,
}


def _is_number(word: str) -> bool:
    return word[-1].isdecimal()


def _listed(words: list[str] | Counter[str]) -> str:
    return ", ".join(sorted(set(words))[:5])


def _placed_otherwise(one: tuple[Placed, ...], two: tuple[Placed, ...]) -> str:
    """Return how words with a place differ."""
    here, there = (Counter(word for word, _ in placed) for placed in (one, two))
    if here == there:
        return f"{_listed(here)} in another place"
    only = (_listed(here - there), _listed(there - here))
    return " / ".join(sorted(only)) if all(only) else f"only one side has {only[0] or only[1]}"


def _relations_clash(one: tuple[Placed, ...], two: tuple[Placed, ...]) -> bool:
    """Return whether the same relations are at other places, or different ones at the same place."""
    if one != two and sorted(word for word, _ in one) == sorted(word for word, _ in two):
        return True
    places = {place for _, place in one} & {place for _, place in two}
    return any(_at(one, place) != _at(two, place) for place in places)


def _at(placed: tuple[Placed, ...], place: int) -> set[str]:
    return {word for word, each in placed if each == place}
