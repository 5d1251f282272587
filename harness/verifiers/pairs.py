"""How a pair of questions is written for the cross-encoder: in its training and in use alike."""

from typing import Any

from msgspec import Struct

from harness.wordpieces import tokenizer

MAX_TOKENS = 160
"""Word pieces of both questions together, with the three signs around them. What is longer is not read."""


class Encoded(Struct, frozen=True):
    """Word pieces of a pair, and which of the two texts each belongs to (0 or 1)."""

    ids: list[int]
    types: list[int]


class PairEncoder:
    """Writes two texts as one row of word pieces. The lesser text comes first, so their order never matters."""

    def __init__(self) -> None:
        self._tokenizer: Any = tokenizer()

    def encode(self, a: str, b: str) -> Encoded | None:
        """Return the row, or `None` where the pair is longer than `MAX_TOKENS`. Broken Unicode is read as `?`."""
        first, second = sorted(text.encode(errors="replace").decode() for text in (a, b))
        encoded = self._tokenizer.encode(first, second)
        return Encoded(encoded.ids, encoded.type_ids) if len(encoded.ids) <= MAX_TOKENS else None
