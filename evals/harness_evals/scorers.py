"""What a run of a task is worth, scored without any model: every scorer gives a share, 0 (worst) to 1 (best).

Nuggets are counted as in TREC's question answering tracks (Voorhees 2003), citations as in ALCE (Gao et al. 2023), but
that a quotation found in the stored text of its source takes the place of the model that judges entailment.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from msgspec import Struct

from harness.core.text import words
from harness.errors import InvalidInput
from harness.settings import read_mapping
from harness_evals.outcome import Cost, Outcome
from harness_evals.tasks import Nugget, Task, comparable, is_said

Scorer: TypeAlias = Callable[[Task, Outcome], float]

RECALL_AT = 10
"""So many sources count, the best ones."""
FEWEST_WORDS = 80
MOST_WORDS = 600
"""A report of so many words is neither too short nor too long."""


class Scores(Struct, frozen=True):
    """The value (0..1) of each scorer that applies to the task, by its name; their weighted mean (0..1); and,
    unweighted, what the run took, for seconds and live calls are the machine's and the cache's, not the report's.
    """

    values: Mapping[str, float]
    total: float
    cost: Cost = Cost(0, 0, 0.0)


def nugget_vital(task: Task, outcome: Outcome) -> float:
    """Return the share of the vital nuggets that the report says."""
    return _share_said((nugget for nugget in task.nuggets if nugget.importance == "vital"), outcome)


def nugget_all(task: Task, outcome: Outcome) -> float:
    """Return the share of all nuggets that the report says."""
    return _share_said(task.nuggets, outcome)


def retrieval_recall(task: Task, outcome: Outcome) -> float:
    """Return the share of the gold sources among the first `RECALL_AT` sources found; one that carries the same text
    stands for its like (see `Task`).
    """
    found = set(list(dict.fromkeys(outcome.sources))[:RECALL_AT])
    return sum(not found.isdisjoint(task.carriers(address)) for address in task.gold) / len(task.gold)


def citation_recall(task: Task, outcome: Outcome) -> float:  # noqa: ARG001 - every scorer is asked alike
    """Return the share of the report's sentences that rest on a verified quotation; 0 without a sentence.

    A sentence that a section says twice counts once.
    """
    supported: dict[tuple[str, str], bool] = {}
    for cited in outcome.citations:
        sentence = (cited.section, comparable(cited.sentence))
        supported[sentence] = supported.get(sentence, False) or bool(cited.quotation and cited.verified)
    return sum(supported.values()) / len(supported) if supported else 0.0


def citation_precision(task: Task, outcome: Outcome) -> float:  # noqa: ARG001 - every scorer is asked alike
    """Return the share of the quotations given that are verified and not superfluous; 0 where none is given.

    ALCE calls a citation superfluous when it does not support its sentence by itself and the others do without it. A
    quotation that is not verified never supports; so only those remain that are given again for the same sentence:
    they add nothing to the first.
    """
    given: set[tuple[str, str]] = set()
    quotations = [cited for cited in outcome.citations if cited.quotation]
    precise = 0
    for cited in quotations:
        pair = (comparable(cited.sentence), comparable(cited.quotation))
        precise += cited.verified and pair not in given
        given.add(pair)
    return precise / len(quotations) if quotations else 0.0


def structure(task: Task, outcome: Outcome) -> float:
    """Return 1 when the report has the sections that are asked for; each that is missing, or too many where the number
    is exact, takes away its share of the number asked for, down to 0.
    """
    there = len(outcome.sections)
    if task.structure.exactly is not None:
        return max(0.0, 1 - abs(there - task.structure.exactly) / task.structure.exactly)
    return min(1.0, there / (task.structure.at_least or 1))


def length(task: Task, outcome: Outcome) -> float:  # noqa: ARG001 - every scorer is asked alike
    """Return 1 for a report of `FEWEST_WORDS` to `MOST_WORDS` words, less in proportion for a shorter or longer one."""
    count = len(words(outcome.text))
    return min(1.0, count / FEWEST_WORDS, MOST_WORDS / max(count, 1))


SCORERS: Mapping[str, Scorer] = MappingProxyType(
    {
        scorer.__name__: scorer
        for scorer in (
            nugget_vital,
            nugget_all,
            retrieval_recall,
            citation_recall,
            citation_precision,
            structure,
            length,
        )
    }
)

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "nugget_vital": 0.35,
        "nugget_all": 0.15,
        "retrieval_recall": 0.15,
        "citation_recall": 0.10,
        "citation_precision": 0.10,
        "structure": 0.10,
        "length": 0.05,
    }
)
"""How much each scorer counts in a task's one number; together 1."""


