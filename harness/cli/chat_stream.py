"""Display of a reply while it arrives: Markdown blocks on a terminal, plain text in a pipe."""

import sys
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

SHORTEST_PAUSE = 0.08
"""Fewest seconds between two drawings of the block that is still arriving."""

_COST = 5
"""After a drawing, wait this many times as long as it took."""

_LONGEST_MARK = 10
"""Characters within which a list's mark (`1234.`) would have appeared."""

_FENCES = ("```", "~~~")


class PlainReply:
    """Plain text of a reply as it arrives."""

    def __init__(self) -> None:
        self._wrote = False

    def __call__(self, text: str) -> None:
        """Write the new text."""
        sys.stdout.write(text)
        sys.stdout.flush()
        self._wrote = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._wrote:
            self("\n")


class StreamedReply:
    """Markdown of a reply. A complete block (a paragraph, a list, fenced code) is printed once; only the block that is
    still arriving is redrawn, so that a long reply scrolls like any other text.
    """

    def __init__(self, console: "Console", width: int) -> None:
        self._console = console
        self._width = width
        self._tail = ""
        self._live: Live | None = None
        self._next_drawing = 0.0

    def __call__(self, text: str) -> None:
        """Show the new text."""
        self._tail += text
        whole, self._tail = whole_blocks(self._tail)
        if whole.strip():
            self._print(whole)
        self._draw()

    def __enter__(self) -> Self:
        from rich.live import Live
        from rich.text import Text

        waiting = Text("…", style="dim")
        self._live = Live(waiting, console=self._console, auto_refresh=False, transient=True)
        self._live.start(refresh=True)
        return self

    def __exit__(self, *_error: object) -> None:
        if self._live is not None:
            self._live.update("", refresh=True)
            self._live.stop()
            self._live = None
        if self._tail.strip():
            self._print(self._tail)
        self._tail = ""

    def _print(self, text: str) -> None:
        self._console.print(self._markdown(text), width=self._width)
        self._console.print()

    def _draw(self) -> None:
        if self._live is None or (began := time.monotonic()) < self._next_drawing:
            return
        from rich.constrain import Constrain

        self._live.update(Constrain(self._markdown(self._tail), self._width), refresh=True)
        took = time.monotonic() - began
        self._next_drawing = began + took + max(SHORTEST_PAUSE, _COST * took)

    def _markdown(self, text: str) -> "RenderableType":
        from rich.markdown import Markdown

        return Markdown(text, hyperlinks=False)


def whole_blocks(text: str) -> tuple[str, str]:
    """Split Markdown into complete blocks and the rest: after the last empty line that is outside fenced code and is
    followed by a line that does not continue a list (no white space, no list mark).
    """
    cut = at = 0
    fence = ""
    empty_before = False
    for line in text.splitlines(keepends=True):
        stripped = line.strip()
        known = line.endswith("\n") or len(stripped) > _LONGEST_MARK
        if not fence and empty_before and stripped and known and not _continues(line):
            cut = at
        if fence:
            if stripped.startswith(fence) and not stripped.strip(fence[0]):
                fence = ""
        elif stripped.startswith(_FENCES):
            fence = stripped[: len(stripped) - len(stripped.lstrip(stripped[0]))]
        empty_before = not stripped and not fence
        at += len(line)
    return text[:cut], text[cut:]


def _continues(line: str) -> bool:
    """Return whether a line after an empty one may belong to the list before it."""
    mark = line.split(maxsplit=1)[0]
    return line[0] in " \t" or mark in {"-", "*", "+"} or mark.rstrip(".)").isdigit()
