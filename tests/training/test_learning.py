"""Training: means of several states, interruption and continuation."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.full


def test_the_mean_of_states_is_taken_weight_by_weight() -> None:
    """Counts stay as they are; one state is its own mean."""
    import torch

    from training.learning import mean

    states = [{"weight": torch.tensor([[1.0, 4.0]]), "places": torch.arange(3)} for _ in range(2)]
    states[1]["weight"] = torch.tensor([[3.0, -4.0]])
    found = mean(states)
    assert torch.equal(found["weight"], torch.tensor([[2.0, 0.0]]))
    assert torch.equal(found["places"], torch.arange(3))
    assert torch.equal(mean(states[1:])["weight"], states[1]["weight"])
    assert torch.allclose(mean(states, (0.25, 0.75))["weight"], torch.tensor([[2.5, -2.0]]))


def test_a_pass_begins_with_the_mean_of_others_or_where_the_last_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stored pass is not trained again."""
    import torch

    from training import __main__ as training
    from training.model import CrossEncoder
    from training.passes import Pass, Plan
    from training.sources import Example, Sources

    def learned(model: CrossEncoder, *_: object) -> None:
        begun.append(model.head[-1].bias.item())
        model.head[-1].bias.data += 10.0

    begun: list[float] = []
    read = [Example("how far is it", "how far away is it", same=True, kind="small: x", part="train")]
    ends = {"first": (), "second": (), "third": (), "last": ("first", "second")}
    passes = {name: Pass(lambda *_: read, Plan(1), begins) for name, begins in ends.items()}
    monkeypatch.setattr(training, "PASSES", passes)
    monkeypatch.setattr(training, "learn", learned)
    for name, bias in (("first", 1.0), ("second", 3.0)):
        model = CrossEncoder.pretrained()
        model.head[-1].bias.data.fill_(bias)
        torch.save(model.state_dict(), tmp_path / f"{name}.pt")
    trained = training.train(Sources([], [], {}, [], frozenset()), tmp_path, list(passes))
    assert begun == [3.0, 2.0]
    assert trained.head[-1].bias.item() == 12.0
    assert (tmp_path / "last.pt").exists()
