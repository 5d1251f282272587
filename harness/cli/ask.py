"""`harness ask`: a follow-up question to an earlier run."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.command_session import Session, with_session
from harness.cli.options import Flags, ReportOptions, RunArgument, SettingOptions, in_words
from harness.cli.report import show, summary
from harness.cli.terminal import ExitCode
from harness.cli.without_network import network_hint
from harness.core.text import printable
from harness.settings.flags import flagged

if TYPE_CHECKING:
    from harness.app import App
    from harness.research.result import Research


@with_session
def ask(
    session: Session,
    *,
    run: RunArgument,
    words: Annotated[list[str], typer.Argument(metavar="QUESTION", help="Follow-up question.")],
    flags: Annotated[Flags, SettingOptions(*flagged())],
    output: ReportOptions,
) -> None:
    """Ask a follow-up question to an earlier run.

    Researches it with the engines and settings of that run; options override them. What the run has read answers first,
    through the library; only the rest is searched. "it" and "they" in the question mean the subject of the run.

    \b
    Examples:
      harness ask last "When is it called?"
      harness ask 20261122-101500 "and how does it differ from a thread?" -o answer.md
    """
    flags["marked"] = None if flags["strict"] is None else not flags["strict"]
    from harness.research.saved_report import saved_research

    with session.app(flags) as app:
        found = _answered(app, run, in_words(words), flags)
        session.end_progress()
        show(saved_research(found), app.cache.now, output)
        session.note(printable(f"asked: {found.plan.question}"))
        session.note(summary(found))
        sys.stdout.flush()
    if not found.report:
        raise typer.Exit(ExitCode.NOTHING_FOUND)


def _answered(app: "App", named: str, words: str, flags: Flags) -> "Research":
    """Research the question with the settings of the run."""
    from harness.research.resume import follow_up_start
    from harness.research.run_names import run_named

    run = run_named(app.store, app.identity.tenant, named)
    given: dict[str, Any] = {name: value for name, value in flags.items() if value is not None}
    record, local = app.cache.runs.get(run), app.identity.local
    question, changes = follow_up_start(record, run, words, app.settings, given, local=local)
    with app.serving(app.identity, **changes) as serving, network_hint(serving):
        return serving.researcher(question=question).run(question)
