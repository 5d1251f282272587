"""Proposers: grid, random, step by step, from a file, by a language model."""

import fcntl
import json
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from harness_evals.model_proposers import FromAgent, FromModel
from harness_evals.proposers import FromFile, Grid, HillClimb, Proposal, Proposer, Random, Situation, TaskState, Tried
from harness_evals.space import Changes, InvalidProposal, every
from msgspec.structs import replace

from harness.app import App
from harness.errors import InvalidInput
from harness.settings import Settings
from tests.evals.stand_ins import SPACE, from_file
from tests.models.endpoint import Endpoint, saying


def proposals(proposer: Proposer, most: int = 100, best: Changes | None = None) -> list[Changes]:
    """Return the proposals, each discarded before the next."""
    tried: list[Tried] = []
    while len(tried) < most and (proposal := proposer.propose(Situation(best or {}, tuple(tried)))) is not None:
        tried.append(Tried(proposal.changes, 0.5, "discard", proposal.idea))
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
    assert grid.propose(Situation()) == Proposal({"setting_0": 1})


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
    assert proposals(file) == [{"max_rounds": 2}, {"chunk_tokens": (100, 200)}, {"max_rounds": 2}]


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


WIDE = {**SPACE, "chunk_tokens": ((100, 200),)}
SITUATION = Situation(space=WIDE, targets={"prompts.write": "Write short sentences."})


@pytest.fixture
def model(endpoint: Endpoint, tmp_path: Path) -> Iterator[FromModel]:
    """A proposer with the scripted model."""
    settings = Settings(data_dir=tmp_path / "data", model="scripted", model_url=endpoint.url)
    with App(settings) as app:
        assert app.models.language_model is not None
        yield FromModel(("settings", "prompts"), app.models.language_model, app.cache)


def test_the_tokens_of_a_model_are_counted(model: FromModel, endpoint: Endpoint) -> None:
    """Also those of an answer that cannot be used; other proposers take none."""
    assert (model.tokens, Random(SPACE, 1).tokens) == (0, 0)
    endpoint.answers(saying(answer_of({"max_rounds": 2})))
    model.propose(SITUATION)
    first = model.tokens
    assert first > 0
    endpoint.answers(saying(answer_of({"max_rounds": 99})))
    with pytest.raises(InvalidProposal):
        model.propose(replace(SITUATION, best={"read_pages": 1}))
    assert model.tokens > first


def answer_of(change: Any, **more: Any) -> str:
    """Return a model's answer."""
    return json.dumps({"idea": "an idea", "hypothesis": "a hope", "change": change, **more})


@pytest.mark.parametrize(
    ("change", "changes"),
    [
        ({"max_rounds": 2}, {"max_rounds": 2}),
        ({"max_rounds": 2.0, "read_pages": 0}, {"max_rounds": 2, "read_pages": 0}),
        ({"chunk_tokens": [100, 200]}, {"chunk_tokens": (100, 200)}),
        ({"prompts.write": "Write."}, {"prompts.write": "Write."}),
        (
            {"prompts.write": [{"replace": "short", "with": "long"}]},
            {"prompts.write": "Write long sentences."},
        ),
    ],
)
def test_a_model_proposes_on_top_of_what_was_kept(
    model: FromModel, endpoint: Endpoint, change: Any, changes: Any
) -> None:
    """Values with the types of settings. It is asked once."""
    endpoint.answers(saying(answer_of(change)))
    situation = replace(SITUATION, best={"follow_ups": 4})
    found = model.propose(situation)
    assert found == Proposal({"follow_ups": 4, **changes}, "an idea", "a hope")
    assert {type(found.changes[name]) for name in changes} <= {int, tuple, str}
    assert model.propose(situation) == found
    assert len(endpoint.asked) == 1


def test_a_model_sees_the_state_of_the_loop(model: FromModel, endpoint: Endpoint) -> None:
    """The texts, the worst reports with what they lack, the past experiments; a repetition is refused."""
    endpoint.answers(saying(answer_of({"max_rounds": 2})))
    tried = (Tried({"read_pages": 0, "max_rounds": 2}, 0.25, "discard", "fewer", ("worse",)),)
    tasks = tuple(
        TaskState(f"t{n}", "Why?", n / 10, {"nugget_vital": n / 10}, ("the reason",), f"Report {n}") for n in range(5)
    )
    situation = replace(SITUATION, best={"read_pages": 0}, tried=tried, tasks=tasks, left={"tokens": 7.0})
    with pytest.raises(InvalidProposal, match="repeats an earlier experiment"):
        model.propose(situation)
    asked = endpoint.asked[0]["messages"]
    assert "Never write the answers of tasks" in asked[0]["content"]
    assert "prompts of the language model" in asked[0]["content"]
    payload = json.loads(asked[-1]["content"])
    assert payload["tried"][0]["reasons"] == ["worse"]
    assert (payload["kept"], payload["left"]) == ({"read_pages": 0}, {"tokens": 7.0})
    assert payload["allowed_settings"]["max_rounds"] == [1, 2, 3, 5]
    assert payload["texts"] == {"prompts.write": "Write short sentences."}
    assert [task["id"] for task in payload["tasks"] if "report" in task] == ["t0", "t1", "t2"]
    assert payload["tasks"][0]["missed"] == ["the reason"]


