"""Redundancy of sentences in a report: what earlier ones have already said.

A report is read from its beginning, so that what a sentence is worth depends on those before it (maximal marginal
relevance, Carbonell and Goldstein 1998). What is new in a sentence shows best in its details: names, numbers and dates.
"""

from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal, InvalidOperation

from harness.core.answer_kinds import kind_of_answer
from harness.core.disagreement import agree
from harness.core.equivalence.reading import NUMBER, Quantity, read
from harness.core.foreign_text import is_english
from harness.core.support import supports

_MOST_WORDS = 0.7
"""Least share (0..1) of the words of a sentence without details that an earlier one has."""
_MOST_DAYS = 31
_SHORT = 2
"""Digits of numbers that different things have."""
_FIGURED = frozenset({"number", "time"})
"""Kinds of answers that are figures."""


def adds_nothing(sentence: str, question: str, earlier: str) -> bool:
    """Return whether an earlier sentence has all names, numbers and dates of a sentence that the question lacks; if
    there are none, whether it has most of its words and supports it. Where all of them are figures, the question must
    ask for one: the same figure may be of something else. What contradicts the earlier one is new, and so is all that
    is in another language than English, whose names and negations do not show. Never raises.
    """
    if not (is_english(sentence) and is_english(earlier)):
        return False
    details = {word.form for word in read(sentence).words if word.name or word.form.startswith(NUMBER)}
    details -= _forms(question)
    if all(each.startswith(NUMBER) for each in details) and details and kind_of_answer(question) not in _FIGURED:
        return False
    if not details <= _forms(earlier):
        return False
    support = supports(sentence, earlier, context=question, shared=_MOST_WORDS)
    return not support.contradicted if details else support.supported


def restates_figure(sentence: str, question: str, earlier: Sequence[str]) -> bool:
    """Return whether the question asks for a number or a time, and a sentence gives one that `earlier` ones about it
    have: a number of the first, which opens the answer (a single digit only if it has no other), a number of any with
    its unit or of more than two digits, rounded, too; or nothing but dates of the first. A negated sentence gives none.
    Never raises.
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
    dates = _dates(sentence) - _dates(question)
    return kind == "time" and bool(dates) and bool(earlier) and dates <= _dates(earlier[0])


def share_said(stems: Collection[str], earlier: Iterable[Collection[str]]) -> float:
    """Return the share (0..1) of the stems of a text that the most similar of the earlier texts has; 0 without any."""
    return max((sum(stem in held for stem in stems) / max(1, len(stems)) for held in earlier), default=0.0)


def _forms(text: str) -> set[str]:
    return {word.form for word in read(text).words}


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


def _dates(text: str) -> set[str]:
    """Return the years, months and weekdays of a text, and, after or before a month, its days."""
    dates = set(read(text).dates)
    if any(map(str.isalpha, dates)):
        values = (each.value for each in read(text).quantities)
        dates |= {value for value in values if value.isdecimal() and int(value) <= _MOST_DAYS}
    return dates
