"""The program `harness`."""

from typing import Annotated, Any

import typer

from harness import __version__
from harness.cli import (
    autoresearch,
    cache,
    evaluate,
    evaluation_views,
    knowledge,
    library,
    memory_commands,
    new_task,
    tenant,
    token,
)
from harness.cli.ask import ask
from harness.cli.calibrate import calibrate
from harness.cli.chat import chat
from harness.cli.check import check
from harness.cli.config import config
from harness.cli.doctor import doctor
from harness.cli.explain import explain
from harness.cli.groups import Group, group, invoke
from harness.cli.history_command import history
from harness.cli.index_command import index
from harness.cli.mcp import mcp
from harness.cli.rank import rank
from harness.cli.read import read
from harness.cli.research import research
from harness.cli.search_command import search
from harness.cli.serve import serve
from harness.cli.show import show
from harness.cli.snapshot_commands import export, import_, runs
from harness.cli.terminal import EXIT_CODES, run
from harness.cli.verify import verify

HELP = f"""Cached, repeatable research with checked quotations.

\b
Examples:
  harness research "How does attribute lookup work?" --engine corpus:python-docs
  harness research "what do my notes say about retries" --engine corpus:~/notes
  harness chat --model qwen3
  harness search "best practices for rag pipelines" --json
  harness read https://docs.python.org/3/reference/datamodel.html
  harness history "rag pipelines"
  harness library search "rag pipelines"
  harness show last
  harness serve
  harness cache explain "best practices for rag pipelines"
  harness doctor
  harness help cache explain

All searches and pages go through one cache: no search is paid for twice, nor is another that means the same.

{EXIT_CODES}
"""

WELCOME = """Cached, repeatable research with checked quotations. Three things to try; none needs a network:

  harness research "In which order does Python look up an attribute on an instance?" --engine corpus:python-docs
      writes a report from the manual that every Python has. Run it twice: the second time makes no live call.

  harness research "what do my notes say about retries" --engine corpus:~/notes
      does the same with your own files: a folder of Markdown, text, HTML, PDF or source code.

  harness doctor
      checks what is set up here, and says what to do about the rest.

`harness --help` lists all commands; `harness COMMAND --help` explains one, with examples.
"""

ASK, CHECK, FIND, SHARE = "Research and search", "Check a text", "Find what was done before", "Share"
CACHE, MEASURE, SET_UP = "Cache and corpora", "Measure and improve", "Set up"
"""Headings of the list of commands."""


class Root(Group):
    """The program: without any command it shows what to try."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """See `Group.parse_args`."""
        if not args and not ctx.resilient_parsing:
            typer.echo(WELCOME, nl=False)
            raise typer.Exit
        return super().parse_args(ctx, args)


commands = group("harness", HELP, cls=Root, completion=True)
for heading, functions in (
    (ASK, (research, ask, chat, search, read)),
    (CHECK, (verify, check, rank)),
    (FIND, (show, runs, history)),
    (CACHE, (index,)),
    (SHARE, (serve, mcp)),
    (SET_UP, (doctor, config)),
):
    for function in functions:
        commands.command(rich_help_panel=heading)(function)

CACHE_HELP = """Show, delete and check cached entries.

\b
Examples:
  harness cache stats
  harness cache explain "python 3.12 release date"
  harness cache export run.snapshot --run 20261122-101500-1a2b3c
"""

ACCESS_HELP = """Create, list and revoke access tokens.

A token decides the tenant and the role of its user.

\b
Examples:
  harness token create --tenant lab --user ada --role writer
  harness token list
  harness token revoke 0123456789abcdef
"""

TENANT_HELP = """List tenants, or delete one with all its entries.

\b
Examples:
  harness tenant list
  harness tenant delete lab
"""

EVAL_HELP = """Run evaluation tasks, and compare the results.

\b
Examples:
  harness eval run --repeat 3
  harness eval show last
  harness eval compare 20261122-1015 last
  harness eval repeat T_A -n 40
"""
IN_CACHE = (cache.stats, explain, cache.clear, cache.expired, cache.reindex, cache.verify, calibrate)
IN_EVAL = (evaluate.run, evaluation_views.show, evaluate.score, evaluation_views.compare, evaluate.check)
for heading, name, text, members in (
    (CACHE, "cache", CACHE_HELP, (*IN_CACHE, runs, export, import_)),
    (SHARE, "token", ACCESS_HELP, (token.create, token.list_, token.revoke)),
    (SHARE, "tenant", TENANT_HELP, (tenant.list_, tenant.delete)),
    (MEASURE, "eval", EVAL_HELP, (*IN_EVAL, evaluate.repeat, evaluation_views.list_, new_task.new)),
):
    made = group(name, text)
    for function in members:
        made.command(function.__name__.rstrip("_"))(function)  # `list_` and `import_` have names of Python
    commands.add_typer(made, rich_help_panel=heading)
commands.add_typer(autoresearch.commands, rich_help_panel=MEASURE)
commands.add_typer(library.commands, rich_help_panel=FIND)
commands.add_typer(knowledge.commands, rich_help_panel=FIND)
commands.add_typer(memory_commands.commands, rich_help_panel=FIND)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"harness {__version__}")
        raise typer.Exit


@commands.callback()
def _options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the program and exit."""
    run(lambda: invoke(commands, "harness"))


if __name__ == "__main__":
    main()
