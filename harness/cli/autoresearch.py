"""`harness autoresearch`: try changes of settings, keep only real improvements."""

import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from msgspec import to_builtins

from harness.cli import completion
from harness.cli.command_session import Session, with_session
from harness.cli.groups import group
from harness.cli.options import DaskOption, JsonOption, Options, TasksDirOption, TasksOption, duration
from harness.cli.output import print_json
from harness.cli.terminal.progress import ProgressBars
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from harness_evals.journal import Begun, Experiment, Journal, NoiseFloor
    from harness_evals.loop import Loop, Runner
    from harness_evals.proposers import Proposer
    from harness_evals.space import Space
    from harness_evals.tasks import Task

    from harness.app import App
    from harness.settings import Settings

HELP = """Try changes of settings, and keep only improvements.

First, identical settings run against each other: their difference is the noise floor. Then each experiment runs in
turns with the current baseline, on the same tasks. A change is kept if it is better by more than --delta and the noise
floor, if the gain is significant at its share of alpha, and if it is not worse on tasks of the split `confirm`; or if
it is as good and simpler. A journal records everything: `--resume` continues a stopped loop.

\b
Examples:
  harness autoresearch --experiments 10
  harness autoresearch --tasks T_B,T_D,T_E,closures,slots --proposer random --seed 1
  harness autoresearch --proposer file --file experiments.yaml --budget-seconds 1h
  harness autoresearch --resume last
  harness autoresearch report --png scores.png
"""
GUESS, GUESS_WITH_MODEL = 1.0, 15.0
"""Expected seconds of a run of a task, before any was measured."""
CHANGED_SHOWN = 5
"""Tasks to show for each experiment, those that changed most; results.tsv has all."""
LOOPS_READ = 5
"""Earlier loops to read for the time that a run takes."""
PROPOSERS = ("grid", "hillclimb", "random", "file", "model")

commands = group("autoresearch", HELP)


class LoopOptions(Options):
    """Options of the experiments; a resumed loop has those that it was started with."""

    tasks: TasksOption = ""
    experiments: Annotated[int, typer.Option("--experiments", metavar="N", help="Maximum number of experiments.")] = 20
    proposer: Annotated[
        str, typer.Option("--proposer", metavar="NAME", help=f"How to propose experiments: {', '.join(PROPOSERS)}.")
    ] = "hillclimb"
    file: Annotated[Path | None, typer.Option("--file", metavar="FILE", help="Experiments for --proposer file.")] = None
    space: Annotated[
        Path | None, typer.Option("--space", metavar="FILE", help="Search space: a YAML file of settings and values.")
    ] = None
    delta: Annotated[
        float, typer.Option("--delta", help="Smallest gain in score (0 to 1) for which a change is kept.")
    ] = 0.01
    repeats: Annotated[
        int | None,
        typer.Option("--repeats", metavar="N", help="Runs of each task on each side; default 1, with a model 4."),
    ] = None
    seed: Annotated[int, typer.Option("--seed", help="Seed of the random experiments.")] = 0
    fresh_gather: Annotated[
        bool,
        typer.Option("--fresh-gather", help="Gather again in every run, with live searches, pages and model calls."),
    ] = False
    plateau: Annotated[
        int, typer.Option("--plateau", metavar="K", help="Report a plateau when K experiments in a row kept nothing.")
    ] = 8
    tasks_dir: TasksDirOption = None
    resume: Annotated[
        str | None,
        typer.Option(
            "--resume",
            metavar="ID",
            help="Continue a loop that was stopped, or `last`.",
            autocompletion=completion.loops,
        ),
    ] = None


class RunnerOptions(Options):
    """Options of the runs: their time, their calls, and where they run."""

    budget_seconds: Annotated[
        float | None, duration("--budget-seconds", bare="s", help="Start no experiment after this time: 30m, 8h.")
    ] = None
    budget_calls: Annotated[
        int | None, typer.Option("--budget-calls", metavar="N", help="Start no experiment after N live calls.")
    ] = None
    task_seconds: Annotated[
        float,
        duration("--task-seconds", bare="s", help="Kill a run after this time; it counts as a crash.", default="10m"),
    ] = 600.0
    workers: Annotated[int, typer.Option("--workers", metavar="N", help="Processes that run tasks.")] = 2
    dask: DaskOption = None


class _Plan(NamedTuple):
    """A loop to run: a new one, or one to continue."""

    begun: "Begun"
    folder: Path
    tasks: "Sequence[Task]"
    space: "Space"


