"""Word document of a report, made by python-docx, which is imported when it is used."""

from collections.abc import Sequence
from datetime import datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from harness.research.bibliography import link_of
from harness.research.document_blocks import LINK_COLOUR, Piece, is_rtl, joined, plain
from harness.research.report import CitedSource

if TYPE_CHECKING:
    from docx.text.paragraph import Paragraph


class WordDocument:
    """A Word document on A4. Its styles are those of Word, so a reader can restyle it."""

    def __init__(self) -> None:
        import docx
        from docx.shared import Mm

        self._document = docx.Document()
        page = self._document.sections[0]
        page.page_width, page.page_height = Mm(210), Mm(297)
        page.left_margin = page.right_margin = Mm(25)
        self._width = Mm(160)

    def title(self, text: str) -> None:
        """Add the title."""
        self._add(self._document.add_paragraph(style="Title"), [Piece(text)])

    def heading(self, text: str, *, picture: bool = False) -> None:  # noqa: ARG002 - its style stays with what follows
        """Add the heading of a section."""
        self._add(self._document.add_paragraph(style="Heading 1"), [Piece(text)])

    def paragraph(self, pieces: Sequence[Piece], *, bullet: bool = False, remark: bool = False) -> None:
        """Add a paragraph, one entry of a list, or a remark in italics."""
        self._add(self._document.add_paragraph(style="List Bullet" if bullet else None), pieces, italic=remark)

    def table(self, rows: Sequence[Sequence[Sequence[Piece]]], *, head: bool, widths: Sequence[float]) -> None:
        """Add a table; names of columns are repeated on each page."""
        from docx.oxml import OxmlElement

        table: Any = self._document.add_table(0, len(widths), style="Table Grid")
        table.autofit = False
        for column, width in zip(table.columns, widths, strict=True):
            column.width = int(self._width * width)
        for number, row in enumerate(rows):
            added = table.add_row()
            if head and number == 0:
                added._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))  # noqa: SLF001 - has no other name
            for cell, pieces, width in zip(added.cells, row, widths, strict=True):
                cell.width = int(self._width * width)
                self._add(cell.paragraphs[0], pieces, bold=head and number == 0)

    def picture(self, png: bytes, text: str) -> None:
        """Add a picture as wide as the text."""
        shape = self._document.add_picture(BytesIO(png), width=self._width)
        shape._inline.docPr.set("descr", text)  # noqa: SLF001 - has no other name

    def source(self, source: CitedSource, text: str) -> None:
        """Add an entry of the list of sources, with its number; marks in the text lead to it."""
        from docx.oxml import OxmlElement
        from docx.oxml.ns import qn
        from docx.shared import Mm

        paragraph = self._document.add_paragraph()
        paragraph.paragraph_format.left_indent = Mm(8)
        paragraph.paragraph_format.first_line_indent = Mm(-8)
        begin, end = OxmlElement("w:bookmarkStart"), OxmlElement("w:bookmarkEnd")
        for mark in (begin, end):
            mark.set(qn("w:id"), str(source.number))
        begin.set(qn("w:name"), f"source-{source.number}")
        self._add(paragraph, [Piece(text)])
        first = paragraph.runs[0].element
        first.addprevious(begin)
        first.addnext(end)
        paragraph.add_run(" ")
        self._link(paragraph, plain(source.url), url=link_of(source.url))

    def content(self, title: str, language: str, at: datetime) -> bytes:
        """Return the file, with the title, the language and the time of its making in its properties."""
        about = self._document.core_properties
        about.title, about.language, about.author, about.comments = title, language, "", ""
        about.created = about.modified = at.replace(tzinfo=None)
        written = BytesIO()
        self._document.save(written)
        packed = BytesIO()
        with ZipFile(written) as source, ZipFile(packed, "w", ZIP_DEFLATED) as target:
            for name in source.namelist():
                target.writestr(ZipInfo(name), source.read(name), ZIP_DEFLATED)  # dated 1980, not now
        return packed.getvalue()

    def _add(
        self, paragraph: "Paragraph", pieces: Sequence[Piece], *, italic: bool | None = None, bold: bool | None = None
    ) -> None:
        from docx.oxml import OxmlElement

        for piece in pieces:
            if piece.number:
                self._link(paragraph, piece.text, anchor=f"source-{piece.number}")
                continue
            run = paragraph.add_run(piece.text)
            run.italic, run.bold, run.font.rtl = italic or None, bold or None, is_rtl(piece.text) or None
        if is_rtl(joined(pieces)):
            style: Any = paragraph.paragraph_format.element.get_or_add_pPr()
            style.insert_element_before(OxmlElement("w:bidi"), "w:spacing", "w:ind", "w:jc")

    def _link(self, paragraph: "Paragraph", text: str, *, url: str = "", anchor: str = "") -> None:
        """Add text that leads to a URL or to a place in the document, or nowhere."""
        from docx.opc.constants import RELATIONSHIP_TYPE
        from docx.oxml import OxmlElement
        from docx.oxml.ns import qn
        from docx.shared import RGBColor

        run = paragraph.add_run(text)
        if not (url or anchor):
            return
        run.font.color.rgb = RGBColor.from_string(LINK_COLOUR)
        link = OxmlElement("w:hyperlink")
        if url:
            link.set(qn("r:id"), paragraph.part.relate_to(url, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
        else:
            link.set(qn("w:anchor"), anchor)
        run.element.addprevious(link)
        link.append(run.element)
