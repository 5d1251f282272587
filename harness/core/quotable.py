"""Sentences that can be quoted: whole ones, neither code nor tables nor navigation."""

import re
from unicodedata import category

from harness.core.foreign_text import is_english
from harness.core.steps import steps_of
from harness.core.text import words
from harness.core.verbs import lacks_verb

MIN_BYTES, MAX_CHARS, MIN_WORDS = 20, 450, 5
"""Bytes in UTF-8: an ideograph says as much as three letters."""
MIN_CUT_WORDS = 6
"""Least words of the beginning of a sentence that was cut off."""
MIN_LETTERS = 0.75
"""Least share of letters, their marks, digits and white space."""
MAX_LIST_CHARS, MIN_ITEMS = 700, 2
"""Most characters and fewest items of a list with the sentence that announces it: about what a reader takes in at once.
"""
MAX_SIGNATURES = 600
"""Most characters of the names of functions before their description."""
MAX_MARKS = 2
"""Most of the signs that separate cells or links."""
MAX_NUMBERS = 0.5
"""Largest share of words that are numbers: above it, a row of a table."""
_CUT_OFF = ("...", "…", "[…]", "[...]")
_CUT_END = re.compile(r"[\s,;:–—(\[]*(?:\.\.\.|…|\[(?:…|\.\.\.)\])$")
"""The sign that the end of a sentence is missing, and what is before it."""
_ENDS = tuple(".!?\"'”’)»。！？」』）।॥؟۔")
ASKS = ("?", "？", "؟")
"""Signs that end a question."""
_QUOTES, _AFTER_QUOTED = ('"', "“", "‘", "'"), "\"”’'."
_QUESTION = re.compile(
    r"\W*(?:what|who|whose|why|how|which|do|does|did|can|could|should|is|are|was|were)\b"
    r"|\W*[\w ]{1,20}: (?:what|who|whose|why|how|which)\b"
    r"|(?:in|of|on|at|for|from|during|according to)\b[^.?!]*, (?:what|who|whose|how (?:many|much|long|old))\b",
    re.IGNORECASE,
)
"""The beginning of a question; "when" and "where" begin clauses as well."""
_NAMED_QUESTION = re.compile(
    r"^\W*(?:(?:(?:level|sample|example|exam|quiz|test|task|user) )?(?:\d+ )?question(?: \d+)?|q\d{0,2}): ",
    re.IGNORECASE,
)
"""A question that is called one, as in lists of tasks and of answers: its end may have another sign."""
ITEM_MARK = r"(?:[-*•]|\d{1,2}[.)])"
"""The sign before an item of a list."""
_LIST, _NEXT_ITEM = re.compile(rf": (?={ITEM_MARK} )"), re.compile(rf"(?:^| ){ITEM_MARK} ")
_SIGNATURE = r"[A-Za-z_][\w.]*(?:\([^()]{0,200}\)|(?<=_))"
_SIGNATURES = re.compile(rf"(?:class )?{_SIGNATURE}(?: {_SIGNATURE})*(?= |$)")
"""The names of functions, or of attributes that end with "_", as a reference puts them above their description."""
_NAMED = re.compile(r"\s(?:\"[^\"\s]{1,40}\"|“[^“”\s]{1,40}”|`[^`\s]{1,40}`),?(?=\s)")
"""A sign or name in quotation marks, which says nothing about the sentence around it."""
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Letters of scripts without spaces: a part of a sentence between two spaces is more than a word."""
_SEPARATORS = re.compile(r"[|•·»›→▸]|\s[>/;]\s|\t|-{3}|#{2,}")
_CHROME = re.compile(
    r"^(click here|read more|learn more|(sign|log) (in|up) (or|to (your|read|continue))|subscribe (to our|now|today)|"
    r"share this|skip to|jump to|table of contents|all rights reserved|copyright (©|\(c\)|\d{4})|back to top|"
    r"we use cookies|this (site|website) uses cookies|accept (all )?cookies|last (updated|modified)|"
    r"posted (by|on|in)|related (articles|posts)|edit this page|see also:|scroll (down|up)|keep reading|read on|"
    r"thanks to \d+ people|was this (page|article|answer) helpful|"
    r"(check out|have a look at|take a look at|visit|browse|discover) (our|my)\b|"
    r"(please )?(call|phone|contact|e-?mail|follow|visit|write to|get in touch with) us\b)",
    re.IGNORECASE,
)
_ADVERTISES = re.compile(
    r"\b(?:buy (?:one|two|three|now|today)|order (?:now|today)|pay for (?:one|two)|free (?:shipping|delivery)|"
    r"limited (?:time )?offer|\d+ ?% off|the (?:ultimate|complete|definitive) guide|everything you need to know|"
    r"in this (?:article|guide|post|tutorial|video),? (?:we|you|i)\b|find out (?:how|what|why|more) (?:below|here))",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(
    r"^(?:(?:this|our) (?:page|article|guide|site|post|tutorial|essay|chapter|video|blog) (?:explains|answers|describes"
    r"|says|lists|shows|explores|examines|discusses|covers|looks at|provides|presents|contains)\b|"
    r"learn (?:how|why|what|about|more)\b|we (?:compare|compared|explain|show|look at|answer)\b|"
    r"(?:what|which|how|why)\b[^.?!]*,(?: and)? (?:what|how|why|which \w+ (?:to|you|are|is))\b[^?!]*\.$)|"
    r": (?:how to|what you|everything)\b|\bwhat you need\b.*\bhow to\b",
    re.IGNORECASE,
)
"""Sentences that say what a page is about, as its description for search engines does."""
_DESCRIBES = re.compile(
    r"^(?:technical data|advice|questions|tips|(?:addresses|opening hours|timetables?|prices|facts|photos|maps|length"
    r"|history),(?: \w+){1,3}(?:,(?: \w+){1,3})*(?:,? and(?: \w+){1,2})?) (?:of|on|about|for|from) "
    r"(?!.*\b(?:is|are|was|were|has|have|had|can|may|will|must|should|does|do|did)\b)"
    r"|: (?:\w+(?: \w+)?, ){2,}(?!and\b|or\b)\w+(?: \w+)?\.$",
    re.IGNORECASE,
)
"""The contents of a page as a list without a verb: "Addresses and prices of the museums.", "…: time, tools, steps."."""
_TITLES = re.compile(
    r"^(?:what|how|why) (?:i|we|you) (?!.*\b(?:is|are|was|were|can|may|will|should|must|does|do|has|have|had|depends?"
    r"|matters?|varies|vary)\b)[^.?!]*\.$",
    re.IGNORECASE,
)
"""A title in the form of a sentence: "What I learned from eight months of …."."""
_POINTS_ELSEWHERE = re.compile(
    r"^[(*_]*(?:please )?(?:see|refer to|consult|cf\.) (?!if\b|whether\b|that\b)[^.]*\.?[)*_]*$"
    r"|\b(?:is|are|was|were) (?:also |further |fully )?(?:described|explained|discussed|documented|covered)"
    r" (?:(?:further|elsewhere|separately|there|above|below)\b|(?:in (?:more|greater|further|full)"
    r" detail )?(?:in|under|by|on) (?:the |this )?(?:(?:next|following|previous) )?(?:sections?|chapters?|appendix"
    r"|documentation)\b|in (?:more|greater|further) detail (?:in|under|by|on)\b)"
    r"|^(?:for )?(?:more|further|full|additional) (?:details?|information)\b.*"
    r"\b(?:see|refer|consult|found|available)\b",
    re.IGNORECASE,
)
"""Sentences that only say where something else is described."""
_REFERENCE = re.compile(r"^[*_\W]*(?:pep|rfc|iso|ieee|din|en|bcp|cve)[ -]?[\d-]+[*_]* [-–—] ", re.IGNORECASE)
"""An entry of a list of references: a document's number, a dash, its title."""
_TO_WRITERS = re.compile(
    r"^(?:please )?(?:state|say|write|mention|answer|reply|respond|ignore|disregard|forget)\b.{0,100}?"
    r"(?:\byour (?:\w+ )?(?:answers?|reports?|summar\w+|respon\w+|output)\b|\bthe (?:answer|report|summary) that\b"
    r"|\b(?:previous|above|prior|earlier|all (?:of )?(?:the|your)|your) (?:instructions|rules)\b)"
    r"|\b(?:system prompt|as an ai\b|language models? (?:must|should))",
    re.IGNORECASE,
)
"""Orders to anyone who writes about the page."""
_TEASES = re.compile(
    r"^(?:(?:it|this|that)(?: is|[’']s) (?:a|one of the) (?:\w+ )?questions?\b(?! of\b)"
    r"|you(?: are|[’']re) not (?:alone|the only)\b|you (?:may|might) (?:be wondering|wonder|ask yourself)\b"
    r"|(?:many|most) (?:people|of us) (?:ask|wonder)\b"
    r"|the answer (?:is|may|might|will) (?:\w+ )?(?:simple|surpris\w+)\b[^,;:]*$)",
    re.IGNORECASE,
)
"""Sentences that only promise an answer."""


