"""JSON values from outside: checked and limited before they are stored."""

from math import isfinite
from typing import Any

import orjson

from harness.cache.json_form import MAX_DEPTH, MAX_PAYLOAD_BYTES, too_much
from harness.core.keys import canonical_json
from harness.errors import InvalidInput


def encoded(value: object, what: str = "the data", limit: int = MAX_PAYLOAD_BYTES) -> bytes:
    """Return a JSON value as canonical JSON; a tuple counts as a list.

    Raises:
        InvalidInput: it is not a JSON value (infinity and NaN are not), or has text that no database stores (the NUL
            character, lone surrogates), a number of more than 64 bits, more than `MAX_DEPTH` levels, or more than
            `limit` bytes.
    """
    _checked_size(value, what, limit)
    try:
        payload = canonical_json(value).encode()
    except TypeError as error:  # a whole number of more than 64 bits, a lone surrogate
        raise InvalidInput(f"{what} cannot be stored: {error}; fix it first") from None
    if len(payload) > limit:
        raise too_much(what, limit)
    return payload


def parsed(text: str, what: str = "the data") -> Any:
    """Return the value of a JSON text.

    Raises:
        InvalidInput: it is not JSON; the message has line and column.
    """
    if len(text) > MAX_PAYLOAD_BYTES:
        raise too_much(what, MAX_PAYLOAD_BYTES)
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InvalidInput(f"{what} is not JSON at {where}: {error.msg}; put text in quotation marks") from None


def is_empty(value: object) -> bool:
    """Return whether a value is null, or an empty list, object or text. 0 and false are not empty."""
    return value is None or (isinstance(value, (list, tuple, dict, str)) and not value)


def count_of(value: object) -> int:
    """Return the number of results: the length of a list, 1 for anything else."""
    return len(value) if isinstance(value, (list, tuple)) else 1


def _checked_size(part: object, what: str, limit: int, size: int = 0, level: int = 1, *, name: bool = False) -> int:
    """Return `size` and about that of a value, which may contain itself: it is checked only up to `limit` bytes."""
    size += len(part) if type(part) is str else 2
    if size > limit:
        raise too_much(what, limit)
    if name and type(part) is not str:
        raise InvalidInput(f"{what} cannot be stored: the names in an object must be text")
    if isinstance(part, (list, tuple, dict)):
        if level > MAX_DEPTH:
            raise InvalidInput(f"{what} has more than {MAX_DEPTH} levels; flatten it")
        for each in part:
            size = _checked_size(each, what, limit, size, level + 1, name=isinstance(part, dict))
            if isinstance(part, dict):
                size = _checked_size(part[each], what, limit, size, level + 1)
    elif reason := _objection(part):
        raise InvalidInput(f"{what} cannot be stored: {reason}")
    return size


def _objection(part: object) -> str:
    kind = type(part)
    if kind is str:
        return "it contains a NUL character; remove it" if "\0" in part else ""  # type: ignore[operator]
    if kind is float:
        return "" if isfinite(part) else f"{part} is not a JSON number; use null"  # type: ignore[arg-type]
    if part is None or kind is int or kind is bool:
        return ""
    return f"a {kind.__name__} is not a JSON value; use text, numbers, lists and objects"
