"""`harness eval`: run evaluation tasks, score them again, check and repeat them."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import to_builtins

from harness.cli import completion
from harness.cli.command_session import Session, with_session
from harness.cli.evaluation_views import LogArgument, ObjectiveOption, log_named, show_scores
from harness.cli.options import (
    DaskOption,
    JsonOption,
    Options,
    TasksDirOption,
    TasksOption,
    chosen_tasks,
    listed_names,
)
from harness.cli.output import print_json, print_result
from harness.cli.terminal import ExitCode
from harness.cli.terminal.progress import ProgressBars
from harness.core.text import amount
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from harness_evals.judge import Judge
    from harness_evals.tasks import Task

    from harness.settings import Settings

JudgeOption = Annotated[
    bool, typer.Option("--judge", help="Let the language model grade the reports too; its grades are cached.")
]
WeightsOption = Annotated[
    Path | None, typer.Option("--weights", metavar="FILE", help="Use the weights of this YAML file (scorer: share).")
]


class EvaluationOptions(Options):
    """Options of a new or resumed evaluation."""

    tasks: TasksOption = ""
    repeat: Annotated[int, typer.Option("--repeat", metavar="N", max=1_000, help="Number of runs of each task.")] = 1
    resume: Annotated[
        str | None,
        typer.Option(
            "--resume",
            metavar="ID",
            help="Continue an evaluation that was stopped.",
            autocompletion=completion.evaluations,
        ),
    ] = None
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Gather every context again; the search cache is still used.")
    ] = False
    tasks_dir: TasksDirOption = None
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", help="Run tasks in N processes instead of threads.")
    ] = None
    dask: DaskOption = None
    reports: Annotated[
        Path | None, typer.Option("--reports", metavar="DIR", help="Write each report into this folder, as Markdown.")
    ] = None


@with_session
def run(
    session: Session,
    *,
    options: EvaluationOptions,
    judge: JudgeOption = False,
    weights: WeightsOption = None,
    objective: ObjectiveOption = "",
    as_json: JsonOption = False,
) -> None:
    """Run tasks, score the results, and log both.

    Every repeat is a separate epoch. `--resume` continues a stopped evaluation with the runs that are missing.

    \b
    Examples:
      harness eval run
      harness eval run --tasks T_A,T_B --repeat 3
      harness eval run --tasks-dir web
      harness eval run --tasks-dir prompts.jsonl --reports reports
      harness eval run --resume 20261122-101500-1a2b3c
    """
    from harness_evals import suite
    from harness_evals.log import SUFFIX, read_log
    from harness_evals.objective import Objective

    _ = Objective(objective)  # refused before anything runs
    if options.resume is not None and (options.tasks or options.repeat != 1 or weights is not None or objective):
        raise InvalidInput("a resumed evaluation keeps its tasks, runs, weights and objective; leave these out")
    settings = suite.settings_for(session.load().settings, fresh=options.fresh)
    chosen, folder = chosen_tasks(listed_names(options.tasks), options.tasks_dir), settings.data_dir / suite.FOLDER
    if options.resume is not None:
        path = suite.find_log(folder, options.resume)
        began_fresh = read_log(path).header.settings.get("research_cache") is False
        settings = suite.settings_for(settings, fresh=options.fresh or began_fresh)
        log = suite.resume(path, chosen_tasks((), options.tasks_dir), settings)
        header, done, path = log.header, log.outcomes, log.path
        chosen = chosen_tasks(header.tasks, options.tasks_dir)
    else:
        header = suite.begin(
            chosen, settings, repeats=options.repeat, now=time.time(), weights=_weights(weights), objective=objective
        )
        done, path = [], folder / f"{header.id}{SUFFIX}"
    threads = min(settings.concurrency, os.cpu_count() or 1)
    opened = opened_executor(options.dask, options.workers, threads=threads)
    with ProgressBars(quiet=session.quiet) as bars, _judge(settings, judge) as grading, opened as (executor, at_once):
        session.note(f"evaluation {header.id}")
        _note_bare(session, chosen, settings)
        suite.run(
            header,
            done,
            chosen,
            settings,
            path,
            executor,
            at_once=at_once,
            judge=grading,
            reports=options.reports,
            on_outcome=lambda number, total: bars("tasks", number, total),
        )
    show_scores(read_log(path), as_json=as_json)


def _note_bare(session: Session, chosen: "Sequence[Task]", settings: "Settings") -> None:
    """Say that tasks without anything to score have reports of excerpts, if no language model is set."""
    bare = [each for each in chosen if not (each.nuggets or each.gold or each.stream) and each.answerable]
    if bare and not settings.model:
        session.note("no language model is set (`model`), so the reports are excerpts")


@with_session
def score(
    session: Session,
    evaluation: LogArgument = "last",
    tasks_dir: TasksDirOption = None,
    judge: JudgeOption = False,
    weights: WeightsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Score an evaluation again, without running anything.

    \b
    Examples:
      harness eval score last
      harness eval score last --weights weights.yaml
    """
    from harness_evals import suite

    log = log_named(session, evaluation)
    with _judge(session.load().settings, judge) as grading:
        show_scores(suite.rescored(log, chosen_tasks((), tasks_dir), _weights(weights), grading), as_json=as_json)


