"""Files of a report: Markdown, HTML, Word, PDF, BibTeX and CSL JSON."""

from collections.abc import Collection
from contextlib import closing
from datetime import UTC, datetime
from typing import Literal, TypeAlias, assert_never

from harness.core.languages import primary_tag
from harness.core.text import printable_json, shorten
from harness.errors import InvalidInput
from harness.research import bibliography, reports
from harness.research.document_blocks import fill, plain
from harness.research.pdf_document import PdfDocument
from harness.research.saved_report import SavedReport
from harness.research.word_document import WordDocument
from harness.settings.extras import require_extra

FileForm: TypeAlias = Literal["markdown", "html", "docx", "pdf", "bib", "csl"]

MAX_TITLE = 250
"""Characters of a document's title in its properties."""
MAX_NAMED = 3
"""Characters that an error names."""


def file_of(saved: SavedReport, now: float, form: FileForm) -> bytes:
    """Return the report in one of its forms, as the bytes of a file; `now` is in seconds since the epoch.

    Raises:
        InvalidInput: the libraries of the form are not installed, or it cannot show the report's characters.
    """
    import orjson

    report = saved.report or reports.NO_REPORT
    match form:
        case "docx":
            return as_docx(saved, now)
        case "pdf":
            return as_pdf(saved, now)
        case "csl":
            entries = bibliography.as_csl(report, now)
            return printable_json(orjson.dumps(entries, option=orjson.OPT_INDENT_2).decode()).encode() + b"\n"
        case "bib":
            text = bibliography.as_bibtex(report, now)
        case "html":
            text = reports.as_html(saved, now)
        case "markdown":
            text = reports.as_markdown(saved, now)
        case _:
            assert_never(form)
    return text.encode("utf-8", "replace")


def as_docx(saved: SavedReport, now: float) -> bytes:
    """Return the report as a Word document, the same bytes for the same arguments; `now` is in seconds since the epoch.

    Raises:
        InvalidInput: the extra `[docx]` is not installed.
    """
    require_extra("docx")
    document = WordDocument()
    fill(document, saved, now)
    return document.content(*_properties(saved, now))


def as_pdf(saved: SavedReport, now: float) -> bytes:
    """Return the report as a PDF, the same bytes for the same arguments; `now` is in seconds since the epoch.

    Raises:
        InvalidInput: the extra `[pdf]` is not installed, or the font lacks characters of the report.
    """
    require_extra("pdf")
    with closing(PdfDocument()) as document:
        fill(document, saved, now)
        if document.lacking:
            raise _refusal(document.lacking, saved.run)
        return document.content(*_properties(saved, now))


def _refusal(lacking: Collection[str], run: str) -> InvalidInput:
    shown = ", ".join(f"{char} (U+{ord(char):04X})" for char in sorted(lacking)[:MAX_NAMED])
    again = f": harness show {run} -o report.docx" if run else ""
    return InvalidInput(
        f"a .pdf file cannot show {len(lacking)} of the report's characters, as {shown}; "
        f"write a .docx or .html file{again}"
    )


def _properties(saved: SavedReport, now: float) -> tuple[str, str, datetime]:
    """Return the title, the language and the time of a document."""
    report = saved.report or reports.NO_REPORT
    title = shorten(plain(report.title or saved.question), MAX_TITLE)
    return title, primary_tag(report.language) or "en", datetime.fromtimestamp(int(now), UTC)
