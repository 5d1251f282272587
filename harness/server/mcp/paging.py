"""Paging of long tool responses: at most 25,000 characters of JSON at a time."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel
from pydantic_core import to_json

from harness.errors import InvalidInput
from harness.server.responses.response_schema import Part

MAX_OUTPUT = 25_000
"""Characters of a tool response, as JSON."""
SLACK = 200
"""Characters reserved for the paging fields."""

T = TypeVar("T")


PartT = TypeVar("PartT", bound=Part)
ModelT = TypeVar("ModelT", bound=BaseModel)


def json_chars(value: object) -> int:
    """Return the length of `value` in characters as JSON, indented as the SDK shows it to a model."""
    return len(to_json(value, indent=2).decode())


def with_part(response: PartT, field: str, text: str, offset: int) -> PartT:
    """Return `response` with as much of `text`, from the character `offset` on, as fits in its `field`. A dot separates
    the names of a nested field.

    The parts at successive `next_offset`s add up to exactly the text.

    Raises:
        InvalidInput: `offset` is beyond the text.
    """
    if offset and offset >= len(text):
        raise InvalidInput(f"nothing at offset {offset:,}: the text has {len(text):,} characters; start at 0")
    room = max(1, MAX_OUTPUT - SLACK - json_chars(response))
    end = offset + _fitting(text[offset : offset + room], room)
    more = end < len(text)
    numbers = {"truncated": more, "total_chars": len(text), "next_offset": end if more else None}
    return _with(response, field, text[offset:end]).model_copy(update=numbers)


def leading(items: Sequence[T], room: int) -> list[T]:
    """Return the first items that fit in `room` characters of JSON."""
    taken: list[T] = []
    for item in items:
        shown = to_json([item], indent=2).decode()
        room -= len(shown) + 2 * shown.count("\n")  # the response indents it once more
        if room < 0:
            break
        taken.append(item)
    return taken


def _with(response: ModelT, field: str, value: str) -> ModelT:
    """Return a copy of `response` with `value` in its `field`."""
    name, _, within = field.partition(".")
    return response.model_copy(update={name: _with(getattr(response, name), within, value) if within else value})


def _fitting(text: str, room: int) -> int:
    """Return how many leading characters fit: in JSON a quotation mark takes two and a control character six."""
    if json_chars(text) <= room:
        return len(text)
    # always at least one character, so that a caller reaches the end
    return max(1, bisect_right(range(1, len(text) + 1), room, key=lambda chars: json_chars(text[:chars])))
