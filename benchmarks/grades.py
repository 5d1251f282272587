"""Grades of pairs of texts by readers: how sure (0..1) they are that one answer serves both.

The readers are language models that saw only the two texts: no label, no score, no rule. The licence of the texts does
not allow to include them, so a line of a grades file names them by digest: *first second grade*, the grade of 100.
"""

from hashlib import sha256
from pathlib import Path

from harness.core.keys import normalise

Named = tuple[str, str]
"""Digests of two texts, the lesser one first."""


def digest(text: str) -> str:
    """Return the digest of `text`, normalised: 48 bits of its SHA-256, in hex."""
    return sha256(normalise(text).encode()).hexdigest()[:12]


def named(a: str, b: str) -> Named:
    """Return the digests of a pair, in either order of its texts."""
    one, other = sorted((digest(a), digest(b)))
    return one, other


def read_grades(file: Path) -> dict[Named, float]:
    """Return the grades of a file (0..1), by pair.

    Raises:
        ValueError: a line is not two digests and a number.
    """
    found = {}
    for line in file.read_text().splitlines():
        first, second, grade = line.split(" ")
        found[first, second] = float(grade) / 100
    return found
