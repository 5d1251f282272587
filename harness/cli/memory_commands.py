"""`harness memory`: the memory of conversations, without a conversation."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import completion
from harness.cli.command_session import Session, with_session
from harness.cli.groups import group
from harness.cli.options import JsonOption, YesOption, duration, in_words

RESULTS = 5
MAX_RESULTS = 50

HELP = """Search and manage the memory of conversations.

\b
Examples:
  harness memory query "what did we decide about retries"
  harness memory add notes/retries.md
  harness memory threads
  harness memory export memory.jsonl
  harness memory forget --older-than 90d
"""
commands = group("memory", HELP)

IdArgument = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="An id, or a unique start of one.",
        show_default=False,
        autocompletion=completion.stored("memories"),
    ),
]


@commands.command()
@with_session
def add(
    session: Session,
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A file, docs:NAME from the documents folder, or - for standard input.",
            show_default=False,
        ),
    ],
    as_json: JsonOption = False,
) -> None:
    """Remember a document, or text from standard input.

    A long text becomes several passages.

    \b
    Examples:
      harness memory add notes/retries.md
      echo "Staging is restarted every Monday at 6." | harness memory add -
    """
    from harness.cli import chat_headless

    chat_headless.add(session, source, as_json=as_json)


@commands.command()
@with_session
def query(
    session: Session,
    words: Annotated[list[str], typer.Argument(metavar="TEXT", help="Text to find.", show_default=False)],
    k: Annotated[
        int, typer.Option("-k", "--results", metavar="N", help=f"Maximum number of results (1 to {MAX_RESULTS}).")
    ] = RESULTS,
    as_json: JsonOption = False,
) -> None:
    """Find memories: exchanges and passages, best first. Exits with 1 if there is none.

    \b
    Examples:
      harness memory query "when is staging restarted"
      harness memory query "retries" -k 10 --json
    """
    from harness.cli import chat_headless

    chat_headless.query(session, in_words(words), k, as_json=as_json)


@commands.command()
@with_session
def get(session: Session, id_: IdArgument, as_json: JsonOption = False) -> None:
    """Show the exchange, passage, session or thread with an id.

    \b
    Examples:
      harness memory get 3f2a91bc
      harness memory get 3f2a91bc --json
    """
    from harness.cli import chat_headless

    chat_headless.get(session, id_, as_json=as_json)


@commands.command()
@with_session
def delete(session: Session, id_: IdArgument, yes: YesOption = False, as_json: JsonOption = False) -> None:
    """Delete an exchange, a passage or a whole document. Asks first.

    \b
    Example:
      harness memory delete 3f2a91bc --yes
    """
    from harness.cli import chat_headless

    chat_headless.delete(session, id_, yes=yes, as_json=as_json)


@commands.command()
@with_session
def threads(
    session: Session,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="Maximum number of threads.", min=1)] = 20,
    as_json: JsonOption = False,
) -> None:
    """List threads, last used first.

    `harness chat --continue ID` continues one.

    \b
    Examples:
      harness memory threads
      harness memory threads -n 5 --json
    """
    from harness.cli import chat_headless

    chat_headless.threads(session, limit, as_json=as_json)


@commands.command()
@with_session
def stats(session: Session, as_json: JsonOption = False) -> None:
    """Show the number of memories, their place and their model.

    \b
    Examples:
      harness memory stats
      harness memory stats --json
    """
    from harness.cli import chat_headless

    chat_headless.stats(session, as_json=as_json)


@commands.command()
@with_session
def export(
    session: Session,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to write.", show_default=False)],
    as_json: JsonOption = False,
) -> None:
    """Write all memories to a file.

    \b
    Example:
      harness memory export memory.jsonl
    """
    from harness.cli import chat_headless

    chat_headless.export(session, file, as_json=as_json)


@commands.command("import")
@with_session
def import_(
    session: Session,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="File from `harness memory export`.", show_default=False)
    ],
    as_json: JsonOption = False,
) -> None:
    """Add the memories of a file from `harness memory export`.

    Memories that are already there stay unchanged.

    \b
    Example:
      harness memory import memory.jsonl
    """
    from harness.cli import chat_headless

    chat_headless.import_(session, file, as_json=as_json)


@commands.command()
@with_session
def forget(
    session: Session,
    older_than: Annotated[
        float | None, duration("--older-than", help="Memories older than this: 12h, 90d, 8w, 2y.")
    ] = None,
    thread: Annotated[
        str | None,
        typer.Option(
            "--thread",
            metavar="ID",
            help="Id of a thread, or the start of one.",
            autocompletion=completion.stored("threads"),
        ),
    ] = None,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Delete old memories, or a whole thread. Asks first.

    \b
    Examples:
      harness memory forget --older-than 90d
      harness memory forget --thread 3f2a91bc --yes
    """
    from harness.cli import chat_headless

    chat_headless.forget(session, older_than, thread, yes=yes, as_json=as_json)
