"""Charts of experiments: each score with its verdict, and its baseline."""

from collections.abc import Sequence
from pathlib import Path

from harness.errors import InvalidInput
from harness_evals.journal import Experiment

MARKS = {"keep": ("green", "keep"), "discard": ("red", "discard"), "inconclusive": ("yellow", "inconclusive")}
SHADES = {"keep": "tab:green", "discard": "tab:red", "inconclusive": "tab:orange"}
HEIGHT = 18


def terminal_chart(experiments: Sequence[Experiment], width: int, *, colour: bool) -> str:
    """Draw scores and baseline with characters, `width` columns wide; empty if no experiment has a score."""
    import plotext

    measured = [each for each in experiments if each.score is not None]
    if not measured:
        return ""
    plotext.clear_figure()
    plotext.theme("clear")
    plotext.plot([e.number for e in measured], [e.baseline for e in measured], label="baseline", marker="dot")
    for status, (shade, label) in MARKS.items():
        chosen = [e for e in measured if e.status == status]
        if chosen:
            numbers, scores = [e.number for e in chosen], [e.score for e in chosen]
            plotext.scatter(numbers, scores, label=label, marker=status[0].upper(), color=shade)
    plotext.plotsize(width, HEIGHT)
    plotext.xlabel("experiment")
    plotext.xticks([e.number for e in measured][:: max(1, len(measured) // 10)])
    drawn: str = plotext.build()
    return drawn if colour else str(plotext.uncolorize(drawn))


def write_png(experiments: Sequence[Experiment], path: Path) -> None:
    """Draw scores with 95 % intervals around the baseline, and verdicts, as a PNG."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    measured = [each for each in experiments if each.score is not None]
    if not measured:
        raise InvalidInput("no experiment has a score yet; nothing to draw")
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    axes = figure.add_subplot()
    numbers = [each.number for each in measured]
    axes.step(numbers, [each.baseline or 0.0 for each in measured], where="post", color="0.4", label="baseline")
    for status, (_, label) in MARKS.items():
        chosen = [each for each in measured if each.status == status]
        if chosen:
            shade = SHADES[status]
            axes.scatter(
                [e.number for e in chosen], [e.score or 0.0 for e in chosen], color=shade, label=label, zorder=3
            )
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
