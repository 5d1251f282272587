"""Openings of an answer: which sentences should come first, and which should not, or need what follows."""

import re

from harness.core.answer_kinds import lacks_kind
from harness.core.dangling import needs_previous
from harness.core.definitions import asks_what, defines

ASIDE, DEFINES = 0.7, 1.3
"""Factors of the merit of a sentence that would open an answer: of one that adds to an answer, points back, or lacks
the number, time or name that is asked for; and of a definition, where the question asks for one.
"""

_ASIDE = re.compile(
    r"\W*(?:(?:\w+ )?implementation detail\b|(?:\w+[’']s |side )?note\b(?! (?:is|was|of)\b)|n\.?b\.|warning\b|caution\b"
    r"|(?:changed|new|added|deprecated|removed) (?:in|since)(?: \w+)? [\d.]|historically\b|originally\b|previously\b"
    r"|in (?:earlier|older|previous|former) (?:versions?|releases?|editions?|times)\b"
    r"|unlike\b|except (?:for|where|when|in)\b|apart from\b|aside from\b|with the exception of\b"
    r"|(?:please note|(?:keep|bear) in mind|be aware)\b"
    r"|it (?:is|should be) (?:also )?(?:\w+ )?(?:to note|noting|noted)\b"
    r"|(?:even|similarly|likewise|incidentally|by the way|in addition)\b|(?:my|mine|i|i[’']m|i[’']ve) \w)",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(
    r"(?:the|these) following (?!day|night|week|month|year|decade|centur|morning|evening|season|spring|summer)[^:]*$"
    r"|.*(?:\bas follows|\bthe following|\b(?:shown|listed|given|described|steps|rules|examples?|list|table) below)\.?$"
    r"|.*:$",
    re.IGNORECASE | re.DOTALL,
)


def is_aside(sentence: str) -> bool:
    """Return whether an English sentence is a note, an exception, a comparison with something else, a remark about
    earlier times or of the writer's own experience, or in brackets: it adds to an answer. Never raises.
    """
    return sentence.startswith("(") or _ASIDE.match(sentence[:200]) is not None


def is_announcement(sentence: str) -> bool:
    """Return whether an English sentence only announces what follows it ("The following …", "… as follows."). Never
    raises.
    """
    return _ANNOUNCES.match(sentence) is not None


def opening_factor(sentence: str, question: str) -> float:
    """Return the factor of the merit of a sentence as the first one of an answer; 1 for most. Never raises."""
    if is_aside(sentence) or is_announcement(sentence) or needs_previous(sentence) or lacks_kind(sentence, question):
        return ASIDE
    return DEFINES if asks_what(question) and defines(sentence, question) else 1.0
