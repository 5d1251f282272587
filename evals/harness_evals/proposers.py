"""Proposers: draw the next experiments from the search space. The same seed draws the same ones."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import msgspec
import orjson
from msgspec import Struct

from harness.cache import Cache
from harness.core.text import clean, one_line
from harness.errors import InvalidInput, ModelError
from harness.ports import LanguageModel, Message
from harness.settings import read_mapping
from harness_evals.space import Changes, Space, checked_changes, every

MAX_TRIES = 200
"""Draws after which a proposer that only repeats itself is exhausted."""
SHOWN = 20
"""Past experiments that a model is shown."""


class Tried(Struct, frozen=True):
    """A finished experiment: its changes, its score (`None` after a crash), and the verdict's status."""

    changes: Mapping[str, Any]
    score: float | None
    status: str


class Proposer(Protocol):
    """Proposer of changes to the settings."""

    def propose(self, best: Changes, tried: Sequence[Tried]) -> Changes | None:
        """Return the changes of the next experiment, relative to the loop's first settings; `None` if nothing is left
        to try. `best` are the changes kept so far.

        Raises:
            HarnessError: it cannot propose.
        """


class Grid:
    """Every combination of the space, one setting at a time first."""

    def __init__(self, space: Space) -> None:
        single = ({name: value} for name, values in space.items() for value in values)
        self._left: Iterator[Changes] = chain(single, every(space))

    def propose(self, best: Changes, tried: Sequence[Tried]) -> Changes | None:  # noqa: ARG002 - draws from everywhere
        """See `Proposer.propose`."""
        return _new(lambda: next(self._left, None), tried)


class Random:
    """One to three settings, drawn with equal chances."""

    def __init__(self, space: Space, seed: int) -> None:
        self._space = space
        self._random = random.Random(seed)  # noqa: S311 - it draws experiments, no secrets

    def propose(self, best: Changes, tried: Sequence[Tried]) -> Changes | None:  # noqa: ARG002 - draws from everywhere
        """See `Proposer.propose`."""
        return _new(self._draw, tried)

    def _draw(self) -> Changes:
        names = self._random.sample(sorted(self._space), self._random.randint(1, min(3, len(self._space))))
        return {name: self._random.choice(self._space[name]) for name in names}


class HillClimb:
    """One step from the best settings: one setting to a neighbouring value, or to any if its value
    is not in the space.
    """

    def __init__(self, space: Space, seed: int) -> None:
        self._space = space
        self._random = random.Random(seed)  # noqa: S311 - it draws experiments, no secrets

    def propose(self, best: Changes, tried: Sequence[Tried]) -> Changes | None:
        """See `Proposer.propose`."""
        steps = [
            {**best, name: value}
            for name, values in self._space.items()
            for value in _neighbours(values, best.get(name))
        ]
        self._random.shuffle(steps)
        left = iter(steps)
        return _new(lambda: next(left, None), tried)


class FromFile:
    """The experiments of a YAML file: `experiments:`, and a list of mappings from settings to values."""

    def __init__(self, path: Path) -> None:
        found = read_mapping(path).get("experiments")
        if not isinstance(found, list) or not found or not all(isinstance(each, dict) and each for each in found):
            raise InvalidInput(
                f"{path} lists no experiments; write `experiments:` and lines like `- {{max_rounds: 2}}`"
            )
        self._left = iter([checked_changes(each, f"{path}, experiment {n}") for n, each in enumerate(found, start=1)])

    def propose(self, best: Changes, tried: Sequence[Tried]) -> Changes | None:  # noqa: ARG002 - draws from everywhere
        """See `Proposer.propose`."""
        return _new(lambda: next(self._left, None), tried)


class FromModel:
    """Proposals of a language model from the space, given the past experiments; through the cache."""

    def __init__(self, space: Space, model: LanguageModel, cache: Cache) -> None:
        self._space = space
        self._model = model
        self._cache = cache

    def propose(self, best: Changes, tried: Sequence[Tried]) -> Changes | None:
        """See `Proposer.propose`.

        Raises:
            ModelError: the model fails, or its answer has no changes of the space.
            InvalidInput: it sets an invalid value.
        """
        answer = self._cache.completions.answer(self._model, self._messages(best, tried), schema=self._schema())
        try:
            given = msgspec.json.decode(answer.value.text, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise ModelError(f"no JSON object with settings: {one_line(clean(answer.value.text, 100))!r}") from error
        allowed = {name: value for name, value in given.items() if name in self._space and value is not None}
        changes = checked_changes(allowed, "the model's answer")  # converts 5.0 to 5, and a list to a tuple
        for name, value in changes.items():
            if value not in self._space[name]:
                raise ModelError(f"{name} may be any of {list(self._space[name])}, not {str(value)[:40]!r}")
        return None if not changes or _is_tried(changes, tried) else changes

    def _messages(self, best: Changes, tried: Sequence[Tried]) -> list[Message]:
        rules = (
            "You improve the settings of a research program. Answer with JSON: settings with new values, of those that "
            "are allowed; few at a time, and none that was tried."
        )
        prompt = {
            "allowed": {name: list(values) for name, values in self._space.items()},
            "kept": dict(best),
            "tried": [msgspec.to_builtins(each) for each in tried[-SHOWN:]],
        }
        return [{"role": "system", "content": rules}, {"role": "user", "content": orjson.dumps(prompt).decode()}]

    def _schema(self) -> dict[str, Any]:
        properties = {name: {"enum": list(values)} for name, values in self._space.items()}
        return {"type": "object", "properties": properties, "additionalProperties": False, "minProperties": 1}


def _new(draw: Callable[[], Changes | None], tried: Sequence[Tried]) -> Changes | None:
    """Draw until there is something new; `None` if nothing comes, or nothing new within `MAX_TRIES`."""
    for _ in range(MAX_TRIES):
        changes = draw()
        if changes is None or not _is_tried(changes, tried):
            return changes
    return None


def _is_tried(changes: Changes, tried: Sequence[Tried]) -> bool:
    return any(dict(each.changes) == dict(changes) for each in tried)


def _neighbours(values: Sequence[Any], present: Any) -> list[Any]:
    """Return the values next to the present one."""
    if present not in values:
        return list(values)
    at = list(values).index(present)
    return [values[near] for near in (at - 1, at + 1) if 0 <= near < len(values)]
