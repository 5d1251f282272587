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
    r"^(click here|read more|learn more|(sign|log) (in|up) (or|to (your|read|continue))|subscribe (to our|now|today)|"
    r"share this|skip to|jump to|table of contents|all rights reserved|copyright (©|\(c\)|\d{4})|back to top|"
    r"we use cookies|this (site|website) uses cookies|accept (all )?cookies|last (updated|modified)|"
    r"posted (by|on|in)|related (articles|posts)|edit this page|see also:)",
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
    parts = sentence.split()
    table = sum(any(map(str.isdecimal, part)) for part in parts) > MAX_NUMBERS * len(parts)
    return letters / len(sentence) >= MIN_LETTERS and ">>>" not in sentence and not table
