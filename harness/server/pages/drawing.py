"""How every chart looks, and how it becomes SVG: the same bytes from the same data, and whatever is written is text.

Colours are those of Okabe and Ito (Color Universal Design, 2008), which the colour-blind can tell apart; on light, some
are darkened until they stand out by 3 : 1, as WCAG 2.2 (1.4.11) asks of graphics. Backgrounds are transparent.
"""

import io
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from harness.core.text import clean, one_line, shorten
from harness.errors import NotFound

WIDE = (720, 300)
NARROW = (360, 300)
"""Width and height in CSS pixels."""
TEXT = 9.5
"""Points: 12.7 CSS pixels, which stay above 11 where the picture has to shrink somewhat."""
MAX_LABEL = 24
FEWEST_PLACES = 8
"""Bars and points are no wider apart than if they were so many."""

LIGHT: Mapping[str, str] = {
    "ink": "#3d434b",
    "grid": "#dfe3e8",
    "quiet": "#878e98",
    "blue": "#0072b2",
    "sky": "#2e93cc",
    "green": "#008f68",
    "orange": "#bf8300",
    "vermillion": "#d55e00",
    "purple": "#b9578f",
}
DARK: Mapping[str, str] = {
    "ink": "#ccd2da",
    "grid": "#30363e",
    "quiet": "#868e99",
    "blue": "#2b8cc4",
    "sky": "#7cc7f0",
    "green": "#17b384",
    "orange": "#e69f00",
    "vermillion": "#e8702a",
    "purple": "#cc79a7",
}
_drawing = threading.Lock()  # matplotlib's settings are the process's own, and are changed while something is drawn


class Look(Struct, frozen=True):
    """How a chart is to look: on a dark page, on a narrow one."""

    dark: bool = False
    narrow: bool = False

    @property
    def colours(self) -> Mapping[str, str]:
        """The colours by name."""
        return DARK if self.dark else LIGHT

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in CSS pixels."""
        return NARROW if self.narrow else WIDE

    @property
    def room(self) -> int:
        """How many marks stand beside each other without touching."""
        return self.size[0] // 16


@contextmanager
def figure(look: Look, *, something: bool) -> Iterator[Any]:
    """Yield an empty figure of that look, drawn by one thread at a time; nothing of matplotlib's state is left changed.

    Raises:
        NotFound: there is nothing to draw.
    """
    if not something:
        raise NotFound("there is nothing to draw yet")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    width, height = look.size
    with _drawing, rc_context(_settings(look)):
        yield Figure(figsize=(width / 96, height / 96), layout="constrained")


def _settings(look: Look) -> Any:
    """Return the settings of matplotlib, whose type names every one of them."""
    ink, grid = look.colours["ink"], look.colours["grid"]
    return {
        "svg.fonttype": "none",
        "svg.hashsalt": "harness",
        "text.parse_math": False,
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib, and is wider than what browsers show instead
        "font.size": TEXT,
        **dict.fromkeys(("axes.labelsize", "xtick.labelsize", "ytick.labelsize", "legend.fontsize"), TEXT),
        **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"), ink),
        **dict.fromkeys(("xtick.major.size", "ytick.major.size", "xtick.minor.size", "ytick.minor.size"), 0),
        **dict.fromkeys((f"axes.spines.{side}" for side in ("left", "right", "top")), False),
        **dict.fromkeys(("axes.edgecolor", "grid.color"), grid),
        **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "none"),
        "axes.grid": True,
        "axes.grid.axis": "y",
        "axes.axisbelow": True,
        "grid.linewidth": 0.8,
        "legend.frameon": False,
    }


def drawn(figure: Any, look: Look, *, columns: int = 0, fewer: int = 0) -> bytes:
    """Return the picture, with a legend above it of at most `columns` columns (`fewer`, if narrow); 0 is none."""
    if columns:
        found = [axes.get_legend_handles_labels() for axes in figure.axes]
        figure.legend(
            [handle for handles, _ in found for handle in handles],
            [name for _, names in found for name in names],
            loc="outside upper left",
            ncols=fewer if look.narrow else columns,
            borderaxespad=0.0,
            handlelength=1.4,
            columnspacing=1.4,
        )
    held = io.BytesIO()
    figure.savefig(held, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    return held.getvalue().replace(b"'DejaVu Sans', sans-serif", b"system-ui, sans-serif")


def name_places(axes: Any, names: Sequence[str], look: Look) -> None:
    """Write names below the places 0, 1, …, as many as there is room for."""
    room = 4 if look.narrow else 9
    step = -(-max(len(names), FEWEST_PLACES) // room)
    places = range((len(names) - 1) % step, len(names), step)  # the last one always has its name
    axes.set_xticks(places, [label(names[place]) for place in places])
    middle, half = (len(names) - 1) / 2, max(len(names) + 0.4, FEWEST_PLACES) / 2
    axes.set_xlim(middle - half, middle + half)


def ticks(most: int, *, whole: bool = False) -> Any:
    """Return what places at most so many ticks on an axis, at `whole` numbers only if need be."""
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(most, integer=whole, min_n_ticks=1 if whole else 2)


def label(text: str) -> str:
    """Make a text from outside a label: characters that the font lacks, whose width is not known, become `?`."""
    from matplotlib.font_manager import findfont, get_font

    known = get_font(findfont("DejaVu Sans")).get_charmap()
    short = shorten(clean(one_line(text), 10 * MAX_LABEL), MAX_LABEL)
    return "".join(each if ord(each) in known else "?" for each in short)
