"""An embedder for texts that state their vector."""

import re
from collections.abc import Sequence

import numpy as np

_TOLD = re.compile(r"similarity\s+(-?\d\.\d+)\s+in\s+direction\s+(\d+)")


class DirectedEmbedder:
    """An embedder for texts that state their similarity to all other texts and their direction; it counts."""

    id = "directed-64"
    dimension = 64

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """See `Embedder.embed`."""
        self.texts.extend(texts)
        return np.array([self._vector(each) for each in texts], np.float32).reshape(len(texts), self.dimension)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See `Embedder.count_tokens`: a word is a token."""
        return [len(each.split()) for each in texts]

    def _vector(self, given: str) -> np.ndarray:
        vector = np.zeros(self.dimension)
        similarity, direction = found.groups() if (found := _TOLD.search(given)) else ("1", "0")
        vector[0] = float(similarity)
        vector[1 + int(direction) % (self.dimension - 1)] += (1.0 - float(similarity) ** 2) ** 0.5
        return vector
