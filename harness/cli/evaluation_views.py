"""`harness eval list`, `show` and `compare`: evaluations, and what one task's run did."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

from harness.cli import completion
from harness.cli.command_session import Session, with_session
from harness.cli.options import JsonOption
from harness.cli.output import print_json
from harness.cli.tables import Column, print_table
from harness.core.durations import in_words
from harness.errors import InvalidInput

logger = logging.getLogger(__name__)

if TYPE_CHECKING:
    from harness_evals.log import Log
    from harness_evals.suite import Summary

LEFT = ("id", "finished")
"""Columns of the list of evaluations that hold texts."""
RANKS: Mapping[str, int] = MappingProxyType({"tokens": 1, "repeats": 2, "live calls": 2, "tasks": 3})
"""Columns of the list of evaluations that a narrow terminal leaves out, the highest first."""

LogArgument = Annotated[
    str,
    typer.Argument(
        help="Id of an evaluation, the start of one, a file, `last`, or LOOP:NUMBER:baseline (or candidate) for an "
        "arm of an experiment.",
        autocompletion=completion.evaluations,
    ),
]
TaskArgument = Annotated[
    str, typer.Argument(metavar="[TASK]", help="Show this task alone.", autocompletion=completion.task)
]
ObjectiveOption = Annotated[
    str,
    typer.Option(
        "--objective",
        metavar="EXPR",
        help="Show quality weighed against cost, as 'quality - 0.01*live_calls' (also seconds, tokens).",
    ),
]
RepeatOption = Annotated[int, typer.Option("--repeat", metavar="N", min=1, help="Show run N of the task.")]


@with_session
def list_(session: Session, as_json: JsonOption = False) -> None:
    """List evaluations, newest first.

    \b
    Example:
      harness eval list
    """
    from harness_evals import suite
    from harness_evals.log import logs_in

    logs = _readable(logs_in(session.load().settings.data_dir / suite.FOLDER))
    if as_json:
        from harness.server.api.experiments import evaluation_row, measured

        rows = [evaluation_row(each.header.id, measured(each)) for each in logs]
        print_json({"evaluations": [row.model_dump(mode="json") for row in rows]})
        return
    told = [
        {
            "id": each.header.id,
            "tasks": len(each.header.tasks),
            "repeats": each.header.repeats,
            "finished": each.is_finished,
            "score": suite.summary(each).means.get("total"),
            "live calls": sum(outcome.cost.live_calls for outcome in each.outcomes),
            "tokens": sum(outcome.cost.tokens for outcome in each.outcomes),
            "time": in_words(sum(outcome.cost.seconds for outcome in each.outcomes)),
        }
        for each in logs
    ]
    if told:
        columns = [Column(name, "left" if name in LEFT else "right", rank=RANKS.get(name, 0)) for name in told[0]]
        print_table(columns, [[_number(value) for value in each.values()] for each in told])
    else:
        typer.echo("no evaluations yet; start one with `harness eval run`")


@with_session
def show(
    session: Session,
    evaluation: LogArgument = "last",
    task: TaskArgument = "",
    repeat: RepeatOption = 1,
    objective: ObjectiveOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show the scores by task, or what one task's run did.

    Standard errors of the means are clustered by task. Of a task: its scores, nuggets with the sentences that say them,
    the report, sources, rounds and cost.

    \b
    Examples:
      harness eval show
      harness eval show last T_A
      harness eval show 20261122-081242-46f0ea:3:candidate T_A --json
    """
    log = log_named(session, evaluation)
    if objective:
        log = replace(log, header=replace(log.header, objective=objective))
    if not task:
        show_scores(log, as_json=as_json)
        return
    from harness_evals.task_view import task_view

    from harness.cli.task_run_text import print_task_run
    from harness.server.api.task_runs import task_run_response

    view = task_view(log, task, repeat, session.load().settings.data_dir)
    if as_json:
        print_json(task_run_response(view).model_dump(mode="json"))
    else:
        print_task_run(view)


