"""`harness cache runs | export | import`: runs, and files of entries that can be replayed."""

import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import convert

from harness.cli import completion
from harness.cli.command_session import Session, with_session
from harness.cli.options import JsonOption, OriginOption
from harness.cli.output import print_json, print_result
from harness.cli.tables import Column, print_table
from harness.core.origins import origins_of
from harness.core.text import amount, one_line
from harness.errors import InvalidInput
from harness.settings import RecordedRun

COLUMNS = {
    "id": Column("run"),
    "state": Column("state"),
    "question": Column("question", least=24, cut=True),
    "answers": Column("answers", "right", rank=1),
    "live_calls": Column("live calls", "right", rank=2),
}
"""Columns of the list of runs, by their names in JSON."""

log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from harness.cache import Cache
    from harness.storage.snapshots import SnapshotLine


@with_session
def runs(
    session: Session,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=10_000, help="Maximum number of runs.")] = 20,
    origin: OriginOption = "own",
    as_json: JsonOption = False,
) -> None:
    """List past researches, newest first; `harness show` prints one.

    \b
    Examples:
      harness cache runs --limit 5
      harness show 20261122-101500-1a2b3c
      harness research --resume 20261122-101500-1a2b3c
    """
    from harness.core.tables import RUNS

    with session.app() as app:
        rows = app.store.listings.timeline(RUNS, app.identity.tenant, limit=limit + 1, origins=origins_of(origin))
        found = [(entry, app.cache.runs.get(entry.key)) for entry in rows]
    listed = [
        {
            "id": entry.key,
            "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(entry.created_at)),
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
        print_json({"items": listed[:limit], "next_offset": limit if len(listed) > limit else None})
        return
    cells = [tuple(str(_with_cause(run)[name]) for name in COLUMNS) for run in listed[:limit]]
    print_table(tuple(COLUMNS.values()), cells, empty="no runs yet")


def _with_cause(run: dict[str, Any]) -> dict[str, Any]:
    """Return a run with the code of its error in its state: `failed: offline_miss`."""
    error = run["error"]
    return {**run, "state": f"{run['state']}: {one_line(str(error['code']))}"} if error else run


@with_session
def export(
    session: Session,
    file: Annotated[Path | None, typer.Argument(help="Snapshot to write.", show_default=False)] = None,
    run: Annotated[
        str | None,
        typer.Option(
            "--run", metavar="ID", help="Only the entries that answered this run.", autocompletion=completion.runs
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All entries (default).")] = False,
    pairs: Annotated[
        Path | None,
        typer.Option(
            "--pairs", metavar="FILE", help="Write the pairs of queries labelled by audits instead (-: stdout)."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write cache and knowledge to one portable file.

    A snapshot of a run answers the same question again anywhere, with `harness research … --replay FILE`.

    --pairs writes the results of audits (see the setting audit_rate) as JSON Lines: a, b, label (1: the same results,
    0: different ones), overlap, similarity, probability, audited_at. `harness cache calibrate --pairs` reads them.

    \b
    Examples:
      harness cache export all.snapshot
      harness cache export run.snapshot --run 20261122-101500-1a2b3c
      harness cache export --pairs mine.jsonl
    """
    from harness.research.run_names import run_named
    from harness.storage.snapshots import write_snapshot

    if pairs is not None:
        from harness.cli.labelled_pairs import export_pairs

        if file is not None or run is not None or everything:
            raise InvalidInput("--pairs writes no snapshot; leave out the snapshot, --run and --all")
        export_pairs(session, pairs, force=force, as_json=as_json)
        return
    if file is None:
        raise InvalidInput("name the snapshot to write, as all.snapshot, or pass --pairs FILE")
    if run is not None and everything:
        raise InvalidInput("choose one of --run and --all")
    if file.exists() and not force:
        raise InvalidInput(f"{file} exists; choose another name, or pass --force")
    with session.app() as app:
        cache = app.cache
        record = None if run is None else cache.runs.get(run_named(app.store, app.identity.tenant, run))
        lines = _lines_of_run(cache, record) if record is not None else _all_lines(cache)
        kept = None if record is None else convert(record, RecordedRun)
        app.progress("writing", 0, 0)
        header = write_snapshot(file, lines, run=kept)
    value = {"file": str(file), "entries": header.entries, "bytes": header.bytes, "sha256": header.sha256}
    line = f"wrote {amount(header.entries, 'entry')} to {file} (sha256 {header.sha256[:16]}…)"
    print_result(value, line, as_json=as_json)


def _all_lines(cache: "Cache") -> "Iterator[SnapshotLine]":
    from msgspec.structs import replace

    from harness.core.tables import MOVED
    from harness.storage.snapshots import line_of, line_of_audit

    yield from map(line_of_audit, cache.audits.all())
    for table in MOVED:
        origins = cache.maintenance.origins(table)
        for _, entry in cache.maintenance.entries((table,)):
            try:
                yield replace(line_of(table, entry, used=True), origin=origins.get(entry.key, ""))
            except InvalidInput as error:
                log.warning("left out: %s", error)


def _lines_of_run(cache: "Cache", record: dict[str, Any]) -> "Iterator[SnapshotLine]":
    """Yield the entries that answered a run, exactly as they were.

    Raises:
        InvalidInput: some have changed or been deleted since.
    """
    from hashlib import sha256

    import orjson

    from harness.core.tables import ANSWERS, EVIDENCE, UNANSWERED
    from harness.storage.snapshots import SnapshotLine, line_of

    wanted: dict[tuple[str, str], list[dict[str, str]]] = {}
    for use in record["uses"]:
        if use["table"] == UNANSWERED:
            failure = {"code": "no_results"}
        elif use["how"] == "failed":
            code, _, message = use["error"].partition(": ")
            failure = {"code": code, "message": message}
        else:
            wanted.setdefault((use["table"], use["served"]), []).append(use)
            continue
        yield SnapshotLine(UNANSWERED, use["asked"], "", orjson.dumps(failure).decode(), 0.0, 0.0, ["", ""])
    for table in (*ANSWERS, EVIDENCE):
        for _, entry in cache.maintenance.entries((table,)):
            digest = sha256(entry.payload).hexdigest()
            uses = wanted.get((table, entry.key), [])
            wanted[table, entry.key] = [use for use in uses if use["digest"] != digest]
            for asked in dict.fromkeys(use["asked"] for use in uses if use["digest"] == digest):
                yield line_of(table, entry, asked)
    if missing := sum(use["how"] != "derived" for uses in wanted.values() for use in uses):
        raise InvalidInput(
            f"{missing} of the answers of this run have changed or been deleted since; run it again, then export it"
        )


@with_session
def import_(
    session: Session,
    file: Annotated[Path, typer.Argument(help="Snapshot to read.", show_default=False)],
    as_json: JsonOption = False,
) -> None:
    """Add the entries of a snapshot to the cache.

    Existing newer entries stay. A damaged file adds nothing.

    Use it to move a cache to another database or to another tenant.

    \b
    Example:
      harness cache import all.snapshot
    """
    from harness.core.tables import MOVED
    from harness.storage.snapshots import audit_of, entry_of, read_snapshot
    from harness.storage.tables import AUDITS

    _, lines = read_snapshot(file)
    if foreign := {line.table for line in lines}.difference(MOVED, {AUDITS}):
        raise InvalidInput(
            f"{file} has entries that no export writes ({', '.join(sorted(foreign))}); nothing was added"
        )
    with session.app() as app:
        app.identity.require("admin")
        cache = app.cache
        added = 0
        for done, line in enumerate(lines):
            app.progress("importing", done, len(lines))
            if line.table == AUDITS:
                added += cache.audits.restore(audit_of(line))
            elif not line.asked and line.created_at > 0:
                added += cache.maintenance.restore(line.table, entry_of(line), line.origin)
    text = f"added {added:,} of {amount(len(lines), 'entry')}; the others exist already, or belong to a run"
    print_result({"file": str(file), "entries": len(lines), "added": added}, text, as_json=as_json)
