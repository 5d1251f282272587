"""Proposers: they choose what the next experiment changes. The same state of the loop, and the same seed, always give
the same proposal, so a loop that was stopped goes on as if it had not been.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from harness.errors import InvalidInput
from harness.settings import read_mapping
from harness_evals.edits import edited, is_edit
from harness_evals.space import SURFACES, Changes, Space, Surface, check_surfaces, checked_changes, every

MAX_TRIES = 200
"""Draws after which a proposer that only repeats itself is exhausted."""
MAX_IDEA = 500
"""Characters of an idea or a hypothesis."""
_WORDS = ("idea", "hypothesis")


class Proposal(Struct, frozen=True):
    """Changes of the next experiment, relative to the loop's first state; the idea, and what should come of it."""

    changes: Changes
    idea: str = ""
    hypothesis: str = ""


class Tried(Struct, frozen=True):
    """A finished experiment: its changes, its score (`None` after a crash), the verdict's status and reasons."""

    changes: Mapping[str, Any]
    score: float | None
    status: str
    idea: str = ""
    reasons: tuple[str, ...] = ()


class TaskState(Struct, frozen=True):
    """Result of the best state so far on one task: the total and each scorer's share (0..1), the nuggets that its
    report does not say, and the report as text.
    """

    id: str
    question: str
    total: float
    scores: Mapping[str, float]
    missed: tuple[str, ...]
    report: str


class Situation(Struct, frozen=True):
    """State of a loop for its proposer: the changes kept so far, the past experiments, the values that settings may
    have, the present text of every other target, the tasks, and how much is `left` of each budget.
    """

    best: Changes = {}
    tried: Sequence[Tried] = ()
    space: Space = {}
    targets: Mapping[str, str] = {}
    tasks: Sequence[TaskState] = ()
    left: Mapping[str, float] = {}


class Proposer(Protocol):
    """Proposer of changes."""

    @property
    def tokens(self) -> int:
        """Tokens of a language model that all proposals took, including those that could not be used."""
        return 0

    def propose(self, situation: Situation) -> Proposal | None:
        """Return the next proposal; `None` if nothing is left to try.

        Raises:
            InvalidProposal: it made one that cannot be used; another call may succeed.
            HarnessError: it cannot propose.
        """


class Grid(Proposer):
    """Every combination of the space, one setting at a time first."""

    def __init__(self, space: Space) -> None:
        self._space = space

    def propose(self, situation: Situation) -> Proposal | None:
        """See `Proposer.propose`."""
        single = ({name: value} for name, values in self._space.items() for value in values)
        return _first_new(chain(single, every(self._space)), situation.tried)


class Random(Proposer):
    """One to three settings, drawn with equal chances."""

    def __init__(self, space: Space, seed: int) -> None:
        self._space = space
        self._seed = seed

    def propose(self, situation: Situation) -> Proposal | None:
        """See `Proposer.propose`."""
        chance = _chance(self._seed, situation)

        def draw() -> Changes:
            names = chance.sample(sorted(self._space), chance.randint(1, min(3, len(self._space))))
            return {name: chance.choice(self._space[name]) for name in names}

        return _first_new((draw() for _ in range(MAX_TRIES)), situation.tried)


class HillClimb(Proposer):
    """One step from the best settings: one setting to a neighbouring value, or to any if its value
    is not in the space.
    """

    def __init__(self, space: Space, seed: int) -> None:
        self._space = space
        self._seed = seed

    def propose(self, situation: Situation) -> Proposal | None:
        """See `Proposer.propose`."""
        best = situation.best
        steps = [
            {**best, name: value}
            for name, values in self._space.items()
            for value in _neighbours(values, best.get(name))
        ]
        _chance(self._seed, situation).shuffle(steps)
        return _first_new(steps, situation.tried)


class FromFile(Proposer):
    """The experiments of a YAML file, in order: `experiments:`, and a list of mappings from targets to values, or of
    mappings with `change` (such a mapping), `idea` and `hypothesis`. Each builds on those kept before.

    The value of a prompt, rule or source file is its whole new text, or a list of `replace` and `with`.

    Raises:
        InvalidInput: the file has no experiments, or one of them cannot be used.
    """

    def __init__(self, path: Path, surfaces: Sequence[Surface] = SURFACES) -> None:
        found = read_mapping(path).get("experiments")
        if not isinstance(found, list) or not found or not all(isinstance(each, dict) and each for each in found):
            raise InvalidInput(
                f"{path} lists no experiments; write `experiments:` and lines like `- {{max_rounds: 2}}`"
            )
        self._listed = [_listed(each, f"{path}, experiment {n}", n, surfaces) for n, each in enumerate(found, start=1)]
        self._made = 0
        self._path = path
        self._surfaces = surfaces

    def propose(self, situation: Situation) -> Proposal | None:
        """See `Proposer.propose`."""
        ideas = {each.idea for each in situation.tried if each.idea}
        if gone := sorted(ideas - {each.idea for each in self._listed}):
            raise InvalidInput(f"{self._path} lacks {gone[0]!r}, which this loop has tried; only add to its end")
        done = [number for number, each in enumerate(self._listed, start=1) if each.idea in ideas]
        self._made = max(self._made, *done, 0)
        if self._made == len(self._listed):
            return None
        listed = self._listed[self._made]
        self._made += 1
        changes = edited(listed.changes, situation.targets, str(self._path), self._surfaces)
        return Proposal({**situation.best, **changes}, listed.idea, listed.hypothesis)


def is_tried(changes: Changes, tried: Sequence[Tried]) -> bool:
    """Return whether exactly these changes were tried."""
    return any(dict(each.changes) == dict(changes) for each in tried)


def _listed(entry: Mapping[str, Any], where: str, number: int, surfaces: Sequence[Surface]) -> Proposal:
    """Return an experiment of a file, its edits not yet made. Its idea ends with its number in the file."""
    changes = entry.get("change", entry)
    if not isinstance(changes, dict) or not changes or not all(isinstance(target, str) for target in changes):
        raise InvalidInput(f"{where} changes nothing; write `change:` and a mapping from targets to values")
    edits = {target: value for target, value in changes.items() if is_edit(value)}
    plain = {target: value for target, value in changes.items() if target not in edits}
    check_surfaces(edits, where, surfaces)
    words = [str(entry[name])[:MAX_IDEA] if "change" in entry and name in entry else "" for name in _WORDS]
    idea = f"{words[0]} (entry {number})" if words[0] else f"entry {number}"
    return Proposal({**edits, **checked_changes(plain, where, surfaces)}, idea, words[1])


def _first_new(drawn: Iterator[Changes] | Sequence[Changes], tried: Sequence[Tried]) -> Proposal | None:
    return next((Proposal(changes) for changes in drawn if not is_tried(changes, tried)), None)


def _chance(seed: int, situation: Situation) -> random.Random:
    return random.Random(f"{seed} {len(situation.tried)}")  # noqa: S311 - it draws experiments, no secrets


def _neighbours(values: Sequence[Any], present: Any) -> list[Any]:
    """Return the values next to the present one."""
    if present not in values:
        return list(values)
    at = list(values).index(present)
    return [values[near] for near in (at - 1, at + 1) if 0 <= near < len(values)]
