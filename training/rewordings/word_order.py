"""Parts of a sentence in another order: fronted phrases and clauses, pairs, comparisons, search words."""

import re
from collections.abc import Callable
from random import Random

from training.rewordings.pairs import compared, paired, versus
from training.rewordings.shape import (
    ASKING,
    AUXILIARIES,
    LINKS,
    PREPOSITIONS,
    first_word,
    is_one_sentence,
    lowered_start,
    raised_start,
    split_end,
)

_TIME = r"(?:(?:January|February|March|April|May|June|July|August|September|October|November|December) )?[12]\d{3}"
_FRONTED = re.compile(rf"(?P<time>(?:In|By|Since|During|Until) {_TIME}) ?,? (?P<rest>[^,]+)")
_FINAL = re.compile(rf"(?P<rest>[^,]+?) (?P<time>(?:in|since) {_TIME})")
_CLAUSE_FIRST = re.compile(
    r"(?P<link>If|When|Before|After|While|Since) (?P<clause>(?:I|you|we|they|he|she|it|someone|my|the"
    r"|a|an|there|people)\b[^,]+), (?P<main>[^,]+)",
    re.IGNORECASE,
)
_CLAUSE_LAST = re.compile(
    r"(?P<main>[^,]+?) (?P<link>if|when) (?P<clause>(?:i|you|we|they|he|she|it|someone|my|the|there|people)\b[^,]+)",
    re.IGNORECASE,
)
_ASKS_IF = re.compile(
    r"\b(?:know|tell|see|check|wonder|wondering|ask|matter|matters|care|sure|out|even|only|as|mind"
    r"|say|determine|verify|like"
    r"|test|feel|mean|prefer|what|than|be|is|just|possible|true)\Z",
    re.IGNORECASE,
)
_PLACED = re.compile(
    r"(?P<main>(?:how (?:do|can|should|would) (?:i|we|you)|what should i do|how to) (?!log|sign|get"
    r"|turn|go|live|work|move|stay)[^,]+?) "
    r"(?P<place>(?:on|in) (?:[A-Z][\w+#]+(?: \d+)?|python|java|excel|windows|android|linux|javascript"
    r"|php|photoshop|matlab|ubuntu|mac|iphone|c\+\+|c#|sql|word|wordpress|facebook|instagram|gmail"
    r"|india|canada|germany|australia))",
)
_FACETS = frozenset(
    """
    symptoms symptom causes price prices review reviews recipe recipes tutorial tutorials cost definition
    news map jobs statistics stats salary vaccine update updates update pictures images photos
    video videos meaning lyrics cure china wuhan india usa canada uk australia california texas
    japan germany france italy spain london thailand singapore malaysia philippines vietnam taiwan iran florida
    chicago seattle python java javascript php excel matlab linux windows android ubuntu mysql sql bash
    """.split()
)
"""Words that may be at the front or the end of a line of search words."""


class WordOrder:
    """Moves a phrase or clause from the front of a sentence to its end, or back, swaps the halves of a pair or of a
    comparison, or moves a free word of a search line.
    """

    name = "word order"

    def vary(self, text: str, chance: Random) -> str | None:
        """See `Generator.vary`."""
        if not is_one_sentence(text):
            return None
        ways = _WAYS
        for way in chance.sample(ways, len(ways)):
            body, end = split_end(text)
            varied = way(body)
            if varied is not None and varied != body:
                return varied + end
        return None


_BACKWARD = frozenset("it they he she them him her his its their this that".split())
"""These would stand before what they mean."""


def _simple(clause: str) -> bool:
    """Return whether a clause is one alone: no second verb can be reached by what is moved."""
    words = {word.lower() for word in clause.split()}
    return not words & (LINKS | {"and", "or", "before", "after", ";", "--"}) and len(words) > 2


def _moved_back(body: str) -> str | None:
    found = _FRONTED.fullmatch(body)
    if found is None or not _simple(found["rest"]) or re.search(r"\b(?:in|since|by|of) \d{4}|,", found["rest"]):
        return None
    return f"{raised_start(found['rest'].rstrip())} {found['time'][0].lower()}{found['time'][1:]}"


def _moved_front(body: str) -> str | None:
    found = _FINAL.fullmatch(body)
    if found is None or not _simple(found["rest"]) or re.search(r"\d{4}|\bborn\b.*\bborn\b", found["rest"]):
        return None
    if len(found["rest"].split()) > 12 or re.search(
        r"\b(?:published|film|season|election|census|built|the|of)\Z", found["rest"]
    ):
        return None
    time = found["time"][:1].upper() + found["time"][1:] if body[:1].isupper() else found["time"]
    return f"{time} , {lowered_start(found['rest'])}" if " ," in body else f"{time}, {lowered_start(found['rest'])}"


def _clause_back(body: str) -> str | None:
    found = _CLAUSE_FIRST.fullmatch(body)
    if found is None or not _asks(found["main"]) or _linked(found["clause"]):
        return None
    if _BACKWARD & {word.lower() for word in found["main"].split()}:
        return None
    main = raised_start(found["main"].strip()) if body[:1].isupper() else found["main"].strip()
    return f"{main} {found['link'].lower()} {found['clause'].strip()}"


def _clause_front(body: str) -> str | None:
    found = _CLAUSE_LAST.fullmatch(body)
    if found is None or not _asks(found["main"]) or _ASKS_IF.search(found["main"]) or _linked(found["clause"]):
        return None
    if _linked(found["main"]) or len(found["main"].split()) < 2:
        return None
    link = found["link"].capitalize() if body[:1].isupper() else found["link"]
    return f"{link} {found['clause']}, {lowered_start(found['main'])}"


def _placed_front(body: str) -> str | None:
    found = _PLACED.fullmatch(body[:1].lower() + body[1:])
    if found is None or not _simple(found["main"]):
        return None
    place = raised_start(found["place"]) if body[:1].isupper() else found["place"]
    return f"{place}, {lowered_start(found['main'])}"


def _facet(body: str) -> str | None:
    words = body.split(" ")
    if not 2 <= len(words) <= 3 or not all(word.isalpha() and word.islower() for word in words):
        return None
    if first_word(body) in ASKING | AUXILIARIES or (PREPOSITIONS | {"and", "the", "a", "us"}) & set(words):
        return None
    if words[-1] in _FACETS and words[0] not in _FACETS:
        return " ".join([words[-1], *words[:-1]])
    if words[0] in _FACETS and words[-1] not in _FACETS:
        return " ".join([*words[1:], words[0]])
    return None


def _asks(main: str) -> bool:
    return first_word(main) in ASKING or first_word(main) in AUXILIARIES


def _linked(clause: str) -> bool:
    return bool({word.lower() for word in clause.split()} & (LINKS | {"and", "or", "then"}))


_WAYS: tuple[Callable[[str], str | None], ...] = (
    _moved_back, _moved_front, _clause_back, _clause_front, _placed_front, _facet, paired, compared, versus,
)  # fmt: skip
