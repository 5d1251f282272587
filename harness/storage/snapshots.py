"""Snapshots: one portable file of cache entries, and the read-only store that answers from it.

The file is gzip-compressed JSON Lines. The first line is the header; it names the format and has the number of the
lines that follow, their bytes, and the SHA-256 of these. The same entries make the same file, to the byte. Nothing of a
file is used before all of it has been checked.
"""

import base64
import gzip
import hashlib
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from math import isfinite
from pathlib import Path
from typing import IO, Annotated, Any

import msgspec
from msgspec import Meta, Struct, field
from msgspec.structs import replace

from harness.core.audits import Audit, flaw
from harness.core.entries import Entry, Neighbour, Outline, TableStats
from harness.core.freshness import NEVER
from harness.core.origins import EVERY
from harness.errors import InvalidInput, StoreError
from harness.ports import NOTHING, Vectors
from harness.settings import GatheringSettings, Joined, WritingSettings
from harness.storage.files import replacing
from harness.storage.tables import AUDITS, TABLES, TOKENS

FORMAT = "harness-snapshot"
VERSION = 1
MAX_HEADER_BYTES = 2**20
MAX_BODY_BYTES = 4 * 2**30
MAX_LINE_BYTES = 64 * 2**20


class AskedEngine(Struct, frozen=True):
    """An engine that a run asked, with the options that its keys hold."""

    name: str
    options: dict[str, Any]


class AskedModel(Struct, frozen=True):
    """A language model that a run asked, with the parameters that its keys hold."""

    name: str
    endpoint: str
    parameters: dict[str, Any]


class Run(WritingSettings, GatheringSettings, metaclass=Joined, frozen=True, kw_only=True):
    """Inputs of a recorded run, so that it can be made again."""

    question: str
    sections: Annotated[int, Meta(ge=1)] | None
    engines: Annotated[list[AskedEngine], Meta(min_length=1)]
    embedder: str
    reader: str
    research_cache: bool | None
    model: AskedModel | None
    epoch: str
    code: dict[str, Annotated[str, Meta(max_length=100)]] = field(default_factory=dict)
    """Names the code that made the results it reused; older runs do not have it."""


class Header(Struct, frozen=True, kw_only=True):
    """What stands first in a snapshot. `run` is the run that it holds, if it holds one run. `sha256` is that of the
    header without it and of all that follows.
    """

    format: str = FORMAT
    version: int = VERSION
    entries: int = 0
    bytes: int = 0
    sha256: str = ""
    run: Run | None = None


class _Format(Struct, frozen=True):
    """What every version's header has."""

    format: str
    version: int


