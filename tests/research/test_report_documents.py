"""Reports as Word documents and PDFs, read back."""

import io
import re
import sys
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

import docx
import pytest
import time_machine
from docx.oxml.ns import qn
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pypdf import PdfReader

from harness.core.text import clean, one_line
from harness.errors import InvalidInput
from harness.research.planner import KEY_POINTS
from harness.research.report import DISAGREEMENTS, Citation, CitedSource, Report
from harness.research.report_files import as_docx, as_pdf
from harness.research.saved_report import SavedReport

NOW = 1_763_000_000.0
RUN = "20261122-101500-1a2b3c"
URL = "https://example.org/a"
ARABIC = "يتوقف النظام بعد 5 محاولات"
HEBREW = "שלום עולם"
CHINESE = "你好世界"
HOSTILE = "<w:p/>&amp;<script>{nb} \x00\x0b\x1b[31m\ufffe\uffff\udcff\u202e **b** %PDF (x) \\ ]]> _x000D_"
SOURCES = (
    CitedSource(1, "On bread", URL, authors="Ada Lovelace", site="Example", date="2024-05-01", read=True),
    CitedSource(2, "On rye", "https://example.org/b?x={1}", date="2020"),
    CitedSource(3, "Notes", "file:///home/notes.md"),
    CitedSource(4, "Script", "javascript:alert(1)"),
)


def cited(sentence: str, section: str = "Answer", *, number: int = 1, paragraph: int = 1, **more: Any) -> Citation:
    """Return a sentence that quotes its source."""
    quotation = more.pop("quotation", sentence)
    return Citation(section, paragraph, sentence, quotation, number, URL, 0.5, more.pop("verified", True), **more)


CITATIONS = (
    cited("Bread is baked."),
    cited("Rye is a grain.", number=2, verified=False),
    cited("First point.", KEY_POINTS, quotation="The first point"),
    cited("Second point.", KEY_POINTS, paragraph=2, supported=False),
    cited("It takes 5 minutes.", DISAGREEMENTS),
    cited("It takes 9 minutes.", DISAGREEMENTS, number=2),
    cited("No one knows.", "Details", number=0, quotation="", verified=False),
)


def saved(
    citations: Sequence[Citation] = CITATIONS,
    *,
    title: str = "What is bread?",
    sources: Sequence[CitedSource] = SOURCES,
    remark: str = "The model failed",
    limits: Sequence[str] = ("2 pages failed.",),
    report: bool = True,
) -> SavedReport:
    """Return a saved report."""
    made = Report(title, tuple(citations), tuple(sources), remark=remark, limits=tuple(limits))
    return SavedReport(
        question=title, engine="scripted", plan=None, rounds=(), stop_reason="stagnation", sources=tuple(sources),
        report=made if report else None, live_calls=1, cache_hits=0, research_cache="off", origin=None,
        answered={"live": 1}, run=RUN,
    )  # fmt: skip


def word(report: SavedReport) -> Any:
    """Return a report as a Word document, read back."""
    return docx.Document(io.BytesIO(as_docx(report, NOW)))


def pdf(report: SavedReport) -> PdfReader:
    """Return a report as a PDF, read back."""
    return PdfReader(io.BytesIO(as_pdf(report, NOW)))


def text_of(reader: PdfReader) -> str:
    """Return the text of a PDF, on one line."""
    return one_line(" ".join(page.extract_text() for page in reader.pages))


def outline(reader: PdfReader, entries: Any = None) -> Iterator[str]:
    """Yield the titles of a PDF's bookmarks."""
    for entry in reader.outline if entries is None else entries:
        if isinstance(entry, list):
            yield from outline(reader, entry)
        else:
            yield str(entry.title)


def links(reader: PdfReader) -> list[str]:
    """Return the addresses to which a PDF's links lead."""
    found = [each.get_object() for page in reader.pages for each in page.get("/Annots", [])]
    return list(dict.fromkeys(each["/A"]["/URI"] for each in found))


def external(document: Any) -> list[str]:
    """Return the addresses to which a Word document's links lead, in the order of the text."""
    found = document.element.body.iter(qn("w:hyperlink"))
    return [document.part.rels[each.get(qn("r:id"))].target_ref for each in found if each.get(qn("r:id"))]


HEADINGS = [
    "Answer", KEY_POINTS, DISAGREEMENTS, "Details", "Quotations", "Limits", "Sources", "About this report",
]  # fmt: skip


