"""Reading a query: its words in one form, with what steers the answer (numbers, dates, negation, …) told apart."""

import re
import unicodedata
from functools import lru_cache

from msgspec import Struct
from text_to_num import alpha2digit

from harness.core.equivalence.lexicon import (
    BRITISH,
    CONTRACTED,
    CONTRACTIONS,
    DIRECTED,
    EMPTY,
    IMPLIED,
    IRREGULAR,
    MONTHS,
    MULTIPLIERS,
    NEGATIONS,
    POLITE,
    PRONOUN_BEFORE,
    RELATIVE_TIMES,
    SYNONYMS,
    UNITS,
    WEEKDAYS,
)
from harness.core.text import stem

MAX_CHARS = 10_000
"""What stands behind these is not read: two queries are then the same only if they are identical."""
MAX_WORDS = 400
NUMBER = "#"
"""Begins the form of a number, which stands among the words only for their order's sake."""

_OPERATOR = re.compile(r"\b(site|filetype|ext|inurl|intitle|intext|lang|language|before|after):\s?(\S+)", re.IGNORECASE)
_QUOTED = re.compile('["“”«„]([^"“”»„]{2,200})["“”»]')
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_COUNTRY = re.compile(r"\bU\.?S\.?A?\b\.?(?=\W|$)|\bu\.s\.?(?:a\b\.?)?(?=\W|$)")
_SENTENCE_END = re.compile(r"[.?!;]+(?=\s)")
_TOKEN = re.compile(r"\d+(?:\.\d+)+|\d+|[^\W\d_]+(?:['’][^\W\d_]+)*(?:\+\+|#)?|[%$€£₹°≤≥<>=+&*^/@-]|(?<= )\.(?= )")
_POLITE = re.compile(r"(?<!\w)(?:" + "|".join(POLITE) + r")(?!\w)")
_IMPLIED = re.compile(r"\b(?:" + "|".join(sorted(IMPLIED, key=len, reverse=True)) + r")(?=s?\b)")
_SPACES = re.compile(r"\s+")
_ASCII_ONLY = re.compile(r"[^\x20-\x7e]+")
_RELATIVE = frozenset({"last", "next", "this", "past", "previous"})
_AMBIGUOUS = frozenset("mar dec jan sun sat wed mon".split())
"""Short forms of months and weekdays that are words, or names, of their own."""
_PERIODS = frozenset("year month week weekend night decade century summer winter spring autumn season quarter".split())
_ORDINAL = frozenset({"st", "nd", "rd", "th"})
_QUESTIONS = (
    ("how many", r"how (?:many|much)\b|number of\b|amount of\b"),
    ("how long", r"how (?:long|old|far|often|big|tall|fast|soon|deep|large)\b"),
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
    ("whether", r"^(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had|may|am|if|whether)\b"),
)  # fmt: skip
_ASKING = tuple((name, re.compile(pattern)) for name, pattern in _QUESTIONS)


class Word(Struct, frozen=True, gc=False):
    """A content word: as written (small letters), its form for comparing, and whether it was written as a name.

    `before` are the function words between the content word before it and itself, `preposition` is the last
    preposition before it, wherever that stands.
    """

    plain: str
    form: str
    name: bool
    before: tuple[str, ...] = ()
    preposition: str = ""


class Quantity(Struct, frozen=True, gc=False):
    """A number as one writes it canonically (`3.10` stays `3.10`), with its unit, if any."""

    value: str
    unit: str = ""


class Reading(Struct, frozen=True):
    """A query as equivalence reads it. Every part is comparable between two queries."""

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

    @property
    def is_keywords(self) -> bool:
        """Whether it is a row of keywords, whose order says little, rather than a sentence."""
        free = not self.is_question and len(self.words) <= MAX_KEYWORDS
        return free and not _SENTENCE.intersection(self.functions) and not DIRECTED.intersection(self.plain.split())


MAX_KEYWORDS = 8
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
    """Read `text`; anything is read, from nothing to binary noise, and the same text always in the same way."""
    text = unicodedata.normalize("NFKC", text[:MAX_CHARS])
    scope = {f"{name.lower()}:{value.casefold()}" for name, value in _OPERATOR.findall(text)}
    text = _OPERATOR.sub(" ", text)
    scope |= {f'"{" ".join(_forms(phrase))}"' for phrase in _QUOTED.findall(text)}
    names = _names(text)
    plain = _plain(text)
    tokens = _TOKEN.findall(plain)[:MAX_WORDS]
    quantities, dates, rest = _values(tokens)
    words, functions = _content(rest, names)
    return Reading(
        plain,
        tuple(words),
        tuple(quantities),
        frozenset(dates),
        frozenset(RELATIVE_TIMES[token] for token in rest if token in RELATIVE_TIMES),
        sum(token in NEGATIONS for token in _without_idioms(rest)),
        _asks(plain),
        "?" in text or any(pattern.match(plain) for _, pattern in _ASKING),
        frozenset(scope),
        functions,
    )


def _asks(plain: str) -> frozenset[str]:
    """Return what kinds of question a text asks, one a sentence: the first; of two that begin together, the one that
    is named first in `_QUESTIONS`.
    """
    kinds = set()
    for sentence in plain.split(" . "):
        found = [
            (match.start(), rank) for rank, (_, pattern) in enumerate(_ASKING) if (match := pattern.search(sentence))
        ]
        if found:
            kinds.add(_ASKING[min(found)[1]][0])
    return frozenset(kinds)


