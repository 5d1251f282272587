"""Checksums of rows: a row whose stored bits have changed is a miss, never an answer.

`checksum` covers the key and every column that decides on an answer, `embedding_checksum` the embedding and its
embedder. CRC-32 detects every change of up to three bits in a row of up to 11 kB, of one bit in any row, and misses
other damage once in four billion. Not covered is what is updated in place: `last_used_at`, and own columns that may be
NULL (who created a row). Rows without a checksum (older ones, those of other programs) are not checked. A program that
changes a row must set its checksum to NULL, or the row counts as damaged.
"""

import logging
from typing import Any
from zlib import crc32

from msgspec.msgpack import Encoder
from msgspec.structs import replace

from harness.core.entries import Entry
from harness.core.text import clean, one_line
from harness.storage.tables import Table

log = logging.getLogger(__name__)

MAX_REPORTED = 10_000
NO_MATCH = -1
"""The checksum of a row that cannot have been written as it is; no CRC is negative."""
_encode = Encoder().encode
_reported: set[tuple[Any, ...]] = set()


def row_checksum(
    table: Table,
    tenant: str,
    key: str,
    text: bytes,
    payload: bytes,
    created_at: float,
    expires_at: float,
    own: tuple[Any, ...],
) -> int:
    """Return the checksum of a row; `own` are all its own columns, text as bytes. A hit waits for it: 1 µs."""
    try:
        return crc32(payload, crc32(_encode((tenant, key, text, created_at, expires_at, own[: table.covered]))))
    except (TypeError, OverflowError):  # damage, or what the database will refuse
        return NO_MATCH


def embedding_checksum(embedding: bytes | None, embedder: str | None) -> int | None:
    """Return the checksum of an embedding, `None` where there is none."""
    return None if embedding is None else crc32((embedder or "").encode(), crc32(embedding))


def checksums(table: Table, tenant: str, entry: Entry) -> tuple[int, int | None]:
    """Return both checksums of the row that holds `entry` whole."""
    return _of(table, tenant, entry), embedding_checksum(entry.embedding, entry.embedder)


def checked(table: Table, tenant: str, entry: Entry, of_row: int | None, of_embedding: int | None) -> Entry | None:
    """Return the entry that a whole row with these checksums holds: without its embedding if only that is damaged,
    `None` if more is. Damage is logged once.
    """
    if not (_is_well_formed(table, entry) if of_row is None else of_row == _of(table, tenant, entry)):
        report(table, entry.key, of_row)
        return None
    if of_embedding is not None and of_embedding != embedding_checksum(entry.embedding, entry.embedder):
        report(table, entry.key, of_embedding, "its embedding")
        return replace(entry, embedding=None, embedder=None)
    return entry


def _is_well_formed(table: Table, entry: Entry) -> bool:
    """Say whether a row without a checksum holds values of the declared types: in a damaged file it may be a row of
    another table.
    """
    times = (entry.created_at, entry.expires_at, entry.last_used_at)
    own = zip(table.own[: table.covered], entry.own, strict=False)
    return (
        all(type(value) is str for value in (entry.key, entry.text))
        and type(entry.payload) is bytes
        and all(type(moment) is float for moment in times)
        and all(type(value) is (int if "INTEGER" in column else str) for column, value in own)
    )


def report(table: Table, key: str, stored: int | None, what: str = "it") -> None:
    """Log once that a row is damaged."""
    place = (table.logical, key, stored)
    if place not in _reported and len(_reported) < MAX_REPORTED:
        _reported.add(place)
        shown = one_line(clean(key, 12))  # of a damaged row it may be anything
        log.warning(
            "%s: row %s…: %s is damaged and is not used; run `harness cache verify`",
            *(table.logical, shown, what),
        )


def _of(table: Table, tenant: str, entry: Entry) -> int:
    own = tuple(value.encode() if type(value) is str else value for value in entry.own)
    times = (float(entry.created_at), float(entry.expires_at))  # as they are read
    return row_checksum(table, tenant, entry.key, entry.text.encode(), entry.payload, *times, own)
