"""Redundancy of sentences in a report: what earlier ones have already said.

A report is read from its beginning, so that what a sentence is worth depends on those before it (maximal marginal
relevance, Carbonell and Goldstein 1998). What is new in a sentence shows best in its details: names, numbers and dates.
"""

from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal, InvalidOperation

from harness.core.answer_kinds import kind_of_answer
from harness.core.disagreement import agree
from harness.core.equivalence.reading import NUMBER, Quantity, Word, read
from harness.core.foreign_text import is_english
from harness.core.support import supports

_MOST_WORDS = 0.7
"""Least share (0..1) of the words of a sentence without details that an earlier one has."""
_MOST_DAYS = 31
_SHORT = 2
"""Digits of numbers that different things have."""
_FIGURED = frozenset({"number", "time", "version"})
"""Kinds of answers that are figures."""


def adds_nothing(sentence: str, question: str, earlier: str) -> bool:
    """Return whether an earlier sentence says all that a sentence says: it has its names, numbers and dates, those of
    the question aside, or, if there are none, most of its words, and supports it. Never raises.

    If all of them are numbers or dates, the question must ask for one: the same number may be of something else. What
    contradicts the earlier sentence is new. So is all that is not in English: names and negations of other languages
    are not known.
    """
    if not (is_english(sentence) and is_english(earlier)):
        return False
    words, said, asked = (read(text).words for text in (sentence, earlier, question))
    details = {each.form for each in words if each.name or each.form.startswith(NUMBER)} - _forms(asked)
    if details:
        is_figure = all(each.startswith(NUMBER) for each in details)
        if (is_figure and kind_of_answer(question) not in _FIGURED) or not details <= _forms(said):
            return False
        return not supports(sentence, earlier, context=question).contradicted
    if share_said(_forms(words), [_forms(said)]) < _MOST_WORDS:  # for most pairs that is enough, and faster
        return False
    return supports(sentence, earlier, context=question, shared=_MOST_WORDS).supported


def restates_figure(sentence: str, question: str, earlier: Sequence[str]) -> bool:
    """Return whether a question asks for a number, a time or versions, and a sentence gives one that `earlier`
    sentences about it have. Never raises.

    A number counts if the first of them has it, which opens the answer (a single digit only if that has no other
    number), or if any has it, perhaps rounded, with its unit or with more than two digits. Of dates, the sentence has
    none that the first lacks; of versions, none that all lack. A negated sentence gives none.
    """
    if read(sentence).negations:
        return False
    kind = kind_of_answer(question)
    if kind == "number":
        given, *said = (_new_quantities(text, question) for text in (sentence, *earlier))
        opening = {each.value for each in said[0]} if said else set()
        if any(each.value in opening and (len(each.value) > 1 or len(opening) == 1) for each in given):
            return True
        telling = [each for each in given if each.unit or len(each.value) > _SHORT]
        return any(_is_same(one, other) for one in telling for held in said for other in held)
    if kind == "version":
        versions = _versions(sentence) - _versions(question)
        return bool(versions) and versions <= set[str]().union(*map(_versions, earlier))
    dates = _dates(sentence) - _dates(question)
    return kind == "time" and bool(dates) and bool(earlier) and dates <= _dates(earlier[0])


def share_said(stems: Collection[str], earlier: Iterable[Collection[str]]) -> float:
    """Return the share (0..1) of the stems of a text that the most similar of the earlier texts has; 0 without any."""
    return max((sum(stem in held for stem in stems) / max(1, len(stems)) for held in earlier), default=0.0)


def _forms(words: Iterable[Word]) -> set[str]:
    return {word.form for word in words}


def _new_quantities(text: str, question: str) -> list[Quantity]:
    """Return the quantities of a text whose numbers the question lacks."""
    asked = {each.value for each in read(question).quantities}
    return [each for each in read(text).quantities if each.value not in asked]


def _is_same(one: Quantity, other: Quantity) -> bool:
    """Return whether two quantities have one unit, and numbers of which one may be the other, rounded."""
    if one.unit != other.unit:
        return False
    try:
        return agree(Decimal(one.value), Decimal(other.value))
    except InvalidOperation:  # a version
        return one.value == other.value


def _versions(text: str) -> set[str]:
    """Return the numbers of a text that have several parts ("3.10"); all of them if none has."""
    numbers = {each.value for each in read(text).quantities}
    return {each for each in numbers if "." in each} or numbers


def _dates(text: str) -> set[str]:
    """Return the years, months and weekdays of a text, and, after or before a month, its days."""
    dates = set(read(text).dates)
    if any(map(str.isalpha, dates)):
        values = (each.value for each in read(text).quantities)
        dates |= {value for value in values if value.isdecimal() and int(value) <= _MOST_DAYS}
    return dates
