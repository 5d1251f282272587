"""JSON form of the result of a function: it is stored, and returned, hit or miss."""

from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from dataclasses import fields, is_dataclass
from datetime import date, time
from decimal import Decimal
from enum import Enum
from math import isfinite
from pathlib import PurePath
from typing import Any
from uuid import UUID

from msgspec import Struct

from harness.errors import InvalidInput

MAX_PAYLOAD_BYTES = 16 * 2**20
MAX_DEPTH = 100
"""Lists and objects within each other."""

_ORDERED = (Sequence, KeysView, ValuesView, ItemsView)
_TEXTS = (str, bytes, bytearray, memoryview)
"""Sequences that are not lists."""


class Made(Struct, frozen=True):
    """The result of a call: its JSON form, and that form as bytes."""

    value: Any
    payload: bytes


class Uncached(Struct, frozen=True):
    """The result of a call that cannot be stored, as the function returned it, and why not."""

    value: Any
    reason: str


def made(result: object, encode: Callable[[Any], bytes]) -> Made | Uncached:
    """Return a result in its JSON form (see `json_form`), encoded; as it is, if it has none.

    An iterator is read to its end first: the value is then a list in both cases.
    """
    value = list(result) if isinstance(result, Iterator) and not hasattr(result, "read") else result  # no open file
    try:
        form = json_form(value)
        return Made(form, encode(form))
    except InvalidInput as error:
        return Uncached(value, str(error))


def json_form(value: object, limit: int = MAX_PAYLOAD_BYTES) -> Any:
    """Return `value` built from None, bool, int, float, str, list and dict alone.

    Mappings with text keys become dicts; tuples and other sequences lists; dataclasses, msgspec structs and pydantic
    models dicts; numpy numbers, texts and arrays of them numbers, texts and lists; members of an enum their value;
    dates and times ISO 8601 text; UUIDs, paths and decimals text. Everything else has no JSON form: infinity and NaN,
    bytes, sets (they have no order), data frames, open files, any other object.

    Raises:
        InvalidInput: no JSON form, more than `MAX_DEPTH` levels, or clearly more than `limit` bytes.
    """
    try:
        return _Converter(limit).form(value, 0)
    except InvalidInput:
        raise
    except Exception as error:  # code of the value's own class: its fields, its `model_dump`
        raise InvalidInput(f"{type(value).__name__} cannot be converted ({type(error).__name__}: {error})") from error


class _Converter:
    """One conversion. Its output is limited, because one list may be in many others."""

    def __init__(self, limit: int) -> None:
        self._limit = self._left = limit

    def form(self, value: Any, depth: int) -> Any:
        kind = type(value)
        self._left -= len(value) if kind is str else 2
        if self._left < 0:
            raise too_much("the result", self._limit)
        if kind is str or kind is int or kind is bool or value is None:
            return value
        if kind is float:
            if not isfinite(value):
                raise InvalidInput(f"{value} is not a JSON number; use None")
            return value
        if depth > MAX_DEPTH:
            raise InvalidInput(f"it has more than {MAX_DEPTH} levels; flatten it")
        if kind is dict or (kind is not list and isinstance(value, Mapping)):  # `is`: these two are the most common
            return {self._name(name): self.form(part, depth + 1) for name, part in value.items()}
        if kind is list or (isinstance(value, _ORDERED) and not isinstance(value, _TEXTS)):
            return [self.form(part, depth + 1) for part in value]
        return self.form(_simpler(value), depth + 1)

    def _name(self, name: object) -> str:
        if not isinstance(name, str):
            raise InvalidInput(f"a dict has a key that is not text but {type(name).__name__}; use text keys")
        return str(self.form(name, MAX_DEPTH))


def _simpler(value: Any) -> Any:
    """Return a simpler value with the same meaning; it may need further conversion."""
    if isinstance(value, Enum):
        return value.value
    for plain in (str, int, float):
        if isinstance(value, plain):
            return plain(value)
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, (UUID, PurePath)) or (isinstance(value, Decimal) and value.is_finite()):
        return str(value)
    return _members(value)


def _members(value: Any) -> Any:
    """Return the fields of an object by name, or the members of an array.

    Raises:
        InvalidInput: it is another kind of value.
    """
    kind = type(value)
    if is_dataclass(kind):
        return {field.name: getattr(value, field.name) for field in fields(kind)}
    if isinstance(value, Struct):
        names = zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True)
        return {name: getattr(value, own) for name, own in names}
    if hasattr(kind, "model_dump"):  # pydantic's
        return value.model_dump(mode="json")
    if kind.__module__ == "numpy" and value.dtype.kind in "biufU" and value.size <= MAX_PAYLOAD_BYTES:
        return value.tolist()
    raise InvalidInput(f"{kind.__name__} has no JSON form; return text, numbers, lists and dicts")


def too_much(what: str, limit: int) -> InvalidInput:
    """Return the error for a value that is too long for one entry."""
    return InvalidInput(f"{what} is too much for one entry; at most {limit:,} bytes")
