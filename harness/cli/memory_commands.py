"""`harness memory`: the memory of conversations, without a conversation."""

from pathlib import Path
from typing import Annotated

import typer
from msgspec import to_builtins

from harness.cli import completion
from harness.cli.command_session import Session, with_session
from harness.cli.groups import group
from harness.cli.options import JsonOption, YesOption, duration, in_words, stored_argument
from harness.cli.output import consent, print_result
from harness.core.durations import spelled
from harness.core.text import shorten
from harness.errors import InvalidInput

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

IdArgument = Annotated[str, stored_argument("ID", "An id, or a unique start of one.", "memories")]


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
    from harness.chat.command_results import MemoryDetails
    from harness.chat.commands import KINDS
    from harness.chat.ids import whole_id
    from harness.cli.chat_headless import print_outcome

    with session.memory() as memory:
        held = tuple(memory.listing.find(whole_id(memory, id_, KINDS)))
    print_outcome(session, {"remembered": to_builtins(held)}, MemoryDetails(held), as_json=as_json)


@commands.command()
@with_session
def delete(session: Session, id_: IdArgument, yes: YesOption = False, as_json: JsonOption = False) -> None:
    """Delete an exchange, a passage or a whole document. Asks first.

    \b
    Example:
      harness memory delete 3f2a91bc --yes
    """
    from harness.chat.commands import DELETABLE
    from harness.chat.ids import whole_id

    with session.memory(writes=True) as memory:
        whole = whole_id(memory, id_, DELETABLE)
        if not yes:
            held = memory.listing.find(whole)
            what = "1 memory" if len(held) == 1 else f"{len(held)} memories"
            consent(f"Delete {what}, the first: “{shorten(held[0].text, 60)}”?", yes=False)
        gone = memory.writer.delete(whole)
    print_result({"id": whole, "deleted": gone}, f"{gone} deleted", as_json=as_json)


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
    from harness.chat.command_results import ThreadList
    from harness.cli.chat_headless import print_outcome

    with session.memory() as memory:
        listed = memory.listing.threads(limit)
    print_outcome(session, {"threads": to_builtins(listed)}, ThreadList(tuple(listed), ""), as_json=as_json)


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
    with session.memory() as memory:
        written = memory.transfer.export_to(file)
    print_result({"file": str(file), "exported": written}, f"{written} exported to {file}", as_json=as_json)


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
    with session.memory(writes=True) as memory:
        came = memory.transfer.import_from(file)
    value = {"file": str(file), "imported": came.added, "known": came.known, "kept": came.kept}
    kept = f", {came.kept} unchanged here" if came.kept else ""
    line = f"{came.added} imported from {file}, {came.known} already known{kept}"
    print_result(value, line, as_json=as_json)


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
    from harness.chat.ids import whole_id

    if (older_than is None) == (thread is None):
        raise InvalidInput("choose what to forget: --older-than AGE, as 90d, or --thread ID")
    if older_than == 0:
        raise InvalidInput("--older-than must be longer than 0, as 90d")
    with session.memory(writes=True) as memory:
        whole = None if thread is None else whole_id(memory, thread, ("thread",))
        what = f"all older than {spelled(older_than or 0)}" if whole is None else f"the thread {whole}"
        consent(f"Forget {what}?", yes=yes)
        gone = memory.writer.forget(older_than=older_than, thread=whole)
    print_result({"forgotten": gone}, f"{gone} forgotten", as_json=as_json)
