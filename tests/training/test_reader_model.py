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
    taught = replace(asked, answers=-1.0, taught=(3.0, NONE, NONE, NONE, NONE, NONE))
    for reading in (asked, taught):
        rows = torch.tensor([targets(reading)])
        near, far = (reader_loss(torch.tensor([[value, 9.0, 9.0, 9.0, 9.0, 9.0]]), rows, 0.0) for value in (3.0, -3.0))
        other = reader_loss(torch.tensor([[3.0, -9.0, 0.0, 9.0, -9.0, 0.0]]), rows, 0.0)
        assert near < far
        assert other == near


def test_only_differences_of_the_logits_of_support_are_learned() -> None:
    """Softmax does not see a constant."""
    import torch

    from training.reader_model import reader_loss, targets

    reading = replace(claim("it rains", "It rains.", SUPPORTS, "x"), taught=(NONE, 2.0, -1.0, -1.0, NONE, NONE))
    rows = torch.tensor([targets(reading)])
    one, shifted, wrong = (
        reader_loss(torch.tensor([[0.0, *support, 0.0, 0.0]]), rows, 0.0)
        for support in ((2.0, -1.0, -1.0), (7.0, 4.0, 4.0), (-1.0, 2.0, -1.0))
    )
    assert float(one) == pytest.approx(float(shifted), abs=1e-5)
    assert one < wrong


def test_the_shipped_weights_can_be_trained_further() -> None:
    """Read back from the file, they give nearly the logits of the file, which rounds activations, too. The output that
    they lack begins like the first one.
    """
    import torch

    from harness.models.local.reader import WEIGHTS
    from training.reader import encoded, exported_logits, shipped
    from training.reader_model import HELPS

    model = shipped()
    model.eval()
    readings = [
        question("who made it", "Ann made it in 1905.", 1.0, "x"),
        question("what is the capital of Peru", "Bread is made of flour.", 0.0, "x"),
    ]
    for reading, wanted in zip(readings, exported_logits(WEIGHTS, readings), strict=True):
        [(ids, types)] = encoded([reading])
        with torch.inference_mode():
            found = model(torch.tensor([ids]), torch.ones(1, len(ids), dtype=torch.long), torch.tensor([types]))
        assert found[0, :HELPS].numpy() == pytest.approx(wanted, abs=0.5)
        assert float(found[0, HELPS]) == pytest.approx(float(found[0, 0]), abs=1e-4)


def test_weights_go_out_and_come_back(tmp_path: Path) -> None:
    """The file gives the logits of the model that it is made of."""
    import torch

    from training.export import export, imported
    from training.reader import encoded, exported_logits
    from training.reader_model import ReaderModel

    torch.manual_seed(1)
    model, again = ReaderModel.pretrained(), ReaderModel.pretrained()
    export(model, tmp_path / "reader.onnx", torch.nn.Identity())
    imported(again, tmp_path / "reader.onnx")
    reading = question("who made it", "Ann made it in 1905.", 1.0, "x")
    [(ids, types)] = encoded([reading])
    inputs = torch.tensor([ids]), torch.ones(1, len(ids), dtype=torch.long), torch.tensor([types])
    with torch.inference_mode():
        before, after = (each.eval()(*inputs)[0].numpy() for each in (model, again))
    assert after == pytest.approx(before, abs=0.1)
    assert exported_logits(tmp_path / "reader.onnx", [reading])[0] == pytest.approx(before, abs=0.1)


def test_a_file_of_another_model_is_refused(tmp_path: Path) -> None:
    """The verifier has other weights on top."""
    from harness.models.local.cross_encoder import WEIGHTS
    from training.export import imported
    from training.reader_model import ReaderModel

    with pytest.raises(ValueError, match="has not the weights of the model"):
        imported(ReaderModel.pretrained(), WEIGHTS)


def test_the_teacher_reads_near_pairs_of_the_texts(monkeypatch: pytest.MonkeyPatch) -> None:
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

    def logits(model: Any, tokens: Any, pairs: Sequence[Any]) -> Any:
        return np.ones((len(pairs), 6), dtype=np.float32)

    monkeypatch.setattr(teacher, "embedded", embedded)
    monkeypatch.setattr(teacher, "logits", logits)
    monkeypatch.setattr(teacher, "_tokens", list)
    readings = [question(f"who made {number}", f"Ann made {number}.", 1.0, "x") for number in range(200)]
    readings += [claim(f"Ann made {number}", f"It was Ann who made {number}.", SUPPORTS, "x") for number in range(200)]
    model: Any = None
    found = teacher.taught(readings, [], model, Random(1))
    assert [each.answers for each in found[: len(readings)]] == [each.answers for each in readings]
    fresh = found[len(readings) :]
    assert fresh
    assert all(each.answers == UNKNOWN and each.source == "taught" for each in fresh)
    assert len({(each.first, each.second) for each in found}) == len(found)


@pytest.mark.slow
def test_a_model_that_learned_which_sentences_help_ranks_them(tmp_path: Path) -> None:
    """A few steps over one question give those that help a higher probability than the others."""
    import torch

    from training.learning import learn
    from training.passes import Plan
    from training.reader import _pieces, shipped
    from training.reader_model import HELPS, reader_batches, reader_loss
    from training.reading import helping

    model, losses = shipped(), list[float]()
    model.freeze(5)
    texts = {"The roof was made by Ann.": 0.0, "Ann made the door in 1905.": 0.0, "It was painted by Bob.": 1.0}
    [batch] = reader_batches([helping("who made the door", *each) for each in texts.items()], _pieces(), Random(1))
    plan = Plan(1, rate=1e-3, head_rate=1e-3)
    learn(model, [batch] * 100, plan, tmp_path / "kept", lambda _, __, loss, ___: losses.append(loss), reader_loss)
    assert losses[1] < losses[0]
    with torch.inference_mode():
        found = model(**batch.inputs)[:, HELPS]
    assert int(found.argmax()) == int(batch.targets[:, HELPS].argmax())
