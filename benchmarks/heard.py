"""Texts that the verifier's training has read but for signs: no evaluation measures them.

Training keeps clear of every evaluated text, normalised; that leaves signs in, and *how are hurricanes named?* is not
*how are hurricanes named*. `heard.txt` holds the digests of the wordings that training read all the same (`python -m
training.heard` writes it).
"""

import re
from functools import cache
from hashlib import sha256
from pathlib import Path

FILE = Path(__file__).with_suffix(".txt")
_WORDS = re.compile(r"\w+")


def wording(text: str) -> str:
    """Return the words of `text` alone, in small letters: signs are left out."""
    return " ".join(_WORDS.findall(text.lower()))


def digest(text: str) -> str:
    """Return what stands for the wording of `text`: half of its SHA-256, in hex."""
    return sha256(wording(text).encode()).hexdigest()[:32]


def heard(*texts: str) -> bool:
    """Say whether training has read the wording of one of `texts`."""
    return any(digest(text) in _known() for text in texts)


@cache
def _known() -> frozenset[str]:
    return frozenset(FILE.read_text().split())
