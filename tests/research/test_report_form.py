"""The form of a report: answer, key points, details, disagreements, limits and sources, as Markdown and HTML."""

import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec.structs import replace

from harness.research.evidence import Evidence
from harness.research.extractive_writer import ANSWER_SENTENCES, write_report
from harness.research.gathering import GatheredSource
from harness.research.planner import ANSWER, DETAILS, FURTHER, KEY_POINTS, make_plan
from harness.research.report import DISAGREEMENTS, Citation, CitedSource, Report
from harness.research.reports import as_html
from harness.research.rules import rules_of
from harness.research.saved_report import saved_research
from tests.research.test_reports import KNOWN_ATTRIBUTES, KNOWN_TAGS, NOW, Page, research

PROPERTY = settings(deadline=None, max_examples=100)
SECONDS = 20.0
"""Far more than is needed, and far less than time that grows with the square of the text."""
ONE = make_plan("What is rye bread?")
TWO = make_plan("What is rye bread, and how is wheat bread made?")
RYE, WHEAT = TWO.parts
POINTS = rules_of().weights.key_points


def excerpt(*sentences: str, source: int = 1, **own: Any) -> Evidence:
    """Return an excerpt of a source that has exactly these sentences."""
    held = GatheredSource(
        f"https://example.org/{source}", f"Source {source}", (" ".join(sentences),), date=own.pop("date", "")
    )
    given = {"position": 0, "score": 0.5, **own}
    return Evidence(sentences, held, "d", 0, similarity=0.5, **given)


def shape(report: Report) -> dict[str, list[list[str]]]:
    """Return the sentences of each section, by paragraph."""
    return {title: [[each.sentence for each in part] for part in parts] for title, parts in report.sections}


def many(count: int, **own: Any) -> list[Evidence]:
    """Return excerpts of one sentence, each from another source."""
    return [excerpt(f"Sentence {n}.", source=n, **own) for n in range(count)]


# --- what is said where


def test_the_answer_is_short_and_the_rest_follows_by_relevance() -> None:
    """Three sentences, the most relevant of the others as key points in their order, then details."""
    found = [
        excerpt(f"S{n}.", source=n, relevance=relevance) for n, relevance in enumerate([9, 8, 7, 1, 5, 3, 4, 2, 6])
    ]
    assert shape(write_report(ONE, found)) == {
        ANSWER: [["S0."], ["S1."], ["S2."]],
        KEY_POINTS: [["S4."], ["S5."], ["S6."], ["S8."]],
        DETAILS: [["S3."], ["S7."]],
    }


def test_an_excerpt_that_is_much_less_likely_is_no_answer() -> None:
    """It is a key point, however short the answer is; one that is nearly as likely is in the answer."""
    first, unlikely = excerpt("One.", relevance=0.9), excerpt("Two.", relevance=0.1)
    plan = make_plan("How is bread made?")
    assert shape(write_report(plan, [first, unlikely]))[ANSWER] == [["One."]]
    likely = excerpt("Three.", relevance=0.8)
    assert shape(write_report(plan, [first, likely]))[ANSWER] == [["One."], ["Three."]]


@pytest.mark.parametrize(
    ("lengths", "answering"), [([4, 1], 1), ([2, 2, 1], 1), ([2, 1, 1], 2), ([1, 1, 1, 1], 3), ([3], 1)]
)
def test_an_excerpt_is_never_cut_to_fit_the_answer(lengths: list[int], answering: int) -> None:
    """The best one answers whole; another one is added only if it fits whole."""
    found = [excerpt(*(f"S{n}.{m}." for m in range(length)), source=n) for n, length in enumerate(lengths)]
    answer = shape(write_report(ONE, found))[ANSWER]
    assert answer == [list(each.sentences) for each in found[:answering]]
    assert answering == 1 or sum(map(len, answer)) <= ANSWER_SENTENCES


