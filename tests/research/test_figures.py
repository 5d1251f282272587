"""Figures of reports: which numbers are compared, and how each form shows them."""

import io
import json
import sys
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Sequence
from typing import Any

import docx
import pytest
import time_machine
from hypothesis import example, given, settings
from hypothesis import strategies as st
from matplotlib.image import imread
from msgspec.structs import replace
from pypdf import PdfReader

from harness.errors import InvalidInput, NotFound
from harness.research.figures import (
    FIGURES,
    MOST_QUOTATIONS,
    MOST_ROWS,
    Figure,
    FigureRow,
    as_inline_svg,
    as_png,
    as_svg,
    figures_of,
)
from harness.research.report import Citation, CitedSource, Report
from harness.research.report_files import as_docx, as_pdf
from harness.research.reports import as_html, as_markdown
from harness.research.saved_report import SavedReport

QUESTION = "How did the population of Norland change?"
RATE, LENGTH = "What is the unemployment rate of Norland?", "How long is the Kora?"
TEMPERATURE, REVENUE = "What is the average temperature of Norland?", "What was the revenue of Norland Inc?"


def report(*sentences: str, title: str = QUESTION, trusted: bool = True, named: str = "Norland") -> Report:
    """Return a report in which each sentence is quoted from its own source."""
    numbered = list(enumerate(sentences, start=1))
    cited = [Citation("Details", n, text, text, n, f"https://example.org/{n}", 0.9, trusted) for n, text in numbered]
    sources = [CitedSource(n, named, f"https://example.org/{n}") for n, _ in numbered]
    return Report(title, tuple(cited), tuple(sources))


def saved(made: Report) -> SavedReport:
    """Return a report as it is saved."""
    return SavedReport(
        question=made.title, engine="scripted", plan=None, rounds=(), stop_reason="stagnation", sources=(),
        report=made, live_calls=0, cache_hits=0, research_cache="off", origin=None, answered={}, run="",
    )  # fmt: skip


def figure_of(made: Report) -> Figure | None:
    """Return the only figure of a report; `None` without one."""
    found = figures_of(made)
    assert len(found) < 2
    return found[0] if found else None


def values(title: str, *sentences: str) -> list[tuple[str, str]]:
    """Return label and value of each row of the figure; none without one."""
    figure = figure_of(report(*sentences, title=title))
    return [(row.label, row.text_in("")) for row in figure.rows] if figure else []


GROWTH = (
    "The population of Norland was 4,100,000 in 1990.",
    "In 2010, the population of Norland was 4,900,000.",
    "Norland had a population of about 4.5 million in 2000.",
)
LENGTHS = ("The Kora is 650 km long.", "The Kora is 660 kilometres long.", "The Kora is 655 km long.")
LEAPS = ("The population of Norland was 900 in 1800.", "The population of Norland was 4.9 million in 2000.")


# --- which numbers


def test_each_part_of_a_compound_question_has_a_figure() -> None:
    """Named by the part; the other numbers stay out of it, and the same numbers are not drawn twice."""
    widths = ("The Kora is 40 m wide.", "The Kora is 50 m wide.", "The Kora is 45 metres wide.", "The Ona is 9 m wide.")
    made = report(*LENGTHS, *widths, title="How long and how wide is the Kora?", named="")
    first, second = figures_of(made)
    assert (first.part, first.unit, [row.value for row in first.rows]) == (
        "How long is the Kora?",
        "km",
        [650, 660, 655],
    )
    assert (second.part, second.unit, [row.value for row in second.rows]) == (
        "How wide is the Kora?",
        "m",
        [40, 50, 45],
    )
    assert second.title_in("") == "How wide is the Kora? Figures for the question, by source (m)"
    text, page = as_markdown(saved(made), 0.0), as_html(saved(made), 0.0)
    assert [text.count(f"{each.title_in('')}\n") for each in (first, second)] == [1, 1]
    assert (text.count("## Figures"), page.count("<h2>Figures"), page.count("<figcaption>")) == (1, 1, 2)
    alone = figures_of(report(*LENGTHS, title="How long is the Kora and what is it named after?"))
    assert [each.part for each in alone] == ["How long is the Kora?"]


