"""Checks of a vector cache's arguments, before anything is written."""

from collections.abc import Mapping
from typing import Any

import orjson

from harness.core.keys import normalise
from harness.core.text import one_line
from harness.errors import InvalidInput

MAX_DOCUMENT_CHARS = 2_000_000
"""About a thousand pages, which take minutes to embed."""
MAX_JSON_BYTES = 8 * 2**20
MAX_NAME_CHARS = 2_000

OWN = ("document", "chunk_index", "section")
"""Names in a chunk's metadata besides the document's own."""


def query(given: str) -> str:
    """Return a query on one line."""
    normalise(given)
    return one_line(text(given, "query", len(given)))


def name(given: str, missing: str) -> str:
    """Return a name; `missing` is the error message if it is empty."""
    if not isinstance(given, str) or not given.strip():
        raise InvalidInput(missing)
    return text(given, missing.split()[1], MAX_NAME_CHARS)


def text(given: str, what: str, most: int) -> str:
    """Return a text unchanged, if a database can store it."""
    if not isinstance(given, str):
        raise InvalidInput(f"the {what} must be text, not {type(given).__name__}")
    if len(given) > most:
        raise InvalidInput(f"the {what} is {len(given):,} characters long; at most {most:,} are allowed, so split it")
    try:
        given.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"the {what} contains a lone surrogate (broken Unicode); re-encode it") from None
    return given


def metadata(mapping: Mapping[str, Any] | None) -> bytes:
    """Return a document's metadata as JSON."""
    if not isinstance(mapping, Mapping | None):
        raise InvalidInput(f"metadata must be a mapping, not {type(mapping).__name__}")
    given = dict(mapping or {})
    if taken := sorted(given.keys() & {*OWN}):
        raise InvalidInput(f"metadata cannot contain {', '.join(taken)}: every chunk has its own; choose another name")
    return as_json(given, "metadata")


def as_json(value: dict[str, Any], what: str) -> bytes:
    """Encode a value as JSON, only if decoding returns the same value: no NaN, tuples or dates."""
    try:
        encoded = orjson.dumps(value)
    except TypeError as error:
        raise InvalidInput(f"the {what} is not JSON ({error}); pass dicts, lists, text and numbers only") from None
    if len(encoded) > MAX_JSON_BYTES:
        raise InvalidInput(f"the {what} takes {len(encoded):,} bytes as JSON; at most {MAX_JSON_BYTES:,} are allowed")
    if orjson.loads(encoded) != value:
        raise InvalidInput(f"the {what} is not JSON (decoding would change it); use lists, not tuples, and no NaN")
    return encoded


def share(value: float | None, what: str) -> float:
    """Return a similarity (0..1)."""
    if not isinstance(value, int | float) or not 0.0 <= value <= 1.0:  # false for NaN, too
        raise InvalidInput(f"{what} must be a similarity from 0 to 1, not {value!r:.40}")
    return float(value)


def at_least(value: int, least: int, what: str) -> int:
    """Return a whole number of at least `least`."""
    if not isinstance(value, int) or value < least:
        raise InvalidInput(f"{what} must be a whole number of at least {least}, not {value!r:.40}")
    return value
