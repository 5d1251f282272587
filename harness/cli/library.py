"""`harness library`: everything that was read."""

import logging
import time
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.command_session import Session, with_session
from harness.cli.groups import group
from harness.cli.options import JsonOption, YesOption, duration, in_words, stored_argument
from harness.cli.output import consent, print_json
from harness.cli.tables import Column, Line, print_table
from harness.cli.terminal import ExitCode
from harness.core.freshness import NEVER, age_in_words
from harness.core.text import amount, clean, shorten
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.app import App
    from harness.library import FoundPassage, HeldPassage, ReadDocument

log = logging.getLogger(__name__)

SNIPPET_CHARS = 400

HELP = """Search everything that was read before.

Pages, search results, files and knowledge.

\b
Examples:
  harness library search "how many connections does a pool hold"
  harness library add notes/ https://docs.python.org/3/reference/datamodel.html
  harness research "what do descriptors override" --engine library
"""
commands = group("library", HELP)

UrlArgument = Annotated[str, stored_argument("URL", "Address of the source.", "sources")]


@commands.command()
@with_session
def search(
    session: Session,
    words: Annotated[list[str], typer.Argument(metavar="QUERY", help="What to look for.", show_default=False)],
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="Maximum number of passages.")] = 10,
    max_age: Annotated[
        float | None, duration("--max-age", help="Only passages read within this time: 24h, 7d.", default="any age")
    ] = None,
    language: Annotated[
        str,
        typer.Option(
            "--language", metavar="TAG", help="Only passages in this language: en, de, zh.", show_default=False
        ),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Search passages by words and meaning.

    The local reader orders the first ones. Nothing is fetched. Exits with 1 if there are none.

    \b
    Examples:
      harness library search "how many connections does a pool hold"
      harness library search "descriptor protocol" --max-age 24h --json | jq -r '.passages[].url'
    """
    from harness.library import in_language

    query, only = in_words(words), in_language(language)
    with session.app() as app:
        found = app.library.search(query, limit, max_age=max_age, only=only, progress=app.progress)
        session.end_progress()
        if as_json:
            from harness.server.responses.library_responses import library_response

            print_json(library_response(query, found, app.library.least_relevance, time.time()).model_dump())
        elif found:
            shares = ["–" if each.relevance is None else f"{each.relevance:.0%}" for each in found]
            rows = [(share, _passage_lines(each)) for share, each in zip(shares, found, strict=True)]
            print_table((Column("answers", "right"), Column("passage", least=30)), rows)
    count = amount(len(found), "passage")
    session.note(f"{count} from the library; 0 live calls" if found else "no passage found; try other words")
    if not found:
        raise typer.Exit(ExitCode.NOTHING_FOUND)


@commands.command()
@with_session
def stats(session: Session, as_json: JsonOption = False) -> None:
    """Count the passages.

    \b
    Example:
      harness library stats
    """
    from harness.server.responses.library_responses import library_stats

    with session.app() as app:
        app.library.index.update(app.progress)
        held = library_stats(app.library)
    if as_json:
        print_json(held.model_dump())
        return
    typer.echo(f"{amount(held.passages, 'passage')}, {held.expired:,} expired")
    if held.without_vector:
        typer.echo(f"{held.without_vector:,} have no vector yet and are found by words: `harness library index`")
    if held.oldest and held.newest:
        typer.echo(f"read between {held.oldest} and {held.newest}")


@commands.command()
@with_session
def index(session: Session) -> None:
    """Make the vectors of all passages now.

    Searches and researches make some of them at each start. An interrupted run continues at the next one.

    \b
    Example:
      harness library index
    """
    with session.app() as app:
        added = app.library.index.update(app.progress, seconds=0)
        embedded = app.library.index.embed(app.progress)
    session.note(f"{amount(added, 'passage')} added, {amount(embedded, 'vector')} made")


@commands.command()
@with_session
def add(
    session: Session,
    sources: Annotated[
        list[str], typer.Argument(metavar="PATH|URL…", help="Files, folders or web pages.", show_default=False)
    ],
) -> None:
    """Read files, folders or pages into the library. They stay until `forget`.

    \b
    Examples:
      harness library add notes/ report.pdf
      harness library add https://docs.python.org/3/reference/datamodel.html
    """
    with session.app() as app:
        app.identity.require("writer")
        documents = passages = 0
        for source in sources:
            for document in _documents(app, source):
                passages += app.library.index.add(document)
                documents += 1
                app.progress(f"adding {shorten(source, 60)}", documents, documents + 1)
        app.library.index.embed(app.progress)
    read = f"{amount(documents, 'document')} read"
    session.note(f"{read}, {amount(passages, 'passage')} added")
    if not documents:
        raise typer.Exit(ExitCode.NOTHING_FOUND)


@commands.command()
@with_session
def show(session: Session, url: UrlArgument, as_json: JsonOption = False) -> None:
    """Print the passages of one source. Exits with 1 if there are none.

    \b
    Example:
      harness library show https://docs.python.org/3/reference/datamodel.html
    """
    from harness.server.responses.library_responses import passages_response

    with session.app({"offline": True}) as app:
        found = app.library.passages_of(_address(url))
    if as_json:
        print_json(passages_response(found, time.time()).model_dump())
    else:
        for each in found:
            heading = " · ".join(filter(None, (each.title, each.section)))
            typer.echo(clean(f"{heading} ({_origin(each)})", 1_000))
            typer.echo(f"{clean(each.text, 20_000)}\n")
    session.note(amount(len(found), "passage"))
    if not found:
        raise typer.Exit(ExitCode.NOTHING_FOUND)


@commands.command()
@with_session
def forget(session: Session, url: UrlArgument, yes: YesOption = False) -> None:
    """Delete the passages of one source.

    The cached pages and searches that contain them are deleted, too; knowledge stays. `harness cache clear` deletes
    everything that was read. Exits with 1 if there is nothing to delete.

    \b
    Example:
      harness library forget https://example.org/outdated.html --yes
    """
    with session.app({"offline": True}) as app:
        app.identity.require("admin")
        url = _address(url)
        held = app.library.passages_of(url)
        documents = {each.knowledge for each in held if each.knowledge}
        count = sum(not each.knowledge for each in held)
        consent(f"delete {amount(count, 'passage')} of {shorten(url, 100)}, and the cached answers with it?", yes=yes)
        passages, answers = app.library.forget(url)
    session.note(f"{amount(passages, 'passage')} and {amount(answers, 'cached answer')} deleted")
    for document in sorted(documents):
        session.note(f"knowledge stays: `harness knowledge delete {document}` deletes it")
    if not (passages or answers):
        raise typer.Exit(ExitCode.NOTHING_FOUND)


@commands.command()
@with_session
def export(session: Session) -> None:
    """Print every passage as a line of JSON.

    \b
    Example:
      harness library export > passages.jsonl
    """
    import orjson

    from harness.core.text import printable_json
    from harness.server.responses.library_responses import passage_response

    with session.app({"offline": True}) as app:
        now = time.time()
        for each in app.library.passages():
            typer.echo(printable_json(orjson.dumps(passage_response(each, now).model_dump()).decode()))


def _documents(app: "App", source: str) -> "Iterator[ReadDocument]":
    """Yield the documents of a file, a folder or a page.

    Raises:
        InvalidInput: there is no such file or folder, or it has no readable text.
        PageError: the page cannot be read.
    """
    from harness.core.keys import canonical_url, is_url
    from harness.library import ReadDocument

    if is_url(source):
        from harness.server.library_reading import read_document

        yield read_document(app, source)
        return
    if not _exists(source):
        raise InvalidInput(f"no such file or folder: {source}; pass a path, or an address that begins with https://")
    now = time.time()
    from harness.sources.corpus.local_documents import FileSource, PartUnavailable

    files = FileSource.at(source)
    seen = set[str]()
    for part in files.parts():
        try:
            # neighbouring lines of a file may be of one source
            for url, group in groupby(files.read(part), lambda document: canonical_url(document.href)):
                documents = list(group)
                if url in seen:
                    log.warning(
                        "%s: a second text of %s is left out; put its lines next to each other", part, documents[0].href
                    )
                    continue
                seen.add(url)
                yield ReadDocument(
                    url=url,
                    title=documents[0].title,
                    text="\n\n".join(each.text for each in documents),
                    source="file",
                    fetched_at=now,
                    expires_at=NEVER,
                    page_starts=documents[0].page_starts,
                )
        except PartUnavailable as error:
            raise InvalidInput(f"cannot read {part}") from error


def _exists(path: str) -> bool:
    """Return whether there is such a file or folder. Never raises."""
    try:
        return bool(path.strip()) and Path(path).expanduser().exists()
    except (OSError, ValueError, RuntimeError):  # a name that no file can have, a home of an unknown user
        return False


def _address(source: str) -> str:
    """Return the address of a source: that of a file, if its path is given."""
    return Path(source).expanduser().resolve().as_uri() if _exists(source) else source


def _passage_lines(found: "FoundPassage") -> list[Line]:
    passage = found.passage
    return [
        Line(" · ".join(filter(None, (passage.title, passage.section))), "bold"),
        Line(passage.url, "cyan"),
        Line(shorten(passage.text, SNIPPET_CHARS)),
        Line(f"{_origin(passage)}; {_why(found)}", "dim"),
    ]


def _origin(passage: "HeldPassage") -> str:
    read = f"read {age_in_words(time.time() - passage.fetched_at)}"
    return ", ".join(filter(None, (passage.source, passage.language, read)))


def _why(found: "FoundPassage") -> str:
    ranks = (("words", found.by_words), ("meaning", found.by_meaning))
    return "found by " + " and ".join(f"{name} (rank {rank})" for name, rank in ranks if rank is not None)
