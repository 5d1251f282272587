"""Quality of sources: primary ones up, copies of other sites and outdated pages down, always within narrow bounds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.source_quality import FARM, MANY_ADS, MOST, NEUTRAL, Quality, least_year, quality

YEAR = 2026
PAGE = "https://blog.example.org/1"


def of(url: str, **about: object) -> Quality:
    """Return the quality of a source in 2026."""
    return quality(url, year=YEAR, **about)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://arxiv.org/abs/2001.00001", "paper: up"),
        ("https://www.cdc.gov/flu", "official: up"),
        ("https://docs.python.org/3/", "documentation: up"),
        ("https://en.wikipedia.org/wiki/Bee", "encyclopaedia: up"),
    ],
)
def test_primary_sources_weigh_more(url: str, reason: str) -> None:
    """Papers, official sites, documentation, encyclopaedias."""
    assert of(url) == Quality(0.03, (reason,))


@pytest.mark.parametrize(
    "url",
    [
        PAGE,
        "https://stackoverflow.com/questions/1",
        "https://github.com/python/cpython",
        "https://www.reuters.com/1",
        "https://me.github.io/1",
        "https://github.example.org/team/code",
        "https://stackoverflow.blog/1",
        "https://notehow.com/",
        "https://[",
        "https://com/",
    ],
)
def test_other_pages_are_neutral(url: str) -> None:
    """Forums, code, news, unknown pages, servers of an organisation, broken URLs."""
    assert of(url) == NEUTRAL


@pytest.mark.parametrize(
    "url",
    [
        "https://www.stackoom.com/question/1",
        "https://newbedev.com/",
        "https://docs.ehow.com/reference/",
        "https://stackoverflow.org.cn/questions/1",
        "https://de.stackoverflowpoint.com/",
        "https://githubmemory.com/repo/a/b",
        "https://www.github-mirror.co.uk/",
        "https://wikipedia-copy.net/",
        "https://EHOW.com./",
    ],
)
def test_copies_of_other_sites_weigh_less(url: str) -> None:
    """By the list, or by the name of another site; the look of a documentation does not help."""
    assert of(url) == Quality(FARM, ("copies of other sites: down",))


@pytest.mark.parametrize("url", ["pydoc:with", "file:///a/report.pdf", "knowledge:1", "ftp://arxiv.org/1", "", "x"])
def test_documents_are_neutral(url: str) -> None:
    """Details make no difference: sources that are not of the web all have one weight."""
    assert of(url, doi="10.1000/abc", date="2001", site="Notes", since=2025) == NEUTRAL


def test_a_doi_makes_a_paper() -> None:
    """Wherever it is."""
    assert of(PAGE, doi="10.1000/abc").reasons == ("paper: up",)


def test_a_named_site_weighs_a_little_more() -> None:
    """A name of white space is none."""
    assert of(PAGE, site="Journal of Sleep") == Quality(0.01, ("site named: up",))
    assert of(PAGE, site="  ") == NEUTRAL


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("2026", Quality(0.01, ("date 2026: up",))),
        ("2025-01-31", Quality(0.01, ("date 2025: up",))),
        ("2024-12", Quality(-0.02, ("date 2024: down",))),
        ("1999-01-01", Quality(-0.02, ("date 1999: down",))),
        ("2027", NEUTRAL),
        ("9999-12-31", NEUTRAL),
        ("0000", NEUTRAL),
        ("20261", NEUTRAL),
        ("²⁰²⁶", NEUTRAL),
        ("yesterday", NEUTRAL),
        ("", NEUTRAL),
    ],
)
def test_a_date_counts_where_the_question_asks_for_one(date: str, expected: Quality) -> None:
    """Old pages go down; a date in the future, or of another form, says nothing."""
    assert of(PAGE, date=date, since=2025) == expected
    assert of(PAGE, date=date) == NEUTRAL


@pytest.mark.parametrize(
    ("url", "ads", "expected"),
    [
        (PAGE, MANY_ADS, Quality(-0.02, ("many advertisements: down",))),
        (PAGE, 10**30, Quality(-0.02, ("many advertisements: down",))),
        (PAGE, MANY_ADS - 1, NEUTRAL),
        ("file:///a.html", 1_000, NEUTRAL),
        ("https://newbedev.com/", 1_000, Quality(FARM, ("copies of other sites: down", "many advertisements: down"))),
    ],
)
def test_many_advertisements_weigh_a_little(url: str, ads: int, expected: Quality) -> None:
    """However many, never for a file, and not beyond the bound."""
    assert of(url, ads=ads) == expected


@pytest.mark.parametrize(
    ("question", "year"),
    [
        ("what is the latest version of python", 2025),
        ("news about bees in 2019", 2025),
        ("python releases in 2026", 2025),
        ("who won the world cup in 1998", 2025),
        ("how many bees lived in 1998", 1998),
        ("bees from 2015 to 2020", 2020),
        ("how do bees sleep", 0),
        ("is rfc 2119 a standard", 0),
        ("", 0),
    ],
)
def test_the_question_says_from_when_pages_should_be(question: str, year: int) -> None:
    """About the present: from last year on; with years: from the latest one on; else any."""
    assert least_year(question, YEAR) == year


ANY = st.text(max_size=60)
URL = st.one_of(ANY, st.builds("https://{}/{}".format, ANY, ANY))


@settings(deadline=None, max_examples=60)
@given(URL, ANY, ANY, ANY, st.integers(0, 3000))
def test_weights_are_bounded(url: str, doi: str, date: str, site: str, since: int) -> None:
    """Any facts at all: two sources never differ by more than a tenth, and a weight has its reasons."""
    found = quality(url, doi=doi, date=date, site=site, since=since, year=YEAR)
    assert -MOST <= found.weight <= MOST <= 0.05
    assert found.reasons or found.weight == 0
    assert all(len(reason) < 40 and reason.endswith((": up", ": down")) for reason in found.reasons)
