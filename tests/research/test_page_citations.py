"""Pages of PDFs in citations: from the file to every form of the report."""

# ruff: noqa: F401, F811 - fixtures of another file
import io
import time
from pathlib import Path

import docx
import pytest
from msgspec.structs import replace
from pypdf import PdfReader

from harness.cache import Cache
from harness.core.pages import Page
from harness.models.local.embedder import MiniLM
from harness.ports import SearchResult
from harness.research.bibliography import as_bibtex
from harness.research.gathering import GatheredSource
from harness.research.page_reading import MAX_PAGE_CHARS, read_all
from harness.research.report import Citation, Report
from harness.research.report_files import as_docx, as_pdf
from harness.research.reports import as_html, as_markdown
from harness.research.result import Research
from harness.research.run_view import past_run
from harness.research.saved_report import saved_research
from harness.research.verification import read_report, verify
from harness.settings import FetchSettings
from harness.sources.corpus.engine import open_corpus
from harness.sources.pages.extraction import extract
from tests.fakes import MemoryStore
from tests.research.test_run import QUESTION, Scripted, cache, embedder, research, silent
from tests.sources.pages.pdf_documents import headed, sheet

URL = "https://example.org/retries.pdf"
SENTENCES = (
    "The weather of the north is cold, and the sea is often rough there.",
    "Exponential backoff limits retries because every waiting time is twice the one before it.",
    "Bread needs flour, water, salt and time, and most of all an oven.",
)
ANSWER = SENTENCES[1]
RESULT = SearchResult(title="Retries", href=URL, body="A paper about exponential backoff and the limit of retries.")


class Papers:
    """A reader of PDFs."""

    name = "papers"

    def __init__(self, body: bytes) -> None:
        self.body = body

    def read(self, url: str, held: Page | None = None) -> Page:
        """Extract the PDF."""
        found = extract(self.body, "application/pdf")
        return Page(url, "Retries", found.text, found.media_type, page_starts=found.page_starts)


def paper(*pages: str) -> bytes:
    """Return a PDF with one sentence a page."""
    document = sheet()
    for text in pages:
        document.add_page()
        document.text(50, 100, text)
    return bytes(document.output())


@pytest.fixture
def found(cache: Cache, embedder: MiniLM) -> Research:
    """A research that read a PDF of three pages, the answer on the second."""
    engine = Scripted(lambda query: [RESULT])
    return research(cache, engine, embedder, question=QUESTION, reader=Papers(paper(*SENTENCES)))


def quoted(report: Report | None) -> Citation:
    """Return the citation of the answer."""
    assert report is not None
    return next(each for each in report.citations if each.quotation == ANSWER)


def test_a_citation_has_its_page_in_every_form_of_the_report(found: Research) -> None:
    """In Markdown, HTML, JSON, Word and PDF; not in a bibliography, whose pages are those of a whole work."""
    assert (quoted(found.report).page, quoted(found.report).mark_in("")) == (2, "1, p. 2")
    saved = saved_research(found)
    assert f"“{ANSWER}” [1, p. 2]" in as_markdown(saved, time.time())
    assert '<sup><a href="#source-1">[1, p. 2]</a></sup>' in as_html(saved, time.time())
    assert 2 in [each.get("page") for each in saved.as_dict()["citations"]]
    assert found.report is not None
    document = docx.Document(io.BytesIO(as_docx(saved, time.time())))
    assert any(f"“{ANSWER}” [1, p. 2]" in each.text for each in document.paragraphs)
    printed = " ".join(each.extract_text() for each in PdfReader(io.BytesIO(as_pdf(saved, time.time()))).pages)
    assert "[1, p. 2]" in " ".join(printed.split())
    assert "pages" not in as_bibtex(found.report, time.time())


def test_the_recorded_run_has_the_page_and_the_file_is_verified(found: Research, cache: Cache) -> None:
    """A changed page is a difference."""
    past = past_run(cache, found.id)
    assert quoted(past.report).page == 2
    content = as_markdown(past, time.time())
    assert verify(read_report(content.encode()), cache).passed
    changed = verify(read_report(content.replace("p. 2", "p. 3").encode()), cache)
    assert not changed.passed


