"""`harness cache runs | export | import`: what runs were answered with, in files that others can replay."""

import logging
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli import completion
from harness.cli.options import JsonOption
from harness.cli.output import print_json
from harness.cli.session import Session, with_session
from harness.cli.terminal.streams import PIPED_WIDTH
from harness.core.text import one_line, printable, shorten
from harness.errors import InvalidInput

LEAST_QUESTION = 20
"""Characters of a question that a list shows, however narrow the terminal is."""
BESIDE = 51
"""Columns that id, answers, calls and the gaps take."""

log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from harness.cache import Cache
    from harness.storage.snapshots import SnapshotLine


@with_session
def runs(
    session: Session,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many, newest first.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """List past researches, newest first; `harness show` prints one.

    \b
    Examples:
      harness cache runs --limit 5
      harness show 20261122-101500-1a2b3c
      harness research --resume 20261122-101500-1a2b3c
    """
    import orjson

    with session.app() as app:
        found = [(entry, orjson.loads(entry.payload)) for entry in app.cache.runs()[:limit]]
    told = [
        {
            "run": entry.key,
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(entry.created_at)),
            "question": entry.text,
            "engine": "+".join(engine["name"] for engine in record["engines"]),
            "state": record["state"],
            "answers": sum(use["how"] != "derived" for use in record["uses"]),
            "live_calls": sum(use["how"] in {"live", "failed"} for use in record["uses"]),
            "error": record.get("error"),
        }
        for entry, record in found
    ]
    if as_json:
        print_json({"runs": told})
        return
    from tabulate import tabulate

    names = ("run", "state", "question", "answers", "live_calls")
    listed = [_with_cause(run) for run in told]
    beside = BESIDE + max((len(run["state"]) for run in listed), default=0)
    width = max(LEAST_QUESTION, shutil.get_terminal_size((PIPED_WIDTH, 0)).columns - beside)
    shown = [{**run, "question": shorten(run["question"], width)} for run in listed]
    rows = [tuple(printable(str(run[name])) for name in names) for run in shown]
    headers = [name.replace("_", " ") for name in names]
    typer.echo(tabulate(rows, headers=headers, colalign=("left",) * 3 + ("right",) * 2) if rows else "no runs yet")


def _with_cause(run: dict[str, Any]) -> dict[str, Any]:
    """Return a run with the code of its error beside its state: `failed: offline_miss`."""
    error = run["error"]
    return {**run, "state": f"{run['state']}: {one_line(str(error['code']))}"} if error else run