def test_values_of_years_are_in_order() -> None:
    """Each with its source and its citation."""
    figure = figure_of(report(*GROWTH))
    assert figure is not None
    assert (figure.by, figure.unit, figure.drawn) == ("year", "", True)
    assert [(row.label, row.value, row.number, row.citation) for row in figure.rows] == [
        ("1990", 4_100_000, 1, 0),
        ("2000", 4_500_000, 3, 2),
        ("2010", 4_900_000, 2, 1),
    ]
    assert figure.caption_in("") == "Figures for the question, by year. Sources: [1], [3], [2]"


def test_values_that_sources_give_differently_are_by_source() -> None:
    """Three of them, of which two differ; the label is the title of the source."""
    figure = figure_of(report(*LENGTHS, title=LENGTH))
    assert figure is not None
    assert (figure.by, figure.unit) == ("source", "km")
    assert [(row.label, row.text_in("")) for row in figure.rows] == [
        ("Norland", each) for each in ("650", "660", "655")
    ]
    assert figure_of(report(*LENGTHS[:2], title=LENGTH)) is None
    assert figure_of(report(*LENGTHS[:1] * 3, title=LENGTH)) is None


@pytest.mark.parametrize(
    ("title", "sentences", "rows"),
    [
        (QUESTION, GROWTH, [("1990", "4,100,000"), ("2000", "about 4,500,000"), ("2010", "4,900,000")]),
        (
            RATE,
            (
                "The unemployment rate of Norland was 5% in 1990.",
                "According to the 2000 census, the unemployment rate of Norland was roughly 6 percent.",
                "In May 2010, the unemployment rate of Norland rose to 7.5 per cent.",
            ),
            [("1990", "5"), ("2000", "about 6"), ("2010", "7.5")],
        ),
        (
            QUESTION,
            (GROWTH[0], "In 2010, Norland had between 4.8 and 5 million people."),
            [("1990", "4,100,000"), ("2010", "4,800,000 to 5,000,000")],
        ),
        (
            TEMPERATURE,
            (
                "The average temperature of Norland was -5 °C in 1990.",
                "The average temperature of Norland was \u22123.5 °C in 2000.",
                "The average temperature of Norland was 2 °C in 2010.",
            ),
            [("1990", "-5"), ("2000", "-3.5"), ("2010", "2")],
        ),
        (
            REVENUE,
            (
                "The revenue of Norland Inc was $5 million in 1990.",
                "In 2000 the revenue of Norland Inc was US$6 million.",
            ),
            [("1990", "5,000,000"), ("2000", "6,000,000")],
        ),
        (
            "What was the area of Norland?",
            ("The area of Norland was 300 km² in 1990.", "The area of Norland was 310 km2 in 2000."),
            [("1990", "300"), ("2000", "310")],
        ),
        (QUESTION, (*GROWTH[:2], "The population of Norland was 4,300,000 in 1990."), [
            ("1990", "4,100,000"), ("1990", "4,300,000"), ("2010", "4,900,000")]),
    ],
)  # fmt: skip
def test_a_value_is_what_its_quotation_says(title: str, sentences: Sequence[str], rows: list[tuple[str, str]]) -> None:
    """About, ranges, signs, equal units in other words, sources that differ about a year."""
    assert values(title, *sentences) == rows


