"""Loss of the reader: labels, and the logits of a teacher, each where it is asked."""

from dataclasses import replace

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
