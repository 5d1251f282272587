"""How much one tool returns at once: 25,000 characters of JSON, and then where the rest begins."""

from collections.abc import Sequence
from typing import Annotated, TypeVar

from pydantic import BaseModel, Field
from pydantic_core import to_json

from harness.errors import InvalidInput

MAX_OUTPUT = 25_000
"""Characters of a tool's whole output, as JSON."""
SLACK = 200
"""Kept free for the numbers that tell where the rest is."""

T = TypeVar("T")


class Part(BaseModel):
    """What a reply says of itself when it may be one part of something longer."""

    truncated: Annotated[
        bool, Field(description="Whether more follows; then call again with `offset` set to `next_offset`.")
    ] = False
    total_chars: Annotated[int, Field(description="Characters of the whole text.")] = 0
    next_offset: Annotated[int | None, Field(description="Where the rest begins; null when nothing is left.")] = None


PartT = TypeVar("PartT", bound=Part)
ModelT = TypeVar("ModelT", bound=BaseModel)


def json_chars(value: object) -> int:
    """Return how many characters `value` takes as JSON, indented as the SDK shows it to a model."""
    return len(to_json(value, indent=2).decode())


def with_part(reply: PartT, field: str, text: str, offset: int) -> PartT:
    """Return `reply` with as much of `text`, from the character `offset` on, in its `field` as the bound allows. A
    point separates the names of a field within a field.

    The parts that follow one another through `next_offset` make up the text, none twice, none missing.

    Raises:
        InvalidInput: the text is not so long.
    """
    if offset and offset >= len(text):
        raise InvalidInput(f"there is nothing at offset {offset:,}: the text has {len(text):,} characters; begin at 0")
    room = max(1, MAX_OUTPUT - SLACK - json_chars(reply))
    end = offset + _fitting(text[offset : offset + room], room)
    more = end < len(text)
    numbers = {"truncated": more, "total_chars": len(text), "next_offset": end if more else None}
    return _with(reply, field, text[offset:end]).model_copy(update=numbers)


def leading(items: Sequence[T], room: int) -> list[T]:
    """Return as many of the first items as take no more than `room` characters as JSON."""
    taken: list[T] = []
    for item in items:
        shown = to_json([item], indent=2).decode()
        room -= len(shown) + 2 * shown.count("\n")  # within the reply it is indented once more
        if room < 0:
            break
        taken.append(item)
    return taken


def _with(reply: ModelT, field: str, value: str) -> ModelT:
    """Return a copy of `reply` with `value` in its `field`."""
    name, _, within = field.partition(".")
    return reply.model_copy(update={name: _with(getattr(reply, name), within, value) if within else value})


def _fitting(text: str, room: int) -> int:
    """Return how many of the first characters fit: as JSON, a quotation mark takes two and a control character six."""
    if json_chars(text) <= room:
        return len(text)
    least, most = 1, len(text)  # the first character is always returned: a caller must come to the end
    while least < most:
        middle = (least + most + 1) // 2
        if json_chars(text[:middle]) <= room:
            least = middle
        else:
            most = middle - 1
    return least
