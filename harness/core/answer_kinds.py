"""Kinds of answers: a number for "how many", a time for "when", a version, an order, a name for "who"."""

import re
from functools import lru_cache
from typing import Literal, TypeAlias

from harness.core.calendar_words import DAY, MONTH
from harness.core.measures import MEASURES

Kind: TypeAlias = Literal["number", "time", "version", "order", "name", ""]

_WORD = re.compile(r"[^\W\d_](?:[\w'’.-]*\w)?")
_NUMBER = re.compile(
    r"\d(?:[\d.,]*\d)?|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|(?:thir|four|fif|six|seven"
    r"|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|million|billion|half|once|twice|daily"
    r"|weekly|monthly|yearly|annually|every|each|both|zero|none|any|unlimited|no limit)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    rf"\b[12]\d{{3}}s?\b|\b\d{{1,2}}(?:st|nd|rd|th)\b|\b\d{{1,2}}(?::\d\d)? ?[ap]\.?m\b|\b(?:{MONTH}|{DAY}|spring"
    r"|summer|autumn|winter|century|yesterday|today)\b",
    re.IGNORECASE,
)
_DATES = re.compile(
    rf"\b(?:(?:{MONTH}) (?:\d{{1,2}},? )?"
    r"|(?:in|since|until|before|after|during|as of) )(?:1[5-9]|20)\d\d\b",
    re.IGNORECASE,
)
"""Dates, whose numbers answer no question for a number."""
_RELEASE = re.compile(r"\d(?:[\d.]*\d)?|\b(?:all|any|every|both|none)\b", re.IGNORECASE)
"""Versions: words for numbers count things, or name none ("the latest one")."""
_ORDER = re.compile(
    r"\b(?:first|second|third|last|finally|next|then|before|after|afterwards|until|once|begin\w*|start\w*|continu\w*|order\w*"
    r"|sequence|turn|preced\w*|priority|follow(?:s|ed|ing)|left|right|top|bottom|reversed?|depth|breadth|alphabetical\w*"
    r"|random\w*|ascending|descending|backwards|forwards|simultaneous\w*|(?:inner|outer)(?:most)?)\b",
    re.IGNORECASE,
)
"""Words of an answer that says in which order things happen."""
_MEASURE = (
    rf"(?:{MEASURES}|numbers?|count|population|percentage|proportion|share|average|density|pressure|volume|rate|median"
    r"|duration|salary|budget|revenue|gdp)"
)
_MEASURED = rf"(?:{_MEASURE} (?:of|in|at|between|per|on|for|as)|distance (?:from|to))"
_DATED = rf"(?: (?:(?:as of|in) )?(?:(?:{MONTH}) )?\d{{4}})?"
_OTHER = r"(?!(?:who|what|which|why|how|when|where|does|do|did|can|is|are|list|explain|describe)\b)"
_BEFORE = r"(?:(?!(?:the|an?|of|on|in|and|or|with|between|for|to|by) )[\w-]+ ){0,3}"
"""Words before a measure: none that makes it a part of something else ("effect of temperature on …")."""
_ASKS: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (
        re.compile(
            r"\b(?:what|which)(?: (?!(?:is|are|was|were|will|would|do|does|did|can|could|should)\b)[\w.+#-]+)?"
            r" versions?\b(?! control)|\bwhat (?:is|are) (?:the )?(?:latest|newest|current|oldest|minimum|first|last"
            r"|new|stable|required|supported) (?:[\w.+#-]+ )?versions?\b",
            re.IGNORECASE,
        ),
        "version",
    ),
    (re.compile(r"\bin (?:what|which) (?:order|sequence)\b", re.IGNORECASE), "order"),
    (
        re.compile(r"\bhow (?:many|much|long|old|high|tall|far|deep|wide|big|large|fast|often|heavy)\b", re.IGNORECASE),
        "number",
    ),
    (
        re.compile(
            r"\bwhen (?:did|was|were)\b|\b(?:what|which) (?:year|date|day|month|century)\b"
            r"|\b(?:release|birth|founding|opening|death) (?:date|day|month|year)\b"
            r"|(?<!\ba )(?<!per )(?<!each )(?<!every )(?<!this )(?<!last )(?<!next )\b(?:year|date)$",
            re.IGNORECASE,
        ),
        "time",
    ),
    (
        re.compile(
            rf"^(?:what (?:is|was|are|were) (?:the|an?) |the )?{_OTHER}{_BEFORE}{_MEASURED}\b"
            rf"|^(?=.*\d){_OTHER}(?!.*\?).*\b{_MEASURE}{_DATED}$",
            re.IGNORECASE,
        ),
        "number",
    ),
)
_ASKS_AGE = re.compile(r"\bhow old\b", re.IGNORECASE)
_ASKS_WHO = re.compile(r"\W*[Ww]ho(?:m|se)?\b")


def kind_of_answer(question: str) -> Kind:
    """Return what an English question asks for: a number, a time, a version, an order, or the name of a person; "" for
    anything else. Never raises.
    """
    for asks, kind in _ASKS:
        if asks.search(question):
            return kind
    return "name" if _ASKS_WHO.match(question) else ""


@lru_cache(maxsize=4_096)
def lacks_kind(sentence: str, question: str) -> bool:
    """Return whether an English question asks for a number, a time, a version, an order or a person, and a sentence has
    none that is not in the question. Never raises.
    """
    kind = kind_of_answer(question)
    if kind == "name":
        return not _names(sentence, question)
    if not kind:
        return False
    figures = {"time": _TIME, "version": _RELEASE, "order": _ORDER}.get(kind, _NUMBER)
    if kind == "number" and not _ASKS_AGE.search(question):  # a date of birth says it, too
        sentence = _DATES.sub("", sentence)
    return set(map(str.casefold, figures.findall(sentence))) <= set(map(str.casefold, figures.findall(question)))


def _names(sentence: str, question: str) -> bool:
    """Return whether a sentence has a word with a capital letter that is not in the question; the first word counts if
    the next one has a capital letter, too.
    """
    asked = {word.casefold() for word in _WORD.findall(question)}
    words = _WORD.findall(sentence)
    begins = words[:1] if words[1:2] and words[1][0].isupper() else []
    return any(word[0].isupper() and len(word) > 1 and word.casefold() not in asked for word in (*begins, *words[1:]))
