"""The program `harness`."""

from typing import Annotated

import typer

from harness import __version__
from harness.cli import autoresearch, cache, evaluate, snapshots
from harness.cli.calibrate import calibrate
from harness.cli.config import config
from harness.cli.doctor import doctor
from harness.cli.index import index
from harness.cli.read import read
from harness.cli.research import research
from harness.cli.search import search
from harness.cli.verify import verify
from harness.terminal import EXIT_CODES, run

HELP = f"""Research that is cached, repeatable and honest.

\b
Examples:
  harness research "In which order does Python look up an attribute?" --engine corpus:python-docs
  harness research "what do my notes say about retries" --engine corpus:~/notes
  harness search "best practices for rag pipelines" --json
  harness read https://docs.python.org/3/reference/datamodel.html
  harness cache explain "best practices for rag pipelines"
  harness doctor

Searches and pages go through one cache: the same search is never paid for twice, nor is one that means the same.

{EXIT_CODES}
"""

# Without rich markup: `--help` takes half the time, and reads the same in a pipe.
app = typer.Typer(
    name="harness", help=HELP, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False
)
app.command()(research)
app.command()(search)
app.command()(read)
app.command()(verify)
app.command()(index)
app.command()(snapshots.runs)
app.command()(config)
app.command()(doctor)

CACHE_HELP = """Look after what is cached.

\b
Examples:
  harness cache stats
  harness cache explain "python 3.12 release date"
  harness cache export run.snapshot --run 20261122-101500-1a2b3c
"""
cache_app = typer.Typer(name="cache", help=CACHE_HELP, no_args_is_help=True, rich_markup_mode=None)
for command in (cache.stats, cache.explain, cache.clear, cache.expired, cache.reindex, cache.verify, calibrate):
    cache_app.command()(command)
cache_app.command()(snapshots.runs)
cache_app.command()(snapshots.export)
cache_app.command("import")(snapshots.import_command)
app.add_typer(cache_app)

EVAL_HELP = """Run evaluation tasks, and compare what came out.

\b
Examples:
  harness eval run --repeat 3
  harness eval show last
  harness eval compare 20261122-1015 last
  harness eval repeat T_A -n 40
"""
eval_app = typer.Typer(name="eval", help=EVAL_HELP, no_args_is_help=True, rich_markup_mode=None)
for command in (evaluate.run, evaluate.show, evaluate.score, evaluate.compare, evaluate.check, evaluate.repeat):
    eval_app.command()(command)
eval_app.command("list")(evaluate.list_)
app.add_typer(eval_app)
app.add_typer(autoresearch.app)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"harness {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the program and exit."""
    run(lambda: app(prog_name="harness"))


if __name__ == "__main__":
    main()
