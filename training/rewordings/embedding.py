"""Questions inside other sentences: `how do I swim` as `how to swim`, `why is it cold` as `why it is cold`."""

import re
from random import Random

from training.rewordings.shape import AUXILIARIES, lowered_start
from training.words import tokens

_HOW = re.compile(r"how (?:do|can|could|should|would) (?:i|we|you|one) (?!not\b)(?P<verb>\w.*)", re.IGNORECASE)
_FINITE = re.compile(
    r"(?:who|what|which \w+|how many \w+|what \w+) (?!do\b|does\b|did\b)(?:\w+ed|\w+s|wrote|won|made"
    r"|built|began|sang)\b.*",
    re.IGNORECASE,
)
_EQUATION = re.compile(
    r"(?:what|which|who|where|what's|who's|where's)(?: (?:is|are|was|were))? (?:the|some|a|an|best)\b.*", re.IGNORECASE
)
_INVERTED = re.compile(
    r"(?P<asked>(?:why|when|where|how|what|who|which|what \w+|which \w+|how (?:much|many|long|often"
    r"|far|fast|old|\w+))) "
    r"(?P<aux>is|are|am|was|were|can|could|should|would|will|do|does|did|have|has|had|must) "
    r"(?P<subject>i|you|we|they|he|she|it|this|that|these|those|people|women|men|dogs|cats|children|indians|americans)"
    r"\b(?P<rest>.*)",
    re.IGNORECASE,
)
_POLAR = re.compile(
    r"(?P<aux>is|are|am|was|were|can|could|should|would|will|do|does|did|have|has) "
    r"(?P<subject>i|you|we|they|he|she|it|this|that|there|people|women|men|dogs|cats|children)\b(?P<rest>.*)",
    re.IGNORECASE,
)
_SHORT_BE = re.compile(
    r"(?P<asked>what|who|where) (?P<aux>is|are) (?P<subject>(?:(?:a|an|the|my) )?[\w.+#-]+(?: [\w.+#-]+)?)",
    re.IGNORECASE,
)
_VERBAL = re.compile(
    r"(?:ing|ed)\b|\b(?:called|made|found|spread|used|meant|known|done|built|set|sold|like|for|wrong|up|new|on|about|going)\b",
    re.IGNORECASE,
)
_THIRD = {"do": "does", "go": "goes", "have": "has"}


def embedded(question: str, chance: Random) -> str | None:
    """Return a question without its end as it stands after `tell me` or `I wonder`, or `None` where that is unsure."""
    how = _HOW.fullmatch(question)
    if how:
        return f"how to {how['verb']}" if "yourself" not in question and "your " not in question else None
    if re.match(r"how to\b", question, re.IGNORECASE):
        return lowered_start(question)
    short = _SHORT_BE.fullmatch(question)
    if short and not _VERBAL.search(short["subject"]) and not _begins_aux(short["subject"]):
        return f"{short['asked'].lower()} {short['subject']} {short['aux'].lower()}"
    if _EQUATION.fullmatch(question) or _FINITE.fullmatch(question):
        return lowered_start(question)
    return _uninverted(question) or _whether(question, chance)


def _whether(question: str, chance: Random) -> str | None:
    """Return `do I swim` as `if I swim`."""
    polar = _POLAR.fullmatch(question)
    said = _declared(polar) if polar else None
    return f"{chance.choice(['if', 'whether'])} {said}" if said else None


def _uninverted(question: str) -> str | None:
    """Return `why do I swim` as `why I swim`, where the subject is one sure word; else `None`."""
    found = _INVERTED.fullmatch(question)
    if found is None:
        return None
    said = _declared(found)
    return f"{found['asked'].lower()} {said}" if said else None


def _declared(found: re.Match[str]) -> str | None:
    """Return subject, verb and rest in the order of a statement."""
    aux, subject, rest = found["aux"].lower(), found["subject"], found["rest"]
    low = subject.lower()
    subject = "I" if low == "i" and subject == "I" else low
    if low in {"this", "that", "these", "those"} and aux not in {"is", "are", "was", "were"}:
        return None
    if low in {"this", "that", "these", "those"} and not re.match(r" (?:a|an|the|not|so|too|normal|true|safe)\b", rest):
        return None
    if aux in {"do", "does", "did"}:
        words = rest.split()
        if not words or words[0] in {"not", "have"} or aux == "did":
            return None
        return f"{subject}{rest}" if aux == "do" else f"{subject} {third_person(words[0])}{rest[1 + len(words[0]) :]}"
    return f"{subject} {aux}{rest}"


def third_person(verb: str) -> str:
    """Return the form of a base verb after `he`."""
    low = verb.lower()
    if low in _THIRD:
        return _THIRD[low]
    if low.endswith(("s", "x", "z", "ch", "sh")):
        return low + "es"
    return low[:-1] + "ies" if low.endswith("y") and low[-2:-1] not in "aeiou" else low + "s"


def _begins_aux(subject: str) -> bool:
    return any(piece.lower() in AUXILIARIES for piece in tokens(subject))
