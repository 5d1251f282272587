"""Sentences that can be quoted: whole ones, neither code nor tables nor navigation."""

import re

from harness.core.text import words

MIN_CHARS, MAX_CHARS, MIN_WORDS = 20, 450, 5
MIN_LETTERS = 0.75
"""Least share of letters, digits and white space."""
MAX_MARKS = 2
"""Most of the signs that separate cells or links."""
MAX_NUMBERS = 0.5
"""Largest share of words that are numbers: above it, a row of a table."""
_CUT_OFF = ("...", "…", "[…]", "[...]")
_ENDS = ".!?\"'”’)。！？"
_SEPARATORS = re.compile(r"[|•·»›→▸]|\s[>/]\s|\t")
_CHROME = re.compile(
    r"^(click here|read more|learn more|(sign|log) (in|up) (or|to (your|read|continue))|subscribe (to our|now|today)|"
    r"share this|skip to|jump to|table of contents|all rights reserved|copyright (©|\(c\)|\d{4})|back to top|"
    r"we use cookies|this (site|website) uses cookies|accept (all )?cookies|last (updated|modified)|"
    r"posted (by|on|in)|related (articles|posts)|edit this page|see also:|scroll (down|up)|keep reading|read on|"
    r"thanks to \d+ people|was this (page|article|answer) helpful)",
    re.IGNORECASE,
)
_ADVERTISES = re.compile(
    r"\b(?:buy (?:one|two|three|now|today)|order (?:now|today)|pay for (?:one|two)|free (?:shipping|delivery)|"
    r"limited (?:time )?offer|\d+ ?% off|the (?:ultimate|complete|definitive) guide|everything you need to know|"
    r"in this (?:article|guide|post|tutorial|video),? (?:we|you|i)\b|find out (?:how|what|why|more) (?:below|here))",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(
    r"^(?:(?:this|our) (?:page|article|guide|site|post|tutorial) (?:explains|answers|describes|says|lists|shows)\b|"
    r"learn (?:how|why|what|about|more)\b|we (?:compare|compared|explain|show|look at|answer)\b|"
    r"(?:what|which|how|why)\b[^.?!]*,(?: and)? (?:what|how|why|which \w+ (?:to|you|are|is))\b[^?!]*\.$)|"
    r": (?:how to|what you|everything)\b|\bwhat you need\b.*\bhow to\b",
    re.IGNORECASE,
)
"""Sentences that say what a page is about, as its description for search engines does."""
_TO_WRITERS = re.compile(
    r"^(?:please )?(?:state|say|write|mention|answer|reply|respond|ignore|disregard|forget)\b.{0,100}?"
    r"(?:\byour (?:\w+ )?(?:answers?|reports?|summar\w+|respon\w+|output)\b|\bthe (?:answer|report|summary) that\b"
    r"|\b(?:previous|above|prior|earlier|all (?:of )?(?:the|your)|your) (?:instructions|rules)\b)"
    r"|\b(?:system prompt|as an ai\b|language models? (?:must|should))",
    re.IGNORECASE,
)
"""Orders to anyone who writes about the page."""


def is_quotable(sentence: str) -> bool:
    """Return whether this reads as a whole sentence rather than code, a heading, a table row, navigation, advertising,
    the announcement of a page, an order to the reader's writer, or a text that was cut off. Never raises.
    """
    if not MIN_CHARS <= len(sentence) <= MAX_CHARS or len(words(sentence)) < MIN_WORDS:
        return False
    if sentence[0].islower() or sentence[-1] not in _ENDS or sentence.endswith(_CUT_OFF):
        return False
    if sentence.startswith(_CUT_OFF) or _CHROME.match(sentence) or len(_SEPARATORS.findall(sentence)) > MAX_MARKS:
        return False
    if _ADVERTISES.search(sentence) or _ANNOUNCES.search(sentence) or _TO_WRITERS.search(sentence):
        return False
    letters = sum(char.isalnum() or char.isspace() for char in sentence)
    parts = sentence.split()
    table = sum(any(map(str.isdecimal, part)) for part in parts) > MAX_NUMBERS * len(parts)
    return letters / len(sentence) >= MIN_LETTERS and ">>>" not in sentence and not table
