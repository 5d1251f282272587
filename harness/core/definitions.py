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
"""The thing of which a question asks what it is, up to what belongs to it: the load of "What is the load of the …?"."""


def asks_what(question: str) -> bool:
    """Return whether an English question is what something is. Never raises."""
    return _WHAT_IS.match(question.strip()) is not None


def defines(sentence: str, question: str) -> bool:
    """Return whether an English sentence says what a thing is that the question names; if the question is what
    something is, that thing: a load, rather than the bike that it is the load of. Never raises.
    """
    found = _SUBJECT_IS.match(sentence.strip())
    subject = stems(found["subject"]) if found else set()
    if not subject or not subject <= stems(question):
        return False
    asked = _WHAT_IS.match(question.strip())
    thing = stems(asked["thing"]) if asked else subject
    return subject <= thing or (bool(thing) and thing <= subject)
