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
    from training.reader_model import HELPS, of_pair

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
        assert of_pair(found)[0].numpy() == pytest.approx(wanted, abs=0.5)
        assert float(found[0, 0, HELPS]) == pytest.approx(float(found[0, 0, 0]), abs=1e-4)


def test_weights_that_know_which_sentences_help_go_out_and_come_back(tmp_path: Path) -> None:
    """The file gives the logits of pairs; it keeps the weights of the output that it does not give."""
    import torch

    from training.export import export, imported
    from training.reader import encoded, exported_logits
    from training.reader_model import HELPS, ReaderModel, of_pair

    torch.manual_seed(1)
    model, again = ReaderModel.pretrained(), ReaderModel.pretrained()
    export(model, tmp_path / "reader.onnx", of_pair)
    imported(again, tmp_path / "reader.onnx")
    reading = question("who made it", "Ann made it in 1905.", 1.0, "x")
    [(ids, types)] = encoded([reading])
    inputs = torch.tensor([ids]), torch.ones(1, len(ids), dtype=torch.long), torch.tensor([types])
    with torch.inference_mode():
        before, after = (each.eval()(*inputs)[0, 0].numpy() for each in (model, again))
    assert after == pytest.approx(before, abs=0.1)
    assert exported_logits(tmp_path / "reader.onnx", [reading])[0] == pytest.approx(before[:HELPS], abs=0.1)


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


def test_sentences_of_a_passage_are_spans_of_it() -> None:
    """Their word pieces follow the title; each has a label, what fills up a batch has none, and what does not fit is
    left out.
    """
    import torch

    from harness.models.local.tokenizer import tokenizer
    from training.reader_model import HELPS, MAX_PASSAGE_TOKENS, passage_batches, passage_row
    from training.reading import Passage

    def pieces(text: str) -> list[int]:
        ids: list[int] = tokenizer().encode(text, add_special_tokens=False).ids
        return ids

    short = Passage("who made it", "Makers", ("Ann made it.", "It rains."), (1.0, 0.0), held_out=False)
    long = Passage("who made it", "Makers", ("It rains.",) * 200, (0.0,) * 200, held_out=False)
    row = passage_row(short, pieces)
    texts = [tokenizer().decode([row.ids[place] for place in span]) for span in row.spans]
    assert texts == ["ann made it.", "it rains."]
    assert len(row.types) == len(row.ids)
    assert MAX_PASSAGE_TOKENS - 10 < len(passage_row(long, pieces).ids) <= MAX_PASSAGE_TOKENS
    [batch] = passage_batches([short, long], tokenizer(), Random(1))
    pairs, most, _ = batch.inputs["spans"].shape
    labels = batch.targets[:, HELPS].reshape(pairs, most)
    asked = labels >= 0
    assert sorted(asked.sum(-1).tolist()) == [2, most]
    assert torch.allclose(batch.inputs["spans"].sum(-1)[asked], torch.ones(2 + most))
    assert labels.max() == 1


def test_labels_of_sentences_count_however_many_fill_up() -> None:
    """A batch of one passage has the same loss with an empty span."""
    import torch

    from training.reader_model import HELPS, reader_loss, targets
    from training.reading import UNKNOWN

    unknown = targets(question("", "", UNKNOWN, ""))
    asked = torch.tensor([unknown, unknown])
    asked[:, HELPS] = torch.tensor([1.0, 0.0])
    logits = torch.randn(1, 3, 6)
    filled = torch.cat([asked, torch.tensor([unknown])])
    assert reader_loss(logits[:, :2], asked, 0.0) == pytest.approx(float(reader_loss(logits, filled, 0.0)))
    good, bad = (torch.zeros(1, 2, 6) for _ in range(2))
    good[0, :, HELPS], bad[0, :, HELPS] = torch.tensor([2.0, -2.0]), torch.tensor([-2.0, 2.0])
    assert reader_loss(good, asked, 0.0) < reader_loss(bad, asked, 0.0)


@pytest.mark.slow
def test_a_model_that_learned_which_sentences_help_ranks_them(tmp_path: Path) -> None:
    """A few steps over one question raise the precision of its sentences to 1."""
    from harness.models.local.tokenizer import tokenizer
    from training.learning import learn
    from training.passes import Plan
    from training.reader import of_passages, shipped
    from training.reader_model import passage_batches, reader_loss
    from training.reading import written_passages

    model, losses = shipped(), list[float]()
    model.freeze(5)
    passages = [each for each in list(written_passages(Random(1)))[:40] if any(each.helps)][:1]
    [batch] = passage_batches(passages, tokenizer(), Random(1))
    plan = Plan(1, rate=1e-3, head_rate=1e-3)
    learn(model, [batch] * 100, plan, tmp_path / "kept", lambda _, __, loss, ___: losses.append(loss), reader_loss)
    assert losses[1] < losses[0]
    assert of_passages(model, passages) == pytest.approx(1.0)
