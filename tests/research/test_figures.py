"""Figures of reports: which numbers are drawn, and how."""

import xml.etree.ElementTree as ET

import pytest

from harness.research.figures import Figure, as_svg, figure_of
from harness.research.report import Citation, CitedSource, Report
from harness.research.reports import as_html
from harness.research.saved_report import SavedReport

QUESTION = "How did the population of Norland change?"


def report(*sentences: str, title: str = QUESTION, trusted: bool = True) -> Report:
    """Return a report in which each sentence is quoted from its own source."""
    numbered = list(enumerate(sentences, start=1))
    cited = [Citation("Details", n, text, text, n, f"https://example.org/{n}", 0.9, trusted) for n, text in numbered]
    sources = [CitedSource(n, "Norland", f"https://example.org/{n}") for n, _ in numbered]
    return Report(title, tuple(cited), tuple(sources))


GROWTH = (
    "The population of Norland was 4,100,000 in 1990.",
    "In 2010, the population of Norland was 4,900,000.",
    "Norland had a population of 4,500,000 in 2000.",
)


def test_values_of_three_years_are_drawn_in_order() -> None:
    """Each with the number of its source."""
    figure = figure_of(report(*GROWTH))
    assert figure is not None
    assert (figure.labels, figure.values) == (("1990", "2000", "2010"), (4_100_000, 4_500_000, 4_900_000))
    assert figure.sources == (1, 3, 2)
    assert figure.caption == "Figures for the question, by year. Sources: [1], [3], [2]"


def test_values_that_sources_give_differently_are_drawn_by_source() -> None:
    """Two heights of one mountain."""
    heights = ("Mount Kora is 8,849 m high.", "The height of Mount Kora is 8,844 m.")
    figure = figure_of(report(*heights, title="How high is Mount Kora?"))
    assert figure is not None
    assert (figure.labels, figure.values) == (("[1]", "[2]"), (8849, 8844))


@pytest.mark.parametrize(
    ("title", "sentences"),
    [
        (QUESTION, GROWTH[:1]),
        (QUESTION, ("The area of Norland is 300 km2.", "Norland has a capital.")),
        ("What is a closure?", ("A closure has 3 parts.", "A closure has 4 parts.")),
        ("How high is Mount Kora?", ("Mount Kora is 8,849 m high.", "Mount Kora is 8,849 m high.")),
        ("When was Norland founded?", ("Norland was founded in 1905.", "Norland was founded in 1907.")),
        ("", ()),
    ],
)
def test_other_numbers_are_not_drawn(title: str, sentences: tuple[str, ...]) -> None:
    """One value, other things, questions that ask for no figure, values that agree, and years."""
    assert figure_of(report(*sentences, title=title)) is None


def test_only_verified_sentences_are_drawn() -> None:
    """A number that is in no source is not."""
    assert figure_of(report(*GROWTH, trusted=False)) is None


def test_the_figure_is_one_svg_element_with_text_as_text() -> None:
    """The same figure gives the same bytes, and a hostile unit is no markup."""
    figure = Figure('</svg><script>"', ("2000", "2010", "2020"), (1.5, 2.25, 3.0), (1, 2, 1))
    drawn = as_svg(figure)
    assert drawn == as_svg(figure)
    root = ET.fromstring(drawn)  # noqa: S314 - our own
    texts = ["".join(each.itertext()).strip() for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"2000", "2010", "2020", "1.5", "2.25", "3"} <= set(texts)
    assert "<script" not in drawn


def test_the_page_has_the_figure_and_its_caption() -> None:
    """It is inside the page, without a request."""
    saved = SavedReport(
        question=QUESTION, engine="scripted", plan=None, rounds=(), stop_reason="stagnation", sources=(),
        report=report(*GROWTH), live_calls=0, cache_hits=0, research_cache="off", origin=None, answered={}, run="",
    )  # fmt: skip
    page = as_html(saved, 0.0)
    assert page.count("<svg") == 1
    assert "<figcaption>Figures for the question, by year. Sources: [1], [3], [2]</figcaption>" in page