@with_session
def compare(
    session: Session,
    first: LogArgument,
    second: Annotated[
        str, typer.Argument(help="Evaluation to compare with.", autocompletion=completion.evaluations)
    ] = "last",
    task: TaskArgument = "",
    repeat: RepeatOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Compare two evaluations task by task: is the second better?

    With a task: the first stage of its run that differs, and the difference.

    \b
    Examples:
      harness eval compare 20261122-1015 last
      harness eval compare 20261122-1015 last T_A
    """
    logs = log_named(session, first), log_named(session, second)
    if task:
        _compare_task(session, logs, task, repeat, as_json=as_json)
    else:
        _compare_all(logs, as_json=as_json)


def _compare_task(session: Session, logs: "tuple[Log, Log]", task: str, number: int, *, as_json: bool) -> None:
    from harness_evals.task_view import stage_view

    from harness.cli.task_run_text import print_stage
    from harness.server.api.task_runs import stage_response

    view = stage_view(*logs, task, number, session.load().settings.data_dir)
    if as_json:
        print_json(stage_response(view).model_dump(mode="json"))
    else:
        print_stage(view)


def _compare_all(logs: "tuple[Log, Log]", *, as_json: bool) -> None:
    from harness_evals import suite

    found = suite.compare(*logs)
    if logs[0].header.weights != logs[1].header.weights:
        logger.warning("the two are scored with different weights; `harness eval score` scores each with the same ones")
    if as_json:
        from harness.server.api.experiments import comparison_response, measured

        one, other = ((log.header.id, measured(log)) for log in logs)
        print_json(comparison_response(one, other).model_dump(mode="json"))
        return
    stages = suite.first_differences(*logs)
    rows = sorted(found.differences.items(), key=lambda each: each[1])
    cells = [(task, f"{value:+.3f}", (stages[task] or "none") if task in stages else "-") for task, value in rows]
    columns = (Column("task"), Column("difference", "right"), Column("first stage that differs", least=24))
    print_table(columns, cells)
    typer.echo(
        f"\nmean difference {found.mean:+.4f} (95 % interval {found.low:+.4f} to {found.high:+.4f}), "
        f"p = {found.p:.3g}, {len(rows)} tasks"
    )


def log_named(session: Session, name: str) -> "Log":
    """Return the log that `name` refers to (see `LogArgument`)."""
    from harness_evals.evaluation_names import SEPARATOR, find_evaluation
    from harness_evals.log import read_log

    whole, path = find_evaluation(session.load().settings.data_dir, name)
    log = read_log(path)
    if SEPARATOR in whole:  # the header of an arm does not name its loop
        return replace(log, header=replace(log.header, id=whole))
    return log


def _readable(paths: "Sequence[Path]") -> "Iterator[Log]":
    """Yield the logs that can be read, and log the names of the others."""
    from harness_evals.log import read_log

    for path in paths:
        try:
            yield read_log(path)
        except InvalidInput as error:
            logger.warning("left out: %s; move it, or read it with the program that wrote it", error)


def show_scores(log: "Log", *, as_json: bool) -> None:
    """Print the scores of an evaluation by task, and the values of its objective, if any, as a table or as JSON."""
    from harness_evals.evaluation_names import resume_command
    from harness_evals.judge import WEIGHT as JUDGE_WEIGHT
    from harness_evals.outcome import total_cost
    from harness_evals.suite import JUDGE, objectives, summary

    found, weighed = summary(log), objectives(log)
    if as_json:
        from harness.server.api.experiments import evaluation_response, measured

        print_json(evaluation_response(log.header.id, measured(log)).model_dump(mode="json"))
        return
    _print_scores(found, log.header.weights, weighed)
    typer.echo("\nweights: " + ", ".join(f"{name} {weight:g}" for name, weight in log.header.weights.items()))
    if weighed:
        typer.echo(f"objective: {log.header.objective}")
    cost = total_cost(outcome.cost for outcome in log.outcomes)
    typer.echo(f"cost of all runs: {cost.live_calls:,} live calls, {cost.tokens:,} tokens, {in_words(cost.seconds)}")
    if JUDGE in found.means:
        typer.echo(f"the judge has weight {JUDGE_WEIGHT:g} of the total, all others together {1 - JUDGE_WEIGHT:g}")
    for task in found.tasks:
        for error in dict.fromkeys(task.errors):
            typer.echo(f"{task.task} crashed: {error}")
    if not log.is_finished:
        typer.echo(f"not finished: continue with `{resume_command(log.header.id)}`")


def _print_scores(
    found: "Summary", weights: "Mapping[str, float]", weighed: "Mapping[str, float] | None" = None
) -> None:
    """Print the table of scores, objective and mean cost of a run; on a narrow terminal, only scorers with a weight, or
    only the totals.
    """
    names = list(found.means) or ["total"]
    scores = [{**task.values, "total": task.total} for task in found.tasks]
    means, errors = dict(found.means), dict(found.errors)
    if weighed:
        names.append("objective")
        scores = [{**each, "objective": weighed.get(task.task)} for each, task in zip(scores, found.tasks, strict=True)]
        means["objective"] = sum(weighed.values()) / len(weighed)
    spent = [[task.live_calls, task.seconds, task.tokens] for task in found.tasks]
    rows: list[Sequence[str]] = [
        [task.task, *(_number(each.get(name)) for name in names), *map(_short, costs), str(task.runs)]
        for task, each, costs in zip(found.tasks, scores, spent, strict=True)
    ]
    rows.append(
        ["mean", *(_number(means.get(name)) for name in names), *map(_short, _means(spent or [[None] * 3])), ""]
    )
    rows.append(["± s.e.", *(_number(errors.get(name)) for name in names), "", "", "", ""])
    ranks = {name: 1 if weights.get(name, 1.0) else 2 for name in names} | {"total": 0, "objective": 0}
    scored = (Column(name.replace("_", "\n"), "right", rank=ranks[name]) for name in names)
    spent_on = (Column(name, "right") for name in ("live\ncalls", "seconds", "tokens", "runs"))
    print_table((Column("task"), *scored, *spent_on), rows)


def _means(rows: "Sequence[Sequence[float | None]]") -> "Iterator[float | None]":
    """Yield the mean of each column, without missing values."""
    for column in zip(*rows, strict=True):
        held = [value for value in column if value is not None]
        yield sum(held) / len(held) if held else None


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"


def _number(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else "-" if value is None else str(value)
