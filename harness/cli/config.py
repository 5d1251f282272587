"""`harness config`: the effective settings and the origin of each."""

import sys
from typing import Annotated

import typer

from harness.cli.command_session import Session, with_session
from harness.cli.options import JsonOption
from harness.cli.output import print_json
from harness.cli.tables import Column, print_table


@with_session
def config(
    session: Session,
    path: Annotated[bool, typer.Option("--path", help="Print only the path of the configuration file.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show every setting, its value and its origin. Secrets are hidden.

    A setting can be in the configuration file (`name: value`), in the environment (HARNESS_NAME=value) or, for some, in
    a flag. Precedence: flags, environment, file, defaults.

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
        values = {each.name: {"value": each.value, "origin": each.origin, "help": each.help} for each in described}
        print_json(values)
        return
    rows = [(each.name, str(each.value), each.origin) for each in described]
    origin = Column("from", least=12 if sys.stdout.isatty() else 0)  # whole in a pipe: for `grep`
    print_table((Column("setting"), Column("value", least=20), origin), rows)
