"""Snapshots: one portable file of cache entries.

The file is gzip-compressed JSON Lines. The first line is the header; it names the format and has the number of the
lines that follow, their bytes, and the SHA-256 of these. The same entries make the same file, to the byte. No part of a
file is used before all of it is checked.
"""

import base64
import gzip
import hashlib
import shutil
import tempfile
import zlib
from collections.abc import Iterable
from functools import partial
from math import isfinite
from pathlib import Path
from typing import IO, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from harness.core.audits import Audit, flaw
from harness.core.entries import Entry
from harness.core.freshness import NEVER
from harness.core.origins import EVERY
from harness.errors import InvalidInput, StoreError
from harness.settings import RecordedRun
from harness.storage.files import replacing
from harness.storage.tables import AUDITS, TABLES, TOKENS

FORMAT = "harness-snapshot"
VERSION = 1
MAX_HEADER_BYTES = 2**20
MAX_BODY_BYTES = 4 * 2**30
MAX_LINE_BYTES = 64 * 2**20


class SnapshotHeader(Struct, frozen=True, kw_only=True):
    """First line of a snapshot. `run` is the run that it holds, if it holds one run. `sha256` is that of the
    header without it and of all that follows.
    """

    format: str = FORMAT
    version: int = VERSION
    entries: int = 0
    bytes: int = 0
    sha256: str = ""
    run: RecordedRun | None = None


class _Format(Struct, frozen=True):
    """Fields of the header of every version."""

    format: str
    version: int


class SnapshotLine(Struct, frozen=True, omit_defaults=True):
    """One entry in the file, or one audit. `asked` is the key that it answers, where that is another one than
    its own.

    `payload` is text, `embedding` base64 of float32, little-endian. `used_at` is when it was last used, where that is
    told and is not when it was stored. `origin` is for whom it was made, if not for the user.
    """

    table: str
    key: str
    text: str
    payload: str
    created_at: float
    expires_at: float
    own: list[Any]
    asked: str = ""
    embedding: str = ""
    embedder: str = ""
    used_at: float | None = None
    origin: str = ""


def line_of(table: str, entry: Entry, asked: str = "", *, used: bool = False) -> SnapshotLine:
    """Return the line for an entry that answers `asked` (its own key when empty); with `used`, it holds the last use.

    Raises:
        InvalidInput: what it holds is no text.
    """
    try:
        payload = entry.payload.decode()
    except UnicodeDecodeError:
        raise InvalidInput(f"the cached entry for {entry.text[:60]!r} in {table} is unreadable") from None
    return SnapshotLine(
        table,
        entry.key,
        entry.text,
        payload,
        entry.created_at,
        min(entry.expires_at, NEVER),  # infinity is no JSON
        list(entry.own),
        asked if asked != entry.key else "",
        base64.b64encode(entry.embedding).decode() if entry.embedding else "",
        entry.embedder or "",
        entry.last_used_at if used and entry.last_used_at != entry.created_at else None,
    )


def line_of_audit(audit: Audit) -> SnapshotLine:
    """Return the line for what an audit found, by the keys of its two queries."""
    key = " ".join(audit.keys)
    return SnapshotLine(AUDITS, key, audit.queries[0], msgspec.json.encode(audit).decode(), audit.created_at, NEVER, [])


def audit_of(line: SnapshotLine) -> Audit:
    """Return the audit that a line holds.

    Raises:
        ValueError: it holds none that can be used.
    """
    audit = msgspec.json.decode(line.payload, type=Audit)
    if line.own:
        raise ValueError("it has own columns")
    if wrong := flaw(audit, line.key.split(" ")):
        raise ValueError(wrong)
    return audit


def entry_of(line: SnapshotLine) -> Entry:
    """Return the entry that a line holds."""
    embedding = base64.b64decode(line.embedding, validate=True) if line.embedding else None
    return Entry(
        line.key,
        line.text,
        line.payload.encode(),
        line.created_at,
        line.expires_at,
        line.created_at if line.used_at is None else line.used_at,
        TABLES[line.table].make_own(line.own),
        embedding,
        line.embedder or None,
    )


