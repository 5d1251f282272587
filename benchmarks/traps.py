"""Pairs of questions written one by one, to find out whether a semantic cache serves an answer to the wrong question.

In each pair the cache holds the answer to one question and is asked the other. Label 1: the same answer serves both in
full. Label 0, a trap: the two look alike, and a careful person would not accept the other's answer. `kind` names what a
pair is about (`KINDS`); the pairs of label 1 hold it unchanged, in other words, so that a rule that refuses whatever
contains, say, a number fails on them.

Every pair was written for this project by one author, a language model: none was taken from another set or filled into
a template, and the author had read neither the rules that the set judges nor the pairs that those were fitted on. All
were read once more, and a label that could be disputed was mended or left out; so were 45 of the traps that
all-MiniLM-L6-v2 found furthest apart. Nobody else has labelled them, so agreement is not known. English only, in
everyday and clumsy wording, some with typing errors. Fit nothing on them: they only measure.

Licence: Apache-2.0, as the rest of the project.
"""

from pathlib import Path

import msgspec

KINDS = (
    "aspect", "audience", "comparatives", "dates", "direction", "names", "negation", "numbers", "opposites", "order",
    "reworded", "roles", "scope", "units", "versions",
)  # fmt: skip
"""What a pair turns on, in the order of the file."""

_FILE = Path(__file__).with_suffix(".jsonl")


class Trap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two questions, whether one answer serves both (`label` 1) or not (0), and what they turn on (one of `KINDS`).

    Symmetric: either of the two may be the one whose answer is held.
    """

    a: str
    b: str
    label: int
    kind: str


def read_traps() -> list[Trap]:
    """Return all pairs (about 2,100), sorted by kind, then label.

    Raises:
        OSError: if `traps.jsonl` is not beside this file.
        msgspec.ValidationError: if a line is not a pair.
    """
    return msgspec.json.Decoder(Trap).decode_lines(_FILE.read_bytes())
