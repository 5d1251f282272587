"""What a command of the chat brings, for whoever shows it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self, TypeAlias

from msgspec import Struct

from harness.chat.exchanges import Exchange, Match, Remembered, ThreadInfo

if TYPE_CHECKING:
    from harness.chat.memory import Added, MemoryStats
    from harness.research.result import Research


class Said(Struct, frozen=True):
    """A line that says what was done."""

    text: str


class Stored(Struct, frozen=True):
    """A text or a document was added."""

    what: str
    added: "Added"


class Found(Struct, frozen=True):
    """The matches of a query, the most similar first: their similarity is what a person is shown."""

    query: str
    matches: tuple[Match, ...]

    @classmethod
    def of(cls, query: str, matches: Iterable[Match]) -> Self:
        """Put matches in this order."""
        return cls(query, tuple(sorted(matches, key=lambda match: -match.similarity)))


class Shown(Struct, frozen=True):
    """What was asked for by its id, whole."""

    remembered: tuple[Remembered, ...]


class Statistics(Struct, frozen=True):
    """What the memory holds."""

    stats: "MemoryStats"


class Threads(Struct, frozen=True):
    """Threads, the last used first; `more` than these there are. `current` is the one of this conversation."""

    threads: tuple[ThreadInfo, ...]
    current: str
    more: bool = False


class Continued(Struct, frozen=True):
    """A thread goes on in a new session; `exchanges` are all that were loaded, in order of time."""

    thread_id: str
    session_id: str
    continuation: int
    exchanges: tuple[Exchange, ...]


class Researched(Struct, frozen=True):
    """A research, and what did not work in remembering it ("" if nothing)."""

    found: "Research"
    warning: str


class Context(Struct, frozen=True):
    """Whether memories are looked up for each message, which the last one was given, and how they are chosen."""

    on: bool
    matches: tuple[Match, ...]
    exchanges: int
    how: str


class Help(Struct, frozen=True):
    """Usage and meaning of commands, in order."""

    lines: tuple[tuple[str, str], ...]
    examples: tuple[str, ...] = ()


class Left(Struct, frozen=True):
    """The user wants to leave."""


Outcome: TypeAlias = (
    Said | Stored | Found | Shown | Statistics | Threads | Continued | Researched | Context | Help | Left
)
