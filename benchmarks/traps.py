"""Pairs of questions that show whether a semantic cache serves an answer to the wrong question, written one by one.

The cache has the answer to one question of a pair and gets the other as query. Label 1: one answer serves both in full.
Label 0, a trap: they look alike, but a careful person would not accept the other's answer. `kind` names the subject of
a pair (`KINDS`). Pairs of label 1 keep it unchanged in other words, so that a rule that rejects, say, every number
fails on them.

One author, a language model, wrote every pair for this project: none is from another set or a template, and the author
had read neither the rules that the set judges nor the pairs that these were fitted on. All were read again; disputable
labels were corrected or left out, and so were 45 traps with the lowest cosine by all-MiniLM-L6-v2. There are no other
labels, so agreement is unknown. English only, in everyday and clumsy wording, some with typing errors. Fit nothing on
them: they only measure.

Licence: Apache-2.0, as the rest of the project.
"""

from pathlib import Path

import msgspec

KINDS = (
    "aspect", "audience", "comparatives", "dates", "direction", "names", "negation", "numbers", "opposites", "order",
    "reworded", "roles", "scope", "units", "versions",
)  # fmt: skip
"""Kinds of differences, in the order of the file."""

_FILE = Path(__file__).with_suffix(".jsonl")


class Trap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two questions, whether one answer serves both (`label` 1) or not (0), and their kind (one of `KINDS`).

    Symmetric: the cache may have the answer to either.
    """

    a: str
    b: str
    label: int
    kind: str


def read_traps() -> list[Trap]:
    """Return all pairs (about 2,100), sorted by kind, then label.

    Raises:
        OSError: `traps.jsonl` is not in this folder.
        msgspec.ValidationError: a line is not a pair.
    """
    return msgspec.json.Decoder(Trap).decode_lines(_FILE.read_bytes())