def write_snapshot(path: Path, lines: Iterable[SnapshotLine], *, run: RecordedRun | None = None) -> SnapshotHeader:
    """Write a snapshot to `path`, whole or not at all; return its header.

    Raises:
        StoreError: the file cannot be written.
    """
    count, size = 0, 0
    try:
        with tempfile.TemporaryFile() as body:
            for line in lines:
                encoded = msgspec.json.encode(line) + b"\n"
                body.write(encoded)
                count, size = count + 1, size + len(encoded)
            header = SnapshotHeader(entries=count, bytes=size, run=run)
            body.seek(0)
            digest = hashlib.sha256(msgspec.json.encode(header))
            for block in iter(partial(body.read, 2**20), b""):
                digest.update(block)
            header = replace(header, sha256=digest.hexdigest())
            body.seek(0)
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
                file.write(msgspec.json.encode(header) + b"\n")
                shutil.copyfileobj(body, file, 2**20)
    except OSError as error:
        raise StoreError(
            f"cannot write the snapshot {path} ({error.strerror or error}); choose another place"
        ) from error
    return header


def read_snapshot(path: Path) -> tuple[SnapshotHeader, list[SnapshotLine]]:
    """Read and check a snapshot.

    Raises:
        InvalidInput: it cannot be read, is no snapshot, of a newer version, or was changed since it was written.
    """
    try:
        with path.open("rb") as raw, gzip.GzipFile(fileobj=raw) as file, tempfile.TemporaryFile() as body:
            first = file.readline(MAX_HEADER_BYTES)
            header = _header(first, path)
            digest, left = _digest(first, header), header.bytes + 1
            while block := file.read(min(2**20, left)):  # to a file: what is packed small may be large
                digest.update(block)
                body.write(block)
                left -= len(block)
            if left != 1 or digest.hexdigest() != header.sha256:
                raise InvalidInput(f"the snapshot {path} was changed since it was written: its checksum does not match")
            body.seek(0)
            return header, _lines(body, header, path)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InvalidInput(f"{path} is no snapshot of this program, or was damaged: {error}") from None
    except OSError as error:
        raise InvalidInput(f"cannot read the snapshot {path}: {error.strerror or error}") from error


def _lines(body: IO[bytes], header: SnapshotHeader, path: Path) -> list[SnapshotLine]:
    try:
        lines = [_line(each) for each in iter(partial(body.readline, MAX_LINE_BYTES), b"")]
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InvalidInput(f"the snapshot {path} holds an entry that cannot be used: {error}") from None
    if len(lines) != header.entries:
        raise InvalidInput(f"the snapshot {path} holds {len(lines)} entries instead of {header.entries}")
    return lines


def _digest(first: bytes, header: SnapshotHeader) -> "hashlib._Hash":
    """Return the digest of the header's line without its checksum, to be updated with the entries."""
    return hashlib.sha256(first.removesuffix(b"\n").replace(header.sha256.encode(), b"", 1))


def _header(line: bytes, path: Path) -> SnapshotHeader:
    try:
        told = msgspec.json.decode(line, type=_Format)
        if told.format == FORMAT and told.version != VERSION:
            raise InvalidInput(f"{path} is a snapshot of version {told.version}; upgrade harness to read it")
        header = msgspec.json.decode(line, type=SnapshotHeader)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise InvalidInput(f"{path} is no snapshot of this program") from None
    if header.format != FORMAT or not 0 <= header.bytes <= MAX_BODY_BYTES:
        raise InvalidInput(f"{path} is no snapshot of this program")
    return header


def _line(encoded: bytes) -> SnapshotLine:
    line = msgspec.json.decode(encoded, type=SnapshotLine)
    if line.table == AUDITS:
        audit_of(line)
        return line
    if line.table not in TABLES or line.table == TOKENS.name:
        raise ValueError(f"no such table: {line.table[:50]!r}")
    missing = len(TABLES[line.table].own_names) - len(line.own)
    if not 0 <= missing <= len(TABLES[line.table].added):
        raise ValueError(f"{line.table} has {len(TABLES[line.table].own_names)} own columns, not {len(line.own)}")
    line = replace(line, own=[*line.own, *(None,) * missing])  # of an older program
    for column, value in zip(TABLES[line.table].own, line.own, strict=True):
        if type(value) is not (int if "INTEGER" in column else str) and (value is not None or "NOT NULL" in column):
            raise ValueError(f"{column.split()[0]} cannot be {value!r:.50}")
        if type(value) is int and not -(2**63) <= value < 2**63:
            raise ValueError(f"{column.split()[0]} is too large a number")
    if not all(map(isfinite, (line.created_at, line.expires_at, line.used_at or 0.0))):
        raise ValueError("its times are no numbers")
    entry = entry_of(line)
    if bool(entry.embedding) != bool(entry.embedder) or len(entry.embedding or b"") % 4:
        raise ValueError("its embedding is no vector")
    if line.origin and line.origin not in EVERY:
        raise ValueError(f"no such origin: {line.origin!r:.50}")
    return line
