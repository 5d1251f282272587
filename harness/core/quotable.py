"""Sentences that can be quoted: whole ones, neither code nor tables nor navigation."""

import re

from harness.core.text import words

MIN_CHARS, MAX_CHARS, MIN_WORDS = 20, 450, 5
MIN_LETTERS = 0.75
"""Least share of letters and white space."""
MAX_MARKS = 2
"""Most of the signs that separate cells or links."""
MAX_NUMBERS = 0.4
"""Largest share of words that are numbers: above it, a row of a table."""
_CUT_OFF = ("...", "…", "[…]", "[...]")
_ENDS = ".!?\"'”’)。！？"
_SEPARATORS = re.compile(r"[|•·»›→▸]|\s[>/]\s|\t")
_CHROME = re.compile(
    r"^(click here|read more|learn more|sign (in|up)|log in|subscribe|share this|skip to|jump to|table of contents|"
    r"all rights reserved|copyright|back to top|we use cookies|this (site|website) uses cookies|accept (all )?cookies|"
    r"last (updated|modified)|posted (by|on|in)|advertisement|related (articles|posts)|edit this page|see also)\b",
    re.IGNORECASE,
)


def is_quotable(sentence: str) -> bool:
    """Return whether this reads as a whole sentence rather than code, a heading, a table row, navigation, or a text
    that was cut off. Never raises.
    """
    if not MIN_CHARS <= len(sentence) <= MAX_CHARS or len(words(sentence)) < MIN_WORDS:
        return False
    if sentence[0].islower() or sentence[-1] not in _ENDS or sentence.endswith(_CUT_OFF):
        return False
    if sentence.startswith(_CUT_OFF) or _CHROME.match(sentence) or len(_SEPARATORS.findall(sentence)) > MAX_MARKS:
        return False
    letters = sum(char.isalpha() or char.isspace() for char in sentence)
    numbers = sum(any(map(str.isdecimal, word)) for word in words(sentence))
    table = numbers > MAX_NUMBERS * len(words(sentence))
    return letters / len(sentence) >= MIN_LETTERS and ">>>" not in sentence and not table
