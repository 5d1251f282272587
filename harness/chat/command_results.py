"""Results of chat commands, for the code that displays them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self, TypeAlias

from msgspec import Struct

from harness.chat.exchanges import Exchange, MemoryMatch, Remembered, ThreadInfo
from harness.chat.listing import MemoryStats
from harness.chat.lookups import Lookups
from harness.chat.prompt import Prompt
from harness.settings import Described

if TYPE_CHECKING:
    from harness.chat.conversation_memory import Added
    from harness.research.result import Research


class Notice(Struct, frozen=True):
    """A one-line message about what was done."""

    text: str


class Stored(Struct, frozen=True):
    """Result of adding a text or a document."""

    what: str
    added: "Added"


class QueryResults(Struct, frozen=True):
    """Matches of a query, most similar first, because users see the similarity."""

    query: str
    matches: tuple[MemoryMatch, ...]

    @classmethod
    def of(cls, query: str, matches: Iterable[MemoryMatch]) -> Self:
        """Return the matches in this order."""
        return cls(query, tuple(sorted(matches, key=lambda match: -match.similarity)))


class MemoryDetails(Struct, frozen=True):
    """Full text of the memories with an id."""

    remembered: tuple[Remembered, ...]


class ThreadList(Struct, frozen=True):
    """ThreadList, the last used first; `more` if there are more. `current` is the thread of this conversation."""

    threads: tuple[ThreadInfo, ...]
    current: str
    more: bool = False


class Continued(Struct, frozen=True):
    """A thread that continues in a new session; `exchanges` are its earlier ones, in order of time."""

    thread_id: str
    session_id: str
    continuation: int
    exchanges: tuple[Exchange, ...]


class Researched(Struct, frozen=True):
    """A research, and a warning if it could not be stored in memory, else ""."""

    found: "Research"
    warning: str


class Context(Struct, frozen=True):
    """Retrieval of memories: on or off, the last message's matches, and the strategy."""

    on: bool
    matches: tuple[MemoryMatch, ...]
    exchanges: int
    how: str


class TextsAdded(Struct, frozen=True):
    """Texts that were added to the context of a conversation, which has `total` now. Without a model they are only
    shown.
    """

    found: Lookups
    total: int
    has_model: bool


class SettingList(Struct, frozen=True):
    """Settings, and the number of `others` that have their defaults."""

    settings: tuple[Described, ...]
    others: int


class Cleared(Struct, frozen=True):
    """The conversation was cleared; `text` says what stays stored."""

    text: str


class PromptView(Struct, frozen=True):
    """The messages that a model would get; `searched` is whether memories were looked up for them."""

    prompt: Prompt
    budget: int
    searched: bool
    warnings: tuple[str, ...] = ()


class Help(Struct, frozen=True):
    """Usage and meaning of commands, in order."""

    lines: tuple[tuple[str, str], ...]
    examples: tuple[str, ...] = ()


class Quit(Struct, frozen=True):
    """The user ends the chat."""


Outcome: TypeAlias = (
    Notice
    | Stored
    | QueryResults
    | MemoryDetails
    | MemoryStats
    | ThreadList
    | Continued
    | Researched
    | Context
    | TextsAdded
    | SettingList
    | Cleared
    | PromptView
    | Help
    | Quit
)
