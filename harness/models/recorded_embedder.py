"""Embedder of a recorded run, for its replay."""

import math
from collections.abc import Sequence
from typing import NoReturn

from harness.core.text import shorten
from harness.errors import OfflineMiss
from harness.ports import Vectors

MAX_EXCERPT = 100
CHARS_PER_TOKEN = 4
"""The estimate of `OpenAIEmbedder`, so that documents are cut at the same places as in the run."""


class RecordedEmbedder:
    """Embedder without a model: its id finds the results that were recorded with its vectors."""

    def __init__(self, name: str) -> None:
        self.id = name

    @property
    def dimension(self) -> int:
        """See `Embedder.dimension`.

        Raises:
            OfflineMiss: always.
        """
        self._refuse("")

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`.

        Raises:
            OfflineMiss: always.
        """
        self._refuse(f" for {shorten(texts[0], MAX_EXCERPT)!r}" if texts else "")

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Estimate the tokens of each text: its characters / 4, rounded up."""
        return [math.ceil(len(text) / CHARS_PER_TOKEN) for text in texts]

    def _refuse(self, what: str) -> NoReturn:
        raise OfflineMiss(f"replaying, and the snapshot has no vectors of {self.id}{what}; replay another one")
