"""Scorers without a model: each returns a share, 0 (worst) to 1 (best).

Nuggets are counted as in TREC's question answering tracks (Voorhees 2003), citations as in ALCE (Gao et al. 2023),
except that a quotation found in the stored text of its source replaces the model that judges entailment.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from msgspec import Struct

from harness.core.sub_questions import sub_questions
from harness.core.text import words
from harness.errors import InvalidInput
from harness.settings import read_mapping
from harness_evals import promises
from harness_evals.log import FIRST_WEIGHTS
from harness_evals.outcome import Cost, Outcome
from harness_evals.streams import calls_saved, mean_score
from harness_evals.tasks import Nugget, Structure, Task, comparable, is_said

Scorer: TypeAlias = Callable[[Task, Outcome], float]

RECALL_AT = 10
"""Number of best sources that count."""
FEWEST_WORDS = 80
MOST_WORDS = 600
"""Reports of `FEWEST_WORDS` to `MOST_WORDS` words have the full score for length."""


class Scores(Struct, frozen=True):
    """The value (0..1) of each scorer that applies to the task, by name; their weighted mean (0..1); and the run's
    cost, unweighted, because seconds and live calls depend on machine and cache, not on the report.
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
    """Return the share of the gold sources among the first `RECALL_AT` sources found; a source with the same text
    counts too (see `Task`).
    """
    found = set(list(dict.fromkeys(outcome.sources))[:RECALL_AT])
    return sum(not found.isdisjoint(task.carriers(address)) for address in task.gold) / len(task.gold)


def citation_recall(task: Task, outcome: Outcome) -> float:  # noqa: ARG001 - all scorers have one signature
    """Return the share of the report's sentences that have a verified quotation which supports them; 0 without a
    sentence.

    A sentence that a section repeats counts once.
    """
    supported: dict[tuple[str, str], bool] = {}
    for cited in outcome.citations:
        sentence = (cited.section, comparable(cited.sentence))
        supported[sentence] = supported.get(sentence, False) or bool(cited.quotation and cited.verified)
    return sum(supported.values()) / len(supported) if supported else 0.0


