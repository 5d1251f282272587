"""Sentences that say what a thing is."""

import re

from harness.core.text import stems

_SUBJECT_IS = re.compile(
    r"(?:an? |the |in [^,]{2,60}, (?:an? |the )?)?(?P<subject>[^,.;:()]{2,80}?)(?: \([^()]{1,60}\))?,? "
    r"(?:(?:is|are|was|were) (?:an?|the|any|one of|defined|called|known as)\b|(?:refers? to|denotes?|stands? for)\b)",
    re.IGNORECASE,
)
"""The beginning of "A closure is a …", "In Python, a closure (…) is the …", "Jitter refers to …"."""
_WHAT_IS = re.compile(
    r"what(?: is|['’]s| are| was| were) (?P<thing>[^?.,;:]{1,80}?)"
    r"(?: (?:of|in|for|from|with|on|at|to|by|between|about|under|and|or|that|which|who|when|called)\b|[?.,;:]|$)",
    re.IGNORECASE,
)
"""The thing that a question asks about, without what follows its name: "the load" in "What is the load of the …?"."""


def asks_what(question: str) -> bool:
    """Return whether an English question asks for a definition ("What is …"). Never raises."""
    return _WHAT_IS.match(question.strip()) is not None


def defines(sentence: str, question: str) -> bool:
    """Return whether an English sentence defines a thing that the question names. If the question asks for a
    definition, it must be that one: for "What is the load of the bike?" of the load, not of the bike. Never raises.
    """
    found = _SUBJECT_IS.match(sentence.strip())
    subject = stems(found["subject"]) if found else set()
    if not subject or not subject <= stems(question):
        return False
    asked = _WHAT_IS.match(question.strip())
    thing = stems(asked["thing"]) if asked else subject
    return subject <= thing or (bool(thing) and thing <= subject)
