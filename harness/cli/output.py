"""Output and questions that commands share."""

import textwrap
from collections.abc import Iterable

import typer

from harness.core.text import one_line, printable_json, shorten
from harness.errors import InvalidInput

BY_WORDS = "note: ranked by words alone: some passages have no vector yet; `harness index corpus:...` makes them"


def json_text(value: object) -> str:
    """Return a value as indented JSON that is safe on a terminal."""
    import orjson

    return printable_json(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())


def print_json(value: object) -> None:
    """Print one JSON object."""
    typer.echo(json_text(value))


def print_result(value: object, text: str | Iterable[str], *, as_json: bool) -> None:
    """Print the result of a command: `value` as one JSON object, or `text`, which may be several lines."""
    if as_json:
        print_json(value)
    else:
        for line in [text] if isinstance(text, str) else text:
            typer.echo(line)


def fitted(text: str, columns: int) -> str:
    """Cut `text` to at most `columns` of a terminal, between words where there are any, including an ellipsis. A wide
    character takes two columns, a mark on a letter none.
    """
    if text.isascii():
        return shorten(text, columns)
    from rich.cells import cell_len, set_cell_size

    text = one_line(text)
    if cell_len(text) <= columns:
        return text
    cut = set_cell_size(text, columns - 1)
    whole = cut.rpartition(" ")[0]  # Chinese and Thai have few spaces
    return (whole if 2 * cell_len(whole) >= columns else cut).rstrip(" ,;:.") + "…"


def wrapped(text: str, columns: int, indent: str = "") -> str:
    """Break a text into lines of at most `columns` of a terminal; all but the first begin with `indent`."""
    if text.isascii():
        return textwrap.fill(text, columns, subsequent_indent=indent, break_on_hyphens=False)
    from rich.console import Console
    from rich.text import Text

    lines = Text(text).wrap(Console(width=columns), columns - len(indent))
    return f"\n{indent}".join(line.plain.rstrip() for line in lines)


def consent(question: str, *, yes: bool) -> None:
    """Ask for confirmation on standard error, unless `yes`; the end of the input counts as no.

    Raises:
        InvalidInput: the answer is no.
    """
    try:
        agreed = yes or typer.confirm(question, err=True)
    except typer.Abort:
        agreed = False
    if not agreed:
        raise InvalidInput("nothing was deleted; answer y, or pass --yes")
