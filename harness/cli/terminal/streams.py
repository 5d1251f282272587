"""Standard output and error as commands write to them: nothing that is printed can act on the terminal."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TextIO, cast

from harness.core.text import printable

PIPED_WIDTH = 120
"""Columns where there is no terminal to ask."""


class Drawing(Protocol):
    """Something that is drawn on the last line of the terminal, again and again."""

    def above(self, lines: str) -> None:
        """Print whole lines above it."""

    def stop(self) -> None:
        """Take it away."""


class GuardedStream:
    """A text stream that drops control characters.

    Programs that draw on the terminal (`console`, the chat's input line) write to the stream below instead, see
    `unguarded`. There is no `buffer`: bytes would pass unread.
    """

    def __init__(self, below: TextIO) -> None:
        self.below = below
        self._drawing: Drawing | None = None
        self._unfinished = ""

    def write(self, text: str) -> int:
        """Write text without its control characters."""
        if self._drawing is None:
            self.below.write(printable(text))
        else:
            lines, newline, self._unfinished = (self._unfinished + printable(text)).rpartition("\n")
            if newline:
                self._drawing.above(lines)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Show all text; an unfinished line is a prompt, below which nothing may be drawn."""
        if self._unfinished and self._drawing:
            self._drawing.stop()
        self.below.flush()

    def draw(self, drawing: Drawing | None) -> None:
        """Send whole lines above `drawing` from now on; `None`: nothing is drawn any more."""
        self._drawing = drawing
        if drawing is None and self._unfinished:
            unfinished, self._unfinished = self._unfinished, ""
            self.below.write(unfinished)

    def __getattr__(self, name: str) -> Any:
        if name in {"buffer", "detach"}:
            raise AttributeError(name)
        return getattr(self.below, name)


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Guard standard output and error until the end of the block."""
    before = sys.stdout, sys.stderr
    for stream in before:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a character still shows the rest
    sys.stdout, sys.stderr = (cast("TextIO", GuardedStream(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def unguarded(stream: TextIO) -> TextIO:
    """Return the stream below a guarded one, for programs that clean what they show themselves."""
    return stream.below if isinstance(stream, GuardedStream) else stream


def on_terminal() -> Iterator[GuardedStream]:
    """Yield the guarded streams that are shown on a terminal."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, GuardedStream) and stream.isatty():
            yield stream
