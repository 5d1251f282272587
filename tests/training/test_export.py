"""Weights go out to one file, and can be read back: so a pass can begin with what has shipped."""

from pathlib import Path

import numpy as np
import pytest

from harness.verifiers.minilm import WEIGHTS, MiniLMVerifier

pytestmark = pytest.mark.full

PAIRS = (
    ("how do i install numpy on windows", "install numpy windows"),
    ("how to enable dark mode", "how to disable dark mode"),
    ("what is the capital of france", "capital of france"),
    ("best pizza in rome", "how long does a flight to rome take"),
)


def test_what_ships_can_be_read_back() -> None:
    """The model in floating point says what its seven bits a weight say, or nearly."""
    from training.export import restored
    from training.mining import scores
    from training.sources import Example

    logits = scores(restored(WEIGHTS), [Example(a, b, same=True, kind="", part="train") for a, b in PAIRS])
    verifier = MiniLMVerifier()
    shipped = [verifier.probability(a, b) for a, b in PAIRS]
    assert np.allclose(1 / (1 + np.exp(-logits)), shipped, atol=0.05)
    assert min(shipped) < 0.2
    assert max(shipped) > 0.8


def test_the_same_model_is_the_same_file(tmp_path: Path) -> None:
    """Byte for byte; and what is read back and written again keeps what it says, but for rounding."""
    from training.export import export, restored
    from training.mining import scores
    from training.sources import Example

    model = restored(WEIGHTS)
    first, again = (export(model, tmp_path / name) for name in ("first.onnx", "again.onnx"))
    assert first == again
    pairs = [Example(a, b, same=True, kind="", part="train") for a, b in PAIRS]
    assert np.allclose(scores(restored(tmp_path / "first.onnx"), pairs), scores(model, pairs), atol=0.3)


def test_another_model_is_no_weights_of_ours(tmp_path: Path) -> None:
    """It is said what is not in it."""
    import onnx
    from onnx import TensorProto, helper

    from training.export import restored

    given, taken = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("given", "taken"))
    graph = helper.make_graph([helper.make_node("Identity", ["given"], ["taken"])], "other", [given], [taken])
    onnx.save(helper.make_model(graph), str(tmp_path / "other.onnx"))
    with pytest.raises(ValueError, match="no weights for bert"):
        restored(tmp_path / "other.onnx")
