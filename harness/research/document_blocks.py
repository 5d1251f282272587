"""Blocks of a report as a document: what is in it, in which order, whatever the file's form."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from harness.core.text import clean, one_line
from harness.research.figures import FIGURES, Figure, as_png, figures_of
from harness.research.messages import chosen, ended, message
from harness.research.planner import LISTED
from harness.research.report import DISAGREEMENTS, Citation, CitedSource, Report, columns_in
from harness.research.reports import NO_REPORT, front_matter
from harness.research.saved_report import SavedReport
from harness.settings.extras import is_installed

LINK_COLOUR = "0563C1"

_NO_TEXT = re.compile(r"[\ufdd0-\ufdef\ufffe\uffff]")
"""Characters that XML does not allow, beyond those that `clean` drops."""


class Piece(NamedTuple):
    """Text of a paragraph; `number` is the source that it refers to, 0 if none."""

    text: str
    number: int = 0


class Document(Protocol):
    """A document to which blocks are added, in order."""

    def title(self, text: str) -> None:
        """Add the title."""

    def heading(self, text: str, *, picture: bool = False) -> None:
        """Add the heading of a section; `picture`: a picture follows."""

    def paragraph(self, pieces: Sequence[Piece], *, bullet: bool = False, remark: bool = False) -> None:
        """Add a paragraph, one entry of a list (`bullet`), or a remark about the report."""

    def table(self, rows: Sequence[Sequence[Sequence[Piece]]], *, head: bool, widths: Sequence[float]) -> None:
        """Add a table; `head`: the first row has the names of the columns. Widths are shares of the page's."""

    def picture(self, png: bytes, text: str) -> None:
        """Add a picture as wide as the page, with a text for readers who do not see it."""

    def source(self, source: CitedSource, text: str) -> None:
        """Add an entry of the list of sources: its text, with its number, and a link."""


def fill(document: Document, saved: SavedReport, now: float) -> None:
    """Add a report to a document, in the order of its Markdown; the front matter comes last."""
    report = saved.report or NO_REPORT
    language = report.language
    document.title(plain(report.title or saved.question))
    if report.remark:
        document.paragraph(_cell(report.remark), remark=True)
    for section, paragraphs in report.sections:
        document.heading(plain(report.heading(section)))
        for sentences in paragraphs:
            if section == DISAGREEMENTS:
                document.table(_compared(report, sentences), head=True, widths=(0.3, 0.55, 0.15))
            else:
                document.paragraph(list(_cited(report, sentences)), bullet=section in LISTED)
    for place, figure in enumerate(figures_of(report)):
        _add_figure(document, figure, report, first=place == 0)
    quoted = [each for each in report.quotations if each.sentence != each.quotation]
    quotations = ([_mark(report, each), Piece(f" “{plain(each.quotation)}”")] for each in quoted)
    _list(document, report.heading("Quotations"), quotations)
    _list(document, report.heading("Limits"), map(_cell, report.limits))
    document.heading(plain(report.heading("Sources")))
    for source in report.sources:
        document.source(source, described(source, language))
    document.paragraph([Piece(report.checks)], remark=True)
    document.heading(message(language, "About this report"))
    matter = front_matter(saved, now, language).items()
    about = [[_cell(chosen(language, name.replace("_", " "))), _cell(text)] for name, text in matter]
    document.table(about, head=False, widths=(0.2, 0.8))


def _add_figure(document: Document, figure: Figure, report: Report, *, first: bool) -> None:
    language = report.language
    is_drawn = figure.drawn and is_installed("charts")
    if first:
        document.heading(plain(report.heading(FIGURES)), picture=is_drawn)
    if is_drawn:
        document.picture(as_png(figure), plain(figure.caption_in(language)))
    document.paragraph(_cell(figure.title_in(language)), remark=True)
    rows = [
        [_cell(row.label), [Piece(row.text_in(language))], [Piece(row.mark_in(language), row.number)]]
        for row in figure.rows
    ]
    names = [_cell(name) for name in figure.columns_in(language)]
    document.table([names, *rows], head=True, widths=(0.45, 0.35, 0.2))


def _list(document: Document, heading: str, entries: Iterable[Sequence[Piece]]) -> None:
    for place, pieces in enumerate(entries):
        if place == 0:
            document.heading(plain(heading))
        document.paragraph(pieces, bullet=True)


def _cited(report: Report, sentences: Sequence[Citation]) -> Iterator[Piece]:
    for place, each in enumerate(sentences):
        text = plain(each.sentence)
        text = f"“{text}”" if each.sentence == each.quotation else text
        yield Piece(f"{' ' * (place > 0)}{text} ")
        yield _mark(report, each)


def _mark(report: Report, citation: Citation) -> Piece:
    return Piece(f"[{plain(citation.mark_in(report.language))}]", citation.number)


def _compared(report: Report, rows: Sequence[Citation]) -> list[list[list[Piece]]]:
    cited = ((each, report.source_of(each.number)) for each in rows)
    cells = [[_cell(source.title), [*_cited(report, [each])], _cell(source.date)] for each, source in cited]
    return [[_cell(name) for name in columns_in(report.language)], *cells]


def _cell(text: str) -> list[Piece]:
    return [Piece(plain(text))]


def described(source: CitedSource, language: str) -> str:
    """Return an entry of the list of sources, without its address."""
    title, about = plain(source.title), plain(source.described_in(language))
    return one_line(f"{source.number}. {ended(language, title) if title else ''}{ended(language, about)}")


def plain(text: str) -> str:
    """Return text of a source or a model on one line, without characters that act or that XML does not allow."""
    return _NO_TEXT.sub("\ufffd", clean(one_line(text), len(text)))


def is_rtl(text: str) -> bool:
    """Return whether the first letter of `text` that has a direction is of a script written from right to left."""
    return next((kind != "L" for char in text if (kind := unicodedata.bidirectional(char)) in {"L", "R", "AL"}), False)


def joined(pieces: Sequence[Piece]) -> str:
    """Return the text of a paragraph. In scripts from right to left, each mark of a source has a sign of direction
    before it: after Latin letters it would change places with the sentence.
    """
    whole = "".join(piece.text for piece in pieces)
    if not is_rtl(whole):
        return whole
    return "".join(f"\u200f{piece.text}" if piece.number else piece.text for piece in pieces)
