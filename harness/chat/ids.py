"""Ids as users type them: whole, or a unique prefix."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from harness.core.entries import Outline
from harness.core.text import clean, shorten
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from harness.chat.conversation_memory import Memory

Kind: TypeAlias = Literal["exchange", "passage", "document", "thread", "session"]

MIN_PREFIX = 4
"""Shortest prefix of an id that is accepted."""

MAX_LOOKED_AT = 1_000_000
WHOLE = 36
"""Characters of a UUID; an id this long is not treated as a prefix."""

_CANDIDATES = 5
_EXCERPT = 30


def whole_id(memory: "Memory", beginning: str, kinds: Sequence[Kind]) -> str:
    """Return the only id of one of `kinds` with this prefix. Time grows with the memory: about 1 s for 100,000
    exchanges. A whole UUID is returned unchanged, known or not.

    Raises:
        InvalidInput: no id, or several (the message names them), have this prefix; or it has under 4 characters.
        StoreError: the store cannot be read.
    """
    beginning = beginning.strip().lower()
    if len(beginning) >= WHOLE:
        return beginning
    found: dict[str, str] = {}
    for outline in memory.rows.outlines(0, MAX_LOOKED_AT):
        for id_, kind in _ids(outline):
            if kind in kinds and id_.startswith(beginning):
                excerpt = shorten(outline.text.removeprefix("User: "), _EXCERPT)
                found.setdefault(id_, f"{id_} ({kind}: {excerpt})")
    if beginning in found:
        return beginning
    shown = repr(clean(beginning, 40))
    names = " or ".join(filter(None, (", ".join(kinds[:-1]), kinds[-1])))
    if len(beginning) < MIN_PREFIX:
        raise InvalidInput(f"type at least {MIN_PREFIX} characters of an id, not {shown}")
    if not found:
        raise InvalidInput(f"unknown: no {names} has an id that begins with {shown}")
    if len(found) > 1:
        some = [*found.values()][:_CANDIDATES]
        rest = f", and {len(found) - len(some)} more" if len(found) > len(some) else ""
        raise InvalidInput(f"{len(found)} ids begin with {shown}; type more of one: {', '.join(some)}{rest}")
    return next(iter(found))


def _ids(outline: Outline) -> Iterator[tuple[str, Kind]]:
    """Yield the ids in a row."""
    kind, group, session = outline.own.kind, outline.own.thread_id, outline.own.session_id
    said = kind == "exchange"
    yield outline.key, "exchange" if said else "passage"
    yield group, "thread" if said else "document"
    if said:
        yield session, "session"
