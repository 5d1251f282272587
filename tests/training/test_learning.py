"""What a model has learned, over several ends of its training."""

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
