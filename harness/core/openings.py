"""Openings of an answer: which sentences should come first, and which should not, or need what follows."""

import re

from harness.core.answer_kinds import lacks_kind
from harness.core.dangling import names_earlier, needs_previous
from harness.core.definitions import asks_other, asks_what, defines, says_what_it_does
from harness.core.foreign_text import is_english
from harness.core.other_cases import is_of_other_case
from harness.core.quotable import is_cut_off, signature_of
from harness.core.steps import asks_for_steps, gives_steps
from harness.core.text import words
from harness.core.verbs import lacks_verb

ASIDE, DEFINES, NAMED, CUT_OFF = 0.7, 1.3, 1.1, 0.95
"""Factors of the merit of a sentence that would open an answer: of one that adds to an answer, points back, has no
verb, is about another case, or lacks the kind of answer that is asked for, and of a definition or description that is
not; of a definition, of steps, or of a sentence that says what a thing does, where that is asked for; of any sentence
of a page whose title the question names; and of a sentence whose end is missing.
"""
MIN_NAMED = 2
"""Least words of such a title: a single one names too much."""
_TITLE_PARTS = re.compile(r"\s+[-–—|·:]\s+|:\s+")
_ANY = frozenset({"object", "class"})
"""Words before the name of any method or class."""
_ARTICLES = frozenset({"a", "an", "the"})

_ASIDE = re.compile(
    r"\W*(?:(?:\w+ )?implementation detail\b|(?:\w+[’']s |side )?note\b(?! (?:is|was|of)\b)|n\.?b\.|warning\b|caution\b"
    r"|(?:changed|new|added|deprecated|removed) (?:in|since)(?: \w+)? [\d.]|historically\b|originally\b|previously\b"
    r"|in (?:earlier|older|previous|former) (?:versions?|releases?|editions?|times)\b"
    r"|except (?:for|where|when|in)\b|apart from\b|aside from\b|with the exception of\b"
    r"|(?:please note|(?:keep|bear) in mind|be aware)\b"
    r"|it (?:is|should be) (?:also )?(?:\w+ )?(?:to note|noting|noted)\b"
    r"|(?:even|similarly|likewise|incidentally|by the way|in addition)\b|(?:my|mine|i|i[’']m|i[’']ve) \w)",
    re.IGNORECASE,
)
_UNLIKE = re.compile(r"\W*unlike\b", re.IGNORECASE)
_ASKS_DIFFERENCE = re.compile(
    r"\b(?:differ(?:s|ed|ences?)?|distinguish\w*|distinction|compared?|vs|versus)\b", re.IGNORECASE
)
_SAYS_ERROR = re.compile(
    r"\W*it is (?:also )?an? \W?\w*(?:error|exception|mistake)\W? (?:to|for|if|when)\b"
    r"|.*\braises? (?:an? )?\W?\w*(?:error|exception)\b",
    re.IGNORECASE | re.DOTALL,
)
_ASKS_ERROR = re.compile(
    r"error|exception|\b(?:mistakes?|wrong|allow\w*|legal|(?:in)?valid|possible|may|can|must)\b", re.IGNORECASE
)
_ANNOUNCES = re.compile(
    r"(?:the|these) following (?!day|night|week|month|year|decade|centur|morning|evening|season|spring|summer)[^:]*$"
    r"|.*(?:\bas follows|\bthe following|\b(?:shown|listed|given|described|steps|rules|examples?|list|table) below)\.?$"
    r"|.*:$",
    re.IGNORECASE | re.DOTALL,
)


def is_aside(sentence: str, question: str) -> bool:
    """Return whether an English sentence adds to an answer: a note, an exception, a comparison with something else, a
    remark about earlier times or of the writer's own experience, what is in brackets, or what is an error, where the
    question does not ask for that. Never raises.
    """
    if sentence.startswith("(") or _ASIDE.match(sentence[:200]):
        return True
    if _UNLIKE.match(sentence) and not _ASKS_DIFFERENCE.search(question):
        return True
    return _SAYS_ERROR.match(sentence[:200]) is not None and not _ASKS_ERROR.search(question)


def is_announcement(sentence: str) -> bool:
    """Return whether an English sentence only announces what follows it ("The following …", "… as follows."). Never
    raises.
    """
    return _ANNOUNCES.match(sentence) is not None


def names_title(question: str, title: str) -> bool:
    """Return whether a question has the words of a page's title, or of a part of it ("Halden Bridge - Encyclopedia"),
    next to each other. Never raises.
    """
    asked = f" {' '.join(_words(question))} "
    parts = (_words(part) for part in _TITLE_PARTS.split(title))
    return any(len(part) >= MIN_NAMED and f" {' '.join(part)} " in asked for part in parts)


def describes_other(sentence: str, question: str) -> bool:
    """Return whether a sentence describes functions or attributes, named before it, none of which the question names.
    Never raises.
    """
    names = re.findall(r"\w+", re.sub(r"\([^()]*\)", "", signature_of(sentence)))
    return bool(names) and not any(name.casefold() in question.casefold() for name in names if name not in _ANY)


def _words(text: str) -> list[str]:
    return [word for word in words(text) if word not in _ARTICLES]


def opening_factor(sentence: str, question: str, title: str = "") -> float:
    """Return the factor of the merit of a sentence, on a page with this title, as the first one of an answer; 1 for
    most. Never raises.
    """
    usual = (NAMED if names_title(question, title) else 1.0) * (CUT_OFF if is_cut_off(sentence) else 1.0)
    adds = is_aside(sentence, question) or is_announcement(sentence) or describes_other(sentence, question)
    says_what = says_what_it_does(sentence, question)
    lacks = lacks_kind(sentence, question) or (not says_what and lacks_verb(sentence) and is_english(question))
    if adds or lacks or is_of_other_case(sentence, question) or needs_previous(sentence) or names_earlier(sentence):
        return usual * ASIDE
    if says_what or (asks_for_steps(question) and gives_steps(sentence)):
        return usual * DEFINES
    if not defines(sentence, question):
        return usual
    return usual * (DEFINES if asks_what(question) else ASIDE if asks_other(question) else 1.0)