def _plain(text: str) -> str:
    """Return small letters, contractions and number words written out, courtesies dropped."""
    text = _COUNTRY.sub("usa", _THOUSANDS.sub("", text.replace("’", "'")))
    text = _SENTENCE_END.sub(" . ", text.lower())
    words = []
    for word in _SPACES.split(text)[: 2 * MAX_WORDS]:
        bare = word.strip('.,;:!?()[]{}"“”')
        written = CONTRACTIONS.get(bare)
        if written is None and "'" in bare:
            written = bare
            for ending, full in CONTRACTED:
                if bare.endswith(ending):
                    written = bare.removesuffix(ending) + full
                    break
            written = written.removesuffix("'s")
        words.append(word if written is None else word.replace(bare, written))
    joined = " ".join(words)
    if not _ASCII_ONLY.search(joined):  # its parser reads English only, and raises on broken Unicode
        joined = alpha2digit(joined, "en", 1.5)  # "one" is a pronoun more often than a number
    joined = _POLITE.sub(" ", joined)
    tokens = [found for found in _TOKEN.findall(joined) if found != "-"]
    before = ["", *tokens]
    tokens = ["usa" if t == "us" and before[i] not in PRONOUN_BEFORE else t for i, t in enumerate(tokens)]
    plain = " ".join(tokens).strip(". ")
    return _IMPLIED.sub(lambda phrase: IMPLIED[phrase[0]], plain)


def _names(text: str) -> frozenset[str]:
    """Return, in small letters, the words written with a capital that no sentence's beginning explains."""
    found: set[str] = set()
    first = True
    written = text.split()
    shouting = sum(word.isupper() for word in written) > len(written) / 2
    title = sum(word[:1].isupper() for word in written) > 0.7 * len(written)
    for word in written:
        bare = word.strip(".,;:!?()[]{}\"'“”’")
        inner = any(letter.isupper() for letter in bare[1:])
        if not shouting and (inner or (bare[:1].isupper() and not first and not title)):
            found.update(part for part in _TOKEN.findall(bare.lower().removesuffix("'s")) if part.isalpha())
        first = word.endswith((".", "?", "!", ":"))
    return frozenset(found)


def _values(tokens: list[str]) -> tuple[list[Quantity], set[str], list[str]]:
    """Take numbers with their units, and calendar words, out of the tokens."""
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
        else:
            rest.append(token)
        position += 1
    return quantities, dates, rest


def _take_number(tokens: list[str], position: int, quantities: list[Quantity], dates: set[str], rest: list[str]) -> int:
    """Put the number at `position`, with what belongs to it, where it belongs; return where the next token is."""
    value, position = _number(tokens, position)
    following = tokens[position] if position < len(tokens) else ""
    before = rest[-1] if rest else ""
    if following in UNITS:
        quantities.append(Quantity(value, UNITS[following]))
        position += 1
    elif before in UNITS and not before.isalpha():  # a currency's sign
        rest.pop()
        quantities.append(Quantity(value, UNITS[before]))
    elif following in _ORDINAL:
        position += 1
        if value == "1":
            rest.append("first")
            return position
        quantities.append(Quantity(value, "th"))
    elif len(value) == 4 and value.isdigit() and 1000 <= int(value) <= 2199:
        dates.add(value)
        position += following == "s"
    else:
        quantities.append(Quantity(value))
    rest.append(f"{NUMBER}{value}")
    return position


def _calendar_word(word: str, following: str, before: str) -> str | None:
    """Return the month or weekday that `word` names, if that is what it is here."""
    if word in {"may", "march"}:
        dated = following[:1].isdigit() or before[:1] == NUMBER or before in {"in", "of", "last", "next"}
        return word if dated else None
    if word in _AMBIGUOUS:
        return None
    return MONTHS.get(word) or WEEKDAYS.get(word)


def _number(tokens: list[str], position: int) -> tuple[str, int]:
    """Read a number with the words that multiply it ("2 million", "10k"); return it and where the next token is."""
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


def _content(tokens: list[str], names: frozenset[str]) -> tuple[list[Word], tuple[str, ...]]:
    """Tell the content words, each with the preposition that governs it, from the function words."""
    words: list[Word] = []
    functions: list[str] = []
    before: list[str] = []
    preposition = ""
    for token in tokens:
        if token in PREPOSITIONS:
            preposition = token
        if token[0] == NUMBER:
            words.append(Word(token, token, True, tuple(before), preposition))
            before.clear()
        elif token in EMPTY or token in NEGATIONS or token in RELATIVE_TIMES or not token[0].isalnum():
            functions.append(token)
            before.append(token)
        else:
            words.append(Word(token, form(token), token in names, tuple(before), preposition))
            before.clear()
    return words, tuple(functions)


def _forms(text: str) -> list[str]:
    return [form(token) for token in _TOKEN.findall(_plain(text)) if token not in EMPTY]


@lru_cache(maxsize=16_384)
def form(word: str) -> str:
    """Return the form of a word that its inflections, spellings and synonyms share."""
    word = IRREGULAR.get(word, word)
    for british, american in BRITISH:
        if word.endswith(british) and len(word) > len(british) + (british != word):
            word = word.removesuffix(british) + american
            break
    stemmed = stem(word)
    return _GROUPS.get(stemmed) or _GROUPS.get(word) or stemmed


_GROUPS = {stem(word): stem(first) for word, first in SYNONYMS.items()}


def _without_idioms(tokens: list[str]) -> list[str]:
    """Drop negations that negate nothing: `… or not`, `why not`, `not only`."""
    kept = []
    for position, token in enumerate(tokens):
        before = tokens[position - 1] if position else ""
        after = tokens[position + 1] if position + 1 < len(tokens) else ""
        if token in {"not", "no"} and ((before in {"or", "if", "why"} and not after) or after == "only"):
            continue
        kept.append(token)
    return kept
