"""Loss of the reader: labels, and the logits of a teacher, each where it is asked."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from training.reading import SUPPORTS, claim, question

pytestmark = pytest.mark.full

NONE = float("nan")


def test_labels_and_teacher_count_where_they_are_asked() -> None:
    """The loss falls toward the label and toward the teacher; logits that are not asked for do not matter."""
    import torch

    from training.reader_model import reader_loss, targets

    asked = question("who made it", "Ann made it.", 1.0, "x")
    taught = replace(asked, answers=-1.0, taught=(3.0, NONE, NONE, NONE, NONE))
    for reading in (asked, taught):
        rows = torch.tensor([targets(reading)])
        near, far = (reader_loss(torch.tensor([[value, 9.0, 9.0, 9.0, 9.0]]), rows, 0.0) for value in (3.0, -3.0))
        other = reader_loss(torch.tensor([[3.0, -9.0, 0.0, 9.0, -9.0]]), rows, 0.0)
        assert near < far
        assert other == near


def test_only_differences_of_the_logits_of_support_are_learned() -> None:
    """Softmax does not see a constant."""
    import torch

    from training.reader_model import reader_loss, targets

    reading = replace(claim("it rains", "It rains.", SUPPORTS, "x"), taught=(NONE, 2.0, -1.0, -1.0, NONE))
    rows = torch.tensor([targets(reading)])
    one, shifted, wrong = (
        reader_loss(torch.tensor([[0.0, *support, 0.0]]), rows, 0.0)
        for support in ((2.0, -1.0, -1.0), (7.0, 4.0, 4.0), (-1.0, 2.0, -1.0))
    )
    assert float(one) == pytest.approx(float(shifted), abs=1e-5)
    assert one < wrong


def test_the_shipped_weights_can_be_trained_further() -> None:
    """Read back from the file, they give nearly the logits of the file: it also rounds activations."""
    import torch

    from harness.models.local.reader import WEIGHTS
    from training.export import imported
    from training.reader import encoded, exported_logits
    from training.reader_model import ReaderModel

    model = ReaderModel.pretrained()
    imported(model, WEIGHTS)
    model.eval()
    readings = [
        question("who made it", "Ann made it in 1905.", 1.0, "x"),
        question("what is the capital of Peru", "Bread is made of flour.", 0.0, "x"),
    ]
    for reading, wanted in zip(readings, exported_logits(WEIGHTS, readings), strict=True):
        [(ids, types)] = encoded([reading])
        with torch.inference_mode():
            found = model(torch.tensor([ids]), torch.ones(1, len(ids), dtype=torch.long), torch.tensor([types]))
        assert found[0].numpy() == pytest.approx(wanted, abs=0.5)


def test_a_file_of_another_model_is_refused(tmp_path: Path) -> None:
    """The verifier has other weights on top."""
    from harness.models.local.cross_encoder import WEIGHTS
    from training.export import imported
    from training.reader_model import ReaderModel

    with pytest.raises(ValueError, match="has not the weights of the model"):
        imported(ReaderModel.pretrained(), WEIGHTS)


def test_the_teacher_reads_near_pairs_of_a_share_of_the_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without queries, too; what has a label keeps it, and each pair is read once."""
    import numpy as np
    import torch

    from training import teacher
    from training.reading import UNKNOWN

    def embedded(texts: Sequence[str]) -> dict[str, Any]:
        return {
            text: torch.nn.functional.normalize(torch.tensor([1.0, len(text), sum(map(ord, text)) % 97]), dim=-1)
            for text in texts
        }

    def logits(model: Any, pairs: Sequence[Any]) -> Any:
        return np.ones((len(pairs), 5), dtype=np.float32)

    monkeypatch.setattr(teacher, "embedded", embedded)
    monkeypatch.setattr(teacher, "logits", logits)
    readings = [question(f"who made {number}", f"Ann made {number}.", 1.0, "x") for number in range(200)]
    readings += [claim(f"Ann made {number}", f"It was Ann who made {number}.", SUPPORTS, "x") for number in range(200)]
    model: Any = None
    half, whole = (teacher.taught(readings, [], model, Random(1), share) for share in (0.5, 1.0))
    assert [each.answers for each in half[: len(readings)]] == [each.answers for each in readings]
    fresh = half[len(readings) :]
    assert 0 < len(fresh) < len(whole) - len(readings)
    assert all(each.answers == UNKNOWN and each.source == "taught" for each in fresh)
    assert len({(each.first, each.second) for each in half}) == len(half)
