"""Standard output and error without control characters, so that no text can act on the terminal."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from harness.core.text import printable

if TYPE_CHECKING:
    from harness.cli.terminal.progress import ProgressBars

PIPED_WIDTH = 120
"""Columns where there is no terminal."""


class GuardedStream:
    """A text stream that drops control characters.

    Code that draws on the terminal (`console`, the chat's input line) writes to the stream below instead (see
    `unguarded`). There is no `buffer`: bytes would pass unchecked.
    """

    def __init__(self, below: TextIO) -> None:
        self.below = below
        self._drawing: ProgressBars | None = None
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
        """Show all text; an unfinished line is a prompt, and nothing may be drawn below it."""
        if self._unfinished and self._drawing:
            self._drawing.stop()
        self.below.flush()

    def draw(self, drawing: "ProgressBars | None") -> None:
        """Print whole lines above `drawing` from now on; `None`: nothing is drawn."""
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
    before = sys.stdout, sys.stderr = _opened(sys.stdout), _opened(sys.stderr)
    for stream in before:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # show the rest if the terminal cannot show a character
    sys.stdout, sys.stderr = (cast("TextIO", GuardedStream(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _opened(stream: TextIO | None) -> TextIO:
    """Return the stream, or the null device: Python has none for a stream that the caller closed (`>&-`)."""
    return stream or Path(os.devnull).open("w", encoding="utf-8")  # it stays open until the program ends


def unguarded(stream: TextIO) -> TextIO:
    """Return the stream below a guarded one, for code that cleans its own output."""
    return stream.below if isinstance(stream, GuardedStream) else stream


def on_terminal() -> Iterator[GuardedStream]:
    """Yield the guarded streams that are terminals."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, GuardedStream) and stream.isatty():
            yield stream