@pytest.mark.parametrize(
    ("title", "sentences"),
    [
        ("", ()),
        (QUESTION, GROWTH[:1]),
        (QUESTION, ("The area of Norland is 300 km2.", "Norland has a capital.")),
        ("What is a closure?", ("A closure has 3 parts.", "A closure has 4 parts.", "A closure has 5 parts.")),
        ("When was Norland founded?", [f"Norland was founded in {year}." for year in (1905, 1907, 1909)]),
        # the year is of something else, or of no one value
        (QUESTION, (GROWTH[0], "Founded in 1905, Norland has a population of 4,900,000.")),
        (QUESTION, (GROWTH[0], "According to a 2015 book, the population of Norland is 4,900,000.")),
        (QUESTION, (GROWTH[0], "Norland had 4,900,000 people until 2010, fewer than the 5,000,000 of Sudland.")),
        # a change, a forecast, a bound, a denial or a multiple is no value
        (RATE, ("The unemployment rate of Norland was 5% in 1990.", "The rate of Norland fell 2% in 2000.")),
        (RATE, ("The unemployment rate of Norland was 5% in 1990.", "In 2000 Norland had an increase of 2%.")),
        (RATE, ("The unemployment rate of Norland was 5% in 1990.", "In 2000 the rate of Norland was 2% higher.")),
        (QUESTION, (GROWTH[0], "The population of Norland will be 4,900,000 in 2050.")),
        (QUESTION, (GROWTH[0], "Projected growth takes the population of Norland to 4,900,000 in 2050.")),
        (QUESTION, (GROWTH[0], "The population of Norland was more than 4,900,000 in 2010.")),
        (QUESTION, (GROWTH[0], "The population of Norland was not 4,900,000 in 2010.")),
        (QUESTION, (GROWTH[0], "The population of Norland was half of 9,800,000 in 2010.")),
        # a sign that may be a dash, a value below zero in words
        (TEMPERATURE, ("The average temperature of Norland was 5 °C in 1990.",
                       "The average temperature of Norland was 5 °C below zero in 2000.")),
        (TEMPERATURE, ("The average temperature of Norland was 5 °C in 1990.",
                       "The average temperature of Norland \u20136 °C in 2000.")),
        # other units, rates, shares, currencies, things and statistics
        (LENGTH, ("The Kora is 650 km long.", "The Kora is 660 km long.", "The Kora is 650,000 m long.")),
        (REVENUE, ("The revenue of Norland Inc was $5 million in 1990.",
                   "In 2000 the revenue of Norland Inc was C$6 million.")),
        (REVENUE, ("The revenue of Norland Inc was $5 a day in 1990.",
                   "The revenue of Norland Inc was $6 a year in 2000.")),
        (RATE, ("The unemployment rate of Norland was 5% of men in 1990.",
                "The unemployment rate of Norland was 6% of adults in 2000.")),
        ("What was the area of Norland?", ("The area of Norland was 300 square kilometres in 1990.",
                                           "The area of Norland was 310 square miles in 2000.")),
        (QUESTION, (GROWTH[0], "In 2010, Norland had 4,900,000 sheep.")),
        ("What is the salary of Norland's nurses?", ("In 1990 the median salary of Norland's nurses was $5,000.",
                                                     "In 2000 the average salary of Norland's nurses was $6,000.")),
        # sources that give a year values of another size
        (QUESTION, (*GROWTH[:2], "The population of Norland was 120,000 in 1990.")),
        # words, and numbers with other separators
        (LENGTH, ("The Kora is ninety km long.", "The Kora is eighty km long.", "The Kora is seventy km long.")),
        (LENGTH, ("The Kora is 650,5 km long.", "The Kora is 660,7 km long.", "The Kora is 655,9 km long.")),
    ],
)  # fmt: skip
def test_numbers_that_may_not_compare_are_left_out(title: str, sentences: Sequence[str]) -> None:
    """A wrong figure is worse than none."""
    assert values(title, *sentences) == []


def test_only_verified_quotations_count() -> None:
    """Neither a quotation that is in no source, nor what only the model's sentence says."""
    assert figure_of(report(*GROWTH, trusted=False)) is None
    made = report(*GROWTH)
    said = tuple(replace(each, quotation="Norland is a country.") for each in made.citations)
    assert figure_of(replace(made, citations=said)) is None


def test_many_values_are_cut_to_the_latest() -> None:
    """The title says so; the citations that count are bounded, too."""
    years = [f"The population of Norland was {4_000_000 + year:,} in {year}." for year in range(1500, 1700)]
    figure = figure_of(report(*years))
    assert figure is not None
    assert [row.label for row in figure.rows] == [str(year) for year in range(1688, 1700)]
    assert len(figure.rows) == MOST_ROWS
    assert figure.title_in("") == "Figures for the question, by year, the latest 12 of 200"
    assert figure_of(report(*years, *years)) == figure
    assert MOST_QUOTATIONS == 200


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text("0123456789.,-–−$€%² ktoabninmllgMay²:()/'\u0661\u00a0", max_size=60), min_size=3, max_size=3))
@example(["$-5²,-–- 5²", "5" * 400, "1990 " * 30])
def test_no_quotation_makes_it_fail(texts: list[str]) -> None:
    """Whatever it has, each value of a figure is a number that JSON keeps."""
    made = report(*(f"In 199{place}, Norland had {text} people." for place, text in enumerate(texts)), title=RATE)
    figure = figure_of(replace(made, title="How many people has Norland?"))
    if figure:
        json.dumps(figure.as_dict(""), allow_nan=False)


# --- how they are shown