_NOTES_CHANGE = re.compile(
    r"^[(*_]*(?:changed|new|added|deprecated|removed|introduced) (?:in|since) (?:(?:version|release|python) )?v?\d",
    re.IGNORECASE,
)
"""Notes of documentation on what another version changed."""
_ABOUT_CHANGES = frozenset(
    """
    version versions release releases released change changes changed changelog new news newer newest latest added
    deprecated deprecation removed introduced since before after still support supports supported history update
    upgrade upgrading migrate migration
    """.split()
)
_ASKS_WHEN = re.compile(r"\bwhen (?:did|was|were|has|have)\b", re.IGNORECASE)
_HEARSAY = re.compile(
    r"\W*(?:others|(?:some|many|most|other|several|a few)(?: (?:people|users|readers|owners|parents|folks))?)"
    r" (?:(?:also|even|still|wrongly|mistakenly) )?(?:believe|think|suspect|assume|imagine|swear|say|claim)\b",
    re.IGNORECASE,
)
"""Beliefs of people who are not named."""
_ABOUT_BELIEFS = frozenset(
    """
    people users others believe believed believes belief beliefs think thinks thought say says said claim claims claimed
    opinion opinions view views myth myths misconception misconceptions rumour rumours rumor rumors legend legends argue
    argument arguments debate debated controversy controversial assume assumed suspect suspected
    """.split()
)


