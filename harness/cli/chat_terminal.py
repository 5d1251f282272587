"""The chat on a terminal: a line to type in, with history and completion, until Ctrl-D."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import ThreadedCompleter
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import create_output

from harness.chat.conversation import Chat
from harness.cli.chat_completion import ChatCompleter
from harness.cli.terminal.streams import unguarded
from harness.errors import HarnessError
from harness.storage.files import replacing

MAX_HISTORY = 2**20
"""Bytes of the history file; one that has grown to twice as many is cut to so many at the next start."""

PROMPT = "> "
CONTINUED = "… "


class PrivateHistory(FileHistory):
    """Lines that were typed, in a file that only its owner may read; `masked` takes out of them what is secret.

    `broken` is told once that a line could not be written; the chat goes on.

    Raises:
        OSError: the file cannot be made or read.
    """

    def __init__(self, path: Path, masked: Callable[[str], str], broken: Callable[[str], None]) -> None:
        super().__init__(str(path))
        self._masked = masked
        self._broken = broken
        self._works = True
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        path.chmod(0o600)
        _cut(path)

    def store_string(self, string: str) -> None:
        """Append a line."""
        if not self._works:
            return
        try:
            super().store_string(self._masked(string))
        except (OSError, HarnessError) as error:
            self._works = False
            self._broken(f"what is typed is no longer kept in {os.fsdecode(self.filename)}: {error}")


def _cut(path: Path) -> None:
    """Keep the newest part of a history that has grown long, from a whole line on."""
    if path.stat().st_size <= 2 * MAX_HISTORY:
        return
    with path.open("rb") as file:
        file.seek(-MAX_HISTORY, os.SEEK_END)
        newest = file.read()
    start = newest.find(b"\n# ")  # how each begins
    with replacing(path, private=True) as cut:
        cut.write(newest[max(0, start) :])


class Typing:
    """Asks for what the user types. Enter sends; Alt-Enter begins a new line; what is pasted may have several. Ctrl-C
    clears the line, which stays in the history; Ctrl-D on an empty one leaves.
    """

    def __init__(self, chat: Chat, *, history: History | None = None, documents: Path | None = None) -> None:
        self._session: PromptSession[str] = PromptSession(
            history=history or InMemoryHistory(),
            completer=ThreadedCompleter(ChatCompleter(chat, documents)),
            complete_while_typing=False,
            key_bindings=_keys(),
            output=create_output(unguarded(sys.stdout)),
            multiline=True,
            prompt_continuation=CONTINUED,
        )

    def lines(self) -> Iterator[str]:
        """Yield what is typed, until the user leaves."""
        while True:
            try:
                yield self._session.prompt(PROMPT)
            except KeyboardInterrupt:  # from another process: from the keyboard it is a key, see below
                continue
            except EOFError:
                return


@contextmanager
def unseen_typing() -> Iterator[None]:
    """Do not show what is typed while no prompt is there, in the middle of a reply; it waits for the next prompt.

    The terminal keeps it as it is, character by character, and this holds from the first prompt to the last: what has
    been typed can be lost when lines are made of it, or no longer are.
    """
    try:
        import termios
    except ImportError:  # Windows shows it
        yield
        return
    file = sys.stdin.fileno()
    before = termios.tcgetattr(file)
    changed = termios.tcgetattr(file)
    changed[0] &= ~termios.ICRNL
    changed[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(file, termios.TCSADRAIN, changed)
    try:
        yield
    finally:
        termios.tcsetattr(file, termios.TCSADRAIN, before)


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    @keys.add("c-j")  # what Enter was before the first prompt, when the terminal still made a new line of it
    def _send(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def _new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("c-c")
    def _clear(event: KeyPressEvent) -> None:
        event.current_buffer.append_to_history()
        event.current_buffer.reset()

    return keys
