"""`harness autoresearch`: try changes of the program, keep only real improvements."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import to_builtins

from harness.cli import completion
from harness.cli.autoresearch_estimate import estimates, usual_seconds
from harness.cli.autoresearch_options import BudgetOptions, CodeOptions, LoopOptions, RunnerOptions, SourceOptions
from harness.cli.autoresearch_output import confirmation_line, experiment_line, floor_line, print_journal
from harness.cli.autoresearch_plan import checkout, plan, proposer_for
from harness.cli.command_session import Session, with_session
from harness.cli.evaluate import opened_executor
from harness.cli.groups import group
from harness.cli.options import JsonOption, TasksDirOption, TasksOption, chosen_tasks, listed_names
from harness.cli.output import print_result
from harness.cli.terminal.progress import ProgressBars
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from harness_evals.code_trials import Checkout
    from harness_evals.journal import Journal
    from harness_evals.loop import Loop
    from harness_evals.paired_runs import Runner


HELP = """Try changes of the program, and keep only improvements.

First, the program runs against itself: the difference is the noise floor. Then each experiment runs in turns with the
current baseline, on the same tasks. A change is kept if it is better by more than --delta and the noise floor, if the
gain is significant at its share of alpha, and if it is not worse on tasks of the split `confirm`; or if it is as good
and simpler. A journal records everything: `--resume` continues a loop that was stopped, also by a kill.

With --surface, experiments may change settings, the prompts of the language model, the rules of planner and report, and
source files. Code is tried in a copy of the checkout, without network, and only if its checks and tests pass. Nothing
of yours changes until `harness autoresearch apply`.

\b
Experiments from a file (--proposer file --file FILE), each on top of the changes kept before:
  experiments:
  - max_rounds: 2
  - idea: ask for shorter sentences
    hypothesis: more of them are supported
    change:
      prompts.write:
      - replace: Write short sentences
        with: Write sentences of at most twenty words

\b
Examples:
  harness autoresearch --experiments 10
  harness autoresearch --tasks T_A,T_B,T_C,T_D,T_E --keep-rule gain
  harness autoresearch --surface prompts --proposer model --budget-tokens 2000000
  harness autoresearch --surface rules,code --proposer model --proposer-model NAME
  harness autoresearch --surface code --proposer agent --agent 'my-agent --edit'
  harness autoresearch --proposer file --file experiments.yaml --budget-seconds 1h
  harness autoresearch --resume last
  harness autoresearch report --png scores.png
  harness autoresearch confirm last --tasks-dir web
  harness autoresearch apply last
"""

commands = group("autoresearch", HELP)

LoopArgument = Annotated[
    str, typer.Argument(help="Id of a loop, the start of one, or `last`.", autocompletion=completion.loops)
]


@commands.callback(invoke_without_command=True)
@with_session
def autoresearch(
    session: Session,
    context: typer.Context,
    *,
    options: LoopOptions,
    source: SourceOptions,
    changed: CodeOptions,
    budget: BudgetOptions,
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

    if not runner.task_seconds:
        raise InvalidInput("--task-seconds must be more than 0, such as 10m")
    with ProgressBars(quiet=session.quiet) as bars:
        bars("preparing", 0, 0)
        settings = settings_for(session.load().settings)
        begun, folder, tasks, space = plan(options, source, settings)
        usual = usual_seconds(folder.parent, with_model=bool(settings.model))
        bars.expect(usual)
        bars("preparing", 0, expected_runs(begun.options, tasks))
        limits = Budget(budget.budget_seconds, budget.budget_calls, budget.budget_tokens)
        code = checkout(begun, folder, changed, settings)
        with (
            App(settings, Mode(origin="experiment")) as app,
            _runner(runner, code) as run,
            Loop(
                begun,
                folder,
                tasks,
                settings,
                proposer_for(begun, source, space, app, code),
                run,
                budget=limits,
                code=code,
            ) as loop,
        ):
            session.note(f"loop {begun.id}; journal and results are in {folder}; stop it with `touch {folder}/stop`")
            session.note(f"if it is interrupted, continue it with `harness autoresearch --resume {begun.id}`")
            for line in estimates(loop, tasks, usual, settings, named=source.proposer_model, code=code):
                session.note(line)
            _run_loop(session, loop, bars)
    journal = read_journal(folder)
    print_journal(journal, as_json=as_json)
    session.note(f"ended: {loop.ended}; the best settings are in {folder}/best.yaml, for --config")


@commands.command()
@with_session
def report(
    session: Session,
    loop: LoopArgument = "last",
    png: Annotated[
        Path | None, typer.Option("--png", metavar="FILE", help="Draw the chart to this PNG file too.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print and draw the experiments of a loop.

    \b
    Examples:
      harness autoresearch report
      harness autoresearch report last --png scores.png
    """
    from harness_evals.charts import write_png

    journal = _journal(session, loop)
    if png is not None:
        write_png(journal.experiments, png)
        session.note(f"drew {png}")
    print_journal(journal, as_json=as_json)