_USELESS = (
    _ADVERTISES,
    _ANNOUNCES,
    _TEASES,
    _DESCRIBES,
    _TITLES,
    _TO_WRITERS,
    _POINTS_ELSEWHERE,
    _REFERENCE,
    _NAMED_QUESTION,
)


def is_cut_off(sentence: str) -> bool:
    """Return whether a sentence ends with the sign that its end is missing. Never raises."""
    return sentence.endswith(_CUT_OFF)


def is_quotable(sentence: str, *, cut_off: bool = False) -> bool:
    """Return whether this reads as a whole sentence rather than code, a heading, a table row, navigation, advertising,
    the announcement of a page, a pointer to another place, an order to the reader's writer, or a text that was cut off.
    A sentence may announce a list that follows it on the same line: "There are two steps: 1. …, 2. …"; or describe what
    is named before it: "list.sort() Sorts …". Numbered steps need no announcement. `cut_off`: its end may be missing if
    enough is left, with a verb. Never raises.
    """
    if cut_off and is_cut_off(sentence):
        return _is_beginning(_CUT_END.sub("", sentence))
    sentence = sentence.removeprefix(named).lstrip(" -") if (named := signature_of(sentence)) else sentence
    items = steps_of(sentence)
    announcement, *listed = [sentence] if items else _LIST.split(sentence, maxsplit=1)
    if items or listed:
        items = items or _NEXT_ITEM.split(listed[0])[1:]
        announced = not listed or is_quotable(f"{announcement}.")
        return len(sentence) <= MAX_LIST_CHARS and announced and _are_items(items)
    return _is_whole(sentence) and not any(kind.search(sentence) for kind in _USELESS) and _is_prose(sentence)


