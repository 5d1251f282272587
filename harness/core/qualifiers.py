"""Qualifiers: may, sometimes, some, as … as. A sentence must not claim more than its quotation."""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from harness.core.equivalence.reading import form

_HEDGES = frozenset("may might could possibly perhaps probably likely".split())
_WEAKER = _HEDGES | {"can", "maybe", "sometimes", "often"}
"""Words that weaken a sentence's claim to what its quotation allows."""
_ORDER = ("rarely seldom", "sometimes occasionally", "often frequently", "usually generally mostly typically", "always")
_FREQUENCY = MappingProxyType({word: rank for rank, words in enumerate(_ORDER) for word in words.split()})
_AMOUNTS = ("few", "some several", "many", "most", "all every each")
_AMOUNT = MappingProxyType({word: rank for rank, words in enumerate(_AMOUNTS) for word in words.split()})
_LESS_THAN_USUAL = 1
"""Up to this rank the quotation is about exceptions: a sentence without such a word claims too much."""
_QUALIFIERS = _HEDGES | _FREQUENCY.keys() | _AMOUNT.keys() | {"can", "maybe"}
_PASSED_OVER = frozenset("a an the of be is are was were been do does did also only have has had".split())
"""Words between a qualifier and the word that it qualifies."""
_ONLY = re.compile(r"\bonly\b")
_ALONE = re.compile(r"\b(?:only|solely?|exclusive(?:ly)?|just|alone|single|no other|nothing but|nobody but|merely)\b")
_CAUSES = re.compile(r"\b(?:causes?|caused|causing|leads? to|led to|results? in)\b")
_LINKED = re.compile(r"\b(?:associated|association|linked?|correlat\w+)\b")
_IF = re.compile(r"\b(?:if|when|whenever|unless|provided|only|while|as long as)\b")
_CONDITION = re.compile(r"\b(?:only (?:if|when)|unless|provided that|as long as)\b")
_EQUAL = re.compile(r"\bas (\w+) as\b")
_COMPARED = re.compile(r"\b(?:more|less) (\w+)|\b(\w{3,}?)(?:er) than\b")


def overstatement(sentence: str, quotation: str) -> str | None:
    """Return why `sentence` claims more than `quotation`, or something else; `None` if it does not. Both are plain text
    in lower case (`Reading.plain`).
    """
    said, quoted = dict(_qualified(sentence)), _all_qualified(quotation)
    for word, qualifiers in said.items():
        found = [reason for other in quoted.get(word, ()) if (reason := _claims_more(qualifiers, other))]
        if found and len(found) == len(quoted[word]):
            return found[0]
    if _ONLY.search(sentence) and not _ALONE.search(quotation):
        return "the quotation does not say 'only'"
    if _CAUSES.search(sentence) and _LINKED.search(quotation) and not _CAUSES.search(quotation):
        return "the quotation names no cause"
    if _CONDITION.search(quotation) and not _IF.search(sentence):
        return "the quotation says so only under a condition"
    if equal := _equal_and_compared(sentence, quotation) or _equal_and_compared(quotation, sentence):
        return f"only one of sentence and quotation says 'as {equal} as'"
    return None


def _claims_more(said: frozenset[str], quoted: frozenset[str]) -> str | None:
    if (hedges := quoted & _HEDGES) and said.isdisjoint(_WEAKER):
        return f"the quotation only says {min(hedges)!r}"
    for ranks in (_FREQUENCY, _AMOUNT):
        here, there = _rank(said, ranks), _rank(quoted, ranks)
        if here is not None and there is not None and here != there:
            return f"{_word(said, ranks)!r} is not {_word(quoted, ranks)!r}"
    there = _rank(quoted, _FREQUENCY)
    if there is not None and there <= _LESS_THAN_USUAL and said.isdisjoint(_WEAKER | _FREQUENCY.keys()):
        return f"the quotation only says {_word(quoted, _FREQUENCY)!r}"
    return None


def _rank(qualifiers: frozenset[str], ranks: Mapping[str, int]) -> int | None:
    return min((ranks[word] for word in qualifiers if word in ranks), default=None)


def _word(qualifiers: frozenset[str], ranks: Mapping[str, int]) -> str:
    return min((word for word in qualifiers if word in ranks), key=lambda word: (ranks[word], word))


def _qualified(plain: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each word's form with the qualifiers right before it."""
    pending: set[str] = set()
    for token in plain.split():
        if token in _QUALIFIERS:
            pending.add(token)
        elif token not in _PASSED_OVER:
            yield form(token), frozenset(pending)
            pending.clear()


def _all_qualified(plain: str) -> dict[str, list[frozenset[str]]]:
    found: dict[str, list[frozenset[str]]] = {}
    for word, qualifiers in _qualified(plain):
        found.setdefault(word, []).append(qualifiers)
    return found


def _equal_and_compared(one: str, other: str) -> str | None:
    """Return an adjective that `one` has in "as … as" and `other` only in the comparative."""
    compared = {form(found) for match in _COMPARED.findall(other) for found in match if found}
    equal = {form(word): word for word in _EQUAL.findall(one)}
    also = {form(word) for word in _EQUAL.findall(other)}
    return next((word for key, word in equal.items() if key in compared and key not in also), None)
