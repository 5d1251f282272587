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

from harness.core.reading_calibration import ReadingCalibration, sigmoid
from harness.core.support import SupportProbabilities
from harness.errors import ReaderError
from harness.models.local.cross_encoder import MiniLMVerifier, plain
from harness.models.local.onnx import UnusableModel, open_session, output_of, released_weights
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
_ANSWERS, _SUPPORT = 0, slice(1, 4)


class ReaderRelease(Struct, frozen=True, forbid_unknown_fields=True):
    """JSON file of the weights: their SHA-256 (hex); by Platt (1999), the slope and intercept of the logit of
    `answers`, and the slope of the logits of `support` (supports, contradicts, neither) with the intercept of each; and
    the thresholds.
    """

    sha256: str
    answers: tuple[float, float]
    support: tuple[float, float, float, float]
    calibration: ReadingCalibration


class MiniLMReader:
    """The port `Reader`. `own` is a file with other thresholds, as `harness cache calibrate` writes it; it is used if
    it exists and was made for these weights. `recorded` are the thresholds of a replayed run: they come first, and name
    the weights that it used; other weights read nothing for it.

    Pairs go through the model one by one: its int8 arithmetic scales by the whole batch. Weights are checked and loaded
    at the first pair, once for all instances of a process.
    """

    def __init__(self, own: Path | None = None, recorded: ReadingCalibration | None = None) -> None:
        self._own = own
        self._recorded = recorded
        self._loading = forks.free_in_child(threading.Lock())

    @property
    def id(self) -> str:
        """Name and first 8 digits of the SHA-256 of the weights; see `Reader.id`.

        Raises:
            ReaderError: the JSON file of the weights is missing or damaged.
        """
        return _shipped_id() if self._recorded is None else self._recorded.reader

    @forks.cached_property
    def calibration(self) -> ReadingCalibration:
        """See `Reader.calibration`."""
        if self._recorded is not None:
            return self._recorded
        own = None if self._own is None else _own_calibration(self._own)
        return own if own is not None and own.reader == self.id else _release().calibration

    def answers(self, question: str, texts: Sequence[str]) -> list[float]:
        """See `Reader.answers`."""
        slope, intercept = _release().answers
        return [
            sigmoid(slope * max(logits[_ANSWERS] for logits in self._logits(question, text)) + intercept)
            for text in texts
        ]

    def supports(self, sentence: str, quotations: Sequence[str]) -> list[SupportProbabilities]:
        """See `Reader.supports`."""
        slope, *intercepts = _release().support
        found = []
        for quotation in quotations:
            windows = [
                _softmax([slope * logit + shift for logit, shift in zip(logits[_SUPPORT], intercepts, strict=True)])
                for logits in self._logits(sentence, quotation)
            ]
            found.append(SupportProbabilities(*min(windows, key=lambda each: each[2])))
        return found

    def same_answer(self, question: str, others: Sequence[str]) -> list[float]:
        """See `Reader.same_answer`."""
        verifier = MiniLMVerifier()
        return [verifier.probability(question, other) for other in others]

    def _logits(self, first: str, second: str) -> Iterator[Sequence[float]]:
        """Yield the logits for each window of `second`."""
        if self.id != _shipped_id():
            raise ReaderError(f"the run was read by {self.id}, which is not installed; ask its question again")
        with self._loading, forks.section():
            session, pieces = _model()
        with forks.section():
            head = pieces.encode(plain(first), add_special_tokens=False).ids[:MAX_FIRST]
            body = pieces.encode(plain(second), add_special_tokens=False).ids
        cls, sep = pieces.token_to_id("[CLS]"), pieces.token_to_id("[SEP]")
        room = MAX_TOKENS - _SPECIAL - len(head)
        for start in _starts(len(body), room):
            window = body[start : start + room]
            ids = [cls, *head, sep, *window, sep]
            types = [0] * (len(head) + 2) + [1] * (len(window) + 1)
            with forks.section():
                found: Sequence[float] = output_of(session, input_ids=ids, token_type_ids=types).tolist()
            yield found


def _starts(length: int, room: int) -> range:
    """Return where the windows of a text begin: each overlaps the one before by half."""
    if length <= room:
        return range(1)
    step = room // 2
    return range(0, min(length - step, MAX_WINDOWS * step), step)


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
    if not WEIGHTS.is_file():
        raise ReaderError("the reader has no weights; reinstall research-harness")
    try:
        return msgspec.json.decode(WEIGHTS.with_suffix(".json").read_bytes(), type=ReaderRelease)
    except (OSError, msgspec.MsgspecError) as error:
        raise ReaderError(f"the reader has no usable calibration ({error}); reinstall research-harness") from error


def _shipped_id() -> str:
    return f"{NAME}-{_release().sha256[:8]}"


def _own_calibration(file: Path) -> ReadingCalibration | None:
    try:
        return msgspec.json.decode(file.read_bytes(), type=ReadingCalibration)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise ReaderError(
            f"the calibration {file} cannot be used ({error}); calibrate again, or remove the file"
        ) from error