def _is_beginning(text: str) -> bool:
    """Return whether a text reads as the beginning of a sentence that says something: no question, and no title."""
    if len(words(text)) < MIN_CUT_WORDS or _QUESTION.match(text) or ":**" in text:
        return False
    return is_quotable(f"{text}.") and not (lacks_verb(text) and is_english(text))


def _is_whole(sentence: str) -> bool:
    """Return whether a text has the length, the first letter and the end of a sentence, and the signs of a table or of
    navigation at most here and there.
    """
    is_short = len(sentence.encode(errors="replace")) < MIN_BYTES or len(words(sentence)) < MIN_WORDS
    if is_short or len(sentence) > MAX_CHARS:
        return False
    if sentence[0].islower() or sentence.startswith(_CUT_OFF):
        return False
    if not sentence.rstrip("*").endswith(_ENDS) or sentence.endswith((*_CUT_OFF, ":.", "?.")):
        return False
    return not _CHROME.match(sentence) and len(_SEPARATORS.findall(sentence)) <= MAX_MARKS


def signature_of(sentence: str) -> str:
    """Return the names of functions, with their parameters, or of attributes, before their description; "" if there are
    none.
    """
    named = _SIGNATURES.match(sentence[:MAX_SIGNATURES]) if sentence[:1].islower() else None
    return named[0] if named else ""


def is_signature(text: str) -> bool:
    """Return whether a text on one line is nothing but names of functions, with their parameters, or of attributes."""
    return len(text) <= MAX_SIGNATURES and _SIGNATURES.fullmatch(text) is not None


def _are_items(items: list[str]) -> bool:
    """Return whether these are the items of a list that can be quoted: none is code, navigation or the like."""
    bare = [item.rstrip(" ;,.") for item in items]
    return (
        len(items) >= MIN_ITEMS
        and all(bare)
        and not any(_CHROME.match(item) or item.endswith((*_CUT_OFF, *ASKS)) for item in items)
        and not any(kind.search(f"{item}.") for item in bare for kind in _USELESS)
        and _is_prose(" ".join(bare))
    )


def _is_prose(text: str) -> bool:
    """Return whether a text is neither code nor a row of a table. A sentence may name signs and functions in quotation
    marks.
    """
    text = _NAMED.sub("", text) or text
    letters = sum(char.isalnum() or char.isspace() or category(char)[0] == "M" for char in text)
    parts = text.split()
    numbers = sum(any(map(str.isdecimal, part)) for part in parts if not _UNSPACED.search(part))
    table = numbers > MAX_NUMBERS * len(parts)
    return letters / len(text) >= MIN_LETTERS and ">>>" not in text and not table


def is_aside(sentence: str, question: str) -> bool:
    """Return whether a sentence asks something itself or quotes a question, notes what a version changed though the
    question has neither a number nor a word about changes, or says what some people believe though the question
    has no word about beliefs.
    """
    if sentence.endswith(ASKS) or (sentence.startswith(_QUOTES) and sentence.rstrip(_AFTER_QUOTED).endswith(ASKS)):
        return True
    if _HEARSAY.match(sentence):
        return _ABOUT_BELIEFS.isdisjoint(words(question))
    if not _NOTES_CHANGE.match(sentence) or _ASKS_WHEN.search(question):
        return False
    return not any(word in _ABOUT_CHANGES or word.isdecimal() for word in words(question))
