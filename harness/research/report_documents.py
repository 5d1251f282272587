"""Finished research as a Word document or a PDF. The libraries for them are extras."""

from collections.abc import Collection
from contextlib import closing
from datetime import UTC, datetime
from importlib.util import find_spec

from harness.core.languages import primary_tag
from harness.core.text import shorten
from harness.errors import InvalidInput
from harness.research.document_blocks import fill, plain
from harness.research.pdf_document import PdfDocument
from harness.research.reports import NO_REPORT
from harness.research.saved_report import SavedReport
from harness.research.word_document import WordDocument

LIBRARIES = {"docx": {"docx": "python-docx"}, "pdf": {"fpdf": "fpdf2", "uharfbuzz": "uharfbuzz"}}
"""Modules that each form needs, and the packages that have them."""
MAX_TITLE = 250
"""Characters of a document's title in its properties."""
MAX_NAMED = 3
"""Characters that an error names."""


def require_libraries(form: str) -> None:
    """Check that the libraries of a form ("docx" or "pdf") are installed.

    Raises:
        InvalidInput: one is missing; the message says how to install it.
    """
    if any(find_spec(module) is None for module in LIBRARIES[form]):
        raise _not_installed(form)


def _not_installed(form: str) -> InvalidInput:
    names = " and ".join(LIBRARIES[form].values())
    return InvalidInput(f"a .{form} file needs {names}; run: pip install 'research-harness[{form}]'")


def as_docx(saved: SavedReport, now: float) -> bytes:
    """Return the report as a Word document, the same bytes for the same arguments; `now` is in seconds since the epoch.

    Raises:
        InvalidInput: python-docx is not installed.
    """
    try:
        document = WordDocument()
    except ImportError as error:
        raise _not_installed("docx") from error
    fill(document, saved, now)
    return document.content(_title(saved), _language(saved), _moment(now))


def as_pdf(saved: SavedReport, now: float) -> bytes:
    """Return the report as a PDF, the same bytes for the same arguments; `now` is in seconds since the epoch.

    Raises:
        InvalidInput: fpdf2 or uharfbuzz is not installed, or the font lacks characters of the report.
    """
    try:
        document = PdfDocument()
    except ImportError as error:
        raise _not_installed("pdf") from error
    with closing(document):
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
