"""What commands print and ask in the same way."""

import typer

from harness.core.text import printable_json

BY_WORDS = "note: ranked by words alone: not every passage has a vector yet; `harness index corpus:...` makes them"


def print_json(told: object) -> None:
    """Print one JSON object."""
    import orjson

    typer.echo(printable_json(orjson.dumps(told, option=orjson.OPT_INDENT_2).decode()))


def confirmed(question: str) -> bool:
    """Ask on standard error; the end of the input is no consent."""
    try:
        return typer.confirm(question, err=True)
    except typer.Abort:
        return False
