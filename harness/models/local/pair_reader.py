"""How a pair of questions is put to the cross-encoder: in the fitting of its rule and in use alike."""

from typing import Any

from harness.models.local.onnx import open_session
from harness.models.local.tokenizer import tokenizer
from harness.storage.forks import section

MAX_TOKENS = 160
"""Word pieces of both questions together, with the three signs around them. What is longer is not read."""
UNREAD = 0.0
"""What is said of texts that are too long to be read whole: nothing vouches for them."""


def plain(text: str) -> str:
    """Return the text as it is read: in small letters, with single spaces; broken Unicode as `?`."""
    return " ".join(text.encode(errors="replace").decode().casefold().split())


class PairReader:
    """Has a model read pairs, one by one, so that no other pair matters.

    The lesser text comes first: so it never matters which one is named first.
    """

    def __init__(self, weights: bytes) -> None:
        """Open the model. Raises `harness.models.local.onnx.UnusableModel`."""
        self._session: Any = open_session(weights)
        self._tokenizer: Any = tokenizer()

    def probability(self, a: str, b: str) -> float:
        """Return how likely (0..1) both have the same answer."""
        import numpy as np

        with section():
            encoded = self._tokenizer.encode(*sorted((plain(a), plain(b))))
            if len(encoded.ids) > MAX_TOKENS:
                return UNREAD
            inputs = {
                "input_ids": np.array([encoded.ids], dtype=np.int64),
                "token_type_ids": np.array([encoded.type_ids], dtype=np.int64),
            }
            return float(self._session.run(None, inputs)[0][0])
