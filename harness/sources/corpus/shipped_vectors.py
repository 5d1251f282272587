"""Vectors that ship with the program: those of the language reference, so that its first use computes hardly any.

The file is made by `python -m training.passages`: one line of JSON (see `Header`), then the key of each text
(`corpus_vectors.key_of`), then their packed vectors in the same order. A text that is not in it is embedded as usual.
"""

import logging
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct

from harness.sources.corpus.vectors import KEY_BYTES, packed_bytes

log = logging.getLogger(__name__)

FILE = Path(__file__).with_name("python_docs.vectors")


class Header(Struct, frozen=True, forbid_unknown_fields=True):
    """The first line of the file: whose vectors follow, how many of which dimension, and the SHA-256 (hex) of them."""

    embedder: str
    dimension: int
    count: int
    sha256: str


@cache
def shipped(embedder: str) -> Mapping[bytes, bytes]:
    """Return the packed vectors of `embedder` that ship, by the key of their text; empty for any other embedder.

    A damaged or missing file is logged once, and then no vector ships.
    """
    try:
        return dict(_read(embedder))
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        log.warning("the vectors that ship cannot be read (%s) and are computed; reinstall research-harness", error)
        return {}


def _read(embedder: str) -> Iterator[tuple[bytes, bytes]]:
    line, _, body = FILE.read_bytes().partition(b"\n")
    header = msgspec.json.decode(line, type=Header)
    if sha256(body).hexdigest() != header.sha256:
        raise ValueError(f"{FILE} is damaged")
    if header.embedder == embedder:
        size, begin = packed_bytes(header.dimension), header.count * KEY_BYTES
        for number in range(header.count):
            key = body[number * KEY_BYTES : (number + 1) * KEY_BYTES]
            yield key, body[begin + number * size : begin + (number + 1) * size]