def test_the_same_question_again_has_the_same_page(found: Research, cache: Cache, embedder: MiniLM) -> None:
    """Pages survive the caches of pages, evidence and solved questions."""
    engine = Scripted(lambda query: [RESULT])
    again = research(cache, engine, embedder, question=QUESTION, reader=Papers(b""))
    assert engine.asked == []
    assert quoted(again.report).page == 2


def test_a_page_that_is_cut_keeps_the_pages_of_what_is_left(cache: Cache) -> None:
    """Text beyond the limit has none, and headings, which are not in the text, shift nothing."""
    text = "# Title\n\n" + "A b c d. " * (MAX_PAGE_CHARS // 9) + "\n\nLast words of all."
    page = Page(URL, "Long", text, "application/pdf", page_starts=((9, 1), (59_000, 2), (len(text) - 18, 3)))

    class Reader:
        name = "long"

        def read(self, url: str, held: Page | None = None) -> Page:
            return page

    [(_, read, _)] = read_all([URL], cache, Reader(), fetch=FetchSettings(), progress=silent, what="pages")
    assert read is not None
    assert [number for _, number in read.page_starts] == [1, 2]
    assert read.page_starts[0][0] == 0
    before = len("".join(text[9:59_000].split()))
    assert len("".join(read.text[: read.page_starts[1][0]].split())) == before


def test_an_excerpt_with_the_same_words_does_not_hide_the_page() -> None:
    """The excerpt of a search has no pages; the page, added later, has."""
    source = GatheredSource(URL, "Retries", ()).with_text(f"… {ANSWER}").with_text(" ".join(SENTENCES), ((0, 4),))
    assert source.page_starts == ((), ((0, 4),))
    assert source.page_of(ANSWER) == 4
    assert replace(source, page_starts=()).page_of(ANSWER) == 0


@pytest.mark.parametrize(
    ("more", "mark"),
    [
        ({}, "3, p. 7"),
        ({"supported": False}, "3, p. 7, not supported"),
        ({"page": 0}, "3"),
        ({"number": 0}, "no source"),
    ],
)
def test_the_mark_of_a_citation_has_the_page_before_its_faults(more: dict[str, bool | int], mark: str) -> None:
    """Without a source there is no page either."""
    assert replace(Citation("Answer", 1, "a", "a", 3, URL, 0.5, True, page=7), **more).mark_in("") == mark


def test_a_pdf_of_a_folder_is_cited_with_its_page(cache: Cache, embedder: MiniLM, tmp_path: Path) -> None:
    """Its passages come as search results, live and from the cache."""
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "retries.pdf").write_bytes(paper(*SENTENCES))
    corpus = open_corpus(str(tmp_path / "papers"), tmp_path / "indexes", silent, embedder)
    for _ in range(2):
        assert quoted(research(cache, corpus, embedder, question=QUESTION).report).page == 2


def test_a_result_with_damaged_pages_is_cited_without(embedder: MiniLM) -> None:
    """Pages of a cached search are checked; paragraphs that are left out move them."""
    body = f"{SENTENCES[0]}\n\n \n\n{ANSWER}"
    for starts, page in (([[0, 3], [len(body) - len(ANSWER), 4]], 4), ([["x", 3]], 0), ("\f" * 100_000, 0)):
        results = [{**RESULT, "body": body, "page_starts": starts}]
        own = Cache(MemoryStore())
        report = research(own, Scripted(lambda query, found=results: found), embedder, question=QUESTION).report
        assert quoted(report).page == page


def test_headings_of_a_pdf_are_not_quoted(cache: Cache, embedder: MiniLM) -> None:
    """They are headings to a research, as those of a web page are."""
    body = headed((20, "", "How exponential backoff limits retries"), (11, "", ANSWER), (11, "", SENTENCES[2]))
    engine = Scripted(lambda query: [RESULT])
    report = research(cache, engine, embedder, question=QUESTION, reader=Papers(body)).report
    assert quoted(report).page == 1
    assert report is not None
    assert all("How exponential" not in each.quotation for each in report.citations)