@commands.command()
@with_session
def confirm(
    session: Session,
    loop: LoopArgument = "last",
    *,
    tasks: TasksOption = "",
    tasks_dir: TasksDirOption = None,
    changed: CodeOptions,
    runner: RunnerOptions,
    as_json: JsonOption = False,
) -> None:
    """Test what a loop kept on further tasks, which no experiment used.

    \b
    Example:
      harness autoresearch confirm last --tasks-dir web
    """
    from harness_evals.confirming import confirm as confirmed
    from harness_evals.space import code_of
    from harness_evals.suite import settings_for

    journal = _journal(session, loop)
    settings = settings_for(session.load().settings)
    further = chosen_tasks(listed_names(tasks), tasks_dir)
    if not tasks:
        further = [task for task in further if task.id not in journal.begun.tasks]
    with ProgressBars(quiet=session.quiet) as bars:
        code = checkout(journal.begun, journal.folder, changed, settings) if code_of(journal.best) else None
        with ExitStack() as opened:
            roots = None
            if code is not None:
                opened.callback((first := code.first()).discard)
                opened.callback((kept := code.kept(journal.commit)).discard)
                roots = first.root, kept.root
            run = opened.enter_context(_runner(runner, code))
            found = confirmed(journal, further, settings, run, trials=roots, progress=bars)
    print_result(to_builtins(found), confirmation_line(found), as_json=as_json)


@commands.command()
@with_session
def apply(
    session: Session,
    loop: LoopArgument = "last",
    unconfirmed: Annotated[
        bool, typer.Option("--unconfirmed", help="Apply it although no test on further tasks confirms it.")
    ] = False,
) -> None:
    """Put what a loop kept into your configuration and your checkout.

    \b
    Example:
      harness autoresearch apply last
    """
    from harness_evals.applying import apply_settings
    from harness_evals.space import code_of

    journal = _journal(session, loop)
    if not journal.best:
        raise InvalidInput(f"the loop {journal.begun.id} kept nothing, so there is nothing to apply")
    if not (journal.is_confirmed or unconfirmed):
        raise InvalidInput(
            "what the loop kept is unconfirmed; run `harness autoresearch confirm` on further tasks, or pass "
            "--unconfirmed"
        )
    done = list[str]()
    if code_of(journal.best):
        from harness_evals.code_trials import apply as apply_code
        from harness_evals.code_trials import checkout_of_program

        done += apply_code(checkout_of_program(), journal.begun.id, journal.commit)
    done += apply_settings(session.load().config_path, journal.best)
    for line in done or ["all of it was applied before; nothing was changed"]:
        typer.echo(line)


@contextmanager
def _runner(options: RunnerOptions, code: "Checkout | None") -> "Iterator[Runner]":
    """Yield a runner of jobs: in processes, so that a job may hang, die, or take all memory; or on a Dask scheduler.
    Jobs of changed code run in sandboxed processes.
    """
    from harness_evals.run import run_jobs
    from harness_evals.trial_runs import with_trials

    workers, seconds = options.workers, options.task_seconds
    processes = workers if options.dask is None else None
    with opened_executor(options.dask, processes, seconds=seconds) as (executor, at_once):
        run = partial(run_jobs, executor=executor, at_once=at_once)
        yield run if code is None else with_trials(run, code.trials, workers=workers, seconds=seconds)


def _run_loop(session: Session, loop: "Loop", bars: ProgressBars) -> None:
    """Run the loop and print a line for each step."""
    from harness_evals.journal import NoiseFloor

    if loop.noise_floor is None:
        session.note("measuring the noise floor: the program runs against itself")
    for step in loop.steps(bars):
        session.note(floor_line(step) if isinstance(step, NoiseFloor) else experiment_line(step))
        if not isinstance(step, NoiseFloor) and loop.plateau():
            session.note(f"plateau: the last {loop.begun.options.plateau} experiments kept nothing")


def _journal(session: Session, loop: str) -> "Journal":
    from harness_evals.journal import FOLDER, find_loop, read_journal

    return read_journal(find_loop(session.load().settings.data_dir / FOLDER, loop))
