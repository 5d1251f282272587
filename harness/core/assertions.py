"""Assertions: whether a text states something, or only asks, supposes, denies, orders or reports it."""

import re

from harness.core.text import stems

_DENIED = re.compile(
    r"\b(?:(?:false|untrue|a myth) that|den(?:y|ies|ied)|disput(?:e|es|ed)|refut(?:e|es|ed)|failed to|no evidence)\b",
    re.IGNORECASE,
)
_CLAIMED = re.compile(
    r"\b(?:claim(?:s|ed)?|alleg\w+|rumou?r\w*|suppos(?:e|es|ed|edly)|pretend\w*|believ(?:e|es|ed))\b(?= |,)",
    re.IGNORECASE,
)
_REPORTS = re.compile(
    r"\b(?:accord\w*|sa(?:y|ys|id)|stat(?:e|es|ed)|report\w*|argu\w+|think\w*|thought)\b", re.IGNORECASE
)
_ORDERED = re.compile(
    r"(?:please )?(?P<verb>ignore|disregard|forget|write|say|state|answer|reply|respond|repeat|print|output|tell)\b"
    r".{0,200}? that ",
    re.IGNORECASE | re.DOTALL,
)
_SUPPOSED = re.compile(r"\b(?:if|whether|suppose|assuming)\b(?P<supposed>[^,;.]{1,300})", re.IGNORECASE)


def not_stated(sentence: str, quotation: str) -> str | None:
    """Return why a sentence of a quotation does not state what `sentence` states; `None` if it may. Never raises."""
    if quotation.rstrip(" \"'”’)").endswith("?") and not sentence.rstrip(" .").endswith("?"):
        return "the quotation only asks it"
    if _DENIED.search(quotation) and not _DENIED.search(sentence):
        return "the quotation denies it"
    reported = _CLAIMED.search(sentence) or _REPORTS.search(sentence)
    if _CLAIMED.search(quotation) and not reported:
        return "the quotation only says that it is claimed"
    ordered = _ORDERED.match(quotation.lstrip(" \"'“‘"))
    if (
        ordered
        and not stems(ordered["verb"]) & stems(sentence)
        and not sentence.lower().startswith(ordered["verb"].lower())
    ):
        return "the quotation is an order"
    said = stems(sentence)
    for supposed in _SUPPOSED.finditer(quotation):
        if said and said <= stems(supposed["supposed"]) and not _SUPPOSED.search(sentence):
            return "the quotation only supposes it"
    return None
