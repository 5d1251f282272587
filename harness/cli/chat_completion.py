"""Completion in the chat: commands, their arguments, paths of documents, and ids."""

import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from harness.chat.commands import COMMANDS, is_command
from harness.chat.conversation import Chat
from harness.cli.chat_screen import SHORT_ID, thread_line
from harness.core.text import clean, shorten
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.chat import ThreadInfo

LIST_SECONDS = 5.0
"""Seconds for which a list of threads is reused."""

MAX_LISTED = 50
DOCS = "docs:"


class ChatCompleter(Completer):
    """Completer of lines that start with a slash; a message is never completed. Only ids are read from the memory; a
    failure there completes nothing.
    """

    def __init__(self, chat: Chat, documents: Path | None) -> None:
        self._chat = chat
        self._documents = documents
        self._threads: list[ThreadInfo] = []
        self._asked = float("-inf")
        self._paths = PathCompleter(expanduser=True)
        self._arguments: dict[str, Callable[[str], Iterable[Completion]]] = {
            "vdoc": self._of_documents,
            "vget": lambda begun: chain(
                self._of_words(("session", "thread"), begun), self._of_exchanges(begun), self._of_threads(begun)
            ),
            "vdelete": self._of_exchanges,
            "continue": self._of_threads,
            "context": lambda begun: self._of_words(("on", "off", "summary"), begun),
            "model": lambda begun: self._of_words(self._models(), begun),
            "config": lambda begun: self._of_words((each.name for each in chat.services.settings), begun),
            "help": lambda begun: self._of_words(COMMANDS, begun),
        }

    def get_completions(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002
    ) -> Iterator[Completion]:
        """See `Completer.get_completions`."""
        line = document.text_before_cursor
        if not is_command(line) or "\n" in line:
            return
        name, space, begun = line[1:].partition(" ")
        if not space:
            for command in COMMANDS.values():
                if command.name.startswith(name.lower()):
                    yield Completion(f"/{command.name}", -len(line), display_meta=command.meaning)
            return
        complete = self._arguments.get(name.lower())
        if complete is not None:
            yield from complete(begun.lstrip())

    def _models(self) -> Iterator[str]:
        """Yield the model in use, and those that have a price."""
        if self._chat.model is not None:
            yield self._chat.model.name
        for each in self._chat.services.settings:
            if each.name == "model_prices":
                yield from (part.partition("=")[0].strip() for part in each.value.split(",") if "=" in part)

    def _of_words(self, words: Iterable[str], begun: str) -> Iterator[Completion]:
        return (Completion(word, -len(begun)) for word in words if word.startswith(begun))

    def _of_documents(self, begun: str) -> Iterator[Completion]:
        if not begun.startswith(DOCS):
            if DOCS.startswith(begun) and self._documents and self._documents.is_dir():
                yield Completion(DOCS, -len(begun), display_meta="the documents folder")
            yield from self._paths.get_completions(Document(begun), CompleteEvent())
            return
        if self._documents is None or not self._documents.is_dir():
            return
        inside = PathCompleter(get_paths=lambda: [str(self._documents)])
        name = begun.removeprefix(DOCS)
        if not name.startswith(("/", "~")) and ".." not in name:
            yield from inside.get_completions(Document(name), CompleteEvent())

    def _of_exchanges(self, begun: str) -> Iterator[Completion]:
        """Complete the ids of this conversation: its exchanges, and the memories of the last message."""
        known = {match.remembered.id: match.remembered.text for match in self._chat.context}
        known |= {each.id: each.user_message for each in reversed(self._chat.earlier[-MAX_LISTED:])}
        for id_, text in known.items():
            if id_.startswith(begun):
                yield Completion(id_, -len(begun), display=id_[:SHORT_ID], display_meta=shorten(clean(text, 200), 60))

    def _of_threads(self, begun: str) -> Iterator[Completion]:
        for thread in self._known_threads():
            if thread.id.startswith(begun):
                meta = shorten(clean(thread.title, 200), 60)
                yield Completion(thread.id, -len(begun), display=thread_line(thread), display_meta=meta)

    def _known_threads(self) -> "list[ThreadInfo]":
        if self._chat.memory is None:
            return []
        if time.monotonic() - self._asked > LIST_SECONDS:
            try:
                self._threads = self._chat.memory.listing.threads(MAX_LISTED)
            except HarnessError:
                self._threads = []  # /threads shows why
            self._asked = time.monotonic()
        return self._threads
