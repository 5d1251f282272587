"""Objectives: formulas over quality and cost, and nothing else."""

import pickle

import pytest
from harness_evals.objective import Objective
from harness_evals.outcome import Cost

from harness.errors import InvalidInput

COST = Cost(live_calls=10, tokens=2_000, seconds=4.0)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", 0.5),
        ("quality", 0.5),
        ("quality - 0.01*live_calls", 0.4),
        ("quality-(seconds+1)*0.1", 0.0),
        ("+quality * 2 - -tokens*0.001", 3.0),
        ("2*(quality - 0.02*live_calls) - 0.0001*tokens", 0.4),
    ],
)
def test_an_objective_is_computed(text: str, value: float) -> None:
    """Names, numbers, + - * and parentheses, with the usual precedence; without a text it is the quality."""
    assert Objective(text).value(0.5, COST) == pytest.approx(value)
    assert bool(Objective(text)) == bool(text)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("quality - 0.01*calls", "did you mean live_calls"),
        ("quality ** 9999999", "which it may not"),
        ("quality / 0", "which it may not"),
        ("quality if 1 else 0", "which it may not"),
        ("__import__('os').system('true') * quality", "which it may not"),
        ("quality.__class__", "which it may not"),
        ("quality * True", "which it may not"),
        ("quality * 'a'", "which it may not"),
        ("quality * 1e400", "beyond 1,000,000"),
        (f"quality * {'9' * 150}", "beyond 1,000,000"),
        ("quality -", "cannot be read"),
        ("quality; 1", "cannot be read"),
        ("(" * 150 + "quality", "cannot be read"),
        ("quality\0", "cannot be read"),
        ("-live_calls", "lacks quality"),
        ("quality" + "+1" * 200, "at most 200"),
        ("quality" + "+1" * 90, "more than 50 parts"),
    ],
)
def test_anything_else_is_refused(text: str, error: str) -> None:
    """Nothing is evaluated as Python, and the message says what is allowed."""
    with pytest.raises(InvalidInput, match=error):
        Objective(text)


def test_objectives_go_to_other_processes() -> None:
    """They are plain values."""
    assert pickle.loads(pickle.dumps(Objective("quality - seconds"))) == Objective("quality - seconds")  # noqa: S301
