"""An embedder that may be out of reach, and one that serves in its place."""

import logging
import os
import threading
from collections.abc import Sequence

from harness.errors import EmbeddingError
from harness.ports import Embedder, Vectors

log = logging.getLogger(__name__)


class FirstAvailable:
    """`first` where it answers, else `second`: chosen once, when anything is first asked for, for the object's life.

    Chosen is `first` if it can tell its dimension, which costs an embedder behind an endpoint one short text. If it
    cannot, that is said once, and `second` serves under its own `id`: vectors of the two are never compared. Whoever is
    chosen stays: if `first` fails later, its `EmbeddingError` is raised. Safe for threads; after a fork the choice
    stands.
    """

    def __init__(self, first: Embedder, second: Embedder) -> None:
        self._first = first
        self._second = second
        self._chosen: Embedder | None = None
        self._choosing: dict[int, threading.Lock] = {}
        self._failure: EmbeddingError | None = None

    def __repr__(self) -> str:
        return f"FirstAvailable({self._first!r}, {self._second!r})"

    @property
    def id(self) -> str:
        """Who was chosen; see `Embedder.id`."""
        return self._embedder().id

    @property
    def dimension(self) -> int:
        """How many numbers a vector of the chosen one has."""
        return self._embedder().dimension

    @property
    def failure(self) -> EmbeddingError | None:
        """Why `first` was not chosen, if it was not."""
        self._embedder()
        return self._failure

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        return self._embedder().embed(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See `Embedder.count_tokens`."""
        return self._embedder().count_tokens(texts)

    def _embedder(self) -> Embedder:
        if self._chosen is None:
            # a lock for each process: a fork may copy one that a thread of the parent holds, and nobody here lets go of
            with self._choosing.setdefault(os.getpid(), threading.Lock()):
                if self._chosen is None:
                    self._chosen = self._choose()
        return self._chosen

    def _choose(self) -> Embedder:
        try:
            log.debug("vectors are made by %s, of %d numbers", self._first.id, self._first.dimension)
        except EmbeddingError as error:
            self._failure = error
            log.warning("the local model serves instead; its vectors are its own: %s", error)
            return self._second
        return self._first
