"""Limits that a report names."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.research.evidence import Evidence
from harness.research.gathering import Gathered, GatheredSource, Round, Search, StopReason
from harness.research.page_reading import PageReading
from harness.research.planner import make_plan
from harness.research.report import Citation, CitedSource, Report
from harness.research.report_limits import MAX_NAMED, limits_of, remark_of

PROPERTY = settings(deadline=None)
QUESTION = "What is rye bread?"
TWO = "What is rye bread, and how is wheat bread made?"
LEAST = 0.5
READ_AT = 1_763_000_000.0  # 2025-11-13


def quoted(*lacks: str, quotation: str = "Bread is baked") -> Citation:
    """Return a quotation whose passage lacks these terms of the question."""
    return Citation("Answer", 1, quotation, quotation, 1, "https://example.org/1", 0.5, True, lacks=lacks)


def source(number: int = 1, **about: Any) -> CitedSource:
    """Return a source that was read."""
    url = about.pop("url", f"https://example.org/{number}")
    return CitedSource(number, "On bread", url, **{"read": True, **about})


def evidence(part: int, disagrees: int = 0, helps: float | None = 0.9) -> Evidence:
    """Return an excerpt about a sub-question."""
    held = GatheredSource("https://example.org/1", "On bread", ("Bread is baked",))
    return Evidence(("Bread is baked",), held, "d", 0, 0, 0.5, 0.5, part=part, disagrees=disagrees, helps=helps)


def search(how: Any, engine: str = "one") -> Search:
    """Return a search."""
    return Search("bread", engine, how, 0)


def page(how: str, host: str = "example.org") -> PageReading:
    """Return a page that was read or not."""
    return PageReading(f"https://{host}/1", how, 0)


def limits(
    question: str = QUESTION,
    *,
    citations: Sequence[Citation] = (),
    sources: Sequence[CitedSource] = (),
    found: Sequence[Evidence] = (evidence(0), evidence(1)),
    searches: Sequence[Search] = (),
    pages: Sequence[PageReading] = (),
    stop: StopReason = "stagnation",
) -> tuple[str, ...]:
    """Return the limits of a report."""
    gathered = Gathered((), (Round(tuple(searches), tuple(pages), 1.0, 0.5),), stop)
    report = Report(question, tuple(citations), tuple(sources))
    return tuple(limits_of(make_plan(question), gathered, found, report, LEAST))


def test_a_report_of_read_sources_has_no_limits() -> None:
    """Nothing lacks, failed or is old: not one sentence."""
    assert limits(citations=[quoted()], sources=[source()], searches=[search("live")], pages=[page("live")]) == ()
    assert limits(TWO, searches=[search("cache")], pages=[page("cache")]) == ()


@pytest.mark.parametrize(
    ("citations", "said"),
    [
        ([quoted("2023")], ("No quoted passage answers: each does not mention 2023.",)),
        ([quoted("2023", "3.12"), quoted("2023", "3.12")], ("No quoted passage answers: each",)),
        ([quoted("2023"), quoted()], ()),
        ([quoted("2023"), quoted("3.12")], ()),
        ([], ()),
        ([quoted("2023", quotation="")], ()),
    ],
)
def test_a_term_that_every_passage_lacks_is_named(citations: list[Citation], said: tuple[str, ...]) -> None:
    """One passage with it is enough; a sentence without a quotation does not count."""
    found = limits(citations=citations)
    assert len(found) == len(said)
    assert all(each.startswith(wanted) for each, wanted in zip(found, said, strict=True))


def test_a_sub_question_without_evidence_is_named() -> None:
    """Each of them, in order; a statement that disagrees is evidence."""
    second = "Nothing was found that answers: How is wheat bread made?"
    assert limits(TWO, found=[evidence(0)]) == (second,)
    assert limits(TWO, found=[]) == ("Nothing was found that answers: What is rye bread?", second)
    assert limits(TWO, found=[evidence(0), evidence(1, disagrees=1)]) == ()
    assert limits(QUESTION, found=[]) == ()


def test_a_sub_question_that_no_excerpt_clearly_answers_is_named() -> None:
    """One likely excerpt is enough, a statement that disagrees is none, and one without a probability hardly helps if
    others have one.
    """
    unclear = "No source clearly answers: How is wheat bread made?"
    assert limits(TWO, found=[evidence(0), evidence(1, helps=0.3)]) == (unclear,)
    assert limits(TWO, found=[evidence(0), evidence(1, helps=0.3), evidence(1, 1)]) == (unclear,)
    assert limits(TWO, found=[evidence(0), evidence(1, helps=0.3), evidence(1, helps=LEAST)]) == ()
    assert limits(TWO, found=[evidence(0), evidence(1, helps=None)]) == (unclear,)
    assert limits(TWO, found=[evidence(0, helps=None), evidence(1, helps=None)]) == ()


@pytest.mark.parametrize(
    ("found", "about", "said"),
    [
        ([evidence(0, helps=0.4), evidence(0, helps=0.2)], {}, "no source clearly answers the question"),
        ([evidence(0, helps=0.4), evidence(1, helps=0.6)], {}, ""),
        ([evidence(0, helps=None)], {}, ""),
        ([evidence(0, helps=0.4)], {"writer": "small"}, ""),
        ([evidence(0, helps=0.4)], {"citations": (quoted("2023"),)}, "nothing that was found answers exactly"),
        ([], {}, ""),
    ],
)
def test_a_report_of_excerpts_that_hardly_help_says_so(found: list[Evidence], about: dict[str, Any], said: str) -> None:
    """Unless it names a term that they lack, or a model wrote it, whose sentences are checked."""
    remark = remark_of(Report(QUESTION, **{"citations": (), "sources": (), **about}), found, LEAST)
    assert remark.startswith(said)
    assert bool(remark) == bool(said)


def test_a_long_sub_question_is_cut() -> None:
    """A limit stays one short line."""
    (limit,) = limits(f"What is {'very ' * 100}good rye bread, and how is wheat bread made?", found=[evidence(1)])
    assert len(limit) < 250
    assert limit.endswith("…")


@pytest.mark.parametrize(
    ("stop", "said"),
    [
        ("limit of time", ("The search ended early: limit of time.",)),
        ("limit of tokens", ("The search ended early: limit of tokens.",)),
        ("limit of live calls", ("The search ended early: limit of live calls.",)),
        ("limit of rounds", ()),
        ("score met", ()),
        ("stagnation", ()),
        ("answered from the library", ()),
    ],
)
def test_a_search_that_a_limit_ended_is_named(stop: StopReason, said: tuple[str, ...]) -> None:
    """The usual number of rounds is no such limit."""
    assert limits(stop=stop) == said


def test_failed_searches_and_pages_are_counted() -> None:
    """Each engine and host is named once, in the order of failure; what worked is not."""
    searches = [search("failed", "b"), search("failed", "a"), search("failed", "b"), search("live", "c")]
    pages = [page("failed", "b.org"), page("cache", "c.org")]
    assert limits(searches=searches, pages=pages) == (
        "3 searches failed: b, a.",
        "1 page could not be read: b.org.",
    )
    assert limits(searches=searches[:1], pages=[*pages, page("failed", "a.org")]) == (
        "1 search failed: b.",
        "2 pages could not be read: b.org, a.org.",
    )


@pytest.mark.parametrize("more", [0, 1, 7])
def test_only_the_first_names_are_listed(more: int) -> None:
    """The others are counted."""
    names = [f"host{n}.org" for n in range(MAX_NAMED + more)]
    (limit,) = limits(pages=[page("failed", name) for name in names])
    ending = f" and {more} more." if more else "."
    assert limit == f"{len(names)} pages could not be read: {', '.join(names[:MAX_NAMED])}{ending}"


def test_a_long_name_is_cut() -> None:
    """A host of any length leaves the sentence short and on one line."""
    (limit,) = limits(pages=[page("failed", f"{'a' * 5_000}.org")])
    assert len(limit) < 150
    (limit,) = limits(searches=[search("failed", "an\nengine")])
    assert limit == "1 search failed: an engine."


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ([source(read=False)], ("1 of 1 cited sources was seen only as an excerpt",)),
        (
            [source(read=False), source(2, read=False), source(3)],
            ("2 of 3 cited sources were seen only as an excerpt",),
        ),
        ([source(url="file:///a.pdf", read=False)], ()),
        ([source(read=False, fetched_at=READ_AT)], ("1 of 1 cited sources was read for an earlier question",)),
        ([], ()),
    ],
)
def test_sources_that_were_not_read_are_counted(sources: list[CitedSource], said: tuple[str, ...]) -> None:
    """Only sources of the web count, and none that an earlier question read."""
    found = limits(sources=sources)
    assert len(found) == len(said)
    assert all(each.startswith(wanted) for each, wanted in zip(found, said, strict=True))


@pytest.mark.parametrize(
    ("dates", "said"),
    [
        (["2020"], ("The sources date from 2020.",)),
        (["2021-05-06", "2019-12", "2020"], ("The sources date from 2019 to 2021.",)),
        (["2020-01", "2020-12-31"], ("The sources date from 2020.",)),
        (["2020", "", ""], ("The sources date from 2020; 2 of 3 have no date.",)),
        (["", ""], ()),
    ],
)
def test_the_years_of_the_sources_are_named(dates: list[str], said: tuple[str, ...]) -> None:
    """The first and the last one, and how many have none."""
    assert limits(sources=[source(n, date=date) for n, date in enumerate(dates, start=1)]) == said


def test_sources_of_an_earlier_question_are_counted_with_the_oldest_day() -> None:
    """However they were read since."""
    sources = [source(1, fetched_at=READ_AT + 9e6), source(2, fetched_at=READ_AT), source(3)]
    assert limits(sources=sources) == (
        "2 of 3 cited sources were read for an earlier question, on 2025-11-13 or later.",
    )


def test_limits_keep_their_order() -> None:
    """Missing terms, then what failed, then the sources; the same research has the same ones."""
    how: Any = {
        "citations": [quoted("2023")],
        "sources": [source(1, read=False, date="2020"), source(2, fetched_at=READ_AT)],
        "found": [evidence(0)],
        "searches": [search("failed")],
        "pages": [page("failed")],
        "stop": "limit of time",
    }
    found = limits(TWO, **how)
    beginnings = ("No quoted", "Nothing", "The search ended", "1 search", "1 page", "1 of 2", "The sources", "1 of 2")
    assert [each.startswith(begin) for each, begin in zip(found, beginnings, strict=True)] == [True] * len(beginnings)
    assert limits(TWO, **how) == found


TEXTS = st.text(max_size=40)


@PROPERTY
@given(lacks=st.lists(TEXTS, max_size=4), engine=TEXTS, path=TEXTS, site=TEXTS)
def test_no_text_raises_and_every_limit_is_one_short_line(lacks: list[str], engine: str, path: str, site: str) -> None:
    """Whatever engines, pages and sources are called."""
    found = limits(
        citations=[quoted(*(" ".join(each.split()) for each in lacks))],
        sources=[source(site=site, read=False)],
        searches=[search("failed", engine)],
        pages=[PageReading(f"https://example.org/{path}", "failed", 0, path)],
    )
    assert all(0 < len(limit) < 600 and "\n" not in limit and "\r" not in limit for limit in found)
    assert "1 page could not be read: example.org." in found
