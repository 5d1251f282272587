"""Models on onnxruntime, as the adapters use them: on the CPU, in one thread, with their weights checked."""

import hashlib
from typing import Any


class UnusableModel(Exception):
    """The weights are no model that onnxruntime can run."""


def digest(weights: bytes) -> str:
    """Return the SHA-256 (hex) that weights are known by."""
    return hashlib.sha256(weights).hexdigest()


def open_session(weights: bytes) -> Any:
    """Return an `onnxruntime.InferenceSession` of one thread: texts and pairs are small, and run beside each other.

    Raises:
        UnusableModel: with onnxruntime's own complaint.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own exceptions share no base class
        raise UnusableModel(str(error)) from error
