"""`harness cache calibrate` for the reader: thresholds from labelled texts."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from harness.cli.output import print_json
from harness.errors import ReaderError, StoreError
from harness.storage.files import replacing

if TYPE_CHECKING:
    from harness.cli.command_session import Session
    from harness.cli.labelled_pairs import Kind, LabelledPair
    from harness.ports import Reader

NOT_STORED = "not stored (dry run)"


def calibrate_reader(
    session: "Session",
    kind: "Kind",
    labelled: "Sequence[LabelledPair]",
    file_name: str,
    most: float | None,
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Set the threshold for answers, or those for support and contradiction; `most` is the largest share to decide
    wrongly. The other thresholds stay as they are.

    Raises:
        InvalidInput: too few pairs.
        ReaderError: the reader failed.
        StoreError: the result cannot be stored.
    """
    import msgspec

    from harness.models.from_settings import calibration_file
    from harness.research.reader_calibration import MAX_MISSED, MAX_WRONG, calibrated_answers, calibrated_support

    name = f"{len(labelled):,} pairs of {file_name}"
    with session.app() as app:
        app.identity.require_local()  # the thresholds decide for every tenant
        file, reader = calibration_file(app.settings), _usable(app.models.reader)
        if kind == "answers":
            limit = MAX_MISSED if most is None else most
            answers = [(pair.first, pair.second, bool(pair.label)) for pair in labelled]
            calibration, decided = calibrated_answers(reader, app.models.embedder, answers, limit, name, app.progress)
        else:
            limit = MAX_WRONG if most is None else most
            support = [(pair.first, pair.second, str(pair.label)) for pair in labelled]
            calibration, decided = calibrated_support(reader, support, limit, name, app.progress)
        if not dry_run:
            store(file, msgspec.json.encode(calibration))
    if as_json:
        kept = None if dry_run else str(file)
        print_json({"decisions": msgspec.to_builtins(decided), "max_wrong": limit, "kept": kept})
        return
    for each in decided:
        typer.echo(f"{each.decision}: threshold {each.threshold:.4f}")
        for what, share in (("accepted of the right", each.right), ("accepted of the others", each.wrong)):
            typer.echo(f"  {what:22} {share.share:7.2%}  (95 %: {share.low:.2%} to {share.high:.2%})")
    typer.echo(NOT_STORED if dry_run else f"stored in {file}; remove it to use the shipped thresholds again")


def _usable(reader: "Reader") -> "Reader":
    """Return the reader, with the shipped thresholds if those in the data directory are damaged."""
    try:
        _ = reader.calibration
    except ReaderError:
        from harness.models.local.reader import MiniLMReader

        return MiniLMReader()
    return reader


def store(file: Path, content: bytes) -> None:
    """Write a calibration, whole or not at all.

    Raises:
        StoreError: it cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as out:
            out.write(content)
    except OSError as error:
        raise StoreError(f"cannot store the rule in {file} ({error.strerror}); the rule used so far stays") from error
