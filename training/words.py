"""Words of a text, cut without loss, and words written as another one is."""

import re

_TOKEN = re.compile(r"\w+(?:['’.\-]\w+)*|\s+|[^\w\s]")


def tokens(text: str) -> list[str]:
    """Cut `text` into words (with their inner points, hyphens and apostrophes), white space and signs; joined, these
    are `text` again.
    """
    return _TOKEN.findall(text)


def is_word(token: str) -> bool:
    """Say whether a token is a word or a number."""
    return token[:1].isalnum()


def written_like(word: str, model: str) -> str:
    """Return `word` with the case of `model`: all capitals, a capital in front, or as it is."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word
