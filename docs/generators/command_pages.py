"""Pages of the commands: the help of each, as the programs print it."""

from collections.abc import Iterator
from typing import Any

import typer.main
from typer import Context

from docs.generators.markdown import fence, page, table, text
from harness.cli.main import commands
from search_cache import _parser

WIDTH = 100
"""Columns of the help texts."""


def command_pages() -> dict[str, str]:
    """Return the pages by path: a list of all commands, and a page for each command or group of commands."""
    root: Any = typer.main.get_command(commands)
    context = _context(root, "harness", None)
    pages = {"reference/commands.md": _index(root, context)}
    for name, command in root.commands.items():
        found = list(_walk(command, name, context))
        parts = [part for path, own in found for part in ("" if len(found) == 1 else f"## {path}", _help(own))]
        pages[f"reference/commands/{name}.md"] = page(f"harness {name}", *parts)
    parser = _parser()
    pages["reference/commands/search_cache.md"] = page(
        "search_cache",
        "A small command for the cache of scripts. It starts in half the time.",
        fence(parser.format_help()),
    )
    return pages


def _index(root: Any, context: Any) -> str:
    rows = [
        (
            f"[`{path}`](commands/{name}.md)"
            if path == f"harness {name}"
            else f"[`{path}`](commands/{name}.md#{path.replace(' ', '-')})",
            text(own.command.get_short_help_str(10_000)),
        )
        for name, command in root.commands.items()
        for path, own in _walk(command, name, context)
    ]
    return page(
        "Commands",
        "Every command has `--help`; `harness help COMMAND` prints the same text. The commands below are grouped as "
        "in the program. `autoresearch` is `harness autoresearch`, and [`search_cache`](commands/search_cache.md) is a "
        "smaller program.",
        table(("command", "purpose"), rows),
        "## harness",
        _help(context),
    )


def _walk(command: Any, name: str, above: Any) -> Iterator[tuple[str, Any]]:
    """Yield a command and all below it, each with its path and its context."""
    context = _context(command, name, above)
    yield context.command_path, context
    for own, below in getattr(command, "commands", {}).items():
        yield from _walk(below, own, context)


def _context(command: Any, name: str, above: Any) -> Any:
    return Context(command, info_name=name, parent=above, terminal_width=WIDTH, max_content_width=WIDTH)


def _help(context: Any) -> str:
    return fence(context.command.get_help(context))
