"""`harness show`: the report of an earlier run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli import completion, report
from harness.cli.options import JsonOption
from harness.cli.session import Session, with_session
from harness.cli.terminal import ExitCode
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from harness.research.run_view import PastRun


@with_session
def show(
    session: Session,
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="A run: its id as `harness runs` shows it, the beginning of one, or `last`.",
            autocompletion=completion.runs,
        ),
    ] = "last",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the report there, with front matter.")
    ] = None,
    as_html: Annotated[bool, typer.Option("--html", help="One HTML page.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the report of an earlier run.

    On a terminal it is laid out, in a pipe it is Markdown. Nothing is searched. Exits 1 if the run has no report.

    \b
    Examples:
      harness show
      harness show 20261122-101500
      harness show last --html -o report.html
      harness show last --json | jq .sources
    """
    if as_html and as_json:
        raise InvalidInput("choose one of --html and --json")
    from msgspec import to_builtins

    from harness.research.run_names import run_named
    from harness.research.run_view import past_run
    from harness.research.saved_report import saved_run
    from harness.server.responses.response_schema import iso

    with session.app({"offline": True}) as app:
        past = past_run(app.cache, run_named(app.store, app.identity.tenant, run))
    saved = saved_run(past)
    shown = {**saved.as_dict(), "state": past.state, "error": to_builtins(past.error)}
    shown["created_at"] = iso(past.created_at)
    report.show(saved, past.created_at, output, as_html=as_html, as_json=shown if as_json else None)
    if past.report is None:
        session.tell(_why(past))
        raise typer.Exit(ExitCode.NOTHING_FOUND)


def _why(past: "PastRun") -> str:
    if past.state == "finished":
        return f"the run {past.id} found nothing that answers; ask again in other words with `harness research`"
    cause = f" ({past.error.message})" if past.error else ""
    state = "failed" if past.state == "failed" else f"stopped while {past.state}"
    return f"the run {past.id} has no report, it {state}{cause}; `harness research --resume {past.id}` continues it"
