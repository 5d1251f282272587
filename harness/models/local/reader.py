"""Reader made from all-MiniLM-L6-v2: int8 weights on onnxruntime, no torch.

`python -m training.reader` makes its weights, and a JSON file with their digest and calibration.
"""

import math
import threading
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from harness.core.support import SupportProbabilities
from harness.errors import ReaderError
from harness.models.local.cross_encoder import MiniLMVerifier
from harness.models.local.onnx import UnusableModel, open_session, released_weights
from harness.models.local.pair_reader import plain
from harness.models.local.tokenizer import tokenizer
from harness.storage import forks

NAME = "minilm-reader"
WEIGHTS = Path(__file__).parent / "weights" / "reader.onnx"
MAX_TOKENS = 512
"""Word pieces of a pair, with the three special tokens: as many as the model has positions."""
MAX_FIRST = 160
"""Word pieces of the question or sentence; the rest is not read."""
MAX_WINDOWS = 16
"""Windows of a long text; the rest is not read."""
_SPECIAL = 3


class ReaderRelease(Struct, frozen=True, forbid_unknown_fields=True):
    """JSON file of the weights: their SHA-256 (hex), and the calibration by Platt (1999): `answers` has the slope and
    intercept of its logit; `support` the slope of the logits of supports, contradicts and neither, and the intercept of
    each. `least`: see `Reader.least`.
    """

    sha256: str
    answers: tuple[float, float]
    support: tuple[float, float, float, float]
    least: float
    calibrated_on: str


class MiniLMReader:
    """The port `Reader`.

    Pairs go through the model one by one: its int8 arithmetic scales by the whole batch. Weights are checked and loaded
    at the first pair, once for all instances of a process.
    """

    def __init__(self) -> None:
        self._loading = forks.free_in_child(threading.Lock())

    @property
    def id(self) -> str:
        """Name and first 8 digits of the SHA-256 of the weights; see `Reader.id`.

        Raises:
            ReaderError: the JSON file of the weights is missing or damaged.
        """
        return f"{NAME}-{_release().sha256[:8]}"

    @property
    def least(self) -> float:
        """See `Reader.least`."""
        return _release().least

    def answers(self, question: str, texts: Sequence[str]) -> list[float]:
        """See `Reader.answers`."""
        slope, intercept = _release().answers
        return [
            _sigmoid(slope * max(logits[0] for logits in self._logits(question, text)) + intercept) for text in texts
        ]

    def supports(self, sentence: str, quotations: Sequence[str]) -> list[SupportProbabilities]:
        """See `Reader.supports`."""
        slope, *intercepts = _release().support
        found = []
        for quotation in quotations:
            windows = [
                _softmax([slope * logit + shift for logit, shift in zip(logits[1:], intercepts, strict=True)])
                for logits in self._logits(sentence, quotation)
            ]
            found.append(SupportProbabilities(*min(windows, key=lambda each: each[2])))
        return found

    def same_answer(self, question: str, others: Sequence[str]) -> list[float]:
        """See `Reader.same_answer`."""
        verifier = MiniLMVerifier()
        return [verifier.probability(question, other) for other in others]

    def _logits(self, first: str, second: str) -> Iterator[Sequence[float]]:
        """Yield the four logits for each window of `second`."""
        import numpy as np

        with self._loading, forks.section():
            session, pieces = _model()
        with forks.section():
            head = pieces.encode(plain(first), add_special_tokens=False).ids[:MAX_FIRST]
            body = pieces.encode(plain(second), add_special_tokens=False).ids
        cls, sep = _special(pieces)
        room = MAX_TOKENS - _SPECIAL - len(head)
        for start in _starts(len(body), room):
            window = body[start : start + room]
            ids = [cls, *head, sep, *window, sep]
            types = [0] * (len(head) + 2) + [1] * (len(window) + 1)
            inputs = {"input_ids": np.array([ids], dtype=np.int64), "token_type_ids": np.array([types], dtype=np.int64)}
            with forks.section():
                found: Sequence[float] = session.run(None, inputs)[0][0].tolist()
            yield found


def _starts(length: int, room: int) -> range:
    """Return where the windows of a text begin: each overlaps the one before by half."""
    if length <= room:
        return range(1)
    step = room // 2
    return range(0, min(length - step, MAX_WINDOWS * step), step)


def _special(pieces: Any) -> tuple[int, int]:
    return pieces.token_to_id("[CLS]"), pieces.token_to_id("[SEP]")


def _sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-logit)) if logit > 0 else math.exp(logit) / (1 + math.exp(logit))


def _softmax(logits: Sequence[float]) -> list[float]:
    most = max(logits)
    powers = [math.exp(logit - most) for logit in logits]
    return [power / sum(powers) for power in powers]


@cache
def _model() -> tuple[Any, Any]:
    """Load weights and tokenizer, once for all instances of a process."""
    try:
        return open_session(released_weights(WEIGHTS, _release().sha256)), tokenizer()
    except UnusableModel as error:
        raise ReaderError(f"the reader cannot be loaded ({error}); reinstall research-harness") from error


@cache
def _release() -> ReaderRelease:
    try:
        return msgspec.json.decode(WEIGHTS.with_suffix(".json").read_bytes(), type=ReaderRelease)
    except (OSError, msgspec.MsgspecError) as error:
        raise ReaderError(f"the reader has no usable calibration ({error}); reinstall research-harness") from error
