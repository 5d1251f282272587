"""Reading of a query: its words in one form, apart from numbers, dates, negations and other parts that decide the
answer.
"""

import re
import unicodedata
from functools import lru_cache
from types import MappingProxyType

from msgspec import Struct

from harness.core.equivalence.lexicon import (
    BRITISH,
    DIRECTED,
    DISTINCT,
    EMPTY,
    IRREGULAR,
    MONTHS,
    MULTIPLIERS,
    NEGATIONS,
    RELATIVE_TIMES,
    SYNONYMS,
    UNITS,
    WEEKDAYS,
)
from harness.core.equivalence.spelling import (
    MAX_WORDS,
    TOKEN,
    acronyms_in,
    identifiers_in,
    letters_joined,
    names_in,
    plain_text,
    signs_in,
)
from harness.core.text import stem

MAX_CHARS = 10_000
"""Longest text that is read: longer queries are the same only if identical."""
NUMBER = "#"
"""First character of the form of a number, month or day, which is among the words only to keep their order."""

_OPERATOR = re.compile(r"\b(site|filetype|ext|inurl|intitle|intext|lang|language|before|after):\s?(\S+)", re.IGNORECASE)
_EXCLUDED = re.compile(r"(?<!\S)-([^\W\d]\S*)")
_QUOTED = re.compile('["“”«„]([^"“”»„]{2,200})["“”»]')
_RELATIVE = frozenset({"last", "next", "this", "past", "previous"})
_AMBIGUOUS = frozenset("mar dec jan sun sat wed mon".split())
"""Short forms of months and weekdays that are also words or names."""
_PERIODS = frozenset("year month week weekend night decade century summer winter spring autumn season quarter".split())
_DAYS = MappingProxyType({day: RELATIVE_TIMES[day] for day in ("today", "tonight", "tomorrow", "yesterday")})
"""Times that are kept among the words: one day may be compared with another."""
_FIRST_NAMES = frozenset({"may", "will"})
_SCALES = MappingProxyType({"c": "celsius", "celsius": "celsius", "f": "fahrenheit", "fahrenheit": "fahrenheit"})
_MONTH_NAMES = frozenset(MONTHS.values())
_ORDINAL = frozenset({"st", "nd", "rd", "th"})
_AUXILIARY = "is|are|was|were|do|does|did|can|could|will|would|should|has|have"
_SUBJECT = "i|you|he|she|it|we|they|this|that|these|those|there"
_QUESTIONS = (
    ("how many", r"how (?:many|much)\b|number of\b|amount of\b"),
    *((f"how {measure}", rf"how {measure}\b") for measure in "long old far often fast soon deep".split()),
    ("how big", r"how (?:big|large)\b"),
    ("how tall", r"how (?:tall|high)\b"),
    ("how", r"(?:what|which) (?:is|are|would be|will be)? ?(?:the |some |a )?(?:best |easiest |fastest |good |proper )?"
            r"(?:ways?|methods?|steps|process|procedure) (?:to|of|for|by)\b"
            r"|what (?:should|can|must|could|do|to)\b(?: (?:i|we|you|one))?(?: (?:have|need))?(?: to)? do\b"
            r"|(?:ways?|tips|methods|steps) (?:to|for)\b|how\b"),
    ("why", r"why\b|how come\b|(?:what|which) (?:is|are|was|were) the (?:main )?(?:reasons?|causes?)\b"
            r"|what (?:causes?|caused|makes?)\b"),
    ("when", r"when\b|(?:what|which) (?:time|date|day|year|month)\b"),
    ("where", r"where\b|(?:what|which) (?:place|location|website|site)s?\b"),
    ("who", r"who(?:se|m)?\b"),
    ("what", r"what\b|which\b|(?:is|are|was|were) there (?:any|some|a|an)?\b"),
    ("whether", rf"^(?:{_AUXILIARY}|had|may|am|if|whether)\b|\b(?:{_AUXILIARY}) (?:{_SUBJECT})\b"
                r"|\b(?:know|wonder) (?:if|whether)\b"),
)  # fmt: skip
_ASKING = tuple((name, re.compile(pattern)) for name, pattern in _QUESTIONS)


class Word(Struct, frozen=True, gc=False):
    """A content word: as written (lower case), its form for comparison, and whether it was written as a name.

    `before` are the function words between the previous content word and this one, `preposition` is the last
    preposition anywhere before it.
    """

    plain: str
    form: str
    name: bool
    before: tuple[str, ...] = ()
    preposition: str = ""


class Quantity(Struct, frozen=True, gc=False):
    """A number in canonical form (`3.10` stays `3.10`), with its unit, if any."""

    value: str
    unit: str = ""


