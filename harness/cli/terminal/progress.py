"""Progress of long work: one line at the bottom of the terminal, with the remaining time."""

import sys
import time
from typing import TYPE_CHECKING, Self

from harness.cli.terminal.streams import on_terminal

if TYPE_CHECKING:
    from harness.cli.terminal.progress_line import Bar


class Pace:
    """State of some work, and an estimate of its remaining time.

    `usual`: seconds of a step, if known before the first step is done.
    """

    def __init__(self, now: float, *, usual: float | None = None) -> None:
        self.what, self.done, self.total = "", 0, 0
        self.began = now
        self.usual = usual
        self._start, self._first = now, 0
        self._latest = now

    def note(self, what: str, done: int, total: int, now: float) -> None:
        """Record a step. If fewer steps are done than before, or none yet, new work has started."""
        if done < self.done or (what != self.what and done == self._first):
            self._start, self._first = now, done
        if done != self.done:
            self._latest = now
        self.what, self.done, self.total = what, done, total

    def remaining(self, now: float) -> float | None:
        """Return the remaining seconds, `None` if unknown."""
        steps = self.done - self._first
        each = (self._latest - self._start) / steps if steps > 0 else self.usual
        if each is None or self.total <= 0:
            return None
        since = now - (self._latest if steps > 0 else self._start)
        return max(0.0, each * (self.total - self.done) - min(since, each))  # one long step is weak evidence


class ProgressBars:
    """`Progress` on a terminal: a line on standard error that disappears at the end; nothing in a pipe.

    Log lines and other output appear above it. `quiet`: nothing at all.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.visible = sys.stderr.isatty() and not quiet
        self.pace = Pace(time.monotonic())
        self._bar: Bar | None = None

    def __call__(self, what: str, done: int, total: int) -> None:
        """See `Progress`; a `total` of 0 means unknown."""
        if not self.visible:
            return
        self.pace.note(what, done, total, time.monotonic())
        if self._bar is None:
            from harness.cli.terminal.progress_line import Bar

            self._bar = Bar(self.pace)
            for stream in on_terminal():
                stream.draw(self)

    def expect(self, seconds: float) -> None:
        """Estimate with `seconds` for a step until the first is done."""
        self.pace.usual = seconds

    def above(self, lines: str) -> None:
        """Print whole lines above the bar."""
        if self._bar is not None:
            self._bar.above(lines)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
            for stream in on_terminal():
                stream.draw(None)
