"""A rich console whose colours and frames are its own: what it shows is text, and nothing but text."""

import sys
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from harness.cli.terminal.streams import PIPED_WIDTH, unguarded
from harness.core.text import printable


class SafeConsole(Console):
    """Console on standard output, or error, that shows text from anywhere.

    Markup and emoji codes are not read, control characters are dropped, and a link is only its text: the address below
    it could be any other.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        file = unguarded(sys.stderr if stderr else sys.stdout)
        width = None if file.isatty() else PIPED_WIDTH
        super().__init__(file=file, width=width, markup=False, emoji=False, highlight=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """See `Console.render`: everything that is printed passes here, before its width is measured."""
        for text, style, control in super().render(renderable, options):
            plain = style.update_link(None) if style and style.link else style
            yield Segment(text if control else printable(text), plain, control)
