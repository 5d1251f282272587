"""`harness verify`: check a saved report."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import to_builtins

from harness.cli.command_session import Session, with_session
from harness.cli.options import JsonOption
from harness.cli.output import print_result
from harness.cli.terminal import ExitCode
from harness.core.text import amount, clean, shorten
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from harness.research.verification import Verification

MAX_TOLD = 2_000


@with_session
def verify(
    session: Session,
    file: Annotated[Path, typer.Argument(help="A report saved with --json, --html or -o.", show_default=False)],
    as_json: JsonOption = False,
) -> None:
    """Check a saved report against its stored run.

    Compares question, sentences, quotations, sources, numbers and order.

    Exits with 5 if anything differs, a quotation is not in its source or does not support its sentence, or there is no
    quotation to verify. Exits with 2 if the report cannot be verified: its run is not stored. Sends nothing over the
    network.

    \b
    Examples:
      harness research "what are descriptors" --engine corpus:python-docs --json > report.json
      harness verify report.json
      harness research "what are descriptors" --engine corpus:python-docs -o report.md
      harness verify report.md
    """
    from harness.research.quotation_support import QuotationSupport
    from harness.research.verification import MAX_REPORT_BYTES, read_report
    from harness.research.verification import verify as check

    try:
        with file.open("rb") as opened:
            report = read_report(opened.read(MAX_REPORT_BYTES + 1))
    except OSError as error:
        raise InvalidInput(f"cannot read {file}: {error.strerror}") from error
    with session.app({"offline": True}) as app:
        result = check(report, app.cache, QuotationSupport(app.models.reader))
    value = {
        "passed": result.passed,
        "quotations": len(result.verdicts),
        "verified": result.verified,
        "failed": [to_builtins(verdict) for verdict in result.verdicts if verdict.failed],
        "differences": to_builtins(result.differences),
    }
    print_result(value, _lines(result), as_json=as_json)
    if not result.passed:
        raise typer.Exit(ExitCode.FAILED)


def _lines(result: "Verification") -> Iterator[str]:
    for difference in result.differences:
        yield f"differs at {difference.where}: “{difference.saved}”; the run has “{difference.stored}”"
    for verdict in result.verdicts:
        if verdict.failed:
            why = "does not support its sentence" if verdict.stands else f"not in {_short(verdict.url)}"
            yield f"{why}: “{_short(verdict.quotation)}” [{verdict.number}]"
    if not result.verdicts:
        yield "the report has no quotation to verify"
    count = len(result.differences)
    differing = f"; {amount(count, 'difference')} from the stored run" if count else ""
    yield f"{result.verified} of {len(result.verdicts)} quotations verified{differing}"


def _short(text: str) -> str:
    return shorten(clean(text, MAX_TOLD), 300)
