"""Evaluations and loops of experiments, as their logs and journals tell of them: the machine's own, no tenant's.

What is damaged is told of in its place, and hides nothing else.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from harness_evals import suite
from harness_evals.journal import Experiment, Journal, as_config
from harness_evals.log import Header
from harness_evals.run import recorded_settings
from harness_evals.suite import first_differences
from msgspec import structs, to_builtins

from harness.core.text import clean
from harness.errors import InvalidInput
from harness.server.api.experiment_files import (
    MAX_BYTES,
    Evaluation,
    evaluation_of,
    evaluations,
    evaluations_in,
    loop_of,
    loops,
    loops_in,
    short,
)
from harness.server.api.experiment_responses import (
    ChangedSetting,
    ComparedTask,
    ComparisonReply,
    EvaluationReply,
    EvaluationRow,
    ExperimentsReply,
    LoopReply,
    LoopRow,
    ScoreDifference,
    TaskReply,
    TrialReply,
)
from harness.server.pages.charts import Total, day_and_month
from harness.settings import Settings

MAX_LISTED = 100
MAX_TRIALS = 1_000
MAX_SAID = 20
"""Reasons and errors that are told of one thing."""


def listed(data_dir: Path) -> ExperimentsReply:
    """Return the newest loops and evaluations (`MAX_LISTED` of each), the newest first.

    Raises:
        StoreError: a folder cannot be read.
    """
    of_loops, of_evaluations = loops_in(data_dir), evaluations_in(data_dir)
    return ExperimentsReply(
        loops=[_loop_row(name, path) for name, path in list(of_loops.items())[:MAX_LISTED]],
        evaluations=[_evaluation_row(name, path) for name, path in list(of_evaluations.items())[:MAX_LISTED]],
        loops_in_all=len(of_loops),
        evaluations_in_all=len(of_evaluations),
    )


def totals(data_dir: Path) -> list[Total]:
    """Return the scores of the evaluations that are listed and measured, the oldest first.

    Raises:
        StoreError: the folder cannot be read.
    """
    found = []
    for path in list(evaluations_in(data_dir).values())[:MAX_LISTED]:
        try:
            held = evaluations.get(path)
        except InvalidInput:  # its row tells of it
            continue
        mean, error = held.summary.means.get("total"), held.summary.errors.get("total", 0.0)
        if mean is not None:
            header = held.log.header
            total = Total(day_and_month(header.began), mean, error, repr(sorted(header.tasks.items())))
            found.append((header.began, total))
    return [total for _, total in sorted(found, key=lambda each: each[0])]


def loop(data_dir: Path, name: str) -> LoopReply:
    """Return a loop of experiments, whole; of very many experiments the last `MAX_TRIALS`.

    Raises:
        NotFound: there is none of that name.
        StoreCorrupt: its journal is damaged.
        StoreError: the folder cannot be read.
    """
    held = loop_of(data_dir, name)
    begun, best = held.begun, to_builtins(held.best)
    return LoopReply(
        loop=_row_of_loop(name, held),
        rules=structs.asdict(begun.options),
        tasks=[short(task) for task in begun.tasks],
        space={short(setting): [_plain(value) for value in values] for setting, values in begun.space.items()},
        settings=_plain_settings(begun.settings),
        changed_settings=_changed(begun.settings),
        noise_errors=_said(held.noise_floor.errors if held.noise_floor else ()),
        trials=[_trial(each) for each in held.experiments[-MAX_TRIALS:]],
        best=_plain_settings(best),
        best_config=clean(as_config({**begun.settings, **best}), MAX_BYTES) + "\n",
    )


def evaluation(data_dir: Path, name: str) -> EvaluationReply:
    """Return an evaluation, whole.

    Raises:
        NotFound: there is none of that name.
        StoreCorrupt: its log is damaged.
        StoreError: the folder cannot be read.
    """
    held = evaluation_of(data_dir, name)
    header, costs = held.log.header, [outcome.cost for outcome in held.log.outcomes]
    return EvaluationReply(
        evaluation=_row_of_evaluation(name, held),
        tasks=[
            TaskReply(
                task=short(each.task),
                runs=each.runs,
                total=each.total,
                values={short(scorer): value for scorer, value in each.values.items()},
                errors=_said(dict.fromkeys(each.errors)),
            )
            for each in held.summary.tasks
        ],
        means=dict(held.summary.means),
        errors=dict(held.summary.errors),
        weights={short(scorer): weight for scorer, weight in header.weights.items()},
        tokens=sum(cost.tokens for cost in costs),
        seconds=sum(cost.seconds for cost in costs),
        settings=_plain_settings(header.settings),
        changed_settings=_changed(header.settings),
        versions={short(what): short(version) for what, version in header.versions.items()},
    )


def comparison(data_dir: Path, first: str, second: str) -> ComparisonReply:
    """Return two evaluations side by side.

    Raises:
        NotFound: one of them is not there.
        StoreCorrupt: a log is damaged.
        StoreError: the folder cannot be read.
    """
    one, other = evaluation_of(data_dir, first), evaluation_of(data_dir, second)
    difference, message = None, ""
    try:
        found = suite.compare(one.log, other.log)
        difference = ScoreDifference(
            mean=found.mean, low=found.low, high=found.high, p=found.p, tasks=len(found.differences)
        )
    except InvalidInput as error:  # too few tasks in common: what can be compared still is
        message = short(error)
    return ComparisonReply(
        first=_row_of_evaluation(first, one),
        second=_row_of_evaluation(second, other),
        difference=difference,
        message=message,
        tasks=_compared(one, other),
        changed=[
            ChangedSetting(name=short(name), first=_plain(was), second=_plain(now))
            for name, was, now in _differing(one.log.header, other.log.header)
        ],
    )


def _compared(one: Evaluation, other: Evaluation) -> list[ComparedTask]:
    """Return the tasks of both, those that differ most first."""
    stages = first_differences(one.log, other.log)
    scored = [{task.task: task.total for task in each.summary.tasks} for each in (one, other)]
    digests = one.log.header.tasks, other.log.header.tasks
    tasks = []
    for task in dict.fromkeys((*digests[0], *digests[1])):
        was, now = scored[0].get(task), scored[1].get(task)
        tasks.append(
            ComparedTask(
                task=short(task),
                first=was,
                second=now,
                difference=None if was is None or now is None else now - was,
                compared=task in stages,
                stage=stages.get(task),
                task_changed=task in digests[0] and task in digests[1] and digests[0][task] != digests[1][task],
            )
        )
    return sorted(tasks, key=lambda each: (each.difference is None, -abs(each.difference or 0.0), each.task))


def _differing(one: Header, other: Header) -> list[tuple[str, Any, Any]]:
    """Return settings, versions and weights that are not the same in both."""
    told_of = [
        {
            **header.settings,
            **{f"version of {name}": version for name, version in header.versions.items()},
            **{f"weight of {name}": weight for name, weight in header.weights.items()},
        }
        for header in (one, other)
    ]
    names = sorted(told_of[0].keys() | told_of[1].keys())
    pairs = [(name, told_of[0].get(name), told_of[1].get(name)) for name in names]
    return [(name, was, now) for name, was, now in pairs if was != now]


def _loop_row(name: str, path: Path) -> LoopRow:
    try:
        return _row_of_loop(name, loops.get(path))
    except InvalidInput as error:
        return LoopRow(id=name, message=short(error))


def _row_of_loop(name: str, held: Journal) -> LoopRow:
    kept = [each for each in held.experiments if each.status == "keep"]
    floor = held.noise_floor
    return LoopRow(
        id=name,
        began=held.begun.at,
        experiments=len(held.experiments),
        kept=len(kept),
        best_score=kept[-1].score if kept else floor.score if floor else None,
        noise_floor=floor.value if floor else None,
    )


def _evaluation_row(name: str, path: Path) -> EvaluationRow:
    try:
        return _row_of_evaluation(name, evaluations.get(path))
    except InvalidInput as error:
        return EvaluationRow(id=name, message=short(error))


def _row_of_evaluation(name: str, held: Evaluation) -> EvaluationRow:
    header = held.log.header
    return EvaluationRow(
        id=name,
        began=header.began,
        tasks=len(header.tasks),
        repeats=header.repeats,
        finished=held.log.is_finished,
        mean=held.summary.means.get("total"),
        error=held.summary.errors.get("total"),
        crashes=held.summary.crashes,
        live_calls=sum(outcome.cost.live_calls for outcome in held.log.outcomes),
    )


def _trial(each: Experiment) -> TrialReply:
    numbers = {name: getattr(each, name) for name in ("score", "baseline", "delta", "low", "high", "p")}
    return TrialReply(
        number=each.number,
        description=short(each.description),
        status=each.status,
        tasks=each.tasks,
        seconds=each.seconds,
        live_calls=each.live_calls,
        reasons=_said(each.reasons),
        **numbers,
    )


def _changed(settings: Mapping[str, Any]) -> list[str]:
    """Return which settings are not those that an evaluation has by default today."""
    defaults = recorded_settings(suite.settings_for(Settings()))
    return sorted(short(name) for name, value in settings.items() if defaults.get(name) != value)


def _plain_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {short(name): _plain(value) for name, value in settings.items()}


def _plain(value: Any) -> Any:
    """Return a setting as it can be shown: text is cleaned, and what is neither number, text nor a list is text."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (list, tuple)) and len(value) <= MAX_SAID:
        return [each if isinstance(each, (bool, int, float)) else short(each) for each in value]
    return short(value)


def _said(lines: Iterable[str]) -> list[str]:
    return [short(line) for line in list(lines)[:MAX_SAID]]
