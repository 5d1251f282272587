"""The program `harness`."""

from typing import Annotated

import typer

from harness import __version__
from harness.cli import autoresearch, cache, evaluate, knowledge, memory, snapshots, tenant, token
from harness.cli.calibrate import calibrate
from harness.cli.chat import chat
from harness.cli.config import config
from harness.cli.doctor import doctor
from harness.cli.explain import explain
from harness.cli.groups import group, invoke
from harness.cli.history import history
from harness.cli.index import index
from harness.cli.mcp import mcp
from harness.cli.read import read
from harness.cli.research import research
from harness.cli.search import search
from harness.cli.serve import serve
from harness.cli.show import show
from harness.cli.verify import verify
from harness.terminal import EXIT_CODES, run

HELP = f"""Research that is cached, repeatable and honest.

\b
Examples:
  harness research "In which order does Python look up an attribute?" --engine corpus:python-docs
  harness research "what do my notes say about retries" --engine corpus:~/notes
  harness chat --model qwen3
  harness search "best practices for rag pipelines" --json
  harness read https://docs.python.org/3/reference/datamodel.html
  harness history "rag pipelines"
  harness show last
  harness serve
  harness cache explain "best practices for rag pipelines"
  harness doctor
  harness help cache explain

Searches and pages go through one cache: the same search is never paid for twice, nor is one that means the same.

{EXIT_CODES}
"""

app = group("harness", HELP, completion=True)
app.command()(research)
app.command()(chat)
app.command()(search)
app.command()(read)
app.command()(verify)
app.command()(index)
app.command()(snapshots.runs)
app.command()(show)
app.command()(history)
app.command()(serve)
app.command()(mcp)
app.command()(config)
app.command()(doctor)

CACHE_HELP = """Look after what is cached.

\b
Examples:
  harness cache stats
  harness cache explain "python 3.12 release date"
  harness cache export run.snapshot --run 20261122-101500-1a2b3c
"""
cache_app = group("cache", CACHE_HELP)
for command in (cache.stats, explain, cache.clear, cache.expired, cache.reindex, cache.verify, calibrate):
    cache_app.command()(command)
cache_app.command()(snapshots.runs)
cache_app.command()(snapshots.export)
cache_app.command("import")(snapshots.import_command)
app.add_typer(cache_app)

ACCESS_HELP = """Create, list and revoke access tokens.

A token says whose cache is used, and what its holder may do.

\b
Examples:
  harness token create --tenant lab --user ada --role writer
  harness token list
  harness token revoke 0123456789abcdef
"""
token_app = group("token", ACCESS_HELP)
token_app.command()(token.create)
token_app.command("list")(token.list_)
token_app.command()(token.revoke)
app.add_typer(token_app)

TENANT_HELP = """List tenants, or delete one with everything it has.

\b
Examples:
  harness tenant list
  harness tenant delete lab
"""
tenant_app = group("tenant", TENANT_HELP)
tenant_app.command("list")(tenant.list_)
tenant_app.command()(tenant.delete)
app.add_typer(tenant_app)

EVAL_HELP = """Run evaluation tasks, and compare what came out.

\b
Examples:
  harness eval run --repeat 3
  harness eval show last
  harness eval compare 20261122-1015 last
  harness eval repeat T_A -n 40
"""
eval_app = group("eval", EVAL_HELP)
for command in (evaluate.run, evaluate.show, evaluate.score, evaluate.compare, evaluate.check, evaluate.repeat):
    eval_app.command()(command)
eval_app.command("list")(evaluate.list_)
app.add_typer(eval_app)
app.add_typer(autoresearch.app)
app.add_typer(knowledge.app)
app.add_typer(memory.app)


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
    run(lambda: invoke(app, "harness"))


if __name__ == "__main__":
    main()