@pytest.mark.parametrize("count", range(1, ANSWER_SENTENCES + POINTS + 2))
def test_a_section_without_evidence_is_left_out(count: int) -> None:
    """And nothing is lost or said twice."""
    sections = shape(write_report(ONE, many(count)))
    assert list(sections) == [ANSWER, KEY_POINTS, DETAILS][: 1 + (count > 3) + (count > 7)]
    said = [sentence for parts in sections.values() for part in parts for sentence in part]
    assert sorted(said) == sorted(f"Sentence {n}." for n in range(count))


def test_every_sub_question_is_answered_and_has_its_own_details() -> None:
    """The best excerpt of each comes first, whatever their order; what remains is under its question."""
    found = [excerpt("Rye.", source=50), excerpt("More rye.", source=51), excerpt("Wheat.", source=52, part=1)]
    more = [excerpt(f"More {n}.", source=n, part=n % 2) for n in range(POINTS + 4)]
    sections = shape(write_report(TWO, [*found, *more]))
    assert list(sections) == [ANSWER, KEY_POINTS, RYE, WHEAT]
    assert [part for part in sections[ANSWER] if part != ["More rye."]] == [["Rye."], ["Wheat."]]
    assert sections[RYE] == [["More 4."], ["More 6."]]
    assert sections[WHEAT] == [["More 5."], ["More 7."]]


def test_excerpts_that_more_likely_do_not_help_come_last() -> None:
    """Under their own heading, after the statements that disagree, in their order. The answer is the best excerpt,
    however likely; what was not read is no further passage.
    """
    found = [
        excerpt(f"S{n}.", source=n, relevance=0.1 if n else 0.9, helps=helps)
        for n, helps in enumerate([0.4, 0.3, 0.5, None, 0.49, 0.9])
    ]
    against = [excerpt("It is 5.", source=1, disagrees=1), excerpt("It is 6.", source=2, disagrees=1)]
    report = write_report(ONE, [*found, *against])
    assert list(shape(report).items()) == [
        (ANSWER, [["S0."]]),
        (KEY_POINTS, [["S2."], ["S3."], ["S5."]]),
        (DISAGREEMENTS, [["It is 5.", "It is 6."]]),
        (FURTHER, [["S1."], ["S4."]]),
    ]
    assert "## Further passages\n\n- “S1.” [5]\n- “S4.” [6]\n" in report.markdown()
    assert FURTHER not in shape(write_report(ONE, found, {"weights": "further_below: 0.1"}))


def test_what_is_no_answer_alone_comes_last() -> None:
    """However likely it helps: it needs the sentence before it, or its passage lacks a year of the question."""
    texts = ("A.", "It is so.", "B.", "C.", "No version guarantees this order.")
    found = [excerpt(text, source=n, relevance=0.9, helps=0.9) for n, text in enumerate(texts)]
    found[3] = replace(found[3], lacks=("2020",))
    sections = shape(write_report(ONE, found))
    assert sections == {ANSWER: [["A."]], KEY_POINTS: [["B."]], FURTHER: [["It is so."], ["C."], [texts[4]]]}
    found[1] = replace(found[1], sentences=("D.",))
    assert shape(write_report(ONE, found[:4])) == {ANSWER: [["A."], ["D."], ["B."]], FURTHER: [["C."]]}


def test_every_sub_question_keeps_its_best_excerpt_in_its_section() -> None:
    """However little it helps; its other ones come last, none is added to the answer."""
    found = [excerpt(f"P{n}.", source=n, part=n % 2, relevance=0.1, helps=0.3) for n in range(6)]
    sections = shape(write_report(TWO, found))
    assert sections == {ANSWER: [["P0."], ["P1."]], RYE: [["P2."]], WHEAT: [["P3."]], FURTHER: [["P4."], ["P5."]]}


