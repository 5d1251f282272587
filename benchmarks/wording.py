"""Wording of a text: equal for texts that differ only in signs."""

import re

_WORDS = re.compile(r"\w+")


def wording(text: str) -> str:
    """Return the words of `text` alone, in small letters: signs are left out."""
    return " ".join(_WORDS.findall(text.lower()))
