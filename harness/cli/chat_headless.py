"""Work on the memory without a conversation: `harness memory`, and the options of `harness chat` that exit."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from msgspec import to_builtins

from harness.chat.command_results import MemoryDetails, QueryResults, Stored, ThreadList
from harness.chat.commands import DEFAULT_RESULTS, DELETABLE, KINDS, MAX_RESULTS
from harness.chat.conversation import checked_text
from harness.chat.exchanges import MAX_MESSAGE
from harness.chat.ids import whole_id
from harness.cli.chat_screen import Screen, show, statistics
from harness.cli.command_session import Session
from harness.cli.output import consent, print_json
from harness.cli.terminal import ExitCode
from harness.core.durations import spelled
from harness.core.text import shorten
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from harness.chat import Memory


def add(session: Session, source: str, *, as_json: bool = False) -> None:
    """Remember a document, or standard input, and print a summary."""
    with opened(session, writes=True) as memory:
        if source == "-":
            added = memory.writer.add_text(checked_text(sys.stdin.read(MAX_MESSAGE + 1)))
        else:
            added = memory.writer.add_document(source)
    if as_json:
        print_json({"source": source, **to_builtins(added)})
    else:
        show(Screen(quiet=session.quiet), Stored("the text" if source == "-" else source, added))


def query(session: Session, text: str, k: int = DEFAULT_RESULTS, *, as_json: bool = False) -> None:
    """Show the memories that fit a text.

    Raises:
        Exit: nothing was found.
    """
    if not 1 <= k <= MAX_RESULTS:
        raise InvalidInput(f"-k must be 1 to {MAX_RESULTS}, not {k}")
    if not text.strip():
        raise InvalidInput("the query is empty; give a text")
    with opened(session) as memory:
        found = QueryResults.of(text, memory.search.query(checked_text(text), k))
    if as_json:
        matches = [
            {"similarity": round(each.similarity, 4), "score": round(each.score, 4), **to_builtins(each.remembered)}
            for each in found.matches
        ]
        print_json({"query": text, "matches": matches})
    else:
        show(Screen(quiet=session.quiet), found)
    if not found.matches:
        raise typer.Exit(ExitCode.NOTHING_FOUND)


def stats(session: Session, *, as_json: bool = False) -> None:
    """Show the statistics of the memory."""
    with opened(session) as memory:
        held = memory.listing.stats()
    if as_json:
        print_json(to_builtins(held))
    else:
        for name, value in statistics(held):
            typer.echo(f"{name}: {value}")


def get(session: Session, id_: str, *, as_json: bool = False) -> None:
    """Show the memories of an id."""
    with opened(session) as memory:
        held = tuple(memory.listing.find(whole_id(memory, id_, KINDS)))
    if as_json:
        print_json({"remembered": to_builtins(held)})
    else:
        show(Screen(quiet=session.quiet), MemoryDetails(held))


def delete(session: Session, id_: str, *, yes: bool, as_json: bool = False) -> None:
    """Delete the memories of an id, after confirmation."""
    with opened(session, writes=True) as memory:
        whole = whole_id(memory, id_, DELETABLE)
        if not yes:
            held = memory.listing.find(whole)
            what = "1 memory" if len(held) == 1 else f"{len(held)} memories"
            consent(f"Delete {what}, the first: “{shorten(held[0].text, 60)}”?", yes=False)
        gone = memory.writer.delete(whole)
    _print({"id": whole, "deleted": gone}, f"{gone} deleted", as_json=as_json)


def threads(session: Session, limit: int, *, as_json: bool = False) -> None:
    """List the threads."""
    with opened(session) as memory:
        listed = memory.listing.threads(limit)
    if as_json:
        print_json({"threads": to_builtins(listed)})
    else:
        show(Screen(quiet=session.quiet), ThreadList(tuple(listed), ""))


def export(session: Session, file: Path, *, as_json: bool = False) -> None:
    """Write everything to a file."""
    with opened(session) as memory:
        written = memory.transfer.export_to(file)
    _print({"file": str(file), "exported": written}, f"{written} exported to {file}", as_json=as_json)


def import_(session: Session, file: Path, *, as_json: bool = False) -> None:
    """Add the memories of an exported file."""
    with opened(session, writes=True) as memory:
        came = memory.transfer.import_from(file)
    value = {"file": str(file), "imported": came.added, "known": came.known, "kept": came.kept}
    kept = f", {came.kept} unchanged here" if came.kept else ""
    _print(value, f"{came.added} imported from {file}, {came.known} already known{kept}", as_json=as_json)


def forget(session: Session, older_than: float | None, thread: str | None, *, yes: bool, as_json: bool = False) -> None:
    """Forget old memories, or a thread, after confirmation."""
    if (older_than is None) == (thread is None):
        raise InvalidInput("choose what to forget: --older-than AGE, as 90d, or --thread ID")
    if older_than == 0:
        raise InvalidInput("--older-than must be longer than 0, as 90d")
    with opened(session, writes=True) as memory:
        whole = None if thread is None else whole_id(memory, thread, ("thread",))
        what = f"all older than {spelled(older_than or 0)}" if whole is None else f"the thread {whole}"
        consent(f"Forget {what}?", yes=yes)
        gone = memory.writer.forget(older_than=older_than, thread=whole)
    _print({"forgotten": gone}, f"{gone} forgotten", as_json=as_json)


@contextmanager
def opened(session: Session, *, writes: bool = False) -> "Iterator[Memory]":
    """Yield the memory of the settings.

    Raises:
        InvalidInput: it is disabled.
        AccessDenied: `writes`, and the token may only read.
    """
    with session.app() as app:
        if not app.settings.vector_store.enabled:
            raise InvalidInput(
                "the memory of conversations is disabled; set `enabled: true` in the block vector_store of the settings"
            )
        if writes:
            app.identity.require("writer")
        yield app.chat_memory


def _print(value: dict[str, Any], line: str, *, as_json: bool) -> None:
    if as_json:
        print_json(value)
    else:
        typer.echo(line)
