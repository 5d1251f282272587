"""Groups of commands: help at each level under headings, and errors of one line."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from harness.cli.terminal import ExitCode
from harness.errors import InvalidInput

Function = TypeVar("Function", bound=Callable[..., Any])
HELP = "help"
WHOLE = 10_000
"""Most characters of a description in a list of commands: never cut, only folded."""
MAX_WIDTH = 120
"""Most columns of a help text."""
OPTIONS = "Options"


class Command(TyperCommand):
    """A command whose help lists its options under headings (`rich_help_panel` of an option)."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """See `TyperCommand.collect_usage_pieces`; arguments are in capitals, as below."""
        return [piece.upper() for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """See `TyperCommand.format_options`; the options without a heading come first."""
        parameters: list[Any] = self.get_params(ctx)
        arguments = [each for each in parameters if each.param_type_name == "argument"]
        named = [(each.metavar or each.name.upper(), each.get_help_record(ctx)[1]) for each in arguments]
        _write(formatter, [("Arguments", *pair) for pair in named])
        _write_options(ctx, formatter, parameters)


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

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """See `TyperGroup.format_options`; the commands come first, under their headings, and no description is cut."""
        _write(
            formatter,
            [
                (getattr(command, "rich_help_panel", None) or "Commands", name, command.get_short_help_str(WHOLE))
                for name, command in self.commands.items()
            ],
        )
        _write_options(ctx, formatter, self.get_params(ctx))


class Commands(typer.Typer):
    """A group that is being built; its commands list their options under headings."""

    def command(self, *arguments: Any, **settings: Any) -> Callable[[Function], Function]:
        """See `Typer.command`; `rich_help_panel` is the heading in the list of commands."""
        return super().command(*arguments, **{"cls": Command, **settings})


def _write_options(ctx: Any, formatter: Any, parameters: Iterable[Any]) -> None:
    options = [each for each in parameters if each.param_type_name == "option"]
    records = [(each.rich_help_panel or OPTIONS, each.get_help_record(ctx)) for each in options]
    _write(formatter, [(heading, *record) for heading, record in records if record is not None])


def _write(formatter: Any, lines: Iterable[tuple[str, str, str]]) -> None:
    """Write pairs of texts in columns under their headings, each heading once; `Options` comes first."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for heading, *pair in lines:
        sections.setdefault(heading, []).append((pair[0], pair[1]))
    for heading in sorted(sections, key=lambda each: each != OPTIONS):
        with formatter.section(heading):
            formatter.write_dl(sections[heading])


def group(name: str, help_: str, *, cls: type[Group] = Group, completion: bool = False) -> Commands:
    """Return an empty group of commands.

    Its help has no rich markup, which would double its time and differ in a pipe.
    """
    return Commands(
        name=name,
        help=help_,
        cls=cls,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=completion,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": MAX_WIDTH},
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
