"""Terms of a question that an answer must be about: years, versions, numbers, names."""

import re
from collections.abc import Iterable
from itertools import groupby

from msgspec import Struct

from harness.core.equivalence.spelling import names_in

_TERM = re.compile(r"(?<![\w.])v?\d[\d.,]*\d(?![\w])|(?<![\w.,])\d{3,}(?!\w)")
"""Numbers of at least two digits, and versions: small counts ("the 3 kinds") are often part of the wording."""
_AROUND = ".,;:!?()[]{}\"'“”’"
"""Signs around a word, as `names_in` removes them."""
_WORD = re.compile(r"\w+")
_SMALL = 10
_NUMBER = re.compile(r"(?<![\w.])v?(\d[\d.,]*\d|\d)(?!\w)")
_NUMBERED = re.compile(r"([^\W\d_][\w+#-]*)[ /-](?:version |v)?(\d[\d.]*)(?!\w)", re.IGNORECASE)
"""A word and the number after it, as in "Python 3.12"."""
_VERSION = re.compile(r"\b(?:of|in|with|for|to|from|since|until|the) version (\d[\d.]*)(?!\w)", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\d.])(?:19|20)\d\d(?![\d.]*\d)")
_UNNUMBERED = frozenset("a after an at before between by for from in of on or since than the to until".split())
"""Words before a number that it does not belong to."""
MAX_TERMS, MAX_TERM = 8, 30
"""Most terms of a question, and characters of one."""


def required_terms(question: str) -> tuple[str, ...]:
    """Return the first years, versions and other numbers above ten of a question, each once. Never raises."""
    found = (match[0].strip(".,").removeprefix("v") for match in _TERM.finditer(question))
    terms = dict.fromkeys(term for term in found if len(term) <= MAX_TERM and ("." in term or _above(term)))
    return tuple(terms)[:MAX_TERMS]


def required_names(question: str) -> tuple[str, ...]:
    """Return the first names of a question, each once: words with a capital letter that does not begin a sentence,
    neighbours together ("New York"). Never raises.
    """
    names = names_in(question)
    words = [word.strip(_AROUND).removesuffix("'s").removesuffix("’s") for word in question.split()]
    groups = groupby(words, key=lambda word: len(word) > 1 and word.casefold() in names)
    terms = dict.fromkeys(" ".join(group) for is_name, group in groups if is_name)
    return tuple(term for term in terms if len(term) <= MAX_TERM)[:MAX_TERMS]


def lacking_names(names: Iterable[str], text: str) -> tuple[str, ...]:
    """Return those of `names` of which `text` has no word. Never raises."""
    held = text.casefold()

    def has(word: str) -> bool:
        return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", held) is not None

    return tuple(name for name in names if not any(map(has, _WORD.findall(name.casefold()))))


def lacking(terms: Iterable[str], text: str) -> tuple[str, ...]:
    """Return those of `terms` that `text` does not have. A version is met by one of its releases (3.12 by 3.12.1), a
    number also with other separators (1,000 by 1000), but never as a part of another number. Never raises.
    """
    held = _joined(text)
    return tuple(term for term in terms if not re.search(rf"(?<![\d.]){re.escape(_joined(term))}(?!\d)", held))


def all_numbers(question: str) -> tuple[str, ...]:
    """Return every number of a question, also the small ones, each once. Never raises."""
    found = (match[1].strip(".,") for match in _NUMBER.finditer(question))
    return tuple(dict.fromkeys(number for number in found if len(number) <= MAX_TERM))[:MAX_TERMS]


def lacking_words(names: Iterable[str], text: str) -> tuple[str, ...]:
    """Return those of `names` of which `text` lacks a word. Stricter than `lacking_names`. Never raises."""
    held = set(_WORD.findall(text.casefold()))
    return tuple(name for name in names if not held.issuperset(_WORD.findall(name.casefold())))


class TermCheck(Struct, frozen=True, kw_only=True):
    """Terms of a question that a text `lacks`, numbers and names, and the `rivals` of these that it mentions."""

    lacks: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        """Whether it has every number and name of the question, and none that could be taken for one."""
        return not self.lacks and not self.rivals


def lacking_terms(question: str, text: str) -> tuple[str, ...]:
    """Return the numbers and names of a question that a text does not have. Never raises."""
    return lacking(all_numbers(question), text) + lacking_words(required_names(question), text)


def rival_terms(question: str, text: str) -> tuple[str, ...]:
    """Return the terms of a text that could be taken for those of the question: another number after the same
    word (Python 3.11 for Python 3.12), or another year for a question with a year. Never raises.
    """
    asked: dict[str, set[str]] = {}
    for word, number in _numbered(question):
        asked.setdefault(word, set()).add(number)
    rivals = [
        f"{word} {number}"
        for word, number in _numbered(text)
        if word in asked and not any(_is_release(number, each) for each in asked[word])
    ]
    if years := set(_YEAR.findall(question)):
        rivals += [year for year in _YEAR.findall(text) if year not in years]
    return tuple(dict.fromkeys(rivals))[:MAX_TERMS]


def _numbered(text: str) -> list[tuple[str, str]]:
    found = [(match[1].casefold(), match[2].rstrip(".")) for match in _NUMBERED.finditer(text)]
    found += [("version", match[1].rstrip(".")) for match in _VERSION.finditer(text)]
    return [(word, number) for word, number in found if word not in _UNNUMBERED and len(number) <= MAX_TERM]


def _is_release(number: str, of: str) -> bool:
    return number == of or number.startswith(f"{of}.")


def _above(term: str) -> bool:
    digits = re.sub(r"\D", "", term)
    return len(digits) > 1 and (len(digits) > 15 or int(digits) > _SMALL)


def _joined(text: str) -> str:
    return re.sub(r"(?<!\d)(\d{1,3})((?:,\d{3})+)(?![\d])", lambda found: found[1] + found[2].replace(",", ""), text)
