"""Rich console that is safe for foreign text: only its own colours and frames reach the terminal."""

import sys
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from harness.cli.terminal.streams import PIPED_WIDTH, unguarded
from harness.core.text import printable


class SafeConsole(Console):
    """Console on standard output or error for text from any source.

    Markup and emoji codes have no effect, control characters are dropped, and a link is only its text: the address
    behind it could be any other.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        file = unguarded(sys.stderr if stderr else sys.stdout)
        width = None if file.isatty() else PIPED_WIDTH
        super().__init__(file=file, width=width, markup=False, emoji=False, highlight=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """See `Console.render`: all output passes here, before its width is measured."""
        for text, style, control in super().render(renderable, options):
            plain = style.update_link(None) if style and style.link else style
            yield Segment(text if control else printable(text), plain, control)