def test_every_sub_question_has_a_section_if_little_was_found() -> None:
    """Its last point is there instead of among the key points."""
    found = [excerpt("Rye.", source=50), excerpt("Wheat.", source=52, part=1), excerpt("More rye.", source=51)]
    more = [excerpt(f"More {n}.", source=n, part=n % 2) for n in range(4)]
    sections = shape(write_report(TWO, [*found, *more]))
    assert list(sections) == [ANSWER, KEY_POINTS, RYE, WHEAT]
    assert (sections[RYE], sections[WHEAT]) == ([["More 2."]], [["More 3."]])


@pytest.mark.parametrize(
    ("question", "first"), [("What is rye bread?", "Rye bread is a dense bread."), ("How?", "Bake.")]
)
def test_what_something_is_comes_first_if_that_is_asked(question: str, first: str) -> None:
    """Otherwise the best excerpt does."""
    found = [excerpt("Bake.", source=1), excerpt("Rye bread is a dense bread.", source=2), excerpt("Cut.", source=3)]
    sections = shape(write_report(make_plan(question), found))
    assert sections[ANSWER][0] == [first]
    assert sorted(text for [text] in sections[ANSWER]) == ["Bake.", "Cut.", "Rye bread is a dense bread."]


def test_details_of_a_source_are_together_in_its_order() -> None:
    """The source of the best excerpt comes first."""
    found = [
        *many(ANSWER_SENTENCES + POINTS),
        *(
            excerpt(f"D{source}.{position}.", source=source, position=position)
            for source, position in [(20, 9), (21, 1), (20, 3), (21, 0)]
        ),
    ]
    assert shape(write_report(ONE, found))[DETAILS] == [["D20.3."], ["D20.9."], ["D21.0."], ["D21.1."]]


def test_statements_that_disagree_are_beside_each_other_and_not_repeated() -> None:
    """A paragraph for each disagreement; key points and details are without them."""
    against = [
        excerpt("It is 5.", source=2, disagrees=1),
        excerpt("It is 6.", source=9, disagrees=1),
        excerpt("It is new.", source=3, disagrees=2),
        excerpt("It is not new.", source=8, disagrees=2),
    ]
    found = [*many(3), excerpt("It is 5.", source=2), excerpt("It is new.", "So it sells.", source=3)]
    sections = shape(write_report(ONE, [*found, *against]))
    assert list(sections) == [ANSWER, KEY_POINTS, DISAGREEMENTS]
    assert sections[DISAGREEMENTS] == [["It is 5.", "It is 6."], ["It is new.", "It is not new."]]
    assert ["It is 5."] not in sections[KEY_POINTS]


def test_sources_are_numbered_as_they_are_cited() -> None:
    """Each once, also those of disagreements; every citation has the number of its source."""
    found = [excerpt("A.", source=7), excerpt("B.", source=3), excerpt("C.", source=7)]
    report = write_report(ONE, [*found, excerpt("A.", source=3, disagrees=1), excerpt("D.", source=5, disagrees=1)])
    assert [(source.number, source.url[-1]) for source in report.sources] == [(1, "7"), (2, "3"), (3, "5")]
    assert all(report.sources[each.number - 1].url == each.url for each in report.citations)


def test_a_sentence_that_is_not_in_its_source_is_not_verified() -> None:
    """Though the writer was given it."""
    good, bad = excerpt("Bread is baked.", source=1), excerpt("Bread is fried.", source=2)
    bad = replace(bad, source=replace(bad.source, texts=("Bread is baked.",)))
    assert [each.verified for each in write_report(ONE, [good, bad]).citations] == [True, False]


@pytest.mark.parametrize("wanted", [1, 2, 3, 5, 8])
def test_a_wanted_number_of_sections_is_kept(wanted: int) -> None:
    """Nothing is lost; a disagreement is a further section."""
    found = [excerpt(f"S{n}.", source=n % 3, position=n) for n in range(8)]
    against = [excerpt("It is 5.", source=1, disagrees=1), excerpt("It is 6.", source=2, disagrees=1)]
    sections = shape(write_report(replace(ONE, wanted=wanted), [*found, *against]))
    assert len(sections) == wanted + 1
    del sections[DISAGREEMENTS]
    said = [sentence for parts in sections.values() for part in parts for sentence in part]
    assert sorted(said) == [f"S{n}." for n in range(8)]


