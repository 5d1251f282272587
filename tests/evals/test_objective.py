"""Objectives: formulas over quality and cost, and nothing else."""

import pickle
from pathlib import Path

import pytest
from harness_evals.objective import Objective
from harness_evals.outcome import Cost

from harness.errors import InvalidInput
from tests.cli.program import Program

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


@pytest.mark.usefixtures("words")
def test_an_evaluation_keeps_its_objective(harness: Program, tasks_dir: Path) -> None:
    """`eval show` prints what `eval run` printed; another objective can be asked for, and nothing else needs to run."""
    ran = harness("eval", "run", "--tasks-dir", tasks_dir, "--objective", "quality - 0.01*live_calls")
    shown = harness("eval", "show")
    assert (shown.code, shown.out) == (0, ran.out)
    assert any("objective" in line.split() for line in shown.out.splitlines()[:3])
    assert "objective: quality - 0.01*live_calls" in shown.out
    told = harness("eval", "show", "--json").told
    weighed = {each["task"]: each["total"] - 0.01 * each["live_calls"] for each in told["tasks"]}
    assert told["objective"]["tasks"] == pytest.approx(weighed)
    assert told["objective"]["mean"] == pytest.approx(sum(weighed.values()) / 4)
    other = harness("eval", "show", "last", "--objective", "2*quality", "--json").told["objective"]
    assert other["tasks"] == pytest.approx({each["task"]: 2 * each["total"] for each in told["tasks"]})
    first = told["tasks"][0]
    run = harness("eval", "show", "last", first["task"], "--json").told
    assert run["objective"] == pytest.approx(weighed[first["task"]])
    text = harness("eval", "show", "last", first["task"], "--objective", "2*quality").out
    assert text.splitlines()[0] == f"{first['task']}: {first['total']:.3f}, objective {2 * first['total']:.3f}"
    wrong = harness("eval", "show", "last", first["task"], "--objective", "2 ** 9")
    assert (wrong.code, wrong.out) == (2, "")
    plain = harness("eval", "run", "--tasks-dir", tasks_dir, "--json").told
    assert plain["objective"] is None
