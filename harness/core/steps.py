"""Steps: what a question "How do I …?" asks for, and numbered lists that give them."""

import re

from harness.core.text import words

MIN_STEPS, MIN_WORDS = 2, 3
"""Fewest steps of a list, and fewest words of one: titles in a table of contents are shorter."""
FIRST = ("1.", "1)")
"""Signs before the first step."""
_ASKS = re.compile(
    r"\W*(?:how (?:do|can|could|should|would|must|does) (?:i|you|we|one|someone|people)\b|how to\b"
    r"|(?:what|which)(?: are)?(?: the)?(?: \w+)? (?:steps|instructions|procedure)\b)",
    re.IGNORECASE,
)
_LISTED = re.compile(r"\bsteps\b[^.:]*: [-*•] ")
"""The announcement of steps that are listed without numbers."""
_NUMBER = re.compile(r"(?:^| )(\d{1,2})[.)] ")
_ENDS = (".", "!", ".)", ".”", '."')
"""Ends of a whole sentence that asks nothing."""


def asks_for_steps(question: str) -> bool:
    """Return whether an English question asks how something is done. Never raises."""
    return _ASKS.match(question) is not None


def steps_of(text: str) -> list[str]:
    """Return the steps of a text that is nothing but a list of sentences with the numbers 1, 2, 3, …; none if it is
    something else. Never raises.
    """
    if not text.startswith(FIRST):
        return []
    _, *parts = _NUMBER.split(text)
    numbers, steps = parts[::2], [step.strip() for step in parts[1::2]]
    if len(steps) < MIN_STEPS or any(int(number) != place for place, number in enumerate(numbers, start=1)):
        return []
    whole = all(step[:1].isupper() and step.endswith(_ENDS) and len(words(step)) >= MIN_WORDS for step in steps)
    return steps if whole else []


def gives_steps(sentence: str) -> bool:
    """Return whether a sentence is such a list, alone or after its announcement ("Do this: 1. …"), or announces a list
    of steps without numbers. Never raises.
    """
    return bool(steps_of(sentence) or steps_of(sentence.partition(": ")[2]) or _LISTED.search(sentence))