class Reading(Struct, frozen=True):
    """A parsed query. All parts can be compared between two queries; `whole`: it was read to its end."""

    plain: str
    words: tuple[Word, ...]
    quantities: tuple[Quantity, ...]
    dates: frozenset[str]
    times: frozenset[str]
    negations: int
    asks: frozenset[str]
    is_question: bool
    scope: frozenset[str]
    functions: tuple[str, ...]
    signs: tuple[str, ...]
    identifiers: frozenset[str]
    whole: bool

    @property
    def is_keywords(self) -> bool:
        """Whether it is a list of keywords, whose order means little, rather than a sentence."""
        free = not self.is_question and len(self.words) <= MAX_KEYWORDS
        return free and not _SENTENCE.intersection(self.functions) and not DIRECTED.intersection(self.plain.split())

    @property
    def is_statement(self) -> bool:
        """Whether it says something, instead of asking or listing keywords."""
        return not (self.is_question or self.is_keywords)


MAX_KEYWORDS = 8
_BEFORE_VERBS = frozenset("how where when what need want have has way ways able like used going try order best".split())
_UNSURE = frozenset({"sure", "certain", "know", "understand"})
_SENTENCE = frozenset(
    """
    is are was were be been being am do does did has have had will would shall should can could may might must i he she
    it they we you him them who whom whose which that when while where because although than by as
    """.split()
)
PREPOSITIONS = frozenset(
    "from to into onto in on at of for with without by than before after over under between against through about as "
    "since until during within near via like towards toward inside outside versus vs".split()
)


@lru_cache(maxsize=4_096)
def read(text: str) -> Reading:
    """Parse any `text`, from nothing to binary noise; the result depends on the text alone."""
    text = unicodedata.normalize("NFKC", text[:MAX_CHARS])
    whole = len(text) <= MAX_CHARS
    text = letters_joined(text[:MAX_CHARS])
    scope, text = _scope(text)
    plain = plain_text(text)
    tokens = TOKEN.findall(plain)
    whole = whole and max(len(tokens), len(text.split())) <= MAX_WORDS
    quantities, dates, rest = _values(tokens[:MAX_WORDS])
    names = names_in(text)
    words, functions = _content(rest, names, acronyms_in(text) | (names & _FIRST_NAMES))
    return Reading(
        plain,
        tuple(words),
        tuple(quantities),
        frozenset(dates),
        frozenset(RELATIVE_TIMES[token] for token in rest if token in RELATIVE_TIMES),
        sum(token in NEGATIONS for token in _without_idioms(rest)),
        _asks(plain),
        "?" in text or any(pattern.match(plain) for _, pattern in _ASKING),
        scope,
        functions,
        signs_in(text),
        identifiers_in(text),
        whole,
    )


def _scope(text: str) -> tuple[frozenset[str], str]:
    """Return the search operators, quoted phrases and excluded words, and the text without operators."""
    scope = {f"{name.casefold()}:{value.casefold()}" for name, value in _OPERATOR.findall(text)}
    scope |= {f"-{word.casefold()}" for word in _EXCLUDED.findall(text)}
    text = _OPERATOR.sub(" ", text)
    scope |= {f'"{" ".join(phrase.casefold().split())}"' for phrase in _QUOTED.findall(text)}
    return frozenset(scope), text


def _asks(plain: str) -> frozenset[str]:
    """Return the kinds of question in a text, one per sentence: the first; of two at the same place, the one that is
    first in `_QUESTIONS`.
    """
    kinds = set()
    for sentence in plain.split(" . "):
        found = [
            (match.start(), rank) for rank, (_, pattern) in enumerate(_ASKING) if (match := pattern.search(sentence))
        ]
        if found:
            kinds.add(_ASKING[min(found)[1]][0])
    return frozenset(kinds)


def _values(tokens: list[str]) -> tuple[list[Quantity], set[str], list[str]]:
    """Split tokens into numbers with their units, calendar words, and the rest."""
    quantities: list[Quantity] = []
    dates: set[str] = set()
    rest: list[str] = []
    position = 0
    while position < len(tokens):
        token = tokens[position]
        following = tokens[position + 1] if position + 1 < len(tokens) else ""
        if token[0].isdigit():
            position = _take_number(tokens, position, quantities, dates, rest)
            continue
        if token in _RELATIVE and following in _PERIODS:
            dates.add(f"{token} {following}")
        elif date := _calendar_word(token, following, rest[-1] if rest else ""):
            dates.add(date)
            rest.append(f"{NUMBER}{date}")
        else:
            rest.append(token)
        position += 1
    return quantities, dates, rest


