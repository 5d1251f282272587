"""Terms of a question that an answer must be about: years, versions, numbers, names."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from msgspec import Struct

from harness.core.calendar_words import DAYS, MONTH, MONTHS
from harness.core.equivalence.reading import form
from harness.core.equivalence.spelling import names_in
from harness.core.nationalities import with_nationality
from harness.core.worded_numbers import words_of

_TERM = re.compile(r"(?<![\w.])v?\d[\d.,]*\d(?![\w])|(?<![\w.,])\d{3,}(?!\w)")
"""Numbers of at least two digits, and versions: small counts ("the 3 kinds") are often part of the wording."""
_AROUND = ".,;:!?()[]{}\"'“”’"
"""Signs around a word, as `names_in` removes them."""
_WORD = re.compile(r"\w+")
_SMALL = 10
_NUMBER = re.compile(r"(?<![\w.])v?(\d[\d.,]*\d|\d)(?!\w)")
_NUMBERED = re.compile(r"(?<![^\W\d_])([^\W\d_][\w+#-]{0,40})[ /-](?:version |v)?(\d[\d.]*)(?!\w)", re.IGNORECASE)
"""A word and the number after it, as in "Python 3.12"; bounded, as its time would grow with the square of a word."""
_VERSION = re.compile(r"\b(?:of|in|with|for|to|from|since|until|the) version (\d[\d.]*)(?!\w)", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\d.])(?:19|20)\d\d(?![\d.]*\d)")
_SPAN = re.compile(r"(?<!\d)((?:19|20)\d\d)(?: ?[-–] ?| to | through |(?<=between \d{4}) and )((?:19|20)\d\d)(?!\d)")
"""The years of "2000-2009", "from 2000 to 2009", "between 2000 and 2009"."""
_OPEN = re.compile(
    r"\b(?P<word>before|prior to|after) (?:the )?(?:(?P<edge>start|beginning|end) of (?:the )?)?"
    rf"(?:(?P<month>{MONTH}) (?:\d{{1,2}},? )?)?(?P<year>(?:19|20)\d\d)(?![\d.]*\d)(?! [a-z]+s\b)",
    re.IGNORECASE,
)
"""The years of "before 2020", "after April 1977", "before the end of 2018"."""
_BOUND = re.compile(r"a year (before|after) (\d{4})")
_UNNUMBERED = frozenset("a after an at before between by for from in of on or since than the to until".split())
"""Words before a number that it does not belong to."""
_KINDLESS = frozenset(
    """
    language system database library framework tool software program programming project product version release series
    model device machine brand company corporation group team family people person city town country state region area
    place name term word concept idea thing way method approach technique algorithm function command statement keyword
    option package module class type style format file code book film movie song game website site page article paper
    study report three four five first second third
    """.split()
)
"""Words after a name that say little: texts about the name leave them out."""
MIN_KIND = 4
"""Fewest letters of a kind of thing."""
MAX_TERMS, MAX_TERM = 8, 30
"""Most terms of a question, and characters of one."""


def required_terms(question: str) -> tuple[str, ...]:
    """Return the first years, versions and other numbers above ten of a question, each once; years of a span as
    "2000-2009", "a year before 2020" or "a year after 2020". Never raises.
    """
    spans = [f"{first}-{last}" for first, last in _SPAN.findall(question)]
    rest = _SPAN.sub(" ", question)
    spans += map(_bound_of, _OPEN.finditer(rest))
    found = (match[0].strip(".,").removeprefix("v") for match in _TERM.finditer(_OPEN.sub(" ", rest)))
    terms = dict.fromkeys(term for term in found if len(term) <= MAX_TERM and ("." in term or _above(term)))
    return tuple(dict.fromkeys([*spans, *terms]))[:MAX_TERMS]


def _bound_of(found: re.Match[str]) -> str:
    """Return the bound of an open span; the year itself is within it if only a part of that year is named."""
    after, edge = found["word"].casefold() == "after", (found["edge"] or "").casefold()
    is_within = bool(found["month"]) or (edge in {"start", "beginning"} if after else edge == "end")
    year = int(found["year"]) + (-is_within if after else is_within)
    return f"a year {'after' if after else 'before'} {year}"


def required_names(question: str) -> tuple[str, ...]:
    """Return the first names of a question, each once: words with a capital letter that does not begin a sentence,
    neighbours together ("New York"); not those of months and days. Never raises.
    """
    names = names_in(question)
    words = [word.strip(_AROUND).removesuffix("'s").removesuffix("’s") for word in question.split()]
    groups = groupby(words, key=lambda word: len(word) > 1 and word.casefold() in names)
    terms = dict.fromkeys(" ".join(group) for is_name, group in groups if is_name)
    terms = {term: None for term in terms if term.casefold() not in {*MONTHS, *DAYS}}
    return tuple(term for term in terms if len(term) <= MAX_TERM)[:MAX_TERMS]


def lacking_names(names: Iterable[str], text: str) -> tuple[str, ...]:
    """Return those of `names` of which `text` has no word: for a country also no nationality. Never raises."""
    held = text.casefold()

    def has(word: str) -> bool:
        return re.search(rf"(?<!\w)(?:{'|'.join(map(re.escape, with_nationality(word)))})(?!\w)", held) is not None

    return tuple(name for name in names if not any(map(has, _WORD.findall(name.casefold()))))


def lacking(terms: Iterable[str], text: str) -> tuple[str, ...]:
    """Return those of `terms` that `text` does not have. A version is met by one of its releases (3.12 by 3.12.1), a
    number also with other separators (1,000 by 1000) and, up to 99, in words (11 by "eleventh"), but never as a part of
    another number; a span of years by one of them. Never raises.
    """
    held = _joined(text)
    return tuple(term for term in terms if not (_has_year(term, held) or _has_number(term, held)))


def _has_number(term: str, held: str) -> bool:
    written = [
        rf"(?<![\d.]){re.escape(_joined(term))}(?!\d)",
        *(rf"(?<![\w-]){word}(?![\w-])" for word in words_of(term)),
    ]
    return re.search("|".join(written), held, re.IGNORECASE) is not None


def _has_year(span: str, held: str) -> bool:
    """Return whether a text has a year of a span as `required_terms` writes it."""
    years = set(map(int, _YEAR.findall(held)))
    if closed := _SPAN.fullmatch(span):
        return any(int(closed[1]) <= year <= int(closed[2]) for year in years)
    if not (bound := _BOUND.fullmatch(span)):
        return False
    word, year = bound[1], int(bound[2])
    if years and (max(years) > year if word == "after" else min(years) < year):
        return True
    says_before = re.search(rf"\b(?:before|prior to|until) (?:\w+ )?{year}\b", held, re.IGNORECASE)
    return word == "before" and says_before is not None


def named_things(question: str) -> tuple[tuple[str, str], ...]:
    """Return the things that a question names by a name and their kind, both apart: "the Halden tunnel", "the Halden
    Tunnel". Kinds that texts leave out ("the Python language") do not count. Never raises.
    """
    found = dict[tuple[str, str], None]()
    for name in required_names(question):
        *begin, last = name.split()
        after = re.search(rf"\b(?:the|an?) {re.escape(name)} ([^\W\d_]+)\b", question, re.IGNORECASE)
        if after:
            found[name, after[1]] = None
        if begin:
            found[" ".join(begin), last] = None
    return tuple((name, kind) for name, kind in found if len(kind) >= MIN_KIND and not _KINDLESS & _singular(kind))


def lacking_things(things: Iterable[tuple[str, str]], texts: Sequence[str]) -> tuple[str, ...]:
    """Return those of `things` (name and kind) that none of `texts` is about: none has the kind in any form, and one
    has a thing of another kind with the name ("Halden Bridge" where a tunnel is asked for). Never raises.
    """
    return tuple(
        thing if len(thing := f"{name} {kind}") <= MAX_TERM else kind[:MAX_TERM]
        for name, kind in things
        if any(re.search(rf"(?<!\w){re.escape(name)} [A-Z][a-z]{{2,}}", text) for text in texts)
        and not _has_kind(kind.casefold(), texts)  # takes longer
    )


def _singular(kind: str) -> set[str]:
    return {kind.casefold(), kind.casefold().removesuffix("s")}


def _has_kind(kind: str, texts: Sequence[str]) -> bool:
    meant, held = form(kind), [text.casefold() for text in texts]
    if any(kind.removesuffix("s") in text for text in held):
        return True
    return any(form(word) == meant for word in {word for text in held for word in _WORD.findall(text)})


def is_of_time(term: str) -> bool:
    """Return whether a required term is a year or a span of years. Never raises."""
    return any(kind.fullmatch(term) for kind in (_YEAR, _SPAN, _BOUND))


def names_year(text: str) -> bool:
    """Return whether a text has a year. Never raises."""
    return _YEAR.search(text) is not None


def all_numbers(question: str) -> tuple[str, ...]:
    """Return every number of a question, also the small ones, each once. Never raises."""
    found = (match[1].strip(".,") for match in _NUMBER.finditer(question))
    return tuple(dict.fromkeys(number for number in found if len(number) <= MAX_TERM))[:MAX_TERMS]


def lacking_words(names: Iterable[str], text: str) -> tuple[str, ...]:
    """Return those of `names` of which `text` lacks a word. Stricter than `lacking_names`. Never raises."""
    held = set(_WORD.findall(text.casefold()))

    def has(word: str) -> bool:
        return not held.isdisjoint(with_nationality(word))

    return tuple(name for name in names if not all(map(has, _WORD.findall(name.casefold()))))


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
        spans = [term for term in required_terms(question) if not _YEAR.fullmatch(term)]
        within = {year for year in _YEAR.findall(text) if any(_has_year(span, year) for span in spans)}
        rivals += [year for year in _YEAR.findall(text) if year not in years | within]
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
