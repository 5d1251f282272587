"""Evaluations and experiment loops, read from their logs and journals. They belong to the machine, not to a tenant.

A damaged file is listed with a message; the others are still shown.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness_evals import suite
from harness_evals.changed_targets import names_of_changes
from harness_evals.journal import Confirmation, Experiment, Journal, as_config
from harness_evals.log import Header, Log
from harness_evals.outcome import Cost, total_cost
from harness_evals.run import recorded_settings
from harness_evals.space import TEXTS, surface_of, texts_of
from harness_evals.suite import first_differences
from msgspec import structs, to_builtins

from harness.core.text import clean
from harness.errors import InvalidInput
from harness.server.api.experiment_files import (
    MAX_BYTES,
    Evaluation,
    evaluations,
    evaluations_in,
    evaluations_named,
    loops,
    loops_in,
    plain_value,
    short,
    short_lines,
    stored_arms,
)
from harness.server.pages.charts import Total, day_and_month
from harness.server.responses.experiment_responses import (
    ChangedSetting,
    ComparedTask,
    ComparisonResponse,
    ConfirmationResponse,
    EvaluationResponse,
    EvaluationRow,
    ExperimentsResponse,
    LoopResponse,
    LoopRow,
    ObjectiveResponse,
    ScoreDifference,
    TaskResponse,
    TrialResponse,
)
from harness.settings import Settings

MAX_LISTED = 100
MAX_TRIALS = 1_000


def listed(data_dir: Path) -> ExperimentsResponse:
    """Return the newest loops and evaluations (at most `MAX_LISTED` of each), newest first.

    Raises:
        StoreError: a folder cannot be read.
    """
    loop_paths, evaluation_paths = loops_in(data_dir), evaluations_in(data_dir)
    return ExperimentsResponse(
        loops=[_loop_row(name, path) for name, path in list(loop_paths.items())[:MAX_LISTED]],
        evaluations=[_evaluation_row(name, path) for name, path in list(evaluation_paths.items())[:MAX_LISTED]],
        loops_in_all=len(loop_paths),
        evaluations_in_all=len(evaluation_paths),
    )


def totals(data_dir: Path) -> list[Total]:
    """Return the scores of the listed evaluations that have one, oldest first.

    Raises:
        StoreError: the folder cannot be read.
    """
    found = []
    for path in list(evaluations_in(data_dir).values())[:MAX_LISTED]:
        try:
            result = evaluations.get(path)
        except InvalidInput:  # listed with a message
            continue
        mean, error = result.summary.means.get("total"), result.summary.errors.get("total", 0.0)
        if mean is not None:
            header = result.log.header
            total = Total(day_and_month(header.began), mean, error, repr(sorted(header.tasks.items())))
            found.append((header.began, total))
    return [total for _, total in sorted(found, key=lambda each: each[0])]


def loop(data_dir: Path, name: str) -> LoopResponse:
    """Return a complete experiment loop, with at most the last `MAX_TRIALS` experiments.

    Raises:
        NotFound: there is no such loop.
        StoreCorrupt: its journal is damaged.
        StoreError: the folder cannot be read.
    """
    paths = loops_in(data_dir)
    journal = loops.named(name, paths, "experiment loop")
    start, best, changed = journal.begun, to_builtins(journal.best), names_of_changes(journal.experiments)
    return LoopResponse(
        loop=_row_of_loop(name, journal),
        rules=structs.asdict(start.options),
        tasks=[short(task) for task in start.tasks],
        space={short(setting): [plain_value(value) for value in values] for setting, values in start.space.items()},
        settings=_plain_settings(start.settings),
        changed_settings=_changed(start.settings),
        noise_errors=short_lines(journal.noise_floor.errors if journal.noise_floor else ()),
        trials=[_trial(each, changed[each.number]) for each in journal.experiments[-MAX_TRIALS:]],
        confirmations=[_confirmation(each, journal, paths[name]) for each in journal.confirmations[-MAX_TRIALS:]],
        confirmed=journal.is_confirmed,
        best={short(target): _kept_value(target, value) for target, value in best.items()},
        best_config=clean(as_config(_with_changes(start.settings, best)), MAX_BYTES) + "\n",
    )


def evaluation_named(data_dir: Path, name: str) -> Evaluation:
    """Return an evaluation by its name.

    Raises:
        NotFound: there is no such evaluation.
        StoreCorrupt: its log is damaged.
        StoreError: the folder cannot be read.
    """
    return evaluations.named(name, evaluations_named(data_dir, name), "evaluation")


def measured(log: Log) -> Evaluation:
    """Return an evaluation with its summary."""
    return Evaluation(log, suite.summary(log))


def evaluation_response(name: str, result: Evaluation) -> EvaluationResponse:
    """Return an evaluation as programs see it."""
    header = result.log.header
    by_task: dict[str, list[Cost]] = {task: [] for task in header.tasks}
    for outcome in result.log.outcomes:
        by_task.setdefault(outcome.task, []).append(outcome.cost)
    spent = {task: total_cost(costs) for task, costs in by_task.items()}
    in_all = total_cost(spent.values())
    return EvaluationResponse(
        evaluation=evaluation_row(name, result),
        tasks=[
            TaskResponse(
                task=short(each.task),
                runs=each.runs,
                total=each.total,
                values={short(scorer): value for scorer, value in each.values.items()},
                errors=short_lines(dict.fromkeys(each.errors)),
                **structs.asdict(spent[each.task]),
            )
            for each in result.summary.tasks
        ],
        means=dict(result.summary.means),
        errors=dict(result.summary.errors),
        weights={short(scorer): weight for scorer, weight in header.weights.items()},
        objective=_objective(result.log),
        tokens=in_all.tokens,
        seconds=in_all.seconds,
        settings=_plain_settings(header.settings),
        changed_settings=_changed(header.settings),
        versions={short(what): short(version) for what, version in header.versions.items()},
    )


def _objective(log: Log) -> ObjectiveResponse | None:
    if not log.header.objective:
        return None
    values = suite.objectives(log)
    return ObjectiveResponse(
        expression=short(log.header.objective),
        mean=sum(values.values()) / len(values) if values else None,
        tasks={short(task): value for task, value in values.items()},
    )


def comparison_response(first: tuple[str, Evaluation], second: tuple[str, Evaluation]) -> ComparisonResponse:
    """Return two evaluations, each with its name, side by side."""
    one, other = first[1], second[1]
    difference, message = None, ""
    try:
        found = suite.compare(one.log, other.log)
        difference = ScoreDifference(
            mean=found.mean, low=found.low, high=found.high, p=found.p, tasks=len(found.differences)
        )
    except InvalidInput as error:  # too few tasks in common; the rest is still compared
        message = short(error)
    return ComparisonResponse(
        first=evaluation_row(*first),
        second=evaluation_row(*second),
        difference=difference,
        message=message,
        tasks=compared_tasks(one, other),
        changed=[
            ChangedSetting(name=short(name), first=plain_value(was), second=plain_value(now))
            for name, was, now in _differing(one.log.header, other.log.header)
        ],
    )


def compared_tasks(one: Evaluation, other: Evaluation) -> list[ComparedTask]:
    """Return the tasks of two evaluations, the largest difference first."""
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
    """Return the settings, versions and weights that differ."""
    values = [
        {
            **header.settings,
            **{f"version of {name}": version for name, version in header.versions.items()},
            **{f"weight of {name}": weight for name, weight in header.weights.items()},
        }
        for header in (one, other)
    ]
    names = sorted(values[0].keys() | values[1].keys())
    pairs = [(name, values[0].get(name), values[1].get(name)) for name in names]
    return [(name, was, now) for name, was, now in pairs if was != now]


def _loop_row(name: str, path: Path) -> LoopRow:
    try:
        return _row_of_loop(name, loops.get(path))
    except InvalidInput as error:
        return LoopRow(id=name, message=short(error))


def _row_of_loop(name: str, journal: Journal) -> LoopRow:
    kept = [each for each in journal.experiments if each.is_kept]
    floor = journal.noise_floor
    return LoopRow(
        id=name,
        began=journal.begun.at,
        experiments=len(journal.experiments),
        kept=len(kept),
        best_score=kept[-1].score if kept else floor.score if floor else None,
        noise_floor=floor.value if floor else None,
    )


def _evaluation_row(name: str, path: Path) -> EvaluationRow:
    try:
        return evaluation_row(name, evaluations.get(path))
    except InvalidInput as error:
        return EvaluationRow(id=name, message=short(error))


def evaluation_row(name: str, result: Evaluation) -> EvaluationRow:
    """Return an evaluation as a row of a list."""
    header = result.log.header
    return EvaluationRow(
        id=name,
        began=header.began,
        tasks=len(header.tasks),
        repeats=header.repeats,
        finished=result.log.is_finished,
        mean=result.summary.means.get("total"),
        error=result.summary.errors.get("total"),
        crashes=result.summary.crashes,
        live_calls=sum(outcome.cost.live_calls for outcome in result.log.outcomes),
    )


def _trial(made: Experiment, changed: Sequence[str]) -> TrialResponse:
    texts = {
        "description": short(made.description),
        "reasons": short_lines(made.reasons),
        "idea": short(made.idea),
        "commit": short(made.commit),
        "changed": short_lines(changed),
    }
    return TrialResponse(**{**structs.asdict(made), **texts})


def _confirmation(test: Confirmation, journal: Journal, folder: Path) -> ConfirmationResponse:
    texts = {
        "present": not any(each.is_kept for each in journal.experiments[test.experiments :]),
        "tasks": [short(task) for task in test.tasks],
        "reasons": short_lines(test.reasons),
        "evaluations": stored_arms(folder, test.evaluations),
    }
    return ConfirmationResponse(**{**structs.asdict(test), **texts})


def _kept_value(target: str, value: Any) -> Any:
    """Return a kept value to show: of a text, only its length."""
    return plain_value(value) if surface_of(target) == "settings" else f"{len(str(value)):,} characters"


def _with_changes(settings: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return recorded settings with changes of settings and texts."""
    found = {**settings, **{name: value for name, value in changes.items() if surface_of(name) == "settings"}}
    for group in TEXTS:
        if texts := texts_of(changes, group):
            found[group] = {**found.get(group, {}), **texts}
    return found


def _changed(settings: Mapping[str, Any]) -> list[str]:
    """Return which settings differ from today's defaults of an evaluation."""
    defaults = recorded_settings(suite.settings_for(Settings()))
    return sorted(short(name) for name, value in settings.items() if defaults.get(name) != value)


def _plain_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {short(name): plain_value(value) for name, value in settings.items()}