@commands.callback(invoke_without_command=True)
@with_session
def autoresearch(
    session: Session,
    context: typer.Context,
    *,
    options: LoopOptions,
    runner: RunnerOptions,
    as_json: JsonOption = False,
) -> None:
    """Run a loop of experiments (see the help of the program)."""
    if context.invoked_subcommand:
        return
    from harness_evals.journal import read_journal
    from harness_evals.loop import Budget, Loop, expected_runs
    from harness_evals.suite import settings_for

    from harness.app import App
    from harness.settings.mode import Mode

    with ProgressBars() as bars:
        bars.visible &= not session.quiet
        bars("preparing", 0, 0)
        settings = settings_for(session.load().settings)
        begun, folder, tasks, space = _plan(options, settings)
        bars.expect(_usual_seconds(folder.parent, with_model=bool(settings.model)))
        bars("preparing", 0, expected_runs(begun.options, tasks))
        budget = Budget(runner.budget_seconds, runner.budget_calls)
        with (
            App(settings, Mode(origin="experiment")) as app,
            _runner(runner) as run,
            Loop(
                begun, folder, tasks, settings, _proposer(begun, options.file, space, app), run, budget=budget
            ) as loop,
        ):
            session.note(f"loop {begun.id}; journal and results are in {folder}; stop it with `touch {folder}/stop`")
            _run_loop(session, loop, bars)
    journal = read_journal(folder)
    if as_json:
        print_json(_as_json(journal))
    else:
        _print(journal)
    session.note(f"ended: {loop.ended}; the best settings are in {folder}/best.yaml, for --config")


def _plan(options: LoopOptions, settings: "Settings") -> _Plan:
    """Return the loop that the options describe, or the one to continue.

    Raises:
        InvalidInput: no such loop or proposer, or an unusable file.
    """
    from harness_evals.journal import FOLDER, journals_in, read_journal
    from harness_evals.journal import Options as Rules
    from harness_evals.loop import begin
    from harness_evals.space import DEFAULT_SPACE, checked_space, read_space
    from harness_evals.tasks import folder_of, load_tasks
    from harness_evals.verdicts import ALPHA, REPEATS

    folder, where = settings.data_dir / FOLDER, folder_of(options.tasks_dir)
    if options.resume is not None:
        held = read_journal(_found(journals_in(folder), options.resume, folder))
        journaled: Space = {name: tuple(values) for name, values in held.begun.space.items()}
        tasks = load_tasks(list(held.begun.tasks), where)
        return _Plan(held.begun, held.folder, tasks, checked_space(journaled, str(held.folder)))
    _check(options.proposer, options.file)
    named = dict.fromkeys(each.strip() for each in options.tasks.split(",") if each.strip())
    tasks = load_tasks(list(named), where)
    space = read_space(options.space) if options.space else checked_space(DEFAULT_SPACE, "the program")
    repeats = options.repeats if options.repeats is not None else REPEATS if settings.model else 1
    rules = Rules(
        options.experiments,
        repeats,
        options.delta,
        ALPHA,
        options.seed,
        options.proposer,
        options.plateau,
        options.fresh_gather,
    )
    begun = begin(tasks, settings, space, rules, now=time.time())
    return _Plan(begun, folder / begun.id, tasks, space)


