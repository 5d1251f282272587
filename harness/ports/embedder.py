"""Port of embedding models."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:  # numpy takes 0.1 s to import, and an exact hit has no vectors
    import numpy as np
    from numpy.typing import NDArray

Vectors: TypeAlias = "NDArray[np.float32]"


class Embedder(Protocol):
    """Turns texts into vectors whose dot product is their similarity."""

    @property
    def id(self) -> str:
        """Return the name of model, weights and version: vectors of different ids are never compared."""

    @property
    def dimension(self) -> int:
        """Return the number of dimensions of a vector."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text: float32, shape (len(texts), dimension). A text's vector depends on the
        text alone, not on what else is in the batch.

        Raises:
            EmbeddingError: the model is missing, damaged, or failed.
        """

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens the model makes of each text, however long; its special tokens do not count.

        Raises:
            EmbeddingError: the model is missing or damaged.
        """


@runtime_checkable
class CrossLanguageEmbedder(Embedder, Protocol):
    """Embedder whose vectors of English texts have no similarity (exactly 0) to those of texts in other languages."""

    def embed_across(self, texts: Sequence[str]) -> Vectors:
        """Return other unit vectors of English texts: their similarity to texts in other languages is that of their
        meaning, to English ones 0.

        Raises:
            EmbeddingError: see `embed`.
        """
