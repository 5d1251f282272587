"""Input of the cross-encoder for a pair of questions: the same for fitting its rule and for use."""

from typing import Any

from harness.models.local.onnx import open_session
from harness.models.local.tokenizer import tokenizer
from harness.storage.forks import section

MAX_TOKENS = 160
"""Word pieces of both questions together, with the three special tokens. Longer pairs are not read."""
UNREAD = 0.0
"""Probability for pairs that are too long to be read whole."""


def plain(text: str) -> str:
    """Return the text as the model reads it: lower case, single spaces, broken Unicode as `?`."""
    return " ".join(text.encode(errors="replace").decode().casefold().split())


class PairReader:
    """Cross-encoder that reads pairs one by one, so that a probability does not depend on other pairs.

    The lesser text goes first, so the order of the arguments does not matter.
    """

    def __init__(self, weights: bytes) -> None:
        """Open the model; raise `harness.models.local.onnx.UnusableModel` if that fails."""
        self._session: Any = open_session(weights)
        self._tokenizer: Any = tokenizer()

    def probability(self, a: str, b: str) -> float:
        """Return the probability (0..1) that both have the same answer."""
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
