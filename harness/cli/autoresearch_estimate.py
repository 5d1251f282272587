"""Estimate of what a loop of `harness autoresearch` may take, before it starts: runs, time, tokens and money."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.core.durations import in_words
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from harness_evals.code_trials import Checkout
    from harness_evals.estimates import Estimate
    from harness_evals.loop import Loop
    from harness_evals.tasks import Task

    from harness.settings import Settings

GUESS, GUESS_WITH_MODEL = 1.0, 15.0
"""Expected seconds of a run of a task, before any was measured."""
LOOPS_READ = 5
"""Earlier loops to read for the time that a run takes."""


def estimates(
    loop: "Loop",
    tasks: "Sequence[Task]",
    usual: float,
    settings: "Settings",
    *,
    named: str | None = None,
    code: "Checkout | None" = None,
) -> Iterator[str]:
    """Yield lines on the runs of a loop and their time, at `usual` seconds a run, and on the most tokens that language
    models may take; `named` is the model that proposes, if it is another than that of the settings.
    """
    from harness_evals.estimates import most_for_proposals, most_for_reports, times_left
    from harness_evals.targets import texts_in

    options, times = loop.begun.options, times_left(loop, tasks)
    live = "with live calls in every run" if options.fresh else "live calls only for what is not cached"
    confirming = sum(runs for task, runs in times if task.split == "confirm")
    further = f", and {confirming:,} on the split confirm if every experiment seems better" if confirming else ""
    long = in_words(max(1, round(loop.runs_left * usual)))
    yield f"at most {loop.runs_left:,} runs{further}; about {long} in all; {live}"
    parts = list[str]()
    space = {name: tuple(values) for name, values in loop.begun.space.items()}
    if (reports := most_for_reports(settings, times, space)) is not None:
        parts.append(_said(reports, "reports", len(tasks)))
    proposes = named or settings.model
    if options.proposer == "model" and proposes:
        texts = texts_in(options.surfaces, settings) | (code.texts if code and "code" in options.surfaces else {})
        left = max(0, options.experiments - len(loop.experiments))
        parts.append(_said(most_for_proposals(settings, proposes, [*texts.values()], len(tasks), left), "proposals"))
    if parts:
        agent = "; what the agent costs is not known" if options.proposer == "agent" else ""
        yield f"{'; '.join(parts)}{agent}. Upper bounds: cached answers count, and most loops end earlier"


def usual_seconds(folder: Path, *, with_model: bool) -> float:
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


def _said(most: "Estimate", what: str, tasks: int = 0) -> str:
    """Return an estimate in words; of reports, also what it follows from."""
    amount = "" if most.cost is None else f"{most.cost:,.2f}" if most.cost >= 1 else f"{most.cost:.2g}"
    cost = f", which cost {amount} by model_prices" if amount else ""
    if not most.recorded:
        source = " (by what their prompts and answers may hold)"
    elif most.recorded < tasks:
        source = f" (by earlier runs of {most.recorded} of {tasks} tasks, else by what prompts and answers may hold)"
    else:
        source = " (by earlier runs)"
    return f"at most {most.tokens:,} tokens of {most.model} for {what}{cost}{source}"
