"""Finished research as Markdown, HTML and JSON."""

from collections.abc import Sequence
from html.parser import HTMLParser
from typing import Any

import orjson
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.core.text import one_line
from harness.errors import InvalidInput
from harness.research.gathering import Gathered, GatheredSource, Round, Search
from harness.research.planner import Plan
from harness.research.report import Citation, CitedSource, Report
from harness.research.reports import as_html, as_markdown, front_matter
from harness.research.result import Research
from harness.research.saved_report import saved_research
from harness.research.verification import read_report

PROPERTY = settings(deadline=None)
NOW = 1_763_000_000.0
URL = "https://example.org/a"
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'><b> [x](javascript:alert(1)) &lt;i&gt;"


def cited(
    sentence: str = "Bread is baked.", quotation: str = "Bread is baked", *, number: int = 1, **own: Any
) -> Citation:
    """Return one sentence of a report."""
    url = own.get("url", URL if number else "")
    return Citation(own.get("section", "Answer"), 1, sentence, quotation, number, url, 0.5, own.get("verified", True))


def research(
    question: str = "What is bread?",
    citations: Sequence[Citation] = (cited(),),
    *,
    title: str = "On bread",
    url: str = URL,
    writer: str = "",
    remark: str = "",
    run: str = "20261122-101500-1a2b3c",
) -> tuple[Research, Report]:
    """Return a finished research with one source."""
    report = Report(question, tuple(citations), (CitedSource(1, title, url),), writer, remark)
    plan = Plan(question, "research", ("bread", "bread explained"), ("Answer", "How it works", "Limits"))
    gathered = Gathered(
        (GatheredSource(url, title, ("Bread is baked",)),),
        (Round((Search("bread", "x", "live", 1),), (), 1.0, 0.5),),
        "stagnation",
    )
    found = Research(plan, gathered, report, "scripted", 1, 0, "off", {"live": 1}, run)
    return found, report


class Page(HTMLParser):
    """The tags of a page, and the URLs in its attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the tag."""
        self.tags.append(tag)
        self.attributes += attrs

    @property
    def links(self) -> list[str | None]:
        """Return the URLs outside the page."""
        return [value for name, value in self.attributes if name == "href" and not str(value).startswith("#source-")]


KNOWN_TAGS = set(
    "html head meta title style body main h1 h2 p section q sup a details summary ul ol li footer dl dt dd span".split()
)
KNOWN_ATTRIBUTES = {"lang", "charset", "name", "content", "class", "id", "href", "rel", "title"}


def page_of(found: Research, report: Report) -> Page:
    """Parse the page, and check that it loads and runs nothing."""
    html = as_html(saved_research(found), NOW)
    page = Page(html)
    assert set(page.tags) <= KNOWN_TAGS
    assert {name for name, _ in page.attributes} <= KNOWN_ATTRIBUTES
    style = html.split("<style>")[1].split("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style
    return page


def test_a_page_is_one_file_without_scripts() -> None:
    """Nothing is loaded; the only URL is the source's, as a link."""
    found, report = research()
    assert page_of(found, report).links == [URL]
    html = as_html(saved_research(found), NOW)
    assert html.startswith("<!doctype html>")
    assert "1 of 1 quotations verified" in html


def test_every_place_of_a_page_is_escaped() -> None:
    """Question, section, sentence, quotation, title, URL, writer, remark: hostile text makes no tag."""
    plain, hostile = (
        research(writer="m", remark="r"),
        research(
            HOSTILE,
            [cited(f"S {HOSTILE}", f"Q {HOSTILE}", section=HOSTILE, verified=False)],
            title=HOSTILE,
            url=f'https://example.org/" onclick="alert(1)" x="{HOSTILE}',
            writer=HOSTILE,
            remark=HOSTILE,
            run=HOSTILE,
        ),
    )
    tags = page_of(*plain).tags
    assert [tag for tag in page_of(*hostile).tags if tag != "span"] == tags
    assert "<script" not in as_html(saved_research(hostile[0]), NOW)
    assert len(page_of(*hostile).links) == 1


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)//http://",
        "data:text/html,<script>alert(1)</script>",
        " https://example.org",
        "file:///etc/passwd",
        "pydoc:print",
        "//example.org",
        "",
    ],
)
def test_only_addresses_of_the_web_are_links(url: str) -> None:
    """Other URLs are text."""
    found, report = research(url=url, citations=[cited(url=url)])
    assert page_of(found, report).links == []