def _take_number(tokens: list[str], position: int, quantities: list[Quantity], dates: set[str], rest: list[str]) -> int:
    """Add the number at `position`, with its unit, to the right list; return the position of the next token."""
    value, position = _number(tokens, position)
    following = tokens[position] if position < len(tokens) else ""
    before = rest[-1] if rest else ""
    if following in UNITS:
        position += 1
        unit = UNITS[following]
        if unit == "degree" and position < len(tokens) and tokens[position] in _SCALES:
            unit = _SCALES[tokens[position]]
            position += 1
        quantities.append(Quantity(value, unit))
    elif before in UNITS and not before.isalpha():  # a currency sign
        rest.pop()
        quantities.append(Quantity(value, UNITS[before]))
    elif following in _ORDINAL:
        position += 1
        if value == "1":
            rest.append("first")
            return position
        dated = before[1:] in _MONTH_NAMES or bool({*tokens[position : position + 2]} & MONTHS.keys())
        quantities.append(Quantity(value, "" if dated else "th"))
    elif len(value) == 4 and value.isdigit() and 1000 <= int(value) <= 2199:
        dates.add(value)
        position += following == "s"
    else:
        quantities.append(Quantity(value))
    rest.append(f"{NUMBER}{value}")
    return position


def _calendar_word(word: str, following: str, before: str) -> str | None:
    """Return the month or weekday that `word` names in this context, if any."""
    if word in {"may", "march"}:
        dated = following[:1].isdigit() or before[:1] == NUMBER or before in {"in", "of", "last", "next"}
        return word if dated else None
    if word in _AMBIGUOUS and not (following[:1].isdigit() or before in {"in", "on", "since", "until", "last", "next"}):
        return None
    return MONTHS.get(word) or WEEKDAYS.get(word)


def _number(tokens: list[str], position: int) -> tuple[str, int]:
    """Parse a number with multipliers ("2 million", "10k"); return it and the position of the next token."""
    value = tokens[position]
    position += 1
    following = tokens[position] if position < len(tokens) else ""
    factor = MULTIPLIERS.get(following) or (int(following) if following in {"1000", "1000000", "1000000000"} else None)
    if factor is None or value.count(".") > 1:
        return value.lstrip("0") or "0" if value.isdigit() else value, position
    whole, _, fraction = value.partition(".")
    shifted = int(whole + fraction) * factor if len(value) < 20 else 0
    scale = 10 ** len(fraction)
    return (str(shifted // scale) if shifted and shifted % scale == 0 else f"{value} {following}"), position + 1


def _content(tokens: list[str], names: frozenset[str], acronyms: frozenset[str]) -> tuple[list[Word], tuple[str, ...]]:
    """Split tokens into content words, each with its preposition, and function words."""
    words: list[Word] = []
    functions: list[str] = []
    before: list[str] = []
    preposition = ""
    for position, token in enumerate(tokens):
        if token in PREPOSITIONS and not _is_infinitive(tokens, position):
            preposition = token
        if token[0] == NUMBER:
            shape, is_name = token, token[1:2].isdigit()
        elif token in _DAYS:
            functions.append(token)
            shape, is_name = f"{NUMBER}{_DAYS[token]}", False
        elif token in acronyms or _is_letter(tokens, position):
            shape, is_name = token, True
        elif token in EMPTY or token in NEGATIONS or token in RELATIVE_TIMES or not token[0].isalnum():
            functions.append(token)
            before.append(token)
            continue
        else:
            shape, is_name = form(token), token in names
        words.append(Word(token, shape, is_name, tuple(before), preposition))
        before.clear()
    return words, tuple(functions)


def _is_infinitive(words: list[str], position: int) -> bool:
    """Return whether a `to` belongs to a verb ("how to")."""
    return words[position] == "to" and position > 0 and words[position - 1] in _BEFORE_VERBS


def _is_letter(words: list[str], position: int) -> bool:
    """Return whether an `a` is a letter ("divide a by b"): an article is followed by a content word."""
    last = position + 1 == len(words)
    return words[position] == "a" and position > 0 and (last or words[position + 1] in PREPOSITIONS)


@lru_cache(maxsize=16_384)
def form(word: str) -> str:
    """Return the form that a word's inflections, spellings and synonyms share."""
    word = IRREGULAR.get(word, word)
    for british, american in BRITISH:
        if word.endswith(british) and len(word) > len(british) + (british != word):
            word = word.removesuffix(british) + american
            break
    stemmed = _stem(word)
    return _GROUPS.get(stemmed) or _GROUPS.get(word) or stemmed


def _stem(word: str) -> str:
    singular = word.removesuffix("s")
    return word if word in DISTINCT else singular if singular in DISTINCT else stem(word)


_GROUPS = {_stem(word): _stem(first) for word, first in SYNONYMS.items()}


def _without_idioms(tokens: list[str]) -> list[str]:
    """Drop negations that negate nothing in question: `… or not`, `why not`, `not only`, `I am not sure`."""
    kept = []
    for position, token in enumerate(tokens):
        before = tokens[position - 1] if position else ""
        after = tokens[position + 1] if position + 1 < len(tokens) else ""
        idle = (before in {"or", "if", "why"} and not after) or after == "only"
        unsure = after in _UNSURE and "i" in tokens[max(0, position - 2) : position]
        if token not in {"not", "no"} or not (idle or unsure):
            kept.append(token)
    return kept
