"""Kinds of answers: a question that asks how many, when or who is answered by a number, a time or a name."""

import re

from harness.core.calendar_words import DAY, MONTH
from harness.core.measures import MEASURES

_WORD = re.compile(r"[^\W\d_](?:[\w'’.-]*\w)?")
_NUMBER = re.compile(
    r"\d(?:[\d.,]*\d)?|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty|forty|fifty|hundred"
    r"|thousand|million|billion|half|once|twice|daily|weekly|monthly|yearly|annually|every|none|any)\b",
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
_MEASURE = rf"(?:{MEASURES}|number|count|population|percentage|proportion|share|average|density|pressure|volume)"
_OTHER = r"(?!(?:who|what|which|why|how|when|where|does|do|did|can|is|are|list|explain|describe)\b)"
_ASKS = (
    (
        re.compile(r"\bhow (?:many|much|long|old|high|tall|far|deep|wide|big|large|fast|often|heavy)\b", re.IGNORECASE),
        _NUMBER,
    ),
    (
        re.compile(
            r"\bwhen (?:did|was|were)\b|\b(?:what|which) (?:year|date|day|month|century)\b"
            r"|\b(?:release|birth|founding|opening|death) (?:date|day|month|year)\b"
            r"|(?<!\ba )(?<!per )(?<!each )(?<!every )(?<!this )(?<!last )(?<!next )\b(?:year|date)$",
            re.IGNORECASE,
        ),
        _TIME,
    ),
    (
        re.compile(
            rf"^(?:what (?:is|was|are|were) (?:the|an?) |the )?{_OTHER}(?:(?!the |an? )[\w-]+ ){{0,3}}{_MEASURE} "
            rf"(?:of|in|at|between|per|on|for|as)\b|^(?=.*\d){_OTHER}(?!.*\?).*\b{_MEASURE}$",
            re.IGNORECASE,
        ),
        _NUMBER,
    ),
)
_ASKS_WHO = re.compile(r"\W*who(?:m|se)?\b", re.IGNORECASE)


def lacks_kind(sentence: str, question: str) -> bool:
    """Return whether an English question asks for a number, a time or a person, and a sentence has none that is not in
    the question. Never raises.
    """
    for asks, kind in _ASKS:
        if asks.search(question):
            sentence = _DATES.sub("", sentence) if kind is _NUMBER else sentence
            return set(map(str.casefold, kind.findall(sentence))) <= set(map(str.casefold, kind.findall(question)))
    return _ASKS_WHO.match(question) is not None and not _names(sentence, question)


def _names(sentence: str, question: str) -> bool:
    """Return whether a sentence has a word with a capital letter that is not in the question; the first word counts if
    the next one has a capital letter, too.
    """
    asked = {word.casefold() for word in _WORD.findall(question)}
    words = _WORD.findall(sentence)
    begins = words[:1] if words[1:2] and words[1][0].isupper() else []
    return any(word[0].isupper() and len(word) > 1 and word.casefold() not in asked for word in (*begins, *words[1:]))