def row(label: str, value: float, high: float | None = None, *, about: bool = False, number: int = 1) -> FigureRow:
    """Return a row of a figure."""
    return FigureRow(label, value, high, about, number, 0, number - 1)


def texts_of(svg: str) -> set[str]:
    """Return the texts of an SVG image."""
    root = ET.fromstring(svg)  # noqa: S314 - our own
    return {"".join(each.itertext()).strip() for each in root.iter("{http://www.w3.org/2000/svg}text")}


def test_the_picture_is_one_svg_element_with_text_as_text() -> None:
    """The same figure gives the same bytes, and a hostile unit is no markup."""
    rows = (row("2000", 1.5), row("2010", 2.25, about=True), row("2020", 3, 4.5), row("2020", 3, number=2))
    figure = Figure("year", '</svg><script>"', rows)
    drawn = as_inline_svg(figure)
    assert drawn == as_inline_svg(figure)
    assert {"2000", "2010", "2020 [1]", "2020 [2]", "1.5", "≈2.25", "3–", "4.5"} <= texts_of(drawn)
    assert "<script" not in drawn


def test_a_picture_for_documents_has_the_same_bytes_and_opens_no_window() -> None:
    """On white; matplotlib holds no figure afterwards."""
    from matplotlib._pylab_helpers import Gcf

    figure = Figure("year", "m", (row("2000", -1.5), row("2010", 2.25)))
    assert as_png(figure) == as_png(figure)
    pixels = imread(io.BytesIO(as_png(figure)))
    assert pixels.shape[:2] == (625, 1500)
    assert pixels[0, 0].tolist() == [1, 1, 1, 1]
    assert not Gcf.figs


@pytest.mark.parametrize("rows", [(row("2000", 1), row("2010", 101)), (row("2000", 0), row("2010", 0))])
def test_values_of_very_different_size_are_a_table_alone(rows: tuple[FigureRow, ...]) -> None:
    """A bar that cannot be seen is no bar."""
    figure = Figure("year", "", rows)
    assert (figure.drawn, figure.bars) == (False, ())
    with pytest.raises(NotFound):
        as_svg(figure)


def test_bars_have_eighths_of_a_character() -> None:
    """Shares of the largest value; negative ones have no bars."""
    figure = Figure("year", "", (row("1", 80), row("2", 40.5), row("3", 1), row("4", 20, 40)))
    assert figure.bars == ("█" * 20, "█" * 10 + "▏", "▎", "█" * 10)
    assert Figure("year", "", (row("1", 80), row("2", -40))).bars == ()


TABLE = """
## Figures

| Year | Value | Quoted from |
| --- | ---: | --- |
| 1990 | 4,100,000 | [1] |
| 2000 | about 4,500,000 | [3] |
| 2010 | 4,900,000 | [2] |

Figures for the question, by year
"""


def test_markdown_has_a_table() -> None:
    """With bars only where they are asked for; none without a figure."""
    assert TABLE in as_markdown(saved(report(*GROWTH)), 0.0)
    assert f"| 2010 | 4,900,000 | {'█' * 20} | [2] |" in report(*GROWTH).markdown(bars=True)
    assert FIGURES not in report(*GROWTH[:1]).markdown()
    assert "█" not in report(*LEAPS).markdown(bars=True)


def test_the_page_has_the_picture_and_its_values() -> None:
    """Each value leads to its source, and its quotation is below; nothing is loaded."""
    page = as_html(saved(report(*GROWTH)), 0.0)
    assert page.count("<svg") == 1
    assert "<figcaption>Figures for the question, by year. Sources: [1], [3], [2]</figcaption>" in page
    assert '<td>about 4,500,000</td><td><a href="#source-3">[3]</a></td>' in page
    assert f"<li>[3] <q>{GROWTH[2]}</q></li>" in page
    alone = as_html(saved(report(*LEAPS)), 0.0)
    assert "<svg" not in alone
    assert "<td>900</td>" in alone


def test_json_has_every_value() -> None:
    """With the place of its citation; an empty list without a figure."""
    payload = saved(report(*GROWTH)).as_dict()
    (figure,) = payload["figures"]
    assert {**figure, "rows": []} == {
        "title": "Figures for the question, by year", "by": "year", "unit": "", "left_out": 0, "drawn": True,
        "part": "", "rows": [],
    }  # fmt: skip
    assert figure["rows"][1] == {
        "label": "2000", "value": 4_500_000.0, "high": None, "about": True, "number": 3, "page": 0, "citation": 2,
        "text": "about 4,500,000",
    }  # fmt: skip
    assert payload["citations"][2]["quotation"] == GROWTH[2]
    assert saved(report()).as_dict()["figures"] == []


