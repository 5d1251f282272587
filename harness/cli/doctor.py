"""`harness doctor`: checks of everything that the harness needs."""

from typing import Annotated

import typer

from harness.cli.command_session import Session, with_session
from harness.cli.options import Flags, JsonOption, SettingOptions
from harness.cli.output import print_result
from harness.cli.terminal import ExitCode


@with_session
def doctor(session: Session, flags: Annotated[Flags, SettingOptions("engine")], as_json: JsonOption = False) -> None:
    """Check everything that the harness needs, and show what to do.

    Exits with 5 if a check fails. Sends nothing over the network, except a few words to the embedding endpoint if one
    is set.

    \b
    Examples:
      harness doctor
      harness doctor --engine corpus:~/notes
    """
    from harness.server.health_checks import check_everything

    with session.app(flags) as app:
        findings = check_everything(app)
    healthy = all(finding.state != "broken" for finding in findings)
    marks = {"ok": "ok    ", "weak": "weak  ", "broken": "BROKEN"}
    lines = [f"{marks[finding.state]}  {finding.name}: {finding.told}" for finding in findings]
    value = {"healthy": healthy, "findings": [finding._asdict() for finding in findings]}
    print_result(value, lines, as_json=as_json)
    if not healthy:
        raise typer.Exit(ExitCode.FAILED)
