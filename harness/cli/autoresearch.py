"""`harness autoresearch`: try changes of settings, keep only what is really better."""

import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli import completion
from harness.cli.groups import group
from harness.cli.options import JsonOption, duration
from harness.cli.output import print_json
from harness.cli.session import Session, with_session
from harness.cli.terminal.progress import ProgressBars
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from harness_evals.journal import Begun, Experiment, Journal, NoiseFloor
    from harness_evals.loop import Loop, Runner
    from harness_evals.proposers import Proposer
    from harness_evals.space import Space

    from harness.app import App

HELP = """Try changes of settings, and keep only what is better.

First, identical settings are run against each other: what they differ by is the noise floor. Then each experiment
runs beside the present baseline, in turns, on the same tasks. A change is kept when it is better by more than --delta
and the noise floor, significantly so at its share of alpha, and not worse on tasks of the split `confirm`; or when it
is as good and simpler. Everything is in a journal: stopped by whatever, `--resume` goes on.

\b
Examples:
  harness autoresearch --experiments 10
  harness autoresearch --tasks T_B,T_D,T_E,closures,slots --proposer random --seed 1
  harness autoresearch --proposer file --file experiments.yaml --budget-seconds 1h
  harness autoresearch --resume last
  harness autoresearch report --png scores.png
"""
GUESS, GUESS_WITH_MODEL = 1.0, 15.0
"""Seconds that a run of a task may take, before anything is known."""
CHANGED_SHOWN = 5
"""Tasks that are shown of each experiment, those that changed most; results.tsv has all."""
LOOKED_AT = 5
"""Earlier loops that are looked at for how long a run takes."""
PROPOSERS = ("grid", "hillclimb", "random", "file", "model")

commands = group("autoresearch", HELP)


