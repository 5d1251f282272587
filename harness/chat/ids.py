"""Ids as a person gives them: whole, or so much of the beginning that it is the only one."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from harness.core.entries import Outline
from harness.core.text import clean, shorten
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from harness.chat.memory import Memory

Kind: TypeAlias = Literal["exchange", "passage", "document", "thread", "session"]

LEAST = 4
"""Characters of an id that are needed at the least."""

MAX_LOOKED_AT = 1_000_000
WHOLE = 36
"""Characters of a UUID: one that has so many is not looked for by its beginning."""

_CANDIDATES = 5
_EXCERPT = 30


def whole_id(memory: "Memory", beginning: str, kinds: Sequence[Kind]) -> str:
    """Return the id of one of `kinds` that begins so. Takes time with what is remembered: about 1 s for 100,000
    exchanges; a whole UUID is returned as it is, whether it is known or not.

    Raises:
        InvalidInput: none begins so, or several, which are named; or it is shorter than 4 characters.
        StoreError: the store cannot be read.
    """
    beginning = beginning.strip().lower()
    if len(beginning) >= WHOLE:
        return beginning
    found: dict[str, str] = {}
    for outline in memory.outlines(0, MAX_LOOKED_AT):
        for id_, kind in _ids(outline):
            if kind in kinds and id_.startswith(beginning):
                found.setdefault(id_, f"{id_} ({kind}: {_excerpt(outline)})")
    if beginning in found:
        return beginning
    shown = repr(clean(beginning, 40))
    names = " or ".join(filter(None, (", ".join(kinds[:-1]), kinds[-1])))
    if len(beginning) < LEAST:
        raise InvalidInput(f"give {LEAST} characters of an id at the least, not {shown}")
    if not found:
        raise InvalidInput(f"unknown: there is no {names} whose id begins with {shown}")
    if len(found) > 1:
        some = [*found.values()][:_CANDIDATES]
        rest = f", and {len(found) - len(some)} more" if len(found) > len(some) else ""
        raise InvalidInput(f"{len(found)} ids begin with {shown}; type more of one: {', '.join(some)}{rest}")
    return next(iter(found))


def _ids(outline: Outline) -> Iterator[tuple[str, Kind]]:
    """Yield the ids that a row tells of."""
    kind, group, session = outline.own.kind, outline.own.thread_id, outline.own.session_id
    said = kind == "exchange"
    yield outline.key, "exchange" if said else "passage"
    yield group, "thread" if said else "document"
    if said:
        yield session, "session"


def _excerpt(outline: Outline) -> str:
    return shorten(outline.text.removeprefix("User: "), _EXCERPT)
