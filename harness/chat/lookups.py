"""Services that commands of a conversation use, and the texts that they add to it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from harness.settings import Described

if TYPE_CHECKING:
    from harness.ports import LanguageModel
    from harness.research.result import Research

MAX_LOOKED_UP = 20
"""Texts in one conversation; the oldest go first."""


class LookedUpText(Struct, frozen=True):
    """A result of a search, or a page, in the context of a conversation."""

    title: str
    url: str
    text: str


class Lookups(Struct, frozen=True):
    """Texts of one command, and one line that says where they came from."""

    texts: tuple[LookedUpText, ...]
    summary: str


class ChatServices(Struct, frozen=True):
    """Functions that commands call; `None` where a conversation has none.

    `research` runs a research. `search` and `read` go through the cache. `model_named` returns the language model of a
    name. `settings` are those in use.
    """

    research: "Callable[[str], Research] | None" = None
    search: Callable[[str], Lookups] | None = None
    read: Callable[[str], Lookups] | None = None
    model_named: "Callable[[str], LanguageModel] | None" = None
    settings: Sequence[Described] = ()