@commands.callback(invoke_without_command=True)
@with_session
def autoresearch(
    session: Session,
    context: typer.Context,
    tasks: Annotated[
        str,
        typer.Option("--tasks", metavar="ID,ID,…", help="The tasks; all by default.", autocompletion=completion.tasks),
    ] = "",
    experiments: Annotated[int, typer.Option("--experiments", metavar="N", help="Experiments at the most.")] = 20,
    proposer: Annotated[
        str, typer.Option("--proposer", metavar="NAME", help=f"What proposes them: {', '.join(PROPOSERS)}.")
    ] = "hillclimb",
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="The experiments, for --proposer file.")
    ] = None,
    space: Annotated[
        Path | None, typer.Option("--space", metavar="FILE", help="A search space of your own: settings and values.")
    ] = None,
    delta: Annotated[
        float, typer.Option("--delta", help="The least gain in score (0..1) that is worth a change.")
    ] = 0.01,
    repeats: Annotated[
        int | None,
        typer.Option("--repeats", metavar="N", help="Runs of each task on each side; 1 without a model, else 4."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="The same seed draws the same experiments.")] = 0,
    budget_seconds: Annotated[
        float | None, duration("--budget-seconds", bare="s", help="Start no experiment after this time: 30m, 8h.")
    ] = None,
    budget_calls: Annotated[
        int | None, typer.Option("--budget-calls", metavar="N", help="Begin none after so many live calls.")
    ] = None,
    fresh_gather: Annotated[
        bool,
        typer.Option("--fresh-gather", help="Gather again in every run, with live searches, pages and model calls."),
    ] = False,
    task_seconds: Annotated[
        float, duration("--task-seconds", bare="s", help="A run that takes longer is killed and counts as a crash.")
    ] = 600.0,
    workers: Annotated[int, typer.Option("--workers", metavar="N", help="Processes that run tasks.")] = 2,
    dask: Annotated[
        str | None,
        typer.Option("--dask", metavar="ADDRESS", help="Run tasks on the workers of this Dask scheduler instead."),
    ] = None,
    plateau: Annotated[
        int, typer.Option("--plateau", metavar="K", help="Say so when K experiments in a row kept nothing.")
    ] = 8,
    tasks_dir: Annotated[
        Path | None, typer.Option("--tasks-dir", metavar="DIR", help="A folder with tasks of your own.")
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            "--resume",
            metavar="ID",
            help="Go on with a loop that was stopped, or `last`.",
            autocompletion=completion.loops,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run a loop of experiments (the help of the program tells all)."""
    if context.invoked_subcommand:
        return
    from harness_evals.journal import FOLDER, Options, journals_in, read_journal
    from harness_evals.loop import Budget, Loop, begin, expected_runs
    from harness_evals.space import DEFAULT_SPACE, checked_space, read_space
    from harness_evals.suite import settings_for
    from harness_evals.tasks import TASKS_DIR, load_tasks
    from harness_evals.verdicts import ALPHA, REPEATS

    from harness.app import App, Mode

    with ProgressBars() as bars:
        bars.visible &= not session.quiet
        bars("preparing", 0, 0)
        settings = settings_for(session.load().settings)
        folder, where = settings.data_dir / FOLDER, tasks_dir or TASKS_DIR
        if resume is not None:
            held = read_journal(_found(journals_in(folder), resume, folder))
            begun, folder = held.begun, held.folder
            chosen = load_tasks(list(begun.tasks), where)
            journaled: Space = {name: tuple(values) for name, values in begun.space.items()}
            allowed = checked_space(journaled, str(held.folder))
        else:
            _check(proposer, file)
            chosen = load_tasks(list(dict.fromkeys(each.strip() for each in tasks.split(",") if each.strip())), where)
            allowed = read_space(space) if space else checked_space(DEFAULT_SPACE, "the program")
            runs = repeats if repeats is not None else REPEATS if settings.model else 1
            options = Options(experiments, runs, delta, ALPHA, seed, proposer, plateau, fresh_gather)
            begun = begin(chosen, settings, allowed, options, now=time.time())
            folder = folder / begun.id
        budget = Budget(budget_seconds, budget_calls)
        bars.expect(_usual_seconds(folder.parent, with_model=bool(settings.model)))
        bars("preparing", 0, expected_runs(begun.options, chosen))
        with (
            App(settings, Mode(origin="experiment")) as app,
            _runner(workers, task_seconds, dask) as run,
            Loop(begun, folder, chosen, settings, _proposer(begun, file, allowed, app), run, budget=budget) as loop,
        ):
            session.tell(f"loop {begun.id}; its journal and results are in {folder}; `touch {folder}/stop` ends it")
            _lead(session, loop, bars)
    journal = read_journal(folder)
    if as_json:
        print_json(_told(journal))
    else:
        _print(journal)
    session.tell(f"ended: {loop.ended}; the best settings are in {folder}/best.yaml, for --config")


@commands.command()
@with_session
def report(
    session: Session,
    loop: Annotated[
        str, typer.Argument(help="A loop: its id, the beginning of one, or `last`.", autocompletion=completion.loops)
    ] = "last",
    png: Annotated[Path | None, typer.Option("--png", metavar="FILE", help="Draw it as a picture, too.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Print and draw the experiments of a loop."""
    from harness_evals.charts import write_png
    from harness_evals.journal import FOLDER, journals_in, read_journal

    folder = session.load().settings.data_dir / FOLDER
    journal = read_journal(_found(journals_in(folder), loop, folder))
    if png is not None:
        write_png(journal.experiments, png)
        session.tell(f"drew {png}")
    if as_json:
        print_json(_told(journal))
        return
    _print(journal)


def _check(proposer: str, file: Path | None) -> None:
    if proposer not in PROPOSERS:
        raise InvalidInput(f"no proposer {proposer!r}; there are {', '.join(PROPOSERS)}")
    if (proposer == "file") != (file is not None):
        raise InvalidInput("--proposer file and --file FILE belong together")


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
                raise InvalidInput("this loop takes its experiments from a file; pass --file FILE again")
            return proposers.FromFile(file)
    if app.models.language_model is None:
        raise InvalidInput("--proposer model needs a language model; set `model`")
    return proposers.FromModel(space, app.models.language_model, app.cache)


@contextmanager
def _runner(workers: int, seconds: float, dask: str | None) -> "Iterator[Runner]":
    """Yield what does jobs: in processes that may hang, die, or take all memory; or on the workers of a scheduler."""
    from harness_evals import executors
    from harness_evals.run import run_jobs

    if dask is not None:
        with executors.dask(dask) as (executor, at_once):
            yield partial(run_jobs, executor=executor, at_once=at_once)
    else:
        with executors.processes(workers, seconds=seconds) as executor:
            yield partial(run_jobs, executor=executor, at_once=workers)


def _lead(session: Session, loop: "Loop", bars: ProgressBars) -> None:
    """Go through the loop, and print a line for each step."""
    from harness_evals.journal import NoiseFloor

    if loop.noise_floor is None:
        session.tell("measuring the noise floor: the same settings run against themselves")
    for step in loop.steps(bars):
        session.tell(_floor(step) if isinstance(step, NoiseFloor) else _line(step))
        if not isinstance(step, NoiseFloor) and loop.plateau():
            session.tell(f"a plateau: the last {loop.begun.options.plateau} experiments kept nothing")


def _usual_seconds(folder: Path, *, with_model: bool) -> float:
    """Return how long a run of a task takes: as in the newest loop that has an experiment, else a guess."""
    from harness_evals.journal import journals_in, read_journal

    for each in journals_in(folder)[:LOOKED_AT]:
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


def _told(journal: "Journal") -> dict[str, object]:
    from msgspec import to_builtins

    return {
        "id": journal.begun.id,
        "noise_floor": to_builtins(journal.noise_floor),
        "experiments": to_builtins(journal.experiments),
        "best": to_builtins(journal.best),
    }


def _found(folders: Sequence[Path], name: str, folder: Path) -> Path:
    found = folders[:1] if name == "last" else [each for each in folders if each.name.startswith(name)]
    if len(found) != 1:
        several = f"{name!r} may be any of {', '.join(each.name for each in found[:5])}; write more of it"
        raise InvalidInput(several if found else f"no loop {name!r} in {folder}; begin one with `harness autoresearch`")
    return found[0]
