"""Tokens of a text without loss, and words in the case of another word."""

import re

_TOKEN = re.compile(r"\w+(?:['’.\-]\w+)*|\s+|[^\w\s]")


def tokens(text: str) -> list[str]:
    """Return the words of `text` (with inner points, hyphens and apostrophes), white space and signs; joined, they are
    `text`.
    """
    return _TOKEN.findall(text)


def is_word(token: str) -> bool:
    """Return whether a token is a word or a number."""
    return token[:1].isalnum()


def written_like(word: str, model: str) -> str:
    """Return `word` with the case of `model`: all capitals, a leading capital, or unchanged."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word
