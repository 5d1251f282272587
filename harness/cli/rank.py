"""`harness rank`: passages by how likely they answer a question."""

from pathlib import Path
from typing import Annotated

import typer
from msgspec import to_builtins

from harness.cli.command_session import Session, with_session
from harness.cli.options import JsonOption
from harness.cli.output import print_result
from harness.cli.terminal import ExitCode
from harness.cli.text_input import STDIN, passages_of
from harness.core.text import one_line, printable, shorten

MAX_SHOWN = 300
"""Characters of a passage in the table."""


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

    passages = list(passages_of(file))
    with session.app({"offline": True}) as app:
        embedder = app.models.embedder_for(question)
        found = ranked_passages(question, passages, app.models.reader, embedder, app.progress)[:most]
    lines = (
        f"{each.rank:>3}. {each.probability:.2f}  {printable(shorten(one_line(each.text), MAX_SHOWN))}"
        for each in found
    )
    print_result({"question": question, "passages": to_builtins(found)}, lines, as_json=as_json)
    if not any(each.answers for each in found):
        session.note("no passage is likely to answer the question; the nearest are listed")
        raise typer.Exit(ExitCode.NOTHING_FOUND)