@with_session
def export(
    session: Session,
    file: Annotated[Path | None, typer.Argument(help="The snapshot to write.", show_default=False)] = None,
    run: Annotated[
        str | None,
        typer.Option("--run", metavar="ID", help="What this run was answered with.", autocompletion=completion.runs),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every entry (default).")] = False,
    pairs: Annotated[
        Path | None,
        typer.Option("--pairs", metavar="FILE", help="Instead, the pairs of queries that audits labelled (-: stdout)."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write cache and knowledge to one portable file.

    A snapshot of a run answers the same question again anywhere, with `harness research … --replay FILE`.

    With --pairs it is what audits found (see the setting audit_rate), in JSON Lines: a, b, label (1: the same results,
    0: others), overlap, similarity, probability, audited_at. `harness cache calibrate --pairs` reads them.

    \b
    Examples:
      harness cache export all.snapshot
      harness cache export run.snapshot --run 20261122-101500-1a2b3c
      harness cache export --pairs mine.jsonl
    """
    from msgspec import convert

    from harness.storage.snapshots import Run, write_snapshot

    if pairs is not None:
        from harness.cli.pairs import export_pairs

        if file is not None or run is not None or everything:
            raise InvalidInput("--pairs is an export of its own; leave out the snapshot, --run and --all")
        export_pairs(session, pairs, force=force, as_json=as_json)
        return
    if file is None:
        raise InvalidInput("name the snapshot to write, as all.snapshot, or --pairs FILE")
    if run is not None and everything:
        raise InvalidInput("choose one of --run and --all")
    if file.exists() and not force:
        raise InvalidInput(f"{file} exists; choose another name, or pass --force")
    with session.app() as app:
        cache = app.cache
        record = cache.get_run(run) if run is not None else None
        lines = _lines_of_run(cache, record) if record is not None else _all_lines(cache)
        kept = None if record is None else convert(record, Run)
        app.progress("writing", 0, 0)
        header = write_snapshot(file, lines, run=kept)
    if as_json:
        print_json({"file": str(file), "entries": header.entries, "bytes": header.bytes, "sha256": header.sha256})
    else:
        typer.echo(f"wrote {header.entries:,} entries to {file} (sha256 {header.sha256[:16]}…)")


def _all_lines(cache: "Cache") -> "Iterator[SnapshotLine]":
    from harness.cache.tables import MOVED
    from harness.storage.snapshots import line_of, line_of_audit

    yield from map(line_of_audit, cache.audits())
    for table, entry in cache.entries(MOVED):
        try:
            yield line_of(table, entry, used=True)
        except InvalidInput as error:
            log.warning("left out: %s", error)


def _lines_of_run(cache: "Cache", record: dict[str, Any]) -> "Iterator[SnapshotLine]":
    """Yield what a run was answered with, exactly as it was.

    Raises:
        InvalidInput: some of it has changed or gone since.
    """
    from hashlib import sha256

    from harness.cache import ANSWERS, EVIDENCE, UNANSWERED
    from harness.storage.snapshots import SnapshotLine, line_of

    wanted: dict[tuple[str, str], list[dict[str, str]]] = {}
    for use in record["uses"]:
        if use["table"] == UNANSWERED:
            yield SnapshotLine(UNANSWERED, use["asked"], "", _json({"code": "no_results"}), 0.0, 0.0, ["", ""])
        elif use["how"] == "failed":
            code, _, message = use["error"].partition(": ")
            payload = _json({"code": code, "message": message})
            yield SnapshotLine(UNANSWERED, use["asked"], "", payload, 0.0, 0.0, ["", ""])
        else:
            wanted.setdefault((use["table"], use["served"]), []).append(use)
    for table in (*ANSWERS, EVIDENCE):
        for _, entry in cache.entries((table,)):
            digest = sha256(entry.payload).hexdigest()
            uses = wanted.get((table, entry.key), [])
            wanted[table, entry.key] = [use for use in uses if use["digest"] != digest]
            for asked in dict.fromkeys(use["asked"] for use in uses if use["digest"] == digest):
                yield line_of(table, entry, asked)
    if missing := sum(use["how"] != "derived" for uses in wanted.values() for use in uses):
        raise InvalidInput(
            f"{missing} of the answers that this run was given have changed or gone since; run it again, then export it"
        )


def _json(value: object) -> str:
    import orjson

    return orjson.dumps(value).decode()


def import_(
    session: Session,
    file: Annotated[Path, typer.Argument(help="The snapshot to read.", show_default=False)],
    as_json: JsonOption = False,
) -> None:
    """Add the entries of a snapshot to the cache.

    Newer entries that are there already stay. Nothing of a damaged file is used.

    So a cache moves from one database to another, and to another tenant: all that `cache export` wrote, as it was.

    \b
    Example:
      harness cache import all.snapshot
    """
    from harness.cache.tables import MOVED
    from harness.storage.snapshots import audit_of, entry_of, read_snapshot
    from harness.storage.tables import AUDITS

    _, lines = read_snapshot(file)
    if foreign := {line.table for line in lines}.difference(MOVED, {AUDITS}):
        raise InvalidInput(f"{file} holds what no export writes ({', '.join(sorted(foreign))}); nothing was added")
    with session.app() as app:
        app.identity.require("admin")
        cache = app.cache
        added = 0
        for done, line in enumerate(lines):
            app.progress("importing", done, len(lines))
            if line.table == AUDITS:
                added += cache.restore_audit(audit_of(line))
            else:
                added += not line.asked and line.created_at > 0 and cache.restore(line.table, entry_of(line))
    if as_json:
        print_json({"file": str(file), "entries": len(lines), "added": added})
    else:
        typer.echo(f"added {added:,} of {len(lines):,} entries; the others were there already, or belong to a run")


import_command = with_session(import_)
