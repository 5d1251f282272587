"""Input of the chat on a terminal: an edited line with history and completion, until Ctrl-D."""

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
"""Bytes of the history file; at twice as many, the next start cuts it to this size."""

PROMPT = "> "
CONTINUED = "… "


class PrivateHistory(FileHistory):
    """Typed lines in a file that only its owner may read; `masked` removes secrets from them.

    If a line cannot be written, `broken` is called once with a message, and the chat continues.

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
            self._broken(f"typed lines are no longer stored in {os.fsdecode(self.filename)}: {error}")


def _cut(path: Path) -> None:
    """Cut a long history to its newest part, which starts with a whole line."""
    if path.stat().st_size <= 2 * MAX_HISTORY:
        return
    with path.open("rb") as file:
        file.seek(-MAX_HISTORY, os.SEEK_END)
        newest = file.read()
    start = newest.find(b"\n# ")  # start of each line
    with replacing(path, private=True) as cut:
        cut.write(newest[max(0, start) :])


class Typing:
    """Prompt for the user. Enter sends; Alt-Enter starts a new line; pasted text may have several lines. Ctrl-C clears
    the line, which stays in the history; Ctrl-D on an empty line exits.
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
        """Yield typed lines until the user exits."""
        while True:
            try:
                yield self._session.prompt(PROMPT)
            except KeyboardInterrupt:  # from another process; on the keyboard it is a key, see below
                continue
            except EOFError:
                return


@contextmanager
def unseen_typing() -> Iterator[None]:
    """Hide typing while there is no prompt, in the middle of a reply; it waits for the next prompt.

    The terminal stays in character mode from the first prompt to the last: switching between lines and characters can
    lose typed text.
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
    @keys.add("c-j")  # Enter from before the first prompt, when the terminal still translated it
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
