"""Export and import of memories: a header and JSON lines, lossless, checked before use."""

import base64
import binascii
import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from harness.chat.exchanges import (
    DocumentChunk,
    Exchange,
    Remembered,
    iso,
    remembered_in,
    seconds_of,
)
from harness.chat.memory_rows import MemoryRows
from harness.core.tables import MEMORY
from harness.errors import InvalidInput
from harness.storage.files import replacing

FORMAT: Literal["harness-memory"] = "harness-memory"
VERSION = 1
MAX_LINE = 4 * 2**20
MAX_LINES = 5_000_000
_UNIT = 1e-3
"""Tolerance for the length of a unit vector."""


class ExportHeader(Struct, frozen=True, forbid_unknown_fields=True):
    """First line: format, version, the number of lines that follow, and their SHA-256."""

    format: Literal["harness-memory"]
    version: int
    collection: str
    written: str
    count: int
    sha256: str


class ExportLine(Struct, frozen=True, forbid_unknown_fields=True):
    """Every other line: a memory, its vector (float32, little-endian, base64) and the embedder's id."""

    remembered: Exchange | DocumentChunk
    embedder: str | None = None
    embedding: str | None = None


class Imported(Struct, frozen=True):
    """Counts of an import: `added`, already `known`, and `kept` as they are here although the file has another
    version.
    """

    added: int
    known: int
    kept: int


class MemoryTransfer:
    """Export of all memories to a file, and import of such a file."""

    def __init__(self, rows: MemoryRows) -> None:
        self._rows = rows

    def export_to(self, path: Path) -> int:
        """Write all memories to a file that only its owner can read, replacing an existing file atomically; return the
        number of exchanges and chunks.

        Raises:
            InvalidInput: the file cannot be written.
            StoreError: the store cannot be read.
        """
        path = path.expanduser()
        try:
            with tempfile.TemporaryFile(dir=path.parent) as lines:
                header = self._write_lines(lines)
                lines.seek(0)
                with replacing(path, private=True) as out:
                    out.write(msgspec.json.encode(header) + b"\n")
                    out.writelines(lines)
        except OSError as error:
            raise InvalidInput(f"cannot write {path}: {error.strerror}") from error
        return header.count

    def import_from(self, path: Path) -> Imported:
        """Add the memories in an exported file, after checking all of it. Memories that exist stay as they are. Secrets
        are masked; memories without a vector of the present embedder are embedded later.

        Raises:
            InvalidInput: the file is unreadable or damaged; nothing was added.
            StoreError: the store cannot be written; added memories stay, and another import continues.
        """
        path = path.expanduser()
        try:
            with path.open("rb") as file:
                for _ in _checked_lines(file, path):
                    pass
                file.seek(0)
                outcomes = [self._import(line) for line in _checked_lines(file, path)]
        except OSError as error:
            raise InvalidInput(f"cannot read {path}: {error.strerror}") from error
        finally:
            self._rows.words.forget()
        return Imported(outcomes.count("added"), outcomes.count("known"), outcomes.count("kept"))

    def _write_lines(self, file: IO[bytes]) -> ExportHeader:
        count, digest = 0, hashlib.sha256()
        for row in self._rows.store.listings.scan(MEMORY, self._rows.tenant):
            if row.own.collection == self._rows.collection:
                embedding = None if row.embedding is None else base64.b64encode(row.embedding).decode()
                line = msgspec.json.encode(ExportLine(remembered_in(row), row.embedder, embedding)) + b"\n"
                digest.update(line)
                file.write(line)
                count += 1
        return ExportHeader(FORMAT, VERSION, self._rows.collection, iso(self._rows.clock()), count, digest.hexdigest())

    def _import(self, line: ExportLine) -> str:
        remembered, vector = self._masked_whole(line.remembered), _vector(line)
        if remembered != line.remembered:
            vector = None  # the vector is of the text with the secret
        row = self._rows.store.rows.get(MEMORY, self._rows.tenant, remembered.id)
        if row is not None:
            same = row.own.collection == self._rows.collection and remembered_in(row) == remembered
            return "known" if same else "kept"
        embedder = line.embedder if vector else None
        entry = replace(self._rows.entry(remembered, None), embedding=vector, embedder=embedder)
        return "added" if self._rows.store.rows.swap(MEMORY, self._rows.tenant, entry, expecting=None) else "kept"

    def _masked_whole(self, remembered: Remembered) -> Remembered:
        if isinstance(remembered, DocumentChunk):
            return replace(remembered, text=self._rows.masked(remembered.text)[0])
        user, _ = self._rows.masked(remembered.user_message)
        assistant, _ = self._rows.masked(remembered.assistant_message)
        return replace(remembered, user_message=user, assistant_message=assistant)


def _checked_lines(file: IO[bytes], path: Path) -> Iterator[ExportLine]:
    """Yield every line, checked; check the digest of all at the end.

    Raises:
        InvalidInput: a line is damaged or missing.
    """
    header = _header(file.readline(MAX_LINE + 1), path)
    digest, number = hashlib.sha256(), 0
    while data := file.readline(MAX_LINE + 1):
        number += 1
        digest.update(data)
        try:
            line = msgspec.json.decode(data, type=ExportLine)
            seconds_of(line.remembered.timestamp)
            _vector(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, InvalidInput) as error:
            raise InvalidInput(f"{path}, line {number + 1} is damaged ({error}); export it again") from error
        yield line
    if number != header.count or digest.hexdigest() != header.sha256:
        raise InvalidInput(f"{path} is incomplete or changed ({number:,} of {header.count:,} lines); export it again")


def _header(data: bytes, path: Path) -> ExportHeader:
    try:
        header = msgspec.json.decode(data, type=ExportHeader)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise InvalidInput(f"{path} is not an export of a memory; `harness memory export` makes one") from None
    if header.version != VERSION:
        raise InvalidInput(f"{path} has version {header.version}, but this program reads {VERSION}; update the program")
    return header


def _vector(line: ExportLine) -> bytes | None:
    """Return the vector of a line.

    Raises:
        InvalidInput: it is not a unit vector of float32 numbers.
    """
    if line.embedding is None or line.embedder is None:
        return None
    import numpy as np

    try:
        data = base64.b64decode(line.embedding, validate=True)
        vector = np.frombuffer(data, "<f4")
    except (binascii.Error, ValueError) as error:
        raise InvalidInput("its vector is not a list of float32 numbers in base64") from error
    if not len(vector) or not abs(float(vector @ vector) - 1) < _UNIT:
        raise InvalidInput("its vector does not have the length 1")
    return data
