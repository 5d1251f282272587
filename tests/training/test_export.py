"""Weights go out to one file, which says what the model says."""

from pathlib import Path

import numpy as np
import pytest

from harness.models.local.cross_encoder import PairReader

pytestmark = pytest.mark.full

PAIRS = (
    ("how do i install numpy on windows", "install numpy windows"),
    ("how to disable dark mode", "how to enable dark mode"),
    ("capital of france", "what is the capital of france"),
    ("best pizza in rome", "how long does a flight to rome take"),
)


def test_the_same_model_is_the_same_file(tmp_path: Path) -> None:
    """Byte for byte; and with seven bits a weight it says nearly what it says in floating point."""
    import torch

    from training.export import export
    from training.mining import scores
    from training.model import CrossEncoder
    from training.sources import Example

    torch.manual_seed(1)
    model = CrossEncoder.pretrained()
    with torch.no_grad():  # a head that knows nothing yet says nearly the same of all: make it speak up
        model.head[-1].weight.mul_(200)
    first, again = (export(model, tmp_path / name) for name in ("first.onnx", "again.onnx"))
    assert first == again
    logits = scores(model, [Example(a, b, same=True, kind="", part="train") for a, b in PAIRS])
    reader = PairReader((tmp_path / "first.onnx").read_bytes())
    said = [reader.probability(a, b) for a, b in PAIRS]
    assert np.ptp(said) > 0.1
    assert np.allclose(1 / (1 + np.exp(-logits)), said, atol=0.1)
