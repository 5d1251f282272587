"""Sub-questions of a compound question, by rules: "What is X, and how does it differ from Y?" has two."""

import re

from harness.core.required_terms import required_names
from harness.core.text import content_words, one_line

MOST = 4
"""More parts are left together."""

_ASKS = (
    r"(?:what|how|why|when|where|which|who|whose|whether)\b"
    r"|(?:is|are|was|were|do|does|did|can|could|should|will|has|have) (?:it|they|this|that|these|those|there|its"
    r"|the|an?|one|i|we|you)\b"
)
_BETWEEN = re.compile(
    rf"(?:\?|[,;.])\s+(?:and |but |or )?(?=(?:{_ASKS}))|\s+(?:and|but)\s+(?=(?:{_ASKS}))", re.IGNORECASE
)
_BEGINS = re.compile(_ASKS, re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:it|its|they|them|their|this|these|that|those|he|she|his|her)\b", re.IGNORECASE)
_INDIRECT = re.compile(
    r"\b(?:explain|describe|know|tell|ask|wonder|depends?|see|show|understand)\b[^,?]*$", re.IGNORECASE
)
_ABOUT = 6
"""Content words of the first part that say what a pronoun in a later part is about."""


def sub_questions(question: str) -> tuple[str, ...]:
    """Return the parts of a compound question in order, each a question that can be searched by itself; none if it is
    a single question. A part with a pronoun, or with less than two content words, names the subject of the first part
    in brackets. Never raises.
    """
    parts = [part.strip(" ,;?!.") for part in _BETWEEN.split(one_line(question))]
    parts = [part for part in parts if part]
    if not 1 < len(parts) <= MOST or not all(_BEGINS.match(part) for part in parts[1:]):
        return ()
    if not _BEGINS.match(parts[0]) or _INDIRECT.search(parts[0]) or not content_words(parts[0]):
        return ()
    about = " ".join(required_names(parts[0]) or dict.fromkeys(content_words(parts[0])[:_ABOUT]))
    return tuple(_whole(part, about if place else "") for place, part in enumerate(parts))


def _whole(part: str, about: str) -> str:
    """Return a part as a question, with what it is about if it does not say so itself."""
    names = content_words(part)
    asked = part[0].upper() + part[1:]
    if about and (_PRONOUN.search(part) or len(names) < 2):
        return f"{asked} ({about})?"
    return f"{asked}?"