def citation_precision(task: Task, outcome: Outcome) -> float:  # noqa: ARG001 - all scorers have one signature
    """Return the share of the quotations that are verified and not superfluous; 0 if there are none.

    ALCE calls a citation superfluous if it does not support its sentence by itself and the others support it without
    it. An unverified quotation never supports; so only repeated quotations for the same sentence remain: they add
    nothing to the first.
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
    """Return 1 if the report has the requested sections; each missing one (or surplus one, if the number is exact)
    costs its share of the requested number, down to 0.
    """
    there, wanted = len(outcome.sections), task.structure or Structure(at_least=1)
    if wanted.exactly is not None:
        return max(0.0, 1 - abs(there - wanted.exactly) / wanted.exactly)
    return min(1.0, there / (wanted.at_least or 1))


def length(task: Task, outcome: Outcome) -> float:  # noqa: ARG001 - all scorers have one signature
    """Return 1 for a report of `FEWEST_WORDS` to `MOST_WORDS` words, proportionally less for a
    shorter or longer one.
    """
    count = len(words(outcome.text))
    return min(1.0, count / FEWEST_WORDS, MOST_WORDS / max(count, 1))


def first_sentence(task: Task, outcome: Outcome) -> float:
    """Return 1 if the first sentence of the report says a nugget, else 0."""
    first = [comparable(cited.sentence) for cited in outcome.citations[:1]]
    return float(any(is_said(nugget, first) for nugget in task.nuggets))


def refused(task: Task, outcome: Outcome) -> float:
    """Return 1 if there is a report for a question that can be answered, and none for one that cannot; else 0."""
    return float(task.answerable == bool(outcome.citations))


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
            first_sentence,
            refused,
            promises.sections_match,
            promises.repeated_content,
            promises.required_terms,
            promises.disagreement_shown,
            promises.avoided,
            promises.self_contained,
            promises.short_answer,
            calls_saved,
        )
    }
)

NEEDS: Mapping[str, Callable[[Task], bool]] = MappingProxyType(
    {
        "nugget_vital": lambda task: bool(task.nuggets),
        "nugget_all": lambda task: bool(task.nuggets),
        "first_sentence": lambda task: bool(task.nuggets),
        "retrieval_recall": lambda task: bool(task.gold),
        "structure": lambda task: task.structure is not None,
        "sections_match": lambda task: bool(sub_questions(task.question)),
        "required_terms": lambda task: any(promises.terms_of(task)),
        "disagreement_shown": lambda task: bool(task.disagrees),
        "avoided": lambda task: bool(task.avoid),
        "short_answer": lambda task: bool(task.short_answer),
        "calls_saved": lambda task: any(each.live_calls is not None for each in task.stream),
    }
)
"""Whether a task that can be answered has what a scorer counts; the other scorers apply to each question."""

WEIGHTS: Mapping[str, float] = MappingProxyType({**dict.fromkeys(SCORERS, 0.0), **FIRST_WEIGHTS})
"""Weight of each scorer in the total of a task that can be answered; the sum is 1. For the others `refused` decides.
Scorers that came later have none unless a task gives them one (`Task.weights`), so that totals stay comparable.
"""


def weights_for(task: Task, weights: Mapping[str, float] = WEIGHTS) -> dict[str, float]:
    """Return the weights of the scorers that apply to a task, with a sum of 1: those that the task gives, and `weights`
    in proportion for the rest. Only `refused` applies to a question that cannot be answered.

    Raises:
        InvalidInput: no scorer that applies has a weight, or the task gives one to a scorer that does not apply to it.
    """
    if not task.answerable:
        return {refused.__name__: 1.0}
    asked = (task, *task.parts)
    applying = {name: weights.get(name, 0.0) for name in SCORERS if any(_applies(name, each) for each in asked)}
    given = {str(name): weight for name, weight in task.weights.items()}
    if lost := [name for name in given if name not in applying]:
        raise InvalidInput(f"{task.id} gives a weight to {lost[0]}, which does not apply to it; remove the weight")
    together = math.fsum(weight for name, weight in applying.items() if name not in given)
    left = 1 - math.fsum(given.values())
    if not together and not math.isclose(left, 0, abs_tol=1e-6):
        raise InvalidInput(f"no scorer with a weight applies to {task.id}; add nuggets to it, or weigh another scorer")
    return {name: given.get(name, weight / (together or 1.0) * left) for name, weight in applying.items()}


def read_weights(path: Path) -> dict[str, float]:
    """Read custom weights: a YAML mapping from scorers to shares with a sum of 1.

    Raises:
        InvalidInput: it cannot be read, has an unknown scorer, or the sum is not 1; the message has the file, and the
            line of a scorer.
    """
    found = read_mapping(path)
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    weights: dict[str, float] = {}
    for name, weight in found.items():
        line = next((number for number, text in enumerate(lines, start=1) if text.startswith(f"{name}:")), 1)
        if not isinstance(weight, int | float):
            raise InvalidInput(f"{path}:{line}: the weight of {name} is not a number")
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
    """Score a run with every scorer that applies to the task, and weigh the values; a scorer not in `weights` has
    weight 0.

    Raises:
        InvalidInput: the run failed (a crash has no score) or is of another task, a weight has an unknown scorer or is
            negative, the sum is not 1, no scorer that applies has a weight, or a nugget's pattern takes too long.
    """
    if outcome.error:
        raise InvalidInput(f"the run of {outcome.task} failed ({outcome.error}), so it has no score; run it again")
    if outcome.task != task.id:
        raise InvalidInput(f"a run of {outcome.task} cannot be scored as one of {task.id}")
    _check(weights)
    applying = weights_for(task, weights)
    values = {name: _value(name, task, outcome) for name in applying}
    total = math.fsum(weight * values[name] for name, weight in applying.items())
    return Scores(values, min(1.0, total), outcome.cost)


def _applies(name: str, task: Task) -> bool:
    return name not in NEEDS or NEEDS[name](task)


def _value(name: str, task: Task, outcome: Outcome) -> float:
    """Return the value of a scorer for a task; for a stream, the mean over the questions to which it applies."""
    scorer = SCORERS[name]
    if not task.stream or scorer is calls_saved:
        return scorer(task, outcome)
    return mean_score(task, outcome, lambda part, ran: scorer(part, ran) if _applies(name, part) else None)


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
