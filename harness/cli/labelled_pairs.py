"""Labelled pairs of texts: `harness cache export --pairs` writes those of audits, `calibrate` reads any."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import typer
from msgspec import Struct

from harness.cli.output import print_result
from harness.core.text import printable_json
from harness.errors import InvalidInput
from harness.storage.files import replacing

if TYPE_CHECKING:
    from harness.cli.command_session import Session
    from harness.core.calibration import Interval

STDOUT = Path("-")

MAX_PAIRS = 200_000

Kind: TypeAlias = Literal["questions", "answers", "support"]
SUPPORT = ("supports", "contradicts", "neither")
FIELDS: dict[Kind, tuple[str, str]] = {
    "questions": ("a", "b"),
    "answers": ("question", "text"),
    "support": ("sentence", "quotation"),
}


class CalibrationResult(Struct, frozen=True):
    """A calibration: the file for it and its content, its figures as JSON values, and as lines."""

    file: Path
    content: bytes
    figures: dict[str, Any]
    lines: list[str]


class LabelledPair(Struct, frozen=True):
    """Two texts and their label: 0 or 1, or one of `SUPPORT`."""

    first: str
    second: str
    label: int | str


def read_pairs(path: Path) -> tuple[Kind, list[LabelledPair]]:
    """Read labelled pairs, JSON Lines that may be gzipped; the fields of the first line say of which kind all are.

    Raises:
        InvalidInput: an unreadable or empty file, or a line that is not a labelled pair of that kind.
    """
    import gzip
    import zlib

    opened = gzip.open if path.suffix == ".gz" else open
    kind: Kind | None = None
    found = []
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if number > MAX_PAIRS:
                    raise InvalidInput(f"{path} has more than {MAX_PAIRS:,} pairs; use a sample")
                if line.strip():
                    row = _row(line, path, number)
                    kind = kind or _kind(row, path, number)
                    found.append(_pair(row, kind, path, number))
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from error
    except (EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot read {path}: {error}") from error
    return kind or "questions", found


def _row(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise InvalidInput(f"{path}, line {number}: not a JSON object with two texts and a label")
    return row


def _kind(row: dict[str, Any], path: Path, number: int) -> Kind:
    for kind, fields in FIELDS.items():
        if row.keys() >= {*fields, "label"}:
            return kind
    allowed = "; or ".join(f"{one}, {other} and label" for one, other in FIELDS.values())
    raise InvalidInput(f"{path}, line {number}: not a JSON object with {allowed}")


def _pair(row: dict[str, Any], kind: Kind, path: Path, number: int) -> LabelledPair:
    one, other = FIELDS[kind]
    labels: tuple[int | str, ...] = SUPPORT if kind == "support" else (0, 1)
    first, second, label = (row.get(name) for name in (one, other, "label"))
    if not isinstance(first, str) or not isinstance(second, str) or label not in labels:
        known = ", ".join(map(str, labels))
        raise InvalidInput(f"{path}, line {number}: {one} and {other} must be text, label one of {known}")
    if any("\ud800" <= letter <= "\udfff" for letter in first + second):
        raise InvalidInput(f"{path}, line {number}: broken Unicode (a lone surrogate); re-encode it")
    return LabelledPair(first, second, label if kind == "support" else int(label))


def share_line(name: str, share: "Interval") -> str:
    """Return a line for a share and its interval."""
    return f"{name:24} {share.share:7.2%}  (95 %: {share.low:.2%} to {share.high:.2%})"


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
