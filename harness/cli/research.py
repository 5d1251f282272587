"""`harness research`: from a question to a cited report."""

import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli import completion
from harness.cli.command_session import Session, with_session
from harness.cli.options import (
    IN_CACHE,
    IN_REPORT,
    CacheOptions,
    Flags,
    Options,
    ReplayOption,
    ReportOptions,
    SettingOptions,
    duration,
    in_words,
)
from harness.cli.output import BY_WORDS
from harness.cli.report import show, summary
from harness.cli.terminal import ExitCode
from harness.cli.without_network import network_hint
from harness.core.search_engines import AUTO
from harness.errors import InvalidInput
from harness.settings.flags import flagged

if TYPE_CHECKING:
    from harness.app import App
    from harness.research.result import Research

MAX_SECTIONS = 20
HELPS = {
    "research_cache": "Reuse whole researches (as RESEARCH_CACHE=1), or none, not even solved questions (=0).",
    "strict": "Leave out sentences that no quotation supports, or keep and mark them.",
}
"""Help of options that give a setting and its opposite."""


class ResearchOptions(Options):
    """Options of one research that are not settings."""

    sections: Annotated[
        int | None,
        typer.Option(
            "--sections",
            metavar="N",
            help=f"Number of sections of the report (1 to {MAX_SECTIONS}).",
            rich_help_panel=IN_REPORT,
        ),
    ] = None
    epoch: Annotated[
        str,
        typer.Option(
            "--epoch",
            metavar="NAME",
            help="Ask the model again, once for each name.",
            show_default=False,
            rich_help_panel="Models",
        ),
    ] = ""
    resume: Annotated[
        str | None,
        typer.Option(
            "--resume", metavar="RUN", help="Continue a run that was stopped.", autocompletion=completion.runs
        ),
    ] = None
    replay: ReplayOption = None
    stale_if_error: Annotated[
        float | None,
        duration(
            "--stale-if-error",
            bare="s",
            help="If a search fails, use results that expired within this time.",
            heading=IN_CACHE,
        ),
    ] = None


@with_session
def research(
    session: Session,
    *,
    flags: Annotated[Flags, SettingOptions(*flagged(), **HELPS)],
    words: Annotated[
        list[str] | None, typer.Argument(metavar="QUESTION", help="Question to answer.", show_default=False)
    ] = None,
    run: ResearchOptions,
    cache: CacheOptions,
    output: ReportOptions,
) -> None:
    """Research a question and write a report with quotations.

    Plans queries, searches in rounds and reads pages. Every sentence rests on a quotation that is checked against the
    stored text of its source. The same question, asked again, makes no live call and gives the same report, byte for
    byte. Without a model, the report is made of excerpts. A stopped run loses nothing: `--resume` continues it.

    \b
    Examples:
      harness research "semantic cache false positives"
      harness research "How does the with statement handle exceptions?" --engine corpus:python-docs
      harness research "what do my notes say about retries" --engine corpus:~/notes --json
      harness research "crispr off-target effects" -e pubmed -e ddgs --model qwen3 -o crispr.md
      harness research "semantic cache false positives" --html -o report.html
      harness research "semantic cache false positives" --replay run.snapshot
    """
    if bool(words) == (run.resume is not None):
        raise InvalidInput("give a question, or --resume RUN")
    if run.sections is not None and not 1 <= run.sections <= MAX_SECTIONS:
        raise InvalidInput(
            f"a report has 1 to {MAX_SECTIONS} sections, not {run.sections}; leave --sections out for the default"
        )
    flags["marked"] = None if flags["strict"] is None else not flags["strict"]
    from harness.research.saved_report import saved_research

    to_file = output.as_html or output.as_json or output.output
    live = partial(_stream, session) if sys.stdout.isatty() and not to_file else None
    with session.app(flags, cache=cache, replay=run.replay, serve_stale=run.stale_if_error or 0.0) as app:
        if words and AUTO in app.settings.engine and run.replay is None:
            session.note(app.sources.suited(in_words(words)).reason)
        with network_hint(app, replaying=run.replay is not None):
            found = _researched(app, in_words(words), flags, run, live)
        session.end_progress()
        show(saved_research(found), app.cache.now, output)
        session.note(summary(found))
        if app.settings.corpus_meaning and found.by_words:
            session.note(BY_WORDS)
        sys.stdout.flush()
    if not found.report:
        raise typer.Exit(ExitCode.NOTHING_FOUND)


def _researched(
    app: "App", question: str, flags: Flags, run: ResearchOptions, live: Callable[[str], None] | None
) -> "Research":
    """Run a new research, or the rest of a stopped one."""
    if run.resume is None:
        return app.researcher(question=question, epoch=run.epoch, on_text=live).run(question, sections=run.sections)
    from harness.research.run_names import run_named

    given = {name: value for name, value in flags.items() if value is not None}
    stopped = run_named(app.store, app.identity.tenant, run.resume)
    return app.resume(
        stopped, given=given, epoch=run.epoch, sections=run.sections, serve_stale=run.stale_if_error, on_text=live
    )


def _stream(session: Session, text: str) -> None:
    """Show output of the model on the terminal, dimmed, until the report is ready."""
    from rich.text import Text

    from harness.cli.terminal.console import SafeConsole

    session.end_progress()
    SafeConsole(stderr=True).print(Text(text, style="dim"), end="", soft_wrap=True)
