"""The line that shows progress, drawn by rich."""

import time
from typing import TYPE_CHECKING

from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from harness.cli.terminal.console import SafeConsole
from harness.core.durations import in_words

if TYPE_CHECKING:
    from harness.cli.terminal.progress import Pace

WIDEST = 100
A_SECOND = 4
"""Drawings a second, so that the clock runs while nothing else changes."""


class Bar:
    """Line at the bottom of the terminal: the work, its progress, its time so far and its remaining time."""

    def __init__(self, pace: "Pace") -> None:
        self._pace = pace
        self._console = SafeConsole(stderr=True)
        self._spinner = Spinner("dots")
        self._live = Live(
            get_renderable=self._line,
            console=self._console,
            refresh_per_second=A_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start(refresh=True)

    def above(self, lines: str) -> None:
        """Print whole lines above it."""
        self._console.print(Text(lines), soft_wrap=True)

    def stop(self) -> None:
        """Remove the line."""
        self._live.stop()

    def _line(self) -> Table:
        pace, now = self._pace, time.monotonic()
        line = Table.grid(padding=(0, 1))
        line.width = min(self._console.width, WIDEST)
        line.add_column(width=1)
        line.add_column(no_wrap=True, overflow="ellipsis", ratio=4)
        line.add_column(ratio=1)
        line.add_column(no_wrap=True, justify="right")
        bar = ProgressBar(total=pace.total or None, completed=pace.done, pulse=not pace.total)
        line.add_row(self._spinner, Text(pace.what), bar, Text(_times(pace, now), style="dim"))
        return line


def _times(pace: "Pace", now: float) -> str:
    parts = [f"{pace.done}/{pace.total}"] if pace.total else []
    parts.append(in_words(round(now - pace.began)))
    remaining = pace.remaining(now)
    if remaining is not None and pace.done < pace.total:
        parts.append(f"about {in_words(round(remaining))} left")
    return " · ".join(parts)