@pytest.mark.parametrize(
    "answer",
    [
        *("no", "[]", "{}", answer_of({}), answer_of([]), "{" * 10_000),
        *(answer_of({"max_rounds": value}) for value in (4, True, [1], None, "\u001b[2J")),
        *(
            answer_of({name: "x"})
            for name in ("data_dir", "rules.headings", "prompts.nothing", "tests/x.py", "prompts")
        ),
        answer_of({"prompts.write": [{"replace": "absent", "with": "x"}]}),
        answer_of({"prompts.write": [{"replace": 1, "with": "x"}]}),
        answer_of({"prompts.write": "x" * 20_001}),
        answer_of({"prompts.write": {"text": "x"}}),
    ],
)
def test_what_a_model_may_not_propose_is_refused(model: FromModel, endpoint: Endpoint, answer: str) -> None:
    """In one line without control characters; it never becomes a setting."""
    endpoint.answers(saying(answer))
    with pytest.raises(InvalidProposal) as refused:
        model.propose(SITUATION)
    assert len(str(refused.value).splitlines()) == 1
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 600


# Agents ------------------------------------------------------------------------------------------------------------


def an_agent(folder: Path, script: str, seconds: float = 20.0) -> FromAgent:
    """Return a proposer whose command runs this Python script in a copy with one prompt in it."""
    (folder / "agent.py").write_text(f"import json, pathlib, sys, time\nbrief = pathlib.Path(sys.argv[1])\n{script}\n")

    @contextmanager
    def workshop(situation: Situation) -> Iterator[tuple[Path, dict[str, Path]]]:
        root = folder / "copy"
        root.mkdir(exist_ok=True)
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        (root / "write.txt").write_text(situation.targets["prompts.write"])
        yield root, {"prompts.write": root / "write.txt"}

    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(folder / 'agent.py'))}"
    return FromAgent(command, ("settings", "prompts"), workshop, folder / "agent.log", seconds=seconds)


def test_an_agent_edits_files_in_a_copy(tmp_path: Path) -> None:
    """It reads the brief; it may leave its idea and settings."""
    script = """
assert "Improve the research program" in brief.read_text()
assert "prompts.write: write.txt" in brief.read_text()
pathlib.Path("write.txt").write_text("Write long sentences.")
pathlib.Path("proposal.json").write_text(json.dumps({"idea": "longer", "change": {"max_rounds": 2}}))
print("done")
"""
    found = an_agent(tmp_path, script).propose(replace(SITUATION, best={"follow_ups": 4}))
    assert found == Proposal({"follow_ups": 4, "max_rounds": 2, "prompts.write": "Write long sentences."}, "longer", "")
    assert (tmp_path / "agent.log").read_text() == "done\n"


@pytest.mark.parametrize(
    ("script", "seconds", "says"),
    [
        ("sys.exit(3)", 20.0, "ended with status 3; see .*agent.log"),
        ("time.sleep(60)", 0.5, "took longer than 0.5 s"),
        ("", 20.0, "changes nothing"),
        ('pathlib.Path("write.txt").write_text("x" * 2_000_000)', 20.0, "at most 1,000,000 are read"),
        ('pathlib.Path("write.txt").write_text("x"); pathlib.Path("other.txt").write_text("x")', 20.0, "other.txt"),
        ('pathlib.Path("proposal.json").write_text("{")', 20.0, "proposal.json is no JSON"),
        ('pathlib.Path("proposal.json").write_text(json.dumps({"change": {"data_dir": "/"}}))', 20.0, "data_dir"),
    ],
)
def test_an_agent_that_fails_is_an_invalid_proposal(tmp_path: Path, script: str, seconds: float, says: str) -> None:
    """With the reason; the loop goes on."""
    with pytest.raises(InvalidProposal, match=says):
        an_agent(tmp_path, script, seconds).propose(SITUATION)


@pytest.mark.slow
def test_nothing_that_an_agent_started_outlives_it(tmp_path: Path) -> None:
    """Neither after its time nor after its end: the copy is removed."""
    held = tmp_path / "held"
    script = f"""
import fcntl, subprocess
with open({str(held)!r}, "w") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    subprocess.Popen(["sleep", "60"], pass_fds=[file.fileno()])
"""
    for end, says in (("time.sleep(60)", "took longer"), ("", "changes nothing")):
        with pytest.raises(InvalidProposal, match=says):
            an_agent(tmp_path, f"{script}\n{end}", 2.0).propose(SITUATION)
        began = time.monotonic()
        with held.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX)
        assert time.monotonic() - began < 30


def test_an_agent_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    """Before anything is tried."""
    workshop = an_agent(tmp_path, "")._workshop
    for command, says in (
        (" ", "--agent names no command"),
        ("/no/such/agent", "no program '/no/such/agent' can be run"),
    ):
        with pytest.raises(InvalidInput, match=says):
            FromAgent(command, ("prompts",), workshop, tmp_path / "log", seconds=1)