class Line(Struct, frozen=True, omit_defaults=True):
    """One entry in the file, or what an audit found. `asked` is the key that it answers, where that is another one than
    its own.

    `payload` is text, `embedding` base64 of float32, little-endian. `used_at` is when it was last used, where that is
    told and is not when it was stored.
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


def line_of(table: str, entry: Entry, asked: str = "", *, used: bool = False) -> Line:
    """Return the line for an entry that answers `asked` (its own key when empty); with `used`, it tells its last use.

    Raises:
        InvalidInput: what it holds is no text.
    """
    try:
        payload = entry.payload.decode()
    except UnicodeDecodeError:
        raise InvalidInput(f"what is cached for {entry.text[:60]!r} in {table} is unreadable") from None
    return Line(
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


def line_of_audit(audit: Audit) -> Line:
    """Return the line for what an audit found, by the keys of its two queries."""
    key = " ".join(audit.keys)
    return Line(AUDITS, key, audit.queries[0], msgspec.json.encode(audit).decode(), audit.created_at, NEVER, [])


def audit_of(line: Line) -> Audit:
    """Return the audit that a line holds.

    Raises:
        ValueError: it holds none that can be used.
    """
    audit = msgspec.json.decode(line.payload, type=Audit)
    if line.own:
        raise ValueError("it has columns of its own")
    if wrong := flaw(audit, line.key.split(" ")):
        raise ValueError(wrong)
    return audit


def entry_of(line: Line) -> Entry:
    """Return the entry that a line holds."""
    embedding = base64.b64decode(line.embedding, validate=True) if line.embedding else None
    return Entry(
        line.key,
        line.text,
        line.payload.encode(),
        line.created_at,
        line.expires_at,
        line.created_at if line.used_at is None else line.used_at,
        tuple(line.own),
        embedding,
        line.embedder or None,
    )


def write_snapshot(path: Path, lines: Iterable[Line], *, run: Run | None = None) -> Header:
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
            header = Header(entries=count, bytes=size, run=run)
            body.seek(0)
            digest = hashlib.sha256(msgspec.json.encode(header))
            for block in iter(partial(body.read, 2**20), b""):
                digest.update(block)
            header = replace(header, sha256=digest.hexdigest())
            body.seek(0)
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
                file.write(msgspec.json.encode(header) + b"\n")
                while block := body.read(2**20):
                    file.write(block)
    except OSError as error:
        raise StoreError(
            f"cannot write the snapshot {path} ({error.strerror or error}); choose another place"
        ) from error
    return header


def read_snapshot(path: Path) -> tuple[Header, list[Line]]:
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
    except (OSError, EOFError, zlib.error) as error:
        if isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile):
            raise InvalidInput(f"cannot read the snapshot {path}: {error.strerror or error}") from error
        raise InvalidInput(f"{path} is no snapshot of this program, or was damaged: {error}") from None


def _lines(body: IO[bytes], header: Header, path: Path) -> list[Line]:
    try:
        lines = [_line(each) for each in iter(partial(body.readline, MAX_LINE_BYTES), b"")]
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InvalidInput(f"the snapshot {path} holds an entry that cannot be used: {error}") from None
    if len(lines) != header.entries:
        raise InvalidInput(f"the snapshot {path} holds {len(lines)} entries instead of {header.entries}")
    return lines


def _digest(first: bytes, header: Header) -> "hashlib._Hash":
    """Return the digest of the header's line without its checksum, to be updated with the entries."""
    return hashlib.sha256(first.removesuffix(b"\n").replace(header.sha256.encode(), b"", 1))


def _header(line: bytes, path: Path) -> Header:
    try:
        told = msgspec.json.decode(line, type=_Format)
        if told.format == FORMAT and told.version != VERSION:
            raise InvalidInput(f"{path} is a snapshot of version {told.version}; upgrade harness to read it")
        header = msgspec.json.decode(line, type=Header)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise InvalidInput(f"{path} is no snapshot of this program") from None
    if header.format != FORMAT or not 0 <= header.bytes <= MAX_BODY_BYTES:
        raise InvalidInput(f"{path} is no snapshot of this program")
    return header


def _line(encoded: bytes) -> Line:
    line = msgspec.json.decode(encoded, type=Line)
    if line.table == AUDITS:
        audit_of(line)
        return line
    if line.table not in TABLES or line.table == TOKENS.name or len(line.own) != len(TABLES[line.table].own_names):
        raise ValueError(f"no such table: {line.table[:50]!r}")
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
    return line


