"""What careful readers say of pairs of other people's texts: how sure they are (0..1) that one answer serves both.

The readers are language models that were given two texts a pair and nothing else: no label, no score, no rule. The
texts are not ours to keep, so a line of a file of grades names them by their digests: *first second grade*, where the
grade is of a hundred.
"""

from hashlib import sha256
from pathlib import Path

from harness.core.keys import normalise

Named = tuple[str, str]
"""The digests of two texts, the lesser one first."""


def digest(text: str) -> str:
    """Return what stands for `text`, normalised: 48 bits of its SHA-256, in hex."""
    return sha256(normalise(text).encode()).hexdigest()[:12]


def named(a: str, b: str) -> Named:
    """Return what stands for a pair, whichever text comes first."""
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
