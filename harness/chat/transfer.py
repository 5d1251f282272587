"""Taking what is remembered elsewhere: JSON lines after a header, nothing lost, checked before they are used."""

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
from harness.chat.writing import Keeping
from harness.core.entries import Entry
from harness.core.tables import MEMORY
from harness.errors import InvalidInput
from harness.storage.files import replacing

FORMAT: Literal["harness-memory"] = "harness-memory"
VERSION = 1
MAX_LINE = 4 * 2**20
MAX_LINES = 5_000_000
_UNIT = 1e-3
"""How far from 1 the length of a vector may be."""


class Header(Struct, frozen=True, forbid_unknown_fields=True):
    """The first line: what the file is, how many lines follow, and the SHA-256 of all of them."""

    format: Literal["harness-memory"]
    version: int
    collection: str
    written: str
    count: int
    sha256: str


class Line(Struct, frozen=True, forbid_unknown_fields=True):
    """Every other line: what is remembered, and its vector (float32, little-endian, base64) by which embedder."""

    remembered: Exchange | DocumentChunk
    embedder: str | None = None
    embedding: str | None = None


class Imported(Struct, frozen=True):
    """What came of an import: how many were `added`, `known` already, and `kept` as they are here though the file has
    them otherwise.
    """

    added: int
    known: int
    kept: int


class Transfer(Keeping):
    """Writing all of it to a file, and reading such a file."""

    def export_to(self, path: Path) -> int:
        """Write everything to a file that its owner alone can read, in the place of one that is there, at once; return
        how many exchanges and chunks it holds.

        Raises:
            InvalidInput: it cannot be written there.
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
        """Add what such a file holds, after all of it was checked. What is there already stays as it is. Secrets are
        masked; what has no vector of the present embedder is embedded later, by use.

        Raises:
            InvalidInput: it cannot be read, or is damaged; then nothing was added.
            StoreError: the store cannot be written; what was added before stays, and another import goes on.
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
            self._words.forget()
        return Imported(outcomes.count("added"), outcomes.count("known"), outcomes.count("kept"))

    def _write_lines(self, file: IO[bytes]) -> Header:
        count, digest = 0, hashlib.sha256()
        for row in self._store.listings.scan(MEMORY, self._tenant):
            if row.own.collection == self._name:
                line = msgspec.json.encode(_line(row)) + b"\n"
                digest.update(line)
                file.write(line)
                count += 1
        return Header(FORMAT, VERSION, self._name, iso(self._clock()), count, digest.hexdigest())

    def _import(self, line: Line) -> str:
        remembered, vector = self._masked_whole(line.remembered), _vector(line)
        if remembered != line.remembered:
            vector = None  # it is one of the text with the secret
        row = self._store.rows.get(MEMORY, self._tenant, remembered.id)
        if row is not None:
            same = row.own.collection == self._name and remembered_in(row) == remembered
            return "known" if same else "kept"
        entry = replace(self._entry(remembered, None), embedding=vector, embedder=line.embedder if vector else None)
        return "added" if self._store.rows.swap(MEMORY, self._tenant, entry, expecting=None) else "kept"

    def _masked_whole(self, remembered: Remembered) -> Remembered:
        if isinstance(remembered, DocumentChunk):
            return replace(remembered, text=self._masked(remembered.text)[0])
        user, assistant = (self._masked(each)[0] for each in (remembered.user_message, remembered.assistant_message))
        return replace(remembered, user_message=user, assistant_message=assistant)


def _line(row: Entry) -> Line:
    embedding = None if row.embedding is None else base64.b64encode(row.embedding).decode()
    return Line(remembered_in(row), row.embedder, embedding)


def _checked_lines(file: IO[bytes], path: Path) -> Iterator[Line]:
    """Yield every line, checked; the digest of all at the end.

    Raises:
        InvalidInput: one is damaged, or some are missing.
    """
    header = _header(file.readline(MAX_LINE + 1), path)
    digest, number = hashlib.sha256(), 0
    while data := file.readline(MAX_LINE + 1):
        number += 1
        digest.update(data)
        try:
            line = msgspec.json.decode(data, type=Line)
            seconds_of(line.remembered.timestamp)
            _vector(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, InvalidInput) as error:
            raise InvalidInput(f"{path}, line {number + 1} is damaged ({error}); export it again") from error
        yield line
    if number != header.count or digest.hexdigest() != header.sha256:
        raise InvalidInput(f"{path} is not whole: {number:,} of {header.count:,} lines, or changed; export it again")


def _header(data: bytes, path: Path) -> Header:
    try:
        header = msgspec.json.decode(data, type=Header)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise InvalidInput(f"{path} is no export of a memory; `harness memory export` makes one") from None
    if header.version != VERSION:
        raise InvalidInput(f"{path} is of version {header.version}, and this program reads {VERSION}; update it")
    return header


def _vector(line: Line) -> bytes | None:
    """Return the vector of a line, checked to be one.

    Raises:
        InvalidInput: it is none.
    """
    if line.embedding is None or line.embedder is None:
        return None
    import numpy as np

    try:
        data = base64.b64decode(line.embedding, validate=True)
        vector = np.frombuffer(data, "<f4")
    except (binascii.Error, ValueError) as error:
        raise InvalidInput("its vector is no list of float32 numbers in base64") from error
    if not len(vector) or not abs(float(vector @ vector) - 1) < _UNIT:
        raise InvalidInput("its vector has not the length 1")
    return data
