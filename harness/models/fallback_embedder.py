"""Embedder that may be unreachable, with a fallback."""

import logging
from collections.abc import Sequence

from harness.errors import EmbeddingError
from harness.ports import Embedder, Vectors
from harness.storage import forks

log = logging.getLogger(__name__)


class FirstAvailable:
    """`first` if it answers, else `second`: chosen once, at the first use of any member.

    `first` is chosen if it returns its dimension, which costs a remote embedder one short text. Otherwise a warning is
    logged once and `second` is used under its own `id`: vectors of the two are never compared. The choice is final: if
    `first` fails later, its `EmbeddingError` is raised. Safe for threads; a forked child keeps the choice.
    """

    def __init__(self, first: Embedder, second: Embedder) -> None:
        self._first = first
        self._second = second
        self._failure: EmbeddingError | None = None

    def __repr__(self) -> str:
        return f"FirstAvailable({self._first!r}, {self._second!r})"

    @property
    def id(self) -> str:
        """Id of the chosen embedder; see `Embedder.id`."""
        return self._chosen.id

    @property
    def dimension(self) -> int:
        """Length of a vector of the chosen embedder."""
        return self._chosen.dimension

    @property
    def failure(self) -> EmbeddingError | None:
        """Error because of which `first` was not chosen, if any."""
        _ = self._chosen
        return self._failure

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        return self._chosen.embed(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See `Embedder.count_tokens`."""
        return self._chosen.count_tokens(texts)

    @forks.cached_property
    def _chosen(self) -> Embedder:
        try:
            log.debug("using the embedder %s, %d dimensions", self._first.id, self._first.dimension)
        except EmbeddingError as error:
            self._failure = error
            log.warning("using the local embedding model instead; its vectors are separate: %s", error)
            return self._second
        return self._first
