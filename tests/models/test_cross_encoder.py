"""The verifier without weights, with damaged ones, and with small replacements."""

import hashlib
from pathlib import Path

import msgspec
import pytest

from harness.errors import InvalidInput, VerifierError
from harness.models.local import cross_encoder
from harness.models.local.cross_encoder import SAME, MiniLMVerifier, Release, plain

RULE = ((0.5, 1.0), (0.25, 2.0), ((0.005, 3.0), (0.01, 2.0)), "nothing")


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Path of the weights."""
    file = tmp_path / "minilm.onnx"
    monkeypatch.setattr(cross_encoder, "WEIGHTS", file)
    for remembered in (cross_encoder._reader, cross_encoder._release):
        remembered.cache_clear()
        monkeypatch.setattr(cross_encoder, remembered.__name__, remembered.__wrapped__)
    return file


def release(file: Path, content: bytes) -> None:
    """Write weights with what belongs to them."""
    file.write_bytes(content)
    made = Release(hashlib.sha256(content).hexdigest(), *RULE)
    file.with_suffix(".json").write_bytes(msgspec.json.encode(made))


def test_missing_weights_are_one_line(weights: Path) -> None:
    """It says what to do."""
    with pytest.raises(VerifierError, match="reinstall research-harness"):
        MiniLMVerifier().probability("one question", "another question")
    with pytest.raises(VerifierError, match="reinstall research-harness"):
        MiniLMVerifier().rule(0.01)


def test_weights_that_were_changed_are_refused(weights: Path) -> None:
    """Their digest no longer fits."""
    release(weights, b"the weights that were released")
    weights.write_bytes(b"other weights")
    with pytest.raises(VerifierError, match="not the released ones"):
        MiniLMVerifier().probability("one question", "another question")


def test_a_file_that_is_no_model_is_refused(weights: Path) -> None:
    """The message of onnxruntime is in one line."""
    release(weights, b"no model")
    with pytest.raises(VerifierError, match="cannot be loaded"):
        MiniLMVerifier().probability("one question", "another question")


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"sha256": 1}'])
def test_a_rule_that_cannot_be_read_is_refused(weights: Path, content: bytes) -> None:
    """Nothing is guessed."""
    weights.with_suffix(".json").write_bytes(content)
    with pytest.raises(VerifierError, match="no usable rule"):
        MiniLMVerifier().rule(0.01)


def test_the_rule_is_the_one_that_belongs_to_the_weights(weights: Path) -> None:
    """For the share asked for; for less than was calibrated, none."""
    release(weights, b"weights")
    rule = MiniLMVerifier().rule(0.007)
    assert (rule.threshold, rule.max_wrong, rule.weights, rule.reworded) == (3.0, 0.005, (0.5, 1.0), (0.25, 2.0))
    assert rule.verifier == MiniLMVerifier().id
    with pytest.raises(InvalidInput, match="max_wrong"):
        MiniLMVerifier().rule(0.0001)


def test_other_weights_have_another_id(weights: Path) -> None:
    """So that no rule is used with them that was calibrated on what others say."""
    release(weights, b"weights")
    first = MiniLMVerifier().id
    release(weights, b"other weights")
    assert MiniLMVerifier().id != first
    weights.with_suffix(".json").unlink()
    with pytest.raises(VerifierError, match="no usable rule"):
        assert MiniLMVerifier().id


def test_the_same_text_needs_no_weights(weights: Path) -> None:
    """Whatever it is, and however it is spaced and capitalised."""
    assert MiniLMVerifier().probability("How ARE  you", " how are you") == SAME >= 0.99


def test_texts_are_read_plainly() -> None:
    """Case and white space are no part of a question; broken Unicode is read as something."""
    assert plain("  How ARE\n\tyou ") == plain("how are you") == "how are you"
    assert plain("half \ud800") == "half ?"
