"""`harness rank`: passages by how likely they answer a question."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.command_session import Session, with_session
from harness.cli.options import JsonOption
from harness.cli.output import print_json
from harness.cli.terminal import ExitCode
from harness.core.text import one_line, printable, shorten
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from harness.research.reading import RankedPassage

MAX_CHARS = 20_000_000
MAX_SHOWN = 300
"""Characters of a passage in the table."""
STDIN = Path("-")


@with_session
def rank(
    session: Session,
    question: Annotated[str, typer.Argument(help="The question.", show_default=False)],
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Passages: one a line, JSON Lines, or a document; - is standard input."),
    ] = STDIN,
    most: Annotated[int | None, typer.Option("--most", "-n", metavar="N", min=1, help="Print the best N only.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Rank passages by how likely each answers a question.

    A file that ends in .txt, and standard input, have one passage a line. A line of .jsonl is a text, or an object with
    a member `text`. Any other document (.md, .html, .pdf, …) is split at its headings and paragraphs. The local reader
    reads each passage with the question, and the embedder compares them.

    Exits with 1 if no passage is likely enough to answer.

    \b
    Examples:
      harness rank "how do I undo a commit" notes.md
      harness rank "default port of postgres" passages.jsonl --json
      grep -h timeout docs/*.txt | harness rank "how long does it wait" -n 3
    """
    from harness.research.reading import ranked_passages

    passages = list(_passages(file))
    with session.app({"offline": True}) as app:
        found = ranked_passages(question, passages, app.models.reader, app.models.embedder, app.progress)[:most]
    if as_json:
        from msgspec import to_builtins

        print_json({"question": question, "passages": to_builtins(found)})
    else:
        for line in _lines(found):
            typer.echo(line)
    if not any(each.answers for each in found):
        session.note("no passage is likely to answer the question; the nearest are listed")
        raise typer.Exit(ExitCode.NOTHING_FOUND)


def _lines(found: "list[RankedPassage]") -> Iterator[str]:
    for each in found:
        yield f"{each.rank:>3}. {each.probability:.2f}  {printable(shorten(one_line(each.text), MAX_SHOWN))}"


def _passages(file: Path) -> Iterator[str]:
    kind = file.suffix.lower()
    if file == STDIN or kind in {".txt", ".jsonl"}:
        text = _text(file)
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                yield _from_json(line, file, number) if kind == ".jsonl" else line.strip()
        return
    from harness.core.chunking import passages
    from harness.sources.corpus.local_documents import FileSource, PartUnavailable

    source = FileSource.at(str(file))
    try:
        for part in source.parts():
            for document in source.read(part):
                for passage in passages(document.text):
                    yield ": ".join(filter(None, (passage.section or document.title, passage.text)))
    except PartUnavailable as error:
        raise InvalidInput(f"cannot read {file}") from error


def _text(file: Path) -> str:
    try:
        if file == STDIN:
            if sys.stdin.isatty():
                raise InvalidInput("no passages: name a file, or pipe them in, one a line")
            text = sys.stdin.read(MAX_CHARS + 1)
        else:
            with file.open(encoding="utf-8", errors="replace") as opened:
                text = opened.read(MAX_CHARS + 1)
    except OSError as error:
        raise InvalidInput(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput("standard input is not UTF-8; re-encode it") from error
    if len(text) > MAX_CHARS:
        raise InvalidInput(f"{file} has more than {MAX_CHARS:,} characters; pass less")
    return text


def _from_json(line: str, file: Path, number: int) -> str:
    import orjson

    try:
        value: Any = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise InvalidInput(f"{file}:{number}: not JSON: {error.msg}") from None
    text = value.get("text") if isinstance(value, dict) else value
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput(f"{file}:{number}: neither a text nor an object with a member `text`")
    return text.strip()
