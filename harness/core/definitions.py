"""Sentences that say what a thing is."""

import re

from harness.core.text import stems

_SUBJECT_IS = re.compile(
    r"(?:an? |the |in [^,]{2,60}, (?:an? |the )?)?(?P<subject>[^,.;:()]{2,80}?)(?: \([^()]{1,60}\))?,? "
    r"(?:(?:is|are|was|were) (?:an?|the|any|one of|defined|called|known as)\b|(?:refers? to|denotes?|stands? for)\b)",
    re.IGNORECASE,
)
"""The beginning of "A closure is a …", "In Python, a closure (…) is the …", "Jitter refers to …"."""


def defines(sentence: str, question: str) -> bool:
    """Return whether an English sentence says what a thing is that the question names. Never raises."""
    found = _SUBJECT_IS.match(sentence.strip())
    subject = stems(found["subject"]) if found else set()
    return bool(subject) and subject <= stems(question)
