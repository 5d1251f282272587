"""What is done with the memory without a conversation: `harness memory`, and what `harness chat` does and leaves."""

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
from harness.chat.exchanges import MAX_MESSAGE, Remembered
from harness.chat.ids import whole_id
from harness.cli.chat_screen import Screen, show, statistics
from harness.cli.output import confirmed, print_json
from harness.cli.session import Session
from harness.cli.terminal import ExitCode
from harness.core.durations import spelled
from harness.core.text import shorten
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from harness.chat import Memory


def add(session: Session, source: str, *, as_json: bool = False) -> None:
    """Remember a document, or what standard input holds, and tell of it."""
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
    """Show what is remembered that fits a text.

    Raises:
        Exit: nothing was found.
    """
    if not 1 <= k <= MAX_RESULTS:
        raise InvalidInput(f"-k must be 1 to {MAX_RESULTS}, not {k}")
    if not text.strip():
        raise InvalidInput("there is nothing to look for; give a text")
    with opened(session) as memory:
        found = QueryResults.of(text, memory.search.query(checked_text(text), k))
    if as_json:
        matches = [
            {"similarity": round(each.similarity, 4), "score": round(each.score, 4), **as_told(each.remembered)}
            for each in found.matches
        ]
        print_json({"query": text, "matches": matches})
    else:
        show(Screen(quiet=session.quiet), found)
    if not found.matches:
        raise typer.Exit(ExitCode.NOTHING_FOUND)


def stats(session: Session, *, as_json: bool = False) -> None:
    """Tell how much is remembered."""
    with opened(session) as memory:
        held = memory.listing.stats()
    if as_json:
        print_json(to_builtins(held))
    else:
        for name, value in statistics(held):
            typer.echo(f"{name}: {value}")


def get(session: Session, id_: str, *, as_json: bool = False) -> None:
    """Show what an id names."""
    with opened(session) as memory:
        held = tuple(memory.listing.find(whole_id(memory, id_, KINDS)))
    if as_json:
        print_json({"remembered": [as_told(each) for each in held]})
    else:
        show(Screen(quiet=session.quiet), MemoryDetails(held))


def delete(session: Session, id_: str, *, yes: bool, as_json: bool = False) -> None:
    """Delete what an id names, with consent."""
    with opened(session, writes=True) as memory:
        whole = whole_id(memory, id_, DELETABLE)
        if not yes:
            held = memory.listing.find(whole)
            what = "1 thing" if len(held) == 1 else f"{len(held)} things"
            _ask(f"Delete {what}, the first: “{shorten(held[0].text, 60)}”?")
        gone = memory.writer.delete(whole)
    _tell({"id": whole, "deleted": gone}, f"{gone} deleted", as_json=as_json)


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
    _tell({"file": str(file), "exported": written}, f"{written} exported to {file}", as_json=as_json)


def import_(session: Session, file: Path, *, as_json: bool = False) -> None:
    """Read such a file."""
    with opened(session, writes=True) as memory:
        came = memory.transfer.import_from(file)
    told = {"file": str(file), "imported": came.added, "known": came.known, "kept": came.kept}
    kept = f", {came.kept} kept as they are here" if came.kept else ""
    _tell(told, f"{came.added} imported from {file}, {came.known} known already{kept}", as_json=as_json)


def forget(session: Session, older_than: float | None, thread: str | None, *, yes: bool, as_json: bool = False) -> None:
    """Forget what is old, or a thread, with consent."""
    if (older_than is None) == (thread is None):
        raise InvalidInput("say what to forget: --older-than AGE, as 90d, or --thread ID")
    if older_than == 0:
        raise InvalidInput("--older-than must be longer than 0, as 90d")
    with opened(session, writes=True) as memory:
        whole = None if thread is None else whole_id(memory, thread, ("thread",))
        if not yes:
            _ask(f"Forget {'all older than ' + spelled(older_than or 0) if whole is None else 'the thread ' + whole}?")
        gone = memory.writer.forget(older_than=older_than, thread=whole)
    _tell({"forgotten": gone}, f"{gone} forgotten", as_json=as_json)


@contextmanager
def opened(session: Session, *, writes: bool = False) -> "Iterator[Memory]":
    """Yield the memory by the settings.

    Raises:
        InvalidInput: it is disabled.
        AccessDenied: `writes`, and the token may only read.
    """
    with session.app() as app:
        if not app.settings.vector_store.enabled:
            raise InvalidInput(
                "what conversations remember is disabled; set `enabled: true` in the block vector_store of the settings"
            )
        if writes:
            app.identity.require("writer")
        yield app.remembering


def as_told(remembered: Remembered) -> dict[str, Any]:
    """Return what is remembered as JSON has it."""
    told: dict[str, Any] = to_builtins(remembered)
    return told


def _ask(question: str) -> None:
    if not confirmed(question):
        raise InvalidInput("nothing was deleted; answer y, or pass --yes")


def _tell(told: dict[str, Any], line: str, *, as_json: bool) -> None:
    if as_json:
        print_json(told)
    else:
        typer.echo(line)