@with_session
def check(
    session: Session,
    tasks_dir: TasksDirOption = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print only the JSON schema of a task.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Check that tasks are well formed and their gold sources fit.

    Exits with 2 if something is wrong.

    \b
    Examples:
      harness eval check
      harness eval check --tasks-dir my-tasks
    """
    from harness_evals import tasks
    from harness_evals.task_checks import check_tasks
    from harness_evals.tasks import folder_of

    session.load()
    if schema:
        print_json(tasks.schema())
        return
    problems = check_tasks(folder_of(tasks_dir))
    print_result({"problems": problems}, "\n".join(problems) or "all tasks are valid", as_json=as_json)
    if problems:
        raise typer.Exit(ExitCode.USAGE)


@with_session
def repeat(
    session: Session,
    task: Annotated[str, typer.Argument(help="Task to run.", show_default=False, autocompletion=completion.task)],
    times: Annotated[int, typer.Option("--times", "-n", metavar="N", help="Number of runs.")] = 10,
    tasks_dir: TasksDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run one task many times and compare every stage byte by byte.

    Exits with 1 if a stage differs, and shows the first difference.

    \b
    Example:
      harness eval repeat T_A -n 40
    """
    from harness_evals.repeating import repeat_task
    from harness_evals.suite import settings_for

    if times < 2:
        raise InvalidInput(f"a comparison needs two runs, not {times}; pass -n 2 or more")
    chosen = chosen_tasks(listed_names(task), tasks_dir)
    if len(chosen) != 1:
        raise InvalidInput(f"only one task can be repeated, not {len(chosen)}; name one")
    settings = settings_for(session.load().settings)
    flags = {"research_cache": settings.research_cache, "semantic": settings.semantic}
    with session.app(flags, origin="evaluation") as app:
        found = repeat_task(app, chosen[0], times)
    first, *rest = found.seconds
    lines = [
        f"gathered {amount(found.gathered, 'time')}, {amount(found.live_calls, 'live call')} in all",
        f"run 1 took {first:.2f} s, runs 2 to {times} together {sum(rest):.2f} s",
        f"all {times} runs are identical in every stage; report {found.report}"
        if found.stage is None
        else f"run {found.run} differs from run 1 in stage {found.stage!r}:\n{found.difference}",
    ]
    print_result(to_builtins(found), lines, as_json=as_json)
    if found.stage is not None:
        raise typer.Exit(ExitCode.NOTHING_FOUND)


def _weights(path: Path | None) -> "Mapping[str, float]":
    from harness_evals.scorers import WEIGHTS, read_weights

    return WEIGHTS if path is None else read_weights(path)


@contextmanager
def _judge(settings: "Settings", wanted: bool) -> "Iterator[Judge | None]":
    """Yield the judge, or `None` if it is not wanted."""
    if not wanted:
        yield None
        return
    from harness_evals.judge import Judge

    from harness.app import App
    from harness.settings.mode import Mode

    with App(settings, Mode(origin="evaluation")) as app:
        if app.models.language_model is None:
            raise InvalidInput("--judge needs a language model; set `model`")
        yield Judge(app.models.language_model, app.cache)


@contextmanager
def opened_executor(
    dask: str | None, workers: int | None, *, threads: int = 1, seconds: float | None = None
) -> "Iterator[tuple[Executor, int]]":
    """Yield the executor of tasks, and how many it runs at once: a Dask scheduler's workers, processes that are killed
    after `seconds` per task, or threads.

    Raises:
        InvalidInput: both a scheduler and processes are asked for.
    """
    from harness_evals import executors

    if workers is not None and dask is not None:
        raise InvalidInput("choose one of --workers and --dask")
    if dask is not None:
        with executors.dask(dask) as found:
            yield found
    elif workers is not None:
        with executors.processes(workers, seconds=seconds) as executor:
            yield executor, workers
    else:
        with executors.threads(threads) as executor:
            yield executor, threads
