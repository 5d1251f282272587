"""Proposers: grid, random, step by step, from a file, by a language model."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness_evals.proposers import FromFile, FromModel, Grid, HillClimb, Proposer, Random, Tried
from harness_evals.space import Changes, every

from harness.app import App
from harness.errors import HarnessError, InvalidInput, ModelError
from harness.settings import Settings
from tests.evals.stand_ins import SPACE, from_file
from tests.models.endpoint import Endpoint, saying


def proposals(proposer: Proposer, most: int = 100, best: Changes | None = None) -> list[Changes]:
    """Return the proposals, each discarded before the next."""
    tried: list[Tried] = []
    while len(tried) < most and (changes := proposer.propose(best or {}, tried)) is not None:
        tried.append(Tried(changes, 0.5, "discard"))
    return [each.changes for each in tried]


def test_a_grid_is_every_combination_once_single_settings_first() -> None:
    """No repeats, and then nothing."""
    found = proposals(Grid(SPACE))
    assert found[:9] == [{name: value} for name, values in SPACE.items() for value in values]
    assert found[9:] == list(every(SPACE))


def test_a_grid_too_large_to_hold_begins_at_once() -> None:
    """Its combinations are generated lazily."""
    values = tuple(range(1, 31))
    grid = Grid({f"setting_{n}": values for n in range(12)})
    assert grid.propose({}, []) == {"setting_0": 1}


@pytest.mark.parametrize("kind", [Random, HillClimb])
def test_the_same_seed_proposes_the_same(kind: Any) -> None:
    """And another seed something else."""
    assert proposals(kind(SPACE, 7), 8) == proposals(kind(SPACE, 7), 8)
    assert proposals(kind(SPACE, 7), 8) != proposals(kind(SPACE, 8), 8)


def test_random_draws_one_to_three_settings_of_the_space() -> None:
    """No repeats; a small space is exhausted."""
    found = proposals(Random(SPACE, 3), 30)
    assert len({json.dumps(each, sort_keys=True) for each in found}) == 30
    assert {len(each) for each in found} == {1, 2, 3}
    assert all(value in SPACE[name] for each in found for name, value in each.items())
    assert len(proposals(Random({"max_rounds": (1, 2)}, 3))) == 2


def test_climbing_takes_one_step_from_what_is_kept() -> None:
    """To a neighbour of the current value, or to any without one; then nothing is left."""
    best = {"max_rounds": 2}
    found = proposals(HillClimb(SPACE, 1), best=best)
    steps = [*({**best, "max_rounds": n} for n in (1, 3)), *({**best, "max_results": n} for n in (5, 10, 20))]
    steps += [{**best, "read_pages": n} for n in (0, 3)]
    assert sorted(found, key=str) == sorted(steps, key=str)


def test_a_file_is_read_in_order(tmp_path: Path) -> None:
    """Values with the types of settings."""
    file = from_file(tmp_path, {"max_rounds": 2}, {"chunk_tokens": [100, 200]}, {"max_rounds": 2})
    assert proposals(file) == [{"max_rounds": 2}, {"chunk_tokens": (100, 200)}]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "lists no experiments"),
        ("experiments: []", "lists no experiments"),
        ("experiments: [{}]", "lists no experiments"),
        ("experiments: [max_rounds]", "lists no experiments"),
        ("experiments: [{max_rounds: 2}, {max_round: 2}]", r"unknown setting 'max_round' in .*, experiment 2"),
        ("experiments: [{engine: [ddgs]}]", "experiment 1: an experiment cannot change engine"),
        ("experiments: [{max_rounds: many}]", "cannot be 'many'"),
    ],
)
def test_a_file_without_experiments_is_refused(tmp_path: Path, text: str, says: str) -> None:
    """Before anything runs."""
    path = tmp_path / "experiments.yaml"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=says):
        FromFile(path)


@pytest.fixture
def model(endpoint: Endpoint, tmp_path: Path) -> Iterator[FromModel]:
    """A proposer with the scripted model."""
    settings = Settings(data_dir=tmp_path / "data", model="scripted", model_url=endpoint.url)
    with App(settings) as app:
        assert app.models.language_model is not None
        yield FromModel({**SPACE, "chunk_tokens": ((100, 200),)}, app.models.language_model, app.cache)


@pytest.mark.parametrize(
    ("answer", "changes"),
    [
        ('{"max_rounds": 2}', {"max_rounds": 2}),
        ('{"max_rounds": 2.0, "read_pages": 0}', {"max_rounds": 2, "read_pages": 0}),
        ('{"chunk_tokens": [100, 200]}', {"chunk_tokens": (100, 200)}),
    ],
)
def test_a_model_proposes_of_the_space(model: FromModel, endpoint: Endpoint, answer: str, changes: Any) -> None:
    """Values with the types of settings. It is asked once."""
    endpoint.answers(saying(answer))
    found = model.propose({}, [])
    assert found == changes
    assert {type(value) for value in (found or {}).values()} <= {int, tuple}
    assert model.propose({}, []) == changes
    assert len(endpoint.asked) == 1


def test_a_model_sees_the_past_experiments(model: FromModel, endpoint: Endpoint) -> None:
    """With scores and verdicts, and the allowed values; if it only repeats itself, nothing is left."""
    endpoint.answers(saying('{"max_rounds": 2}'))
    tried = [Tried({"max_rounds": 2}, 0.25, "discard")]
    assert model.propose({"read_pages": 0}, tried) is None
    payload = json.loads(endpoint.asked[0]["messages"][-1]["content"])
    assert payload["tried"] == [{"changes": {"max_rounds": 2}, "score": 0.25, "status": "discard"}]
    assert payload["kept"] == {"read_pages": 0}
    assert payload["allowed"]["max_rounds"] == [1, 2, 3, 5]


@pytest.mark.parametrize(
    "answer",
    ["no", "[]", *(f'{{"max_rounds": {value}}}' for value in ("4", "true", "[1]", "null")), '{"data_dir": "/"}', "{}"],
)
def test_what_a_model_may_not_propose_is_an_error(model: FromModel, endpoint: Endpoint, answer: str) -> None:
    """One line; it never becomes a setting."""
    endpoint.answers(saying(answer))
    with pytest.raises((ModelError, InvalidInput)) as refused:
        model.propose({}, [])
    assert isinstance(refused.value, HarnessError)
    assert len(str(refused.value).splitlines()) == 1
