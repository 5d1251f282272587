"""Finished research as a Word document or a PDF. The libraries for them are extras."""

from collections.abc import Collection
from contextlib import closing
from datetime import UTC, datetime

from harness.core.languages import primary_tag
from harness.core.text import shorten
from harness.errors import InvalidInput
from harness.research.document_blocks import fill, plain
from harness.research.pdf_document import PdfDocument
from harness.research.reports import NO_REPORT
from harness.research.saved_report import SavedReport
from harness.research.word_document import WordDocument
from harness.settings.extras import require_extra

MAX_TITLE = 250
"""Characters of a document's title in its properties."""
MAX_NAMED = 3
"""Characters that an error names."""


def as_docx(saved: SavedReport, now: float) -> bytes:
    """Return the report as a Word document, the same bytes for the same arguments; `now` is in seconds since the epoch.

    Raises:
        InvalidInput: the extra `[docx]` is not installed.
    """
    require_extra("docx")
    document = WordDocument()
    fill(document, saved, now)
    return document.content(_title(saved), _language(saved), _moment(now))


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
        return document.content(_title(saved), _language(saved), _moment(now))


def _refusal(lacking: Collection[str], run: str) -> InvalidInput:
    shown = ", ".join(f"{char} (U+{ord(char):04X})" for char in sorted(lacking)[:MAX_NAMED])
    again = f": harness show {run} -o report.docx" if run else ""
    return InvalidInput(
        f"a .pdf file cannot show {len(lacking)} of the report's characters, as {shown}; "
        f"write a .docx or .html file{again}"
    )


def _title(saved: SavedReport) -> str:
    return shorten(plain((saved.report or NO_REPORT).title or saved.question), MAX_TITLE)


def _language(saved: SavedReport) -> str:
    return primary_tag((saved.report or NO_REPORT).language) or "en"


def _moment(now: float) -> datetime:
    return datetime.fromtimestamp(int(now), UTC)