@pytest.mark.parametrize(("sentences", "pictures"), [(GROWTH, 1), (LEAPS, 0), (GROWTH[:1], 0)])
def test_documents_have_the_picture_and_a_table(sentences: Sequence[str], pictures: int) -> None:
    """The picture has a description; without a figure there is neither."""
    made = saved(report(*sentences))
    content = as_docx(made, 0.0)
    word: Any = docx.Document(io.BytesIO(content))
    assert [shape._inline.docPr.get("descr") for shape in word.inline_shapes] == [
        "Figures for the question, by year. Sources: [1], [3], [2]"
    ] * pictures
    assert sum(name.startswith("word/media/") for name in zipfile.ZipFile(io.BytesIO(content)).namelist()) == pictures
    reader = PdfReader(io.BytesIO(as_pdf(made, 0.0)))
    assert sum(len(page.images) for page in reader.pages) == pictures
    shown = " ".join(" ".join(page.extract_text().split()) for page in reader.pages)
    if len(sentences) > 1:
        assert [cell.text for cell in word.tables[0].rows[0].cells] == ["Year", "Value", "Quoted from"]
        assert word.tables[0].rows[1].cells[2].text == "[1]"
        assert f"Year Value Quoted from {'1990 4,100,000' if pictures else '1800 900'} [1]" in shown
    else:
        assert FIGURES not in shown


def test_a_picture_of_a_pdf_is_on_the_page_of_its_heading() -> None:
    """Though the page has room for the heading alone."""
    filled = report(*GROWTH, *(f"Norland is a country {number}." for number in range(18)))
    page, *_ = [each for each in PdfReader(io.BytesIO(as_pdf(saved(filled), 0.0))).pages if each.images]
    assert page.page_number == 1
    assert FIGURES in page.extract_text()


@pytest.mark.parametrize("form", [as_markdown, as_html, as_docx, as_pdf])
def test_the_same_research_has_the_same_bytes(form: Any) -> None:
    """In every form with a figure, whenever it is written."""
    with time_machine.travel("2026-01-01", tick=False):
        first = form(saved(report(*GROWTH)), 0.0)
    with time_machine.travel("2027-02-03 04:05", tick=False):
        assert form(saved(report(*GROWTH)), 0.0) == first


@pytest.mark.slow
@pytest.mark.parametrize(
    "named",
    ["| <script>x</script> `x` [y](http://evil.example) \u202e\x1b[31m " * 9, "جبل نورلاند", "הר 12 (א)", "\ud800"],
)
def test_a_hostile_or_long_title_is_a_label_of_one_cell(named: str) -> None:
    """It makes no markup in any form; scripts from right to left stay in their cell."""
    made = report(*LENGTHS, title=LENGTH, named=named)
    figure = figure_of(made)
    assert figure is not None
    assert all(0 < len(each.label) <= 60 for each in figure.rows)
    lines = [line for line in made.markdown(bars=True).splitlines() if line.startswith("| ")]
    assert {len(line.replace("\\|", "").split("|")) for line in lines} == {6}
    page = as_html(saved(made), 0.0)
    assert page.count("<script") == page.count("\u202e") == 0
    assert page.count("<bdi>") == 3
    word: Any = docx.Document(io.BytesIO(as_docx(saved(made), 0.0)))
    assert len(word.tables[0].rows) == 4
    assert texts_of(as_svg(figure).decode()) >= {"[1]", "[2]", "[3]", "660"}


def test_without_the_extra_the_page_has_the_table_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports need no matplotlib; a picture alone says what to install."""
    page = as_html(saved(report(*GROWTH)), 0.0)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    plain = as_html(saved(report(*GROWTH)), 0.0)
    assert "<svg" not in plain
    assert plain[plain.index("<table>") :] == page[page.index("<table>") :]
    figure = figure_of(report(*GROWTH))
    assert figure
    with pytest.raises(InvalidInput, match=r"research-harness\[charts\]"):
        as_svg(figure)
    word = docx.Document(io.BytesIO(as_docx(saved(report(*GROWTH)), 0.0)))
    assert not word.inline_shapes
    assert "4,900,000" in [cell.text for cell in word.tables[0].column_cells(1)]
