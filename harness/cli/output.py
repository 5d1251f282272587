"""Output and questions that commands share."""

import typer

from harness.core.text import printable_json
from harness.errors import InvalidInput

BY_WORDS = "note: ranked by words alone: some passages have no vector yet; `harness index corpus:...` makes them"


def print_json(value: object) -> None:
    """Print one JSON object."""
    import orjson

    typer.echo(printable_json(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()))


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