def test_a_word_document_has_the_order_of_the_report() -> None:
    """Each paragraph, with its style; tables are in their places."""
    document = word(saved())
    paragraphs = [(part.style.name, part.text) for part in document.paragraphs if part.text]
    assert paragraphs == [
        ("Title", "What is bread?"),
        ("Normal", "The model failed"),
        ("Heading 1", "Answer"),
        ("Normal", "“Bread is baked.” [1] “Rye is a grain.” [2, unverified]"),
        ("Heading 1", KEY_POINTS),
        ("List Bullet", "First point. [1]"),
        ("List Bullet", "“Second point.” [1, not supported]"),
        ("Heading 1", DISAGREEMENTS),
        ("Heading 1", "Details"),
        ("Normal", "No one knows. [no source]"),
        ("Heading 1", "Quotations"),
        ("List Bullet", "[1] “The first point”"),
        ("Heading 1", "Limits"),
        ("List Bullet", "2 pages failed."),
        ("Heading 1", "Sources"),
        ("Normal", "1. On bread. Ada Lovelace, Example, 2024-05-01, page, page read. https://example.org/a"),
        ("Normal", "2. On rye. 2020, page, excerpt of search results. https://example.org/b?x={1}"),
        ("Normal", "3. Notes. document. file:///home/notes.md"),
        ("Normal", "4. Script. document. javascript:alert(1)"),
        ("Normal", "4 of 6 quotations verified; 1 sentence marked: not supported by its quotation"),
        ("Heading 1", "About this report"),
    ]
    tags = [element.tag for element in document.element.body]
    headings = [part.text for part in document.paragraphs if part.style.name == "Heading 1"]
    assert headings == HEADINGS
    first = tags.index(qn("w:tbl"))
    assert document.element.body[first - 1].text == DISAGREEMENTS
    assert tags[-2:] == [qn("w:tbl"), qn("w:sectPr")]


def test_disagreements_are_a_table_in_a_word_document() -> None:
    """Its first row has the names of the columns, and is repeated on each page."""
    table, about = word(saved()).tables
    assert [[cell.text for cell in row.cells] for row in table.rows] == [
        ["Source", "Says", "Date"],
        ["On bread", "“It takes 5 minutes.” [1]", "2024-05-01"],
        ["On rye", "“It takes 9 minutes.” [2]", "2020"],
    ]
    assert len(list(table._tbl.iter(qn("w:tblHeader")))) == 1
    assert [about.cell(0, 0).text, about.cell(0, 1).text] == ["question", "What is bread?"]
    assert ["run", RUN] in [[cell.text for cell in row.cells] for row in about.rows]


def test_only_addresses_of_the_web_are_links() -> None:
    """In both forms; marks of a Word document lead to their source."""
    wanted = [URL, "https://example.org/b?x=%7B1%7D"]
    document = word(saved())
    assert external(document) == wanted
    assert links(pdf(saved())) == wanted
    body = document.element.body
    anchors = {each.get(qn("w:anchor")) for each in body.iter(qn("w:hyperlink"))} - {None}
    assert anchors == {"source-1", "source-2"}
    assert anchors <= {each.get(qn("w:name")) for each in body.iter(qn("w:bookmarkStart"))}


def test_properties_name_the_report() -> None:
    """Title, language and time; a very long title is cut."""
    about = word(saved()).core_properties
    assert (about.title, about.language, about.author) == ("What is bread?", "en", "")
    assert about.created.isoformat().startswith("2025-11-13T02:13:20")
    assert len(word(saved(title="bread " * 500)).core_properties.title) <= 250
    reader = pdf(saved())
    assert reader.metadata is not None
    assert reader.metadata.title == "What is bread?"
    assert reader.metadata.creation_date_raw == "D:20251113021320Z"
    assert str(reader.root_object["/Lang"]) == "en"


@pytest.mark.parametrize("form", [as_docx, as_pdf])
def test_the_same_report_has_the_same_bytes(form: Any) -> None:
    """Whenever it is written; another time of the report changes them."""
    with time_machine.travel("2026-01-01", tick=False):
        first = form(saved(), NOW)
    with time_machine.travel("2027-02-03 04:05", tick=False):
        assert form(saved(), NOW) == first
    assert form(saved(), NOW + 60) != first


def test_a_pdf_has_the_order_of_the_report() -> None:
    """Its text, and a bookmark for each heading."""
    reader = pdf(saved())
    text = text_of(reader)
    places = [text.index(part) for part in ("What is bread?", *HEADINGS)]
    assert places == sorted(places)
    assert list(outline(reader)) == ["What is bread?", *HEADINGS]
    for part in (
        "“Bread is baked.” [1] “Rye is a grain.” [2, unverified]", "• First point. [1]", "[1] “The first point”",
        "On rye “It takes 9 minutes.” [2] 2020", "1. On bread. Ada Lovelace, Example", "run 20261122-101500-1a2b3c",
    ):  # fmt: skip
        assert part in text


