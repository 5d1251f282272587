"""`harness config`: the effective settings and where each came from."""

from typing import Annotated

import typer

from harness.cli.options import JsonOption
from harness.cli.output import print_json
from harness.cli.session import Session, with_session


@with_session
def config(
    session: Session,
    path: Annotated[
        bool, typer.Option("--path", help="Print only where the configuration file is looked for.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show every setting, its value and where it came from. Secrets are hidden.

    Each may stand in the configuration file (`name: value`), in the environment (HARNESS_NAME=value) or, for those that
    have one, in a flag; the later of these wins.

    \b
    Examples:
      harness config
      harness config --path
      HARNESS_TTL=3600 harness config --json
    """
    loaded = session.load()
    if path:
        typer.echo(loaded.config_path)
        return
    described = loaded.describe()
    if as_json:
        told = {each.name: {"value": each.value, "origin": each.origin, "help": each.help} for each in described}
        print_json(told)
        return
    from tabulate import tabulate

    rows = [(each.name, each.value, each.origin) for each in described]
    typer.echo(tabulate(rows, headers=("setting", "value", "from"), tablefmt="simple", disable_numparse=True))
