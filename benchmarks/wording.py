"""What two texts have in common that differ in signs alone."""

import re

_WORDS = re.compile(r"\w+")


def wording(text: str) -> str:
    """Return the words of `text` alone, in small letters: signs are left out."""
    return " ".join(_WORDS.findall(text.lower()))