@pytest.mark.slow
def test_a_pdf_has_page_numbers() -> None:
    """The last line of each page is its number."""
    reader = pdf(saved([cited(f"Sentence {number}. " * 40, paragraph=number) for number in range(20)]))
    assert len(reader.pages) > 2
    for number, page in enumerate(reader.pages, 1):
        assert page.extract_text().split()[-1] == str(number)


@pytest.mark.slow
def test_a_heading_is_not_the_last_line_of_a_page() -> None:
    """Wherever a section begins, its first sentence is on the page that its bookmark leads to."""
    for lines in range(28, 33):
        citations = [cited(f"Line {number}.", paragraph=number) for number in range(lines)]
        reader = pdf(saved([*citations, cited("Begins here.", "Last")], remark="", limits=()))
        sections: Any = reader.outline[1]
        (last,) = [entry for entry in sections if entry.title == "Last"]
        assert "Begins here." in reader.pages[reader.get_destination_page_number(last) or 0].extract_text()


def starts(reader: PdfReader, part: str) -> float:
    """Return the place, in points from the left, at which a line of a PDF with this text begins."""
    found: list[float] = []

    def visit(text: str, _: Any, matrix: Sequence[float], *rest: Any) -> None:
        if part in text:
            found.append(matrix[4])

    reader.pages[0].extract_text(visitor_text=visit)
    return found[0]


@pytest.mark.parametrize("text", [ARABIC, HEBREW])
def test_scripts_from_right_to_left_stay_so(text: str) -> None:
    """A PDF's text reads in its own order, from the right margin; a Word document says so."""
    report = saved([cited(text), cited("Latin.", paragraph=2)], title=text, limits=(text,))
    reader = pdf(report)
    for part in text.split():
        assert part in text_of(reader)
    assert starts(reader, text.rsplit(maxsplit=1)[-1]) > starts(reader, "Latin.") + 100
    document = word(report)
    assert document.paragraphs[0].text == text
    for paragraph in document.paragraphs:
        of_rtl = text.split(maxsplit=1)[0] in paragraph.text
        assert (next(paragraph._p.iter(qn("w:bidi")), None) is not None) == of_rtl
    assert document.paragraphs[0].runs[0].font.rtl


def test_arabic_letters_are_joined() -> None:
    """The same letter has three glyphs at the beginning, in the middle and at the end of a word."""
    glyphs: list[bytes] = []

    def visit(operator: bytes, operands: Any, *_: Any) -> None:
        if operator == b"Tj":
            glyphs.append(getattr(operands[0], "original_bytes", operands[0]))

    page = pdf(saved((), title="ببب", sources=(), remark="", limits=())).pages[0]
    text = page.extract_text(visitor_operand_before=visit)
    assert text.startswith("ببب")
    assert len(set(glyphs[:3])) == 3


def test_a_pdf_refuses_what_its_font_lacks() -> None:
    """The error names characters, their number, and the forms that have them; a Word document has them."""
    report = saved([cited(f"{CHINESE} and 🚀.")])
    with pytest.raises(InvalidInput) as refused:
        as_pdf(report, NOW)
    assert str(refused.value) == (
        "a .pdf file cannot show 5 of the report's characters, as 世 (U+4E16), 你 (U+4F60), 好 (U+597D); "
        f"write a .docx or .html file: harness show {RUN} -o report.docx"
    )
    assert f"“{CHINESE} and 🚀.” [1]" in [part.text for part in word(report).paragraphs]


def test_a_pdf_has_plain_forms_of_rare_letters() -> None:
    """Letters for mathematics become plain ones, accents are composed, private characters are marked as unknown."""
    text = text_of(pdf(saved([cited("𝑥² e\u0301t\u2066e\u0301 \ue0ff \U0001d400")])))
    assert "“x² été \ufffd A” [1]" in text


@pytest.mark.slow
@pytest.mark.parametrize("section", ["Answer", KEY_POINTS, DISAGREEMENTS])
@pytest.mark.parametrize("length", [1_500, 6_000])
def test_very_long_text_is_whole(section: str, length: int) -> None:
    """Words longer than a line and rows longer than a page lose nothing."""
    report = saved([cited("x" * length, section)], title="y" * 1_500)
    reader = pdf(report)
    shown = "".join(page.extract_text() for page in reader.pages)
    assert (shown.count("x") >= length, shown.count("y") >= 1_500) == (True, True)
    document = word(report)
    everything = "".join(part.text for part in document.element.body.iter(qn("w:t")))
    assert everything.count("x") >= length


