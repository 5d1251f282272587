"""Pairs labelled by audits: `harness cache export --pairs` writes them, `calibrate` reads them."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from harness.cli.output import print_result
from harness.core.text import printable_json
from harness.errors import InvalidInput
from harness.storage.files import replacing

if TYPE_CHECKING:
    from harness.cli.command_session import Session

STDOUT = Path("-")


def export_pairs(session: "Session", file: Path, *, force: bool, as_json: bool) -> None:
    """Write the results of audits to `file` (`-`: standard output), one JSON object a line; print a summary.

    Raises:
        InvalidInput: the file exists and may not be replaced, or cannot be written; or `as_json` with pairs on standard
            output.
        StoreError: the store cannot be read.
    """
    import orjson

    from harness.cache.audit import labelled_pair

    if file == STDOUT and as_json:
        raise InvalidInput("standard output is for the pairs; name a file, or leave out --json")
    if file != STDOUT and file.exists() and not force:
        raise InvalidInput(f"{file} exists; choose another name, or pass --force")
    with session.app() as app:
        audits = app.cache.audits.all()
    lines = b"".join(orjson.dumps(labelled_pair(audit), option=orjson.OPT_APPEND_NEWLINE) for audit in audits)
    if file == STDOUT:
        typer.echo(printable_json(lines.decode()), nl=False)
    else:
        _write(file, lines)
    disagreeing = sum(not audit.agreed for audit in audits)
    summary = f"{len(audits):,} pairs, {disagreeing:,} of them disagreeing"
    if file == STDOUT:
        session.note(summary)
        return
    counts = {"pairs": len(audits), "agreeing": len(audits) - disagreeing, "disagreeing": disagreeing}
    print_result({"file": str(file), **counts}, f"wrote {summary}, to {file}", as_json=as_json)


def _write(file: Path, lines: bytes) -> None:
    """Write a private file (it has queries of users), whole or not at all."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file, private=True) as out:
            out.write(lines)
    except OSError as error:
        raise InvalidInput(f"cannot write {file} ({error.strerror or error}); choose another place") from error
