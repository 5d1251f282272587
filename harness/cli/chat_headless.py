"""Work on the memory that both `harness memory` and the options of `harness chat` that exit do."""

import sys

import typer
from msgspec import to_builtins

from harness.chat.command_results import Outcome, QueryResults, Stored
from harness.chat.commands import DEFAULT_RESULTS, MAX_RESULTS
from harness.chat.conversation import checked_text
from harness.chat.exchanges import MAX_MESSAGE
from harness.cli.chat_screen import Screen, show, statistics
from harness.cli.command_session import Session
from harness.cli.output import print_json, print_result
from harness.cli.terminal import ExitCode
from harness.errors import InvalidInput


def print_outcome(session: Session, value: object, outcome: Outcome, *, as_json: bool) -> None:
    """Print `value` as one JSON object, or the outcome as a chat shows it."""
    if as_json:
        print_json(value)
    else:
        show(Screen(quiet=session.quiet), outcome)


def add(session: Session, source: str, *, as_json: bool = False) -> None:
    """Remember a document, or standard input, and print a summary."""
    with session.memory(writes=True) as memory:
        if source == "-":
            added = memory.writer.add_text(checked_text(sys.stdin.read(MAX_MESSAGE + 1)))
        else:
            added = memory.writer.add_document(source)
    stored = Stored("the text" if source == "-" else source, added)
    print_outcome(session, {"source": source, **to_builtins(added)}, stored, as_json=as_json)


def query(session: Session, text: str, k: int = DEFAULT_RESULTS, *, as_json: bool = False) -> None:
    """Show the memories that fit a text.

    Raises:
        Exit: nothing was found.
    """
    if not 1 <= k <= MAX_RESULTS:
        raise InvalidInput(f"-k must be 1 to {MAX_RESULTS}, not {k}")
    if not text.strip():
        raise InvalidInput("the query is empty; give a text")
    with session.memory() as memory:
        found = QueryResults.of(text, memory.search.query(checked_text(text), k))
    matches = [
        {"similarity": round(each.similarity, 4), "score": round(each.score, 4), **to_builtins(each.remembered)}
        for each in found.matches
    ]
    print_outcome(session, {"query": text, "matches": matches}, found, as_json=as_json)
    if not found.matches:
        raise typer.Exit(ExitCode.NOTHING_FOUND)


def stats(session: Session, *, as_json: bool = False) -> None:
    """Show the statistics of the memory."""
    with session.memory() as memory:
        held = memory.listing.stats()
    print_result(to_builtins(held), statistics(held), as_json=as_json)