def test_wanted_sections_are_about_the_sub_questions() -> None:
    """In their order, whatever their scores. A further section is about a source; surplus ones share the last."""
    found = [excerpt(f"P{n}.", source=n, part=n % 2, score=n, position=n) for n in range(8)]

    def sections(wanted: int) -> dict[str, list[list[str]]]:
        return shape(write_report(replace(TWO, wanted=wanted), found))

    answer = [["P0."], ["P1."], ["P2."]]
    assert sections(3) == {ANSWER: answer, RYE: [["P4."], ["P6."]], WHEAT: [["P3."], ["P5."], ["P7."]]}
    assert sections(4) == {ANSWER: answer, RYE: [["P4."], ["P6."]], WHEAT: [["P3."], ["P5."]], "Source 7": [["P7."]]}
    assert list(sections(2)) == [ANSWER, DETAILS]


def test_wanted_sections_are_filled_before_excerpts_come_last() -> None:
    """Excerpts that more likely do not help come last, but for one that a section needs."""
    found = [excerpt(f"S{n}.", source=n, helps=helps) for n, helps in enumerate([0.4, 0.3, 0.9, 0.2])]

    def sections(wanted: int) -> list[str]:
        return list(shape(write_report(replace(ONE, wanted=wanted), found)))

    assert [sections(wanted) for wanted in (1, 2, 3, 4)] == [
        [ANSWER, FURTHER],
        [ANSWER, "Source 2", FURTHER],
        [ANSWER, "Source 1", "Source 2", FURTHER],
        [ANSWER, "Source 1", "Source 2", "Source 3"],
    ]


def test_no_evidence_is_an_empty_report() -> None:
    """It has no section and no source, and can still be written."""
    report = write_report(ONE, [])
    assert (report.citations, report.sources, report.sections) == ((), (), [])
    assert report.markdown().startswith("# What is rye bread?\n\n## Sources\n")


# --- Markdown and HTML


def said(text: str, section: str, number: int = 1, quotation: str | None = None, **own: Any) -> Citation:
    """Return a sentence, quoted unless it has another quotation."""
    quoted = text if quotation is None else quotation
    return Citation(section, 1, text, quoted, number, f"https://example.org/{number}", 0.5, True, **own)


def written(
    text: str = "Bread",
    *,
    title: str = "On bread",
    url: str = "https://example.org/1",
    about: str = "A. Baker",
    limit: str = "One limit.",
    lacks: str = "2023",
    quotation: str | None = None,
) -> Report:
    """Return a report of all sections with these texts."""
    sections = (ANSWER, KEY_POINTS, DETAILS, DISAGREEMENTS)
    citations = [said(text, section, quotation=quotation) for section in sections]
    citations.append(said("Another", DISAGREEMENTS, 2, lacks=(lacks,)))
    sources = (
        CitedSource(1, title, url, date="2020-05", authors=about, site=about),
        CitedSource(2, "On rye", "https://example.org/2"),
    )
    return Report("What is bread?", tuple(citations), sources, remark="A remark", limits=(limit, "Two."))


def marks(markdown: str) -> list[tuple[str, str]]:
    """Return the elements of Markdown in order, a link with its address, without the text in them."""
    found: list[tuple[str, str]] = []

    def walk(tokens: Sequence[Any]) -> None:
        for token in tokens:
            if token.type not in {"text", "text_special"}:
                found.append((token.type, str(token.attrGet("href") or "")))
            walk(token.children or ())

    walk(MarkdownIt("commonmark").enable("table").parse(markdown))
    return found