@commands.command()
@with_session
def report(
    session: Session,
    loop: Annotated[
        str, typer.Argument(help="Id of a loop, the start of one, or `last`.", autocompletion=completion.loops)
    ] = "last",
    png: Annotated[
        Path | None, typer.Option("--png", metavar="FILE", help="Draw the chart to this PNG file too.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print and draw the experiments of a loop."""
    from harness_evals.charts import write_png
    from harness_evals.journal import FOLDER, journals_in, read_journal

    folder = session.load().settings.data_dir / FOLDER
    journal = read_journal(_found(journals_in(folder), loop, folder))
    if png is not None:
        write_png(journal.experiments, png)
        session.note(f"drew {png}")
    if as_json:
        print_json(_as_json(journal))
        return
    _print(journal)


def _check(proposer: str, file: Path | None) -> None:
    if proposer not in PROPOSERS:
        raise InvalidInput(f"no proposer {proposer!r}; choose one of {', '.join(PROPOSERS)}")
    if (proposer == "file") != (file is not None):
        raise InvalidInput("--proposer file and --file FILE need each other")


def _proposer(begun: "Begun", file: Path | None, space: "Space", app: "App") -> "Proposer":
    from harness_evals import proposers

    seed = begun.options.seed
    match begun.options.proposer:
        case "grid":
            return proposers.Grid(space)
        case "random":
            return proposers.Random(space, seed)
        case "hillclimb":
            return proposers.HillClimb(space, seed)
        case "file":
            if file is None:
                raise InvalidInput("this loop reads its experiments from a file; pass --file FILE again")
            return proposers.FromFile(file)
    if app.models.language_model is None:
        raise InvalidInput("--proposer model needs a language model; set `model`")
    return proposers.FromModel(space, app.models.language_model, app.cache)


@contextmanager
def _runner(options: RunnerOptions) -> "Iterator[Runner]":
    """Yield a runner of jobs: in processes, so that a job may hang, die, or take all memory; or on a Dask scheduler."""
    from harness_evals import executors
    from harness_evals.run import run_jobs

    if options.dask is not None:
        with executors.dask(options.dask) as (executor, at_once):
            yield partial(run_jobs, executor=executor, at_once=at_once)
    else:
        with executors.processes(options.workers, seconds=options.task_seconds) as executor:
            yield partial(run_jobs, executor=executor, at_once=options.workers)


def _run_loop(session: Session, loop: "Loop", bars: ProgressBars) -> None:
    """Run the loop and print a line for each step."""
    from harness_evals.journal import NoiseFloor

    if loop.noise_floor is None:
        session.note("measuring the noise floor: identical settings run against each other")
    for step in loop.steps(bars):
        session.note(_floor(step) if isinstance(step, NoiseFloor) else _line(step))
        if not isinstance(step, NoiseFloor) and loop.plateau():
            session.note(f"plateau: the last {loop.begun.options.plateau} experiments kept nothing")


def _usual_seconds(folder: Path, *, with_model: bool) -> float:
    """Return the seconds that a run of a task takes, from the newest loop with an experiment, or a guess."""
    from harness_evals.journal import journals_in, read_journal

    for each in journals_in(folder)[:LOOPS_READ]:
        try:
            journal = read_journal(each)
        except InvalidInput:
            continue
        runs = sum(2 * made.tasks * journal.begun.options.repeats for made in journal.experiments)
        if runs:
            return sum(made.seconds for made in journal.experiments) / runs
    return GUESS_WITH_MODEL if with_model else GUESS


def _floor(floor: "NoiseFloor") -> str:
    return f"noise floor {floor.value:.4f}: identical settings, score {floor.score:.4f}, {floor.live_calls} live calls"


def _line(experiment: "Experiment") -> str:
    delta = "" if experiment.delta is None else f" {experiment.delta:+.4f}"
    reason = experiment.reasons[-1] if experiment.reasons else ""
    return f"{experiment.number}. {experiment.status}{delta}: {experiment.description} ({reason})"


def _print(journal: "Journal") -> None:
    from harness_evals.charts import terminal_chart
    from harness_evals.journal import COLUMNS, row_of
    from tabulate import tabulate

    if journal.noise_floor is not None:
        typer.echo(_floor(journal.noise_floor))
    rows = [row_of(each) for each in journal.experiments]
    typer.echo(tabulate(rows, headers=COLUMNS, disable_numparse=True) if rows else "no experiments yet")
    for each in journal.experiments:
        if changed := list(each.changed_tasks.items())[:CHANGED_SHOWN]:
            more = f", {len(each.changed_tasks) - len(changed)} more" if len(each.changed_tasks) > len(changed) else ""
            typer.echo(f"{each.number}. {', '.join(f'{task} {delta:+.4f}' for task, delta in changed)}{more}")
    width = min(shutil.get_terminal_size().columns, 100)
    if chart := terminal_chart(journal.experiments, width, colour=sys.stdout.isatty()):
        from rich.text import Text

        from harness.cli.terminal.console import SafeConsole

        SafeConsole().print(Text.from_ansi(f"\n{chart}"), soft_wrap=True)


def _as_json(journal: "Journal") -> dict[str, object]:
    return {
        "id": journal.begun.id,
        "noise_floor": to_builtins(journal.noise_floor),
        "experiments": to_builtins(journal.experiments),
        "best": to_builtins(journal.best),
    }


def _found(folders: Sequence[Path], name: str, folder: Path) -> Path:
    found = folders[:1] if name == "last" else [each for each in folders if each.name.startswith(name)]
    if len(found) != 1:
        several = f"{name!r} may be {', '.join(each.name for each in found[:5])}; give more of the id"
        raise InvalidInput(several if found else f"no loop {name!r} in {folder}; start one with `harness autoresearch`")
    return found[0]
