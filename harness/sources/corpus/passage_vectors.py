"""Vectors of a corpus index: storage, and cosines between passages and a question.

A vector is stored as 8-bit numbers and one scale, a quarter of its float32 size, without loss of quality on SciFact.
Sums of products of up to 1,040 such numbers are integers that float32 represents exactly, added in any order. So the
cosine of two vectors has the same bits on every machine and in every batch.
"""

import sqlite3
import threading
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from harness.core.chunking import embedded_text
from harness.errors import StoreCorrupt
from harness.ports import Vectors
from harness.storage.forks import free_in_child

if TYPE_CHECKING:  # numpy takes 0.1 s to import, and a search by words has no vectors
    import numpy as np
    from numpy.typing import NDArray

HELD_BYTES = 64 * 2**20
"""Memory for the vectors of one open corpus: 170,000 passages with MiniLM. A larger one is read at every search."""

KEY_BYTES = 16
"""Bytes of `key_of`."""

_LEVELS = 127
_SCALE_BYTES = 4
_SCAN_ROWS = 4_096

_MISSING = "NOT EXISTS (SELECT 1 FROM vectors WHERE embedder = ? AND vectors.digest = passages.digest)"
_VECTORS = """
SELECT passages.id, passages.document, vectors.vector
FROM vectors JOIN passages ON passages.digest = vectors.digest WHERE vectors.embedder = ?
"""


class Batch(NamedTuple):
    """Vectors of some passages: arrays of one length, `levels` of shape (length, dimension)."""

    passages: "NDArray[np.int64]"
    documents: "NDArray[np.int64]"
    levels: "NDArray[np.int8]"
    scales: Vectors


class Near(NamedTuple):
    """Cosines (-1..1) of passages to a question, with the ids of passages and documents: arrays of one length."""

    passages: "NDArray[np.int64]"
    documents: "NDArray[np.int64]"
    cosines: Vectors


def key_of(text: str) -> bytes:
    """Return the key of an embedded text: the first `KEY_BYTES` of its SHA-256."""
    return sha256(text.encode()).digest()[:KEY_BYTES]


def packed_bytes(dimension: int) -> int:
    """Return the size of a packed vector of this dimension."""
    return _SCALE_BYTES + dimension


def missing_keys(connection: sqlite3.Connection, embedder: str) -> list[bytes]:
    """Return the keys of all texts without a vector of `embedder`."""
    rows = connection.execute(f"SELECT DISTINCT digest FROM passages WHERE {_MISSING}", (embedder,))
    return [digest for (digest,) in rows]


def unembedded(connection: sqlite3.Connection, embedder: str, limit: int) -> list[tuple[bytes, str]]:
    """Return key and text of up to `limit` texts without a vector of `embedder`."""
    rows = connection.execute(
        f"SELECT digest, title, section, text FROM passages WHERE {_MISSING} GROUP BY digest LIMIT ?",
        (embedder, limit),
    )
    return [(digest, embedded_text(title, section, text)) for digest, title, section, text in rows]


def keep(connection: sqlite3.Connection, embedder: str, vectors: Mapping[bytes, bytes]) -> None:
    """Store packed vectors by the keys of their texts, in one transaction."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(
            "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)",
            [(embedder, key, vector) for key, vector in vectors.items()],
        )


def forget_orphans(connection: sqlite3.Connection) -> None:
    """Delete vectors whose text is no longer in any passage."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(
            "DELETE FROM vectors WHERE NOT EXISTS (SELECT 1 FROM passages WHERE passages.digest = vectors.digest)"
        )


class VectorReader:
    """Reader of vectors in batches; up to `HELD_BYTES` stay in memory until the index changes."""

    def __init__(self) -> None:
        self._reading = free_in_child(threading.Lock())
        self._held: tuple[object, list[Batch]] = (None, [])

    def batches(
        self, connection: sqlite3.Connection, embedder: str, dimension: int, *, state: Hashable, count: int
    ) -> Iterable[Batch]:
        """Return the vectors of all passages that have one of `embedder`; `count` is the number of passages. A change
        of `state` drops the vectors in memory.

        Raises:
            StoreCorrupt: a vector has another dimension, or is damaged.
        """
        if count * dimension > HELD_BYTES:
            return _read(connection, embedder, dimension)
        with self._reading:
            if self._held[0] != (embedder, state):
                batches = list(_read(connection, embedder, dimension))
                if sum(len(batch.passages) for batch in batches) < count:  # the others may still be added
                    return batches
                self._held = ((embedder, state), batches)
            return self._held[1]


def nearness(batches: Iterable[Batch], question: Vectors) -> Near:
    """Compare every vector with `question`, a unit vector of shape (dimension,); uses 20 bytes per passage."""
    import numpy as np

    levels, scales = _unpacked(packed(question[np.newaxis]), len(question))
    asked, scale = levels[0].astype(np.float32), scales[0]
    passages, documents, cosines = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.float32)]
    for batch in batches:
        passages.append(batch.passages)
        documents.append(batch.documents)
        cosines.append((batch.levels.astype(np.float32) @ asked) * batch.scales * scale)
    return Near(np.concatenate(passages), np.concatenate(documents), np.concatenate(cosines))


def _read(connection: sqlite3.Connection, embedder: str, dimension: int) -> Iterator[Batch]:
    import numpy as np

    cursor = connection.execute(_VECTORS, (embedder,))
    while rows := cursor.fetchmany(_SCAN_ROWS):
        passages, documents, vectors = zip(*rows, strict=True)
        levels, scales = _unpacked(vectors, dimension)
        yield Batch(np.array(passages, np.int64), np.array(documents, np.int64), levels, scales)


def packed(vectors: Vectors) -> list[bytes]:
    """Return each vector as bytes: the scale as float32, then one signed byte per dimension."""
    import numpy as np

    scales = np.maximum(np.abs(vectors).max(axis=1), np.finfo(np.float32).tiny).astype("<f4") / np.float32(_LEVELS)
    levels = np.rint(vectors / scales[:, np.newaxis]).astype(np.int8)
    return [scale.tobytes() + level.tobytes() for scale, level in zip(scales, levels, strict=True)]


def _unpacked(vectors: Sequence[bytes], dimension: int) -> "tuple[NDArray[np.int8], Vectors]":
    """Return levels, of shape (len(vectors), dimension), and scales.

    Raises:
        StoreCorrupt: see `VectorReader.batches`.
    """
    import numpy as np

    if {len(each) for each in vectors} != {packed_bytes(dimension)}:
        raise StoreCorrupt(f"a passage's vector does not have {dimension} dimensions; the index is damaged")
    raw = np.frombuffer(b"".join(vectors), np.int8).reshape(len(vectors), -1)
    scales = np.ascontiguousarray(raw[:, :_SCALE_BYTES]).view("<f4")[:, 0]
    if not np.isfinite(scales).all():
        raise StoreCorrupt("a passage's vector has no length; the index is damaged")
    return np.ascontiguousarray(raw[:, _SCALE_BYTES:]), scales
