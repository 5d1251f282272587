"""Groups of commands: help at each level, and errors of one line."""

from typing import Any

import typer
from typer.core import TyperGroup

from harness.cli.terminal import ExitCode
from harness.errors import InvalidInput

HELP = "help"
WHOLE = 10_000
"""Most characters of a description in a list of commands: never cut, only folded."""


class Group(TyperGroup):
    """A group of commands: `help COMMAND` is `COMMAND --help`, and without any command the help is shown."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """See `TyperGroup.parse_args`."""
        if args[:1] == [HELP]:
            args = [*args[1:], "--help"]
        if not args and not self.invoke_without_command and not ctx.resilient_parsing:
            typer.echo(ctx.get_help(), err=True)
            raise typer.Exit(ExitCode.USAGE)
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """See `TyperGroup.format_commands`; no description is cut."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(WHOLE)) for name, command in self.commands.items()])


def group(name: str, help_: str, *, completion: bool = False) -> typer.Typer:
    """Return an empty group of commands.

    Its help has no rich markup, which would double its time and differ in a pipe.
    """
    return typer.Typer(
        name=name,
        help=help_,
        cls=Group,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=completion,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def invoke(app: typer.Typer, prog_name: str) -> None:
    """Run the command that the arguments of the process select.

    Raises:
        InvalidInput: the arguments are wrong; the message points to the help.
        SystemExit: the command ended with a code.
    """
    try:
        code = app(prog_name=prog_name, standalone_mode=False)
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    except typer.TyperException as error:
        raise InvalidInput(_in_a_line(error, prog_name)) from error
    if code:
        raise SystemExit(code)


def _in_a_line(error: typer.TyperException, prog_name: str) -> str:
    context: Any = getattr(error, "ctx", None)
    path = context.command_path if context else prog_name
    message = error.format_message().rstrip(".")
    stop = " " if message.endswith("?") else "; "
    return f"{message[:1].lower()}{message[1:]}{stop}`{path} --help` shows how"