def weights_for(task: Task, weights: Mapping[str, float] = WEIGHTS) -> dict[str, float]:
    """Return the weights of the scorers that apply to a task, in proportion, together 1: those of nuggets need nuggets,
    `retrieval_recall` needs gold sources.

    Raises:
        InvalidInput: no scorer that applies has a weight.
    """
    absent = set[str]() if task.nuggets else {nugget_vital.__name__, nugget_all.__name__}
    if not task.gold:
        absent.add(retrieval_recall.__name__)
    applying = {name: weights.get(name, 0.0) for name in SCORERS if name not in absent}
    if not (together := math.fsum(applying.values())):
        raise InvalidInput(f"no scorer with a weight applies to {task.id}; add nuggets to it, or weigh another scorer")
    return {name: weight / together for name, weight in applying.items()} if absent else applying


def read_weights(path: Path) -> dict[str, float]:
    """Read weights of one's own: a YAML mapping from scorers to shares, together 1.

    Raises:
        InvalidInput: it cannot be read, names an unknown scorer, or the weights are not 1 together; the file, and the
            line of a scorer, are named.
    """
    found = read_mapping(path)
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    weights: dict[str, float] = {}
    for name, weight in found.items():
        line = next((number for number, text in enumerate(lines, start=1) if text.startswith(f"{name}:")), 1)
        if not isinstance(weight, int | float):
            raise InvalidInput(f"{path}:{line}: the weight of {name} is no number")
        weights[str(name)] = float(weight)
        try:
            _check_one(str(name), float(weight))
        except InvalidInput as error:
            raise InvalidInput(f"{path}:{line}: {error}") from None
    try:
        _check(weights)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None
    return weights


def score(task: Task, outcome: Outcome, weights: Mapping[str, float] = WEIGHTS) -> Scores:
    """Score a run with every scorer that applies to the task, and weigh their values; a scorer that `weights` leaves
    out weighs nothing.

    Raises:
        InvalidInput: the run failed (a crash has no score) or is of another task, a weight is of no scorer or negative,
            the weights are not 1 together, none of those that apply counts, or a nugget's pattern takes too long.
    """
    if outcome.error:
        raise InvalidInput(f"the run of {outcome.task} failed ({outcome.error}), so it has no score; run it again")
    if outcome.task != task.id:
        raise InvalidInput(f"a run of {outcome.task} cannot be scored as one of {task.id}")
    _check(weights)
    applying = weights_for(task, weights)
    values = {name: SCORERS[name](task, outcome) for name in applying}
    total = math.fsum(weight * values[name] for name, weight in applying.items())
    return Scores(values, min(1.0, total), outcome.cost)


def _check(weights: Mapping[str, float]) -> None:
    for name, weight in weights.items():
        _check_one(name, weight)
    if not math.isclose(together := math.fsum(weights.values()), 1, abs_tol=1e-6):
        raise InvalidInput(f"the weights must be 1 together, not {together:g}")


def _check_one(name: str, weight: float) -> None:
    if name not in SCORERS:
        nearest = get_close_matches(name, SCORERS, n=1, cutoff=0.0)
        raise InvalidInput(f"no scorer {name!r}; did you mean {nearest[0]}? There are {', '.join(SCORERS)}")
    if not 0 <= weight <= 1:
        raise InvalidInput(f"the weight of {name} must be 0 to 1, not {weight:g}")


def _share_said(nuggets: Iterable[Nugget], outcome: Outcome) -> float:
    said = [comparable(cited.sentence) for cited in outcome.citations]
    found = [is_said(nugget, said) for nugget in nuggets]
    return sum(found) / len(found)