def headings(markdown: str) -> list[str]:
    """Return the headings of Markdown in order."""
    return [line.lstrip("# ") for line in markdown.splitlines() if line.startswith("#")]


def html_of(report: Report) -> str:
    """Return the page of a report, which has no tag and no attribute that is not known."""
    found, _ = research()
    html = as_html(saved_research(replace(found, report=report)), NOW)
    page = Page(html)
    assert set(page.tags) <= KNOWN_TAGS | {"table", "tr", "th", "td"}
    assert {name for name, _ in page.attributes} <= KNOWN_ATTRIBUTES
    return html


def test_sections_come_in_their_order() -> None:
    """In Markdown and on the page; quotations of a model's sentences before the limits."""
    order = ["What is bread?", ANSWER, KEY_POINTS, DETAILS, DISAGREEMENTS, "Limits", "Sources"]
    assert headings(written().markdown()) == order
    assert headings(written(quotation="Bread is baked").markdown()) == [*order[:5], "Quotations", *order[5:]]
    html = html_of(written())
    places = [html.index(f">{title}</h") for title in order]
    assert places == sorted(places)


def test_statements_that_disagree_are_rows_of_a_table() -> None:
    """A table for each disagreement: number, quotation, and the date if it is known."""
    citations = [said("It is 5.", DISAGREEMENTS), said("It is 6.", DISAGREEMENTS, 2)]
    citations += [replace(each, paragraph=2) for each in citations]
    report = replace(written(), citations=tuple(citations))
    rows = "| 1 | “It is 5.” [1] | 2020-05 |\n| 2 | “It is 6.” [2] |  |\n"
    table = f"| Source | Says | Date |\n| --- | --- | --- |\n{rows}"
    assert f"## {DISAGREEMENTS}\n\n{table}\n{table}\n" in report.markdown()
    html = html_of(report)
    assert html.count("<table>") == 2
    assert html.count("<tr><td>On bread</td><td><q>It is 5.</q>") == 2


def test_key_points_and_limits_are_lists_and_the_answer_is_not() -> None:
    """The same in Markdown and on the page."""
    markdown, html = written().markdown(), html_of(written())
    assert (
        f"## {ANSWER}\n\n“Bread” [1]\n\n## {KEY_POINTS}\n\n- “Bread” [1]\n\n## {DETAILS}\n\n“Bread” [1]\n" in markdown
    )
    assert "## Limits\n\n- One limit.\n- Two.\n\n## Sources\n" in markdown
    assert "<h2>Limits</h2><ul><li>One limit.</li><li>Two.</li></ul>" in html
    assert f"<h2>{KEY_POINTS}</h2>\n<ul>\n<li><q>Bread</q>" in html


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (CitedSource(1, "T", "https://example.org"), "page, excerpt of search results"),
        (CitedSource(1, "T", "https://example.org", read=True), "page, page read"),
        (CitedSource(1, "T", "https://example.org", fetched_at=NOW, read=True), "page, read on 2025-11-13"),
        (CitedSource(1, "T", "https://example.org", read_on="2025-11-13", read=True), "page, read on 2025-11-13"),
        (
            CitedSource(1, "T", "https://example.org", read_on="2025-11-13"),
            "page, excerpt of search results, read on 2025-11-13",
        ),
        (CitedSource(1, "T", "file:///a.pdf"), "document"),
        (
            CitedSource(
                1, "T", "https://arxiv.org/abs/1", authors="A, B", site="J", date="2020", doi="10.1/x", read=True
            ),
            "A, B, J, 2020, paper, page read",
        ),
    ],
)
def test_a_source_is_described(source: CitedSource, words: str) -> None:
    """By the known details: authors, site, date, kind, how it was seen."""
    assert source.described_in("") == words
    report = Report("Q", (), (source,))
    assert f"1. T. {words}. " in report.markdown()
    assert f"T, {words} " in html_of(report)


