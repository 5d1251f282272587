"""Figure of a report: what sources say in numbers for the question, by year or by source, as a bar chart."""

from collections.abc import Sequence

from msgspec import Struct

from harness.core.disagreement import Said, figures_for, years_of
from harness.research.report import Report

LEAST_YEARS, LEAST_SOURCES = 3, 2
MOST_BARS = 12
YEAR = "year"


class Figure(Struct, frozen=True):
    """Bars: a label and a value each, and the numbers of the sources that say so; all values have one `unit` ("" for
    none).
    """

    unit: str
    labels: tuple[str, ...]
    values: tuple[float, ...]
    sources: tuple[int, ...]

    @property
    def caption(self) -> str:
        """Description of the bars, with their sources."""
        by = "year" if all(label.isdecimal() and len(label) == 4 for label in self.labels) else "source"
        numbers = ", ".join(f"[{number}]" for number in dict.fromkeys(self.sources))
        return f"Figures for the question, by {by}{f' ({self.unit})' if self.unit else ''}. Sources: {numbers}"


def figure_of(report: Report) -> Figure | None:
    """Return the figure of a report: values of at least `LEAST_YEARS` years, or values of `LEAST_SOURCES` sources that
    differ; `None` if its quotations do not give them.
    """
    cited = [each for each in report.citations if each.trusted and each.number]
    titles = {source.number: source.title for source in report.sources}
    said = [Said(each.sentence, each.url, titles.get(each.number, "")) for each in cited]
    for unit, values in figures_for(report.title, said).items():
        if unit == YEAR:
            continue
        bars = [(years_of(cited[place].sentence), float(value), cited[place].number) for place, value in values.items()]
        of_years = {min(years): (value, number) for years, value, number in reversed(bars) if len(years) == 1}
        if len(of_years) >= LEAST_YEARS:
            return _figure(unit, [(year, *of_years[year]) for year in sorted(of_years)][-MOST_BARS:])
        of_sources = {number: value for _, value, number in reversed(bars)}
        if len(set(of_sources.values())) >= LEAST_SOURCES:
            return _figure(unit, [(f"[{number}]", of_sources[number], number) for number in sorted(of_sources)])
    return None


def _figure(unit: str, bars: Sequence[tuple[str, float, int]]) -> Figure:
    labels, values, sources = zip(*bars[:MOST_BARS], strict=True)
    return Figure(unit, labels, values, sources)


def as_svg(figure: Figure) -> str:
    """Return the bar chart as an SVG element, which inherits the colour of the text around it."""
    from harness.research.drawing import Look, drawn, label, name_places, ticks
    from harness.research.drawing import figure as empty_figure

    look = Look()
    with empty_figure(look, something=True) as made:
        axes = made.subplots()
        bars = axes.bar(range(len(figure.values)), figure.values, width=0.6, color=look.colours["blue"])
        axes.bar_label(bars, [f"{value:,.10g}" for value in figure.values], padding=2)
        axes.yaxis.set_major_locator(ticks(4))
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        axes.set_ylabel(label(figure.unit))
        name_places(axes, figure.labels, look)
        text = drawn(made, look).decode()
    return text[text.index("<svg") :].replace(look.colours["ink"], "currentColor")
