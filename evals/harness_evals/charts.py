"""Charts of experiments: each score with its verdict, its baseline, and the names of the kept changes."""

from collections.abc import Sequence
from pathlib import Path

from harness.core.text import shorten
from harness.errors import InvalidInput
from harness.settings.extras import require_extra
from harness_evals.changed_targets import names_of_changes
from harness_evals.journal import Experiment

MARKS = {
    "keep": ("K", "green", "tab:green"),
    "unconfirmed": ("U", "blue", "tab:blue"),
    "discard": ("D", "red", "tab:red"),
    "inconclusive": ("I", "yellow", "tab:orange"),
    "inert": ("N", "cyan", "tab:cyan"),
}
"""Letter of each verdict with a score, and its colours in a terminal and in an image."""
HEIGHT = 18
MAX_NAME = 40
MAX_NAMED = 12
"""Kept experiments that are named, the last ones."""


def terminal_chart(experiments: Sequence[Experiment], width: int, *, colour: bool) -> str:
    """Draw scores and baseline with characters, `width` columns wide; empty if no experiment has a score.

    Raises:
        InvalidInput: the extra `[charts]` is not installed.
    """
    measured = [each for each in experiments if each.score is not None]
    if not measured:
        return ""
    require_extra("charts")
    import plotext

    plotext.clear_figure()
    plotext.theme("clear")
    plotext.plot([e.number for e in measured], [e.baseline for e in measured], label="baseline", marker="dot")
    for status, (marker, shade, _) in MARKS.items():
        chosen = [e for e in measured if e.status == status]
        if chosen:
            numbers, scores = [e.number for e in chosen], [e.score for e in chosen]
            plotext.scatter(numbers, scores, label=status, marker=marker, color=shade)
    plotext.plotsize(width, HEIGHT)
    plotext.xlabel("experiment")
    plotext.xticks([e.number for e in measured][:: max(1, len(measured) // 10)])
    drawn: str = plotext.build()
    names = [f"{each.number}: {name}" for each, name in _named(experiments)]
    kept = [f"changes kept: {', '.join(names)}"] if names else []
    lines = drawn.splitlines() if colour else [line.rstrip() for line in str(plotext.uncolorize(drawn)).splitlines()]
    return "\n".join([*lines, *kept])


def _named(experiments: Sequence[Experiment]) -> list[tuple[Experiment, str]]:
    """Return the last kept experiments with the names of what they changed."""
    kept = [each for each in experiments if each.is_kept and each.score is not None][-MAX_NAMED:]
    names = names_of_changes(experiments)
    return [(each, shorten(", ".join(names[each.number]), MAX_NAME)) for each in kept]


def write_png(experiments: Sequence[Experiment], path: Path) -> None:
    """Draw scores with 95 % intervals around the baseline, and verdicts, as a PNG.

    Raises:
        InvalidInput: the extra `[charts]` is not installed, there is nothing to draw, or the file cannot be written.
    """
    require_extra("charts")
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    measured = [each for each in experiments if each.score is not None]
    if not measured:
        raise InvalidInput("no experiment has a score yet; nothing to draw")
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    axes = figure.add_subplot()
    numbers = [each.number for each in measured]
    axes.step(numbers, [each.baseline or 0.0 for each in measured], where="post", color="0.4", label="baseline")
    for status, (_, _, shade) in MARKS.items():
        chosen = [each for each in measured if each.status == status]
        if chosen:
            axes.scatter(
                [e.number for e in chosen], [e.score or 0.0 for e in chosen], color=shade, label=status, zorder=3
            )
    for each, name in _named(experiments):
        place = (each.number, each.score or 0.0)
        axes.annotate(name, place, xytext=(0, 6), textcoords="offset points", rotation=30, fontsize="small")
    for each in measured:
        if each.baseline is not None and each.low is not None and each.high is not None:
            ends = [each.baseline + each.low, each.baseline + each.high]
            axes.plot([each.number] * 2, ends, color="0.75", linewidth=2, zorder=1)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(xlabel="experiment", ylabel="score on tune")
    axes.legend()
    try:
        figure.savefig(path, format="png", dpi=150)
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror or error}") from error