@pytest.mark.parametrize(
    "url", ['https://example.org/"x"', "http://example.org/'x'><b>", "https://example.org/?a=1&b=2"]
)
def test_a_link_leads_to_the_source(url: str) -> None:
    """Quotes and markup characters stay in the URL, and cannot end it."""
    assert page_of(*research(url=url)).links == [url]


def test_unverified_sentences_are_marked() -> None:
    """On the page and in Markdown."""
    found, report = research(
        citations=[cited(), cited("Odd.", "odd", verified=False), cited("No.", "", number=0, verified=False)]
    )
    html = as_html(saved_research(found), NOW)
    assert html.count('class="unverified"') == 2
    assert "[no source]" in html
    assert "1 of 2 quotations verified" in html
    assert "[1, unverified]" in report.markdown()


def test_a_remark_is_on_the_page() -> None:
    """It is visible where the report is read."""
    assert "the model failed" in as_html(saved_research(research(remark="the model failed")[0]), NOW)


def front(found: Research, report: Report) -> Any:
    """Parse the front matter, and check that the report follows it."""
    markdown = as_markdown(saved_research(found), NOW)
    opening, matter, rest = markdown.split("---\n", 2)
    assert opening == ""
    assert rest == f"\n{report.markdown()}"
    return yaml.safe_load(matter)


def test_front_matter_describes_the_run() -> None:
    """Question, date, engine, model, run, live calls, quotations: all of them strings."""
    assert front(*research()) == {
        "question": "What is bread?",
        "date": "2025-11-13 02:13 UTC",
        "engine": "scripted",
        "model": "none",
        "run": "20261122-101500-1a2b3c",
        "live_calls": "1",
        "answered": "1 live",
        "quotations": "1 of 1 quotations verified",
    }


@PROPERTY
@given(question=st.text(), model=st.text())
@example(question='a: "b" \\ #c \n---\n- d\t{e} [f] &g *h !i |j >k %l @m `n', model="yes")
@example(question="\x01\x1b\x7f\x85\x9f\ufeff\ufffe\uffff\u2028\U0001f600\U0010ffff\xa0", model="null")
@example(question="---", model="~")
def test_front_matter_is_yaml_whatever_the_question(question: str, model: str) -> None:
    """Every value is read back unchanged, on one line."""
    found, _ = research(question, writer=model)
    matter = "\n".join(as_markdown(saved_research(found), NOW).split("\n---\n")[0].split("\n")[1:])
    read = yaml.safe_load(matter)
    assert read["question"] == one_line(question)
    assert read["model"] == (one_line(model) if model else "none")
    assert set(read) == set(front_matter(saved_research(found), NOW))


@PROPERTY
@given(text=st.text(), url=st.text())
def test_no_text_makes_a_tag_on_a_page(text: str, url: str) -> None:
    """For any text of a source or a model."""
    citations = [cited(f"s{text}", f"q{text}", section=text)]
    assert page_of(*research(text, citations, title=text, url=url)).tags == page_of(*research(url=url)).tags


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@PROPERTY
@given(question=TEXTS, quotation=TEXTS.filter(bool), url=TEXTS, number=st.integers(0, 99))
def test_json_is_read_back_for_verification(question: str, quotation: str, url: str, number: int) -> None:
    """Question, run and every quotation, exactly."""
    found, _ = research(question, [cited(quotation=quotation, url=url, number=number)], url=url)
    report = read_report(orjson.dumps(saved_research(found).as_dict()))
    assert isinstance(report.content, dict)
    assert (report.content["question"], report.run) == (question, found.id)
    read = [(each["quotation"], each["url"], each["number"]) for each in report.content["citations"]]
    assert read == [(quotation, url, number)]


def test_json_of_a_run_that_was_not_recorded_cannot_be_verified() -> None:
    """The error says that it names no run."""
    found, _ = research(run="")
    with pytest.raises(InvalidInput, match="names no run"):
        read_report(orjson.dumps(saved_research(found).as_dict()))


def test_json_of_a_research_without_a_report_has_all_keys() -> None:
    """All keys are there, and none is invented."""
    found, _ = research()
    bare = Research(found.plan, found.gathered, None, found.engine, 1, 0, "off", {}, found.id)
    payload = saved_research(bare).as_dict()
    assert set(payload) == set(saved_research(found).as_dict())
    assert (payload["report"], payload["model"], payload["remark"], payload["citations"]) == (None, None, None, [])
    assert "quotations" not in front_matter(saved_research(bare), NOW)