class SnapshotStore:
    """The `Store` of a replay: what the snapshot holds, for whoever asks; nothing expires, and nothing is written."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._entries: dict[tuple[str, str], Entry] = {}
        self._audits: list[Audit] = []
        for line in lines:
            if line.table == AUDITS:
                self._audits.append(audit_of(line))
                continue
            entry = entry_of(line)
            lasting = msgspec.structs.replace(entry, expires_at=float("inf"), last_used_at=float("inf"))
            self._entries[line.table, line.asked or line.key] = lasting

    def get(self, table: str, tenant: str, key: str) -> Entry | None:
        """See `Store.get`."""
        return self._entries.get((table, key))

    def whole(self, table: str, tenant: str, key: str) -> Entry | None:
        """See `Store.whole`."""
        return self._entries.get((table, key))

    def nearest(
        self,
        table: str,
        tenant: str,
        scope: tuple[str, ...],
        vector: Vectors,
        *,
        embedder: str,
        k: int,
        now: float,
        at_least: float = 0.0,
    ) -> list[Neighbour]:
        """See `Store.nearest`; all rows are compared."""
        import numpy as np

        declared = TABLES[table]
        places = [declared.own_names.index(column) for column in declared.scope]
        near = []
        for entry in self.scan(table, tenant):
            held = entry.embedding
            if not held or entry.embedder != embedder or len(held) != 4 * len(vector):  # nothing expires
                continue
            if tuple(entry.own[place] for place in places) == scope:
                near.append(Neighbour(entry, min(1.0, max(0.0, float(np.frombuffer(held, np.float32) @ vector)))))
        near = [each for each in near if each.similarity >= at_least]
        return sorted(near, key=lambda each: (-each.similarity, each.entry.key))[:k]

    def scan(self, table: str, tenant: str) -> Iterator[Entry]:
        """See `Store.scan`."""
        yield from {entry.key: entry for (of, _), entry in self._entries.items() if of == table}.values()

    def rows(self, table: str, tenant: str, where: Mapping[str, Any]) -> list[Entry]:
        """See `Store.rows`."""
        declared = TABLES[table]
        declared.where(where)
        wanted = [(declared.own_names.index(name), value) for name, value in where.items()]
        return [entry for entry in self.scan(table, tenant) if all(entry.own[at] == value for at, value in wanted)]

    def recent(self, table: str, tenant: str, limit: int, *, where: Mapping[str, Any] = NOTHING) -> list[Entry]:
        """See `Store.recent`."""
        entries = self.rows(table, tenant, where) if where else list(self.scan(table, tenant))
        return entries[::-1][: max(0, limit)]

    def outlines(
        self, table: str, tenant: str, where: Mapping[str, Any], *, after: int = 0, limit: int
    ) -> list[Outline]:
        """See `Store.outlines`; rows are numbered as they stand in the snapshot."""
        numbered = enumerate(self.rows(table, tenant, where), start=1)
        return [_outline(at, each) for at, each in numbered if at > after][::-1][: max(0, limit)]

    def timeline(
        self,
        table: str,
        tenant: str,
        *,
        since: float = 0.0,
        limit: int,
        offset: int = 0,
        origins: Sequence[str] = EVERY,
    ) -> list[Outline]:
        """See `Store.timeline`; rows are numbered as they stand in the snapshot, and all are the user's."""
        if "user" not in origins:
            return []
        outlines = [_outline(at, each) for at, each in enumerate(self.scan(table, tenant), start=1)]
        newest = sorted(outlines, key=lambda each: (-each.created_at, -each.number))
        start = max(0, offset)
        return [each for each in newest if each.created_at >= since][start : start + max(0, limit)]

    def scopes(self, table: str, tenant: str, embedder: str) -> list[tuple[str, ...]]:
        """See `Store.scopes`."""
        places = [TABLES[table].own_names.index(column) for column in TABLES[table].scope]
        held = (entry for entry in self.scan(table, tenant) if entry.embedder == embedder)
        return sorted({tuple(entry.own[place] for place in places) for entry in held})

    def tenants(self) -> list[str]:
        """See `Store.tenants`: it is whoever's replays it."""
        return []

    def unembedded(self, table: str, tenant: str, embedder: str, limit: int) -> list[tuple[str, str]]:
        """See `Store.unembedded`: nothing can be embedded later."""
        return []

    def meanings(self, tenant: str, shorts: Sequence[str]) -> list[tuple[str, str]]:
        """See `Store.meanings`: a snapshot teaches nothing."""
        return []

    @contextmanager
    def turn(self, name: str, wait: float) -> Iterator[bool]:
        """See `Store.turn`: there is nothing to compute."""
        yield True

    def stats(self, table: str, tenant: str, now: float, embedder: str = "") -> TableStats:
        """See `Store.stats`."""
        created = [entry.created_at for entry in self.scan(table, "")]
        count = len(created)
        return TableStats(table, count, 0, count, min(created, default=None), max(created, default=None))

    def counted(self, tenant: str, origins: Sequence[str] = EVERY) -> dict[str, dict[str, int]]:
        """See `Store.counted`: nothing is counted."""
        return {}

    def origins(self, table: str, tenant: str, keys: Sequence[str]) -> dict[str, str]:
        """See `Store.origins`: all rows are the user's."""
        return {}

    def audits(self, tenant: str) -> list[Audit]:
        """See `Store.audits`. A snapshot of a run carries none: its keys are answered with what answered them then."""
        return sorted(self._audits, key=lambda audit: (audit.created_at, audit.keys))

    def audited(self, tenant: str) -> tuple[int, int]:
        """See `Store.audited`."""
        agreeing = sum(audit.agreed for audit in self._audits)
        return agreeing, len(self._audits) - agreeing

    def disagreeing(self, tenant: str, key: str) -> frozenset[str]:
        """See `Store.disagreeing`."""
        pairs = [audit.keys for audit in self._audits if not audit.agreed]
        return frozenset(one if key == other else other for one, other in pairs if key in {one, other})

    def expiring(self, table: str, tenant: str, moments: Sequence[float]) -> list[int]:
        """See `Store.expiring`: nothing expires."""
        return [0] * len(moments)

    def verify(self, *, repair: bool) -> list[str]:
        """See `Store.verify`: it was checked when it was read."""
        return []

    def unchecked(self) -> int:
        """See `Store.unchecked`: the whole file has one checksum."""
        return 0

    def reindex(self) -> int:
        """See `Store.reindex`: there is no index."""
        return 0

    def size(self) -> int:
        """See `Store.size`."""
        return sum(len(entry.payload) for entry in self._entries.values())

    def close(self) -> None:
        """See `Store.close`."""

    # What would write ----------------------------------------------------------------------------------------------

    def put(self, table: str, tenant: str, entry: Entry, *, sweep_before: float | None = None) -> None:
        """Refuse: see `_refuse`."""
        _refuse()

    def embed(self, table: str, tenant: str, key: str, embedding: bytes, embedder: str) -> None:
        """Refuse: see `_refuse`."""
        _refuse()

    def touch(self, table: str, tenant: str, key: str, now: float) -> None:
        """Refuse: see `_refuse`."""
        _refuse()

    def sweep(self, table: str, tenant: str, before: float) -> int:
        """Refuse: see `_refuse`."""
        _refuse()
        return 0

    def swap(self, table: str, tenant: str, entry: Entry, *, expecting: Mapping[str, Any] | None) -> bool:
        """Refuse: see `_refuse`."""
        _refuse()
        return False

    def forget(self, tenant: str, user: str | None = None) -> int:
        """Refuse: see `_refuse`."""
        _refuse()
        return 0

    def replace(self, table: str, tenant: str, entries: Sequence[Entry], *, instead_of: Mapping[str, Any]) -> int:
        """Refuse: see `_refuse`."""
        _refuse()
        return 0

    def delete(self, table: str, tenant: str, keys: Sequence[str], *, expired_at: float | None = None) -> int:
        """Refuse: see `_refuse`."""
        _refuse()
        return 0

    def evict(self, table: str, tenant: str, scope: tuple[str, ...], keep: int) -> int:
        """Refuse: see `_refuse`."""
        _refuse()
        return 0

    def clear(self, table: str, tenant: str) -> int:
        """Refuse: see `_refuse`."""
        _refuse()
        return 0

    def count(self, tenant: str, day: str, times: Mapping[str, int], *, origin: str = "user") -> None:
        """Refuse: see `_refuse`."""
        _refuse()

    def mark(self, table: str, tenant: str, key: str, origin: str) -> None:
        """Refuse: see `_refuse`."""
        _refuse()

    def put_audit(self, tenant: str, audit: Audit) -> bool:
        """Refuse: see `_refuse`."""
        _refuse()
        return False

    def clear_audits(self, tenant: str) -> int:
        """Refuse: see `_refuse`."""
        _refuse()
        return 0


def _outline(number: int, entry: Entry) -> Outline:
    return Outline(number, entry.key, entry.text, entry.created_at, entry.expires_at, entry.own)


def _refuse() -> None:
    """Raise.

    Raises:
        StoreError: always; a snapshot is read-only.
    """
    raise StoreError("a snapshot is read-only; leave out --replay to work on the cache itself")
