"""`harness knowledge`: documents with their confidence, source and age."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli import completion
from harness.cli.command_session import Session, with_session
from harness.cli.groups import group
from harness.cli.options import JsonOption, Options, YesOption, duration, in_words, stored_argument
from harness.cli.output import consent, print_json, print_result
from harness.cli.tables import Column, print_table
from harness.cli.terminal import ExitCode
from harness.core.freshness import HOUR, age_in_words, is_expired
from harness.core.text import shorten
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.knowledge import KnowledgeDocument, LookupResult, WriteResult

MAX_READ = 2**20

HELP = """Write documents of knowledge, and look them up.

A lookup goes by URL, then by meaning.

\b
Examples:
  harness knowledge write "GitHub REST API rate limits" "5,000 requests an hour." --confidence 0.9
  harness knowledge lookup "what is the rate limit of the github rest api"
  harness knowledge list --tag api
"""
commands = group("knowledge", HELP)

IdArgument = Annotated[str, stored_argument("ID", "Id of the document.", "documents")]
UrlOption = Annotated[str | None, typer.Option("--source-url", metavar="URL", help="Address of its source.")]
TagOption = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag; may repeat.")]
AgentOption = Annotated[str | None, typer.Option("--agent", metavar="NAME", help="Name of its author.")]


@commands.command()
@with_session
def lookup(
    session: Session,
    words: Annotated[list[str], typer.Argument(metavar="QUERY", help="Text to look up.", show_default=False)],
    source_url: UrlOption = None,
    max_age: Annotated[
        float | None,
        duration("--max-age", "--max-age-hours", bare="h", help="Only documents updated within this time: 24h, 7d."),
    ] = None,
    min_confidence: Annotated[
        float,
        typer.Option("--min-confidence", metavar="SHARE", help="Only documents of at least this confidence (0 to 1)."),
    ] = 0.5,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="Maximum number of candidates.")] = 3,
    tag: TagOption = None,
    as_json: JsonOption = False,
) -> None:
    """Look up a document. Exits with 1 if there is no fresh, confident match.

    \b
    Examples:
      harness knowledge lookup "github api rate limits"
      harness knowledge lookup "rate limits" --source-url https://docs.github.com/rest --max-age 24h --json
    """
    with session.app() as app:
        hours = None if max_age is None else max_age / HOUR
        found = app.knowledge.lookup(in_words(words), source_url, hours, min_confidence, limit, tag)
    if as_json:
        print_json(found.as_dict())
    elif found.document is not None:
        _print_document(found.document)
    session.note(_how(found))
    if not found.hit:
        raise typer.Exit(ExitCode.NOTHING_FOUND)


class DocumentOptions(Options):
    """Fields of a document to write."""

    file: Annotated[Path | None, typer.Option("--file", metavar="FILE", help="Read the content from a file.")] = None
    document_id: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="ID",
            help="Update this document; fields not given stay.",
            autocompletion=completion.stored("documents"),
        ),
    ] = None
    version: Annotated[
        int | None, typer.Option("--version", metavar="N", help="Update only if it is at this version.")
    ] = None
    agent: AgentOption = None
    tag: TagOption = None
    confidence: Annotated[
        float | None, typer.Option("--confidence", metavar="SHARE", help="How certain it is (0 to 1).")
    ] = None
    source_url: UrlOption = None
    ttl: Annotated[
        float | None, duration("--ttl", "--ttl-hours", bare="h", help="How long it stays fresh: 24h, 30d.")
    ] = None
    expires_at: Annotated[
        str | None, typer.Option("--expires-at", metavar="TIME", help="When it expires: 2027-01-31T12:00:00Z.")
    ] = None


@commands.command()
@with_session
def write(
    session: Session,
    *,
    title: Annotated[str | None, typer.Argument(help="Its topic in one line.", show_default=False)] = None,
    content: Annotated[
        str | None, typer.Argument(help="The text; `-` reads standard input.", show_default=False)
    ] = None,
    fields: DocumentOptions,
    as_json: JsonOption = False,
) -> None:
    """Write a document, or the next version of one. Exits with 5 if nothing was written: another document has the URL,
    or the document is at another version.

    \b
    Examples:
      harness knowledge write "GitHub REST API rate limits" "5,000 an hour." --source-url https://docs.github.com/rest
      harness knowledge write "Retries" --file notes/retries.md --tag client --ttl 30d
      harness knowledge write --id 0123456789abcdef0123456789abcdef
    """
    text = _content(content, fields.file)
    with session.app() as app:
        app.identity.require("writer")
        written = app.knowledge.write(
            title,
            text,
            agent=fields.agent,
            tags=fields.tag,
            confidence=fields.confidence,
            source_url=fields.source_url,
            id=fields.document_id,
            version=fields.version,
            ttl_hours=None if fields.ttl is None else fields.ttl / HOUR,
            expires_at=fields.expires_at,
        )
    print_result(written.as_dict(), _outcome(written), as_json=as_json)
    if written.document is None:
        raise typer.Exit(ExitCode.FAILED)


@commands.command()
@with_session
def get(session: Session, document_id: IdArgument, as_json: JsonOption = False) -> None:
    """Show a document, expired or not. Exits with 1 if there is none with that id.

    \b
    Example:
      harness knowledge get 0123456789abcdef0123456789abcdef --json
    """
    with session.app() as app:
        document = app.knowledge.get(document_id)
    if document is None:
        _unknown(session, document_id)
    elif as_json:
        print_json(document.as_dict())
    else:
        _print_document(document)


@commands.command("list")
@with_session
def list_(
    session: Session,
    tag: TagOption = None,
    agent: AgentOption = None,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="Maximum number of documents.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """List documents, expired or not, last updated first.

    \b
    Examples:
      harness knowledge list
      harness knowledge list --tag api --agent scout --json
    """
    with session.app() as app:
        documents = app.knowledge.list(limit, tags=tag, agent=agent)
    if as_json:
        from harness.server.responses.knowledge_responses import documents_response

        print_json(documents_response(documents).model_dump())
    else:
        _print_table(documents, lambda document: document.id, "id")


@commands.command()
@with_session
def history(session: Session, document_id: IdArgument, as_json: JsonOption = False) -> None:
    """Show the versions of a document, newest first. Exits with 1 if there is none with that id.

    \b
    Example:
      harness knowledge history 0123456789abcdef0123456789abcdef
    """
    with session.app() as app:
        versions = app.knowledge.history(document_id)
    if not versions:
        _unknown(session, document_id)
    elif as_json:
        from harness.server.responses.knowledge_responses import versions_response

        print_json(versions_response(versions).model_dump())
    else:
        _print_table(versions, lambda document: str(document.version), "version")


@commands.command()
@with_session
def delete(session: Session, document_id: IdArgument, yes: YesOption = False, as_json: JsonOption = False) -> None:
    """Delete a document with its history. Asks first; exits with 1 if there is none with that id.

    \b
    Example:
      harness knowledge delete 0123456789abcdef0123456789abcdef --yes
    """
    with session.app() as app:
        app.identity.require("admin")
        consent(f"Delete document {document_id} and its history?", yes=yes)
        gone = app.knowledge.delete(document_id)
    if as_json:
        print_json({"deleted": int(gone)})
    elif gone:
        typer.echo(f"deleted {document_id}")
    if not gone:
        _unknown(session, document_id)


def _content(given: str | None, file: Path | None) -> str | None:
    """Return the content: as given, from standard input, or from a file."""
    if file is not None and given is not None:
        raise InvalidInput("the content is given twice; leave out one of CONTENT and --file")
    if file is None:
        return sys.stdin.read(MAX_READ) if given == "-" else given
    try:
        with file.open("rb") as opened:
            return opened.read(MAX_READ).decode()
    except OSError as error:
        raise InvalidInput(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"cannot read {file} as text: {error}") from error


def _unknown(session: Session, document_id: str) -> None:
    session.note(f"no document {shorten(document_id, 80)}; `harness knowledge list` shows all")
    raise typer.Exit(ExitCode.NOTHING_FOUND)


def _how(found: "LookupResult") -> str:
    message = "nothing is known"
    if found.document is not None and found.found == "url":
        message = "found by its URL"
    elif found.document is not None:
        message = f"found by meaning, similarity {found.similarity:.2f}"
    return f"{message}; stale: {found.stale_id}" if found.stale_exists else message


def _outcome(written: "WriteResult") -> str:
    match written.outcome:
        case "duplicate":
            return f"duplicate: {written.id} has this URL; update it with --id"
        case "version_conflict":
            return f"version conflict: {written.id} is at version {written.version}; read it, and write again"
    return f"{written.outcome} {written.id}, version {written.version}"


def _print_document(document: "KnowledgeDocument") -> None:
    now = time.time()
    state = "expired" if is_expired(document.expires_at, now, document.created_at) else "fresh"
    facts = [f"version {document.version}", f"confidence {document.confidence:g}"]
    facts += [f"updated {age_in_words(now - document.updated_at)}", state, *document.tags, document.agent]
    typer.echo(f"{document.title}\n{document.id}: {', '.join(filter(None, facts))}")
    if document.source_url:
        typer.echo(document.source_url)
    typer.echo(f"\n{document.content}")


def _print_table(
    documents: "Sequence[KnowledgeDocument]", named: "Callable[[KnowledgeDocument], str]", name: str
) -> None:
    now = time.time()
    rows = [
        (
            named(document),
            document.title,
            f"{document.confidence:g}",
            age_in_words(now - document.updated_at),
            "expired" if is_expired(document.expires_at, now, document.created_at) else "fresh",
            ", ".join(document.tags),
        )
        for document in documents
    ]
    columns = (
        Column(name),
        Column("title", least=24),
        Column("confidence", "right", rank=1),
        Column("updated"),
        Column("state"),
        Column("tags", least=12, rank=2),
    )
    print_table(columns, rows, empty="nothing is known yet")
