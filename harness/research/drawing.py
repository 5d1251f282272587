"""Look of the charts, and their output as SVG or PNG: the same data gives the same bytes, and labels of SVG stay text.

The colours are those of Okabe and Ito (Color Universal Design, 2008), which colour-blind people can distinguish. For
light backgrounds some are darkened to a contrast of 3 : 1, as WCAG 2.2 (1.4.11) requires. Backgrounds are transparent.
"""

import io
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from harness.core.text import clean, one_line, shorten
from harness.errors import NotFound
from harness.settings.extras import require_extra

WIDE = (720, 300)
NARROW = (360, 300)
"""Width and height in CSS pixels."""
TEXT = 9.5
"""Points: 12.7 CSS pixels, still above 11 if the picture shrinks a little."""
LETTER = 7.2
"""CSS pixels of a character at most."""
DOTS = 200
MAX_LABEL = 24
LEAST_PLACES = 8
"""Bars and points are spaced as if there were at least this many."""

_COLOURS = {
    "ink": ("#3d434b", "#ccd2da"),
    "grid": ("#dfe3e8", "#30363e"),
    "quiet": ("#878e98", "#868e99"),
    "blue": ("#0072b2", "#2b8cc4"),
    "sky": ("#2e93cc", "#7cc7f0"),
    "green": ("#008f68", "#17b384"),
    "orange": ("#bf8300", "#e69f00"),
    "vermillion": ("#d55e00", "#e8702a"),
    "purple": ("#b9578f", "#cc79a7"),
}
"""On a light, and on a dark background."""
LIGHT: Mapping[str, str] = {name: light for name, (light, _) in _COLOURS.items()}
DARK: Mapping[str, str] = {name: dark for name, (_, dark) in _COLOURS.items()}
_drawing = threading.Lock()  # matplotlib's settings are global to the process and change during drawing


class Look(Struct, frozen=True):
    """Look of a chart: for a dark or light page, narrow or wide."""

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
        """Number of marks that fit side by side without touching."""
        return self.size[0] // 16


@contextmanager
def figure(look: Look, *, something: bool) -> Iterator[Any]:
    """Yield an empty figure with this look, for one thread at a time; matplotlib's settings are restored afterwards.

    Raises:
        NotFound: there is nothing to draw.
        InvalidInput: the extra `[charts]` is not installed.
    """
    if not something:
        raise NotFound("there is nothing to draw yet")
    require_extra("charts")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    width, height = look.size
    with _drawing, rc_context(_settings(look)):
        yield Figure(figsize=(width / 96, height / 96), layout="constrained")


def _settings(look: Look) -> Any:
    """Return the settings of matplotlib. Typed `Any`: its own type lists every setting by name."""
    ink, grid = look.colours["ink"], look.colours["grid"]
    return {
        "svg.fonttype": "none",
        "svg.hashsalt": "harness",
        "text.parse_math": False,
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],  # part of matplotlib, and wider than the fonts that browsers use instead
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
    """Return the figure as SVG, with a legend of at most `columns` columns (`fewer` if narrow); 0: no legend."""
    if columns:
        legends = [axes.get_legend_handles_labels() for axes in figure.axes]
        figure.legend(
            [handle for handles, _ in legends for handle in handles],
            [name for _, names in legends for name in names],
            loc="outside upper left",
            ncols=fewer if look.narrow else columns,
            borderaxespad=0.0,
            handlelength=1.4,
            columnspacing=1.4,
        )
    output = io.BytesIO()
    figure.savefig(output, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    return output.getvalue().replace(b"'DejaVu Sans', sans-serif", b"system-ui, sans-serif")


def painted(figure: Any) -> bytes:
    """Return the figure as PNG on white, for documents: `DOTS` pixels an inch."""
    output = io.BytesIO()
    figure.savefig(output, format="png", dpi=DOTS, facecolor="white", metadata={"Software": None})
    return output.getvalue()


def name_bars(axes: Any, bars: Any, names: Sequence[str], look: Look) -> None:
    """Write the value at the end of each bar, if there is room for all."""
    room = 0.85 * look.size[0] / max(len(names), LEAST_PLACES)
    if max(len(line) for name in names for line in name.splitlines()) * LETTER <= room:
        axes.bar_label(bars, names, padding=2)


def name_places(axes: Any, names: Sequence[str], look: Look) -> None:
    """Label the places 0, 1, … with as many names as there is room for."""
    room = 4 if look.narrow else 9
    step = -(-max(len(names), LEAST_PLACES) // room)
    places = range((len(names) - 1) % step, len(names), step)  # always label the last one
    axes.set_xticks(places, [label(names[place]) for place in places])
    middle, half = (len(names) - 1) / 2, max(len(names) + 0.4, LEAST_PLACES) / 2
    axes.set_xlim(middle - half, middle + half)


def ticks(limit: int, *, whole: bool = False) -> Any:
    """Return a locator for at most `limit` ticks on an axis; with `whole`, only at whole numbers."""
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(limit, integer=whole, min_n_ticks=1 if whole else 2)


def label(text: str) -> str:
    """Return a text from outside as a label; characters that the font lacks become `?`: their width is unknown."""
    from matplotlib.font_manager import findfont, get_font

    glyphs = get_font(findfont("DejaVu Sans")).get_charmap()
    short = shorten(clean(one_line(text), 10 * MAX_LABEL), MAX_LABEL)
    return "".join(each if ord(each) in glyphs else "?" for each in short)
