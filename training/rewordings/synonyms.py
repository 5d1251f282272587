"""Words and phrases that may be exchanged in nearly every question."""

import re
from collections.abc import Iterator, Sequence

from training.rewordings.exchange import ABOUT_WORDS, Exchange, both_ways, is_name, neighbour
from training.rewordings.inflection import VerbForms, noun_forms, verb_forms
from training.rewordings.synonym_lists import NOUNS, PHRASES, VERBS

_BEFORE_BASE = frozenset(
    """
    to i you we they can could should would will may might must do does did don't doesn't didn't can't couldn't not
    never always people one someone anyone and or cannot won't i'll best easily quickly
    """.split()
)
_BEFORE_THIRD = frozenset("it he she who that which what one".split())
_QUANTITIES = frozenset("a an the my your his her our their some any this that these those".split())


def _table() -> tuple[dict[str, tuple[str, ...]], frozenset[str], frozenset[str]]:
    """Return the whole table, the base forms and the third persons of its verbs."""
    lines: list[str] = []
    base: set[str] = set()
    third: set[str] = set()
    for sign, group in _groups(VERBS):
        forms = [verb_forms(verb) for verb in group]
        for form in forms if "=" in sign else forms[:1]:
            lines.extend(_exchanges(form, [other for other in forms if other != form]))
        base.update(form[0] for form in forms)
        third.update(form[1] for form in forms)
    for sign, group in _groups(NOUNS):
        lines.extend(sign.join(dict.fromkeys(row)) for row in zip(*(noun_forms(noun) for noun in group), strict=True))
    return both_ways("\n".join(lines) + PHRASES), frozenset(base), frozenset(third)


def _exchanges(form: VerbForms, others: list[VerbForms]) -> Iterator[str]:
    """Give the lines that exchange the forms of one verb, but those that might be of two tenses: `quit`, `selected`."""
    base, third, past, participle, ing = range(5)
    for tense in (base, third, past, participle, ing):
        if tense in {past, participle} and form[past] == form[base]:
            continue
        sure = [other for other in others if tense not in {past, participle} or _as_sure(form, other)]
        if sure:
            yield " > ".join([form[tense], *(other[tense] for other in sure)])


def _as_sure(form: VerbForms, other: VerbForms) -> bool:
    """Return whether a past form of one verb determines the right form of the other."""
    return form[2] != form[3] or other[2] == other[3]


def _groups(text: str) -> list[tuple[str, list[str]]]:
    return [
        (" > " if ">" in line else " = ", [part.strip() for part in re.split("[=>]", line)])
        for line in text.strip().splitlines()
    ]


_TABLE, _BASE, _THIRD = _table()


def _may_stand(pieces: Sequence[str], start: int, end: int) -> bool:
    """Allow a verb where a verb stands, a noun where none does, and no part of a name."""
    if is_name(pieces, start):
        return False
    before, after = neighbour(pieces, start, -1), neighbour(pieces, end - 1, 1)
    if after[:1].isupper() and before[:1].isupper() and after != "I":
        return False
    found = "".join(pieces[start:end]).lower()
    if found in _BASE:
        if after.lower() in {"in", "of"}:
            return False
        return before.lower() in _BEFORE_BASE or (start == 0 and after.lower() in _QUANTITIES)
    if found in _THIRD:
        return before.lower() in _BEFORE_THIRD
    return True


SYNONYMS = Exchange("synonyms", _TABLE, _may_stand, ABOUT_WORDS)
"""Exchanges one or two words or phrases by synonyms, with their inflections."""
