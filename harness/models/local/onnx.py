"""onnxruntime sessions for the local models: on the CPU, in one thread."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class UnusableModel(Exception):
    """The weights are missing, changed, or not a model that onnxruntime can run."""


def digest(weights: bytes) -> str:
    """Return the SHA-256 (hex) of weights."""
    return hashlib.sha256(weights).hexdigest()


def released_weights(file: Path, sha256: str) -> bytes:
    """Return the weights in a file, if they are the released ones.

    Raises:
        UnusableModel: the file cannot be read, or has another SHA-256 (hex).
    """
    try:
        weights = file.read_bytes()
    except OSError as error:
        raise UnusableModel(str(error)) from error
    if digest(weights) != sha256:
        raise UnusableModel("its weights are not the released ones")
    return weights


def open_session(weights: bytes) -> Any:
    """Return an `onnxruntime.InferenceSession` of one thread: texts and pairs are small and run in parallel.

    Raises:
        UnusableModel: with onnxruntime's message.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own exceptions share no base class
        raise UnusableModel(str(error)) from error


def output_of(session: Any, **inputs: Sequence[int]) -> Any:
    """Return the first output of a model for one text or pair, as an array; `inputs` are numbers for each token."""
    import numpy as np

    return session.run(None, {name: np.array([each], dtype=np.int64) for name, each in inputs.items()})[0][0]
