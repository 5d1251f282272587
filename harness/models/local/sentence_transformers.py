"""sentence-transformers models, with the extra `[sentence-transformers]` (which installs torch)."""

import logging
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.core.text import clean, shorten
from harness.errors import EmbeddingError
from harness.ports import Vectors
from harness.settings.extras import install_message


class SentenceTransformers:
    """A model by name or local folder, loaded at the first text. A named model may be downloaded then, unless
    `local_only`.

    Texts go through the model one by one, so that a vector does not depend on what else is in the batch.
    """

    def __init__(self, model: str | Path, *, local_only: bool = False) -> None:
        self._name = str(model)
        self._local_only = local_only
        self.id = f"sentence-transformers:{Path(self._name).name}"

    @property
    def dimension(self) -> int:
        """Length of a vector; loads the model."""
        model = self._model
        # renamed in sentence-transformers 5.2; the old name warns there
        ask = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
        return int(ask())

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        import numpy as np

        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        vectors: Vectors = self._model.encode(
            list(texts), batch_size=1, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        ).astype(np.float32)
        return vectors

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See `Embedder.count_tokens`: by the tokenizer of the model's first module."""
        if not texts:
            return []
        tokenizer = self._model.tokenizer
        try:
            encoded = tokenizer(list(texts), add_special_tokens=False, truncation=False, verbose=False)
        except TypeError as error:
            raise EmbeddingError("a text contains a lone surrogate (broken Unicode); re-encode it") from error
        return [len(ids) for ids in encoded["input_ids"]]

    @cached_property
    def _model(self) -> Any:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise EmbeddingError(install_message("sentence-transformers")) from error
        logging.getLogger("huggingface_hub").setLevel(logging.CRITICAL)  # it logs each failed download; we raise
        try:
            return SentenceTransformer(self._name, device="cpu", local_files_only=self._local_only)
        except (OSError, ValueError) as error:
            reason = shorten(clean(error, 1_000), 200)
            raise EmbeddingError(
                f"the model {self._name} cannot be loaded ({reason}); give a model's name or folder"
            ) from error
