"""`harness show`: the report of an earlier run."""

from typing import TYPE_CHECKING

import typer
from msgspec import to_builtins

from harness.cli import report
from harness.cli.command_session import Session, with_session
from harness.cli.options import ReportOptions, RunArgument
from harness.cli.terminal import ExitCode
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from harness.research.run_view import PastRun


@with_session
def show(
    session: Session,
    *,
    run: RunArgument = "last",
    output: ReportOptions,
) -> None:
    """Show the report of an earlier run.

    Formatted on a terminal, Markdown in a pipe. Searches nothing. Exits with 1 if the run has no report.

    \b
    Examples:
      harness show
      harness show 20261122-101500
      harness show last -o report.html
      harness show last -o report.docx
      harness show last -o sources.bib
      harness show last --json | jq .sources
    """
    if output.as_html and output.as_json:
        raise InvalidInput("choose one of --html and --json")

    from harness.research.run_names import run_named
    from harness.research.run_view import past_run
    from harness.server.responses.response_schema import iso

    with session.app({"offline": True}) as app:
        past = past_run(app.cache, run_named(app.store, app.identity.tenant, run))
    state = {"state": past.state, "created_at": iso(past.created_at), "error": to_builtins(past.error)}
    report.show(past, past.created_at, output, state)
    if past.report is None:
        session.note(_why(past))
        raise typer.Exit(ExitCode.NOTHING_FOUND)


def _why(past: "PastRun") -> str:
    if past.state == "finished":
        return f"the run {past.run} found no answer; ask again in other words with `harness research`"
    cause = f" ({past.error.message})" if past.error else ""
    state = "failed" if past.state == "failed" else f"stopped while {past.state}"
    return f"the run {past.run} has no report, it {state}{cause}; `harness research --resume {past.run}` continues it"
