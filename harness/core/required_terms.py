"""Terms of a question that an answer must be about: years, versions, numbers."""

import re
from collections.abc import Iterable

_TERM = re.compile(r"(?<![\w.])v?\d[\d.,]*\d(?![\w])|(?<![\w.,])\d{3,}(?!\w)")
"""Numbers of at least two digits, and versions: small counts ("the 3 kinds") are often part of the wording."""
_SMALL = 10


def required_terms(question: str) -> tuple[str, ...]:
    """Return the years, versions and other numbers above ten of a question, each once, as written. Never raises."""
    found = (match[0].strip(".,").removeprefix("v") for match in _TERM.finditer(question))
    return tuple(dict.fromkeys(term for term in found if "." in term or _above(term)))


def lacking(terms: Iterable[str], text: str) -> tuple[str, ...]:
    """Return those of `terms` that `text` does not have. A version is met by one of its releases (3.12 by 3.12.1), a
    number also with other separators (1,000 by 1000), but never as a part of another number. Never raises.
    """
    held = _joined(text)
    return tuple(term for term in terms if not re.search(rf"(?<![\d.]){re.escape(_joined(term))}(?!\d)", held))


def _above(term: str) -> bool:
    digits = re.sub(r"\D", "", term)
    return len(digits) > 1 and (len(digits) > 15 or int(digits) > _SMALL)


def _joined(text: str) -> str:
    return re.sub(r"(?<=\d),(?=\d{3})", "", text)