def test_hostile_text_is_text() -> None:
    """It makes no element, no link, no number of pages, and breaks no file."""
    sources = (CitedSource(1, HOSTILE, f"https://x.org/{HOSTILE}", authors=HOSTILE, site=HOSTILE, date=HOSTILE),)
    hostile = saved(
        [cited(HOSTILE, HOSTILE), cited(HOSTILE, KEY_POINTS), cited(HOSTILE, DISAGREEMENTS)],
        title=HOSTILE, sources=sources, remark=HOSTILE, limits=(HOSTILE,),
    )  # fmt: skip
    document = word(hostile)
    shown = clean(one_line(HOSTILE), 500).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")
    assert document.paragraphs[0].text == shown
    assert document.tables[0].cell(1, 1).text == f"“{shown}” [1]"
    assert all(link.startswith("https://x.org/%3Cw:p/%3E") for link in external(document))
    reader = pdf(hostile)
    assert "{nb}" in text_of(reader)
    assert links(reader) == external(document)
    assert next(outline(reader)) == shown


ANY = st.text(st.characters() | st.sampled_from("aאب {}\u200d\u0301\ufdfd\u2067\ud800"), max_size=60)


@pytest.mark.slow
@settings(deadline=None, max_examples=8)
@given(text=ANY, url=ANY)
@example(text="", url="")
@example(text="\u0301", url="https://")
@example(text="אa1-2(ב", url="https://א.example/\u202e")
def test_any_text_makes_readable_files(text: str, url: str) -> None:
    """A Word document has the text; a PDF has a page, or is refused by name."""
    report = saved(
        [cited(text), cited(text, text), cited(text, DISAGREEMENTS)],
        title=text, sources=(CitedSource(1, text, url),), remark=text, limits=(text,),
    )  # fmt: skip
    document = word(report)
    assert document.paragraphs[0].text.replace("\ufffd", "") == re.sub(
        r"[\ufffd\ufdd0-\ufdef\ufffe\uffff]", "", clean(one_line(text), 1_000)
    )
    made: Any
    try:
        made = pdf(report).pages
    except InvalidInput as refused:
        made = re.findall("a .pdf file cannot show", str(refused))
    assert len(made) >= 1


@pytest.mark.parametrize("report", [True, False])
def test_an_empty_report_is_a_file(report: bool) -> None:
    """Without a sentence, or without a report, both forms have title, sources and front matter."""
    empty = saved((), sources=(), remark="", limits=(), report=report)
    headings = [part.text for part in word(empty).paragraphs if part.style.name.startswith(("Title", "Heading"))]
    assert headings == ["What is bread?", "Sources", "About this report"]
    assert list(outline(pdf(empty))) == headings


def test_a_report_without_a_title_is_a_file() -> None:
    """Neither its first bookmark nor its file is lost."""
    assert next(outline(pdf(saved(title="")))) == "Report"
    assert word(saved(title="")).core_properties.title == ""


@pytest.mark.parametrize(
    ("module", "form", "error"),
    [
        ("docx", "docx", "a .docx file needs python-docx; install it with: pip install 'research-harness[docx]'"),
        ("fpdf", "pdf", "a .pdf file needs fpdf2; install it with: pip install 'research-harness[pdf]'"),
        ("fpdf.prefs", "pdf", "a .pdf file needs fpdf2; install it with: pip install 'research-harness[pdf]'"),
        ("uharfbuzz", "pdf", "a .pdf file needs uharfbuzz; install it with: pip install 'research-harness[pdf]'"),
        ("matplotlib", "pdf", "a .pdf file needs matplotlib; install it with: pip install 'research-harness[pdf]'"),
    ],
)
def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch, module: str, form: str, error: str) -> None:
    """With the command that installs it."""
    make = {"docx": as_docx, "pdf": as_pdf}[form]
    assert make(saved(), NOW)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InvalidInput) as missing:
        make(saved(), NOW)
    assert str(missing.value) == error


def test_a_word_document_is_a_sound_package() -> None:
    """Every part is XML or an image, and every link inside leads somewhere."""
    with zipfile.ZipFile(io.BytesIO(as_docx(saved(), NOW))) as package:
        assert package.testzip() is None
        assert {"[Content_Types].xml", "word/document.xml", "docProps/core.xml"} <= set(package.namelist())
        assert {entry.date_time for entry in package.infolist()} == {(1980, 1, 1, 0, 0, 0)}
