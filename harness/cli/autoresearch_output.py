"""Output of `harness autoresearch`: steps, the table, what is shown and what is not."""

import shutil
import sys
from typing import TYPE_CHECKING

import typer
from msgspec import to_builtins

from harness.cli.output import print_json, wrapped
from harness.cli.tables import Column, print_table

if TYPE_CHECKING:
    from harness_evals.journal import Confirmation, Experiment, Journal, NoiseFloor

CHANGED_SHOWN = 5
"""Tasks to show for each experiment, those that changed most; results.tsv has all."""
SHOWN_COLUMNS = ("score", "delta", "p", "interval", "status")
"""Columns of the table on a terminal, besides the number; the chart and the list below it say the rest."""
MAX_WIDTH = 100


def floor_line(floor: "NoiseFloor") -> str:
    """Return the noise floor in one line."""
    return f"noise floor {floor.value:.4f}: identical settings, score {floor.score:.4f}, {floor.live_calls} live calls"


def experiment_line(experiment: "Experiment") -> str:
    """Return an experiment in one line."""
    delta = "" if experiment.delta is None else f" {experiment.delta:+.4f}"
    what = f"{experiment.description}: " if experiment.description else ""
    return f"{experiment.number}. {experiment.status}{delta}: {what}{'; '.join(experiment.reasons[:2])}"


def confirmation_line(found: "Confirmation") -> str:
    """Return a confirmation in one line."""
    state = "confirmed" if found.confirmed else "not confirmed"
    return f"{state}: {'; '.join(found.reasons)}"


def print_journal(journal: "Journal", *, as_json: bool) -> None:
    """Print the experiments of a loop, the chart if the extra `[charts]` is installed, and what they show."""
    if as_json:
        names = ("noise_floor", "experiments", "best", "confirmations")
        values = {name: to_builtins(getattr(journal, name)) for name in names}
        print_json({"id": journal.begun.id, **values, "confirmed": journal.is_confirmed})
        return
    from harness_evals.charts import terminal_chart
    from harness_evals.journal import COLUMNS, row_of

    from harness.settings.extras import install_message, is_installed

    width = min(shutil.get_terminal_size().columns, MAX_WIDTH)
    if journal.noise_floor is not None:
        typer.echo(wrapped(floor_line(journal.noise_floor), width))
    named = [dict(zip(COLUMNS, row_of(each), strict=True)) for each in journal.experiments]
    rows = [[str(each[name]) for name in ("experiment", *SHOWN_COLUMNS)] for each in named]
    print_table((Column("#", "right"), *map(Column, SHOWN_COLUMNS)), rows, empty="no experiments yet")
    for each in journal.experiments:
        what = ": ".join(dict.fromkeys(filter(None, (each.idea, each.description)))) or "no usable proposal"
        typer.echo(wrapped(f"{each.number}. {what}", width, "   "))
        if changed := list(each.changed_tasks.items())[:CHANGED_SHOWN]:
            more = f", {len(each.changed_tasks) - len(changed)} more" if len(each.changed_tasks) > len(changed) else ""
            tasks = ", ".join(f"{task} {delta:+.4f}" for task, delta in changed)
            typer.echo(wrapped(f"   {tasks}{more}", width, "   "))
        elif each.status in {"crash", "invalid", "inert"}:
            typer.echo(wrapped(f"   {each.status}: {each.reasons[0]}", width, "   "))
    if not is_installed("charts"):
        typer.echo(install_message("charts"), err=True)
    elif chart := terminal_chart(journal.experiments, width, colour=sys.stdout.isatty()):
        from rich.text import Text

        from harness.cli.terminal.console import SafeConsole

        SafeConsole().print(Text.from_ansi(f"\n{chart}"), soft_wrap=True)
    for line in findings(journal):
        typer.echo(wrapped(line, width))


def findings(journal: "Journal") -> list[str]:
    """Return what a loop kept, and what that shows and does not show, a sentence a line."""
    kept = [each for each in journal.experiments if each.is_kept]
    if not kept:
        return ["nothing was kept"] if journal.experiments else []
    numbers = [f"{each.number}{' (unconfirmed)' * (each.status == 'unconfirmed')}" for each in kept]
    lines = [f"kept: {', '.join(numbers)}"]
    for each in journal.confirmations:
        earlier = ", of an earlier state" if each.experiments < kept[-1].number else ""
        tasks = f"confirmation after {each.experiments} experiments{earlier}, on {', '.join(each.tasks)}"
        lines.append(f"{tasks}: {confirmation_line(each)}")
    if journal.confirmation is None and not journal.is_confirmed:
        lines.append(
            "an unconfirmed gain was measured on the loop's own tasks; whether it holds on others is not shown: "
            "`harness autoresearch confirm` tests it"
        )
    return lines
