"""Sub-questions of a compound question, by rules: "What is X, and how does it differ from Y?" has two."""

import re

from harness.core.measures import MEASURES
from harness.core.text import content_words, one_line

MOST = 4
"""More parts are left together."""
MAX_CHARS = 1_000

_BE = r"(?:is|are|was|were|do|does|did|can|could|should|would|will|has|have|had|may|might|must)"
_WH = r"(?:what|how|why|when|where|which|who|whose)"
_DIRECT = (
    rf"(?:(?:what|how|why|when|where|who) {_BE}\b|(?:which|whose|what|how) [\w-]+(?: [\w-]+)? {_BE}\b"
    rf"|{_BE} (?:it|they|this|that|these|those|there|its|the|an?|one|i|we|you)\b|what happens\b"
    r"|who (?:first )?(?:[a-z]+ed|wrote|made|built|won|led|began|ran|won)\b)"
)
"""Beginning of a direct question; "when it expires" and "which won the prize" are clauses of another one."""
_BETWEEN = re.compile(rf"(?:\?|;)\s+(?:and |but |or )?|,? (?:and|but|or) (?={_DIRECT})|, (?={_DIRECT})", re.IGNORECASE)
_BEGINS = re.compile(_DIRECT, re.IGNORECASE)
_SHORT = re.compile(r"how [\w-]+", re.IGNORECASE)
"""A question that ends as the next one does: "How long" of "How long and how wide is the Rhine?"."""
_FIRST = re.compile(rf"(?:{_WH}|{_BE})\b", re.IGNORECASE)
_INNER = re.compile(rf"\b{_WH}\b", re.IGNORECASE)
_OPENING = re.compile(
    r"^(?:what|which|who|whose|why|when|where|how(?: (?:high|tall|long|old|far|big|large|much|many|often|deep))?)?"
    rf"\s*(?:{_BE}\s+)?(?:(?:the|an?|i|you|we|one)\s+)?",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(?:it|its|they|them|their|this|these|that|those|he|she|his|her|instead|meanwhile|else)\b", re.IGNORECASE
)
_OWNER = re.compile(r"\b(?:its|their)\b", re.IGNORECASE)
_MEASURE_OF = re.compile(rf"^(?:[\w-]+ ){{0,2}}(?:{MEASURES}|density|population) of (?:the )?", re.IGNORECASE)
"""Beginning of a subject that is measured: "its" belongs to what has the measure."""
_INDIRECT = re.compile(
    r"\b(?:explain|describe|know|tell|ask|wonder|depends?|see|show|understand|find out)\b", re.IGNORECASE
)
_JOINED = re.compile(r"^(?:and|but|or|so|then)\s+", re.IGNORECASE)
_YEARS = re.compile(
    r"\s+(?:from|between) (?:19|20)\d\d (?:to|and) (?:19|20)\d\d\b|\s+(?:in|as of|by|before|after|since|until|prior to)"
    r" (?:(?:the )?(?:end|start|beginning) of )?(?:19|20)\d\d\b|\s+(?:19|20)\d\d(?:\s?[-–]\s?(?:19|20)\d\d)?\W*$"
)
"""Years with a preposition, or at the end; others may be of a name."""
_NO_QUERY = re.compile(r"\b(?:explain|describe|list|what|how|why|which|who|when|where)\b", re.IGNORECASE)
_ABOUT = 8
"""Words of the first part that say what a pronoun in a later part is about."""


def sub_questions(question: str) -> tuple[str, ...]:
    """Return the parts of a compound question in order, each a question that can be searched by itself; none if it is
    a single question, or is not clearly compound. A part with a pronoun, or with less than two content words, names the
    subject of the first part in brackets. Never raises.
    """
    text = one_line(question)
    if len(text) > MAX_CHARS:
        return ()
    parts = list(dict.fromkeys(part.strip(" ,;?!.") for part in _BETWEEN.split(text)))
    parts = [part for part in parts if part]
    if not 1 < len(parts) <= MOST or not content_words(parts[0]):
        return ()
    if _SHORT.fullmatch(parts[0]) and (same := _SHORT.match(parts[1])):
        parts[0] += parts[1][same.end() :]
    if not (_is_whole(_FIRST, parts[0]) and all(_is_whole(_BEGINS, part) for part in parts[1:])):
        return ()
    about = " ".join(_OPENING.sub("", parts[0], count=1).split()[:_ABOUT])
    return tuple(_whole(part, about if place else "") for place, part in enumerate(parts))


def as_asked(part: str, question: str) -> str:
    """Return a sub-question of `question` without the subject in brackets that `sub_questions` adds: its heading in a
    report, which says the subject. Any other text stays as it is. Never raises.
    """
    for each in _BETWEEN.split(one_line(question)[:MAX_CHARS]):
        asked = _capitalised(each.strip(" ,;?!."))
        if asked and part.startswith(f"{asked} (") and part.endswith(")?"):
            return f"{asked}?"
    return part


def as_question(query: str) -> str:
    """Return a search query, which is no question, as one, without its years: "height of Mount Fuji 2020" as "What is
    the height of Mount Fuji?". A question or a request stays as it is. Never raises.
    """
    query = one_line(query)
    if query.endswith("?") or _FIRST.match(query) or _NO_QUERY.search(query):
        return query
    return f"What is the {_YEARS.sub('', query[:MAX_CHARS]).removeprefix('the ').strip(' .')}?"


def follow_up(question: str, words: str) -> str:
    """Return a follow-up question to `question` that can be searched by itself: with the subject of `question` in
    brackets, if it does not name one. Never raises.
    """
    part = _JOINED.sub("", one_line(words)).strip(" ,;?!.")
    about = " ".join(_OPENING.sub("", one_line(question)[:MAX_CHARS], count=1).strip(" ?!.").split()[:_ABOUT])
    return _whole(part, about) if part else words


def _is_whole(begins: re.Pattern[str], part: str) -> bool:
    """Return whether a part is a question by itself: it `begins` as one, and has no clause that could belong to
    another.
    """
    found = begins.match(part)
    if found is None or _INNER.search(part, found.end()):
        return False
    says = bool(content_words(part) or _PRONOUN.search(part))
    return says and ", to " not in part and not _INDIRECT.search(part)


def _whole(part: str, about: str) -> str:
    """Return a part as a question, with what it is about if it does not say so itself."""
    asked = _capitalised(part)
    if about and (_PRONOUN.search(part) or len(content_words(part)) < 2):
        owner = _MEASURE_OF.sub("", about) if _OWNER.search(part) else about
        return f"{asked} ({owner})?"
    return f"{asked}?"


def _capitalised(part: str) -> str:
    return part[:1].upper() + part[1:]