@pytest.mark.parametrize(
    ("title", "shown"), [("On bread", "On bread."), ("Bread?", "Bread?"), ("Bread!", "Bread!"), ("B.", "B.")]
)
def test_a_title_ends_with_one_sign(title: str, shown: str) -> None:
    """Its own or a point."""
    assert f"1. {shown} A. Baker, " in written(title=title).markdown()


HOSTILE = (
    "a | b",
    "a \\| b",
    "a \\\\| b\\",
    "a\nb\n\nc\r\nd\u2028e\x85f\x0bg",
    "| --- | --- |",
    "`x` ``y`` ```z",
    "[x](https://evil.example) ![x](https://evil.example/i.png)",
    "[x][1] [1]: https://evil.example",
    "<https://evil.example> <b>x</b> <!-- x --> <script>",
    "**x** __x__ *x* _x_ ~~x~~",
    "*\x01*x*\x02*",
    "]\x01(https://evil.example)",
    "# x\n## y\n> z\n---\n===\n~~~",
    "\ud800\u202e x",
    "&lt;b&gt; &#42;x&#42; &vert;",
)


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
@pytest.mark.parametrize("place", ["text", "quotation", "title", "about", "limit", "lacks"])
def test_no_source_text_is_markdown(place: str, text: str) -> None:
    """In every place, inside other words: the same elements as with plain text, and the same cells."""
    given: dict[str, str] = {place: f"So {text} it"}
    plain = written(**{place: "So it"})
    assert marks(written(**given).markdown()) == marks(plain.markdown())


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_a_quotation_that_begins_and_ends_with_signs_is_no_markdown(text: str) -> None:
    """It stands between quotation marks, in paragraphs, lists and tables."""
    assert marks(written(text).markdown()) == marks(written().markdown())


@pytest.mark.slow
@PROPERTY
@given(text=st.text(), title=st.text())
@example("|", "\\")
@example("\\|`", "](")
def test_no_text_makes_an_element_of_markdown_or_a_tag(text: str, title: str) -> None:
    """For any text of a source."""
    odd, plain = written(f"s{text}", title=f"t{title}", limit=f"l{text}", about=f"a{title}"), written()
    assert marks(odd.markdown()) == marks(plain.markdown())
    assert Page(html_of(odd)).tags == Page(html_of(plain)).tags


def test_no_place_of_a_page_has_markup_of_a_source() -> None:
    """Sentences, titles, authors, sites, dates, limits and terms are escaped."""
    evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    odd = written(evil, title=evil, about=evil, limit=evil, lacks=evil, quotation=f"q {evil}")
    odd = replace(odd, sources=tuple(replace(each, date=evil, doi=evil) for each in odd.sources))
    tags = [tag for tag in Page(html_of(odd)).tags if tag != "span"]
    assert tags == [tag for tag in Page(html_of(written(quotation="q"))).tags if tag != "span"]


URLS = st.text(st.characters(exclude_categories=["Cc", "Cs"])).map("https://example.org/{}".format)


@pytest.mark.slow
@PROPERTY
@given(url=URLS)
@example("https://example.org/[x](https://evil.example)")
@example("https://example.org/a b><b>|`*_")
def test_an_address_makes_one_link(url: str) -> None:
    """In Markdown and on the page, whatever signs it has."""
    links = [address for kind, address in marks(written(url=url).markdown()) if kind == "link_open"]
    assert len(links) == 2
    assert links[0].startswith("https://example.org/")
    assert Page(html_of(written(url=url))).links == [url, "https://example.org/2"]


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["|", "`", "\\", "[](", "*_", "a ", "\n", "<", "\x00\ud800"])
def test_long_texts_take_a_bounded_time(piece: str) -> None:
    """To write, in every place at once."""
    text = piece * 30_000
    report = written(text, title=text, about=text, limit=text, lacks=text)
    began = time.perf_counter()
    assert report.markdown()
    assert html_of(report)
    assert time.perf_counter() - began < SECONDS
