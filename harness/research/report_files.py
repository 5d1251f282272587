"""Files of a report: Markdown, HTML, Word, PDF, BibTeX and CSL JSON."""

from typing import Literal, TypeAlias, assert_never

from harness.core.text import printable_json
from harness.research import bibliography, report_documents, reports
from harness.research.saved_report import SavedReport

FileForm: TypeAlias = Literal["markdown", "html", "docx", "pdf", "bib", "csl"]


def file_of(saved: SavedReport, now: float, form: FileForm) -> bytes:
    """Return the report in one of its forms, as the bytes of a file; `now` is in seconds since the epoch.

    Raises:
        InvalidInput: the libraries of the form are not installed, or it cannot show the report's characters.
    """
    import orjson

    report = saved.report or reports.NO_REPORT
    match form:
        case "docx":
            return report_documents.as_docx(saved, now)
        case "pdf":
            return report_documents.as_pdf(saved, now)
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
