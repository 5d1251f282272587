"""`harness verify`: check a saved report."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.options import JsonOption
from harness.cli.output import print_json
from harness.cli.session import Session, with_session
from harness.core.text import clean, shorten
from harness.errors import InvalidInput
from harness.terminal import ExitCode

MAX_TOLD = 2_000


@with_session
def verify(
    session: Session,
    file: Annotated[Path, typer.Argument(help="What `harness research --json` has printed.", show_default=False)],
    as_json: JsonOption = False,
) -> None:
    """Check the quotations of a saved report.

    Each is looked for in the stored text of its source.

    Ends with 5 if one of them does not stand there, word for word. Nothing is sent over the network.

    \b
    Examples:
      harness research "what are descriptors" --engine corpus:python-docs --json > report.json
      harness verify report.json
    """
    from msgspec import to_builtins

    from harness.research.verification import MAX_REPORT_BYTES, read_report
    from harness.research.verification import verify as check

    try:
        with file.open("rb") as opened:
            report = read_report(opened.read(MAX_REPORT_BYTES + 1))
    except OSError as error:
        raise InvalidInput(f"cannot read {file}: {error.strerror}") from error
    with session.workbench({"offline": True}) as workbench:
        verdicts = check(report, workbench.cache)
    failed = [verdict for verdict in verdicts if not verdict.stands]
    if as_json:
        print_json(
            {"quotations": len(verdicts), "verified": len(verdicts) - len(failed), "failed": to_builtins(failed)}
        )
    else:
        for verdict in failed:
            told = shorten(clean(verdict.quotation, MAX_TOLD), 300)
            typer.echo(f"not in {shorten(clean(verdict.url, MAX_TOLD), 300)}: “{told}” [{verdict.number}]")
        typer.echo(f"{len(verdicts) - len(failed)} of {len(verdicts)} quotations verified")
    if failed:
        raise typer.Exit(ExitCode.FAILED)
