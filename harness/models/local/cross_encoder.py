"""Cross-encoder made from all-MiniLM-L6-v2: int8 weights on onnxruntime, no torch.

`python -m training` makes its weights and a JSON file with their digest and the rule.
"""

import threading
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from harness.core.equivalence import Rule, promised
from harness.errors import VerifierError
from harness.models.local.onnx import UnusableModel, open_session, output_of, released_weights
from harness.models.local.tokenizer import tokenizer
from harness.storage import forks

NAME = "minilm-pairs"
WEIGHTS = Path(__file__).parent / "weights" / "minilm.onnx"
SAME = 0.999
"""Probability for texts that differ at most in case and white space; the model does not read them."""
MAX_TOKENS = 160
"""Word pieces of both questions together, with the three special tokens. Longer pairs are not read."""
UNREAD = 0.0
"""Probability for pairs that are too long to be read whole."""


class Release(Struct, frozen=True, forbid_unknown_fields=True):
    """JSON file of the weights: their SHA-256 (hex), the rule's weights in general and for `reworded` questions (see
    `Rule`), a threshold for each share of wrong answers, smallest share first, and their calibration data.
    """

    sha256: str
    weights: tuple[float, ...]
    reworded: tuple[float, ...]
    thresholds: tuple[tuple[float, float], ...]
    calibrated_on: str


def plain(text: str) -> str:
    """Return the text as the model reads it: lower case, single spaces, broken Unicode as `?`."""
    return " ".join(text.encode(errors="replace").decode().casefold().split())


class PairReader:
    """Cross-encoder that reads pairs one by one, so that a probability does not depend on other pairs.

    The lesser text goes first, so the order of the arguments does not matter.
    """

    def __init__(self, weights: bytes) -> None:
        """Open the model; raise `UnusableModel` if that fails."""
        self._session: Any = open_session(weights)
        self._tokenizer: Any = tokenizer()

    def probability(self, a: str, b: str) -> float:
        """Return the probability (0..1) that both have the same answer."""
        with forks.section():
            encoded = self._tokenizer.encode(*sorted((plain(a), plain(b))))
            if len(encoded.ids) > MAX_TOKENS:
                return UNREAD
            return float(output_of(self._session, input_ids=encoded.ids, token_type_ids=encoded.type_ids))


class MiniLMVerifier:
    """Probability that two questions have the same answer.

    Pairs go through the model one by one, the lesser text first, so the probability depends neither on the order of the
    texts nor on other pairs. Weights are checked and loaded at the first pair, once for all instances of a process.
    """

    def __init__(self) -> None:
        self._loading = forks.free_in_child(threading.Lock())

    @property
    def id(self) -> str:
        """Name and first 8 digits of the SHA-256 of the weights; see `Verifier.id`.

        Raises:
            VerifierError: the JSON file of the weights is missing or damaged.
        """
        return f"{NAME}-{_release().sha256[:8]}"

    def rule(self, max_wrong: float) -> Rule:
        """See `Verifier.rule`."""
        release = _release()
        share, threshold = promised(max_wrong, release.thresholds)
        return Rule(threshold, share, release.calibrated_on, self.id, release.weights, release.reworded)

    def probability(self, a: str, b: str) -> float:
        """See `Verifier.probability`."""
        if plain(a) == plain(b):
            return SAME
        with self._loading, forks.section():
            reader = _reader()
        return reader.probability(a, b)


@cache
def _reader() -> PairReader:
    """Load weights and tokenizer, once for all instances of a process."""
    try:
        return PairReader(released_weights(WEIGHTS, _release().sha256))
    except UnusableModel as error:
        raise VerifierError(
            f"the verifier cannot be loaded ({error}); reinstall research-harness, or train it again"
        ) from error


@cache
def _release() -> Release:
    file = WEIGHTS.with_suffix(".json")
    try:
        return msgspec.json.decode(file.read_bytes(), type=Release)
    except (OSError, msgspec.MsgspecError) as error:
        raise VerifierError(
            f"the verifier has no usable rule ({error}); reinstall research-harness, or train it again"
        ) from error
