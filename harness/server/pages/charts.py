"""Charts of the pages, drawn from plain data in one of four looks (see `drawing.Look`)."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from harness.cache.usage import CALL_SAVED, CALLED
from harness.research.drawing import Look, drawn, figure, label, name_places, ticks
from harness.server.responses.experiment_responses import TrialResponse

MAX_BARS = 14
MAX_POINTS = 1_000
"""Points drawn at most; earlier ones are left out."""

MAX_NAMED = 12
"""Experiments of a wide chart that are named by what they changed; of more, or in a narrow one, only kept ones."""

MARKS = {
    "keep": ("o", "green"),
    "unconfirmed": ("P", "blue"),
    "discard": ("X", "vermillion"),
    "inconclusive": ("D", "orange"),
    "inert": ("s", "sky"),
    "crash": ("v", "quiet"),
    "invalid": ("<", "purple"),
}
"""Marker and colour of each verdict."""

_OF_ANSWERS = dict(
    zip((*CALL_SAVED, *CALLED), ("blue", "sky", "purple", "green", "ink", "orange", "vermillion"), strict=True)
)
_OF_PARTS = ("blue", "orange", "green", "purple", "sky")
OTHERS = "others"
_KEPT = ("keep", "unconfirmed")


class Total(Struct, frozen=True):
    """One evaluation: its day as a label, the mean total and its standard error (0..1), and an id of its tasks. Only
    evaluations of the same tasks can be compared; a line joins them.
    """

    day: str
    mean: float
    error: float
    tasks: str


def hit_rates(days: Sequence[tuple[str, Mapping[str, int]]], look: Look) -> bytes:
    """Draw the answered searches of each day as stacked bars by kind of answer (see `How`),
    and above them the share from the cache. `days` is in order; missing days are not added.

    Raises:
        NotFound: there are no answers.
    """
    days = days[-MAX_POINTS:]
    colours: dict[str, str] = {
        kind: colour for kind, colour in _OF_ANSWERS.items() if any(counts.get(kind) for _, counts in days)
    }
    with figure(look, something=bool(colours)) as picture:
        rate, axes = picture.subplots(2, 1, sharex=True, height_ratios=(1, 2))
        _stack(axes, days, colours, "answers", look)
        shares = [_share(counts) for _, counts in days]
        rate.plot(
            range(len(days)),
            shares,
            color=look.colours["ink"],
            linewidth=1.4,
            marker="o",
            markersize=3.5,
            clip_on=False,
        )
        rate.set(ylim=(0, 100), yticks=(0, 50, 100), ylabel="cached, %")
        rate.tick_params(labelbottom=False)
        picture.align_ylabels()
        return drawn(picture, look, columns=6, fewer=3)


def amounts(days: Sequence[tuple[str, Mapping[str, int]]], what: str, look: Look) -> bytes:
    """Draw an amount of each day as stacked bars of its parts: the largest ones, and the sum of the others. `what` is
    its name.

    Raises:
        NotFound: there is nothing.
    """
    days = days[-MAX_POINTS:]
    totals = Counter[str]()
    for _, counts in days:
        totals.update(counts)
    named = [name for name, times in totals.most_common(len(_OF_PARTS)) if times]
    shown = [(day, _largest(counts, named)) for day, counts in days]
    colours = dict(zip(named, _OF_PARTS, strict=False))
    if any(counts.get(OTHERS) for _, counts in shown):
        colours[OTHERS] = "quiet"
    with figure(look, something=bool(named)) as picture:
        _stack(picture.add_subplot(), shown, colours, what, look)
        return drawn(picture, look, columns=4, fewer=2)


def _largest(counts: Mapping[str, int], named: Sequence[str]) -> dict[str, int]:
    largest = {name: counts[name] for name in named if name in counts}
    return {**largest, OTHERS: sum(counts.values()) - sum(largest.values())}


def _stack(
    axes: Any, days: Sequence[tuple[str, Mapping[str, int]]], colours: Mapping[str, str], what: str, look: Look
) -> None:
    """Draw the counts of each day on top of each other; `colours` names the colour of each."""
    feet = [0] * len(days)
    for kind, colour in colours.items():
        heads = [foot + counts.get(kind, 0) for foot, (_, counts) in zip(feet, days, strict=True)]
        _bars(axes, feet, heads, look.colours[colour], label(kind))
        feet = heads
    axes.set(ylabel=what, ylim=(0, 1.05 * max(feet)))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_locator(ticks(4, whole=True))
    name_places(axes, [day for day, _ in days], look)


def rounds(values_by_round: Sequence[tuple[float, float]], limits: tuple[float, float], look: Look) -> bytes:
    """Draw novelty and score (both 0..1) by round, and as thin lines the limits at which a research stops.

    Raises:
        NotFound: there was no round.
    """
    done = values_by_round[-MAX_POINTS:]
    with figure(look, something=bool(done)) as picture:
        axes, numbers = picture.add_subplot(), range(1, len(done) + 1)
        series = (("novelty", "blue", "o", "stops below"), ("score", "vermillion", "s", "stops from"))
        for (name, colour, marker, stops), values, limit in zip(series, zip(*done, strict=True), limits, strict=True):
            shade = look.colours[colour]
            axes.plot(numbers, values, color=shade, marker=marker, markersize=6, linewidth=1.8, label=name)
            axes.axhline(limit, color=shade, linewidth=1, linestyle=(0, (4, 3)), label=f"{stops} {limit:.2g}")
        axes.set(ylim=(-0.03, 1.05), xlabel="round", xlim=(0.5, len(done) + 0.5))
        axes.xaxis.set_major_locator(ticks(10, whole=True))
        return drawn(picture, look, columns=4, fewer=2)


def scores(trials: Sequence[TrialResponse], look: Look) -> bytes:
    """Draw the score of each experiment with its 95 % interval, and the baseline at that time. Colour and shape show
    the verdict; a name says what was changed. A crash is drawn at the bottom.

    Raises:
        NotFound: there is no experiment.
    """
    trials = trials[-MAX_POINTS:]
    with figure(look, something=bool(trials)) as picture:
        axes = picture.add_subplot()
        _baseline(axes, trials, look)
        for verdict in MARKS:
            size = 55 if len(trials) <= look.room else 14
            _mark(axes, [each for each in trials if each.status == verdict], verdict, look, size)
        _name(axes, trials, look)
        axes.set(xlabel="experiment", ylabel="score on tune", xlim=(trials[0].number - 0.6, trials[-1].number + 0.6))
        axes.xaxis.set_major_locator(ticks(6 if look.narrow else 12, whole=True))
        return drawn(picture, look, columns=5, fewer=3)


def totals(evaluations: Sequence[Total], look: Look) -> bytes:
    """Draw the mean of each evaluation with its standard error, oldest first, evenly spaced.

    Raises:
        NotFound: no evaluation has a score.
    """
    evaluations = evaluations[-MAX_POINTS:]
    with figure(look, something=bool(evaluations)) as picture:
        axes, places = picture.add_subplot(), dict[str, list[int]]()
        for place, each in enumerate(evaluations):
            places.setdefault(each.tasks, []).append(place)
        for joined in places.values():
            of_these = [evaluations[place] for place in joined]
            axes.errorbar(
                joined,
                [each.mean for each in of_these],
                [each.error for each in of_these],
                color=look.colours["blue"],
                ecolor=look.colours["quiet"],
                elinewidth=1.6,
                marker="o",
                markersize=6,
                linewidth=1.2,
            )
        axes.set_ylabel("mean total ± s.e.")
        name_places(axes, [each.day for each in evaluations], look)
        return drawn(picture, look)


def differences(by_task: Mapping[str, float], look: Look) -> bytes:
    """Draw the differences of task scores, second minus first: at most the `MAX_BARS` largest.

    Raises:
        NotFound: no task has two scores.
    """
    most = sorted(by_task.items(), key=lambda each: (-abs(each[1]), each[0]))[:MAX_BARS]
    shown = sorted(most, key=lambda each: (each[1], each[0]))
    with figure(look, something=bool(shown)) as picture:
        axes = picture.add_subplot()
        shades = [look.colours["blue" if difference >= 0 else "vermillion"] for _, difference in shown]
        axes.barh(range(len(shown)), [difference for _, difference in shown], 0.7, color=shades)
        axes.axvline(0, color=look.colours["quiet"], linewidth=1)
        axes.set_yticks(range(len(shown)), [label(task) for task, _ in shown])
        axes.set_xlabel("difference of the total")
        axes.grid(visible=False, axis="y")
        axes.grid(visible=True, axis="x")
        widest = max(abs(difference) for _, difference in shown) or 0.05
        axes.set_xlim(-1.1 * widest, 1.1 * widest)
        axes.xaxis.set_major_locator(ticks(4 if look.narrow else 8))
        return drawn(picture, look)


def day_and_month(moment: float) -> str:
    """Return the day (UTC) of a time in seconds since the epoch: `22 Nov`."""
    return time.strftime("%d %b", time.gmtime(moment)).lstrip("0")


def _baseline(axes: Any, trials: Sequence[TrialResponse], look: Look) -> None:
    """Draw the baseline as steps, and the intervals around it; without a score there is no scale."""
    measured = [(each, each.baseline) for each in trials if each.score is not None and each.baseline is not None]
    if not measured:
        axes.set_yticks([])
        return
    shade, numbers, bases = look.colours["quiet"], [each.number for each, _ in measured], [base for _, base in measured]
    steps = [numbers[0] - 0.5, *numbers, numbers[-1] + 0.5]
    axes.step(steps, [bases[0], *bases, bases[-1]], where="mid", color=shade, linewidth=1.4, label="baseline")
    ends = [(e.number, base + e.low, base + e.high) for e, base in measured if e.low is not None and e.high is not None]
    if ends:
        width = 5 if len(trials) <= look.room else 1
        axes.vlines(*zip(*ends, strict=True), color=shade, linewidth=width, alpha=0.45)


def _bars(axes: Any, feet: Sequence[int], heads: Sequence[int], colour: str, name: str) -> None:
    """Draw bars at 0, 1, … as one collection: separate bars would take five times as long."""
    from matplotlib.collections import PolyCollection

    ends = [(place, foot, head) for place, (foot, head) in enumerate(zip(feet, heads, strict=True)) if head > foot]
    bars = [[(x - 0.4, foot), (x - 0.4, head), (x + 0.4, head), (x + 0.4, foot)] for x, foot, head in ends]
    axes.add_collection(PolyCollection(bars, facecolors=colour, linewidths=0, label=name), autolim=False)


def _mark(axes: Any, trials: Sequence[TrialResponse], verdict: str, look: Look, size: float) -> None:
    measured = [each for each in trials if each.score is not None]
    marker, colour = MARKS[verdict]
    marks = {"s": size, "color": look.colours[colour], "marker": marker, "linewidths": 0, "zorder": 3}
    if measured:
        axes.scatter([each.number for each in measured], [each.score for each in measured], label=verdict, **marks)
    if crashed := [each.number for each in trials if each.score is None]:
        foot = axes.get_xaxis_transform()
        named = None if measured else verdict
        axes.scatter(crashed, [0.04] * len(crashed), label=named, transform=foot, clip_on=False, **marks)


def _name(axes: Any, trials: Sequence[TrialResponse], look: Look) -> None:
    """Write what an experiment changed above its mark, at a slant; there is room for that at the top."""
    every = not look.narrow and len(trials) <= MAX_NAMED
    named = [each for each in trials if each.changed and (every or each.status in _KEPT)][-MAX_NAMED:]
    measured = [(each, each.score) for each in named if each.score is not None]
    for each, score in measured:
        ends = [score, *([each.baseline + each.high] if each.baseline is not None and each.high is not None else [])]
        axes.annotate(
            label(", ".join(each.changed)),
            (each.number, max(ends)),
            xytext=(0, 5),
            textcoords="offset points",
            rotation=60 if look.narrow else 30,
            rotation_mode="anchor",
            color=look.colours["ink"],
            fontsize="small",
        )
    if measured:
        low, high = axes.get_ylim()
        axes.set_ylim(low, high + 0.35 * (high - low))


def _share(counts: Mapping[str, int]) -> float | None:
    """Return the share of answers that came from the cache, in %."""
    cached = sum(counts.get(kind, 0) for kind in CALL_SAVED)
    total = cached + sum(counts.get(kind, 0) for kind in CALLED)
    return 100 * cached / total if total else None
