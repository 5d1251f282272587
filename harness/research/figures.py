"""Figures of a report: numbers that quotations give for the question, by year or by source. Strict: a wrong figure is
worse than none.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from harness.core.disagreement import MOST, Said, comparable, figures_for, is_near, years_of
from harness.core.sub_questions import sub_questions
from harness.core.text import clean, one_line, shorten, stems
from harness.research.drawing import LIGHT, Look, drawn, label, name_bars, name_places, painted, ticks
from harness.research.drawing import figure as empty_figure
from harness.research.messages import digits_in, list_in, message, place_in
from harness.research.quoted_numbers import QuotedNumber, quoted_number, without_ranges, year_of

if TYPE_CHECKING:
    from harness.research.report import Citation, Report

FIGURES = "Figures"
"""Section of a report that has the figures."""
LEAST_YEARS, LEAST_SOURCES = 2, 3
MOST_QUOTATIONS, MOST_ROWS = 200, 12
MAX_RATIO = 100
"""Values that differ by a larger factor are not drawn: the smaller ones would be invisible."""
MAX_LABEL = 60
BAR = 20
"""Characters of the longest bar of a table."""
GRID = "#88888850"
"""Grid on any background."""
YEAR = "year"


class FigureRow(Struct, frozen=True):
    """One value: its label (a year, or the title of its source), the upper end if it is a range (`value` is the lower
    one), whether the quotation gives it as approximate, the number of its source, the page (0: none), and the place of
    its citation among those of the report.
    """

    label: str
    value: float
    high: float | None
    about: bool
    number: int
    page: int
    citation: int

    def text_in(self, language: str) -> str:
        """Return the value in digits: "about 4,100,000", "-5", "4.1 to 4.3"."""
        value = digits_in(language, _digits(self.value))
        if self.high is not None:
            value = message(language, "{low} to {high}", low=value, high=digits_in(language, _digits(self.high)))
        return message(language, "about {value}", value=value) if self.about else value

    def mark_in(self, language: str) -> str:
        """Return the number of its source, and the page, as at the sentence."""
        return f"[{place_in(language, self.number, self.page)}]"

    @property
    def top(self) -> float:
        """The upper end, or the value."""
        return self.value if self.high is None else self.high


class Figure(Struct, frozen=True):
    """Values of one quantity with one `unit` ("" for none), by year or by source. `left_out` counts earlier years
    beyond the latest `MOST_ROWS` values; `part` is the part of a compound question that they are for, "" for all of it.
    """

    by: Literal["year", "source"]
    unit: str
    rows: tuple[FigureRow, ...]
    left_out: int = 0
    part: str = ""

    def title_in(self, language: str) -> str:
        """Return the name of the values."""
        title = message(language, "Figures for the question, by source")
        if self.by == "year":
            title = message(language, "Figures for the question, by year")
        title += f" ({self.unit})" if self.unit else ""
        if self.left_out:
            shown = len(self.rows)
            title += message(language, ", the latest {count} of {total}", count=shown, total=shown + self.left_out)
        return f"{self.part} {title}" if self.part else title

    def caption_in(self, language: str) -> str:
        """Return a description of the values, with their sources."""
        marks = list(dict.fromkeys(row.mark_in(language) for row in self.rows))
        marked = message(language, "Sources: {sources}", sources=list_in(language, marks))
        return f"{self.title_in(language)}. {marked}"

    @property
    def drawn(self) -> bool:
        """Whether bars can be compared by eye: no value is more than `MAX_RATIO` times another."""
        sizes = [abs(end) for row in self.rows for end in (row.value, row.top) if end]
        return bool(sizes) and max(sizes) <= MAX_RATIO * min(sizes)

    def columns_in(self, language: str) -> tuple[str, str, str]:
        """Return the names of the columns of the table: label, value, source."""
        label = message(language, "Year") if self.by == "year" else message(language, "Source")
        value = message(language, "Value")
        return label, f"{value} ({self.unit})" if self.unit else value, message(language, "Quoted from")

    @property
    def bars(self) -> tuple[str, ...]:
        """A bar of block characters for each row; none if they cannot be compared, or if a value is negative."""
        if not self.drawn or any(row.value < 0 for row in self.rows):
            return ()
        most = max(row.top for row in self.rows)
        eighths = [round(8 * BAR * row.top / most) for row in self.rows]
        return tuple("█" * (each // 8) + " ▏▎▍▌▋▊▉"[each % 8].strip() for each in eighths)

    def as_dict(self, language: str) -> dict[str, Any]:
        """Return the JSON object, with texts in a language."""
        rows = [{**to_builtins(row), "text": row.text_in(language)} for row in self.rows]
        return {"title": self.title_in(language), "drawn": self.drawn, **to_builtins(self), "rows": rows}


class _Found(Struct, frozen=True):
    """A number of the citation at `place` of those that are compared."""

    place: int
    unit: str
    number: QuotedNumber
    year: str


def figures_of(report: "Report") -> list[Figure]:
    """Return the figures of a report, at most one for its question or for each part of a compound one: values of at
    least `LEAST_YEARS` years, or of `LEAST_SOURCES` sources of which two differ. A value has one verified quotation
    that says it in digits.
    """
    cited = [(place, each) for place, each in enumerate(report.citations) if each.trusted and each.number]
    cited, found, parts = cited[:MOST_QUOTATIONS], list[Figure](), sub_questions(report.title)
    words = [stems(part) for part in parts]
    for part, own in zip(parts, words, strict=True):
        others, shared = set[str]().union(*words) - own, set.intersection(*words)
        about = [each for each in cited if _is_about(each[1], own - shared, others)]
        figure = _figure(part, about, report)
        if figure and all(figure.rows != each.rows for each in found):
            found.append(replace(figure, part=part))
    if not found and (figure := _figure(report.title, cited, report)):
        found.append(figure)
    return found


def _is_about(citation: "Citation", own: set[str], others: set[str]) -> bool:
    """Return whether a quotation may be about a part of a question: it has one of its `own` words, or none of the words
    of the `others`.
    """
    said = stems(citation.quotation)
    return not said.isdisjoint(own) or said.isdisjoint(others)


def _figure(question: str, cited: Sequence[tuple[int, "Citation"]], report: "Report") -> Figure | None:
    """Return the figure that citations, with their places, give for the question of a report or a part of it."""
    titles = {source.number: source.title for source in report.sources}
    quoted = [without_ranges(each.quotation) for _, each in cited]
    ends = [
        [Said(pair[end], each.url, titles.get(each.number, "")) for pair, (_, each) in zip(quoted, cited, strict=True)]
        for end in (0, 1)
    ]
    about = set(range(len(cited)))
    if question != report.title:  # a part may leave out the names of the whole question: "how many people live there"
        about = {place for values in _figures(report.title, ends[0]).values() for place in values}
    for numbers in _groups(question, ends, quoted):
        group = [each for each in numbers if each.place in about]
        by: Literal["year", "source"] = "year"
        rows = _by_year(group)
        if not rows:
            by, rows = "source", _by_source(question, ends[0], group)
        if rows:
            made = [_row(each, *cited[each.place], by, titles) for each in rows[-MOST_ROWS:]]
            return Figure(by, group[0].number.unit, tuple(made), len(rows) - len(made))
    return None


def _groups(question: str, ends: Sequence[Sequence[Said]], quoted: Sequence[tuple[str, str]]) -> Iterator[list[_Found]]:
    """Yield numbers that have exactly the same unit, in the order of their first quotation."""
    lows = _figures(question, ends[0])
    highs = lows if ends[0] == ends[1] else _figures(question, ends[1])
    for unit, values in lows.items():
        groups: dict[str, list[_Found]] = {}
        for place, low in values.items():
            high = highs.get(unit, {}).get(place)
            number = high is not None and quoted_number(question, quoted[place], (low, high), unit)
            if unit != YEAR and number:
                years = years_of(quoted[place][0])
                year = min(years) if len(years) == 1 and year_of(quoted[place][0], number, min(years)) else ""
                groups.setdefault(number.unit, []).append(_Found(place, unit, number, year))
        yield from groups.values()


def _figures(question: str, said: Sequence[Said]) -> dict[str, dict[int, Decimal]]:
    """Return all figures for the question, by unit and place, `MOST` statements at a time."""
    found: dict[str, dict[int, Decimal]] = {}
    for begin in range(0, len(said), MOST):
        for unit, values in figures_for(question, said[begin : begin + MOST]).items():
            found.setdefault(unit, {}).update({begin + place: value for place, value in values.items()})
    return found


def _by_year(group: Sequence[_Found]) -> list[_Found]:
    """Return numbers of years, in order, each of a year once; none if sources give a year figures of another size."""
    once: dict[tuple[str, Decimal, Decimal | None], _Found] = {}
    for each in group:
        if each.year:
            once.setdefault((each.year, each.number.value, each.number.high), each)
    rows = sorted(once.values(), key=lambda each: (each.year, each.place))
    years = {each.year for each in rows}
    firsts = {each.year: each for each in reversed(rows)}
    like = all(is_near(each.number.value, firsts[each.year].number.value) for each in rows)
    return rows if len(years) >= LEAST_YEARS and like else []


def _by_source(question: str, said: Sequence[Said], group: Sequence[_Found]) -> list[_Found]:
    """Return numbers of sources about the same years and of like size, one for each source."""
    values = {each.place: each.number.value for each in group}
    for first in group:
        places = comparable(question, first.unit, first.place, said, values)
        of_source = {said[each.place].source: each for each in reversed(group) if each.place in places}
        signs = {each.number.value < 0 for each in of_source.values()}
        differ = len({values[each.place] for each in of_source.values()}) > 1
        if differ and len(of_source) >= LEAST_SOURCES and len(signs) == 1:
            return sorted(of_source.values(), key=lambda each: each.place)
    return []


def _row(found: _Found, place: int, cited: "Citation", by: str, titles: dict[int, str]) -> FigureRow:
    title = shorten(clean(one_line(titles.get(cited.number, "")), 10 * MAX_LABEL), MAX_LABEL)
    number = found.number
    return FigureRow(
        label=found.year if by == "year" else title or shorten(cited.url, MAX_LABEL),
        value=float(number.value),
        high=None if number.high is None else float(number.high),
        about=number.about,
        number=cited.number,
        page=cited.page,
        citation=place,
    )


def _digits(value: float) -> str:
    return f"{Decimal(repr(value)):,f}".removesuffix(".0")


def as_svg(figure: Figure, look: Look = Look()) -> bytes:  # noqa: B008 - immutable
    """Return the bar chart as an SVG image; ranges are lighter above their lower end.

    Raises:
        NotFound: its values cannot be compared by eye.
    """
    with _chart(figure, look) as chart:
        return drawn(chart, look)


def as_png(figure: Figure) -> bytes:
    """Return the bar chart as a PNG image on white, the same bytes for the same figure.

    Raises:
        NotFound: its values cannot be compared by eye.
    """
    with _chart(figure, Look()) as chart:
        return painted(chart)


def as_inline_svg(figure: Figure) -> str:
    """Return the bar chart as an SVG element of a page, which inherits the colour of the text around it.

    Raises:
        NotFound: its values cannot be compared by eye.
    """
    text = as_svg(figure).decode()
    return text[text.index("<svg") :].replace(LIGHT["ink"], "currentColor").replace(LIGHT["grid"], GRID)


@contextmanager
def _chart(figure: Figure, look: Look) -> Iterator[Any]:
    with empty_figure(look, something=figure.drawn) as made:
        axes, places = made.subplots(), range(len(figure.rows))
        tops, lows = [row.top for row in figure.rows], [row.value for row in figure.rows]
        blue = look.colours["blue"]
        bars = axes.bar(places, tops, width=0.6, color=blue, alpha=0.45 if tops != lows else 1)
        if tops != lows:
            axes.bar(places, lows, width=0.6, color=blue)
        name_bars(axes, bars, [_short(row) for row in figure.rows], look)
        if min(tops) < 0:
            axes.axhline(0, color=look.colours["quiet"], linewidth=1)
        axes.margins(y=0.1)
        axes.yaxis.set_major_locator(ticks(4))
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        axes.set_ylabel(label(figure.unit))
        name_places(axes, _ticks(figure), look)
        yield made


def _short(row: FigureRow) -> str:
    high = "" if row.high is None else f"–\n{_digits(row.high)}"
    return f"{'≈' * row.about}{_digits(row.value)}{high}"


def _ticks(figure: Figure) -> list[str]:
    """Return a label for each bar: the number of its source, or the year, with that number if the year has several."""
    if figure.by == "source":
        return [f"[{row.number}]" for row in figure.rows]
    years = [row.label for row in figure.rows]
    return [row.label if years.count(row.label) == 1 else f"{row.label} [{row.number}]" for row in figure.rows]
