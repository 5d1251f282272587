"""Options of `harness autoresearch`."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import completion
from harness.cli.options import DaskOption, Options, TasksDirOption, TasksOption, duration

PROPOSERS = ("grid", "hillclimb", "random", "file", "model", "agent")


class LoopOptions(Options):
    """Options of the experiments; a resumed loop has those that it was started with."""

    tasks: TasksOption = ""
    experiments: Annotated[int, typer.Option("--experiments", metavar="N", help="Maximum number of experiments.")] = 20
    surface: Annotated[
        str,
        typer.Option(
            "--surface",
            metavar="LIST",
            autocompletion=completion.choices(("settings", "prompts", "rules", "code"), several=True),
            help="What experiments may change: settings, prompts, rules, code; several with commas.",
        ),
    ] = "settings"
    proposer: Annotated[
        str,
        typer.Option(
            "--proposer",
            metavar="NAME",
            help=f"How to propose experiments: {', '.join(PROPOSERS)}.",
            autocompletion=completion.choices(PROPOSERS),
        ),
    ] = "hillclimb"
    space: Annotated[
        Path | None, typer.Option("--space", metavar="FILE", help="Search space: a YAML file of settings and values.")
    ] = None
    keep_rule: Annotated[
        str,
        typer.Option(
            "--keep-rule",
            metavar="RULE",
            autocompletion=completion.choices(("significant", "gain")),
            help="significant: keep what is shown to be better. gain: also keep, unconfirmed, gains above --delta.",
        ),
    ] = "significant"
    delta: Annotated[
        float, typer.Option("--delta", help="Smallest gain in score (0 to 1) for which a change is kept.")
    ] = 0.01
    objective: Annotated[
        str,
        typer.Option(
            "--objective", metavar="FORMULA", help="Maximise this instead of the quality: 'quality - 0.01*live_calls'."
        ),
    ] = ""
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


class SourceOptions(Options):
    """Options of the source of proposals, which a resumed loop needs again."""

    file: Annotated[Path | None, typer.Option("--file", metavar="FILE", help="Experiments for --proposer file.")] = None
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent",
            metavar="COMMAND",
            help="Program for --proposer agent: it edits files in a copy, and gets the path of a brief.",
        ),
    ] = None
    proposer_model: Annotated[
        str | None,
        typer.Option(
            "--proposer-model",
            metavar="NAME",
            help="Language model for --proposer model alone; by default that of the setting `model`.",
        ),
    ] = None
    agent_seconds: Annotated[
        float, duration("--agent-seconds", bare="s", help="Stop the agent after this time.", default="30m")
    ] = 1_800.0


class CodeOptions(Options):
    """Options of changed code, which a resumed loop needs again."""

    code_files: Annotated[
        str | None,
        typer.Option("--code-files", metavar="LIST", help="Source files that may change, in place of the usual ones."),
    ] = None
    allow_unsandboxed: Annotated[
        bool, typer.Option("--allow-unsandboxed", help="Run changed code even if this machine cannot isolate it.")
    ] = False


class BudgetOptions(Options):
    """Options that end a loop early."""

    budget_seconds: Annotated[
        float | None, duration("--budget-seconds", bare="s", help="Start no experiment after this time: 30m, 8h.")
    ] = None
    budget_calls: Annotated[
        int | None, typer.Option("--budget-calls", metavar="N", min=0, help="Start no experiment after N live calls.")
    ] = None
    budget_tokens: Annotated[
        int | None,
        typer.Option(
            "--budget-tokens", metavar="N", min=0, help="Start no experiment after N tokens, those of a proposer too."
        ),
    ] = None


class RunnerOptions(Options):
    """Options of the runs: their time, and where they run."""

    task_seconds: Annotated[
        float,
        duration("--task-seconds", bare="s", help="Kill a run after this time; it counts as a crash.", default="10m"),
    ] = 600.0
    workers: Annotated[int, typer.Option("--workers", metavar="N", help="Processes that run tasks.")] = 2
    dask: DaskOption = None
