"""Vectors of the language reference, shipped with the program so that its first use embeds hardly any text.

`python -m training.passages` makes the file: one line of JSON (see `VectorFileHeader`), then the key of each text
(`passage_vectors.key_of`), then their packed vectors in the same order. Other texts are embedded as usual.
"""

import logging
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct

from harness.core.multilingual_vectors import knows_english_as
from harness.sources.corpus.passage_vectors import KEY_BYTES, packed_bytes

log = logging.getLogger(__name__)

FILE = Path(__file__).with_name("python_docs.vectors")


class VectorFileHeader(Struct, frozen=True, forbid_unknown_fields=True):
    """First line of the file: id of the embedder, dimension and number of vectors, SHA-256 (hex) of the rest."""

    embedder: str
    dimension: int
    count: int
    sha256: str


@cache
def shipped(embedder: str, dimension: int) -> Mapping[bytes, bytes]:
    """Return the shipped packed vectors of `embedder` by the key of their text; empty for any other embedder. They are
    in English, so those of an embedder that only adds other languages have zeros up to its `dimension`.

    A damaged or missing file is logged once and treated as empty.
    """
    try:
        return dict(_read(embedder, dimension))
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        log.warning("cannot read the shipped vectors (%s), so they are computed; reinstall research-harness", error)
        return {}


def _read(embedder: str, dimension: int) -> Iterator[tuple[bytes, bytes]]:
    line, _, body = FILE.read_bytes().partition(b"\n")
    header = msgspec.json.decode(line, type=VectorFileHeader)
    if sha256(body).hexdigest() != header.sha256:
        raise ValueError(f"{FILE} is damaged")
    if knows_english_as(header.embedder, embedder):
        size, begin = packed_bytes(header.dimension), header.count * KEY_BYTES
        zeros = bytes(dimension - header.dimension)
        for number in range(header.count):
            key = body[number * KEY_BYTES : (number + 1) * KEY_BYTES]
            yield key, body[begin + number * size : begin + (number + 1) * size] + zeros
